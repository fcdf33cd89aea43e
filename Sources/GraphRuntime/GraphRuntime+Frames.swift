import AttributeGraph
import AttributeValues
import WireProtocol

extension GraphRuntime {
    /// - Returns: the topic's view at this rate if it is its first subscriber, for `startFrames(of:)`.
    func addFrames(
        of topic: Topic, at rate: Double, for member: (client: ClientID, subscription: Int64)
    ) -> FrameView? {
        if let view = topic.frames.first(where: { $0.stream.rate == rate }) {
            view.members.append(member)
            return nil
        }
        let stream = frameStreams.first { $0.rate == rate } ?? FrameStream(rate: rate)
        if stream.views.isEmpty { frameStreams.append(stream) }
        let view = FrameView(of: topic, in: stream)
        view.members.append(member)
        stream.add(view)
        topic.frames.append(view)
        return view
    }

    func endFrames(of topic: Topic, for subscription: Int64) {
        for view in topic.frames { view.members.removeAll { $0.subscription == subscription } }
        for view in topic.frames where view.members.isEmpty {
            view.stream.remove(view)
            if view.stream.views.isEmpty { frameStreams.removeAll { $0 === view.stream } }
        }
        topic.frames.removeAll { $0.members.isEmpty }
    }

    /// What moves already when somebody asks for frames at a rate that nobody had asked for.
    func startFrames(of view: FrameView) {
        for attribute in view.topic.order {
            if let running = moving(attribute) { startFrames(of: view, attribute, running) }
        }
    }

    /// An attribute of the topic moves now: frames begin with the next tick.
    func startFrames(of topic: Topic, _ attribute: AttributeID, _ running: Presentations.Running) {
        for view in topic.frames { startFrames(of: view, attribute, running) }
    }

    private func startFrames(of view: FrameView, _ attribute: AttributeID, _ running: Presentations.Running) {
        view.stream.show(attribute, view.topic.paths[attribute] ?? [], running, in: view)
        if view.stream.nextTick == nil { view.stream.nextTick = now.monotonic + 1 / view.stream.rate }
    }

    /// Its motion ended before its time.
    func stopFrames(of topic: Topic, _ attribute: AttributeID, isGone: Bool) {
        for view in topic.frames { view.stream.stop(attribute, in: view, isGone: isGone) }
    }

    func deliverFrames(of stream: FrameStream) {
        guard let due = stream.nextTick, due <= now.monotonic else { return }
        let frames = stream.frames(at: now.monotonic) { view, attribute in
            guard let paths = view.topic.paths[attribute], case .value(let value) = graph.content(of: attribute) else { return nil }
            return (paths, value)
        }
        // Ticks stay on their grid; those that a busy loop missed are left out.
        let next = due + (((now.monotonic - due) * stream.rate).rounded(.down) + 1) / stream.rate
        stream.nextTick = stream.isIdle ? nil : next
        if !frames.isEmpty { statistics.frames += 1 }
        for (view, members) in frames {
            // A frame is worth nothing to a client that cannot keep up: the next one replaces it.
            let ready = view.members.filter { mayFlush($0.subscription) }
            if !ready.isEmpty { deliver(ready, .frameSheet(time: now.monotonic, members: members)) }
        }
        // What rests now has no next one.
        for (view, attribute) in stream.takeRested() {
            for member in view.members where !mayFlush(member.subscription) {
                hold(for: member.subscription) { _ = $0.rested.insert(attribute) }
            }
        }
    }

    /// Where things are that came to rest unseen.
    func deliverRested(_ rested: Set<AttributeID>, of topic: Topic, to member: (client: ClientID, subscription: Int64)) {
        var values: [(path: String, value: Value)] = []
        for attribute in topic.order where rested.contains(attribute) {
            guard case .value(let value) = presented(attribute, graph.content(of: attribute)) else { continue }
            values += (topic.paths[attribute] ?? []).map { ($0, value) }
        }
        if !values.isEmpty { deliver([member], .frames(time: now.monotonic, values: values)) }
    }
}
