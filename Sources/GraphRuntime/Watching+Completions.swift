import AttributeGraph
import ViewGraph
import WireProtocol

// Ends of motions. A subscription is told of the transactions that touched its attributes: `logical` and `removed`,
// each once, and `replaced` if a later change took over. A transaction that moved nothing is complete at once.

extension Watching {
    /// Called at the end of a transaction: tells of motions that it took over, that ended with it, or that are complete
    /// at once.
    func deliverCompletions(_ news: News) {
        if !news.replaced.isEmpty { deliver(replacements(news.replaced)) }
        deliver(news.completions)
        if news.animated.isEmpty, news.touched.isEmpty { return }
        deliver(completionNews(presentations.seal(history.revision, moved: news.animated, news.touched.map(\.number))))
    }

    /// True if somebody waits for the end of an animated write that has changed nothing. It is complete at once.
    func isAwaited(_ change: Commit, _ motion: Motion?) -> Bool {
        !change.equal.isEmpty && topics.inOrder.contains { awaits(change, motion, $0) }
    }

    func awaits(_ change: Commit, _ motion: Motion?, _ topic: Topic) -> Bool {
        guard topic.key.events.contains(.completion) else { return false }
        let states = change.equal.filter { motion?.animation != nil || change.bindingAnimations[$0] != nil }
        return !states.isEmpty && topic.order.contains { states.contains(graph.storingState(of: $0)) }
    }

    func deliver(_ news: [CompletionNews]) {
        for news in news {
            let members = news.topic.members
            let direct = members.filter { !$0.isWaiting }
            for member in members where member.isWaiting { delay(news.completion, for: member) }
            sender.send(Event(news.completion, at: history.revision), to: direct)
        }
    }

    /// Retains a completion. When there are too many, all pending news is sent although the client is behind, so that
    /// memory stays bounded.
    private func delay(_ completion: Completion, for subscription: Subscription) {
        sender.delay(for: subscription) { $0.completions.append(completion) }
        if subscription.pending?.completions.count ?? 0 >= limits.pendingCompletions { flush(subscription) }
    }

    /// The events for ends of motions, by topic.
    func completionNews(_ ends: [Presentations.End]) -> [CompletionNews] {
        ends.flatMap { completionNews(of: $0.transaction, $0.moves, $0.phase) }
    }

    private func completionNews(of transaction: UInt64, _ moves: Presentations.Moves, _ phase: String)
        -> [CompletionNews]
    {
        guard topics.completionCount > 0 else { return [] }
        return topics.inOrder.compactMap { topic in
            guard topic.key.events.contains(.completion) else { return nil }
            let paths = moves.attributes.flatMap { topic.paths[$0] ?? [] }
            guard !paths.isEmpty || moves.topics.contains(topic.number) else { return nil }
            return CompletionNews(
                topic: topic, completion: Completion(transaction: transaction, phase: phase, paths: paths))
        }
    }

    /// One event for each transaction that lost motions to this one.
    private func replacements(_ replaced: [(transaction: UInt64, attribute: AttributeID)]) -> [CompletionNews] {
        let transactions = Dictionary(grouping: replaced, by: \.transaction).sorted { $0.key < $1.key }
        return transactions.flatMap { transaction, members in
            let moves = Presentations.Moves(attributes: members.map(\.attribute), topics: [])
            return completionNews(of: transaction, moves, "replaced")
        }
    }

    /// Stops watching an attribute, which ends its motion.
    /// - Returns: the events for the end of its motion.
    func stopWatching(_ attribute: AttributeID) -> [CompletionNews] {
        topics.unwatch(attribute)
        return completionNews(presentations.stop(attribute))
    }
}
