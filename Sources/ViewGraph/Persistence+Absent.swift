import AttributeValues
import SceneModel

// Rows without a node, while the tree changes.

extension Persistence {
    /// Number of rows without a node.
    public var absentRowCount: Int { absentRows.count }

    /// Number of them that contain changes of a node by clients.
    public var absentNodeCount: Int { absentRows.present.count { $0.fields != nil } }

    /// The keys of rows without a node, for people.
    public var absentKeys: [(revision: UInt64, key: String)] {
        absentRows.present.map { ($0.rows.map(\.revision).min() ?? 0, $0.key) }.sorted {
            $0.key.precedesByBytes($1.key)
        }
    }

    /// Deletes all rows without a node.
    /// - Returns: their number.
    public func prune() -> Int {
        let count = absentRows.count
        for absent in absentRows.present.sorted(by: { $0.key.precedesByBytes($1.key) }) {
            // The node may exist, with other rows.
            for row in absent.rows { note(StoreChange(key: row.key, name: row.name, value: nil)) }
        }
        absentRows = AbsentRows()
        return count
    }

    /// Deletes rows without a node at and below nodes that are removed.
    func forgetAbsentRows(below rows: [NodeRow]) {
        guard !absentRows.isEmpty, !rows.isEmpty else { return }
        let keys = absentRows.findKeys(below: Set(texts: rows.map { nodes.key(of: $0) }))
        for key in keys.sorted(by: { $0.precedesByBytes($1) }) {
            absentRows.remove(key)
            note(StoreChange(key: key, name: nil, value: nil))
        }
    }

    /// Puts rows without a node under the keys of nodes that were there in an earlier form of a scene. Rows of nodes
    /// that exist, and those that clients have made, stay.
    /// - Parameter moves: former places and present keys.
    /// - Parameter known: the keys of all such rows, if they are known already.
    func renameAbsentRows(_ moves: [(former: [Name], key: String)], _ known: inout KeyTree?) {
        if absentRows.isEmpty || moves.isEmpty { return }
        var tree = known.take() ?? KeyTree(absentRows.keys)
        defer { known = tree }
        let moves = moves.map { (former: $0.former, from: StoredKey.key(of: $0.former), to: $0.key) }
        // The innermost places first: a node that has left its parent does not move with it.
        for move in moves.sorted(by: { $0.from.utf8.count > $1.from.utf8.count }) {
            // Inside a node that clients have made, its component has renamed something.
            let isMade = sequence(first: move.from) { StoredKey.parentKey(of: $0) }.contains {
                absentRows[$0]?.fields?["makes"] != nil && !move.to.utf8.starts(with: ($0 + "/").utf8)
            }
            if isMade || nodes.node(withKey: move.former) != nil { continue }
            for key in tree.keys(from: move.from) {
                let new = move.to + String(Substring(key.utf8.dropFirst(move.from.utf8.count)))
                for row in absentRows.rename(key, to: new) {
                    renamed.append(StoreChange(key: key, name: row.name, value: nil))
                    renamed.append(StoreChange(key: new, name: row.name, value: row.value))
                }
                tree.insert(new)
            }
        }
    }

    /// The list from which the instances were made when the list's data was refused.
    func absentList(of row: NodeRow) -> ValueList? {
        guard !absentRows.isEmpty else { return nil }
        return absentRows[nodes.key(of: row)]?.values[Persistence.frozenName]?.value.list
    }

    /// Notes that instances were made from `absentList`.
    func takeAbsentList(of row: NodeRow) {
        if !isRestoring { absentRows.remove(nodes.key(of: row), Persistence.frozenName) }
        nodes[row].hasValues = true
    }

    /// Deletes the list of frozen instances: data makes instances again, so the frozen ones do not come back if it is
    /// refused later.
    func forgetAbsentList(of row: NodeRow) {
        guard !absentRows.isEmpty, !isRestoring else { return }
        let key = nodes.key(of: row)
        guard absentRows[key]?.values[Persistence.frozenName] != nil else { return }
        absentRows.remove(key, Persistence.frozenName)
        note(StoreChange(key: key, name: Persistence.frozenName, value: nil))
    }

    /// Drops the rows whose nodes exist now.
    /// - Parameter isTaken: whether a node has taken the value of a name.
    func forgetPresent(_ isTaken: (_ name: String, _ row: NodeRow) -> Bool) {
        func isLeft(_ name: String, _ absent: AbsentNode) -> Bool {
            guard let node = absent.made, nodes.isAlive(node) else { return !absent.isTaken }
            let there = nodes[node.row]
            if name.isEmpty { return there.part?.isStored != true || !nodes.hasKey(absent.key, node.row) }
            guard there.hasValues, nodes.hasKey(absent.key, node.row) else { return true }
            return !(name == Persistence.frozenName && there.instances?.isFrozen == true)
                && !isTaken(name, node.row)
        }
        var left = AbsentRows()
        for absent in absentRows.present {
            if isLeft("", absent), let own = absent.own { left.insert(own) }
            for (name, value) in absent.values where isLeft(name.text, absent) { left.insert(value) }
        }
        absentRows = left
    }
}
