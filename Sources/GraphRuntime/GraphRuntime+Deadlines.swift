import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// What the runtime does when nobody asks: clocks, frames, held-back events, completions. It says when it wants to be woken, and
// asks for nothing while nobody watches anything that moves by itself.

extension GraphRuntime {
    /// Monotonic seconds; nil: never.
    public var nextDeadline: Double? {
        var next: Double?
        func consider(_ time: Double?) {
            if let time, time < next ?? .infinity { next = time }
        }
        if graph.hasClocks, let tick = graph.nextTick(), let wait = tick.since(now.wall) { consider(now.monotonic + wait.seconds) }
        if graph.waitingRuleCount > 0 || !jobs.isEmpty { consider(now.monotonic) }
        for stream in frameStreams { consider(stream.nextTick) }
        if let bookmarks = nextBookmarks { consider(bookmarks) }
        if completionTopics > 0 { consider(presentations.completions.nextDeadline) }
        for number in held {
            guard let subscription = subscriptions[number], mayFlush(number) else { continue }
            consider(subscription.nextAllowed)
        }
        return next
    }

    /// Every clock shows its last tick in all that a turn does. Those that somebody watches make a transaction of it; the others,
    /// which wake nobody, are only brought up to date for who may look at them now.
    func tickClocks() {
        guard graph.hasClocks else { return }
        guard let due = graph.nextTick(), due <= now.wall else { return graph.advance(to: now.wall) }
        graph.stepsLeft = limits.requestCost
        graph.growthLeft = limits.instanceCost
        let stamp = graph.stamp
        graph.advance(to: now.wall)
        advanceRevision(nil, "clock", since: stamp, writes: [])
        publish(since: stamp, .none, "clock")
    }

    /// Everything whose time has come, longest due first. After `RuntimeLimits.turnTime` the rest is left to the next turn.
    func deliverDue() {
        graph.stepsLeft = limits.requestCost
        for stream in frameStreams.sorted(by: { $0.nextTick ?? .infinity < $1.nextTick ?? .infinity }) {
            deliverFrames(of: stream)
            guard hasTime(limits.turnTime) else { break }
        }
        deliver(completions(presentations.completions.advance(to: now.monotonic)))
        let due = held.compactMap { number -> (time: Double, number: Int64)? in
            guard let subscription = subscriptions[number], subscription.nextAllowed <= now.monotonic, mayFlush(number)
            else { return nil }
            return (subscription.nextAllowed, number)
        }
        for (_, number) in due.sorted(by: { $0 < $1 }) {
            flush(number)
            guard hasTime(limits.turnTime) else { break }
        }
        deliverDueBookmarks()
    }
}
