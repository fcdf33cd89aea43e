import AttributeGraph
import AttributeValues

/// A watched vertex.
final class Watch {
    fileprivate let generation: UInt32
    /// The content that was last evaluated for a topic with values; nil before.
    var content: Content?
    /// The engine's stamp of the change that led to this content.
    var changedAt: UInt64 = 0
    var topics: [Topic] = []
    /// For topics that want reports: the vertex with the time of the last report.
    var report: WatchedReport?

    fileprivate init(generation: UInt32) { self.generation = generation }
}

/// All watched vertices, by row of the engine. A change that reaches many attributes looks each up without hashing.
struct WatchTable {
    private var rows: [Watch?] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var capacity: Int { rows.capacity }

    subscript(attribute: AttributeID) -> Watch? {
        let row = Int(attribute.index)
        guard row < rows.count, let watch = rows[row], watch.generation == attribute.generation else { return nil }
        return watch
    }

    /// In the order of rows.
    var attributes: some Sequence<AttributeID> {
        rows.indices.lazy.compactMap { row in
            self.rows[row].map { AttributeID(index: UInt32(row), generation: $0.generation) }
        }
    }

    /// The attribute must not have a watch.
    mutating func insert(_ attribute: AttributeID) -> Watch {
        let row = Int(attribute.index)
        if row >= rows.count { rows += Array(repeating: nil, count: row + 1 - rows.count) }
        if rows[row] == nil { count += 1 }
        let made = Watch(generation: attribute.generation)
        rows[row] = made
        return made
    }

    mutating func remove(_ attribute: AttributeID) {
        guard self[attribute] != nil else { return }
        rows[Int(attribute.index)] = nil
        count -= 1
        if count == 0 { rows = [] }
    }

    /// Gives back the rows after the last watch.
    mutating func giveBack() {
        let used = rows.lastIndex { $0 != nil }.map { $0 + 1 } ?? 0
        rows = Array(rows.prefix(used))
    }
}
