import Archive
import AttributeValues
import EventLoop
import GraphRuntime
import Logging
import CommandArguments
import StateStore
import ViewGraph
import WireProtocol

/// The daemon's parts and their connections. `Turn` is the work between two sleeps of the loop. `Daemon+Starting` and
/// `Daemon+Stopping` are the beginning and the end.
public final class Daemon {
    var configuration: Configuration
    /// Reads the configuration again, with the same command line, which still takes precedence. nil: there is no file
    /// to read again.
    let readConfiguration: ConfigurationReader?
    var log: Logger
    let manager: ServiceManager
    package let loop: Loop
    let runtime: GraphRuntime
    let store: StateStore?
    /// nil: there is none, or its folder cannot be used.
    let archive: Archive?
    let sessions: Sessions
    let turn: Turn
    private var meter = TurnMeter()
    let entrance: Entrance

    /// On the loop after `startServing`.
    var careTimer: Timer?
    var foldTimer: Timer?
    var archiveTimer: Timer?
    let archiveSync: DiskSync
    /// The log says that the archive has stopped.
    var isArchiveFailureTold = false
    var wakefulness: Wakefulness?
    var lastStatus = 0.0
    /// The service manager has not been sent the status since the last turn.
    var isStatusDue = false
    /// The fault found when the configuration was read again; nil after it has been read without a fault.
    private var reloadFault: ConfigurationFault?

    var isStopping = false
    /// The reason why the daemon ends; nil if it was asked to.
    var failure: StartupError?

    /// Seconds between two checks of clients that wait or have ended their side.
    static let careInterval = 1.0
    /// The number of turns in the store from which they are folded. Fewer are folded at the end.
    static let turnsToFold = 256
    /// Seconds between two slices of folding. Each slice takes a commit, and clients have priority.
    static let foldInterval = 0.02
    /// Seconds between two status lines.
    static let statusInterval = 5.0

    public typealias ConfigurationReader = () throws(ConfigurationFaults) -> Configuration

    /// Takes the socket, opens the store, loads the scenes and restores the stored rows. Serves nobody yet.
    ///
    /// - Parameters:
    ///   - reader: reads the configuration again if it came from a file.
    ///   - recover: continue with the readable part of a damaged store.
    ///   - environment: the variables through which the service manager and the user's session configure the daemon.
    ///   - newEpoch: makes a name for a new life of the graph; it must never repeat.
    /// - Throws: the reason why the daemon cannot start. The socket is removed again then.
    public init(
        _ configuration: Configuration, reader: ConfigurationReader? = nil, recover: Bool = false, log: Logger,
        environment: ProcessEnvironment = ProcessEnvironment(), newEpoch: () -> String
    ) throws(StartupError) {
        self.configuration = configuration
        self.log = log
        readConfiguration = reader
        manager = ServiceManager { environment[$0] }
        environment.remove(ServiceManager.variables)
        entrance = try Entrance(configuration, environment)
        do throws(StartupError) {
            do throws(LoopError) { loop = try Loop() } catch { throw StartupError(error) }
            archiveSync = DiskSync(loop)
            let scenes = try Daemon.read(configuration.scenes)
            let basis = Daemon.basis(configuration, scenes)
            let (store, restored) = try Daemon.openStore(
                configuration, basis: basis, recover: recover, newEpoch: newEpoch)
            self.store = store
            if let store, let restored { Daemon.announce(store, restored, log) }
            runtime = GraphRuntime(
                limits: configuration.runtime, access: configuration.accessRules, epoch: restored?.epoch ?? newEpoch(),
                revision: restored?.revision ?? 0, at: Daemon.now().goingOn(from: restored?.committed))
            let machine = MachineSettings(environment)
            for warning in machine.warnings { log.warning("\(warning)") }
            runtime.beginWith(machine.values)
            archive = Daemon.openArchive(
                configuration,
                Archive.Basis(
                    release: Release.name, epoch: runtime.epoch, scenes: scenes, machine: machine.values),
                of: runtime, restored?.rows.ofNoNode ?? [], log)
            runtime.clients.longestAnswer = configuration.server.outputMaximum
            runtime.clients.longestAnswerWithoutRights = configuration.server.outputQueue
            sessions = Sessions(limits: configuration.server, access: configuration.accessRules, log: log)
            turn = Turn(sessions, runtime, store)
            // A turn of many costly rules ends, but may take longer than the service manager waits.
            runtime.onLongWork = { [manager] in manager.isAlive() }
            runtime.surroundings.stopwatch = { Loop.monotonicTime }
            runtime.turnClock = { Loop.monotonicTime }
            for warning in try Daemon.load(scenes, into: runtime) { log.warning("scene \(warning)") }
            if let restored { Daemon.restore(restored, into: runtime, log) }
            archive?.begin(at: Daemon.now(), revision: runtime.revision)
            runtime.surroundings.figures = { [unowned self] in
                meter.settle()
                return sessions.statistics.figures + meter.figures + Archive.figures(of: archive)
            }
            runtime.surroundings.histograms = { [unowned self] in meter.histograms }
        } catch {
            entrance.remove()
            throw error
        }
    }

