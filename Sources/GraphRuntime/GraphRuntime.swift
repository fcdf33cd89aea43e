import AttributeGraph
import AttributeValues
import SceneModel
import Timelines
import ViewGraph
import WireProtocol

/// The daemon's mind: commands in, deliveries out. It owns the graph, who watches what, and how values move; it has no clock,
/// no file and no socket, so a whole day can be played to it in a test.
///
/// Order within one `apply`: commands in the order given; each transaction's events before its reply.
public final class GraphRuntime {
    public let limits: RuntimeLimits
    /// Bytes that an answer may have; what would be answered with more is refused.
    public var longestAnswer = 64 << 20
    /// Names this life of the graph: revisions count within it.
    public private(set) var epoch: String
    /// Counts committed transactions; only grows.
    public internal(set) var revision: UInt64 = 0

    let graph: ViewGraph
    var now: Moment
    let startedAt: Moment

    /// Changed by `changeAccess`, which tells everybody concerned.
    var access: AccessRules
    var clients: [ClientID: Client] = [:]
    var subscriptions: [Int64: Subscription] = [:]
    var nextSubscription: Int64 = 1
    var topics: [TopicKey: Topic] = [:]
    /// In the order in which they were first subscribed to, so that a day plays the same twice.
    var orderedTopics: [Topic] { topics.values.sorted { $0.number < $1.number } }
    var nextTopic: Int64 = 1
    /// What the topics name, for what joins the tree.
    var patternIndex = PatternIndex()
    /// By rate. With the number of topics that want completions what deadlines depend on, kept so that a turn need not look.
    var frameStreams: [FrameStream] = []
    var completionTopics = 0
    /// Subscriptions whose news waits.
    var held: Set<Int64> = []
    var watches = WatchTable()
    let watchLedger = WatchLedger()
    var presentations = Presentations()
    var history: History
    var statistics = Statistics()
    /// What is counted around the runtime, to be told with its own figures.
    public var surroundingFigures: (() -> [Figure])?
    var recording: Recording
    /// Reads the clock of `Moment.monotonic` now; asked only while turns are recorded. nil: no time passes within a turn.
    public var stopwatch: (() -> Double)?
    /// The same clock, asked between the commands of a turn, to share its time between clients. nil: nobody's share is ever used up.
    public var turnClock: (() -> Double)?
    /// On that clock.
    private var turnBegan = 0.0

    /// The protocol as `describe` tells it: made once, because anybody may ask for it at any time.
    private(set) lazy var protocolSchema = ProtocolSchema.document()
    /// The most vertices since memory was last given back.
    var mostVertices: UInt64 = 0

    /// Changes of structure that are not done yet, in the order of the requests. The first one is under way.
    var jobs: [StructureJob] = []
    /// Results whose requests have yet to come again.
    var finishedJobs: [ClientID: Result] = [:]
    /// Steps that jobs may take in this turn.
    var jobSteps = 0

    var outcome = Outcome()
    var unplaced = UnplacedStates()
    /// Changes of structure that the store has ever held or been given: the next one's number.
    var changes = 0
    /// Changes inside instances that data has not made since the start, in order. They are done when it does.
    var awaited: [(change: Int, entry: JournalEntry)] = []
    /// The first events of subscriptions whose `subscribe` is not answered yet; a batch is answered at its end.
    var openings: [Int64: [Event]] = [:]
    /// The last revision in which attributes were removed or moved.
    var lastRemoval: UInt64 = 0
    /// The last revision in which the tree became another one in any way.
    var lastStructureChange: UInt64 = 0
    /// The last revision in which rules became others, or ran that had had to wait.
    var lastRedefinition: UInt64 = 0
    /// The states as they were when this life began.
    var lifeBeginning: LifeBeginning
    /// A client that has seen all up to a revision before this one, in an earlier life, has missed what nobody remembers.
    public internal(set) var resumableFrom: UInt64
    /// Names that led elsewhere from a revision on.
    var changedNames: ChangedNames
    /// Subscriptions that want bookmarks, and the last time that those were looked after that nothing else was told.
    var bookmarkReaders: Set<Int64> = []
    /// Those of them that have been told something since the last one.
    var bookmarksDue: Set<Int64> = []
    var bookmarkRound = (revision: UInt64(0), time: 0.0)

