import AttributeGraph
import AttributeValues
import SceneModel

/// What a store knows of a node beyond what its scene, template or component says; nodes that nobody changed have none.
final class KeptNode {
    /// nil: it follows from the parent's key.
    var key: String?
    /// Its place among its siblings; nil: the one that it was made at.
    var order: String?
    /// What it was made from, where that is not its definition any more.
    var base: NodeDefinition?
    /// A client has made it: its row says all of it.
    var isOwn = false
    /// A scene makes it now in the place of a client's node, whose key it goes on with.
    var isHeir = false
    /// The parent that it was made in, if that is not the parent it has.
    var home: NodeID?
    /// The instance or client's node that it is a part of, for one that was moved. nil: a scene makes it.
    var maker: NodeID?
    /// Ids of those of its children that it was made with and clients removed.
    var removed: Set<String> = []
    /// It stands in another part of its section than it was made in.
    var isElsewhere = false
    /// The store has a row of the node itself.
    var isStored = false
    /// Its row has to be looked at when the change at hand is done.
    var isDue = false
}

extension ViewGraph {
    func kept(_ row: UInt32) -> KeptNode {
        if let kept = nodes[Int(row)].kept { return kept }
        let kept = KeptNode()
        nodes[Int(row)].kept = kept
        return kept
    }

    /// What a node was made from.
    func base(of row: UInt32) -> NodeDefinition { nodes[Int(row)].kept?.base ?? nodes[Int(row)].definition }

    func isOwn(_ row: UInt32) -> Bool { nodes[Int(row)].kept?.isOwn == true }

    /// O(depth).
    func key(of row: UInt32) -> String {
        var length = 0
        var at = row
        while at != NodeID.root.row, nodes[Int(at)].kept?.key == nil {
            length += 1 + StoredKey.part(nodes[Int(at)].id).utf8.count
            at = nodes[Int(at)].parent
        }
        let top = at
        var start = at == NodeID.root.row ? "" : nodes[Int(at)].kept?.key ?? ""
        if top == row { return start }
        return start.withUTF8 { start in
            String(unsafeUninitializedCapacity: start.count + length) { key in
                _ = key.initialize(fromContentsOf: start)
                var end = start.count + length
                var at = row
                while at != top {
                    var part = StoredKey.part(nodes[Int(at)].id)
                    part.withUTF8 { bytes in
                        end -= bytes.count
                        _ = key[end...].initialize(fromContentsOf: bytes)
                    }
                    end -= 1
                    key.initializeElement(at: end, to: UInt8(ascii: "/"))
                    at = nodes[Int(at)].parent
                }
                return start.count + length
            }
        }
    }

    func newKey(of row: UInt32) -> String {
        let path = nodes.ids(of: row).reduce("") { $0 + "/" + StoredKey.part($1) }
        if isSalvaged,
            let known = absentRows.rows.keys.first(where: {
                StoredKey.number(in: $0) != nil && $0.hasPrefix(path + "#")
            })
        {
            return known
        }
        nextKeyNumber += 1
        return "\(path)#\(nextKeyNumber)"
    }

    /// The node that a state belongs to, and its name behind that.
    func storePlace(of state: AttributeID) -> (row: UInt32, name: String) {
        let record = record(state)
        var (row, name) = (record.node, record.name)
        while nodes[Int(row)].isObject {
            name = nodes[Int(row)].id + "." + name
            row = nodes[Int(row)].parent
        }
        return (row, name)
    }

    /// The instance of a `forEach`, or the client's node, that a node is a part of; nil: a scene makes it. O(depth).
    func maker(of row: UInt32) -> NodeID? {
        var at = row
        while at != NodeID.root.row {
            let kept = nodes[Int(at)].kept
            if kept?.isOwn == true { return nodes.nodeID(at) }
            if kept?.home != nil { return kept?.maker }
            let parent = nodes[Int(at)].parent
            if nodes[Int(parent)].kind.isMadeFromData { return nodes.nodeID(at) }
            at = parent
        }
        return nil
    }

