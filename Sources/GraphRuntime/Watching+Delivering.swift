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
        if sender.isDirect, !topic.isPaced { return members }
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
                ? .updateText(revision: history.revision, label: label, writer: writer, changes: sender.text)
                : .update(
                    revision: history.revision, from: nil, label: label, writer: writer, isInitial: false,
                    changes: changes, typed: topic.key.typed)
            sender.send(consume event, to: members)
        }
        return sender.writing(changes, isTyped: topic.key.typed) {
            guard isHidden, let writer else { return tell(writer, members) }
            tell(writer, members.filter { !$0.client.isPartial })
            tell(nil, members.filter(\.client.isPartial))
        }
    }

    private func delay(
        _ topic: Topic, isUpdate: Bool, since stamp: UInt64, _ label: String?, for subscription: Subscription
    ) {
        sender.delay(for: subscription) { pending in
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
        if !paths.isEmpty { sender.send(.invalidate(revision: history.revision, paths: paths), to: [subscription]) }
    }
}