    /// - Parameters:
    ///   - epoch: of a graph that continues an earlier life, or a fresh random name.
    ///   - revision: the last one of that life.
    public init(
        limits: RuntimeLimits = RuntimeLimits(), access: AccessRules = AccessRules(), epoch: String, revision: UInt64 = 0,
        at now: Moment
    ) {
        self.limits = limits
        self.access = access
        self.epoch = epoch
        self.revision = revision
        resumableFrom = revision
        lifeBeginning = LifeBeginning(revision: revision)
        self.now = now
        startedAt = now
        history = History(capacity: limits.historyLength)
        changedNames = ChangedNames(capacity: limits.historyNames)
        recording = Recording(capacity: limits.traceEvents)
        graph = ViewGraph(limits: limits.graph, wallTime: now.wall)
        // Rules beyond that wait for the turns behind the start.
        graph.stepsLeft = limits.requestCost.multipliedReportingOverflow(by: limits.startRequests).overflow
            ? .max : limits.requestCost * limits.startRequests
    }

    /// Bytes that an answer to a client without any right may have behind others of the same turn or batch.
    public var longestAnswerWithoutRights = 1 << 20
    /// Whether an answer of so many bytes may wait for a client now; asked for long answers to requests that only read.
    public var admitsAnswer: ((ClientID, Int) -> Bool)?
    /// Takes the deliveries of each command as soon as it is performed, instead of leaving them in the outcome, so that the time
    /// to write them counts as the command's.
    public var onDelivery: (([Delivery]) -> Void)?

    /// Called now and then in a turn whose rules take long.
    public var onLongWork: (() -> Void)? {
        get { graph.onLongWork }
        set { graph.onLongWork = newValue }
    }

    /// One turn: applies what came in, in order, and says what everybody must hear.
    ///
    /// Nobody keeps the others waiting for long: a client whose requests have taken `RuntimeLimits.clientTime` has the rest of them
    /// left to the next turn (`Outcome.postponed`), and so has everybody after `turnTime`, or when rules had to wait, so that they go
    /// on first.
    public func apply(_ commands: [Command], at now: Moment) -> Outcome {
        self.now = now
        turnBegan = turnClock?() ?? 0
        outcome = Outcome()
        statistics.turns += 1
        tickClocks()
        resumeRules()
        jobSteps = limits.sliceSteps
        doJobs()
        let before = graph.counters
        var queue = TurnQueue(began: turnBegan, limits)
        for command in commands {
            let isRightless = isRightless(command.requester)
            if queue.postpones(command, isRightless: isRightless) { continue }
            let waiting = graph.waitingRuleCount
            if case .disconnected(let client) = command, !disconnect(client) { queue.postpone(command, of: client) }
            let isDone = apply(command)
            mostVertices = max(mostVertices, graph.counters.liveAttributes)
            handOver()
            guard case .call(let client, _, let request) = command else {
                queue.pass(until: turnClock?() ?? 0)
                continue
            }
            if !isDone { queue.postpone(command, of: client) }
            switch request {
            case .subscribe: if hasLongSnapshots(client) { queue.serve(client) }
            // Long, and asked for without any right.
            case .describe(path: nil, _): queue.serve(client)
            default: break
            }
            if graph.waitingRuleCount > waiting { queue.close() }
            queue.charge(client, until: turnClock?() ?? 0, isRightless: isRightless)
        }
        outcome.postponed = queue.leftovers()
        outcome.times = queue.times
        giveSalvagedValues()
        deliverDue()
        keepWhatFollowed()
        keepNothingVoid()
        // Of all but the values of states an earlier life leaves no revisions.
        if outcome.accepted.contains(where: { !$0.entry.isState }) { resumableFrom = revision }
        // What it watched may have been removed.
        if subscriptions.isEmpty { updateScenePhase() }
        graph.sweepVertices()
        recordTurn(commands.count - outcome.postponed.count, since: before)
        return outcome
    }