    /// Whether a node that was made in one place is found again below a parent: the parent is there whenever the node is made, and
    /// goes with it.
    private func isWithinReach(_ row: UInt32, _ parent: UInt32) -> Bool {
        let instance = enclosingInstance(of: nodes.nodeID(parent))
        guard let maker = maker(of: row) else { return instance == nil }
        if isOwn(maker.row) { return nodes.isInside(parent, of: maker.row) && instance == enclosingInstance(of: maker) }
        return instance == maker
    }

    /// The innermost instance of a `forEach` that a node is or is in. O(depth).
    func enclosingInstance(of node: NodeID) -> NodeID? {
        var at = node.row
        while at != NodeID.root.row {
            let parent = nodes[Int(at)].parent
            if nodes[Int(parent)].kind.isMadeFromData { return nodes.nodeID(at) }
            at = parent
        }
        return nil
    }

    // MARK: Moving

    /// A node is about to get another parent.
    /// - Returns: nodes at and below it that the store cannot know as what they were made any more.
    func noteMove(of row: UInt32, to parent: UInt32) -> [UInt32] {
        let subtree = nodes.subtree(of: row)
        let leaving = subtree.filter { node in
            guard !isOwn(node), node == row || nodes[Int(node)].kept?.home != nil else { return false }
            if nodes[Int(node)].kept?.isHeir == true { return true }
            if let maker = maker(of: node), maker.row != node, subtree.contains(maker.row) { return false }
            return !isWithinReach(node, parent)
        }
        if !isOwn(row), nodes[Int(row)].kept?.home == nil {
            let (key, maker) = (key(of: row), maker(of: row))
            let kept = kept(row)
            kept.key = key
            kept.maker = maker
            kept.home = nodes.nodeID(nodes[Int(row)].parent)
            hasMovedNodes = true
        }
        return leaving
    }

    /// A node has another parent.
    func noteMoved(_ row: UInt32, _ leaving: [UInt32]) {
        let kept = kept(row)
        kept.order = nil
        if let home = kept.home, home == nodes.nodeID(nodes[Int(row)].parent) {
            kept.key = nil
            kept.home = nil
            kept.maker = nil
        }
        for node in leaving { makeOwn(node) }
        noteRow(of: row)
        notePlace(of: row)
    }

    // MARK: Client's nodes

    /// A node that a client has made, or taken away from where it was made, is stored whole from now on.
    func makeOwn(_ top: UInt32, isNew: Bool = false) {
        // Parents before children.
        var affected: [(row: UInt32, isOwn: Bool, old: String)] = []
        var keys: [UInt32: String] = [:]
        var pending = [(row: top, isOwn: true)]
        let home = nodes[Int(top)].kept?.home
        while let (row, isOwn) = pending.popLast() {
            let key = isNew ? "" : key(of: row)
            affected.append((row, isOwn, key))
            if !isNew { keys[row] = key }
            let made =
                isOwn && !nodes[Int(row)].kind.isMadeFromData
                ? Set(definitions(madeBy: row, isOwn: true).map { ObjectIdentifier($0) }) : nil
            for child in nodes[Int(row)].children {
                if let kept = nodes[Int(child)].kept, kept.key != nil {
                    // Its row names its parent; its own key follows what it is a part of.
                    if kept.isOwn {
                        noteRow(of: child)
                    } else if let maker = kept.maker, keys[maker.row] != nil {
                        pending.append((child, false))
                    }
                    continue
                }
                pending.append((child, made.map { !$0.contains(ObjectIdentifier(base(of: child))) } ?? false))
            }
        }
        if !isNew {
            for (row, _, key) in affected { forget(row, key) }
            if let home, nodes.isAlive(home) { noteGone(nodes[Int(top)].id, from: home.row) }
        }
        var renamed: [String: String] = [:]
        for (row, isOwn, old) in affected {
            if !isOwn, let kept = nodes[Int(row)].kept, let key = kept.key, let maker = kept.maker,
                let before = keys[maker.row]
            {
                kept.key = self.key(of: maker.row) + key.dropFirst(before.count)
            }
            if isOwn {
                let kept = kept(row)
                if !isUse(row) { kept.base = nil }
                kept.isOwn = true
                kept.isHeir = false
                kept.home = nil
                kept.maker = nil
                kept.order = nil
                kept.key = newKey(of: row)
                noteRow(of: row)
                notePlace(of: row)
            }
            if isNew { continue }
            let key = key(of: row)
            renamed[old] = key
            keepAll(of: row, key, isOwn)
        }
        if !absentRows.isEmpty, !isNew { rename(renamed) }
    }

