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
// | empty | `{from: revision, keys: [key, …]}` | rows of nodes at and below the keys, written at this revision or later: those of a construction |

/// Subtrees that wait to be freed.
struct UnlinkedTrees {
    struct Batch {
        /// A node is freed after its children.
        var rows: [NodeRow] = []
        /// Further keys whose rows in the store must be deleted. The keys of the nodes in `rows` are not among them.
        var keys: [String] = []
        /// The name of the rows of these keys that are to be deleted; nil: all.
        var name: String?
        /// Later revisions stay: an instance that is made later may have the key of one that waits.
        var revision: UInt64?
        /// The name of the store's marker.
        var marker: String?
        /// Operators over time that these nodes have made. They begin when the nodes are freed, if others use
        /// them, too: the store would get rows of those that go.
        var operators: [TimedValue] = []
    }

    /// In the order in which they are freed.
    var batches: [Batch] = []
    /// The tops of subtrees that the current change has unlinked.
    var added: [NodeRow] = []
    /// Keys that have all rows of these subtrees below them.
    var addedKeys: [String] = []
    /// The number of the last marker.
    var lastMarker = 0
    /// Number of nodes that the current change may still free at once.
    var nodesLeft: Int

    init(nodesLeft: Int) { self.nodesLeft = nodesLeft }

    var isEmpty: Bool { batches.isEmpty && added.isEmpty }

    /// Puts what the current change has unlinked into a batch, with a marker in the store.
    /// - Parameter nodesLeft: for the next change.
    mutating func close(at revision: UInt64, nodesLeft: Int, _ persistence: Persistence) {
        self.nodesLeft = nodesLeft
        guard !added.isEmpty else { return }
        // Rows that the same change has made stay.
        let last = revision > 0 ? revision - 1 : 0
        var batch = UnlinkedTrees.Batch(rows: added, revision: last)
        added = []
        if !addedKeys.isEmpty {
            lastMarker += 1
            let marker = String(lastMarker)
            batch.marker = marker
            persistence.note(
                StoreChange(
                    key: StoredKey.unlinked, name: marker,
                    value: [.int(Int64(clamping: last)), .list(addedKeys.map { .string($0) })]))
            addedKeys = []
        }
        batches.append(batch)
    }

    /// Drops the rows that a marker names: an earlier daemon ended before it had freed them.
    mutating func dropMarked(_ marker: StoredRow, _ persistence: Persistence) {
        var batch = UnlinkedTrees.Batch(marker: marker.name)
        let keys: [String]
        if let fields = marker.value.map, case .int(let from)? = fields["from"] {
            let tops = Set(texts: (fields["keys"]?.list ?? []).compactMap(\.string))
            batch.name = ""
            keys = persistence.absentRows.findKeys(below: tops).filter {
                persistence.absentRows[$0]?.own.map { $0.revision >= UInt64(clamping: from) } ?? false
            }
        } else {
            guard let parts = marker.value.list, parts.count == 2, case .int(let revision) = parts[0] else { return }
            batch.revision = UInt64(clamping: revision)
            let tops = Set(texts: (parts[1].list ?? []).compactMap(\.string))
            keys = persistence.absentRows.findKeys(below: tops)
            lastMarker = max(lastMarker, Int(marker.name) ?? 0)
        }
        // Rows of parents go last: they say where the others are.
        let ordered = keys.map { (depth: $0.utf8.count { $0 == UInt8(ascii: "/") }, key: $0) }.sorted { $0 < $1 }
        batch.keys = ordered.map(\.key)
        for key in batch.keys {
            for row in persistence.absentRows[key]?.rows ?? []
            where row.revision <= batch.revision ?? .max && (batch.name ?? row.name).hasSameBytes(as: row.name) {
                persistence.absentRows.remove(key, row.name)
            }
        }
        batches.append(batch)
    }
}
