import AttributeValues
import CSimulatedKernel
import CommandArguments
import DaemonServer
import GraphRuntime
import Logging
import StateStore
import TestSupport
import WireProtocol

/// The real daemon over a simulated kernel, its clients, and what goes wrong around them. One seed decides everything.
///
/// A world is a list of steps. Each step draws its own numbers from the seed and its place, so a run without some of
/// the steps is a run as well: that is how a failure is shrunk. After some hundred steps the world comes to rest. Then
/// every outcome is known, and what everybody was told is compared with the model (`Judgement`).
final class World {
    let seed: UInt64
    var generator: SeededGenerator
    var model: Model
    let judgement: Judgement
    var daemon: Daemon?
    var configuration: Configuration
    var clients: [Client] = []
    /// Requests with `once` whose answers were lost.
    var lost: [Operation] = []
    /// The last revision that anybody was told of.
    var latest: Int64 = 0
    /// The revision with which this life of the daemon has begun.
    var begun: Int64 = 0 { didSet { lives.append(begun) } }
    /// The same of all lives.
    private(set) var lives: [Int64] = []
    /// The last revision that there is.
    var committed: Int64 = 0
    var faults: [String] = []
    var requests = 0
    var restarts = 0
    var turns = 0
    var boots = 0
    var life = 0
    var epoch: String?
    var isReaderWriting = false
    /// A call to the disk may fail, or there is no room.
    var isDiskFaulty = false
    var isPowerCut = false
    var isStopping = false
    /// The disk has lost what it had not confirmed: the store may be damaged, if it never waited for the disk.
    var mayBeDamaged = false
    var isRecovering = false
    /// The store has lost what nobody can know.
    var isOver = false
    /// Revisions of a row of changes.
    var acknowledged: [Int64] = []
    /// The last backup that was made, and its revision.
    var backup: Int64?
    var backupEdition = Model.Edition()
    /// The scene that the daemon starts with.
    var edition = Model.Edition()
    /// Ends of connections for which a client has left mutations.
    var wills = [Int64](repeating: 0, count: Model.wills)
    var willNumbers: [Int: Int] = [:]
    var nextOnce = 0
    /// The delegated node: whether it is, what was asked of the delegate, and what it has said.
    var isFarDelegated = false
    var nextFar: Int64 = 0
    var forwarded: Set<Int64> = []
    var verdicts: [Int64: Verdict] = [:]
    var place = 0
    /// A gateway, and pages that watch through it.
    var gateway: SimulatedGateway?
    var pages: [Page] = []
    var pageCalls: [PageCall] = []
    var hasPages = false
    /// The process of the gateway stands still.
    var isGatewayPaused = false
    var isGreeting = false
    var isGuestKnown = true
    /// A user takes as much of everything as he can.
    var hasGreed = false
    /// The daemon keeps what happened.
    var hasArchive = false
    /// Records of it that were judged.
    var archived = 0
    /// Values that the graph of the past has shown as they were.
    var compared = 0
    /// In the hundred, how often a fault that is drawn comes. Some lives of the daemon are long.
    var peril = 100
    /// Nothing fails.
    var isCalm = false
    /// Shows each step.
    let isTelling: Bool
    let log: Logger
    let parser = JSONParser()

    static let socket = "/sim/agd.sock"
    static let stepsOfChapter = 250
    /// Behind a chapter.
    static let powerCuts = 3

    init(seed: UInt64, isTelling: Bool) {
        self.seed = seed
        self.isTelling = isTelling
        generator = SeededGenerator(seed: seed)
        model = Model(&generator)
        model.begin()
        judgement = Judgement(model)
        configuration = Configuration()
        let telling = isTelling
        log = Logger(label: "simulate") { _ in WorldLog(isTelling: telling) }
        sim_reset(seed)
        writeScene(edition)
        configure()
        addClients()
    }

    func configure() {
        configuration.socket = World.socket
        configuration.socketGroup = "900"
        configuration.scenes = ["/sim/scene.yaml"]
        configuration.stateDirectory = "/sim/state"
        hasArchive = generator.chance(50)
        // Small segments: each world has several.
        configuration.archive.size = hasArchive ? World.archiveSize : 0
        configuration.server.outputQueue = 16 << 10
        configuration.server.messageSize = 64 << 10
        configuration.runtime.bookmarkInterval = 0.05
        configuration.durability = generator.pick([.full, .full, .normal, .off])
        configuration.runtime.forwardTime = World.forwardTime
        hasGreed = generator.chance(25)
        hasPages = generator.chance(50)
        peril = generator.pick([100, 100, 25])
        if hasGreed {
            configuration.server.clients = 60
            configuration.server.outputTotal = 400 << 10
        }
        if generator.chance(50) { configuration.runtime.sliceSteps = 200 }
        if generator.chance(30) { configuration.runtime.historyLength = 50 }
        if generator.chance(50) { configuration.runtime.graph.freedAtOnce = 1 }
        sim_set_tick(generator.pick([0, 1000, 20_000]))
        setAccess()
    }