    /// The rows of a node go: it gets another key.
    private func forget(_ row: UInt32, _ key: String) {
        let node = nodes[Int(row)]
        if node.hasValues || node.kept?.isStored == true {
            storeChanges.append(StoreChange(key: key, name: nil, value: nil))
        }
        node.kept?.isStored = false
        if node.kept?.removed.isEmpty == false { forgetRemoved(row, key) }
    }

    func forgetRemoved(_ row: UInt32, _ key: String, upTo revision: UInt64? = nil) {
        guard let kept = nodes[Int(row)].kept else { return }
        for id in kept.removed.sorted(by: { $0.precedesByBytes($1) }) {
            storeChanges.append(
                StoreChange(key: key + "/" + StoredKey.part(id), name: nil, value: nil, revision: revision))
        }
        kept.removed = []
    }

    /// Everything that the store has to know of a node under its new key.
    private func keepAll(of row: UInt32, _ key: String, _ isOwn: Bool) {
        keep(durableStates(of: [row]).filter { isWritten($0) })
        if !timedValues.isEmpty { keepPasts(of: row) }
        if let state = nodes[Int(row)].instances, state.isHeld { keepHeld(row, state.list) }
        if !isOwn, nodes[Int(row)].kept != nil { noteRow(of: row) }
        guard !nodes[Int(row)].kind.isMadeFromData else { return }
        // Of what it was made with only those that it still has are made again.
        for made in definitions(madeBy: row, isOwn: isOwn) {
            if let there = nodes.child(made.id, of: row), nodes[Int(there)].kept?.key == nil { continue }
            noteRemoved(made.id, from: row, key)
        }
    }

    /// The children that are there again whenever a node is made.
    func definitions(madeBy row: UInt32, isOwn: Bool) -> [NodeDefinition] {
        if isOwn { return isUse(row) ? base(of: row).body?.slotted.map(\.0) ?? [] : [] }
        return base(of: row).slotted.map(\.0)
    }

    /// A child has gone that the node was made with.
    private func noteGone(_ id: String, from row: UInt32) {
        guard !nodes[Int(row)].kind.isMadeFromData,
            row == NodeID.root.row || definitions(madeBy: row, isOwn: isOwn(row)).contains(where: { $0.id == id })
        else { return }
        noteRemoved(id, from: row, key(of: row))
    }

    /// Whether a state has another value than it begins with.
    private func isWritten(_ state: AttributeID) -> Bool {
        guard let definition = record(state).definition, case .state(let initial, _) = definition.role,
            definition.start == nil
        else { return true }
        return content(of: state).value != declarations.complete(initial, as: record(state).type)
    }

    private func rename(_ renamed: [String: String]) {
        for key in absentRows.keys(below: Set(renamed.keys)) {
            guard let rows = absentRows.rows[key] else { continue }
            var new = key
            for (old, other) in renamed where key == old || key.hasPrefix(old + "/") {
                new = other + key.dropFirst(old.count)
            }
            let parent = rows[""]?.value.map?["parent"]?.string.flatMap { renamed[$0] }
            guard new != key || parent != nil else { continue }
            absentRows.remove(key)
            storeChanges.append(StoreChange(key: key, name: nil, value: nil))
            for var row in rows.values {
                row.key = new
                if row.name.isEmpty, let parent, var fields = row.value.map {
                    fields["parent"] = .string(parent)
                    row.value = .map(fields)
                }
                absentRows.insert(row)
                storeChanges.append(StoreChange(key: new, name: row.name, value: row.value))
            }
        }
    }

