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
        if graph.hasAnimationModifiers {
            for attribute in invalidated where graph.isAnimationValue(attribute) { _ = graph.content(of: attribute) }
        }
        for attribute in invalidated {
            graph.forEachWatchedBehind(attribute) { collect($0, since: stamp, motion, &news) }
        }
        collectJoined(&news)
        for part in news.topics where !part.left.isEmpty || !part.joined.isEmpty { news.touch(part.topic) }
        deliver(news, since: stamp, label)
        if !structure.isEmpty { deliverStructure(structure) }
        deliverCompletions(news)
        endEmptyTopics()
        for topic in news.overfull { end(topic) }
    }

    /// What one transaction means for the topics, in the order they were touched.
    struct News {
        private(set) var topics: [TopicNews] = []
        private var places: [ObjectIdentifier: Int] = [:]
        private var lastPlace = 0
        /// What the nodes around what changed say of its motion.
        var surroundings = KnownSurroundings()
        /// Attributes whose new content the topics have been given, once some have joined.
        var collected: Set<AttributeID> = []
        var hasJoined = false
        /// Topics with completion events that want to know how it ends.
        var touched: [Topic] = []
        var animated: [AttributeID] = []
        /// What was in motion and got a new target, with the transaction that had moved it.
        var replaced: [(transaction: UInt64, attribute: AttributeID)] = []
        /// Told behind the update, though found before it.
        var completions: [CompletionNews] = []
        /// Topics that would watch more than is left for them.
        var overfull: [Topic] = []

        subscript(topic: Topic) -> TopicNews {
            get { places[ObjectIdentifier(topic)].map { topics[$0] } ?? TopicNews(topic: topic) }
            _modify {
                let place: Int
                if lastPlace < topics.count, topics[lastPlace].topic === topic {
                    place = lastPlace
                } else if let known = places[ObjectIdentifier(topic)] {
                    place = known
                } else {
                    place = topics.count
                    places[ObjectIdentifier(topic)] = place
                    topics.append(TopicNews(topic: topic))
                }
                lastPlace = place
                yield &topics[place]
            }
        }

        mutating func touch(_ topic: Topic) {
            guard topic.key.events.contains(.completion), touched.last !== topic, !touched.contains(where: { $0 === topic }) else { return }
            touched.append(topic)
        }

        mutating func forEachTopic(_ body: (inout TopicNews) -> Void) {
            for place in topics.indices { body(&topics[place]) }
        }
    }

    /// The same for one of them.
    struct TopicNews {
        let topic: Topic
        var changes: [Change] = []
        /// Names that lead nowhere now, and names that are new; one can be both.
        var left: [(attribute: AttributeID, path: String)] = []
        var joined: [(attribute: AttributeID, path: String)] = []
        /// Attributes that may have changed, by the names that are concerned; one that has left needs no reading to be told again.
        var invalidated: [(attribute: AttributeID, paths: [String], hasLeft: Bool)] = []

        /// What an update says of it: each name once.
        var update: [Change] {
            if left.isEmpty { return changes }
            // What has come again by the same name is only another value.
            let live = Set(changes.map(\.path))
            return left.filter { !live.contains($0.path) }.map { GraphRuntime.removal(of: $0.path) } + changes
        }
    }

    private func collect(_ attribute: AttributeID, since stamp: UInt64, _ motion: Motion, _ news: inout News) {
        guard let watch = watches[attribute] else { return }
        for topic in watch.topics where topic.key.events.contains(.invalidate) {
            news[topic].invalidated.append((attribute, topic.paths[attribute] ?? [], false))
        }
        guard watch.topics.contains(where: \.wantsValues) else { return }
        let old = watch.content ?? .value(.null)
        let content = graph.content(of: attribute)
        guard watch.content == nil || graph.hasChanged(attribute, since: stamp) else { return }
        watch.content = content
        if news.hasJoined { news.collected.insert(attribute) }
        let replaced = presentations.running.isEmpty ? nil : presentations.running[attribute]?.id
        let running = present(attribute, from: old, to: content, motion, since: stamp, &news)
        if let running {
            presentations.completions.start(
                running.id, in: revision, logical: running.timeline.logicalCompletion, end: running.timeline.end)
            news.animated.append(attribute)
            graph.stepsLeft -= GraphRuntime.stepsPerMotion + watch.topics.count * GraphRuntime.stepsPerTimeline
        }
        // Described once, however many topics tell of it. Each pays for what is sent.
        var (plain, styled): (Value?, Value?)
        var cost = 0
        for topic in watch.topics where topic.wantsValues {
            news.touch(topic)
            if topic.key.events.contains(.update) {
                var timeline: Value?
                if let running {
                    if topic.key.css {
                        let before = graph.stepsLeft
                        timeline = styled ?? describe(running, replaces: replaced, css: true)
                        if styled == nil { cost = before - graph.stepsLeft } else { graph.stepsLeft -= cost }
                        styled = timeline
                    } else {
                        timeline = plain ?? describe(running, replaces: replaced, css: false)
                        plain = timeline
                    }
                }
                for path in topic.paths[attribute] ?? [] {
                    news[topic].changes.append(Change(path: path, content: content, timeline: timeline))
                }
            }
            if let running {
                startFrames(of: topic, attribute, running)
            } else if !topic.frames.isEmpty {
                // Also where it had arrived and the tick that shows so is still to come.
                stopFrames(of: topic, attribute, isGone: false)
            }
        }
    }

    /// What joined is told as it is now, where that has not been told as a change.
    private func collectJoined(_ news: inout News) {
        guard news.hasJoined else { return }
        let collected = news.collected
        news.forEachTopic { part in
            let topic = part.topic
            guard topic.wantsValues else { return }
            for (attribute, path) in part.joined where !collected.contains(attribute) {
                let content = evaluated(attribute)
                let running = moving(attribute)
                if let running { startFrames(of: topic, attribute, running) }
                guard topic.key.events.contains(.update) else { continue }
                let timeline = running.map { describe($0, replaces: nil, css: topic.key.css) }
                part.changes.append(Change(path: path, content: content, timeline: timeline))
            }
        }
    }

    private func deliver(_ news: News, since stamp: UInt64, _ label: String?) {
        for part in news.topics where !part.topic.isOverfull {
            let topic = part.topic
            let changes = topic.key.events.contains(.update) ? part.update : []
            var direct: [(client: ClientID, subscription: Int64)] = []
            direct.reserveCapacity(topic.members.count)
            for member in topic.members {
                if changes.isEmpty ? isWaiting(member) : isHeldBack(member) {
                    hold(part, isUpdate: !changes.isEmpty, since: stamp, label, for: member.subscription)
                } else {
                    direct.append(member)
                }
            }
            if direct.isEmpty { continue }
            if isTooLong(changes, of: topic) {
                endForLength(direct)
                continue
            }
            if !changes.isEmpty {
                deliver(
                    direct,
                    .update(revision: revision, from: nil, label: label, isInitial: false, changes: changes, typed: topic.key.typed))
            }
            if !part.invalidated.isEmpty { for member in direct { deliverInvalidations(part, to: member) } }
        }
    }

    /// Whether an update must wait: the client is behind, or has had its share for now.
    private func isHeldBack(_ member: (client: ClientID, subscription: Int64)) -> Bool {
        if isWaiting(member) { return true }
        guard let interval = subscriptions[member.subscription]?.interval else { return false }
        if now.monotonic < subscriptions[member.subscription]?.nextAllowed ?? 0 { return true }
        subscriptions[member.subscription]?.nextAllowed = now.monotonic + interval
        return false
    }

    /// Whether all news must wait, so that none overtakes what waits already.
    func isWaiting(_ member: (client: ClientID, subscription: Int64)) -> Bool {
        clients[member.client]?.isBehind == true || subscriptions[member.subscription]?.pending != nil
    }

    private func hold(_ news: TopicNews, isUpdate: Bool, since stamp: UInt64, _ label: String?, for number: Int64) {
        hold(for: number) { pending in
            pending.merge(news)
            guard isUpdate else { return }
            if pending.from == nil {
                pending.from = revision
                pending.since = stamp
                pending.label = label
            } else {
                pending.label = nil
                statistics.conflated += 1
            }
        }
        for (attribute, _) in news.left { subscriptions[number]?.outstanding.remove(attribute) }
    }

    /// Keeps something for a subscription until `flush`.
    func hold(for number: Int64, _ body: (inout Pending) -> Void) {
        // Taken out, so that its sets are changed where they are.
        guard var subscription = subscriptions.removeValue(forKey: number) else { return }
        held.insert(number)
        var pending = subscription.pending ?? Pending()
        subscription.pending = nil
        body(&pending)
        subscription.pending = pending
        subscriptions[number] = subscription
    }

    /// Each path once, until the client has read it.
    private func deliverInvalidations(_ news: TopicNews, to member: (client: ClientID, subscription: Int64)) {
        let number = member.subscription
        var paths: [String] = []
        for (attribute, names, hasLeft) in news.invalidated {
            let isNews =
                hasLeft
                ? subscriptions[number]?.outstanding.remove(attribute) == nil
                : subscriptions[number]?.outstanding.insert(attribute).inserted == true
            if isNews { paths += names }
        }
        // What has come again by the same name is named once.
        if !news.left.isEmpty {
            var seen: Set<String> = []
            paths.removeAll { !seen.insert($0).inserted }
        }
        if !paths.isEmpty { deliver([member], .invalidate(revision: revision, paths: paths)) }
    }

    // MARK: Structure

    private func applyStructure(_ structure: StructureChange, _ news: inout News) {
        if !structure.removedAttributes.isEmpty || !structure.movedNodes.isEmpty { lastRemoval = revision }
        if !structure.isEmpty { lastStructureChange = revision }
        changedNames.append(structure, at: revision, in: graph)
        for attribute in structure.removedAttributes { leave(attribute, &news) }
        news.forEachTopic { part in part.topic.remove(Set(part.left.map(\.attribute))) }
        guard !topics.isEmpty else { return }
        let moved = structure.movedNodes.filter { graph.isAlive($0.node) }
        let left = moved.flatMap { leave(below: AttributePath.describe(nodes: $0.from), &news) }
        let movedNodes = moved.flatMap { graph.nodes(below: $0.node) }
        let attributes = structure.addedAttributes.filter(graph.isAlive) + movedNodes.flatMap(graph.attributes)
        for attribute in attributes { join(attribute, &news) }
        for node in structure.addedInstances + movedNodes where graph.isAlive(node) { joinIndex(of: node, &news) }
        for attribute in left where watches[attribute]?.topics.isEmpty == true { news.completions += endWatching(attribute) }
    }

    /// A removed attribute leaves all topics. They know its names until all that went with it have left, for completions.
    private func leave(_ attribute: AttributeID, _ news: inout News) {
        guard let watch = watches[attribute] else { return }
        news.completions += endWatching(attribute)
        for topic in watch.topics {
            stopFrames(of: topic, attribute, isGone: true)
            for path in topic.paths[attribute] ?? [] { leave(attribute, path, topic, &news) }
        }
    }

    /// What stood below a node that has another path now leaves the topics that know it by the old one. O(names they know).
    /// - Returns: attributes that have left a topic altogether.
    private func leave(below old: String, _ news: inout News) -> [AttributeID] {
        var left: [AttributeID] = []
        for topic in orderedTopics {
            for (attribute, path) in topic.forgetNames(below: old) {
                leave(attribute, path, topic, &news)
                stopFrames(of: topic, attribute, isGone: true)
                if topic.paths[attribute] == nil {
                    watches[attribute]?.topics.removeAll { $0 === topic }
                    left.append(attribute)
                } else if let running = moving(attribute) {
                    startFrames(of: topic, attribute, running)
                }
            }
        }
        return left
    }

    private func leave(_ attribute: AttributeID, _ path: String, _ topic: Topic, _ news: inout News) {
        news[topic].left.append((attribute, path))
        if topic.key.events.contains(.invalidate) { news[topic].invalidated.append((attribute, [path], true)) }
    }

    /// An attribute that is new or has a new name joins the topics whose patterns name it.
    private func join(_ attribute: AttributeID, _ news: inout News) {
        guard let (node, name) = graph.owner(of: attribute) else { return }
        let entries = patternIndex.entries(naming: name, at: graph.ids(of: node))
        if entries.isEmpty { return }
        let whole = graph.path(of: attribute)
        var joined: Topic?
        for entry in entries where !entry.topic.isOverfull {
            let topic = entry.topic
            let steps = topic.patterns[entry.position].steps
            // A topic's patterns follow each other. All that name the whole attribute come to the same.
            if steps.isEmpty, joined === topic { continue }
            if steps.isEmpty { joined = topic }
            let vertex = graph.watchable(Place(attribute, steps))
            let isKnown = topic.paths[vertex] != nil
            guard isKnown || watchLedger.count < limits.watchedAttributes else {
                topic.isOverfull = true
                news.overfull.append(topic)
                continue
            }
            let path = whole + steps.map(\.description).joined()
            guard topic.add(vertex, path) else { continue }
            if !isKnown { watch(vertex, for: topic) }
            news.hasJoined = true
            news[topic].joined.append((vertex, path))
            if topic.key.events.contains(.invalidate) { news[topic].invalidated.append((vertex, [path], false)) }
        }
    }

    /// An instance's index is made for those who name it.
    private func joinIndex(of node: NodeID, _ news: inout News) {
        guard let name = graph.indexName(of: node) else { return }
        let isNamed = !patternIndex.entries(naming: name, at: graph.ids(of: node)).isEmpty
        if isNamed, let index = graph.index(of: node) { join(index, &news) }
    }

    /// A subscription that named paths, not patterns, has nothing more to hear once all of them are gone.
    private func endEmptyTopics() {
        // Only a removal empties a topic.
        guard lastRemoval == revision else { return }
        for topic in orderedTopics where topic.order.isEmpty && topic.patterns.allSatisfy(isGone) {
            for member in topic.members {
                flush(member.subscription)
                deliver([member], .ended(.removed, reason: "all that the subscription named has been removed"))
                end(member.subscription)
            }
        }
    }

    /// What its patterns match has become more than can be watched: rather than to leave some out it ends.
    private func end(_ topic: Topic) {
        deliver(topic.members, .ended(.limit, reason: "\(tooManyWatched.message) (watched-attributes)"))
        end(topic.members.map(\.subscription))
    }

    /// Whether what a pattern names will not come again: a path whose node is not there any more, or has lost the attribute.
    private func isGone(_ pattern: PathPattern) -> Bool {
        guard let exact = pattern.exact else { return false }
        return exact.attribute != nil || (try? graph.node(at: exact.nodes)) == nil
    }

    func deliver(_ recipients: [(client: ClientID, subscription: Int64)], _ event: Event) {
        guard openings.isEmpty else { return deliver(recipients, event, around: openings) }
        statistics.events += UInt64(recipients.count)
        if !access.rules.isEmpty, event.tellsOfErrors { return deliverShown(recipients, event) }
        outcome.deliveries.append(.event(recipients, event))
        if !bookmarkReaders.isEmpty { noteBookmarks(for: recipients, behind: event) }
    }

    /// Some subscriptions are not answered yet: their events wait for that.
    private func deliver(
        _ recipients: [(client: ClientID, subscription: Int64)], _ event: Event, around waiting: [Int64: [Event]]
    ) {
        for recipient in recipients where waiting[recipient.subscription] != nil { openings[recipient.subscription]?.append(event) }
        let others = recipients.filter { waiting[$0.subscription] == nil }
        if others.isEmpty { return }
        statistics.events += UInt64(others.count)
        outcome.deliveries.append(.event(others, event))
        if !bookmarkReaders.isEmpty { noteBookmarks(for: others, behind: event) }
    }

    /// An update with errors, which may come from elsewhere: each client that may not read everything gets one of its own.
    private func deliverShown(_ recipients: [(client: ClientID, subscription: Int64)], _ event: Event) {
        var others: [(client: ClientID, subscription: Int64)] = []
        for recipient in recipients {
            if clients[recipient.client]?.grants?.isPartial == true {
                let shown = seeing(as: recipient.client) { self.shown(event) }
                outcome.deliveries.append(.event([recipient], shown))
            } else {
                others.append(recipient)
            }
        }
        if !others.isEmpty { outcome.deliveries.append(.event(others, event)) }
    }

    private func shown(_ event: Event) -> Event {
        guard case .update(let revision, let from, let label, let isInitial, var changes, let typed) = event else { return event }
        for position in changes.indices {
            // What has been removed has an error of its own.
            guard changes[position].content.failure != nil, let path = try? AttributePath(changes[position].path), let place = try? graph.locate(path, looksForNames: false)
            else { continue }
            changes[position].content = graph.shown(changes[position].content, of: place.attribute)
        }
        return .update(revision: revision, from: from, label: label, isInitial: isInitial, changes: changes, typed: typed)
    }
}

extension Event {
    /// Whether an attribute in it has an error in the place of a value.
    fileprivate var tellsOfErrors: Bool {
        guard case .update(_, _, _, _, let changes, _) = self else { return false }
        return changes.contains { $0.content.failure != nil }
    }
}
