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
    let sender: EventSender
    var frames = FrameStreams()
    var structureLog: StructureLog
    /// True for a graph of the past: see `GraphRuntime.isPast`.
    var isPast = false
    /// As `scenePhase` says.
    var isActive = false
    /// Kept from transaction to transaction for their memory.
    let news = News()
    private var invalidated: [AttributeID] = []

    init(
        _ graph: ViewGraph, _ limits: RuntimeLimits, _ turn: CurrentTurn, _ statistics: Statistics, _ clients: Clients,
        _ history: History, _ presentations: Presentations
    ) {
        self.graph = graph
        self.limits = limits
        self.turn = turn
        sender = EventSender(graph, turn, statistics, clients)
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
        // Usually there is none, and every write comes by here.
        if history.recorder != nil { history.record(client, label, motion, change.states) }
        let whole = graph.reactions.exist ? addingReactions(to: change) : change
        history.advance(client, label, since: stamp, whole)
        publish(whole, since: stamp, motion, label, redefines)
    }

    /// Calls the actions that a change sets off.
    /// - Returns: the change with the writes of the actions.
    private func addingReactions(to change: Commit) -> Commit {
        let whole = graph.react(cost: limits.requestCost, atMost: limits.mutationsPerTransaction)
        graph.stored.keep(whole.states, isRecorded: history.recorder != nil)
        if let recorder = history.recorder {
            for state in whole.states { recorder.write(state, isReaction: true) }
        }
        whole.states = change.states + whole.states.filter { !change.states.contains($0) }
        whole.bindingAnimations.merge(change.bindingAnimations) { reaction, _ in reaction }
        return whole
    }

    /// Tells of a recorded transaction.
    func publishReplayed(since stamp: UInt64, _ motion: Motion?, _ label: String?) {
        publish(Commit(), since: stamp, motion, label, false)
    }

    private func publish(
        _ change: Commit, since stamp: UInt64, _ motion: Motion?, _ label: String?, _ redefines: Bool
    ) {
        if redefines { history.lastRedefinition = history.revision }
        // Most writes change nothing that is watched.
        guard graph.hasNews || !news.touched.isEmpty else { return }
        var motion = motion
        if !change.bindingAnimations.isEmpty {
            if motion == nil { motion = Motion() }
            motion?.bindings = change.bindingAnimations.compactMapValues(presentations.knownAnimation)
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
        news.isText = structure == nil && motion == nil && turn.takesText && sender.openings == 0
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

    func giveBack() {
        topics.giveBack()
        subscriptions.giveBack()
        sender.giveBack()
        for subscription in subscriptions.values { subscription.outstanding.giveBack() }
    }
}