    /// A template makes a node now that a client had made or moved there.
    func makeHeir(_ row: UInt32) {
        let kept = kept(row)
        if let home = kept.home, nodes.isAlive(home) { noteGone(nodes[Int(row)].id, from: home.row) }
        kept.isOwn = false
        kept.isHeir = true
        kept.home = nil
        kept.maker = nil
    }

    /// Whether a client's node is stored as the use of its component: the component is still the declared one.
    func isUse(_ row: UInt32) -> Bool {
        guard let body = base(of: row).body else { return false }
        if let known = currentComponents[ObjectIdentifier(body)] { return known }
        var exporter = SceneExporter(self, at: NodeID.root.row)
        let isCurrent = exporter.isCurrent(body)
        currentComponents[ObjectIdentifier(body)] = isCurrent
        return isCurrent
    }

    // MARK: What has changed

    /// The row of a node may be another one.
    func noteRow(of row: UInt32) {
        let kept = kept(row)
        if kept.isDue || !notesChanges { return }
        kept.isDue = true
        dueNodes.append(nodes.nodeID(row))
    }

    /// A node stands elsewhere among its siblings, or nowhere in particular yet.
    func notePlace(of row: UInt32) {
        if !notesChanges { return }
        unplaced[nodes[Int(row)].parent, default: []].append(nodes.nodeID(row))
    }

    /// The children of a node stand in another order.
    func noteOrder(below parent: UInt32) {
        if notesChanges { reordered.insert(parent) }
    }

    func noteRemoved(_ id: String, from row: UInt32, _ key: String) {
        kept(row).removed.insert(id)
        let removed = key + "/" + StoredKey.part(id)
        storeChanges.append(StoreChange(key: removed, name: nil, value: nil))
        storeChanges.append(StoreChange(key: removed, name: "", value: ["removed": true]))
    }

    /// Subtrees are about to go, with their rows and those of instances that waited in them.
    /// - Parameter rows: the nodes of one subtree, the top first.
    func noteGone(_ rows: [UInt32]) {
        guard notesChanges else { return }
        for row in rows { forgetRows(of: row) }
        noteGoneFromHomes(rows)
    }

    /// The same but for the rows of the nodes.
    func noteGoneFromHomes(_ rows: [UInt32]) {
        guard let top = rows.first else { return }
        if hasMovedNodes {
            for row in rows.dropFirst() {
                guard let home = nodes[Int(row)].kept?.home, nodes.isAlive(home),
                    !nodes.isInside(home.row, of: top)
                else { continue }
                noteGone(nodes[Int(row)].id, from: home.row)
            }
        }
        if !absentRows.isEmpty { storeChanges += absentRows.remove(below: Set(rows.map { key(of: $0) })) }
        guard !isOwn(top) else { return }
        let home = nodes[Int(top)].kept?.home ?? nodes.nodeID(nodes[Int(top)].parent)
        if nodes.isAlive(home) { noteGone(nodes[Int(top)].id, from: home.row) }
    }

    /// The rows of a node go, as far as they are not later than a revision.
    func forgetRows(of row: UInt32, upTo revision: UInt64? = nil) {
        let node = nodes[Int(row)]
        guard node.hasValues || node.kept != nil else { return }
        let key = key(of: row)
        if node.hasValues || node.kept?.isStored == true {
            storeChanges.append(StoreChange(key: key, name: nil, value: nil, revision: revision))
        }
        node.hasValues = false
        node.kept?.isStored = false
        if node.kept?.removed.isEmpty == false { forgetRemoved(row, key, upTo: revision) }
    }

