import AttributeGraph
import AttributeValues
import SceneModel
import Timelines
import ViewGraph
import WireProtocol

/// The daemon's mind: commands in, deliveries out. It has no clock, no file and no socket, so a whole day can be played
/// to it in a test. It owns the graph, plays its turns (`GraphRuntime+Dispatch`), and connects the rooms:
///
/// - `CurrentTurn`: the time, and the deliveries;
/// - `Clients`: the connected clients, their rights, and how much each of them may be sent;
/// - `History`: revisions, and names that are gone;
/// - `Presentations`: how values move;
/// - `Watching`: subscriptions and topics, and the events of a transaction;
/// - `Reader`: requests that change nothing.
public final class GraphRuntime {
    public let limits: RuntimeLimits
    let graph: ViewGraph
    let turn: CurrentTurn
    let statistics = Statistics()
    let clients: Clients
    let history: History
    let presentations: Presentations
    let watching: Watching
    let reader: Reader
    var recording: Recording
    private let startedAt: Moment
    /// The most vertices since memory was last given back.
    var mostVertices: UInt64 = 0
    /// A large document, or a store's rows, have been read since the allocator was last asked to give back memory.
    public var hasFreed = true

    /// Whether somebody keeps the turns' changes (`Outcome.changes`).
    public var isStored = true
    /// Whether the states that a turn has written last are left in `written` until the next turn, behind the changes.
    /// Otherwise their rows stand among the changes.
    public var leavesWritten = false
    public internal(set) var written = WrittenStates()
    /// Figures of the daemon around the runtime, for `stats`.
    public var surroundingFigures: (() -> [Figure])?
    public var surroundingHistograms: (() -> [Histogram])?
    /// Reads the clock of `Moment.monotonic` now; asked only while turns are recorded. nil: no time passes within a
    /// turn.
    public var stopwatch: (() -> Double)?

    /// Changes of structure that are not done yet, in the order of the requests. The first one is under way.
    var jobs: [StructureJob] = []
    /// Results whose requests have yet to come again.
    var finishedJobs: [ClientID: Answer] = [:]
    /// Subtrees whose writes other clients perform.
    var delegations = Delegations()
    /// Requests that are not performed a second time.
    var repeats = Repeats()
    /// Steps that jobs may take in this turn.
    var jobSteps = 0

    var outcome = Outcome()
    /// Shares the turn that is being played between clients.
    let queue: TurnQueue
    var countersBefore = GraphCounters()
    /// Kept from transaction to transaction for its memory.
    var lastCommit = Commit()

    /// - Parameters:
    ///   - epoch: of a graph that continues an earlier life, or a fresh random name.
    ///   - revision: the last one of that life.
    public init(
        limits: RuntimeLimits = RuntimeLimits(), access: AccessRules = AccessRules(), epoch: String,
        revision: UInt64 = 0,
        at now: Moment
    ) {
        self.limits = limits
        startedAt = now
        graph = ViewGraph(limits: limits.graph, wallTime: now.wall)
        turn = CurrentTurn(at: now)
        clients = Clients(limits, access, turn)
        history = History(graph, limits, turn, epoch: epoch, revision: revision)
        presentations = Presentations(graph, turn)
        watching = Watching(graph, limits, turn, statistics, clients, history, presentations)
        reader = Reader(graph, limits, history, watching)
        recording = Recording(capacity: limits.traceEvents)
        queue = TurnQueue(turn, clients, limits)
        // Rules beyond that wait for the turns behind the start.
        graph.stepsLeft =
            limits.requestCost.multipliedReportingOverflow(by: limits.startRequests).overflow
            ? .max : limits.requestCost * limits.startRequests
    }

    // MARK: For those around it

    /// Names this life of the graph: revisions count within it.
    public var epoch: String { history.epoch }
    /// Counts committed transactions; only grows.
    public var revision: UInt64 { history.revision }
    /// A client that has seen all up to a revision before this one, in an earlier life, has missed what nobody
    /// remembers.
    public var resumableFrom: UInt64 { history.resumableFrom }

    /// Bytes that an answer may have; what would be answered with more is refused.
    public var longestAnswer: Int {
        get { clients.longestAnswer }
        set { clients.longestAnswer = newValue }
    }
    /// Bytes that an answer to a client without any right may have behind others of the same turn or batch.
    public var longestAnswerWithoutRights: Int {
        get { clients.longestAnswerWithoutRights }
        set { clients.longestAnswerWithoutRights = newValue }
    }
    /// Whether an answer of so many bytes may wait for a client now; asked for long answers to requests that only read.
    public var admitsAnswer: ((ClientID, Int) -> Bool)? {
        get { clients.admitsAnswer }
        set { clients.admitsAnswer = newValue }
    }
    /// Takes each delivery at once, instead of leaving it in the outcome, so that the time to write it counts as the
    /// command's.
    public var onDelivery: ((Delivery) -> Void)? {
        get { turn.onDelivery }
        set { turn.onDelivery = newValue }
    }
    /// The clock of `Moment.monotonic`, asked between the commands of a turn, to share its time between clients. nil:
    /// nobody's share is ever used up.
    public var turnClock: (() -> Double)? {
        get { turn.clock }
        set { turn.clock = newValue }
    }
    /// Called now and then in a turn whose rules take long.
    public var onLongWork: (() -> Void)? {
        get { graph.onLongWork }
        set { graph.onLongWork = newValue }
    }

    /// What the machine says of language and time, by environment key. Called before anything is loaded.
    public func beginWith(_ values: [String: Value]) { graph.beginWith(values) }

    /// Seconds since the start.
    var uptime: Double { turn.now.monotonic - startedAt.monotonic }

    /// Whether a client has subscriptions, also ones that it has not been told of yet.
    public func isSubscribed(_ client: ClientID) -> Bool { clients[client].map { !$0.subscriptions.isEmpty } ?? false }

    // MARK: For changes of structure and for the store

    /// Completes a change of the tree: see `Watching.complete`.
    func complete(
        since stamp: UInt64, by client: ClientID?, _ label: String?, _ motion: Motion?, redefines: Bool = false
    ) {
        watching.complete(
            since: stamp, by: client.flatMap { clients[$0] }, label, motion, redefines: redefines)
    }

    /// - Throws: `invalid` for an animation that cannot be read.
    func motion(_ options: TransactionOptions) throws(Failure) -> Motion { try presentations.motion(options) }
}
