import AttributeGraph
import AttributeValues
import Timelines
import ViewGraph
import WireProtocol

// After a transaction: who hears what. Each watched rule that may have changed is evaluated once, however many watch it, and
// each topic's event is put together once, however many subscribe to it.

extension GraphRuntime {
    /// - Parameters:
    ///   - stamp: the engine's clock before the transaction.
    ///   - motion: how its changes are animated.
    func publish(since stamp: UInt64, _ motion: Motion, _ label: String?) {
        let structure = graph.takeStructureChange()
        var news = News()
        applyStructure(structure, &news)
        let invalidated = graph.takeInvalidated()
        for attribute in invalidated where graph.isAnimationValue(attribute) { _ = graph.content(of: attribute) }
        for attribute in invalidated {
            graph.forEachWatchedBehind(attribute) { collect($0, since: stamp, motion, &news) }
        }
        deliver(news, label)
        if !structure.isEmpty { deliverStructure(structure) }
        deliverCompletions(news)
        endEmptyTopics()
    }

    /// What one transaction means for the topics, in the order they were touched.
    struct News {
        var topics: [Topic] = []
        var changes: [ObjectIdentifier: [(attribute: AttributeID?, change: Change)]] = [:]
        var invalidated: [ObjectIdentifier: [AttributeID]] = [:]
        /// Topics with completion events that want to know how it ends.
        var touched: [Topic] = []
        var animated: [AttributeID] = []
        /// What was in motion and got a new target, with the transaction that had moved it.
        var replaced: [(transaction: UInt64, attribute: AttributeID)] = []
        /// Told behind the update, though found before it.
        var completions: [CompletionNews] = []

        mutating func touch(_ topic: Topic) {
            if changes[ObjectIdentifier(topic)] == nil, invalidated[ObjectIdentifier(topic)] == nil { topics.append(topic) }
        }

        mutating func add(_ change: Change, _ attribute: AttributeID?, _ topic: Topic) {
            touch(topic)
            changes[ObjectIdentifier(topic), default: []].append((attribute, change))
        }

        mutating func invalidate(_ attribute: AttributeID, _ topic: Topic) {
            touch(topic)
            invalidated[ObjectIdentifier(topic), default: []].append(attribute)
        }
    }

    private func collect(_ attribute: AttributeID, since stamp: UInt64, _ motion: Motion, _ news: inout News) {
        guard let watch = watches[attribute] else { return }
        for topic in watch.topics where topic.key.events.contains(.invalidate) { news.invalidate(attribute, topic) }
        guard watch.topics.contains(where: \.wantsValues) else { return }
        let old = watch.content ?? .value(.null)
        let content = graph.content(of: attribute)
        guard watch.content == nil || graph.hasChanged(attribute, since: stamp) else { return }
        watches[attribute]?.content = content
        let replaced = presentations.running[attribute]?.id
        let running = present(attribute, from: old, to: content, motion, since: stamp, &news)
        if let running {
            presentations.completions.start(
                running.id, in: revision, logical: running.timeline.logicalCompletion, end: running.timeline.end)
            news.animated.append(attribute)
        }
        for topic in watch.topics where topic.wantsValues {
            if topic.key.events.contains(.completion), news.touched.last !== topic, !news.touched.contains(where: { $0 === topic }) {
                news.touched.append(topic)
            }
            if topic.key.events.contains(.update) {
                let timeline = running.map { describe($0, replaces: replaced, css: topic.key.css) }
                for path in topic.paths[attribute] ?? [] {
                    news.add(Change(path: path, content: content, timeline: timeline), attribute, topic)
                }
            }
            if let running {
                startFrames(of: topic, attribute, running)
            } else {
                // Also where it had arrived and the tick that shows so is still to come.
                stopFrames(of: topic, attribute, isGone: false)
            }
        }
    }

    private func deliver(_ news: News, _ label: String?) {
        for topic in news.topics {
            if let changes = news.changes[ObjectIdentifier(topic)], topic.key.events.contains(.update) {
                deliverUpdate(changes, of: topic, label)
            }
            if let attributes = news.invalidated[ObjectIdentifier(topic)] { deliverInvalidations(attributes, of: topic) }
        }
    }

    private func deliverUpdate(_ changes: [(attribute: AttributeID?, change: Change)], of topic: Topic, _ label: String?) {
        var direct: [(client: ClientID, subscription: Int64)] = []
        direct.reserveCapacity(topic.members.count)
        for member in topic.members {
            if isHeldBack(member) {
                hold(changes, for: member.subscription, label)
            } else {
                direct.append(member)
            }
        }
        guard !direct.isEmpty else { return }
        deliver(
            direct,
            .update(
                revision: revision, from: nil, label: label, isInitial: false, changes: changes.map(\.change),
                typed: topic.key.typed))
        for member in direct where subscriptions[member.subscription]?.bookmarks == true {
            deliver([member], .bookmark(epoch: epoch, revision: revision))
        }
    }