    private func handOver() {
        guard let onDelivery, !outcome.deliveries.isEmpty else { return }
        onDelivery(outcome.deliveries)
        outcome.handedOver += outcome.deliveries.count
        outcome.deliveries.removeAll(keepingCapacity: true)
    }

    private func isRightless(_ client: ClientID?) -> Bool {
        guard !access.rules.isEmpty, let client else { return false }
        return clients[client]?.grants?.rules.isEmpty == true
    }

    /// Whether the turn has not taken so many seconds yet.
    func hasTime(_ seconds: Double) -> Bool { turnClock.map { $0() - turnBegan < seconds } ?? true }

    /// Rules that had to wait for a request to be done with run now, at a cost of their own, and who watches them is told.
    private func resumeRules() {
        guard graph.waitingRuleCount > 0 else { return }
        graph.stepsLeft = limits.requestCost
        let stamp = graph.stamp
        guard graph.resumeWaitingRules() else { return }
        advanceRevision(nil, "request-cost", since: stamp, writes: [])
        lastRedefinition = revision
        resumableFrom = revision
        publish(since: stamp, .none, nil)
    }

    /// - Returns: false for a request whose job is not done yet.
    private func apply(_ command: Command) -> Bool {
        graph.stepsLeft = limits.requestCost
        graph.growthLeft = limits.instanceCost
        switch command {
        case .connected(let client, let peer): clients[client] = Client(peer: peer, grants: access.grants(to: peer), limits)
        case .call(let client, let id, let request):
            var result: Result
            if request.changesStructure {
                guard let done = resultOfJob(request, for: client) else { return false }
                result = done
            } else {
                statistics.requests += 1
                result = perform(request, for: client)
            }
            if request.onlyReads, let refusal = tooLong(result, for: client) { result = refusal }
            if let id { outcome.deliveries.append(.reply(client, id: id, result)) }
            if !openings.isEmpty { beginSubscriptions(of: client) }
        case .refused(let client, let id, let fault): outcome.deliveries.append(.reply(client, id: id, .fault(fault)))
        case .batchBegins(let client):
            clients[client]?.beginBatch(in: statistics.turns)
            outcome.deliveries.append(.batchBegins(client))
        case .batchEnds(let client):
            clients[client]?.isInBatch = false
            outcome.deliveries.append(.batchEnds(client))
            if !openings.isEmpty { beginSubscriptions(of: client) }
        case .disconnected, .woken: break
        case .behind(let client): clients[client]?.isBehind = true
        case .drained(let client): catchUp(client)
        case .accessChanged(let rules): changeAccess(to: rules)
        }
        return true
    }

    /// One method each; a refused request has changed nothing.
    private func perform(_ request: Request, for client: ClientID) -> Result {
        do throws(Failure) {
            if access.rules.isEmpty { return try performAllowed(request, for: client) }
            try checkAccess(of: client, to: request)
            return try seeing(as: client) { () throws(Failure) in try performAllowed(request, for: client) }
        } catch {
            return .fault(RequestFault(code: RequestFault.refused, failure: error))
        }
    }

    private func performAllowed(_ request: Request, for client: ClientID) throws(Failure) -> Result {
        switch request {
        case .hello(let name): return hello(name, client)
        case .ping: return .value(["pong": true])
        case .get(let get): return try self.get(get, client)
        case .set(let mutation, let options): return try transact([mutation], options, client)
        case .transact(let mutations, let options): return try transact(mutations, options, client)
        case .apply, .remove, .move: preconditionFailure("a job that was not queued")
        case .subscribe(let request): return try subscribe(request, client)
        case .unsubscribe(let subscription): return try unsubscribe(subscription, client)
        case .onDisconnect(let mutations, let options): return try onDisconnect(mutations, options, client)
        case .describe(let path, let depth): return try describe(path, depth)
        case .explain(let path, let revision): return try explain(path, revision, client)
        case .dump(let path, let format): return try dump(path, format)
        case .stats(let format): return stats(format)
        case .trace(let trace): return self.trace(trace)
        case .eval(let eval): return try self.eval(eval)
        }
    }

