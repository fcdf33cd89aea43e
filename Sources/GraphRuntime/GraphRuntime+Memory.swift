import AttributeValues

extension GraphRuntime {
    /// The smallest number of freed vertices for which giving memory back is worthwhile. Also, at most half of the
    /// vertices may be left.
    private static let leastShrink: UInt64 = 50_000

    /// True if the graph is much smaller than it has been since memory was last given back.
    public var hasShrunk: Bool {
        // A job may still need the old place of a removed node.
        guard jobs.isEmpty, !graph.hasUnlinked else { return false }
        let living = graph.counters.liveAttributes
        return mostVertices >= living + GraphRuntime.leastShrink && mostVertices / 2 >= living
    }

    /// Frees unused memory of a table that a large document, or a start, has made grow: some of it was used before.
    public func pack() { graph.packRecords() }

    /// Shrinks the tables to the size of the graph. The caller makes the allocator return the freed memory. O(graph).
    public func giveBack() {
        graph.giveBack()
        clients.giveBack()
        watching.giveBack()
        presentations.giveBack()
        store.giveBack()
        mostVertices = graph.counters.liveAttributes
    }
}
