import AttributeGraph
import Timelines
import WireProtocol

// When motions end. A subscription hears of the transactions that touched what it watches: `logical` and `removed`, each once,
// and `replaced` where a later change took over. A transaction that moved nothing is complete at once.

/// One completion event and who hears it, with the names by which they know what moved.
struct CompletionNews {
    var topic: Topic
    var completion: Completion
}

/// How motions of one transaction ended.
struct Completion {
    var transaction: UInt64
    var phase: String
    var paths: [String]

    func event(at revision: UInt64) -> Event {
        .completion(revision: revision, transaction: transaction, phase: phase, paths: paths)
    }
}

extension GraphRuntime {
    /// What the engine's events mean for those who watch; also lets go of what has ended.
    func completions(_ events: [CompletionTracker.Event]) -> [CompletionNews] {
        var news: [CompletionNews] = []
        for event in events {
            switch event {
            case .ended(let id):
                if let attribute = presentations.attributes.removeValue(forKey: id) { presentations.running[attribute] = nil }
            case .logical(let transaction):
                if let moves = presentations.moves[transaction] { news += completions(of: transaction, moves, "logical") }
            case .removed(let transaction):
                if let moves = presentations.moves.removeValue(forKey: transaction) {
                    news += completions(of: transaction, moves, "removed")
                }
            }
        }
        return news
    }

    /// At the end of a transaction: what it took over, what ended with it, and what is complete at once.
    func deliverCompletions(_ news: News) {
        deliver(replacements(news.replaced))
        deliver(news.completions)
        let sealed = presentations.completions.seal(revision, at: now.monotonic)
        if !news.animated.isEmpty || !news.touched.isEmpty {
            presentations.moves[revision] = Presentations.Moves(attributes: news.animated, topics: news.touched.map(\.number))
        }
        deliver(completions(sealed))
    }

    func deliver(_ news: [CompletionNews]) {
        for news in news {
            let direct = news.topic.members.filter { !isWaiting($0) }
            for member in news.topic.members where isWaiting(member) { hold(news.completion, for: member.subscription) }
            if !direct.isEmpty { deliver(direct, news.completion.event(at: revision)) }
        }
    }

    /// So many completions tell a client that is behind little; rather than to grow without end they are sent with all that waits.
    private func hold(_ completion: Completion, for number: Int64) {
        hold(for: number) { $0.completions.append(completion) }
        if subscriptions[number]?.pending?.completions.count ?? 0 >= limits.pendingCompletions { flush(number) }
    }

    private func completions(of transaction: UInt64, _ moves: Presentations.Moves, _ phase: String) -> [CompletionNews] {
        guard completionTopics > 0 else { return [] }
        return orderedTopics.compactMap { topic in
            guard topic.key.events.contains(.completion) else { return nil }
            let paths = moves.attributes.flatMap { topic.paths[$0] ?? [] }
            guard !paths.isEmpty || moves.topics.contains(topic.number) else { return nil }
            return CompletionNews(topic: topic, completion: Completion(transaction: transaction, phase: phase, paths: paths))
        }
    }

    /// One event for each transaction that lost something to this one.
    private func replacements(_ replaced: [(transaction: UInt64, attribute: AttributeID)]) -> [CompletionNews] {
        guard completionTopics > 0, !replaced.isEmpty else { return [] }
        let transactions = Dictionary(grouping: replaced, by: \.transaction).sorted { $0.key < $1.key }
        return transactions.flatMap { transaction, members in
            let moves = Presentations.Moves(attributes: members.map(\.attribute), topics: [])
            return completions(of: transaction, moves, "replaced")
        }
    }
}
