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

    /// Deletes rows without a node at and below nodes that are removed or made anew.
    func forgetAbsentRows(below rows: [UInt32]) {
        guard !absentRows.isEmpty, !rows.isEmpty else { return }
        let tops = Set(texts: rows.map { nodes.key(of: $0) })
        lazy var moved = Set(texts: nodes.living.filter { nodes[Int($0)].kept?.home != nil }.map { nodes.key(of: $0) })
        let keys = absentRows.findKeys(below: { tops.contains($0) }, unlessIn: { hasMovedNodes && moved.contains($0) })
        for key in keys.sorted(by: { $0.precedesByBytes($1) }) {
            let home = absentRows[key].flatMap(homeOfMoved)
            let revision = absentRows[key]?.revision ?? 0
            absentRows.remove(key)
            note(StoreChange(key: key, name: nil, value: nil))
            guard let home,
                !sequence(first: home, next: { self.absentRows.around($0) }).contains(where: { tops.contains($0) })
            else { continue }
            noteGoneElsewhere(key, from: home, revision)
        }
    }

    /// The key of the node in which a scene or template makes a node that a client has moved; nil for other nodes.
    private func homeOfMoved(_ absent: AbsentNode) -> String? {
        guard let fields = absent.fields, fields["parent"] != nil, fields["own"] == nil, fields["heir"] == nil,
            StoredKey.number(in: absent.key) == nil
        else { return nil }
        return StoredKey.parentKey(of: absent.key)
    }

    /// Notes that a node was removed with the one that it was moved to, so it does not come back where it was made.
    private func noteGoneElsewhere(_ key: String, from home: String, _ revision: UInt64) {
        let id = StoredKey.lastPart(of: key)
        if let row = nodes.living.first(where: { nodes.hasKey(home, $0) }) {
            // It stands there, because the node that it was moved to does not exist.
            let isRemoved = nodes[Int(row)].kept?.removed.contains {
                StoredKey.escape($0.text).hasSameBytes(as: String(id))
            }
            guard isRemoved == true else { return }
        } else {
            absentRows.insert(StoredRow(key: key, name: "", revision: revision, value: ["removed": true]))
        }
        note(StoreChange(key: key, name: "", value: ["removed": true]))
    }

    /// The list from which the instances were made when the list's data was refused.
    func absentList(of row: UInt32) -> ValueList? {
        guard !absentRows.isEmpty else { return nil }
        return absentRows[nodes.key(of: row)]?.values[Persistence.heldName]?.value.list
    }

    /// Notes that instances were made from `absentList`.
    func takeAbsentList(of row: UInt32) {
        if !isRestoring { absentRows.remove(nodes.key(of: row), Persistence.heldName) }
        nodes[Int(row)].hasValues = true
    }

    /// Deletes the list of held instances: data makes instances again, so the held ones do not come back if it is
    /// refused later.
    func forgetAbsentList(of row: UInt32) {
        guard !absentRows.isEmpty, !isRestoring else { return }
        let key = nodes.key(of: row)
        guard absentRows[key]?.values[Persistence.heldName] != nil else { return }
        absentRows.remove(key, Persistence.heldName)
        note(StoreChange(key: key, name: Persistence.heldName, value: nil))
    }

    /// Deletes values that a node has not taken, of attributes that it is about to get: an earlier scene had them, and
    /// the new ones begin anew.
    func forgetAbsentValues(of row: UInt32, in definition: NodeDefinition) {
        guard !absentRows.isEmpty, let absent = absentRows[nodes.key(of: row)] else { return }
        for name in absent.values.keys.sorted().texts {
            // The name of an object's property begins with that of the object.
            let attribute = name.prefix { $0 != "." }
            guard definition.attributes.contains(where: { $0.name == attribute }) else { continue }
            absentRows.remove(absent.key, name)
            note(StoreChange(key: absent.key, name: name, value: nil))
        }
    }

    /// Deletes what clients changed in instances that do not exist yet, because their template has changed. Changes in
    /// instances of inner lists stay.
    func forgetAbsentChanges(below forEach: UInt32) {
        guard !absentRows.isEmpty else { return }
        let top = nodes.key(of: forEach)
        let made = nodes[Int(forEach)].definition.forEach
        for key in absentRows.findKeys(below: [Name(top)]).sorted(by: { $0.precedesByBytes($1) }) {
            guard let ids = absentRows.ids(of: key, below: top), let instance = ids.first else { continue }
            func hasID(_ definition: NodeDefinition, _ id: Name) -> Bool {
                Name(StoredKey.escape(definition.id.text)) == id || definition.id == id
            }
            var definition =
                made?.choice == nil ? made?.templates.first : made?.templates.first { hasID($0, instance) }
            var isInside = false
            for id in ids.dropFirst() {
                if definition?.forEach != nil { isInside = true }
                definition = definition?.slotted.first { hasID($0.0, id) }?.0
            }
            if isInside { continue }
            let isOwn = StoredKey.number(in: key) != nil
            guard isOwn || absentRows.node(key) != nil else { continue }
            if isOwn { absentRows.remove(key) } else { absentRows.remove(key, "") }
            note(StoreChange(key: key, name: isOwn ? nil : "", value: nil))
        }
    }

    /// Drops the rows whose nodes exist now.
    /// - Parameter isTaken: whether a node has taken the value of a name.
    func forgetPresent(_ isTaken: (_ name: String, _ row: UInt32) -> Bool) {
        for row in nodes.living {
            guard let removed = nodes[Int(row)].kept?.removed, !removed.isEmpty else { continue }
            let key = nodes.key(of: row)
            for gone in removed.map({ key + "/" + StoredKey.escape($0.text) })
            where absentRows.node(gone)?["removed"] == true { absentRows.remove(gone) }
        }
        func isLeft(_ name: String, _ absent: AbsentNode) -> Bool {
            guard let node = absent.made, nodes.isAlive(node) else { return true }
            let there = nodes[Int(node.row)]
            guard there.hasValues || there.kept?.isStored == true, nodes.hasKey(absent.key, node.row) else {
                return true
            }
            return name != "" && !(name == Persistence.heldName && there.instances?.isHeld == true)
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