    /// Serves until the daemon is told to stop.
    /// - Throws: the reason why it could not start, or had to end.
    public func run() throws(StartupError) {
        begin()
        loop.run()
        try finish()
    }

    /// Serves from now on, whenever the loop runs.
    package func begin() {
        do throws(LoopError) { try startServing() } catch { end(because: StartupError(error)) }
        if failure == nil {
            manager.ready(status)
            log.notice("ready: \(runtime.status)")
        }
        meter = TurnMeter()
    }

    /// Called in every iteration of the loop, before it sleeps.
    func beforeSleep() {
        defer {
            sessions.readOn()
            entrance.acceptOn(to: sessions)
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

    private func tidyUp(behind now: Moment) {
        wakefulness?.isAwake = sessions.hasNews
        isStatusDue = !isStopping
        sendStatus(at: now.monotonic)
        if let store, store.turns >= Daemon.turnsToFold, foldTimer?.isActive == false {
            foldTimer?.start(in: Daemon.foldInterval)
        }
        careForArchive()
        if sessions.needsCare || isStatusDue || runtime.hasFreed, !isCaring {
            careTimer?.start(in: Daemon.careInterval)
        }
    }

    private func sendStatus(at now: Double) {
        guard isStatusDue, now - lastStatus >= Daemon.statusInterval else { return }
        isStatusDue = false
        lastStatus = now
        manager.status(status)
    }

    /// The last committed transaction, which clients may not have been told of yet.
    package var revision: UInt64 { runtime.revision }

    /// One line for the service manager, which shows it to people.
    var status: String { runtime.status + (reloadFault.map { "; the configuration stays as it was: \($0)" } ?? "") }

    /// Folds a slice of the turns into the store's rows, and schedules the next slice.
    func fold() {
        guard let store else { return }
        do throws(StoreError) { try store.fold() } catch { return end(because: StartupError(error)) }
        if store.turns >= Daemon.turnsToFold { foldTimer?.start(in: Daemon.foldInterval) }
    }

    /// True if `care` will be called.
    var isCaring: Bool { careTimer?.isActive == true }

    /// Checks clients that wait or have ended their side, as long as there are any. Sends the status if it was too
    /// early for that after the last turn.
    func care() {
        let now = Loop.monotonicTime
        sessions.care(at: now)
        sendStatus(at: now)
        if runtime.hasShrunk { giveBackMemory() }
        if runtime.hasFreed {
            runtime.pack()
            Loop.giveBackMemory()
        }
        runtime.hasFreed = false
        if sessions.needsCare || isStatusDue { careTimer?.start(in: Daemon.careInterval) }
    }

    /// Gives the memory of a graph that was much larger back to the kernel. Done once for each time that it has shrunk,
    /// because the work is proportional to the old size.
    private func giveBackMemory() {
        runtime.giveBack()
        store?.giveBack()
        sessions.giveBack()
        Loop.giveBackMemory()
        log.debug("unused memory was returned to the system")
    }

    /// Reads the configuration again (SIGHUP). If there is a fault, the old one stays.
    package func reload() {
        guard let readConfiguration else { return log.warning("there is no configuration file to read again") }
        manager.reloading(at: Loop.monotonicTime)
        do throws(ConfigurationFaults) {
            let waiting = configuration.reload(from: try readConfiguration())
            log.logLevel = configuration.logLevel
            sessions.change(limits: configuration.server, log: log)
            raiseDescriptorLimit()
            runtime.clients.longestAnswer = configuration.server.outputMaximum
            runtime.clients.longestAnswerWithoutRights = configuration.server.outputQueue
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
