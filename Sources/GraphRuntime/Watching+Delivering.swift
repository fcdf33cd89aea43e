import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// The runtime tells subscribers the news: now, after the answer to a batch, or when the subscription's time or the
// client's queue admits it. It tells each client only what the client may read.

extension Watching {
    /// Changes of the tree come before the new values: who gets these knows what they are of. Both wait together.
    func deliver(_ structure: StructureChange?, _ motion: Motion?, since stamp: UInt64, _ label: String?) {
        guard let structure, !structure.isEmpty else {
            for topic in news.topics where !topic.isOverfull {
                deliverNews(of: topic, label, to: delayNews(of: topic, since: stamp, label))
            }
            return
        }
        let due = news.topics.filter { !$0.isOverfull }.map { ($0, delayNews(of: $0, since: stamp, label)) }
        deliver(structure, motion ?? Motion(), since: stamp)
        for (topic, members) in due { deliverNews(of: topic, label, to: members.filter { !$0.hasEnded }) }
    }

    /// - Returns: those who are told now.
    private func delayNews(of topic: Topic, since stamp: UInt64, _ label: String?) -> [Subscription] {
        let hasUpdate = topic.key.events.contains(.update) && topic.news.hasUpdate
        let members = topic.members
        // Usually nobody has to wait, so nobody is looked at.
        if delayed.isEmpty, openings == 0, clientsBehind == 0, !topic.isPaced { return members }
        var told: [Subscription]?
        for (position, member) in members.enumerated() {
            if hasUpdate ? member.mustWait(at: now) : member.isWaiting {
                if told == nil { told = Array(members[..<position]) }
                delay(topic, isUpdate: hasUpdate, since: stamp, label, for: member)
            } else {
                told?.append(member)
            }
        }
        return told ?? members
    }

    private func deliverNews(of topic: Topic, _ label: String?, to members: [Subscription]) {
        if members.isEmpty { return }
        if topic.key.events.contains(.update), topic.news.hasUpdate {
            guard deliverUpdate(of: topic, label, to: members) else { return endForLength(members) }
        }
        if !topic.news.invalidated.isEmpty {
            for member in members { deliverInvalidations(topic.news, to: member) }
        }
    }

    /// - Returns: false if the update is longer than a client may be sent at once.
    private func deliverUpdate(of topic: Topic, _ label: String?, to members: [Subscription]) -> Bool {
        let changes = topic.news.update
        let isHidden = !clients.access.rules.isEmpty
        let isText = news.isText && !(isHidden && changes.tellOfErrors)
        let writer = topic.key.writers ? history.recorded(history.revision)?.author?.title : nil
        func tell(_ writer: String?, _ members: [Subscription]) {
            let event: Event =
                isText
                ? .updateText(revision: history.revision, label: label, writer: writer, changes: text)
                : .update(
                    revision: history.revision, from: nil, label: label, writer: writer, isInitial: false,
                    changes: changes, typed: topic.key.typed)
            deliver(event, to: members)
        }
        return writing(changes, isTyped: topic.key.typed) {
            guard isHidden, let writer else { return tell(writer, members) }
            tell(writer, members.filter { !$0.client.isPartial })
            tell(nil, members.filter(\.client.isPartial))
        }
    }

    /// Writes the changes of an update to `text`, without timelines, while `tell` runs.
    /// - Returns: false if the text is longer than a client may be sent at once. Then nobody is told.
    func writing(_ changes: [Change], isTyped: Bool, _ tell: () -> Void) -> Bool {
        defer { if text.count > Watching.shortText { text = ByteBuffer() } else { text.removeAll() } }
        for change in changes {
            text.appendChange(of: change.path, change.content, reported: change.reported, typed: isTyped)
            if text.count > clients.longestAnswer { return false }
        }
        tell()
        return true
    }

    /// Bytes of a text whose memory stays for the next one.
    private static let shortText = 4096

