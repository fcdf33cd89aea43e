import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

extension GraphRuntime {
    /// - Throws: `invalid` for a malformed pattern, `notFound` for a path without wildcard that names nothing, `limit`.
    func subscribe(_ request: Request.Subscribe, _ client: ClientID) throws(Failure) -> Result {
        guard (clients[client]?.subscriptions.count ?? 0) < limits.subscriptionsPerClient else {
            throw Failure(.limit, "at most \(limits.subscriptionsPerClient) subscriptions for one client")
        }
        guard !request.patterns.isEmpty, request.patterns.count <= limits.patternsPerSubscription else {
            throw Failure(.limit, "a subscription names 1 to \(limits.patternsPerSubscription) paths")
        }
        if let rate = request.frameRate, rate > limits.frameRate {
            throw Failure(.limit, "at most \(limits.frameRate) frames a second")
        }
        let topic = try topic(for: request)
        // Before the subscription counts, so that its own news begins with the snapshot.
        updateScenePhase(isWatched: true)
        let number = nextSubscription
        nextSubscription += 1
        let frameRate = request.events.contains(.frames) ? request.frameRate ?? 30 : nil
        subscriptions[number] = Subscription(
            client: client, topic: topic, interval: request.maxRate.map { 1 / $0 })
        clients[client]?.subscriptions.insert(number)
        clients[client]?.beginning.append(number)
        openings[number] = []
        topic.members.append((client, number))
        let newView = frameRate.flatMap { addFrames(of: topic, at: $0, for: (client, number)) }
        let isResumed: Bool
        do throws(Failure) { isResumed = try open(request, topic, (client, number)) } catch {
            end(number)
            openings[number] = nil
            throw error
        }
        if request.bookmarks {
            bookmarkReaders.insert(number)
            bookmarksDue.insert(number)
        }
        if let newView { startFrames(of: newView) }
        guard request.since != nil else { return .subscribed(subscription: number, epoch: epoch, revision: revision) }
        return .value([
            "subscription": .int(number), "epoch": .string(epoch), "revision": .int(Int64(clamping: revision)),
            "resumed": .bool(isResumed),
        ])
    }

    /// Tells a new subscription where it begins: with a snapshot, or with what the client has missed.
    /// - Returns: whether it goes on from the place that the request names.
    private func open(
        _ request: Request.Subscribe, _ topic: Topic, _ member: (client: ClientID, subscription: Int64)
    ) throws(Failure) -> Bool {
        if let position = request.since, let missed = missed(since: position, of: topic) {
            try admit(missed.update, of: topic, for: member.client)
            if !missed.update.isEmpty { deliver(missed.update, of: topic, to: member) }
            if !missed.paths.isEmpty {
                subscriptions[member.subscription]?.outstanding.formUnion(missed.invalidated)
                deliver([member], .invalidate(revision: revision, paths: missed.paths))
            }
            return true
        }
        if request.initial || request.since != nil, request.events.contains(.update) {
            let snapshot = changes(topic.order, of: topic)
            try admit(snapshot, of: topic, for: member.client)
            deliver(snapshot, of: topic, isInitial: true, to: member)
        } else if topic.wantsValues {
            for attribute in topic.order { _ = evaluated(attribute) }
        }
        return false
    }

    /// The client has been told of its new subscriptions: their first events follow, and what has come meanwhile.
    func beginSubscriptions(of client: ClientID) {
        guard clients[client]?.isInBatch == false, let numbers = clients[client]?.beginning else { return }
        clients[client]?.beginning = []
        for number in numbers {
            guard let events = openings.removeValue(forKey: number) else { continue }
            for event in events { deliver([(client, number)], event) }
            flush(number)
        }
    }

