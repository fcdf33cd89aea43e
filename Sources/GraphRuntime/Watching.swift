import AttributeGraph
import AttributeValues
import Timelines
import ViewGraph
import WireProtocol

/// All subscriptions. Turns the changes of a transaction into events. Each watched rule that may have changed is
/// evaluated once, however many topics watch it. Each topic's event is assembled once, however many subscriptions it
/// has.
final class Watching {
    let graph: ViewGraph
    let limits: RuntimeLimits
    let turn: CurrentTurn
    let statistics: Statistics
    let clients: Clients
    let history: History
    let presentations: Presentations
    let topics: Topics
    var subscriptions: [Int64: Subscription] = [:]
    var nextSubscription: Int64 = 1
    /// Subscriptions with pending news.
    var held: [Int64: Subscription] = [:]
    var frames = FrameStreams()
    var bookmarks = Bookmarks()
    var structureLog: StructureLog
    /// The number of subscriptions whose batch has not been answered.
    var openings = 0
    /// The number of clients that are behind.
    var clientsBehind = 0
    /// True for a graph of the past: see `GraphRuntime.isPast`.
    var isPast = false
    /// As `scenePhase` says.
    var isActive = false
    /// Kept from transaction to transaction for their memory.
    private let news = News()
    private var invalidated: [AttributeID] = []
    /// The changes of the update that is being told.
    private var text = ByteBuffer()

    init(
        _ graph: ViewGraph, _ limits: RuntimeLimits, _ turn: CurrentTurn, _ statistics: Statistics, _ clients: Clients,
        _ history: History, _ presentations: Presentations
    ) {
        self.graph = graph
        self.limits = limits
        self.turn = turn
        self.statistics = statistics
        self.clients = clients
        self.history = history
        self.presentations = presentations
        topics = Topics(graph, limits)
        structureLog = StructureLog(capacity: limits.historyNames)
    }

    var now: Double { turn.now.monotonic }

    /// Completes a change of the graph: calls the actions that it sets off, records all of it as one transaction, and
    /// tells the subscribers.
    /// - Parameters:
    ///   - change: the writes of a client. This method notes the states that actions write for the store.
    ///   - stamp: the engine's stamp before the change.
    ///   - redefines: rules may have been replaced.
    func complete(
        _ change: Commit = Commit(), since stamp: UInt64, by client: Client? = nil, _ label: String?,
        _ motion: Motion? = nil, redefines: Bool = false
    ) {
        if !change.equal.isEmpty {
            for topic in topics.inOrder where awaits(change, motion, topic) { news.touch(topic) }
        }
        history.record(client, label, motion, change.states)
        if graph.reactions.exist {
            let reaction = graph.react(cost: limits.requestCost, atMost: limits.mutationsPerTransaction)
            graph.stored.keep(reaction.states, isRecorded: history.recorder != nil)
            if let recorder = history.recorder {
                for state in reaction.states { recorder.write(state, isReaction: true) }
            }
            let others = reaction.states.isEmpty ? [] : reaction.states.filter { !change.states.contains($0) }
            history.advance(client, label, since: stamp, change.states + others, reaction.causes)
            return publish(
                change.bindingAnimations.merging(reaction.bindingAnimations) { $1 }, since: stamp, motion, label,
                redefines)
        }
        history.advance(client, label, since: stamp, change.states)
        publish(change.bindingAnimations, since: stamp, motion, label, redefines)
    }

    /// Tells of a recorded transaction.
    func publishReplayed(since stamp: UInt64, _ motion: Motion?, _ label: String?) {
        publish([:], since: stamp, motion, label, false)
    }

    private func publish(
        _ bindings: [AttributeID: String], since stamp: UInt64, _ motion: Motion?, _ label: String?, _ redefines: Bool
    ) {
        if redefines { history.lastRedefinition = history.revision }
        // Most writes change nothing that is watched.
        guard graph.hasNews || !news.touched.isEmpty else { return }
        var motion = motion
        if !bindings.isEmpty {
            if motion == nil { motion = Motion() }
            motion?.bindings = bindings.compactMapValues(presentations.knownAnimation)
        }
        publish(since: stamp, motion, label)
    }

