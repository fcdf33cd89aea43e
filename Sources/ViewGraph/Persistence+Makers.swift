import AttributeValues
import SceneModel

// The maker of a node is a scene or a component, data, or a client. A node that leaves its maker is stored in full.

extension Persistence {
    // MARK: Moving

    /// Notes that a node is about to get another parent.
    /// - Returns: nodes at and below it that leave their makers, and have to be stored in full.
    func noteMove(of row: UInt32, to parent: UInt32) -> [UInt32] {
        let subtree = nodes.subtree(of: row)
        let leaving = subtree.filter { node in
            guard !nodes.isOwn(node), node == row || nodes[Int(node)].kept?.home != nil else { return false }
            if nodes[Int(node)].kept?.isHeir == true { return true }
            if let maker = nodes.maker(of: node), maker.row != node, subtree.contains(maker.row) { return false }
            return !nodes.isWithinReach(node, parent)
        }
        if !nodes.isOwn(row), nodes[Int(row)].kept?.home == nil {
            noteHome(
                of: row, nodes.nodeID(nodes[Int(row)].parent), key: nodes.key(of: row), maker: nodes.maker(of: row))
        }
        noteFreed(row)
        return leaving
    }

    /// Notes that a node has got another parent.
    /// - Parameter leaving: the result of `noteMove`.
    /// - Returns: as `makeOwn`.
    func noteMoved(_ row: UInt32, _ leaving: [UInt32]) -> [UInt32] {
        let kept = nodes.kept(row)
        kept.order = nil
        if let home = kept.home, home == nodes.nodeID(nodes[Int(row)].parent) {
            nodes.setKey(nil as OwnKey?, of: row)
            kept.home = nil
            kept.maker = nil
        }
        let renamed = leaving.flatMap { makeOwn($0) }
        noteRow(of: row)
        notePlace(of: row)
        return renamed
    }

    // MARK: Clients' nodes

    /// Notes a node that a client has made.
    func noteNew(_ top: UInt32) { _ = makeOwn(top, isNew: true) }

    /// Stores a node in full from now on, because a client has made it, or has taken it away from where it was made.
    /// - Returns: nodes that have another key: their values have to be noted again. Empty for a new node.
    func makeOwn(_ top: UInt32, isNew: Bool = false) -> [UInt32] {
        // Parents before children.
        var affected: [(row: UInt32, isOwn: Bool, old: String)] = []
        var keys: [UInt32: String] = [:]
        var pending = [(row: top, isOwn: true)]
        // Nodes that were moved into clients' nodes: their keys follow from their makers, which may be among these.
        var strays: [UInt32] = []
        let home = nodes[Int(top)].kept?.home
        repeat {
            while let (row, isOwn) = pending.popLast() {
                if keys[row] != nil { continue }
                let key = isNew ? "" : nodes.key(of: row)
                affected.append((row, isOwn, key))
                if !isNew { keys[row] = key }
                let made =
                    isOwn && !nodes[Int(row)].kind.isMadeFromData
                    ? Set(childDefinitions(madeBy: row, isOwn: true).map { ObjectIdentifier($0) }) : nil
                for child in nodes[Int(row)].children {
                    let isLeft = made.map { !$0.contains(ObjectIdentifier(nodes.baseDefinition(of: child))) } ?? false
                    guard let kept = nodes[Int(child)].kept, kept.key != nil, !kept.isHeir || !isLeft else {
                        pending.append((child, isLeft))
                        continue
                    }
                    // Its row names this parent.
                    noteRow(of: child)
                    if hasMovedNodes { strays += nodes.subtree(of: child).filter { nodes[Int($0)].kept?.maker != nil } }
                }
            }
            let due = strays.filter { keys[nodes[Int($0)].kept?.maker?.row ?? $0] != nil }
            strays.removeAll { keys[nodes[Int($0)].kept?.maker?.row ?? $0] != nil }
            pending = due.map { ($0, false) }
        } while !pending.isEmpty
        if !isNew { for (row, _, key) in affected { forget(row, key) } }
        var renamed: [Name: String] = [:]
        for (row, isOwn, old) in affected {
            if !isOwn, let key = nodes.ownKey(of: row), let maker = nodes[Int(row)].kept?.maker,
                let before = keys[maker.row]
            {
                nodes.setKey(nodes.key(of: maker.row) + key.dropFirst(before.count), of: row)
            }
            if isOwn {
                let kept = nodes.kept(row)
                if !isUse(row) { kept.base = nil }
                kept.isOwn = true
                kept.isHeir = false
                kept.home = nil
                kept.maker = nil
                kept.order = nil
                makeKey(of: row)
                noteRow(of: row)
                notePlace(of: row)
            }
            if isNew { continue }
            let key = nodes.key(of: row)
            renamed[old] = key
            noteAll(of: row, key, isOwn)
        }
        if isNew { return [] }
        if !absentRows.isEmpty { rename(renamed) }
        if let home, nodes.isAlive(home) { noteGone(nodes[Int(top)].id, from: home.row) }
        return affected.map(\.row)
    }

