import AttributeGraph

/// The streams of all frames that clients have subscribed to, one for each rate.
struct FrameStreams {
    private(set) var all: [FrameStream] = []

    /// - Returns: the topic's view at this rate, if it is new. The caller then shows the attributes that are already
    ///   moving.
    mutating func add(_ subscription: Subscription, at rate: Double) -> FrameView? {
        let topic = subscription.topic
        if let view = topic.frames.first(where: { $0.stream.rate == rate }) {
            view.members.append(subscription)
            return nil
        }
        let stream = all.first { $0.rate == rate } ?? FrameStream(rate: rate)
        if stream.views.isEmpty { all.append(stream) }
        let view = FrameView(of: topic, in: stream)
        view.members.append(subscription)
        stream.add(view)
        topic.frames.append(view)
        return view
    }

    mutating func remove(_ subscription: Subscription) {
        let topic = subscription.topic
        for view in topic.frames { view.members.removeAll { $0 === subscription } }
        for view in topic.frames where view.members.isEmpty {
            view.stream.remove(view)
            if view.stream.views.isEmpty { all.removeAll { $0 === view.stream } }
        }
        topic.frames.removeAll { $0.members.isEmpty }
    }
}

extension Topic {
    /// Shows an attribute of the topic that begins to move, from the next tick on.
    func startFrames(_ attribute: AttributeID, _ running: Presentations.Running, at now: Double) {
        for view in frames { view.stream.show(attribute, running, in: view, at: now) }
    }

    /// Stops showing an attribute whose motion ended early.
    func stopFrames(_ attribute: AttributeID, isGone: Bool) {
        for view in frames { view.stream.stop(attribute, in: view, isGone: isGone) }
    }
}
