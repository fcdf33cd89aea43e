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

    func tickClocks() {
        guard graph.hasClocks, let due = graph.nextTick(), due <= now.wall else { return }
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

    /// Something in the topic moves: frames begin with the next tick.
    func startFrames(of topic: Topic) {
        for (rate, group) in topic.frames where group.nextTick == nil {
            topic.frames[rate]?.nextTick = now.monotonic + 1 / rate
        }
    }

    private func deliverFrame(of topic: Topic, _ rate: Double) {
        guard var group = topic.frames[rate], let due = group.nextTick, due <= now.monotonic else { return }
        var moving: Set<AttributeID> = []
        var values: [(path: String, value: Value)] = []
        for attribute in topic.order {
            guard let paths = topic.paths[attribute] else { continue }
            let isMoving = isMoving(attribute)
            guard isMoving || group.moving.contains(attribute) else { continue }
            if isMoving { moving.insert(attribute) }
            guard case .value(let value) = presented(attribute, graph.content(of: attribute)) else { continue }
            for path in paths { values.append((path, value)) }
        }
        group.moving = moving
        // Ticks stay on their grid; those that a busy loop missed are left out.
        group.nextTick = moving.isEmpty ? nil : due + (((now.monotonic - due) * rate).rounded(.down) + 1) / rate
        topic.frames[rate] = group
        guard !values.isEmpty else { return }
        statistics.frames += 1
        // A frame is worth nothing to a client that cannot keep up: the next one replaces it.
        let members = group.members.filter { clients[$0.client]?.isBehind != true }
        if !members.isEmpty { deliver(members, .frames(time: now.monotonic, values: values)) }
    }
}
