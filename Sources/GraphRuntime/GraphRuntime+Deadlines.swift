import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// Transactions that no request causes. The runtime says when it must be woken, and sets no deadline while nobody
// watches anything that moves by itself.

extension GraphRuntime {
    /// While `body` runs, the graph works for a client, or for the daemon itself, with the budget of a request.
    func working<T, E: Error>(for client: Client? = nil, _ body: () throws(E) -> T) throws(E) -> T {
        var context = RequestContext(
            steps: limits.requestCost, growth: limits.instanceCost, mayTakeLast: client?.standing == .first)
        graph.exchange(&context)
        defer {
            statistics.steps &+= limits.requestCost &- graph.stepsLeft
            graph.exchange(&context)
        }
        return try body()
    }

    /// When the runtime must be woken, in monotonic seconds; nil: never.
    public var nextDeadline: Double? {
        if graph.waitingRuleCount > 0 || !jobs.isEmpty || graph.hasUnlinked { return turn.now.monotonic }
        var next = watching.nextDeadline
        if let end = delegations.nextDeadline { next = min(next ?? .infinity, end) }
        guard !isPast, let wait = nextWait else { return next }
        return min(next ?? .infinity, turn.now.monotonic + wait.seconds)
    }

    private static let shortestSleep = 0.1

    /// The time until a clock ticks or an operator changes its result; negative if that is due.
    private var nextWait: TimeSpan? {
        graph.hasClocks ? graph.nextWait(from: turn.now.wall, elapsed: turn.now.elapsed) : nil
    }

    /// Sets every clock to its last tick for the whole turn. Watched clocks make a transaction of it. The others wake
    /// nobody and are only updated, for clients that read them in this turn.
    func tickClocks() {
        // Recorded transactions move the clocks of the past.
        if isPast { return }
        // The two clocks are not read at once.
        let sleep = turn.now.asleep - asleep < GraphRuntime.shortestSleep ? 0 : turn.now.asleep - asleep
        if sleep > 0 { asleep = turn.now.asleep }
        guard let wait = nextWait, wait.nanoseconds <= 0 else {
            return graph.advance(to: turn.now.wall, elapsed: turn.now.elapsed, after: sleep)
        }
        working {
            let stamp = graph.stamp
            graph.advance(to: turn.now.wall, elapsed: turn.now.elapsed, after: sleep)
            watching.complete(since: stamp, "clock")
        }
        store.addValues(of: graph.takeStatesWithExpiredEntries(), isByTime: true)
    }

    /// Calls the actions of the nodes that this start has made, if they have not appeared in an earlier life.
    func callFirst() {
        if isPast || !graph.reactions.areWaiting { return }
        working { watching.complete(since: graph.stamp, "start") }
    }

    /// Runs the rules that were deferred because a request had used up its budget, with a budget of their own, and
    /// notifies their watchers.
    func resumeRules() {
        guard graph.waitingRuleCount > 0 else { return }
        working {
            let stamp = graph.stamp
            guard graph.resumeWaitingRules() else { return }
            history.resumableFrom = revision + 1
            watching.complete(since: stamp, "request-cost", redefines: true)
        }
    }
}
