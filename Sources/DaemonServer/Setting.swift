import GraphRuntime
import Logging
import StateStore

/// A line of the configuration file: its name, and the value that it sets.
struct Setting {
    /// The notation of a value, and the property that it sets.
    enum Kind {
        case text(WritableKeyPath<Configuration, String?>)
        /// May be given several times.
        case texts(WritableKeyPath<Configuration, [String]>)
        /// Octal.
        case mode(WritableKeyPath<Configuration, UInt32>)
        /// Bytes: `16 MiB`.
        case size(WritableKeyPath<Configuration, Int>, atLeast: Int)
        case count(WritableKeyPath<Configuration, Int>, atLeast: Int, atMost: Int)
        /// `30 s`
        case seconds(WritableKeyPath<Configuration, Double>)
        /// Per second.
        case rate(WritableKeyPath<Configuration, Double>)
        case durability(WritableKeyPath<Configuration, StateStore.Durability>)
        case level(WritableKeyPath<Configuration, Logger.Level>)
        /// May be given several times.
        case access(WritableKeyPath<Configuration, [AccessRule]>)
    }

    var name: String
    var kind: Kind
    /// True if a change takes effect when the configuration is read again (SIGHUP).
    var isReloadable: Bool

    /// In the order of the configuration file.
    static func table() -> [Setting] {
        [
            Setting("socket", .text(\.socket)),
            Setting("socket-mode", .mode(\.socketMode)),
            Setting("socket-group", .text(\.socketGroup)),
            Setting("access", .access(\.access), isReloadable: true),
            Setting("scene", .texts(\.scenes)),
            Setting("state-directory", .text(\.stateDirectory)),
            Setting("durability", .durability(\.durability)),
            Setting("log-level", .level(\.logLevel), isReloadable: true),

            // Clients: the server around the graph. A client's number has 20 bits for its slot.
            shell("clients", .count(\.server.clients, atLeast: 1, atMost: 1_000_000)),
            shell("message-size", .size(\.server.messageSize, atLeast: 1024)),
            shell("message-values", .count(\.server.messageValues, atLeast: 1000, atMost: Int(Int32.max))),
            shell("input-total", .size(\.server.inputTotal, atLeast: 1 << 20)),
            shell("nesting", .count(\.server.nesting, atLeast: 8, atMost: 512)),
            shell("batch-calls", .count(\.server.batchCalls, atLeast: 1, atMost: 1_000_000)),
            shell("requests-per-turn", .count(\.server.requestsPerTurn, atLeast: 1, atMost: 1_000_000)),
            shell("output-queue", .size(\.server.outputQueue, atLeast: 4096)),
            shell("output-maximum", .size(\.server.outputMaximum, atLeast: 65_536)),
            shell("output-total", .size(\.server.outputTotal, atLeast: 1 << 20)),
            shell("stall-time", .seconds(\.server.stallTime)),
            shell("shutdown-time", .seconds(\.server.shutdownTime)),

            // The graph.
            graph("nodes", \.runtime.graph.nodes), graph("attributes", \.runtime.graph.attributes),
            graph("tree-depth", \.runtime.graph.depth), graph("structure-rounds", \.runtime.graph.structureRounds),
            graph("time-operators", \.runtime.graph.timedValues),
            Setting("value-size", .size(\.runtime.graph.valueSize, atLeast: 1024)),
            graph("mutations-per-transaction", \.runtime.mutationsPerTransaction),
            graph("subscriptions-per-client", \.runtime.subscriptionsPerClient),
            graph("patterns-per-subscription", \.runtime.patternsPerSubscription),
            graph("watched-attributes", \.runtime.watchedAttributes),
            graph("on-disconnect-per-client", \.runtime.onDisconnectPerClient),
            Setting("on-disconnect-size", .size(\.runtime.onDisconnectSize, atLeast: 1024)),
            graph("pending-completions", \.runtime.pendingCompletions),
            graph("history-length", \.runtime.historyLength), graph("history-writes", \.runtime.historyWrites),
            graph("history-names", \.runtime.historyNames),
            graph("delegations", \.runtime.delegations),
            Setting("forward-time", .seconds(\.runtime.forwardTime)),
            graph("once-identifiers", \.runtime.onceIdentifiers),
            Setting("bookmark-interval", .seconds(\.runtime.bookmarkInterval)),
            graph("described-nodes", \.runtime.describedNodes),
            graph("trace-events", \.runtime.traceEvents),
            Setting("frame-rate", .rate(\.runtime.frameRate)),
            graph("label-length", \.runtime.labelLength), graph("client-name-length", \.runtime.nameLength),
            Setting("path-length", .count(\.pathLength, atLeast: 64, atMost: 1 << 20)),

            // Rules. Larger costs would not limit anything.
            Setting("rule-cost", .count(\.runtime.graph.rules.cost, atLeast: 1000, atMost: 1_000_000_000)),
            Setting("request-cost", .count(\.runtime.requestCost, atLeast: 1000, atMost: 1_000_000_000)),
            Setting("rule-length", .size(\.runtime.graph.rules.sourceLength, atLeast: 64)),
            Setting("rule-text", .size(\.runtime.graph.rules.textSize, atLeast: 64)),
            graph("rule-elements", \.runtime.graph.rules.resultSize),
        ]
    }

    private init(_ name: String, _ kind: Kind, isReloadable: Bool = false) {
        self.name = name
        self.kind = kind
        self.isReloadable = isReloadable
    }

    private static func shell(_ name: String, _ kind: Kind) -> Setting { Setting(name, kind, isReloadable: true) }

    private static func graph(_ name: String, _ place: WritableKeyPath<Configuration, Int>) -> Setting {
        Setting(name, .count(place, atLeast: 1, atMost: Int(Int32.max)))
    }
}