    /// States whose values count from now on.
    public func keep(_ states: [AttributeID]) {
        for state in states where isDurable(state) {
            guard case .value(let value) = content(of: state) else { continue }
            let (row, name) = storePlace(of: state)
            if !unlinked.isEmpty, !nodes.isLinked(row) { continue }
            nodes[Int(row)].hasValues = true
            storeChanges.append(StoreChange(key: key(of: row), name: name, value: value))
        }
    }

    /// The values of these states count no more.
    func forget(_ states: some Sequence<AttributeID>) {
        guard notesChanges else { return }
        for state in states {
            let (row, name) = storePlace(of: state)
            if nodes[Int(row)].hasValues { storeChanges.append(StoreChange(key: key(of: row), name: name, value: nil)) }
        }
    }

    // MARK: Lists that are held

    static let heldName = "elements"

    /// Instances stay although their data is refused: a start makes them from the list that they were made from.
    func keepHeld(_ row: UInt32, _ list: ValueList) {
        guard notesChanges else { return }
        nodes[Int(row)].hasValues = true
        storeChanges.append(StoreChange(key: key(of: row), name: ViewGraph.heldName, value: .list(list)))
    }

    func forgetHeld(_ row: UInt32) {
        if notesChanges { storeChanges.append(StoreChange(key: key(of: row), name: ViewGraph.heldName, value: nil)) }
    }

    // MARK: Order

    func order(of child: UInt32) -> String? {
        let node = nodes[Int(child)]
        if let order = node.kept?.order { return order }
        if node.kept?.isOwn == true || node.kept?.home != nil { return nil }
        return OrderKey.implied(Int(node.basePlace))
    }

    /// Gives nodes that were made or moved the keys of their places.
    private func settleOrder() {
        for parent in reordered where nodes.isAlive(parent) {
            let children = nodes[Int(parent)].children
            let keys = children.map { child in
                order(of: child).map { OrderKey.implied(nodes.rank(of: child)) + $0 }
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
        if position > 0, nodes.rank(of: children[position - 1]) == rank { low = order(of: children[position - 1]) }
        let high = next.flatMap { nodes.rank(of: $0) == rank ? order(of: $0) : nil }
        let kept = kept(row)
        let fits = order(of: row).map { implied in
            (low.map { $0.precedesByBytes(implied) } ?? true) && (high.map { implied.precedesByBytes($0) } ?? true)
        }
        if fits != true || kept.isElsewhere {
            if let low, let high, !low.precedesByBytes(high) { return true }
            kept.order = OrderKey.between(low, high)
        }
        noteRow(of: row)
        return (kept.order?.utf8.count ?? 0) > OrderKey.longest
    }

    private func renumber(_ children: [UInt32]) {
        var last: String?
        for child in children {
            let kept = kept(child)
            kept.order = OrderKey.between(last ?? "~", nil)
            last = kept.order
            noteRow(of: child)
        }
    }

    // MARK: What the store is told

    /// What the store has to know, in order, since the last call.
    /// - Parameter revision: of what has changed since then.
    public func takeStoreChanges(at revision: UInt64) -> [StoreChange] {
        freeLater(at: revision)
        keepUnkept()
        noteDueRows()
        defer { storeChanges = [] }
        return storeChanges
    }

    /// Works out the rows of nodes that have changed.
    func noteDueRows() {
        if dueNodes.isEmpty, unplaced.isEmpty, reordered.isEmpty { return }
        if !unplaced.isEmpty || !reordered.isEmpty { settleOrder() }
        for node in dueNodes {
            guard nodes.isAlive(node), let kept = nodes[Int(node.row)].kept else { continue }
            kept.isDue = false
            if !unlinked.isEmpty, !nodes.isLinked(node.row) { continue }
            if let value = storedRow(of: node.row) {
                kept.isStored = true
                storeChanges.append(StoreChange(key: key(of: node.row), name: "", value: value))
            } else if kept.isStored {
                kept.isStored = false
                storeChanges.append(StoreChange(key: key(of: node.row), name: "", value: nil))
            }
        }
        dueNodes = []
    }
}