    private func topic(for request: Request.Subscribe) throws(Failure) -> Topic {
        let key = TopicKey(patterns: request.patterns, events: request.events, typed: request.typed, css: request.css)
        if let existing = topics[key] { return existing }
        var patterns: [PathPattern] = []
        for text in request.patterns { patterns.append(try PathPattern(text)) }
        let made = Topic(key: key, number: nextTopic, patterns: patterns, watchLedger)
        nextTopic += 1
        guard watchLedger.count <= limits.watchedAttributes else { throw tooManyWatched }
        for pattern in patterns { try join(pattern, to: made) }
        topics[key] = made
        if made.watchesAttributes { patternIndex.insert(made) }
        if key.events.contains(.completion) { completionTopics += 1 }
        for attribute in made.order { watch(attribute, for: made) }
        return made
    }

    /// Adds what a pattern matches now.
    private func join(_ pattern: PathPattern, to topic: Topic) throws(Failure) {
        if let exact = pattern.exact {
            guard exact.attribute != nil else {
                _ = try graph.node(at: exact.nodes)
                guard topic.watchesAttributes else { return }
                try graph.forEachAttribute(matching: pattern) { (attribute, path) throws(Failure) in try add(attribute, path, to: topic) }
                return
            }
            let place = try graph.locate(exact)
            return try add(graph.watchable(place), exact.description, to: topic)
        }
        guard topic.watchesAttributes else { return }
        let steps = pattern.steps
        try graph.forEachAttribute(matching: pattern) { (attribute, path) throws(Failure) in
            let vertex = graph.watchable(Place(attribute, steps))
            try add(vertex, path + steps.map(\.description).joined(), to: topic)
        }
    }

    private func add(_ vertex: AttributeID, _ path: String, to topic: Topic) throws(Failure) {
        _ = topic.add(vertex, path)
        guard watchLedger.count <= limits.watchedAttributes else { throw tooManyWatched }
    }

    /// What is told to whom would watch more than all together may.
    var tooManyWatched: Failure {
        Failure(
            .limit, "at most \(limits.watchedAttributes) attributes are watched by all subscriptions together",
            hint: "watch less; watched-attributes is the limit")
    }

    func watch(_ attribute: AttributeID, for topic: Topic) {
        if let known = watches[attribute] {
            known.topics.append(topic)
        } else {
            graph.watch(attribute)
            watches.insert(attribute).topics.append(topic)
        }
        if topic.wantsValues {
            graph.prepareAnimations(for: attribute)
        } else {
            graph.watchSources(of: attribute)
        }
    }

    /// Topics that have ended watch the attribute no more.
    private func unwatch(_ attribute: AttributeID) {
        guard let watch = watches[attribute] else { return }
        watch.topics.removeAll(where: \.hasEnded)
        if watch.topics.isEmpty { deliver(endWatching(attribute)) }
    }

    /// Nobody watches the attribute any more: it does not move, either.
    /// - Returns: what that means for those who wait for the motion's end.
    func endWatching(_ attribute: AttributeID) -> [CompletionNews] {
        watches.remove(attribute)
        graph.unwatch(attribute)
        guard let running = presentations.running.removeValue(forKey: attribute) else { return [] }
        presentations.attributes[running.id] = nil
        return completions(presentations.completions.remove(running.id, at: now.monotonic))
    }

    func unsubscribe(_ subscription: Int64, _ client: ClientID) throws(Failure) -> Result {
        guard subscriptions[subscription]?.client == client else {
            throw Failure(.notFound, "no subscription \(subscription) of this client")
        }
        end(subscription)
        openings[subscription] = nil
        updateScenePhase()
        return .revision(revision)
    }

    func end(_ number: Int64) { end(CollectionOfOne(number)) }

    /// Ends subscriptions. O(attributes that their topics watch, and topics that watch the same).
    func end(_ numbers: some Collection<Int64>) {
        var empty: [Topic] = []
        for number in numbers.sorted() {
            guard let subscription = subscriptions.removeValue(forKey: number) else { continue }
            held.remove(number)
            bookmarkReaders.remove(number)
            bookmarksDue.remove(number)
            clients[subscription.client]?.subscriptions.remove(number)
            let topic = subscription.topic
            topic.members.removeAll { $0.subscription == number }
            endFrames(of: topic, for: number)
            if topic.members.isEmpty { empty.append(topic) }
        }
        for topic in empty {
            topic.hasEnded = true
            topics[topic.key] = nil
            if topic.watchesAttributes { patternIndex.remove(topic) }
            if topic.key.events.contains(.completion) { completionTopics -= 1 }
        }
        // The first topic that watches an attribute takes away all that have ended with it.
        for topic in empty { for attribute in topic.order { unwatch(attribute) } }
    }