    func setAccess() {
        func rule(_ right: AccessRight, _ holders: [AccessRule.Subject], _ pattern: String) -> AccessRule? {
            (try? PathPattern(pattern)).map { AccessRule(right, holders, $0) }
        }
        let everybody: [AccessRule.Subject] = [1000, 1001, 1003, 1004].map { .user($0) } + [.principal("pat")]
        let parts = [
            "w", "t", "c", "bank", "wills", "act", "past", "far", "box1", "box2", "lamp", "mark", "plan", "desk",
        ]
        .map { "/\($0)/**" }
        configuration.access = parts.compactMap { rule(.read, everybody, $0) }
        configuration.access += parts.compactMap { rule(.write, [.user(1000)], $0) }
        configuration.access += [rule(.define, [.user(907)], "\(World.far)/**")].compactMap { $0 }
        configuration.access += [rule(.do, [.user(1001)], "/act/**")].compactMap { $0 }
        configuration.access += [rule(.write, [.principal("pat")], "/bank/**")].compactMap { $0 }
        configuration.access += [rule(.read, [.principal("guest")], "\(World.guestPart)/**")].compactMap { $0 }
        // There is no such node. The answer must not name its neighbours.
        configuration.access += [rule(.read, [.user(1001)], "/nothing/**")].compactMap { $0 }
        if isReaderWriting { configuration.access += [rule(.write, [.user(1001)], "/w/**")].compactMap { $0 } }
    }

    func addClients() {
        var roles: [(Client.Role, UInt32)] = [
            (.architect, 900), (.rowdy, 1002), (.principal, 900), (.principal, 900), (.delegate, 907), (.modest, 1004),
        ]
        for number in 0..<Model.owners { roles.append((.owner(number), 1000)) }
        for _ in 0..<4 + generator.below(6) { roles.append((.writer, 1000)) }
        for _ in 0..<4 + generator.below(6) { roles.append((.reader, 1001)) }
        if hasGreed { for _ in 0..<60 { roles.append((.greedy, 1003)) } }
        for (role, user) in roles { clients.append(Client(clients.count, role, user: user)) }
    }

    func fault(_ text: String) { faults.append("step \(place): \(text)") }
    func tell(_ text: @autoclosure () -> String) { if isTelling { print("step \(place): \(text())") } }

    // MARK: Running

    /// - Parameter isWanted: whether a step is taken.
    func run(steps: Int, isWanted: (Int) -> Bool) {
        if isTelling { print(model.text(edition)) }
        seedStep(-1)
        start()
        for number in 0..<steps where faults.isEmpty && !isOver {
            place = number
            if isWanted(number) {
                seedStep(number)
                step()
                for fault in daemon?.checkInvariants() ?? [] { self.fault("[invariants] \(fault)") }
                if daemon == nil { restart() }
            }
            if (number + 1) % World.stepsOfChapter == 0 || number + 1 == steps {
                seedStep(number + 1_000_000)
                comeToRest()
                if faults.isEmpty { judgeArchive() }
                if faults.isEmpty { judgePast() }
                if generator.chance(50) && number + 1 < steps {
                    countRuns()
                } else {
                    for _ in 0..<World.powerCuts where faults.isEmpty && !isOver { losePower() }
                }
            }
        }
        isCalm = true
        if faults.isEmpty, !isOver { giveBack() }
        if faults.isEmpty { stop() }
        if faults.isEmpty { judgeArchive() }
        if faults.isEmpty { judgePast() }
        if faults.isEmpty { restoreBackup() }
        if faults.isEmpty { recover() }
    }

    func seedStep(_ number: Int) {
        var mixed = SeededGenerator(seed: seed &+ UInt64(bitPattern: Int64(number)) &* 0x9e37_79b9)
        generator = SeededGenerator(seed: mixed.next())
        sim_seed(mixed.next())
    }

    /// An iteration of the daemon's loop.
    func turn() {
        guard let daemon else { return }
        turns += 1
        let isRunning = daemon.loop.runOnce()
        committed = Int64(daemon.revision)
        if sim_is_dead() || !isRunning { end() }
        if !isGreeting { turnPages() }
    }

    func turn(times: Int) { for _ in 0..<times where daemon != nil { turn() } }

    /// Everybody who reads takes what has come.
    func read(_ chosen: [Client]? = nil) {
        for client in chosen ?? clients where !client.isStalled {
            client.flush()
            for line in client.lines() { receive(client, line) }
            if let connection = client.connection, sim_is_over(connection) { lose(client) }
        }
    }

    // MARK: Lives of the daemon