    /// Refuses an answer that is longer than a client may be sent, alone or with the long ones of the same turn or batch.
    private func tooLong(_ result: Result, for client: ClientID) -> Result? {
        var room = longestAnswer
        result.draw(from: &room)
        let size = longestAnswer - room
        if room >= 0, size <= GraphRuntime.shortAnswer, clients[client]?.isInBatch != true { return nil }
        if room >= 0, size > GraphRuntime.shortAnswer, admitsAnswer?(client, size) == false {
            let failure = Failure(
                .limit, "too much output waits for all clients together",
                hint: "try again later, or ask for less; output-total is the limit")
            return .fault(RequestFault(code: RequestFault.refused, failure: failure))
        }
        let before = clients[client]?.bytesSent(in: statistics.turns) ?? 0
        let limit = before > 0 && isRightless(client) ? min(longestAnswer, longestAnswerWithoutRights) : longestAnswer
        let sent = clients[client]?.takeNote(of: size, in: statistics.turns, atMost: limit) ?? 0
        if sent + size <= limit { return nil }
        let failure =
            sent == 0
            ? Failure(.limit, "the answer would have more than \(longestAnswer) bytes", hint: "ask for less; output-maximum is the limit")
            : Failure(
                .limit, "with what waits already the answer would be more than \(limit) bytes",
                hint: limit == longestAnswer
                    ? "ask for less at once; output-maximum is the limit"
                    : "ask for less at once; output-queue is the limit for clients without any right")
        return .fault(RequestFault(code: RequestFault.refused, failure: failure))
    }

    /// Bytes of an answer that is not counted outside batches.
    private static let shortAnswer = 4096

    private func hello(_ name: String?, _ client: ClientID) -> Result {
        if let name { clients[client]?.name = String(name.prefix(limits.nameLength)) }
        return .value([
            "server": "agd", "protocol": .int(Int64(ProtocolSchema.version)), "epoch": .string(epoch), "revision": .int(Int64(clamping: revision)),
            "time": ["monotonic": .double(now.monotonic), "wall": .timestamp(now.wall)],
        ])
    }

    /// Performs what the client has left for when it goes away, and forgets the client.
    /// - Returns: false when the turn's time was over before. The rest is left to the next call.
    private func disconnect(_ client: ClientID) -> Bool {
        guard let gone = clients[client] else { return true }
        end(gone.subscriptions)
        for number in gone.beginning { openings[number] = nil }
        while let (mutations, options) = clients[client]?.onDisconnect.next() {
            // The client is still known, so that the history names it and its rights are those it has by now.
            do {
                // Each has its share, whatever those before have cost.
                graph.stepsLeft = max(graph.stepsLeft, limits.requestCost / limits.onDisconnectPerClient)
                try checkAccess(of: client, to: .onDisconnect(mutations, options))
                _ = try transact(mutations, options, client)
            } catch {
                statistics.refusedOnDisconnect += 1
            }
            guard hasTime(limits.turnTime / 2) else { return false }
        }
        clients[client] = nil
        finishedJobs[client] = nil
        updateScenePhase()
        return true
    }
}

/// A connection, as the runtime sees it.
struct Client {
    let peer: Peer
    /// nil: it may do everything.
    var grants: Grants?
    var name: String?
    var subscriptions: Set<Int64> = []
    /// The client does not drain: its news is kept, newest per path, until it does.
    var isBehind = false
    /// Its calls are answered at the end of the batch.
    var isInBatch = false
    /// Subscriptions whose `subscribe` is not answered yet.
    var beginning: [Int64] = []
    /// Bytes of long answers and snapshots that it has been sent in the turn of that number, or in the batch.
    private var sent = (turn: UInt64(0), bytes: 0)
    var onDisconnect = LastWill()
    /// Bytes that it may leave yet.
    var onDisconnectRoom: Int

