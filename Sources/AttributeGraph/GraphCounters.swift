/// Counts since the graph was made. They only grow, except the two `live` ones, which follow the graph.
@frozen
public struct GraphCounters: Equatable, Sendable {
    public var attributesCreated: UInt64 = 0
    public var attributesDestroyed: UInt64 = 0
    /// Edges: reads of one attribute by one rule.
    public var edgesAdded: UInt64 = 0
    public var edgesRemoved: UInt64 = 0
    /// Writes that changed an input's value. In a batch, an input counts at most once each time the batch settles.
    public var writes: UInt64 = 0
    /// Attributes marked as possibly changed.
    public var invalidations: UInt64 = 0
    /// Rules run to their end.
    public var evaluations: UInt64 = 0
    /// Rules found unchanged: all inputs were equal and the rule did not run, or it ran with an equal result.
    public var cutOffs: UInt64 = 0
    /// Cycles closed.
    public var cycles: UInt64 = 0
    /// Runs abandoned because they nested too deep. They are started again.
    public var restarts: UInt64 = 0

    public var liveAttributes: UInt64 { attributesCreated - attributesDestroyed }
    public var liveEdges: UInt64 { edgesAdded - edgesRemoved }

    @inlinable
    public init() {}
}
