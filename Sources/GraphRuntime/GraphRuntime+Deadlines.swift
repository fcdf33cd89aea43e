import AttributeGraph
import AttributeValues
import Timelines
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
        for topic in framedTopics { for group in topic.frames.values { consider(group.nextTick) } }
        if completionTopics > 0 { consider(presentations.completions.nextDeadline) }
        for number in held {
            guard let subscription = subscriptions[number], clients[subscription.client]?.isBehind != true else { continue }
            consider(subscription.nextAllowed)
        }
        return next
    }

    /// Every clock shows its last tick in all that a turn does. Those that somebody watches make a transaction of it; the others,
    /// which wake nobody, are only brought up to date for who may look at them now.
    func tickClocks() {
        guard graph.hasClocks else { return }
        guard let due = graph.nextTick(), due <= now.wall else { return graph.advance(to: now.wall) }
        let stamp = graph.stamp
        graph.advance(to: now.wall)
        advanceRevision(nil, "clock", since: stamp, writes: [])
        publish(since: stamp, .none, "clock")
    }

    /// Everything whose time has come.
    func deliverDue() {
        deliverCompletions(presentations.completions.advance(to: now.monotonic))
        for topic in framedTopics { for rate in topic.frames.keys.sorted() { deliverFrame(of: topic, rate) } }
        for number in held.sorted() {
            guard let subscription = subscriptions[number], subscription.nextAllowed <= now.monotonic,
                clients[subscription.client]?.isBehind != true
            else { continue }
            flush(number)
        }
    }

    // MARK: Frames

    /// An attribute of the topic moves now: frames begin with the next tick.
    func startFrames(of topic: Topic, _ attribute: AttributeID, _ timeline: Timeline) {
        for rate in topic.frames.keys { startFrames(of: topic, rate, attribute, timeline) }
    }

    func startFrames(of topic: Topic, _ rate: Double, _ attribute: AttributeID, _ timeline: Timeline) {
        topic.frames[rate]?.move(attribute, topic.paths[attribute] ?? [], timeline)
        if topic.frames[rate]?.nextTick == nil { topic.frames[rate]?.nextTick = now.monotonic + 1 / rate }
    }

    /// Its motion ended before its time.
    func stopFrames(of topic: Topic, _ attribute: AttributeID, isGone: Bool) {
        for rate in topic.frames.keys { topic.frames[rate]?.stop(attribute, isGone: isGone) }
    }

    private func deliverFrame(of topic: Topic, _ rate: Double) {
        guard let due = topic.frames[rate]?.nextTick, due <= now.monotonic,
            // Taken out while it is written, so that its arrays are not copied.
            var group = topic.frames.removeValue(forKey: rate)
        else { return }
        let members = ByteBuffer()
        group.write(at: now.monotonic, into: members) { attribute in
            guard let paths = topic.paths[attribute], case .value(let value) = graph.content(of: attribute) else { return nil }
            return (paths, value)
        }
        // Ticks stay on their grid; those that a busy loop missed are left out.
        let next = due + (((now.monotonic - due) * rate).rounded(.down) + 1) / rate
        group.nextTick = group.isEmpty ? nil : next
        topic.frames[rate] = group
        guard !members.isEmpty else { return }
        statistics.frames += 1
        // A frame is worth nothing to a client that cannot keep up: the next one replaces it.
        let ready = group.members.filter { clients[$0.client]?.isBehind != true }
        if !ready.isEmpty { deliver(ready, .frameSheet(time: now.monotonic, members: members)) }
    }
}
