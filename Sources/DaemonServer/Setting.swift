import Archive
import AttributeValues
import CommandArguments
import GraphRuntime
import Logging
import StateStore

extension Setting<Configuration> {
    /// In the order of the configuration file.
    /// - Parameter accounts: find the users and groups of access lines.
    static func table(_ accounts: Accounts = .system) -> [Setting] {
        [
            Setting("socket", \.socket, .text),
            Setting("socket-mode", \.socketMode, .mode),
            Setting("socket-group", \.socketGroup, .text),
            reloadable(Setting("access", \.access) { (text) throws(Failure) in try AccessRule(text, accounts) }),
            Setting("scene", \.scenes) { $0 },
            Setting("state-directory", \.stateDirectory, .text),
            Setting("durability", \.durability, .word),
            Setting("archive-directory", \.archiveDirectory, .text),
            Setting("archive-size", \.archive.size, .size(0...Int.max)),
            Setting("archive-time", \.archive.time, .seconds(0...Archive.longestTime)),
            reloadable(Setting("log-level", \.logLevel, .word)),

            // Clients: the server around the graph. A client's number has 20 bits for its slot.
            shell("clients", \.server.clients, .count(1...1_000_000)),
            shell("message-size", \.server.messageSize, .size(1024...Int.max)),
            shell("message-values", \.server.messageValues, .count(1000...Int(Int32.max))),
            shell("input-total", \.server.inputTotal, .size((1 << 20)...Int.max)),
            shell("nesting", \.server.nesting, .count(8...512)),
            shell("batch-calls", \.server.batchCalls, .count(1...1_000_000)),
            shell("requests-per-turn", \.server.requestsPerTurn, .count(1...1_000_000)),
            shell("output-queue", \.server.outputQueue, .size(4096...Int.max)),
            shell("output-maximum", \.server.outputMaximum, .size(65_536...Int.max)),
            shell("output-total", \.server.outputTotal, .size((1 << 20)...Int.max)),
            shell("stall-time", \.server.stallTime, .seconds()),
            shell("shutdown-time", \.server.shutdownTime, .seconds()),

            // The graph.
            graph("nodes", \.runtime.graph.nodes), graph("attributes", \.runtime.graph.attributes),
            graph("tree-depth", \.runtime.graph.depth), graph("structure-rounds", \.runtime.graph.structureRounds),
            graph("time-operators", \.runtime.graph.timedValues),
            Setting("value-size", \.runtime.graph.valueSize, .size(1024...Int.max)),
            graph("mutations-per-transaction", \.runtime.mutationsPerTransaction),
            graph("subscriptions-per-client", \.runtime.subscriptionsPerClient),
            graph("patterns-per-subscription", \.runtime.patternsPerSubscription),
            graph("watched-attributes", \.runtime.watchedAttributes),
            graph("on-disconnect-per-client", \.runtime.onDisconnectPerClient),
            Setting("on-disconnect-size", \.runtime.onDisconnectSize, .size(1024...Int.max)),
            graph("pending-completions", \.runtime.pendingCompletions),
            graph("history-length", \.runtime.historyLength), graph("history-writes", \.runtime.historyWrites),
            graph("history-names", \.runtime.historyNames),
            graph("delegations", \.runtime.delegations),
            Setting("forward-time", \.runtime.forwardTime, .seconds()),
            graph("once-identifiers", \.runtime.onceIdentifiers),
            Setting("bookmark-interval", \.runtime.bookmarkInterval, .seconds()),
            graph("described-nodes", \.runtime.describedNodes),
            graph("trace-events", \.runtime.traceEvents),
            Setting("frame-rate", \.runtime.frameRate, .rate),
            graph("label-length", \.runtime.labelLength), graph("client-name-length", \.runtime.nameLength),
            Setting("path-length", \.pathLength, .count(64...(1 << 20))),

            // Rules. Larger costs would not limit anything.
            Setting("rule-cost", \.runtime.graph.rules.cost, .count(1000...1_000_000_000)),
            Setting("request-cost", \.runtime.requestCost, .count(1000...1_000_000_000)),
            Setting("rule-length", \.runtime.graph.rules.sourceLength, .size(64...Int.max)),
            Setting("rule-text", \.runtime.graph.rules.textSize, .size(64...Int.max)),
            graph("rule-elements", \.runtime.graph.rules.resultSize),
        ]
    }

    private static func reloadable(_ setting: Setting) -> Setting {
        var setting = setting
        setting.isReloadable = true
        return setting
    }

    private static func shell<Value>(
        _ name: String, _ place: WritableKeyPath<Configuration, Value>, _ notation: Notation<Value>
    ) -> Setting {
        reloadable(Setting(name, place, notation))
    }

    private static func graph(_ name: String, _ place: WritableKeyPath<Configuration, Int>) -> Setting {
        Setting(name, place, .count(1...Int(Int32.max)))
    }
}

extension Notation<UInt32> {
    fileprivate static var mode: Notation {
        Notation("an octal mode, as 0660", write: { "0" + String($0, radix: 8) }) { text in
            UInt32(text, radix: 8).flatMap { $0 <= 0o777 ? $0 : nil }
        }
    }
}

extension Notation<Double> {
    fileprivate static var rate: Notation {
        Notation("a number per second, up to 10000", write: { Int64(exactly: $0).map { "\($0)" } ?? "\($0)" }) { text in
            Double(text).flatMap { $0 > 0 && $0 <= 10_000 ? $0 : nil }
        }
    }
}
