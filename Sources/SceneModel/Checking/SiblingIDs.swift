import AttributeValues

/// The ids of a node's children, including those in the branches of `if` and `switch`. Two children may have the same
/// id if they are in different branches of one choice, because they never exist together.
public struct SiblingIDs {
    /// A branch of a choice, by their numbers.
    struct Place {
        var choice: Int
        var branch: Int
    }

    private var names = NameSet()
    /// The branches around the children with an id, for ids that occur only in branches.
    private var places: [Name: [[Place]]] = [:]
    private var choices = 0

    public init() {}

    mutating func newChoice() -> Int {
        choices += 1
        return choices
    }

    /// - Returns: false if a sibling has the id already.
    mutating func insert(_ id: Name, at number: Int, in branches: [Place]) -> Bool {
        guard names.insert(id.text, at: number) != nil else {
            if !branches.isEmpty { places[id] = [branches] }
            return true
        }
        guard !branches.isEmpty, let others = places[id], others.allSatisfy({ SiblingIDs.exclude($0, branches) }) else {
            return false
        }
        places[id]?.append(branches)
        return true
    }

    private static func exclude(_ a: [Place], _ b: [Place]) -> Bool {
        a.contains { one in b.contains { $0.choice == one.choice && $0.branch != one.branch } }
    }

    /// Adds a child that is defined already, with those in its branches.
    /// - Parameter id: of a node, which may be made from the definition of a sibling; nil: that of the definition.
    /// - Returns: an id that a sibling has already.
    @discardableResult
    public mutating func add(_ child: NodeDefinition, as id: Name? = nil) -> Name? {
        var taken: Name?
        var pending: [(NodeDefinition, Name, [Place])] = [(child, id ?? child.id, [])]
        while let (next, id, branches) = pending.popLast() {
            if !insert(id, at: 0, in: branches) { taken = id }
            guard next.kind == .choice else { continue }
            let choice = newChoice()
            for (branch, template) in (next.forEach?.templates ?? []).enumerated() {
                let inside = branches + [Place(choice: choice, branch: branch)]
                pending += template.children.map { ($0, $0.id, inside) }
            }
        }
        return taken
    }
}

/// The numbers of siblings in their document, for the ids of those without one. Nodes in branches count, too.
struct SiblingNumbers {
    private let first: Int
    /// Empty if no choice is among the siblings.
    private var numbers: [Int] = []

    init(_ nodes: [DocumentNode], from first: Int) {
        self.first = first
        // A copy is a choice only if a sibling before it is one.
        guard nodes.contains(where: { !$0.isVariant && $0.choice != nil }) else { return }
        var next = first
        for node in nodes {
            numbers.append(next)
            next += SiblingNumbers.sum(node)
        }
    }

    subscript(position: Int) -> Int { numbers.isEmpty ? first + position : numbers[position] }

    /// How many numbers a node takes: one, and for a choice one more for each node in its branches.
    static func sum(_ node: DocumentNode) -> Int {
        sum([node]) { $0.choice == nil ? [] : $0.branches.flatMap { $0.list ?? [] } }
    }

    /// The same for nodes that are defined already.
    static func sum(_ nodes: [NodeDefinition]) -> Int {
        sum(nodes) { $0.kind == .choice ? ($0.forEach?.templates ?? []).flatMap(\.children) : [] }
    }

    private static func sum<Node>(_ nodes: [Node], inBranches: (Node) -> [Node]) -> Int {
        var count = 0
        var pending = nodes
        while let next = pending.popLast() {
            count += 1
            pending += inBranches(next)
        }
        return count
    }
}
