import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

extension GraphRuntime {
    /// One line for operators.
    public var status: String {
        func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
        return
            "\(counted(graph.liveAttributes, "attribute")), \(counted(watching.subscriptions.count, "subscription")), "
            + "revision \(revision)"
    }

    /// Requests performed since the start.
    public var requestCount: UInt64 { statistics.requests }

    /// A figure's name, whether it only grows, what it counts, and its value.
    public typealias Figure = (name: String, isCounter: Bool, help: String, value: Double)

    private var figures: [Figure] {
        let engine = graph.counters
        return [
            ("nodes", false, "Nodes of the tree.", Double(graph.liveNodes)),
            ("attributes", false, "Attributes that definitions name.", Double(graph.liveAttributes)),
            ("vertices", false, "Vertices of the dependency graph.", Double(engine.liveAttributes)),
            ("edges", false, "Dependencies between vertices.", Double(engine.liveEdges)),
            ("clients", false, "Connections.", Double(clients.count)),
            ("subscriptions", false, "Subscriptions.", Double(watching.subscriptions.count)),
            ("watched_attributes", false, "Attributes that somebody watches.", Double(watching.topics.watches.count)),
            ("absent_rows", false, "Rows of the store without a node.", Double(graph.persistence.absentRowCount)),
            ("running_timelines", false, "Values in motion.", Double(presentations.completions.count)),
            ("revision", false, "The last committed transaction.", Double(revision)),
            ("uptime_seconds", false, "Seconds since the daemon started.", turn.uptime),
            ("turns", true, "Turns of the loop.", Double(turn.number)),
            ("requests", true, "Requests performed.", Double(statistics.requests)),
            ("transactions", true, "Transactions committed.", Double(history.transactionCount)),
            ("refused_transactions", true, "Transactions refused.", Double(statistics.refusals)),
            (
                "refused_on_disconnect", true, "onDisconnect transactions that were refused.",
                Double(statistics.refusedOnDisconnect)
            ),
            ("denied_requests", true, "Requests refused for want of a right.", Double(statistics.denials)),
            (
                "steps", true, "Steps that requests and clocks were charged; each is some 50 ns.",
                Double(statistics.steps)
            ),
            ("events", true, "Events handed to subscriptions.", Double(statistics.events)),
            (
                "conflated_events", true, "Events merged into a newer one for clients that wait.",
                Double(statistics.conflated)
            ),
            ("frames", true, "Frames sampled.", Double(statistics.frames)),
            ("writes", true, "Writes to inputs of the graph.", Double(engine.writes)),
            ("invalidations", true, "Vertices marked as possibly changed.", Double(engine.invalidations)),
            ("evaluations", true, "Rules run.", Double(engine.evaluations)),
            ("cutoffs", true, "Evaluations with an equal result: dependents did not run.", Double(engine.cutOffs)),
            ("cycles", true, "Cycles found.", Double(engine.cycles)),
            (
                "restarts", true, "Evaluations given up and started again because they nested too deep.",
                Double(engine.restarts)
            ),
        ] + (surroundings.figures?() ?? [])
    }

    func stats(_ format: Request.StatsFormat) -> Answer {
        switch format {
        case .json:
            var map = ValueMap([(.string("epoch"), .string(epoch))])
            for figure in figures {
                map[figure.name] = Int64(exactly: figure.value).map { .int($0) } ?? .double(figure.value)
            }
            return .value(.map(map))
        case .openmetrics:
            var text = ""
            for figure in figures {
                let name = "agd_\(figure.name)"
                text += "# HELP \(name) \(figure.help)\n# TYPE \(name) \(figure.isCounter ? "counter" : "gauge")\n"
                text +=
                    "\(name)\(figure.isCounter ? "_total" : "") "
                    + "\(Int64(exactly: figure.value).map { "\($0)" } ?? "\(figure.value)")\n"
            }
            for histogram in surroundings.histograms?() ?? [] { text += histogram.openMetrics }
            return .value(["text": .string(text + "# EOF\n")])
        }
    }
}