    /// Notes a node's own row and its removed children under the new key; the caller notes the values of its
    /// attributes.
    private func noteAll(of row: UInt32, _ key: String, _ isOwn: Bool) {
        if let state = nodes[Int(row)].instances, state.isHeld { noteHeld(state.list, of: row) }
        if !isOwn, nodes[Int(row)].kept != nil { noteRow(of: row) }
        guard !nodes[Int(row)].kind.isMadeFromData else { return }
        // Children that it was made with and does not have are noted as removed.
        for made in childDefinitions(madeBy: row, isOwn: isOwn) {
            if let there = nodes.child(made.id, of: row), nodes[Int(there)].kept?.key == nil { continue }
            noteRemoved(made.id, from: row, key)
        }
    }

    private func rename(_ renamed: [Name: String]) {
        for key in absentRows.findKeys(below: Set(renamed.keys)) {
            guard let absent = absentRows[key] else { continue }
            var new = key
            for (old, other) in renamed
            where key.hasSameBytes(as: old.text) || key.utf8.starts(with: (old.text + "/").utf8) {
                new = other + String(Substring(key.utf8.dropFirst(old.text.utf8.count)))
            }
            let parent = absent.fields?["parent"]?.string.flatMap { renamed[$0] }
            guard !new.hasSameBytes(as: key) || parent != nil else { continue }
            let rows = absent.rows
            absentRows.remove(key)
            note(StoreChange(key: key, name: nil, value: nil))
            for var row in rows {
                row.key = new
                if row.name.isEmpty, let parent, var fields = row.value.map {
                    fields["parent"] = .string(parent)
                    row.value = .map(fields)
                }
                absentRows.insert(row)
                note(StoreChange(key: new, name: row.name, value: row.value))
            }
        }
    }

    /// True if a client's node is stored as the use of a component, which makes the nodes of its body.
    func isUse(_ row: UInt32) -> Bool { nodes.baseDefinition(of: row).base != nil }

    /// The definitions of the children that a node gets whenever it is made.
    func childDefinitions(madeBy row: UInt32, isOwn: Bool) -> [NodeDefinition] {
        let base = nodes.baseDefinition(of: row)
        return (isOwn ? base.base : base)?.slotted.map(\.0) ?? []
    }

    /// Notes that a node gets the definition of a document or of another template.
    /// - Parameter isRemade: the definition comes from a template.
    func noteUpdate(of row: UInt32, to definition: NodeDefinition, _ isReplacing: Bool, isRemade: Bool) {
        guard notesChanges else { return }
        forgetAbsentValues(of: row, in: definition)
        if isRemade {
            guard let kept = nodes[Int(row)].kept else { return }
            kept.base = nil
            forgetRemoved(from: row)
            if kept.isOwn || kept.home != nil { makeHeir(row) }
        } else if nodes.isOwn(row), isReplacing || !isUse(row) {
            nodes.kept(row).base = nil
        } else if nodes.isOwn(row), definition.base != nil {
            nodes.kept(row).base = definition
        } else if nodes.kept(row).base == nil {
            nodes.kept(row).base = nodes[Int(row)].definition
        }
        noteRow(of: row)
    }

    /// Notes that a document has said anew what a client's node is made from. From now on the present body of its
    /// component makes the nodes that it names, and clients have made the others.
    /// - Returns: as `makeOwn`.
    func noteUse(_ top: UInt32) -> [UInt32] {
        guard notesChanges, nodes.isOwn(top), isUse(top) else { return [] }
        var renamed: [UInt32] = []
        // The body makes these nodes, too, but they stand elsewhere in the use.
        var moved: [UInt32: Set<Name>] = [:]
        for row in hasMovedNodes ? nodes.subtree(of: top) : [] {
            if let home = nodes[Int(row)].kept?.home { moved[home.row, default: []].insert(nodes[Int(row)].id) }
        }
        var pending = [(made: childDefinitions(madeBy: top, isOwn: true), parent: top)]
        while let (made, parent) = pending.popLast() {
            if nodes[Int(parent)].kind.isMadeFromData { continue }
            let ids = Set(made.map(\.id))
            for child in nodes[Int(parent)].children
            where !nodes.isOwn(child) && nodes[Int(child)].kept?.home == nil && !ids.contains(nodes[Int(child)].id) {
                renamed += makeOwn(child)
            }
            forgetRemoved(besides: ids, from: parent)
            noteOrder(below: parent)
            for (place, definition) in made.enumerated()
            where nodes[Int(parent)].kept?.removed.contains(definition.id) != true
                && moved[parent]?.contains(definition.id) != true
            {
                guard let child = nodes.child(definition.id, of: parent) else { continue }
                nodes[Int(child)].basePlace = UInt32(place)
                let kept = nodes.kept(child)
                if kept.isOwn || kept.home != nil { makeHeir(child) }
                kept.base = definition
                noteRow(of: child)
                pending.append((definition.slotted.map(\.0), child))
            }
        }
        return renamed
    }