    /// Tells of the last transaction.
    /// - Parameters:
    ///   - stamp: the engine's clock before the transaction.
    ///   - motion: how its changes are animated, if the transaction says so.
    private func publish(since stamp: UInt64, _ motion: Motion?, _ label: String?) {
        let structure = graph.hasStructureChange ? graph.takeStructureChange() : nil
        if let structure {
            history.note(structure)
            news.mayCancel = true
            followTree(structure, news)
            graph.animations.watchNew(in: structure)
        }
        graph.takeInvalidated(into: &invalidated)
        if !graph.animations.isEmpty {
            for attribute in invalidated where graph.animations.isWatching(attribute) {
                _ = graph.content(of: attribute)
            }
        }
        let motion = presentations.mayMove(motion) ? motion ?? Motion() : nil
        // An event is needed if it has to wait for the answer to a batch.
        news.isText = structure == nil && motion == nil && turn.takesText && openings == 0
        for attribute in invalidated { graph.forEachWatchedBehind(attribute) { collect($0, since: stamp, motion) } }
        collectJoined()
        for topic in news.topics where !topic.news.left.isEmpty || !topic.news.joined.isEmpty { news.touch(topic) }
        deliver(structure, motion, since: stamp, label)
        deliverCompletions(news)
        endEmptyTopics()
        for topic in news.overfull { endOverfull(topic) }
        if news.hasJoined { for topic in news.topics { endBeyondShare(topic) } }
        news.removeAll()
    }

    /// - Parameter motion: nil where nothing moves.
    private func collect(_ attribute: AttributeID, since stamp: UInt64, _ motion: Motion?) {
        guard let watch = topics[attribute] else { return topics.reports.note(attribute, at: now) }
        var wantsValues = false
        for topic in watch.topics {
            if topic.wantsValues { wantsValues = true }
            guard topic.key.events.contains(.invalidate) else { continue }
            news.enlist(topic)
            topic.news.invalidated.append((attribute, topic.paths[attribute] ?? [], false))
        }
        guard wantsValues else { return }
        let content = graph.contentForWatcher(of: attribute)
        guard watch.content == nil || graph.hasChanged(attribute, since: stamp) else { return }
        // A change of the tree takes several steps, of which a later one may take back what an earlier one has done.
        if news.mayCancel, watch.content == content {
            return history.noteUnchanged(attribute, since: watch.changedAt)
        }
        watch.changedAt = graph.lastChange(of: attribute)
        if news.hasJoined { news.collected.insert(attribute) }
        if watch.report != nil { watch.report?.told = graph.reportClock }
        guard let motion else {
            for topic in watch.topics where topic.wantsValues { tell(topic, of: attribute, content) }
            watch.content = content
            return
        }
        let old = watch.content ?? .value(.null)
        watch.content = content
        let turnover = presentations.present(
            attribute, from: old, to: content, in: history.revision, motion, since: stamp, &news.surroundings)
        if let transaction = turnover.interrupted { news.replaced.append((transaction, attribute)) }
        if !turnover.ends.isEmpty { news.completions += completionNews(turnover.ends) }
        let running = turnover.running
        if running != nil {
            news.animated.append(attribute)
            graph.stepsLeft -= Watching.stepsPerMotion + watch.topics.count * Watching.stepsPerTimeline
        }
        // Described once, however many topics tell of it. Each topic is charged for sending it.
        var (plain, styled): (Value?, Value?)
        var cost = 0
        for topic in watch.topics where topic.wantsValues {
            news.touch(topic)
            if topic.key.events.contains(.update) {
                var timeline: Value?
                if let running {
                    if topic.key.css {
                        let before = graph.stepsLeft
                        timeline = styled ?? presentations.describe(running, replaces: turnover.replaced, css: true)
                        if styled == nil { cost = before - graph.stepsLeft } else { graph.stepsLeft -= cost }
                        styled = timeline
                    } else {
                        timeline = plain ?? presentations.describe(running, replaces: turnover.replaced, css: false)
                        plain = timeline
                    }
                }
                news.enlist(topic)
                for path in topic.paths[attribute] ?? [] {
                    topic.news.changes.append(
                        Change(path: path, content: content, timeline: timeline, reported: reportedNow(topic)))
                }
            }
            if topic.frames.isEmpty { continue }
            if let running {
                topic.startFrames(attribute, running, at: now)
            } else {
                // Also if the attribute has arrived and the tick that shows the arrival is still to come.
                topic.stopFrames(attribute, isGone: false)
            }
        }
    }

