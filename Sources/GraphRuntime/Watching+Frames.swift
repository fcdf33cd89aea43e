import AttributeGraph
import AttributeValues
import WireProtocol

extension Watching {
    func deliverFrames(of stream: FrameStream) {
        guard let due = stream.nextTick, due <= now else { return }
        let frames = stream.sample(at: now) { view, attribute in
            guard let paths = view.topic.paths[attribute], case .value(let value) = graph.content(of: attribute) else {
                return nil
            }
            return (paths, value)
        }
        // Ticks stay on their grid. Ticks that a busy loop missed are skipped.
        let next = due + (((now - due) * stream.rate).rounded(.down) + 1) / stream.rate
        stream.nextTick = stream.isIdle ? nil : next
        if !frames.isEmpty { statistics.frames += 1 }
        for (view, members) in frames {
            // A client that cannot keep up does not get the frame: the next one replaces it.
            sender.send(.frameSheet(time: now, members: members), to: view.members.filter(\.mayFlush))
        }
        // Attributes that have come to rest have no next frame.
        for (view, attribute) in stream.takeRested() {
            for member in view.members where !member.mayFlush {
                sender.delay(for: member) { _ = $0.rested.insert(attribute) }
            }
        }
    }

    /// Sends the final values of attributes whose last frame was not sent.
    func deliverRested(_ rested: Set<AttributeID>, to subscription: Subscription) {
        let topic = subscription.topic
        var values: [(path: String, value: Value)] = []
        for attribute in topic.order where rested.contains(attribute) {
            guard case .value(let value) = presentations.presented(attribute, graph.content(of: attribute)) else {
                continue
            }
            values += (topic.paths[attribute] ?? []).map { ($0, value) }
        }
        if !values.isEmpty { sender.send(.frames(time: now, values: values), to: [subscription]) }
    }
}
