import AttributeValues
import SceneModel

/// Collects what a store has to know about the tree, and has the rows of the store whose nodes do not exist.
///
/// Code that changes the tree notes which nodes the change concerns. After the change each of these nodes is compared
/// with what it was made from. This class knows the tree and no vertices: its callers look values up.
public final class Persistence {
    /// Who changes the tree.
    enum Author {
        /// Clients and data: the store has to know the changes.
        case clients
        /// Scenes at a start. The store need not know the changes, because the next start reads the scenes again.
        case scenes
        /// The store, whose rows are being restored. Instances that disappear meanwhile keep their rows.
        case store
    }

    let nodes: Tree<NodeRecord>
    var author = Author.clients
    /// True while new nodes take their rows: the store has these.
    var isApplyingRows = false
    /// True while nodes are removed that the layers below the edits no longer have: what the edits say of them waits.
    var isLosing = false
    /// Rows of the store without a node.
    var absentRows = AbsentRows()
    /// Changes for the store, in order.
    private var changes: [StoreChange] = []
    /// Rows under new keys. A start, which forgets other changes, keeps these.
    var renamed: [StoreChange] = []
    /// The revision of the changes that were taken last.
    private(set) var lastRevision: UInt64 = 0
    /// The last revision of the store when this process began.
    private(set) var restoredRevision: UInt64 = 0
    /// Nodes whose edits count as changed although their rows need not be written.
    private var edited: [NodeID] = []
    /// Its nodes have rows and are not in the tree yet.
    var ahead: Construction?
    /// Nodes whose rows may have changed.
    private var dueNodes: [NodeID] = []
    /// Children that need an order key, by parent.
    private var unplaced: [NodeRow: [NodeID]] = [:]
    /// The ids of the children that the layers below the edits give a node, while children of it are removed.
    var idsBelow: (row: NodeRow, ids: Set<Name>)?
    /// Nodes whose children have another order.
    private var reordered: Set<NodeRow> = []

    init(of nodes: Tree<NodeRecord>) { self.nodes = nodes }

    /// True while changes are noted for the store.
    var notesChanges: Bool { author == .clients && !isApplyingRows }
    var isRestoring: Bool { author == .store }

    // MARK: Rows

    func note(_ change: StoreChange) { changes.append(change) }

    /// Notes that the row of a node may have changed.
    func noteRow(of row: NodeRow) {
        if !notesChanges { return }
        let part = nodes.part(row)
        if part.isDue { return }
        part.isDue = true
        dueNodes.append(nodes.nodeID(row))
    }

    /// Notes that the edits of a node count as changed now: a child was taken away from it, or its row was written
    /// before it came into the tree.
    func noteEdited(_ row: NodeRow) {
        if notesChanges { edited.append(nodes.nodeID(row)) }
    }

    /// Stores a value of a node under a name; nil deletes it.
    func note(_ value: Value?, as name: String, of row: NodeRow, for receiver: StoreChange.Receiver = .all) {
        if value != nil { nodes[row].hasValues = true }
        changes.append(StoreChange(key: nodes.key(of: row), name: name, value: value, for: receiver))
    }

    /// The name of the row that has the list of a `forEach` whose data is refused.
    static let frozenName = "elements"
    /// The name of the row that says that a node's appearing has called actions.
    static let appearedName = "@appeared"

    /// Stores the list from which instances were made, because their data is refused now: the next start makes them
    /// from this list. nil: from their data.
    func noteFrozen(_ list: ValueList?, of row: NodeRow) {
        if notesChanges { note(list.map { .list($0) }, as: Persistence.frozenName, of: row) }
    }

    /// The changes for the store since the last call, in order.
    /// - Parameter revision: of these changes.
    func takeChanges(at revision: UInt64 = 0) -> [StoreChange] {
        if !renamed.isEmpty {
            changes.insert(contentsOf: renamed, at: 0)
            renamed = []
        }
        settleRows(at: revision)
        lastRevision = revision
        if changes.isEmpty { return [] }
        ahead?.mark(at: revision)
        defer { changes = [] }
        return changes
    }

    /// Drops the changes noted so far: the store has them.
    func forgetChanges() { changes = [] }

    /// Works out the rows of nodes that have changed.
    private func settleRows(at revision: UInt64) {
        for node in edited where nodes.isAlive(node) { nodes.part(node.row).revision = revision }
        if !edited.isEmpty { edited = [] }
        if dueNodes.isEmpty, unplaced.isEmpty, reordered.isEmpty { return }
        if !unplaced.isEmpty || !reordered.isEmpty { settleOrder() }
        for node in dueNodes {
            guard nodes.isAlive(node), let part = nodes[node.row].part else { continue }
            part.isDue = false
            part.revision = revision
            guard nodes.isLinked(node.row) || part.isStored else { continue }
            if let value = writtenRow(of: node.row) {
                part.isStored = true
                changes.append(StoreChange(key: nodes.key(of: node.row), name: "", value: value))
            } else if part.isStored {
                part.isStored = false
                changes.append(StoreChange(key: nodes.key(of: node.row), name: "", value: nil))
            }
        }
        dueNodes = []
    }