    /// Notes that a template now makes a node that a client had made or moved there.
    private func makeHeir(_ row: UInt32) {
        let kept = nodes.kept(row)
        if let home = kept.home, nodes.isAlive(home) { noteGone(nodes[Int(row)].id, from: home.row) }
        kept.isOwn = false
        kept.isHeir = true
        kept.home = nil
        kept.maker = nil
    }

    // MARK: Removing

    /// Notes that a child has gone, if the node was made with it.
    private func noteGone(_ id: Name, from row: UInt32) {
        guard !nodes[Int(row)].kind.isMadeFromData,
            row == NodeID.root.row || isMade(id, by: row)
        else { return }
        noteRemoved(id, from: row, nodes.key(of: row))
    }

    /// True if a node was made with a child of this id. Many children of one node may go with one change.
    private func isMade(_ id: Name, by row: UInt32) -> Bool {
        if let madeIDs, madeIDs.row == row { return madeIDs.ids.contains(id) }
        let ids = Set(childDefinitions(madeBy: row, isOwn: nodes.isOwn(row)).map(\.id))
        madeIDs = (row, ids)
        return ids.contains(id)
    }

    /// The definitions of nodes are about to change, or have changed.
    func forgetMadeIDs() { madeIDs = nil }

    private func noteRemoved(_ id: Name, from row: UInt32, _ key: String) {
        nodes.kept(row).removed.insert(id)
        let removed = key + "/" + StoredKey.escape(id.text)
        absentRows.remove(removed)
        note(StoreChange(key: removed, name: nil, value: nil))
        note(StoreChange(key: removed, name: "", value: ["removed": true]))
    }

    /// Notes that a client's node leaves its parent. If the parent was made with a child of this id that has gone, the
    /// store may have rows of that child, which was moved to a node that no longer exists.
    private func noteFreed(_ row: UInt32) {
        let (parent, id) = (nodes[Int(row)].parent, nodes[Int(row)].id)
        guard nodes.isOwn(row), nodes[Int(parent)].kept?.removed.contains(id) == true else { return }
        noteRemoved(id, from: parent, nodes.key(of: parent))
    }

    /// Deletes the rows of a subtree that is about to be removed, and the rows without a node below it.
    /// - Parameter rows: the nodes of one subtree, the top first.
    func noteGone(_ rows: [UInt32]) {
        guard notesChanges else { return }
        for row in rows { forgetRows(of: row) }
        noteGoneFromHomes(rows)
    }

    /// Notes that a subtree has been unlinked. Its rows are deleted later.
    /// - Returns: keys that have all these rows below them.
    func noteUnlinked(_ top: UInt32) -> [String] {
        guard notesChanges else { return [] }
        let rows = hasMovedNodes || !absentRows.isEmpty ? nodes.subtree(of: top) : [top]
        var keys: [String] = []
        // Tombstones may replace the rows of these nodes; then the store does not know which rows are below them.
        for row in rows where row == top || nodes[Int(row)].kept?.home != nil {
            forgetRows(of: row)
            if !nodes[Int(row)].children.isEmpty { keys.append(nodes.key(of: row)) }
        }
        noteGoneFromHomes(rows)
        return keys
    }

    /// Notes that nodes of a removed subtree have gone from where they were made.
    private func noteGoneFromHomes(_ rows: [UInt32]) {
        guard let top = rows.first else { return }
        forgetAbsentRows(below: rows)
        noteFreed(top)
        for row in hasMovedNodes ? rows : [top] where !nodes.isOwn(row) {
            guard let home = nodes[Int(row)].kept?.home ?? (row == top ? nodes.nodeID(nodes[Int(top)].parent) : nil),
                nodes.isAlive(home), !nodes.isInside(home.row, of: top)
            else { continue }
            noteGone(nodes[Int(row)].id, from: home.row)
        }
    }

    /// Deletes the rows of a node that were written up to a revision.
    func forgetRows(of row: UInt32, upTo revision: UInt64? = nil) {
        if nodes[Int(row)].hasValues || nodes[Int(row)].kept != nil { forget(row, nodes.key(of: row), upTo: revision) }
    }

    private func forget(_ row: UInt32, _ key: String, upTo revision: UInt64? = nil) {
        let node = nodes[Int(row)]
        if node.hasValues || node.kept?.isStored == true {
            note(StoreChange(key: key, name: nil, value: nil, revision: revision))
        }
        node.hasValues = false
        node.kept?.isStored = false
        forgetRemoved(from: row, key, upTo: revision)
    }

    /// - Parameter others: ids of removed children that stay noted.
    private func forgetRemoved(
        besides others: Set<Name> = [], from row: UInt32, _ key: String? = nil, upTo revision: UInt64? = nil
    ) {
        guard let kept = nodes[Int(row)].kept, !kept.removed.isSubset(of: others) else { return }
        let key = key ?? nodes.key(of: row)
        for id in kept.removed.subtracting(others).sorted().texts {
            note(StoreChange(key: key + "/" + StoredKey.escape(id), name: nil, value: nil, revision: revision))
        }
        kept.removed.formIntersection(others)
    }
}
