import AttributeGraph
import AttributeValues

// Reports of watched vertices: of lists, actions and operators over time to the graph itself, the others to watchers.

extension Wiring {
    /// Watched attributes that may have changed since the last call, each once, in the order in
    /// which the first change reached them.
    public func takeInvalidated() -> [AttributeID] {
        var taken: [AttributeID] = []
        takeInvalidated(into: &taken)
        return taken
    }

    /// The same, in the place and the memory of an earlier list.
    public func takeInvalidated(into taken: inout [AttributeID]) {
        if engine.mayHaveReports { collectReports() }
        watches.take(engine, into: &taken)
    }

    /// True if the tree or a watched attribute may have changed since both were taken.
    public var hasNews: Bool {
        if engine.mayHaveReports { collectReports() }
        return hasStructureChange || !watches.invalidated.isEmpty
    }

    /// The data of the lists that decide what a pattern matches; nil if there are too many lists.
    public func listData(deciding pattern: PathPattern) -> [AttributeID]? {
        guard listsByData.count <= Wiring.decidingLists else { return nil }
        let named = pattern.segments.prefix { if case .id = $0 { true } else { false } }
        let isExact = named.count == pattern.segments.count
        return listsByData.values.compactMap { row in
            let ids = nodes.ids(of: row).map { PathPattern.Segment.id($0) }
            let decides = named.starts(with: ids) || !isExact && ids.starts(with: named)
            return decides ? nodes[row].instances?.data : nil
        }
    }

    private static let decidingLists = 10_000
}