    private func delay(
        _ topic: Topic, isUpdate: Bool, since stamp: UInt64, _ label: String?, for subscription: Subscription
    ) {
        delay(for: subscription) { pending in
            pending.merge(topic)
            guard isUpdate else { return }
            if pending.from == nil {
                pending.from = history.revision
                pending.since = stamp
                pending.label = label
            } else {
                pending.label = nil
                statistics.conflated += 1
            }
        }
        for (attribute, _) in topic.news.left { subscription.outstanding.remove(attribute) }
    }

    /// Each path is told once, until the client has read it.
    private func deliverInvalidations(_ news: TopicNews, to subscription: Subscription) {
        var paths: [String] = []
        for (attribute, names, hasLeft) in news.invalidated {
            let isNews =
                hasLeft
                ? subscription.outstanding.remove(attribute) == nil
                : subscription.outstanding.insert(attribute).inserted
            if isNews { paths += names }
        }
        // An attribute that has returned under the same name is named once.
        if !news.left.isEmpty {
            var seen: Set<Name> = []
            paths.removeAll { !seen.insert($0).inserted }
        }
        if !paths.isEmpty { deliver(.invalidate(revision: history.revision, paths: paths), to: [subscription]) }
    }
}

extension Watching {
    func deliver(_ event: Event, to receivers: [Subscription]) {
        if receivers.isEmpty { return }
        // A subscription made in a batch gets its events after the batch's answer.
        let receivers = openings == 0 ? receivers : receivers.filter { !$0.isOpening(with: event) }
        if receivers.isEmpty { return }
        statistics.events += UInt64(receivers.count)
        if !clients.access.rules.isEmpty, event.tellsOfErrors {
            deliverShown(event, to: receivers)
        } else {
            say(event, to: receivers)
        }
        if event.tellsOfRevision { bookmarks.note(receivers) }
    }

    private func say(_ event: Event, to receivers: [Subscription]) {
        if let topic = receivers.first?.topic, receivers.isCopy(of: topic.members) {
            return turn.say(.event(topic.receivers, event))
        }
        turn.say(.event(receivers.map(\.receiver), event))
    }

    /// Delivers an update with errors, which may come from elsewhere in the graph. Each client that may not read
    /// everything gets an event of its own.
    private func deliverShown(_ event: Event, to receivers: [Subscription]) {
        var others: [Subscription] = []
        for receiver in receivers {
            if receiver.client.isPartial {
                say(graph.seeing(as: receiver.client) { shown(event) }, to: [receiver])
            } else {
                others.append(receiver)
            }
        }
        if !others.isEmpty { say(event, to: others) }
    }

    private func shown(_ event: Event) -> Event {
        guard case .update(let revision, let from, let label, _, let isInitial, var changes, let typed) = event else {
            return event
        }
        for position in changes.indices {
            // A removed attribute has the error `removed`.
            guard changes[position].content.failure != nil, let path = try? AttributePath(changes[position].path),
                let place = try? graph.locate(path, looksForNames: false)
            else { continue }
            changes[position].content = graph.shown(changes[position].content, of: place.attribute)
        }
        return .update(
            revision: revision, from: from, label: label, isInitial: isInitial, changes: changes, typed: typed)
    }

    /// Changes a subscription's pending news, which is sent by `flush`.
    func delay(for subscription: Subscription, _ body: (inout Pending) -> Void) {
        guard !subscription.hasEnded else { return }
        delayed[subscription.number] = subscription
        // Taken out of the subscription, so that its sets are not copied.
        var pending = subscription.pending ?? Pending()
        subscription.pending = nil
        body(&pending)
        subscription.pending = pending
    }
}

extension Subscription {
    /// - Returns: whether the event has been queued to follow the answer to the client's batch.
    fileprivate func isOpening(with event: Event) -> Bool { opening?.append(event) != nil }
}

extension Event {
    /// True if the event has an error in place of a value.
    fileprivate var tellsOfErrors: Bool {
        guard case .update(_, _, _, _, _, let changes, _) = self else { return false }
        return changes.tellOfErrors
    }
}

extension [Change] {
    fileprivate var tellOfErrors: Bool { contains { $0.content.failure != nil } }
}
