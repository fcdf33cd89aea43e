import AttributeValues
import EventLoop
import GraphRuntime
import Logging
import StateStore

/// The daemon's parts and their joints. What happens between two sleeps of the loop is `Turn`; how it begins and ends
/// is `Daemon+Starting` and `Daemon+Stopping`.
public final class Daemon {
    var configuration: Configuration
    /// Reads the configuration again, with all that stood before it at the start: the command line goes before a file
    /// then as now. nil: it came from nowhere that could be read again.
    let readConfiguration: ConfigurationReader?
    var log: Logger
    let manager: ServiceManager
    let loop: Loop
    let runtime: GraphRuntime
    let store: StateStore?
    let sessions: Sessions
    let turn: Turn
    private var meter = TurnMeter()
    /// nil with sockets that the service manager owns.
    let ownSocket: ListeningSocket?
    /// Descriptors of the service manager, until they are listened on.
    var inherited: [Int32]

    /// What stands on the loop, all there from `start` on.
    var listeners: [Listener] = []
    /// A connection waits at each of them for the next turn.
    var unaccepted: [Listener] = []
    var handles: [Handle] = []
    var careTimer: Timer?
    var isCaring = false
    var foldTimer: Timer?
    private var isFolding = false
    var shutdownTimer: Timer?
    var wakefulness: Wakefulness?
    var lastStatus = 0.0
    /// The service manager has not been told how the daemon is since the last turn.
    var isStatusDue = false
    /// What was wrong with the configuration when it was read again, until it is read without a fault.
    private var reloadFault: ConfigurationFault?

    var isStopping = false
    /// Why the daemon ends, unless it was asked to.
    var failure: StartupError?

    /// Seconds between two looks at clients that wait or have ended their side.
    static let careInterval = 1.0
    /// Turns in the store that are folded together. Fewer stay as they are until the end.
    static let turnsToFold = 256
    /// Seconds between two slices of folding: each takes a commit, and clients go first.
    static let foldInterval = 0.02
    /// Seconds between two lines of status.
    static let statusInterval = 5.0

    public typealias ConfigurationReader = () throws(ConfigurationFaults) -> Configuration

    /// Takes the socket, opens the store, loads the scenes and puts back what the store has kept. Nobody is served yet.
    ///
    /// - Parameters:
    ///   - reader: how the configuration was read, if from a file.
    ///   - recover: go on with what can be read of a damaged store.
    ///   - environment: how the service manager and the user's session speak to it.
    ///   - newEpoch: names a new life of the graph; it must never repeat.
    /// - Throws: what stands in the way. The socket is gone again then.
    public init(
        _ configuration: Configuration, reader: ConfigurationReader? = nil, recover: Bool = false, log: Logger,
        environment: ProcessEnvironment = ProcessEnvironment(), newEpoch: () -> String
    ) throws(StartupError) {
        self.configuration = configuration
        self.log = log
        readConfiguration = reader
        manager = ServiceManager(environment)
        inherited = try Activation.sockets(environment)
        ownSocket = inherited.isEmpty ? try Daemon.makeSocket(configuration, environment) : nil
        do throws(StartupError) {
            do throws(LoopError) { loop = try Loop() } catch { throw StartupError(error) }
            let scenes = try Daemon.read(configuration.scenes)
            let basis = Daemon.basis(configuration, scenes)
            let (store, restored) = try Daemon.openStore(
                configuration, basis: basis, recover: recover, newEpoch: newEpoch)
            self.store = store
            if let store, let restored { Daemon.announce(store, restored, log) }
            runtime = GraphRuntime(
                limits: configuration.runtime, access: configuration.accessRules, epoch: restored?.epoch ?? newEpoch(),
                revision: restored?.revision ?? 0, at: Daemon.now())
            runtime.beginWith(MachineSettings(environment).values)
            runtime.longestAnswer = configuration.server.outputMaximum
            runtime.longestAnswerWithoutRights = configuration.server.outputQueue
            sessions = Sessions(limits: configuration.server, access: configuration.accessRules, log: log)
            turn = Turn(sessions, runtime, store)
            // A turn of many costly rules ends, but may outlast the service manager's patience.
            runtime.onLongWork = { [manager] in manager.isAlive() }
            runtime.stopwatch = { Loop.monotonicTime }
            runtime.turnClock = { Loop.monotonicTime }
            for warning in try Daemon.load(scenes, into: runtime) { log.warning("scene \(warning)") }
            if let restored { Daemon.restore(restored, into: runtime, log) }
            runtime.surroundingFigures = { [unowned self] in sessions.statistics.figures + meter.figures }
            runtime.surroundingHistograms = { [unowned self] in meter.histograms }
        } catch {
            ownSocket?.remove()
            throw error
        }
    }

