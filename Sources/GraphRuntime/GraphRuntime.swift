import AttributeGraph
import AttributeValues
import SceneModel
import Timelines
import ViewGraph
import WireProtocol

/// The core of the daemon: commands in, deliveries out. It has no clock, file or socket, so a test can play a whole day
/// to it. It owns the graph, plays its turns (`GraphRuntime+Dispatch`), and connects the rooms:
///
/// - `CurrentTurn`: the time, and the deliveries;
/// - `Clients`: the connected clients, their rights, and how much each of them may be sent;
/// - `History`: revisions, and names that are gone;
/// - `Presentations`: how values move;
/// - `Watching`: subscriptions and topics, and the events of a transaction;
/// - `Reader`: requests that change nothing;
/// - `StoreFeed`: what the store has to get.
public final class GraphRuntime {
    public let limits: RuntimeLimits
    package let graph: ViewGraph
    let turn: CurrentTurn
    let statistics = Statistics()
    public let clients: Clients
    let history: History
    let presentations: Presentations
    let watching: Watching
    let reader: Reader
    var recording: Recording
    public let store: StoreFeed
    /// The most vertices since memory was last given back.
    var mostVertices: UInt64 = 0
    /// A large document, or a store's rows, have been read since the allocator was last asked to give back memory.
    public var hasFreed = true

    public var surroundings = Surroundings()

    /// Changes of structure that are not done yet, in the order of the requests. The first one is under way.
    var jobs: [StructureJob] = []
    /// Subtrees whose writes other clients perform.
    let delegations = Delegations()
    var authors = PartAuthors()
    var wills = LastWills()
    /// True while the `onDisconnect` transaction of a client that has gone is performed.
    var isPerformingWill = false
    /// True if a write has come to a state whose writes another client performs.
    var hasReachedDelegated = false
    /// The client whose mutations are being performed; nil: the daemon writes by itself.
    var writer: ClientID?
    /// `once` identifiers of requests that have been performed.
    var repeats: Repeats
    /// `Moment.asleep` at the end of the last sleep that was noticed.
    var asleep: Double
    /// Steps that jobs may take in this turn.
    var jobSteps = 0

    /// See `Following`.
    var isFollowed = false
    /// The states of the past that have been written, by `RecordedWrite.number`.
    var recorded: [AttributeID?] = []

    /// The output of the turn, complete between `endTurn` and `forgetOutcome`.
    public internal(set) var outcome = Outcome()
    /// Shares the turn that is being played between clients.
    let queue: TurnQueue
    /// Reused by each transaction, to save allocations.
    let lastCommit = Commit()

    /// The facts that the daemon around the runtime tells it.
    public struct Surroundings {
        /// More figures for `stats`.
        public var figures: (() -> [Figure])?
        public var histograms: (() -> [Histogram])?
        /// Reads the clock of `Moment.monotonic` at this moment; called only while turns are recorded. nil: no time
        /// passes within a turn.
        public var stopwatch: (() -> Double)?
    }

    /// - Parameters:
    ///   - epoch: that of the earlier life if the graph continues one, otherwise a fresh random name.
    ///   - revision: the last one of the earlier life.
    public init(
        limits: RuntimeLimits = RuntimeLimits(), access: AccessRules = AccessRules(), epoch: String,
        revision: UInt64 = 0, at now: Moment
    ) {
        self.limits = limits
        // Rules beyond that are deferred to the turns after the start.
        let steps = limits.requestCost.multipliedReportingOverflow(by: limits.startRequests)
        graph = ViewGraph(
            limits: limits.graph, wallTime: now.wall, elapsed: now.elapsed,
            start: RequestContext(steps: steps.overflow ? .max : steps.partialValue))
        turn = CurrentTurn(at: now)
        asleep = now.asleep
        clients = Clients(limits, access, turn)
        history = History(graph, limits, turn, epoch: epoch, revision: revision)
        presentations = Presentations(graph, turn)
        watching = Watching(graph, limits, turn, statistics, clients, history, presentations)
        store = StoreFeed(graph, history)
        reader = Reader(graph, limits, history, watching)
        recording = Recording(capacity: limits.traceEvents)
        repeats = Repeats(atMost: limits.onceIdentifiers)
        queue = TurnQueue(turn, clients, limits)
        renewGuard()
    }

    /// The name of this life of the graph, within which revisions can be compared.
    public var epoch: String { history.epoch }
    /// Counts committed transactions; only grows.
    public var revision: UInt64 { history.revision }
    /// The first revision of earlier lives from which a client can resume. The daemon knows no changes before it.
    public var resumableFrom: UInt64 { history.resumableFrom }

    /// If set, gets each delivery at once, instead of leaving it in the outcome. It must outlive its use.
    public var output: (any TurnOutput)? {
        get { turn.output }
        set { turn.output = newValue }
    }
    /// The clock of `Moment.monotonic`, read between the commands of a turn to share its time between clients. nil: no
    /// client uses up its share.
    public var turnClock: (() -> Double)? {
        get { turn.clock }
        set { turn.clock = newValue }
    }
    /// Called now and then in a turn whose rules take long.
    public var onLongWork: (() -> Void)? {
        get { graph.onLongWork }
        set { graph.onLongWork = newValue }
    }

    /// Sets environment keys to the machine's language and time settings. Call before anything is loaded.
    public func beginWith(_ values: [String: Value]) { graph.beginWith(values) }

    /// True if a client has subscriptions, including those that it has not been told of yet.
    public func isSubscribed(_ client: ClientID) -> Bool { clients[client].map { !$0.subscriptions.isEmpty } ?? false }
}
