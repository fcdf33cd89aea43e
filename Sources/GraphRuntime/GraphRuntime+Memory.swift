import AttributeValues

extension GraphRuntime {
    /// So many vertices fewer than there were are worth the work of giving their memory back; the rest may be half as
    /// many at most.
    private static let leastShrink: UInt64 = 50_000

    /// Whether the graph is much smaller than it has been since memory was last given back.
    public var hasShrunk: Bool {
        // A job may still ask where a node was that has gone.
        guard jobs.isEmpty, !graph.hasUnlinked else { return false }
        let living = graph.counters.liveAttributes
        return mostVertices >= living + GraphRuntime.leastShrink && mostVertices / 2 >= living
    }

    /// Gives back the tables of a larger graph. The allocator still has to be asked to give back what that frees.
    /// O(graph).
    public func giveBack() {
        graph.giveBack()
        clients.giveBack()
        watching.giveBack()
        presentations.giveBack()
        written.giveBack()
        mostVertices = graph.counters.liveAttributes
    }
}