    init(peer: Peer, grants: Grants?, _ limits: RuntimeLimits) {
        self.peer = peer
        self.grants = grants
        onDisconnectRoom = limits.onDisconnectSize
    }

    mutating func beginBatch(in turn: UInt64) {
        sent = (turn, bytesSent(in: turn))
        isInBatch = true
    }

    /// Bytes of long answers and snapshots in the turn or batch.
    func bytesSent(in turn: UInt64) -> Int { sent.turn == turn || isInBatch ? sent.bytes : 0 }

    /// Counts what is about to be sent, if it keeps the sum within a limit.
    /// - Returns: the sum before.
    mutating func takeNote(of size: Int, in turn: UInt64, atMost limit: Int) -> Int {
        let before = bytesSent(in: turn)
        sent = (turn, before + size <= limit ? before + size : before)
        return before
    }
}

/// Transactions that are performed in order when a client goes away.
struct LastWill {
    private var transactions: [(mutations: [Mutation], options: TransactionOptions)] = []
    private var done = 0
    /// Mutations of all that is to be done.
    private(set) var count = 0

    mutating func append(_ mutations: [Mutation], _ options: TransactionOptions) {
        transactions.append((mutations, options))
        count += mutations.count
    }

    mutating func next() -> (mutations: [Mutation], options: TransactionOptions)? {
        guard done < transactions.count else { return nil }
        done += 1
        count -= transactions[done - 1].mutations.count
        return transactions[done - 1]
    }
}

/// What clients may ask of the runtime. Sizes in numbers of things, rates per second.
public struct RuntimeLimits {
    public var graph = ViewGraph.Limits()
    public var subscriptionsPerClient = 1000
    public var patternsPerSubscription = 1000
    public var watchedAttributes = 120_000
    public var mutationsPerTransaction = 40_000
    public var onDisconnectPerClient = 1000
    /// Bytes, as JSON, of what one client leaves for when it goes away.
    public var onDisconnectSize = 256 << 10
    /// Completion events kept for one subscription whose client is behind.
    public var pendingCompletions = 1000
    public var labelLength = 200
    public var nameLength = 100
    /// Transactions that `explain` remembers and `since` can resume from.
    public var historyLength = 4096
    /// Paths of written states that are kept of one transaction.
    public var historyWrites = 20
    /// Names of what was removed or moved that are kept for who resumes.
    public var historyNames = 10_000
    /// Seconds between bookmarks of a subscription that nothing else is told.
    public var bookmarkInterval = 10.0
    /// Turns and runs of rules that a recording keeps, and rules that it counts one by one.
    public var traceEvents = 10_000
    public var frameRate = 240.0
    /// Nodes that one `describe` or `dump` prints.
    public var describedNodes = 1_000_000
    /// Steps of all rules that run for one request, and of its patterns for the nodes that they look at.
    public var requestCost = 1_000_000
    /// Steps of the nodes that lists make for one request.
    public var instanceCost: Int { min(requestCost, .max / 2) * 2 }
    /// Steps of all rules that run at a start, as many times what one request may cost.
    public var startRequests = 20
    /// Steps of 50 ns that reading, checking and building of documents may take in one turn.
    public var sliceSteps = 300_000
    /// Seconds of a turn after which the rest of a client's requests wait for the next one.
    public var clientTime = 0.02
    /// The same for all clients without any right together.
    public var rightlessTime = 0.003
    /// Seconds of a turn after which all other requests wait for the next one.
    public var turnTime = 0.04

    public init() {}
}

/// Counters that only grow.
struct Statistics {
    var turns: UInt64 = 0
    var requests: UInt64 = 0
    var transactions: UInt64 = 0
    var refusals: UInt64 = 0
    var refusedOnDisconnect: UInt64 = 0
    var denials: UInt64 = 0
    var events: UInt64 = 0
    var conflated: UInt64 = 0
    var frames: UInt64 = 0
}
