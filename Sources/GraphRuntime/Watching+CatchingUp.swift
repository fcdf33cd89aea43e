import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// Sending pending news.

extension Watching {
    /// The client does not read its output.
    func fallBehind(_ client: Client) {
        _ = sender.note(client, isBehind: true)
    }

    /// The client reads again: sends one event with the newest value of each path that has changed meanwhile.
    func catchUp(_ client: Client) {
        guard sender.note(client, isBehind: false) else { return }
        for subscription in client.subscriptions.values.sorted(by: { $0.number < $1.number })
        where subscription.mayFlush {
            flush(subscription)
        }
    }

    /// Sends a subscription's pending news: first the changes of the tree, then one update that names the range of its
    /// revisions, then the rest.
    func flush(_ subscription: Subscription) {
        guard let pending = sender.takePending(of: subscription) else { return }
        let topic = subscription.topic
        deliver(pending.structure.paths, to: [subscription])
        if let from = pending.from {
            let changed = topic.order.filter { pending.hasChanged($0, in: graph) }
            let changes = pending.left.sorted().texts.map(Change.init(removalOf:)) + presentChanges(changed, of: topic)
            // If changes have cancelled each other, there is nothing to tell.
            if !changes.isEmpty {
                if let interval = subscription.interval { subscription.nextAllowed = now + interval }
                let update = updateEvent(
                    changes, of: topic, from: from == history.revision ? nil : from, label: pending.label)
                let isTold = sender.writing(changes, isTyped: topic.key.typed) {
                    sender.send(update, to: [subscription])
                }
                if !isTold { return endForLength([subscription]) }
            }
        }
        flushInvalidations(pending, of: subscription)
        for completion in pending.completions {
            sender.send(Event(completion, at: history.revision), to: [subscription])
        }
        if !pending.rested.isEmpty { deliverRested(pending.rested, to: subscription) }
    }

    private func flushInvalidations(_ pending: Pending, of subscription: Subscription) {
        let topic = subscription.topic
        guard topic.key.events.contains(.invalidate) else { return }
        let fresh = topic.order.filter { pending.invalidated.contains($0) && !subscription.outstanding.contains($0) }
        let paths = pending.left.sorted().texts + fresh.flatMap { topic.paths[$0] ?? [] }
        if paths.isEmpty { return }
        subscription.outstanding.formUnion(fresh)
        sender.send(.invalidate(revision: history.revision, paths: paths), to: [subscription])
    }

    func updateEvent(
        _ changes: [Change], of topic: Topic, from: UInt64? = nil, label: String? = nil, isInitial: Bool = false
    ) -> Event {
        .update(
            revision: history.revision, from: from, label: label, isInitial: isInitial, changes: changes,
            typed: topic.key.typed)
    }

    /// The present contents of attributes, for an update.
    func presentChanges(_ attributes: some Sequence<AttributeID>, of topic: Topic) -> [Change] {
        var changes: [Change] = []
        for attribute in attributes {
            guard let paths = topic.paths[attribute] else { continue }
            let content = topics.evaluated(attribute)
            let timeline = presentations.moving(attribute).map {
                presentations.describe($0, replaces: nil, css: topic.key.css)
            }
            let reported = reported(attribute, topic)
            for path in paths {
                changes.append(Change(path: path, content: content, timeline: timeline, reported: reported))
            }
        }
        return changes
    }

    /// The client has read a place, so it knows the value now. The next change of the place or any part of it is news
    /// again. A client that has read a part does not know the rest.
    func markRead(_ place: Place, by client: Client) {
        if client.subscriptions.isEmpty { return }
        var vertices: [AttributeID]?
        for subscription in client.subscriptions.values where subscription.topic.key.events.contains(.invalidate) {
            let found = vertices ?? graph.existingVertices(in: place)
            vertices = found
            for vertex in found where subscription.topic.paths[vertex] != nil {
                subscription.outstanding.remove(vertex)
                // The graph reports a vertex again only after it has been read, even if another client got the report.
                _ = graph.content(of: vertex)
            }
        }
        if sender.delayed.isEmpty { return }
        for subscription in client.subscriptions.values where sender.delayed[subscription.number] != nil {
            for vertex in [place.attribute, graph.existingVertex(for: place)].compactMap({ $0 }) {
                guard let paths = subscription.topic.paths[vertex] else { continue }
                subscription.pending?.noteKnown(paths)
            }
        }
    }

    // MARK: Deadlines

    /// In monotonic seconds; nil: never.
    var nextDeadline: Double? {
        if subscriptions.isEmpty { return nil }
        var next = sender.bookmarks.next(history.revision, interval: limits.bookmarkInterval) ?? .infinity
        for stream in frames.all { next = min(next, stream.nextTick ?? .infinity) }
        if topics.completionCount > 0 { next = min(next, presentations.completions.nextDeadline ?? .infinity) }
        next = min(next, topics.reports.deadline ?? .infinity)
        for subscription in sender.delayed.values where subscription.mayFlush {
            next = min(next, subscription.nextAllowed)
        }
        return next < .infinity ? next : nil
    }

    /// Delivers everything that is due, the most overdue first. After `RuntimeLimits.turnTime` the rest is left to the
    /// next turn.
    func deliverDue() {
        if subscriptions.isEmpty { return }
        if !frames.all.isEmpty { deliverDueFrames() }
        let ends = presentations.advance()
        if !ends.isEmpty { deliver(completionNews(ends)) }
        deliverDueReports()
        if !sender.delayed.isEmpty { flushDue() }
        deliverDueBookmarks()
    }

    private func deliverDueFrames() {
        for stream in frames.all.sorted(by: { $0.nextTick ?? .infinity < $1.nextTick ?? .infinity }) {
            deliverFrames(of: stream)
            guard turn.hasTime(limits.turnTime) else { break }
        }
    }

    private func flushDue() {
        let due = sender.delayed.values.filter { $0.nextAllowed <= now && $0.mayFlush }
        for subscription in due.sorted(by: { ($0.nextAllowed, $0.number) < ($1.nextAllowed, $1.number) }) {
            flush(subscription)
            guard turn.hasTime(limits.turnTime) else { break }
        }
    }

    /// At the end of a turn, sends bookmarks to subscriptions that have been sent an event, and from time to time to
    /// all others. So even a client without events learns a recent revision from which it can resume.
    private func deliverDueBookmarks() {
        let revision = history.revision
        if let round = sender.bookmarks.next(revision, interval: limits.bookmarkInterval), round <= now {
            sender.bookmarks.beginRound(revision, at: now) { number in
                subscriptions[number].map { $0.bookmarked < revision } ?? false
            }
        }
        if sender.bookmarks.due.isEmpty { return }
        // The others get a bookmark when their pending news has been sent.
        let ready = sender.bookmarks.due.sorted().compactMap { subscriptions[$0] }.filter {
            $0.mayFlush && $0.pending == nil
        }
        sender.bookmarks.didTell(ready.map(\.number))
        for subscription in ready { subscription.bookmarked = revision }
        sender.send(.bookmark(epoch: history.epoch, revision: revision), to: ready)
    }
}