    func start() {
        for attempt in 0..<20 {
            life += 1
            // What can go wrong can go wrong in a start.
            if !isCalm, attempt < 3, generator.chance(20) { generator.chance(50) ? kill() : harmDisk() }
            do throws(StartupError) {
                let life = life
                let daemon = try Daemon(
                    configuration, reader: { () throws(ConfigurationFaults) in self.configuration },
                    recover: isRecovering, log: log
                ) { "epoch\(life)" }
                self.daemon = daemon
                daemon.begin()
                if !sim_is_dead() { return greet() }
                end()
            } catch {
                tell("the daemon does not start: \(error)")
                daemon = nil
                if mayBeDamaged, !sim_is_dead(), error.status == .systemFile, !isRecovering {
                    isRecovering = true
                } else if !sim_is_dead(), !isDiskFaulty || attempt > 5 {
                    return fault("[Durability] the daemon does not start: \(error)")
                }
                bury()
            }
            if attempt >= 3 { disarm() }
        }
        fault("the daemon does not come up")
    }

    /// What a life begins with. Nobody else is answered before.
    func greet() {
        isGreeting = true
        defer { isGreeting = false }
        let probe = Client(-1, .architect, user: 900)
        guard connect(probe) else { return }
        send(probe, "hello", "{}", .other)
        for _ in 0..<400 {
            turn()
            probe.flush()
            if daemon == nil { return }
            for line in probe.lines() {
                guard let result = parse(line)?.member("result"), let revision = result.integer("revision") else {
                    continue
                }
                let epoch = result.member("epoch")?.string
                if let known = self.epoch, known != epoch, !isRecovering {
                    fault("[Order] another epoch after a restart")
                }
                self.epoch = epoch
                if revision < latest { fault("[Order] revision \(revision) after a restart, and \(latest) was told") }
                latest = max(latest, revision)
                begun = revision
                let operation = Operation(.restart(edition), "restart", author: "", low: revision)
                operation.revision = revision
                judgement.operations.append(operation)
                if let connection = probe.connection { sim_hang_up(connection) }
                return
            }
            sim_advance(1_000_000)
        }
        fault("[ping] a started daemon does not answer")
    }

    func disarm() {
        sim_fail_disk(0, 0, 0)
        sim_set_room(-1)
        sim_kill(-1)
        sim_set_sync_time(0)
        isDiskFaulty = false
        isPowerCut = false
    }

    /// The daemon is dead, or has ended by itself.
    func end() {
        guard let daemon else { return }
        tell(sim_is_dead() ? isPowerCut ? "the power is cut" : "the daemon is killed" : "the daemon ends")
        daemon.stop()
        daemon.stop()
        for _ in 0..<1000 where daemon.loop.runOnce() {}
        let wasKilled = sim_is_dead()
        do throws(StartupError) { try daemon.finish() } catch {
            if !wasKilled, !isDiskFaulty { fault("[Durability] the daemon ends: \(error)") }
            tell("it says: \(error)")
        }
        self.daemon = nil
        bury()
    }

    func bury() {
        let wasCut = isPowerCut && sim_is_dead()
        for client in clients where client.connection != nil { client.isStalled = false }
        sim_bury()
        if wasCut { cutPower() }
        isPowerCut = false
        isDiskFaulty = false
    }

    func cutPower() {
        sim_cut_power()
        boots += 1
        sim_write_file("/proc/sys/kernel/random/boot_id", "boot-\(boots)\n")
    }

    func writeScene(_ edition: Model.Edition) { sim_write_file("/sim/scene.yaml", model.text(edition)) }

    func restart() {
        restarts += 1
        // What the kernel still had of the dead process can be read.
        for client in clients where client.connection != nil {
            if generator.chance(70) { for line in client.lines() { receive(client, line) } }
            lose(client)
        }
        judgement.restarts += 1
        if generator.chance(30) {
            edition = Model.Edition(hasPlan: generator.chance(50), hasMore: generator.chance(50))
            tell("the author edits the scene: \(edition)")
            writeScene(edition)
        }
        start()
    }

    /// Ends the daemon in order.
    func stop() {
        guard let daemon else { return }
        tell("stop")
        isStopping = true
        defer { isStopping = false }
        daemon.stop()
        for _ in 0..<20_000 {
            read()
            turns += 1
            if !daemon.loop.runOnce() || sim_is_dead() { break }
            sim_advance(1_000_000)
        }
        if sim_is_dead() { return end() }
        do throws(StartupError) { try daemon.finish() } catch {
            if !isDiskFaulty, !sim_is_dead() { fault("[Durability] the daemon does not end in order: \(error)") }
        }
        self.daemon = nil
        read()
        bury()
    }
}

extension Value {
    func member(_ name: String) -> Value? { map?[name] }
}

/// What the daemon says, beside the steps.
private struct WorldLog: LogHandler {
    let isTelling: Bool
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }
    func log(event: LogEvent) { if isTelling { print("  agd: \(event.message)") } }
}
