import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// Transactions that nobody asks for. The runtime says when it wants to be woken, and asks for nothing while nobody
// watches anything that moves by itself.

extension GraphRuntime {
    /// Monotonic seconds; nil: never.
    public var nextDeadline: Double? {
        if graph.waitingRuleCount > 0 || !jobs.isEmpty || graph.hasUnlinked { return turn.now.monotonic }
        var next = watching.nextDeadline
        if let end = delegations.nextDeadline { next = min(next ?? .infinity, end) }
        guard graph.hasClocks, let tick = graph.nextTick(), let wait = tick.since(turn.now.wall) else { return next }
        return min(next ?? .infinity, turn.now.monotonic + wait.seconds)
    }

    /// Every clock shows its last tick in all that a turn does. Those that somebody watches make a transaction of it;
    /// the others, which wake nobody, are only brought up to date for who may look at them now.
    func tickClocks() {
        guard graph.hasClocks, let due = graph.nextTick(), due <= turn.now.wall else {
            return graph.advance(to: turn.now.wall)
        }
        graph.stepsLeft = limits.requestCost
        graph.growthLeft = limits.instanceCost
        let stamp = graph.stamp
        graph.advance(to: turn.now.wall)
        watching.complete(since: stamp, "clock")
    }

    /// Rules that had to wait for a request to be done with run now, at a cost of their own, and who watches them is
    /// told.
    func resumeRules() {
        guard graph.waitingRuleCount > 0 else { return }
        graph.stepsLeft = limits.requestCost
        let stamp = graph.stamp
        guard graph.resumeWaitingRules() else { return }
        history.resumableFrom = revision + 1
        watching.complete(since: stamp, "request-cost", redefines: true)
    }
}
