/// What a graph has done since it was made. Every number only grows, except that the two `live` ones follow the graph.
@frozen
public struct GraphCounters: Equatable, Sendable {
    /// Attributes created and destroyed.
    public var attributesCreated: UInt64 = 0
    public var attributesDestroyed: UInt64 = 0
    /// Dependencies added and removed.
    public var edgesAdded: UInt64 = 0
    public var edgesRemoved: UInt64 = 0
    /// Inputs that settled on a different value.
    public var writes: UInt64 = 0
    /// Attributes marked as possibly changed.
    public var invalidations: UInt64 = 0
    /// Rules run to their end.
    public var evaluations: UInt64 = 0
    /// Rules found unchanged: spared because all inputs were equal, or run with an equal result.
    public var cutOffs: UInt64 = 0
    /// Cycles closed.
    public var cycles: UInt64 = 0
    /// Runs abandoned because they nested too deep, and started again.
    public var restarts: UInt64 = 0

    public var liveAttributes: UInt64 { attributesCreated - attributesDestroyed }
    public var liveEdges: UInt64 { edgesAdded - edgesRemoved }

    @inlinable
    public init() {}
}
