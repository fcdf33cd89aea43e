/// Finds the parts that a rule uses of values of assembled types, in one walk bounded by the tree's height.
///
/// A list of such values may be counted, filtered and passed on without using its elements. If a value itself, and not
/// one of its properties, reaches an operation that may look at all of it, all parts are used.
struct UsedPartsFinder {
    private let checked: CheckedTree
    private let scope: RuleScope
    private let keysOfPath: (SyntaxTree.ID) -> [SyntaxTree.ID]?
    private var used = UsedParts()
    private var isWhole = false

    private var tree: SyntaxTree { checked.tree }

    /// - Returns: nil if the rule may use all parts, or reads nothing that is assembled.
    /// - Parameter keysOfPath: the computed keys of a node that is read as a path of its own; nil for other nodes.
    static func search(
        in checked: CheckedTree, scope: RuleScope, keysOfPath: @escaping (SyntaxTree.ID) -> [SyntaxTree.ID]?
    ) -> UsedParts? {
        guard checked.variables.contains(where: { scope.isAssembled($0.type) }) else { return nil }
        var finder = UsedPartsFinder(checked: checked, scope: scope, keysOfPath: keysOfPath)
        finder.visit(checked.tree.root)
        return finder.isWhole ? nil : finder.used
    }

    private func isAssembled(_ id: SyntaxTree.ID) -> Bool { scope.isAssembled(checked.types[id]) }

    /// - Parameter isLookedAt: true if all parts of the node's value may be used.
    private mutating func visit(_ id: SyntaxTree.ID, isLookedAt: Bool = true) {
        if isWhole { return }
        if isLookedAt, isAssembled(id) {
            isWhole = true
            return
        }
        if !isAssembled(id), let keys = keysOfPath(id) {
            for key in keys { visit(key) }
            return
        }
        let children = tree.children(id).map { Int($0) }
        // A node with an assembled value passes its parts on. The node that receives them has been visited.
        let passesOn = isAssembled(id)
        switch tree[id].kind {
        case .select, .presence: select(tree.spelling(id), of: children[0])
        case .index:
            if case .string(let key)? = tree.constant(children[1]) {
                select(key, of: children[0])
            } else {
                visit(children[0], isLookedAt: object(children[0]) != nil)
            }
            visit(children[1])
        case .comprehension:
            visit(children[0], isLookedAt: false)
            for child in children.dropFirst().dropLast() { visit(child) }
            if let last = children.last, children.count > 1 {
                visit(last, isLookedAt: !passesOn || !isResult(tree.macro(id)))
            }
        case .conditional:
            visit(children[0])
            for child in children.dropFirst() { visit(child, isLookedAt: !passesOn) }
        case .bind, .block:
            // The uses of the variables decide which parts are used.
            for child in children.dropLast() { visit(child, isLookedAt: false) }
            if let body = children.last { visit(body, isLookedAt: !passesOn) }
        case .optionalMap:
            visit(children[0], isLookedAt: false)
            visit(children[1], isLookedAt: !passesOn)
        case .call, .memberCall: call(id, children, passesOn)
        case .list, .map, .optionalEntry, .attempt: for child in children { visit(child, isLookedAt: !passesOn) }
        case .binary: for child in children { visit(child, isLookedAt: !(passesOn && tree.operation(id) == .add)) }
        default: for child in children { visit(child) }
        }
    }

    /// True if the last part of a comprehension makes its elements.
    private func isResult(_ macro: SyntaxTree.Macro) -> Bool {
        switch macro {
        case .map, .transformList, .transformMap: true
        default: false
        }
    }

    private mutating func select(_ property: String, of operand: SyntaxTree.ID) {
        if let type = object(operand) {
            used.add(property, of: type)
            visit(operand, isLookedAt: false)
        } else {
            visit(operand)
        }
    }

    private mutating func call(_ id: SyntaxTree.ID, _ children: [SyntaxTree.ID], _ passesOn: Bool) {
        switch tree.spelling(id) {
        case "tag", "hasTag":
            guard let receiver = children.first, let type = object(receiver) else { break }
            used.add("tag", of: type)
            visit(receiver, isLookedAt: false)
            for child in children.dropFirst() { visit(child) }
            return
        // The results of these have the parts of their operands; a size has none.
        case "size" where children.contains { isAssembled($0) && object($0) == nil }, "hasValue":
            for child in children { visit(child, isLookedAt: false) }
            return
        case "reverse", "slice", "first", "last", "flatten", "or", "orValue", "value":
            for child in children { visit(child, isLookedAt: !passesOn) }
            return
        default: break
        }
        for child in children { visit(child) }
    }

    /// The assembled type of a node's value, or of the content of its optional.
    private func object(_ id: SyntaxTree.ID) -> String? {
        var type = checked.types[id]
        while true {
            switch type {
            case .wrapper(let wrapped): type = wrapped
            case .abstract("optional_type", let parameters):
                guard let first = parameters.first else { return nil }
                type = first
            case .abstract(let name, _): return scope.isAssembled(type) ? name : nil
            default: return nil
            }
        }
    }
}
