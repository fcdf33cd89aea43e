import AttributeValues

/// The rows of the store under one key, whose node does not exist yet.
final class AbsentNode {
    let key: String
    /// The members of the node's own row; nil if the store has none.
    fileprivate(set) var fields: ValueMap?
    /// The revision of that row.
    fileprivate(set) var revision: UInt64 = 0
    /// The rows of its states, by name.
    fileprivate(set) var values: [Name: StoredRow] = [:]
    /// Nodes that clients put below this one. A node whose rows have gone is removed at the next look.
    fileprivate var below: [AbsentNode] = []
    fileprivate var countBelow = 0
    /// The node that was made last under this key. Only its maker uses it.
    var made: NodeID?
    /// True if it is a removed node whose parent exists.
    var isTaken = false

    fileprivate init(_ key: String) { self.key = key }

    var isEmpty: Bool { fields == nil && values.isEmpty }

    /// The row of the node itself.
    var own: StoredRow? { fields.map { StoredRow(key: key, name: "", revision: revision, value: .map($0)) } }

    var rows: [StoredRow] { (own.map { [$0] } ?? []) + values.values }

    /// Nodes that clients put below this one.
    var children: [AbsentNode] {
        dropGone()
        return below
    }

    fileprivate func dropGone() {
        if below.count != countBelow { below.removeAll { $0.fields == nil } }
    }
}

/// Rows of the store whose nodes do not exist: instances that a list has not made yet, and nodes that no scene makes
/// any more. A new node takes its rows from here.
struct AbsentRows {
    /// Nodes with rows, and the parents that such nodes name.
    private var nodes: [Name: AbsentNode] = [:]
    /// The parent that was named last: nodes that clients put below it follow each other.
    private var lastParent: AbsentNode?

    /// - Parameter count: as many rows as will be inserted at most.
    init(expecting count: Int = 0) { nodes.reserveCapacity(count) }

    var isEmpty: Bool { nodes.isEmpty }
    var count: Int { present.reduce(0) { $0 + ($1.fields == nil ? 0 : 1) + $1.values.count } }
    /// Nodes with rows.
    var present: some Sequence<AbsentNode> { nodes.values.lazy.filter { !$0.isEmpty } }
    var keys: some Sequence<String> { present.map(\.key) }

    /// A node with rows, or with rows of nodes that clients put below it.
    subscript(key: String) -> AbsentNode? { nodes[key] }

    func node(_ key: String) -> ValueMap? { nodes[key]?.fields }

    mutating func insert(_ row: StoredRow) {
        let node = node(at: row.key)
        guard row.name.isEmpty else { return node.values[row.name] = row }
        if node.fields != nil {
            remove(row.key, "")
            return insert(row)
        }
        let fields = row.value.map ?? ValueMap()
        if fields["makes"] != nil || fields["removed"] != nil, let parent = StoredKey.parentKey(of: row.key) {
            let around = lastParent.flatMap { $0.key.hasSameBytes(as: parent) ? $0 : nil } ?? self.node(at: parent)
            lastParent = around
            around.dropGone()
            around.below.append(node)
            around.countBelow += 1
        }
        node.fields = fields
        node.revision = row.revision
    }

    private mutating func node(at key: String) -> AbsentNode {
        func itself(_ node: inout AbsentNode) -> AbsentNode { node }
        return itself(&nodes[key, default: AbsentNode(key)])
    }

    mutating func remove(_ key: String) {
        guard let node = nodes[key] else { return }
        node.values = [:]
        removeOwn(of: node)
    }

    mutating func remove(_ key: String, _ name: String) {
        guard let node = nodes[key] else { return }
        if name.isEmpty { return removeOwn(of: node) }
        node.values[name] = nil
        drop(node)
    }

    private mutating func removeOwn(of node: AbsentNode) {
        let isBelow = node.fields?["makes"] != nil || node.fields?["removed"] != nil
        let parent = isBelow ? StoredKey.parentKey(of: node.key) : nil
        node.fields = nil
        if let around = parent.flatMap({ nodes[$0] }) {
            around.countBelow -= 1
            drop(around)
        }
        drop(node)
    }

    /// Puts the rows of a key under another one. Rows stay whose names the other one has already.
    /// - Returns: the moved rows, under their new key.
    mutating func rename(_ key: String, to other: String) -> [StoredRow] {
        let there = nodes[other]
        let rows = (nodes[key]?.rows ?? []).filter {
            $0.name.isEmpty ? there?.fields == nil : there?.values[Name($0.name)] == nil
        }
        return rows.map { row in
            remove(key, row.name)
            let moved = StoredRow(key: other, name: row.name, revision: row.revision, value: row.value)
            insert(moved)
            return moved
        }
    }

    /// Drops a node that nothing is known of any more.
    private mutating func drop(_ node: AbsentNode) {
        guard node.isEmpty, node.countBelow == 0 else { return }
        nodes[node.key] = nil
        if lastParent === node { lastParent = nil }
    }

    /// Keys of rows at and below some nodes. O(rows · depth).
    func findKeys(below tops: Set<Name>) -> [String] { findKeys { tops.contains($0) } }

    func findKeys(below isTop: (String) -> Bool) -> [String] {
        keys.filter { key in sequence(first: key) { StoredKey.parentKey(of: $0) }.contains(where: isTop) }
    }

    mutating func giveBack() { nodes.giveBack() }
}
