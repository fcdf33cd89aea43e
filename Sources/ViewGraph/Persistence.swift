import AttributeValues
import SceneModel

/// What a store has to be told of the tree, and the rows of the store whose nodes are not there.
///
/// Whoever changes the tree notes which nodes the change concerns. When the change is done, each of
/// these is compared with what it was made from. This knows the tree and no vertices: its callers
/// look values up.
final class Persistence {
    /// What makes the changes of the tree.
    enum Author {
        /// Clients and data: the store has to know.
        case clients
        /// Scenes at a start, which the next start reads again.
        case scenes
        /// Rows of a store on their way back into the tree. What data makes on the way goes without
        /// taking its rows along.
        case store
    }

    let nodes: Tree<NodeRecord>
    var author = Author.clients
    /// Rows of the store without a node.
    var absentRows = AbsentRows()
    /// The rows come from a store that was recovered: a client's node goes on with the values that
    /// are left of it.
    var isSalvaged = false
    /// Which components are still the declared ones. Good until the next declaration.
    var components = CurrentComponents([:])
    /// The last number in a client's key.
    private(set) var lastNumber: UInt64 = 0
    /// What a store has to know, in order.
    private var changes: [StoreChange] = []
    /// Nodes whose rows may be others.
    private var dueNodes: [NodeID] = []
    /// Children without a place among their siblings, by parent.
    private var unplaced: [UInt32: [NodeID]] = [:]
    /// Nodes whose children stand in another order.
    private var reordered: Set<UInt32> = []
    /// Whether any node has ever got another parent.
    private(set) var hasMovedNodes = false
    /// The path of the parent of the node that got a key last, as long as the tree is the same.
    private var lastPath = (parent: UInt32.max, changes: UInt64(0), text: "")
    /// What was written last of a client's node: others with copies of its definition say the same.
    var lastOwn: (definition: NodeDefinition, isUse: Bool, written: Value)?
    /// Instances that were made while rows had no node, and have not looked for theirs.
    private var made: [NodeID] = []

    init(of nodes: Tree<NodeRecord>) { self.nodes = nodes }

    /// Whether the store has to know of changes.
    var notesChanges: Bool { author == .clients }
    var isRestoring: Bool { author == .store }

    // MARK: Rows

    /// A row is another one now, whatever it says of a node.
    func note(_ change: StoreChange) { changes.append(change) }

    /// The row of a node may be another one.
    func noteRow(of row: UInt32) {
        let kept = nodes.kept(row)
        if kept.isDue || !notesChanges { return }
        kept.isDue = true
        dueNodes.append(nodes.nodeID(row))
    }

    /// A value of a node counts from now on; nil: it counts no more.
    func note(_ value: Value?, as name: String, of row: UInt32) {
        if value != nil { nodes[Int(row)].hasValues = true }
        changes.append(StoreChange(key: nodes.key(of: row), name: name, value: value))
    }

    /// The name of a list whose data is refused, under the key of its node.
    static let heldName = "elements"

    /// Instances stay although their data is refused: a start makes them from the list that they
    /// were made from. nil: from their data.
    func noteHeld(_ list: ValueList?, of row: UInt32) {
        if notesChanges { note(list.map { .list($0) }, as: Persistence.heldName, of: row) }
    }

    /// What the store has to know, in order, since the last call.
    func takeChanges() -> [StoreChange] {
        settleRows()
        defer { changes = [] }
        return changes
    }

    /// Forgets what was noted so far: the store has it.
    func forgetChanges() { changes = [] }

    /// Works out the rows of nodes that have changed.
    private func settleRows() {
        if dueNodes.isEmpty, unplaced.isEmpty, reordered.isEmpty { return }
        if !unplaced.isEmpty || !reordered.isEmpty { settleOrder() }
        for node in dueNodes {
            guard nodes.isAlive(node), let kept = nodes[Int(node.row)].kept else { continue }
            kept.isDue = false
            if !nodes.isLinked(node.row) { continue }
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

    func newKey(of row: UInt32) -> String {
        let (node, parent) = (nodes[Int(row)], nodes[Int(row)].parent)
        if lastPath.parent != parent || lastPath.changes != nodes.changes {
            lastPath = (parent, nodes.changes, nodes.ids(of: parent).reduce("") { $0 + "/" + StoredKey.part($1) })
        }
        let path = node.isTransparent ? lastPath.text : lastPath.text + "/" + StoredKey.part(node.id)
        if isSalvaged,
            let known = absentRows.rows.keys.first(where: {
                StoredKey.number(in: $0) != nil && $0.hasPrefix(path + "#")
            })
        {
            return known
        }
        lastNumber += 1
        return "\(path)#\(lastNumber)"
    }

    /// Rows that a store has, before any of their nodes takes its own.
    func begin(with rows: some Sequence<StoredRow>) {
        for row in rows {
            absentRows.insert(row)
            lastNumber = max(lastNumber, StoredKey.number(in: row.key) ?? 0)
        }
    }

    /// A node stands now where its row says.
    func noteHome(of row: UInt32, _ home: NodeID, key: String, maker: NodeID?) {
        let kept = nodes.kept(row)
        kept.key = key
        kept.maker = maker
        kept.home = home
        hasMovedNodes = true
    }

    // MARK: New nodes

    /// Data has made an instance, which may have rows.
    func noteMade(_ row: UInt32) { if !absentRows.isEmpty { made.append(nodes.nodeID(row)) } }

    /// Whether `takeMade` has something to return.
    var hasMade: Bool { !made.isEmpty }

    /// The instances made since the last call that may have rows.
    func takeMade() -> [UInt32] {
        if made.isEmpty { return [] }
        defer { made = [] }
        return absentRows.isEmpty ? [] : made.filter { nodes.isAlive($0) }.map(\.row)
    }

    // MARK: Order

    /// A node stands elsewhere among its siblings, or nowhere in particular yet.
    func notePlace(of row: UInt32) {
        if notesChanges { unplaced[nodes[Int(row)].parent, default: []].append(nodes.nodeID(row)) }
    }

    /// The children of a node stand in another order.
    func noteOrder(below parent: UInt32) { if notesChanges { reordered.insert(parent) } }

    /// A child stands in another part of its section than it was made in.
    func noteElsewhere(_ row: UInt32) {
        guard notesChanges else { return }
        nodes.kept(row).isElsewhere = true
        notePlace(of: row)
    }

    /// The children of a node stand as its template says.
    func notePlacesAsMade(below parent: UInt32) {
        for (place, child) in nodes[Int(parent)].children.enumerated() {
            nodes[Int(child)].basePlace = UInt32(place)
            guard let kept = nodes[Int(child)].kept else { continue }
            kept.order = nil
            noteRow(of: child)
        }
    }

    /// The places of children that scenes have made.
    func noteScenePlaces() {
        for row in nodes.living where !nodes[Int(row)].kind.isMadeFromData {
            for (place, child) in nodes[Int(row)].children.enumerated() { nodes[Int(child)].basePlace = UInt32(place) }
        }
    }

    /// Gives nodes that were made or moved the keys of their places.
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
            // What was made last stands last.
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
            kept.order = OrderKey.between(low, high)
        }
        noteRow(of: row)
        return (kept.order?.utf8.count ?? 0) > OrderKey.longest
    }

    private func renumber(_ children: [UInt32]) {
        var last: String?
        for child in children {
            let kept = nodes.kept(child)
            kept.order = OrderKey.between(last ?? "~", nil)
            last = kept.order
            noteRow(of: child)
        }
    }
}