    /// `active` while somebody watches.
    /// - Parameter isWatched: somebody is about to.
    func updateScenePhase(isWatched: Bool = false) {
        let phase: Value = subscriptions.isEmpty && !isWatched ? "background" : "active"
        guard graph.systemValue("scenePhase") != phase else { return }
        let stamp = graph.stamp
        graph.setSystemValue("scenePhase", phase)
        advanceRevision(nil, "scenePhase", since: stamp, writes: [])
        publish(since: stamp, .none, "scenePhase")
    }

    // MARK: Catching up

    /// The watched attribute's content, evaluated now, and remembered for comparison with the next one.
    func evaluated(_ attribute: AttributeID) -> Content {
        let content = graph.content(of: attribute)
        watches[attribute]?.content = content
        return content
    }

    func changes(_ attributes: some Sequence<AttributeID>, of topic: Topic) -> [Change] {
        var changes: [Change] = []
        for attribute in attributes {
            guard let paths = topic.paths[attribute] else { continue }
            let content = evaluated(attribute)
            let timeline = moving(attribute).map { describe($0, replaces: nil, css: topic.key.css) }
            for path in paths { changes.append(Change(path: path, content: content, timeline: timeline)) }
        }
        return changes
    }

    /// Holds a snapshot against what a client may be sent at once.
    private func admit(_ snapshot: [Change], of topic: Topic, for client: ClientID) throws(Failure) {
        var room = longestAnswer
        snapshot.draw(from: &room, isTyped: topic.key.typed)
        let size = longestAnswer - room
        let sent = clients[client]?.takeNote(of: size, in: statistics.turns, atMost: longestAnswer) ?? 0
        guard sent + size <= longestAnswer else {
            throw Failure(
                .limit,
                sent == 0
                    ? "the snapshot would have more than \(longestAnswer) bytes"
                    : "with what comes before it the snapshot would have more than \(longestAnswer) bytes",
                hint: "subscribe to less at once, or without initial; output-maximum is the limit")
        }
    }

    /// Whether the snapshots of this turn are so long that a client should take them before it asks for more.
    func hasLongSnapshots(_ client: ClientID) -> Bool {
        clients[client].map { $0.bytesSent(in: statistics.turns) > longestAnswer / GraphRuntime.longSnapshots } ?? false
    }

    /// The part of the longest answer that counts as long.
    private static let longSnapshots = 64

    /// One update of one subscription; one that is longer than a client may be sent ends it, since none can be left out.
    private func deliver(
        _ changes: [Change], of topic: Topic, from: UInt64? = nil, label: String? = nil, isInitial: Bool = false,
        to member: (client: ClientID, subscription: Int64)
    ) {
        if !isInitial, isTooLong(changes, of: topic) { return endForLength([member]) }
        deliver(
            [member],
            .update(revision: revision, from: from, label: label, isInitial: isInitial, changes: changes, typed: topic.key.typed))
    }

    /// Whether an update would have more bytes than a client may be sent at once. O(parts of the values).
    func isTooLong(_ changes: [Change], of topic: Topic) -> Bool {
        var room = longestAnswer
        changes.draw(from: &room, isTyped: topic.key.typed)
        return room < 0
    }

    func endForLength(_ members: [(client: ClientID, subscription: Int64)]) {
        deliver(members, .ended(.limit, reason: "an update would have more than \(longestAnswer) bytes (output-maximum)"))
        for member in members { end(member.subscription) }
    }

    /// Whoever is told of a revision gets a bookmark at the end of the turn.
    func noteBookmarks(for recipients: [(client: ClientID, subscription: Int64)], behind event: Event) {
        switch event {
        case .update, .invalidate, .structure, .completion: break
        case .frames, .frameSheet, .bookmark, .ended: return
        }
        for recipient in recipients where bookmarkReaders.contains(recipient.subscription) { bookmarksDue.insert(recipient.subscription) }
    }

