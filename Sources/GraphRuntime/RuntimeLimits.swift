import ViewGraph

/// What clients may ask of the runtime. Sizes in numbers of things, rates per second.
public struct RuntimeLimits {
    public var graph = ViewGraph.Limits()
    public var subscriptionsPerClient = 1000
    public var patternsPerSubscription = 1000
    public var watchedAttributes = 50_000
    public var mutationsPerTransaction = 40_000
    public var onDisconnectPerClient = 1000
    /// Bytes, as JSON, of what one client leaves for when it goes away.
    public var onDisconnectSize = 256 << 10
    /// Nodes whose writes other clients perform.
    public var delegations = 10_000
    /// Seconds that a write waits for the client that performs it.
    public var forwardTime = 10.0
    /// Requests with `once` that are known when they come again.
    public var onceIdentifiers = 10_000
    /// Bytes of such an identifier.
    public var onceLength = 200
    /// Completion events kept for one subscription whose client is behind.
    public var pendingCompletions = 1000
    public var labelLength = 200
    public var nameLength = 100
    /// Transactions that `explain` remembers and `since` can resume from.
    public var historyLength = 4096
    /// Paths of written states that are kept of one transaction.
    public var historyWrites = 20
    /// Names of what was removed or moved that are kept for who resumes.
    public var historyNames = 10_000
    /// Seconds between bookmarks of a subscription that nothing else is told.
    public var bookmarkInterval = 10.0
    /// Turns and runs of rules that a recording keeps, and rules that it counts one by one.
    public var traceEvents = 10_000
    public var frameRate = 240.0
    /// Nodes that one `describe` or `dump` prints.
    public var describedNodes = 1_000_000
    /// Steps of all rules that run for one request, and of its patterns for the nodes that they look at.
    public var requestCost = 1_000_000
    /// Steps of the nodes that lists make for one request.
    public var instanceCost: Int { min(requestCost, .max / 2) * 2 }
    /// Steps of all rules that run at a start, as many times what one request may cost.
    public var startRequests = 20
    /// Steps of 50 ns that reading, checking and building of documents may take in one turn.
    public var sliceSteps = 300_000
    /// Seconds of a turn after which the rest of a client's requests wait for the next one.
    public var clientTime = 0.02
    /// The same for all clients without any right together.
    public var rightlessTime = 0.003
    /// Seconds of a turn after which all other requests wait for the next one.
    public var turnTime = 0.04

    public init() {}
}