    /// Takes the rows of a store, before any node takes its own.
    func begin(with rows: [StoredRow]) {
        absentRows = AbsentRows(expecting: rows.count)
        for row in rows where StoredKey.isOfNode(row.key) {
            absentRows.insert(row)
        }
        restoredRevision = rows.map(\.revision).max() ?? 0
    }

    // MARK: New nodes

    /// True if a new node may find something that is said of it already.
    var mayHaveParts: Bool { !absentRows.isEmpty || !nodes.layers.isEmpty }

    // MARK: Order

    /// Notes that a node needs an order key: its place among its siblings is new.
    func notePlace(of row: NodeRow) {
        if notesChanges { unplaced[nodes[row].parent, default: []].append(nodes.nodeID(row)) }
    }

    /// Notes that the children of a node have another order.
    func noteOrder(below parent: NodeRow) { if notesChanges { reordered.insert(parent) } }

    /// Notes that the edits put a child into another part of its section.
    func noteElsewhere(_ row: NodeRow) {
        guard notesChanges else { return }
        nodes.part(row).isElsewhere = true
        notePlace(of: row)
    }

    /// Notes what scenes have made: the places of children, and what a later scene says of the nodes of an earlier one.
    public func noteScenes() {
        for row in nodes.subtree(of: .root).reversed() where !nodes[row].kind.isMadeFromData {
            let node = nodes[row]
            for (position, child) in node.children.enumerated() { nodes[child].basePlace = UInt32(position) }
            let children = node.children.map { nodes[$0] }
            let known = node.definition.slotted
            let isSame =
                known.count == children.count
                && zip(known, children).allSatisfy { known, child in
                    known.0.id == child.id && known.1 == child.slot
                        && (known.0 === child.definition || known.0.isCopy(of: child.definition))
                }
            if isSame { continue }
            let all = NodeDefinition(copyOf: node.definition, id: node.id)
            func below(_ slot: Slot) -> [NodeDefinition] {
                children.filter { $0.slot == slot }.map { child in
                    guard child.definition.id != child.id || child.definition.isContent != child.isContent else {
                        return child.definition
                    }
                    let own = NodeDefinition(copyOf: child.definition, id: child.id)
                    own.isContent = child.isContent
                    return own
                }
            }
            (all.header, all.children, all.footer) = (below(.header), below(.content), below(.footer))
            node.definition = all
        }
    }

    /// Gives order keys to nodes that were made or moved.
    private func settleOrder() {
        for parent in reordered where nodes.isAlive(parent) {
            let children = nodes[parent].children
            let keys = children.map { child in
                nodes.order(of: child).map { OrderKey.implied(nodes.rank(of: child)) + $0 }
            }
            let sorted = keys.compactMap { $0 }.sorted { $0.precedesByBytes($1) }
            let ranks = Dictionary(
                sorted.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
            for place in ListChange.displaced(keys.map { key in key.flatMap { ranks[$0] } }) {
                notePlace(of: children[place])
            }
        }
        reordered = []
        for (parent, places) in unplaced where nodes.isAlive(parent) && !nodes[parent].kind.isMadeFromData {
            let waiting = Set(places.filter { nodes.isAlive($0) && nodes[$0.row].parent == parent }.map(\.row))
            let children = nodes[parent].children
            // Nodes that were just made are usually last, so the search begins at the end.
            var positions: [(position: Int, next: NodeRow?)] = []
            var next: NodeRow?
            for position in children.indices.reversed() {
                if positions.count == waiting.count { break }
                if waiting.contains(children[position]) {
                    positions.append((position, next))
                } else {
                    next = children[position]
                }
            }
            for row in waiting { nodes[row].part?.order = nil }
            var isLong = false
            for (position, next) in positions.reversed() {
                isLong = place(position, among: children, before: next) || isLong
            }
            if isLong { renumber(children) }
        }
        unplaced = [:]
    }

    /// - Parameter next: the next sibling that has a key.
    /// - Returns: whether the key is too long.
    private func place(_ position: Int, among children: [NodeRow], before next: NodeRow?) -> Bool {
        let row = children[position]
        let rank = nodes.rank(of: row)
        var low: String?
        if position > 0, nodes.rank(of: children[position - 1]) == rank {
            low = nodes.order(of: children[position - 1])
        }
        let high = next.flatMap { nodes.rank(of: $0) == rank ? nodes.order(of: $0) : nil }
        let part = nodes.part(row)
        let isBetween = nodes.order(of: row).map { implied in
            (low.map { $0.precedesByBytes(implied) } ?? true) && (high.map { implied.precedesByBytes($0) } ?? true)
        }
        if isBetween != true || part.isElsewhere {
            if let low, let high, !low.precedesByBytes(high) { return true }
            part.order = OrderKey.makeKey(low, high)
        }
        noteRow(of: row)
        return (part.order?.utf8.count ?? 0) > OrderKey.longest
    }

    private func renumber(_ children: [NodeRow]) {
        var last: String?
        for child in children {
            let part = nodes.part(child)
            part.order = OrderKey.makeKey(last ?? "~", nil)
            last = part.order
            noteRow(of: child)
        }
    }
}