    /// Whether news must wait: the client is behind, or has had its share for now.
    private func isHeldBack(_ member: (client: ClientID, subscription: Int64)) -> Bool {
        if clients[member.client]?.isBehind == true { return true }
        guard let subscription = subscriptions[member.subscription], let interval = subscription.interval else { return false }
        if subscription.pendingFrom != nil || now.monotonic < subscription.nextAllowed { return true }
        subscriptions[member.subscription]?.nextAllowed = now.monotonic + interval
        return false
    }

    private func hold(_ changes: [(attribute: AttributeID?, change: Change)], for number: Int64, _ label: String?) {
        guard var subscription = subscriptions.removeValue(forKey: number) else { return }
        held.insert(number)
        if subscription.pendingFrom == nil {
            subscription.pendingFrom = revision
            subscription.pendingLabel = label
        } else {
            subscription.pendingLabel = nil
            statistics.conflated += 1
        }
        for (attribute, change) in changes {
            if let attribute {
                subscription.pending.insert(attribute)
            } else {
                subscription.pendingRemoved.append(change.path)
            }
        }
        subscriptions[number] = subscription
    }

    /// Each path once, until the client has read it.
    private func deliverInvalidations(_ attributes: [AttributeID], of topic: Topic) {
        for member in topic.members {
            guard let outstanding = subscriptions[member.subscription]?.outstanding else { continue }
            let fresh = attributes.filter { !outstanding.contains($0) }
            guard !fresh.isEmpty else { continue }
            subscriptions[member.subscription]?.outstanding.formUnion(fresh)
            deliver([member], .invalidate(revision: revision, paths: fresh.flatMap { topic.paths[$0] ?? [] }))
        }
    }

    // MARK: Structure

    private func applyStructure(_ structure: StructureChange, _ news: inout News) {
        if !structure.removedAttributes.isEmpty {
            var gone: [ObjectIdentifier: (Topic, Set<AttributeID>)] = [:]
            for attribute in structure.removedAttributes {
                guard let watch = watches.removeValue(forKey: attribute) else { continue }
                if let running = presentations.running.removeValue(forKey: attribute) {
                    presentations.attributes[running.id] = nil
                    news.completions += completions(presentations.completions.remove(running.id, at: now.monotonic))
                }
                for topic in watch.topics {
                    stopFrames(of: topic, attribute, isGone: true)
                    for path in topic.paths[attribute] ?? [] {
                        news.add(Change(path: path, content: .failure(GraphRuntime.removed)), nil, topic)
                    }
                    gone[ObjectIdentifier(topic), default: (topic, [])].1.insert(attribute)
                }
            }
            for (topic, attributes) in gone.values { topic.remove(attributes) }
            lastRemoval = revision
        }
        guard !structure.addedAttributes.isEmpty, !topics.isEmpty else { return }
        let topics = orderedTopics.filter(\.watchesAttributes)
        for attribute in structure.addedAttributes where graph.isAlive(attribute) { join(attribute, topics, &news) }
        for node in structure.addedInstances where graph.isAlive(node) {
            // An instance's index is made for those who name it.
            guard let name = graph.indexName(of: node) else { continue }
            let isNamed = topics.contains { topic in
                topic.patterns.contains { $0.attribute.map { $0 == name } ?? true && graph.matches($0, node) }
            }
            if isNamed, let index = graph.index(of: node) { join(index, topics, &news) }
        }
    }

    /// A new attribute joins the topics whose patterns name it.
    private func join(_ attribute: AttributeID, _ topics: [Topic], _ news: inout News) {
        guard let (node, name) = graph.owner(of: attribute) else { return }
        for topic in topics {
            for pattern in topic.patterns
            where pattern.attribute.map({ $0 == name }) ?? true && graph.matches(pattern, node) {
                let vertex = graph.watchable(Place(attribute, pattern.steps))
                let path = graph.path(of: attribute) + pattern.steps.map(\.description).joined()
                guard topic.add(vertex, path) else { continue }
                watch(vertex, for: topic)
                if topic.wantsValues {
                    news.add(Change(path: path, content: evaluated(vertex)), vertex, topic)
                }
            }
        }
    }

    /// A subscription that named paths, not patterns, has nothing more to hear once all of them are gone.
    private func endEmptyTopics() {
        // Only a removal empties a topic.
        guard lastRemoval == revision else { return }
        for topic in orderedTopics where topic.order.isEmpty && topic.patterns.allSatisfy(isGone) {
            for member in topic.members {
                if subscriptions[member.subscription]?.pendingFrom != nil { flush(member.subscription) }
                deliver([member], .ended(reason: "all that the subscription named has been removed"))
                end(member.subscription)
            }
        }
    }

    /// Whether what a pattern names will not come again: a path whose node is not there any more, or has lost the attribute.
    private func isGone(_ pattern: PathPattern) -> Bool {
        guard let exact = pattern.exact else { return false }
        return exact.attribute != nil || (try? graph.node(at: exact.nodes)) == nil
    }

    func deliver(_ recipients: [(client: ClientID, subscription: Int64)], _ event: Event) {
        statistics.events += UInt64(recipients.count)
        outcome.deliveries.append(.event(recipients, event))
    }
}
