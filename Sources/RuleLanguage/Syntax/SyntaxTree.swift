import AttributeValues

/// A rule's abstract syntax: nodes in one array, children before parents, identified by index. Macros are nodes too.
struct SyntaxTree {
    typealias ID = Int

    enum Kind: UInt8 {
        /// `name`: index into `constants`.
        case literal
        case identifier
        /// Child: operand. Optional form: `a.?b`.
        case select
        /// `has(a.b)`; child: operand.
        case presence
        /// Children: operand, key. Optional form: `a[?k]`.
        case index
        /// A global function; children: arguments.
        case call
        /// Children: receiver, arguments.
        case memberCall
        case list
        /// Children: key, value, key, value, …
        case map
        /// Child of a list, or value of a map entry: `?expression`.
        case optionalEntry
        case message
        case not, negate
        /// Children: left, right; the operator in `operation`.
        case binary
        /// Any number of children.
        case and, or
        case conditional
        /// Children: range, then those of `macro`. Variables: `name`, `second`.
        case comprehension
        /// Children: value, body. Variable: `name`.
        case bind
        /// `optMap`, `optFlatMap`; children: operand, body.
        case optionalMap
        /// Children: the bound expressions, then the body. A call of a declared function becomes one.
        case block
        /// `orElse(x, default)`, or with one child `isError(x)`.
        case attempt
        /// A part that could not be parsed.
        case faulty
    }

    enum Operation: UInt8 {
        case add, subtract, multiply, divide, modulo
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, isIn

        var text: String {
            switch self {
            case .add: "+"
            case .subtract: "-"
            case .multiply: "*"
            case .divide: "/"
            case .modulo: "%"
            case .equal: "=="
            case .notEqual: "!="
            case .less: "<"
            case .lessOrEqual: "<="
            case .greater: ">"
            case .greaterOrEqual: ">="
            case .isIn: "in"
            }
        }
    }

    /// The operation of a comprehension, with the children after the range in brackets.
    enum Macro: UInt8 {
        /// [predicate]
        case all, exists, existsOne, filter
        /// [transform] or [predicate, transform]
        case map, transformList, transformMap, transformMapEntry
        /// [key]
        case sortBy
        /// [start, step]
        case reduce
    }

    struct Node {
        var kind: Kind
        /// True for the optional form of select and index, for names with a leading dot, for `optFlatMap` among
        /// optional maps, and for calls among blocks.
        var flag = false
        /// `Operation` or `Macro`.
        var detail: UInt8 = 0
        /// Index into `names` (or `constants`); -1 for none.
        var name: Int32 = -1
        /// A comprehension's second variable in `names`; -1 for none.
        var second: Int32 = -1
        fileprivate(set) var firstChild: Int32 = 0
        fileprivate(set) var childCount: Int32 = 0
        /// Number of levels below this node, including it.
        fileprivate(set) var height: Int32 = 1
        /// Byte offsets: the position for errors, and the source text of the whole node.
        var position: Int32
        var start: Int32
        var end: Int32
    }

    private(set) var nodes: [Node] = []
    private(set) var childIDs: [Int32] = []
    private(set) var names: [String] = []
    private(set) var constants: [Value] = []
    var root: ID = 0

    init(capacity: Int) {
        nodes.reserveCapacity(capacity)
        childIDs.reserveCapacity(capacity)
        names.reserveCapacity(8)
    }

    subscript(id: ID) -> Node {
        get { nodes[id] }
        set { nodes[id] = newValue }
    }

    func child(_ id: ID, _ number: Int) -> ID { ID(childIDs[Int(nodes[id].firstChild) + number]) }

    func children(_ id: ID) -> ArraySlice<Int32> {
        let first = Int(nodes[id].firstChild)
        return childIDs[first..<first + Int(nodes[id].childCount)]
    }

    func spelling(_ id: ID) -> String {
        let index = Int(nodes[id].name)
        return index < 0 ? "" : names[index]
    }

    func secondName(_ id: ID) -> String? {
        let index = Int(nodes[id].second)
        return index < 0 ? nil : names[index]
    }

    func constant(_ id: ID) -> Value? { nodes[id].kind == .literal ? constants[Int(nodes[id].name)] : nil }

    func operation(_ id: ID) -> Operation { Operation(rawValue: nodes[id].detail) ?? .add }
    func macro(_ id: ID) -> Macro { Macro(rawValue: nodes[id].detail) ?? .all }

    mutating func intern(_ name: String) -> Int32 {
        names.append(name)
        return Int32(names.count - 1)
    }

    mutating func add(_ node: Node, _ children: [ID]) -> ID {
        var node = node
        node.firstChild = Int32(childIDs.count)
        node.childCount = Int32(children.count)
        var below: Int32 = 0
        for child in children {
            childIDs.append(Int32(child))
            below = max(below, nodes[child].height)
            node.start = min(node.start, nodes[child].start)
            node.end = max(node.end, nodes[child].end)
        }
        node.height = below + 1
        nodes.append(node)
        return nodes.count - 1
    }

    mutating func add(names more: [String], constants others: [Value]) {
        names += more
        constants += others
    }

    /// Makes a node the call of a declared function: a block of its arguments and the function's rule.
    mutating func makeCall(_ id: ID, _ children: [ID]) {
        nodes[id].kind = .block
        nodes[id].flag = true
        nodes[id].firstChild = Int32(childIDs.count)
        nodes[id].childCount = Int32(children.count)
        childIDs += children.map { Int32($0) }
    }

    /// Adds the name of the object whose property a node names.
    mutating func addReceiver(at place: ID) -> ID {
        let name = intern(DeclaredFunction.receiver)
        let node = self[place]
        return add(
            Node(kind: .identifier, name: name, position: node.position, start: node.start, end: node.end), [])
    }

    /// Makes a name the selection of a field of that name.
    mutating func makeSelection(_ id: ID, of operand: ID) {
        nodes[id].kind = .select
        nodes[id].firstChild = Int32(childIDs.count)
        nodes[id].childCount = 1
        childIDs.append(Int32(operand))
    }

    mutating func addLiteral(_ value: Value, _ position: Int, _ start: Int, _ end: Int) -> ID {
        constants.append(value)
        return add(
            Node(
                kind: .literal, name: Int32(constants.count - 1), position: Int32(position), start: Int32(start),
                end: Int32(end)), [])
    }

    /// The identifier at the beginning of a chain of plain selects; nil for other nodes.
    func rootName(_ id: ID) -> String? {
        var at = id
        while nodes[at].kind == .select, !nodes[at].flag { at = child(at, 0) }
        return nodes[at].kind == .identifier ? spelling(at) : nil
    }

    /// `a.b.c` when the node is a chain of plain selects on an identifier, outermost last; nil otherwise.
    func qualifiedName(_ id: ID) -> (names: [String], hasLeadingDot: Bool)? {
        var names: [String] = []
        var at = id
        while nodes[at].kind == .select, !nodes[at].flag {
            names.append(spelling(at))
            at = child(at, 0)
        }
        guard nodes[at].kind == .identifier else { return nil }
        names.append(spelling(at))
        names.reverse()
        return (names, nodes[at].flag)
    }
}
