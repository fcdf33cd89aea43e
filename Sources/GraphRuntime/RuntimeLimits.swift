import ViewGraph

/// Limits of the runtime for clients. Counts, unless another unit is given; rates are per second.
public struct RuntimeLimits: Equatable {
    public var graph = ViewGraph.Limits()
    public var subscriptionsPerClient = 1000
    public var patternsPerSubscription = 1000
    public var watchedAttributes = 50_000
    public var mutationsPerTransaction = 40_000
    public var onDisconnectPerClient = 1000
    /// Bytes, as JSON, of one client's mutations on disconnect.
    public var onDisconnectSize = 256 << 10
    /// Nodes whose writes other clients perform.
    public var delegations = 10_000
    /// Seconds that a write waits for the client that performs it.
    public var forwardTime = 10.0
    /// Identifiers of requests with `once` that are recognised when they are sent again.
    public var onceIdentifiers = 10_000
    /// Bytes of a `once` identifier.
    public var onceLength = 200
    /// Completion events retained for one subscription whose client is behind.
    public var pendingCompletions = 1000
    public var labelLength = 200
    public var nameLength = 100
    /// Transactions that `explain` remembers and `since` can resume from.
    public var historyLength = 4096
    /// Written states that are recorded for one transaction.
    public var historyWrites = 20
    /// Names of removed and moved nodes that are retained for clients that resume.
    public var historyNames = 10_000
    /// Seconds between bookmarks of a subscription that nothing else is told.
    public var bookmarkInterval = 10.0
    /// Turns and runs of rules in a recording, and rules that it counts separately.
    public var traceEvents = 10_000
    public var frameRate = 240.0
    /// Nodes that one `describe` or `dump` prints.
    public var describedNodes = 1_000_000
    /// Steps of all rules that run for one request, and of matching its patterns against nodes.
    public var requestCost = 1_000_000
    /// Steps of the nodes that lists make for one request.
    public var instanceCost: Int { min(requestCost, .max / 2) * 2 }
    /// The budget of the start, as a multiple of `requestCost`.
    public var startRequests = 20
    /// Steps of 50 ns that reading, checking and building of documents may take in one turn.
    public var sliceSteps = 300_000
    /// Seconds of a turn after which the rest of a client's requests wait for the next turn.
    public var clientTime = 0.02
    /// The same for all clients without any right together.
    public var rightlessTime = 0.003
    /// Seconds of a turn after which all other requests wait for the next turn.
    public var turnTime = 0.04

    public init() {}
}