    /// When bookmarks are due for those who have been told nothing since revisions have advanced; nil: there is nothing to say.
    var nextBookmarks: Double? {
        bookmarkReaders.isEmpty || bookmarkRound.revision == revision ? nil : bookmarkRound.time + limits.bookmarkInterval
    }

    /// At the end of a turn: for those who have been told something, and now and then for all others. Where nothing that is watched
    /// changes, a client still learns from where it could resume.
    func deliverDueBookmarks() {
        if let round = nextBookmarks, round <= now.monotonic {
            bookmarkRound = (revision, now.monotonic)
            bookmarksDue.formUnion(bookmarkReaders.filter { subscriptions[$0].map { $0.bookmarked < revision } ?? false })
        }
        if bookmarksDue.isEmpty { return }
        // The others are told when what waits for them has been sent.
        let ready = bookmarksDue.sorted().filter { mayFlush($0) && subscriptions[$0]?.pending == nil }
        if ready.isEmpty { return }
        bookmarksDue.subtract(ready)
        for number in ready { subscriptions[number]?.bookmarked = revision }
        deliver(ready.compactMap { number in subscriptions[number].map { ($0.client, number) } }, .bookmark(epoch: epoch, revision: revision))
    }

    /// The client drains again: one event with the newest value of each path that changed meanwhile.
    func catchUp(_ client: ClientID) {
        guard clients[client]?.isBehind == true else { return }
        clients[client]?.isBehind = false
        for number in (clients[client]?.subscriptions ?? []).sorted() where mayFlush(number) { flush(number) }
    }

    /// Whether a subscription could take what is kept for it, as far as its client goes.
    func mayFlush(_ number: Int64) -> Bool {
        guard let client = subscriptions[number]?.client, openings[number] == nil else { return false }
        return clients[client]?.isBehind != true
    }

    /// Sends what a subscription has pending: one update that says which revisions it spans, and behind it what would have
    /// overtaken it.
    func flush(_ number: Int64) {
        guard let pending = subscriptions[number]?.pending, let subscription = subscriptions[number] else { return }
        held.remove(number)
        subscriptions[number]?.pending = nil
        let topic = subscription.topic
        let member = (subscription.client, number)
        if let from = pending.from {
            let changes =
                pending.left.sorted().map(GraphRuntime.removal) + changes(topic.order.filter { pending.hasChanged($0, in: graph) }, of: topic)
            // What came and went again leaves nothing to tell.
            if !changes.isEmpty {
                if let interval = subscription.interval { subscriptions[number]?.nextAllowed = now.monotonic + interval }
                deliver(changes, of: topic, from: from == revision ? nil : from, label: pending.label, to: member)
            }
        }
        guard subscriptions[number] != nil else { return }
        flushInvalidations(pending, of: topic, to: member)
        deliver(pending.structure.paths, to: [member])
        for completion in pending.completions { deliver([member], completion.event(at: revision)) }
        if !pending.rested.isEmpty { deliverRested(pending.rested, of: topic, to: member) }
    }

    private func flushInvalidations(
        _ pending: Pending, of topic: Topic, to member: (client: ClientID, subscription: Int64)
    ) {
        guard topic.key.events.contains(.invalidate), let outstanding = subscriptions[member.subscription]?.outstanding else { return }
        let fresh = topic.order.filter { pending.invalidated.contains($0) && !outstanding.contains($0) }
        let paths = pending.left.sorted() + fresh.flatMap { topic.paths[$0] ?? [] }
        if paths.isEmpty { return }
        subscriptions[member.subscription]?.outstanding.formUnion(fresh)
        deliver([member], .invalidate(revision: revision, paths: paths))
    }

    /// How an update tells that a name leads nowhere now.
    static func removal(of path: String) -> Change { Change(path: path, content: .failure(removed)) }

    private static let removed = Failure(.removed, "the attribute has been removed")
}
