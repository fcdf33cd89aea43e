import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// Beginning and ending subscriptions.

extension Watching {
    /// Makes a subscription that the client has not been told of yet. The caller must then call `begin`. If this
    /// throws, nothing has changed.
    /// - Throws: `invalid` for a malformed pattern, `notFound` for a path without wildcard that names nothing, `limit`.
    func prepare(_ request: Request.Subscribe, _ client: Client) throws(Failure) -> Opening {
        guard client.subscriptions.count < limits.subscriptionsPerClient else {
            throw Failure(.limit, "at most \(limits.subscriptionsPerClient) subscriptions for one client")
        }
        guard !request.patterns.isEmpty, request.patterns.count <= limits.patternsPerSubscription else {
            throw Failure(.limit, "a subscription names 1 to \(limits.patternsPerSubscription) paths")
        }
        if let rate = request.frameRate, rate > limits.frameRate {
            throw Failure(.limit, "at most \(limits.frameRate) frames a second")
        }
        let topic = try topics.obtain(request, for: client.subject, client.standing)
        if request.events.contains(.structure) { structureLog.begin(at: history.revision) }
        // Before the subscription is added, so that the snapshot is the first that it hears.
        updateScenePhase(isWatched: true)
        let subscription = Subscription(
            nextSubscription, of: client, to: topic, interval: request.maxRate.map { 1 / $0 })
        nextSubscription += 1
        subscriptions[subscription.number] = subscription
        client.subscriptions[subscription.number] = subscription
        topic.add(subscription)
        if request.bookmarks { sender.bookmarks.add(subscription.number) }
        let newView = request.events.contains(.frames) ? frames.add(subscription, at: request.frameRate ?? 30) : nil
        let opening: Opening
        do throws(Failure) { opening = try open(request, subscription) } catch {
            end([subscription])
            throw error
        }
        if let newView {
            // Show attributes that are already moving.
            for attribute in topic.order {
                if let running = presentations.moving(attribute) {
                    newView.stream.show(attribute, running, in: newView, at: now)
                }
            }
        }
        return opening
    }

    /// The first events of a new subscription.
    struct Opening {
        let subscription: Subscription
        /// True if it continues from the position in the request.
        var isResumed = false
        /// A snapshot, or the changes that the client has missed.
        var events: [Event] = []
    }

    private func open(_ request: Request.Subscribe, _ subscription: Subscription) throws(Failure) -> Opening {
        var opening = Opening(subscription: subscription)
        let topic = subscription.topic
        // Nobody knows which values were reported meanwhile.
        if let position = request.since, !request.reports,
            let missed = missed(since: position, of: topic, by: subscription.client)
        {
            try clients.admit(missed.update, isTyped: topic.key.typed, to: subscription.client)
            opening.isResumed = true
            if let event = structureEvent(missed.structure, for: subscription.client) { opening.events.append(event) }
            if !missed.update.isEmpty { opening.events.append(updateEvent(missed.update, of: topic)) }
            if !missed.paths.isEmpty {
                subscription.outstanding.formUnion(missed.invalidated)
                opening.events.append(.invalidate(revision: history.revision, paths: missed.paths))
            }
        } else if request.initial || request.since != nil, request.events.contains(.update) {
            let snapshot = presentChanges(topic.order, of: topic)
            try clients.admit(snapshot, isTyped: topic.key.typed, to: subscription.client)
            opening.events.append(updateEvent(snapshot, of: topic, isInitial: true))
        } else if topic.wantsValues {
            for attribute in topic.order { _ = topics.evaluated(attribute) }
        }
        return opening
    }

    /// Sends the first events. The client has been told of its new subscription; in a batch, it will be told at its
    /// end, and the events follow then.
    func begin(_ opening: Opening) {
        let subscription = opening.subscription
        guard subscription.client.isInBatch else { return begin(subscription, with: opening.events) }
        subscription.opening = opening.events
        subscription.client.beginning.append(subscription)
        sender.openings += 1
    }

