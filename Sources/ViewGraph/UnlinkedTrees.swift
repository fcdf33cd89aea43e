import AttributeGraph
import AttributeValues

// Large subtrees leave the tree in one change, and are freed in slices.
//
// From the change on, no path, pattern or subview leads to an unlinked node, and its lists no
// longer follow their data. Its vertices and its rows in the store are there until they are freed,
// and count towards the limits. The store has a marker for unlinked nodes with rows, so that a
// start drops what a daemon that ended had not freed. A marker is a row of the key `@unlinked`:
//
// | name | value | rows that do not count |
// |---|---|---|
// | a number | `[revision, [key, …]]` | at and below the keys, unless they were written after the revision |
// | empty | number | at and below clients' nodes whose keys have this number or a greater one: those of a construction |

/// Subtrees that wait to be freed.
struct UnlinkedTrees {
    struct Batch {
        /// A node is freed after its children.
        var rows: [UInt32] = []
        /// Keys whose rows are to be deleted, beside those of the nodes in `rows`.
        var keys: [String] = []
        /// Later revisions stay: an instance that is made later may have the key of one that waits.
        var revision: UInt64?
        /// The name of the store's marker.
        var marker: String?
    }

    /// In the order in which they are freed.
    var batches: [Batch] = []
    /// The tops of subtrees that the current change has unlinked.
    var added: [UInt32] = []
    /// Keys that have all rows of these subtrees below them.
    var addedKeys: [String] = []
    /// The number of the last marker.
    var lastMarker = 0
    /// Number of nodes that the current change may still free at once.
    var room: Int

    init(room: Int) { self.room = room }

    var isEmpty: Bool { batches.isEmpty && added.isEmpty }
}

extension ViewGraph {
    /// Whether subtrees wait to be freed.
    public var hasUnlinked: Bool { !unlinked.isEmpty }

    /// Whether an attribute belongs to a node that is no longer in the tree. O(depth).
    public func isUnlinked(_ attribute: AttributeID) -> Bool {
        attributes[Int(attribute.index)].map { !nodes.isLinked($0.node) } ?? true
    }

    /// Takes a subtree out of the tree, after its parent has dropped it. O(1) if none of its nodes was moved and no
    /// rows wait for their nodes.
    func unlink(_ top: UInt32) {
        nodes.unlink(top)
        if nodes.hasPlaces { nodes.placements.forget { nodes.isInside($0, of: top) } }
        unlinked.added.append(top)
        structureChange.removedTrees.append(nodes.nodeID(top))
        unlinked.addedKeys += persistence.noteUnlinked(top)
    }

    /// Puts what the current change has unlinked into a batch, with a marker in the store.
    func freeLater(at revision: UInt64) {
        unlinked.room = limits.freedAtOnce
        guard !unlinked.added.isEmpty else { return }
        var batch = UnlinkedTrees.Batch(rows: unlinked.added, revision: revision)
        unlinked.added = []
        if !unlinked.addedKeys.isEmpty {
            unlinked.lastMarker += 1
            let marker = String(unlinked.lastMarker)
            batch.marker = marker
            persistence.note(
                StoreChange(
                    key: StoredKey.unlinked, name: marker,
                    value: [.int(Int64(clamping: revision)), .list(unlinked.addedKeys.map { .string($0) })]))
            unlinked.addedKeys = []
        }
        unlinked.batches.append(batch)
    }

    /// Frees unlinked nodes and their rows until the steps are used up.
    public func freeUnlinked(_ steps: inout Int) {
        guard !unlinked.batches.isEmpty else { return }
        // Their removal was reported when they were unlinked.
        let told = structureChange
        defer { structureChange = told }
        while steps > 0, !unlinked.batches.isEmpty {
            var batch = unlinked.batches.removeFirst()
            while steps > 0, let row = batch.rows.last {
                let children = nodes.takeChildren(of: row)
                steps -= 1 + children.count / 10
                if !children.isEmpty {
                    batch.rows += children
                    continue
                }
                batch.rows.removeLast()
                steps -= cost(of: row) + (nodes[Int(row)].hasValues || nodes[Int(row)].kept != nil ? BuildCost.row : 0)
                if persistence.notesChanges { persistence.forgetRows(of: row, upTo: batch.revision) }
                destroyNode(row, isTold: false)
            }
            while steps > 0, let key = batch.keys.popLast() {
                steps -= BuildCost.row
                persistence.note(StoreChange(key: key, name: nil, value: nil, revision: batch.revision))
            }
            guard batch.rows.isEmpty, batch.keys.isEmpty else { return unlinked.batches.insert(batch, at: 0) }
            if let marker = batch.marker {
                persistence.note(StoreChange(key: StoredKey.unlinked, name: marker, value: nil))
            }
        }
    }

    /// Drops the rows that a marker names: an earlier daemon ended before it had freed them.
    func dropUnlinked(_ marker: StoredRow) {
        var batch = UnlinkedTrees.Batch(marker: marker.name)
        let keys: [String]
        if case .int(let first) = marker.value {
            keys = persistence.absentRows.keys {
                StoredKey.number(in: $0).map { $0 >= UInt64(clamping: first) } ?? false
            }
        } else {
            guard let parts = marker.value.list, parts.count == 2, case .int(let revision) = parts[0] else { return }
            batch.revision = UInt64(clamping: revision)
            let tops = Set((parts[1].list ?? []).compactMap(\.string))
            // The rows under a top's own key were written when it was unlinked, or later.
            keys = persistence.absentRows.keys(below: tops).filter { !tops.contains($0) }
            unlinked.lastMarker = max(unlinked.lastMarker, Int(marker.name) ?? 0)
        }
        // Rows of parents go last: they say where the others are.
        let ordered = keys.map { (depth: persistence.absentRows.depth(of: $0), key: $0) }.sorted { $0 < $1 }
        batch.keys = ordered.map(\.key)
        for key in batch.keys {
            for row in persistence.absentRows[key]?.rows ?? [] where row.revision <= batch.revision ?? .max {
                persistence.absentRows.remove(key, row.name)
            }
        }
        unlinked.batches.append(batch)
    }
}
