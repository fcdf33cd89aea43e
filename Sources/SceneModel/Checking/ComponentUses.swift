/// The components that a body uses: those it always uses, and those used only in a branch, or for the elements of a
/// list that may be empty.
struct ComponentUses {
    private(set) var always: [String] = []
    private(set) var repeated: [String] = []

    /// Iterative over the document's nodes.
    init(of body: DocumentNode) {
        var pending: [(node: DocumentNode, isRepeated: Bool)] = [(body, false)]
        while let (node, isRepeated) = pending.popLast() {
            if let name = node["component"]?.string {
                if isRepeated { repeated.append(name) } else { always.append(name) }
            }
            for key in [NodeKey.children, .header, .content, .footer] {
                for child in node[key.name]?.list ?? [] { pending.append((child, isRepeated)) }
            }
            for slot in node["slots"]?.map ?? [] {
                for child in slot.value.list ?? [] { pending.append((child, isRepeated)) }
            }
            if node.choice != nil {
                for branch in node.branches {
                    for child in branch.list ?? [] { pending.append((child, true)) }
                }
            }
            guard let forEach = node["forEach"], forEach.map != nil else { continue }
            // A literal list has the same elements in every instance.
            let isLiteral = forEach["in"]?.list.map { !$0.isEmpty } ?? false
            pending.append((forEach, isRepeated || !isLiteral))
            if let template = forEach["node"] { pending.append((template, isRepeated || !isLiteral)) }
        }
    }

    /// The components on a shortest path of unconditional uses from one component to another; nil if there is none.
    static func findChain(from start: String, backTo end: String, _ uses: [String: ComponentUses]) -> [String]? {
        var before: [String: String] = [:]
        var pending = [start]
        var next = 0
        while next < pending.count {
            let name = pending[next]
            next += 1
            for used in uses[name]?.always ?? [] where uses[used] != nil {
                if used == end {
                    var chain = [name]
                    while let previous = before[chain[chain.count - 1]] { chain.append(previous) }
                    return chain.reversed()
                }
                guard before[used] == nil, used != start else { continue }
                before[used] = name
                pending.append(used)
            }
        }
        return nil
    }

    /// The names, with used components before their users, except within a cycle.
    static func order(_ names: [String], _ uses: [String: ComponentUses]) -> [String] {
        let numbers = Dictionary(zip(names, names.indices)) { first, _ in first }
        let used = names.map { name in
            uses[name].map { $0.always + $0.repeated }?.compactMap { numbers[$0] } ?? []
        }
        return RuleOrder.order(used).map { names[$0] }
    }
}