    /// Serves until it is told to stop.
    /// - Throws: what kept it from starting, or made it end.
    public func run() throws(StartupError) {
        do throws(LoopError) {
            try start()
        } catch {
            end(because: StartupError(error))
        }
        if failure == nil {
            manager.ready(status)
            log.notice("ready: \(runtime.status)")
        }
        meter = TurnMeter()
        loop.run()
        try finish()
    }

    /// Called in every iteration of the loop, before it sleeps.
    func beforeSleep() {
        defer {
            sessions.readOn()
            acceptOn()
            meter.end(requests: runtime.requestCount)
        }
        let now = Daemon.now()
        do throws(StoreError) {
            if try turn.run(at: now) { tidyUp(behind: now) }
        } catch {
            return end(because: StartupError(error))
        }
        if isStopping { closeWhenDrained() }
    }

    private func acceptOn() {
        let listeners = unaccepted
        unaccepted = []
        for listener in listeners where !listener.isClosed { accept(from: listener) }
    }

    private func tidyUp(behind now: Moment) {
        wakefulness?.isAwake = sessions.hasNews
        isStatusDue = !isStopping
        sendStatus(at: now.monotonic)
        if let store, store.turns >= Daemon.turnsToFold, !isFolding {
            isFolding = true
            foldTimer?.start(in: Daemon.foldInterval)
        }
        if sessions.needsCare || isStatusDue || runtime.hasFreed, !isCaring {
            isCaring = true
            careTimer?.start(in: Daemon.careInterval)
        }
    }

    private func sendStatus(at now: Double) {
        guard isStatusDue, now - lastStatus >= Daemon.statusInterval else { return }
        isStatusDue = false
        lastStatus = now
        manager.status(status)
    }

    /// One line for the service manager and those who ask it.
    var status: String {
        runtime.status + (reloadFault.map { "; the configuration stays as it was: \($0)" } ?? "")
    }

    /// Puts a slice of what turns have changed into the store's rows, and the next one a little later.
    func fold() {
        guard let store else { return }
        do throws(StoreError) { try store.fold() } catch { return end(because: StartupError(error)) }
        isFolding = store.turns > 0
        if isFolding { foldTimer?.start(in: Daemon.foldInterval) }
    }

    /// Looks after clients that wait or have ended their side, as long as there are any, and says how the daemon is
    /// when it was too soon for that behind the last turn.
    func care() {
        let now = Loop.monotonicTime
        sessions.care(at: now)
        sendStatus(at: now)
        if runtime.hasShrunk { giveBackMemory() }
        if runtime.hasFreed { Loop.giveBackMemory() }
        runtime.hasFreed = false
        isCaring = sessions.needsCare || isStatusDue
        if isCaring { careTimer?.start(in: Daemon.careInterval) }
    }

    /// Gives the memory of a graph that was much larger back to the kernel. Once for each time that it has shrunk: the
    /// work is in proportion to what there was.
    private func giveBackMemory() {
        runtime.giveBack()
        store?.giveBack()
        sessions.giveBack()
        Loop.giveBackMemory()
        log.debug("memory of a larger graph was given back")
    }

    /// Reads the configuration again (SIGHUP). With a fault in it the old one stays.
    func reload() {
        guard let readConfiguration else { return log.warning("there is no configuration file to read again") }
        manager.reloading(at: Loop.monotonicTime)
        do throws(ConfigurationFaults) {
            let waiting = configuration.reload(from: try readConfiguration())
            log.logLevel = configuration.logLevel
            sessions.change(limits: configuration.server, log: log)
            makeRoomForClients()
            runtime.longestAnswer = configuration.server.outputMaximum
            runtime.longestAnswerWithoutRights = configuration.server.outputQueue
            sessions.change(configuration.accessRules)
            let rest = waiting.isEmpty ? "" : "; these wait for a restart: " + waiting.joined(separator: ", ")
            log.notice("the configuration was read again\(rest)")
            reloadFault = nil
        } catch {
            log.error("the configuration stays as it was:\n\(error)")
            reloadFault = error.faults.first
        }
        manager.ready(status)
    }
}