    /// A change without motion.
    private func tell(_ topic: Topic, of attribute: AttributeID, _ content: Content) {
        news.touch(topic)
        topic.stopFrames(attribute, isGone: false)
        guard topic.key.events.contains(.update), let paths = topic.paths[attribute] else { return }
        news.enlist(topic)
        for path in paths {
            topic.news.changes.append(Change(path: path, content: content, reported: reportedNow(topic)))
        }
    }

    /// Steps for each new motion, until its end, and for each topic that tells of it.
    private static let stepsPerMotion = 100
    private static let stepsPerTimeline = 100

    /// Attributes that joined are told as they are now, unless that has been told as a change.
    private func collectJoined() {
        guard news.hasJoined else { return }
        for topic in news.topics where topic.wantsValues {
            for (attribute, path) in topic.news.joined where !news.collected.contains(attribute) {
                let content = topics.evaluated(attribute)
                let running = presentations.moving(attribute)
                if let running { topic.startFrames(attribute, running, at: now) }
                guard topic.key.events.contains(.update) else { continue }
                let timeline = running.map { presentations.describe($0, replaces: nil, css: topic.key.css) }
                topic.news.changes.append(
                    Change(path: path, content: content, timeline: timeline, reported: reported(attribute, topic)))
            }
        }
    }

    /// Changes of the tree come before the new values: who gets these knows what they are of. Both wait together.
    private func deliver(_ structure: StructureChange?, _ motion: Motion?, since stamp: UInt64, _ label: String?) {
        guard let structure, !structure.isEmpty else {
            for topic in news.topics where !topic.isOverfull {
                deliverNews(of: topic, label, to: holdBack(topic, since: stamp, label))
            }
            return
        }
        let due = news.topics.filter { !$0.isOverfull }.map { ($0, holdBack($0, since: stamp, label)) }
        deliver(structure, motion ?? Motion(), since: stamp)
        for (topic, members) in due { deliverNews(of: topic, label, to: members.filter { !$0.hasEnded }) }
    }

    /// - Returns: those who are told now.
    private func holdBack(_ topic: Topic, since stamp: UInt64, _ label: String?) -> [Subscription] {
        let hasUpdate = topic.key.events.contains(.update) && topic.news.hasUpdate
        let members = topic.members
        // Usually nobody has to wait, so nobody is looked at.
        if held.isEmpty, openings == 0, clientsBehind == 0, !topic.isPaced { return members }
        var told: [Subscription]?
        for (place, member) in members.enumerated() {
            if hasUpdate ? member.holdsBack(at: now) : member.isWaiting {
                if told == nil { told = Array(members[..<place]) }
                hold(topic, isUpdate: hasUpdate, since: stamp, label, for: member)
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
            guard isText else {
                let event = Event.update(
                    revision: history.revision, from: nil, label: label, writer: writer, isInitial: false,
                    changes: changes, typed: topic.key.typed)
                return deliver(event, to: members)
            }
            if members.isEmpty { return }
            statistics.events += UInt64(members.count)
            turn.update(
                history.revision, label, writer, text,
                to: members.isCopy(of: topic.members) ? topic.receivers : members.map(\.receiver))
            bookmarks.note(members)
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

    private func hold(
        _ topic: Topic, isUpdate: Bool, since stamp: UInt64, _ label: String?, for subscription: Subscription
    ) {
        hold(for: subscription) { pending in
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

    func giveBack() {
        topics.giveBack()
        subscriptions.giveBack()
        held.giveBack()
        for subscription in subscriptions.values { subscription.outstanding.giveBack() }
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
    func hold(for subscription: Subscription, _ body: (inout Pending) -> Void) {
        guard !subscription.hasEnded else { return }
        held[subscription.number] = subscription
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
