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
    /// Rows of the store without a node.
    var absentRows = AbsentRows()
    /// The rows come from a store that was recovered. A client's node that is made again gets the values that are left
    /// of it.
    var isSalvaged = false
    /// Tells which components are still the declared ones. Valid until the next declaration.
    var components = CurrentComponents([:])
    /// The last number in a client's key.
    private(set) var lastNumber: UInt64 = 0
    /// Changes for the store, in order.
    private var changes: [StoreChange] = []
    /// Its nodes have rows and are not in the tree yet.
    var ahead: Construction?
    /// Nodes whose rows may have changed.
    private var dueNodes: [NodeID] = []
    /// Children that need an order key, by parent.
    private var unplaced: [UInt32: [NodeID]] = [:]
    /// The ids of the children with which a node was made, while children of it are removed.
    var madeIDs: (row: UInt32, ids: Set<Name>)?
    /// Nodes whose children have another order.
    private var reordered: Set<UInt32> = []
    /// True if any node has ever been moved to another parent.
    private(set) var hasMovedNodes = false
    /// The path of the parent of the node that got a key last, as long as the tree is the same.
    private var lastPath = (parent: UInt32.max, changes: UInt64(0), text: "")
    /// The key of the parent of the node whose row was written last, as long as nodes and keys are the same.
    var lastParent = (row: UInt32.max, changes: UInt64(0), keyChanges: UInt64(0), key: Value.null)
    /// The definition of a client's node that was written last, with its document form. Other nodes have equal ones.
    var lastOwn: (definition: NodeDefinition, written: Value)?
    /// The names that were written last, of a definition that siblings share.
    var lastReferred: (definition: NodeDefinition, written: Value?)?
    /// Instances that were made while there were rows without a node, and have not looked for their rows.
    private var made: [NodeID] = []

    init(of nodes: Tree<NodeRecord>) { self.nodes = nodes }

    /// True while changes are noted for the store.
    var notesChanges: Bool { author == .clients }
    var isRestoring: Bool { author == .store }

    // MARK: Rows

    func note(_ change: StoreChange) { changes.append(change) }

    /// Notes that the row of a node may have changed.
    func noteRow(of row: UInt32) {
        let kept = nodes.kept(row)
        if kept.isDue || !notesChanges { return }
        kept.isDue = true
        dueNodes.append(nodes.nodeID(row))
    }

    /// Stores a value of a node under a name; nil deletes it.
    func note(_ value: Value?, as name: String, of row: UInt32) {
        if value != nil { nodes[Int(row)].hasValues = true }
        changes.append(StoreChange(key: nodes.key(of: row), name: name, value: value))
    }

    /// The name of the row that has the list of a `forEach` whose data is refused.
    static let heldName = "elements"

    /// Stores the list from which instances were made, because their data is refused now: the next start makes them
    /// from this list. nil: from their data.
    func noteHeld(_ list: ValueList?, of row: UInt32) {
        if notesChanges { note(list.map { .list($0) }, as: Persistence.heldName, of: row) }
    }

    /// The changes for the store since the last call, in order.
    func takeChanges() -> [StoreChange] {
        settleRows()
        if changes.isEmpty { return [] }
        ahead?.mark()
        defer { changes = [] }
        return changes
    }

    /// Drops the changes noted so far: the store has them.
    func forgetChanges() { changes = [] }

    /// Works out the rows of nodes that have changed.
    private func settleRows() {
        if dueNodes.isEmpty, unplaced.isEmpty, reordered.isEmpty { return }
        if !unplaced.isEmpty || !reordered.isEmpty { settleOrder() }
        for node in dueNodes {
            guard nodes.isAlive(node), let kept = nodes[Int(node.row)].kept else { continue }
            kept.isDue = false
            // The store finds the rows of a subtree that waits to be freed by the parents that they name.
            guard nodes.isLinked(node.row) || kept.isOwn && kept.isStored else { continue }
            if let value = writtenRow(of: node.row) {
                kept.isStored = true
                changes.append(StoreChange(key: nodes.key(of: node.row), name: "", value: value))
            } else if kept.isStored {
                kept.isStored = false
                changes.append(StoreChange(key: nodes.key(of: node.row), name: "", value: nil))
            }
        }
        dueNodes = []
    }

    // MARK: Keys

    /// Gives a client's node a key that no other node has had.
    func makeKey(of row: UInt32) {
        let (node, parent) = (nodes[Int(row)], nodes[Int(row)].parent)
        if lastPath.parent != parent || lastPath.changes != nodes.changes {
            let text = nodes.ids(of: parent).reduce("") { $0 + "/" + StoredKey.escape($1.text) }
            // The keys of siblings share the text.
            lastPath = (parent, nodes.changes, text.hasSameBytes(as: lastPath.text) ? lastPath.text : text)
        }
        if !isSalvaged, !node.isTransparent, let key = OwnKey(lastPath.text, id: node.id.text, number: lastNumber + 1) {
            lastNumber += 1
            return nodes.setKey(key, of: row)
        }
        let path = node.isTransparent ? lastPath.text : lastPath.text + "/" + StoredKey.escape(node.id.text)
        if isSalvaged,
            let known = absentRows.keys.first(where: {
                StoredKey.number(in: $0) != nil && $0.utf8.starts(with: (path + "#").utf8)
            })
        {
            return nodes.setKey(known, of: row)
        }
        lastNumber += 1
        nodes.setKey("\(path)#\(lastNumber)", of: row)
    }

    /// Takes the rows of a store, before any node takes its own.
    func begin(with rows: [StoredRow]) {
        absentRows = AbsentRows(expecting: rows.count)
        for row in rows where StoredKey.isOfNode(row.key) {
            absentRows.insert(row)
            lastNumber = max(lastNumber, StoredKey.number(in: row.key) ?? 0)
        }
    }

    /// Notes where a node was made, because it stands somewhere else now.
    func noteHome(of row: UInt32, _ home: NodeID, key: String, maker: NodeID?) {
        let kept = nodes.kept(row)
        nodes.setKey(key, of: row)
        kept.maker = maker
        kept.home = home
        hasMovedNodes = true
    }

    // MARK: New nodes

    /// Notes an instance that data has made: it may have rows.
    func noteMade(_ row: UInt32) { if !absentRows.isEmpty { made.append(nodes.nodeID(row)) } }

    /// True if `takeMade` has something to return.
    var hasMade: Bool { !made.isEmpty }

    /// The instances made since the last call that may have rows.
    func takeMade() -> [UInt32] {
        if made.isEmpty { return [] }
        defer { made = [] }
        return absentRows.isEmpty ? [] : made.filter { nodes.isAlive($0) }.map(\.row)
    }

    // MARK: Order

    /// Notes that a node needs an order key: its place among its siblings is new.
    func notePlace(of row: UInt32) {
        if notesChanges { unplaced[nodes[Int(row)].parent, default: []].append(nodes.nodeID(row)) }
    }

    /// Notes that the children of a node have another order.
    func noteOrder(below parent: UInt32) { if notesChanges { reordered.insert(parent) } }

    /// Notes that a child is in another part of its section than it was made in.
    func noteElsewhere(_ row: UInt32) {
        guard notesChanges else { return }
        nodes.kept(row).isElsewhere = true
        notePlace(of: row)
    }

    /// Notes that the children of a node have the order of its template.
    func notePlacesAsMade(below parent: UInt32) {
        for (place, child) in nodes[Int(parent)].children.enumerated() {
            nodes[Int(child)].basePlace = UInt32(place)
            guard let kept = nodes[Int(child)].kept else { continue }
            kept.order = nil
            noteRow(of: child)
        }
    }

    /// Notes the places of children that scenes have made.
    public func noteScenePlaces() {
        for row in nodes.living where !nodes[Int(row)].kind.isMadeFromData {
            for (place, child) in nodes[Int(row)].children.enumerated() { nodes[Int(child)].basePlace = UInt32(place) }
        }
    }

    /// Gives order keys to nodes that were made or moved.
    private func settleOrder() {
        for parent in reordered where nodes.isAlive(parent) {
            let children = nodes[Int(parent)].children
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
        for (parent, places) in unplaced where nodes.isAlive(parent) && !nodes[Int(parent)].kind.isMadeFromData {
            let waiting = Set(places.filter { nodes.isAlive($0) && nodes[Int($0.row)].parent == parent }.map(\.row))
            let children = nodes[Int(parent)].children
            // Nodes that were just made are usually last, so the search begins at the end.
            var positions: [(position: Int, next: UInt32?)] = []
            var next: UInt32?
            for position in children.indices.reversed() {
                if positions.count == waiting.count { break }
                if waiting.contains(children[position]) {
                    positions.append((position, next))
                } else {
                    next = children[position]
                }
            }
            for row in waiting { nodes[Int(row)].kept?.order = nil }
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
    private func place(_ position: Int, among children: [UInt32], before next: UInt32?) -> Bool {
        let row = children[position]
        let rank = nodes.rank(of: row)
        var low: String?
        if position > 0, nodes.rank(of: children[position - 1]) == rank {
            low = nodes.order(of: children[position - 1])
        }
        let high = next.flatMap { nodes.rank(of: $0) == rank ? nodes.order(of: $0) : nil }
        let kept = nodes.kept(row)
        let isBetween = nodes.order(of: row).map { implied in
            (low.map { $0.precedesByBytes(implied) } ?? true) && (high.map { implied.precedesByBytes($0) } ?? true)
        }
        if isBetween != true || kept.isElsewhere {
            if let low, let high, !low.precedesByBytes(high) { return true }
            kept.order = OrderKey.makeKey(low, high)
        }
        noteRow(of: row)
        return (kept.order?.utf8.count ?? 0) > OrderKey.longest
    }

    private func renumber(_ children: [UInt32]) {
        var last: String?
        for child in children {
            let kept = nodes.kept(child)
            kept.order = OrderKey.makeKey(last ?? "~", nil)
            last = kept.order
            noteRow(of: child)
        }
    }
}