    /// Called when a batch has been answered: sends the first events of its subscriptions, and their pending news.
    func beginSubscriptions(of client: Client) {
        let beginning = client.beginning
        client.beginning = []
        sender.openings -= beginning.count
        for subscription in beginning {
            guard let events = subscription.opening else { continue }
            subscription.opening = nil
            begin(subscription, with: events)
        }
    }

    private func begin(_ subscription: Subscription, with events: [Event]) {
        for event in events { sender.send(event, to: [subscription]) }
        flush(subscription)
    }

    func unsubscribe(_ number: Int64, _ client: Client) throws(Failure) {
        guard let subscription = client.subscriptions[number] else {
            throw Failure(.notFound, "no subscription \(number) of this client")
        }
        end([subscription])
        subscription.opening = nil
        updateScenePhase()
    }

    /// Ends the subscriptions of a client that disconnects.
    func forget(_ client: Client) {
        end(client.subscriptions.values)
        sender.openings -= client.beginning.count
        client.beginning = []
        catchUp(client)
    }

    /// Ends subscriptions. O(attributes of their topics, and topics with the same attributes).
    func end(_ ended: some Collection<Subscription>) {
        var empty: [Topic] = []
        for subscription in ended.sorted(by: { $0.number < $1.number }) where !subscription.hasEnded {
            let number = subscription.number
            subscription.hasEnded = true
            subscriptions[number] = nil
            sender.forget(number)
            subscription.client.subscriptions[number] = nil
            let topic = subscription.topic
            topic.remove(subscription)
            frames.remove(subscription)
            if topic.members.isEmpty { empty.append(topic) }
        }
        if empty.isEmpty { return }
        for attribute in topics.end(empty) { deliver(stopWatching(attribute)) }
    }

    /// Applies new access rules. Subscriptions that are no longer allowed end, with the reason.
    func endForbidden(of client: Client) {
        guard let grants = client.grants else { return }
        end(
            client.subscriptions.values.sorted { $0.number < $1.number }.filter { subscription in
                do throws(Failure) {
                    for pattern in subscription.topic.patterns { try grants.require(.read, pattern) }
                    return false
                } catch {
                    sender.send(.ended(error.code, reason: error.message), to: [subscription])
                    return true
                }
            })
    }

    /// Ends the subscriptions of a topic that matches more than may be watched: an event must not omit attributes.
    func endOverfull(_ topic: Topic) {
        sender.send(.ended(.limit, reason: "\(topics.tooMany.message) (watched-attributes)"), to: topic.members)
        end(topic.members)
    }

    /// Ends the subscriptions to a topic of those who now watch more than anybody may. Others keep theirs.
    func endBeyondShare(_ topic: Topic) {
        guard topic.share() else { return }
        let ended = topic.members.filter {
            !$0.client.standing.mayHave(topics.ledger.used(by: $0.owner), of: limits.watchedAttributes)
        }
        for subscription in ended {
            let count = topics.ledger.used(by: subscription.owner)
            let reason = topics.beyondShare(count, subscription.owner).message
            sender.send(.ended(.limit, reason: "\(reason) (watched-attributes)"), to: [subscription])
        }
        end(ended)
    }

    func endForLength(_ subscriptions: [Subscription]) {
        sender.send(
            .ended(.limit, reason: "an update would have more than \(clients.longestAnswer) bytes (output-maximum)"),
            to: subscriptions)
        end(subscriptions)
    }

    /// Sets `scenePhase` to `active` while there are subscriptions.
    /// - Parameter isWatched: a subscription is about to be added.
    func updateScenePhase(isWatched: Bool = false) {
        let isActive = isWatched || !subscriptions.isEmpty
        guard isActive != self.isActive, !isPast else { return }
        self.isActive = isActive
        let stamp = graph.stamp
        graph.setSystemValue("scenePhase", isActive ? "active" : "background")
        graph.stored.keepSystemValue("scenePhase")
        complete(since: stamp, "scenePhase")
    }
}
