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
    private var configuration: Configuration
    private(set) var clients: [Client] = []
    /// Requests with `once` whose answers were lost.
    var lost: [Operation] = []
    /// The last revision that anybody was told of.
    var latest: Int64 = 0
    /// The last revision that there is.
    private var committed: Int64 = 0
    private(set) var faults: [String] = []
    private(set) var requests = 0
    private(set) var restarts = 0
    private(set) var turns = 0
    private var boots = 0
    private var life = 0
    private var epoch: String?
    private var isReaderWriting = false
    /// A call to the disk may fail, or there is no room.
    private var isDiskFaulty = false
    private var isPowerCut = false
    /// Ends of connections for which a client has left mutations.
    var wills = [Int64](repeating: 0, count: Model.wills)
    var willNumbers: [Int: Int] = [:]
    private var nextOnce = 0
    private var place = 0
    /// Shows each step.
    let isTelling: Bool
    private let log: Logger

    static let socket = "/sim/agd.sock"
    static let stepsOfChapter = 250

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
        sim_write_file("/sim/scene.yaml", model.text)
        configure()
        addClients()
    }

    private func configure() {
        configuration.socket = World.socket
        configuration.socketGroup = "900"
        configuration.scenes = ["/sim/scene.yaml"]
        configuration.stateDirectory = "/sim/state"
        configuration.server.outputQueue = 16 << 10
        configuration.server.messageSize = 64 << 10
        configuration.runtime.bookmarkInterval = 0.05
        if generator.chance(50) { configuration.runtime.sliceSteps = 200 }
        if generator.chance(30) { configuration.runtime.historyLength = 50 }
        if generator.chance(50) { configuration.runtime.graph.freedAtOnce = 1 }
        sim_set_tick(generator.pick([0, 1000, 20_000]))
        setAccess()
    }

    private func setAccess() {
        func rule(_ right: AccessRight, _ holders: [AccessRule.Holder], _ pattern: String) -> AccessRule? {
            (try? PathPattern(pattern)).map { AccessRule(right, holders, $0) }
        }
        let everybody: [AccessRule.Holder] = [.user(1000), .user(1001), .principal("pat")]
        configuration.access = ["/w/**", "/t/**", "/c/**", "/bank/**", "/wills/**"].compactMap { rule(.read, everybody, $0) }
        configuration.access += ["/w/**", "/t/**", "/c/**", "/bank/**", "/wills/**"].compactMap {
            rule(.write, [.user(1000)], $0)
        }
        configuration.access += [rule(.write, [.principal("pat")], "/bank/**")].compactMap { $0 }
        // There is no such node. The answer must not name its neighbours.
        configuration.access += [rule(.read, [.user(1001)], "/nothing/**")].compactMap { $0 }
        if isReaderWriting { configuration.access += [rule(.write, [.user(1001)], "/w/**")].compactMap { $0 } }
    }

    private func addClients() {
        var roles: [(Client.Role, UInt32)] = [(.architect, 900), (.rowdy, 1002), (.principal, 900), (.principal, 900)]
        for number in 0..<Model.owners { roles.append((.owner(number), 1000)) }
        for _ in 0..<4 + generator.below(6) { roles.append((.writer, 1000)) }
        for _ in 0..<4 + generator.below(6) { roles.append((.reader, 1001)) }
        for (role, user) in roles { clients.append(Client(clients.count, role, user: user)) }
    }

    func fault(_ text: String) { faults.append("step \(place): \(text)") }
    func tell(_ text: @autoclosure () -> String) { if isTelling { print("step \(place): \(text())") } }

    // MARK: Running

    /// - Parameter isWanted: whether a step is taken.
    func run(steps: Int, isWanted: (Int) -> Bool) {
        if isTelling { print(model.text) }
        seedStep(-1)
        start()
        for number in 0..<steps where faults.isEmpty {
            place = number
            if isWanted(number) {
                seedStep(number)
                step()
                if daemon == nil { restart() }
            }
            if (number + 1) % World.stepsOfChapter == 0 || number + 1 == steps {
                seedStep(number + 1_000_000)
                comeToRest()
            }
        }
        if faults.isEmpty { stop(isTold: true) }
    }

    private func seedStep(_ number: Int) {
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

    private func start() {
        for attempt in 0..<20 {
            life += 1
            do throws(StartupError) {
                let life = life
                let daemon = try Daemon(
                    configuration, reader: { () throws(ConfigurationFaults) in self.configuration }, log: log
                ) { "epoch\(life)" }
                self.daemon = daemon
                daemon.begin()
                if !sim_is_dead() { return greet() }
                end()
            } catch {
                tell("the daemon does not start: \(error)")
                daemon = nil
                if !sim_is_dead(), !isDiskFaulty || attempt > 5 { return fault("[Durability] the daemon does not start: \(error)") }
                bury()
            }
            if attempt >= 3 { disarm() }
        }
        fault("the daemon does not come up")
    }

    /// What a life begins with.
    private func greet() {
        let probe = Client(-1, .architect, user: 900)
        guard connect(probe) else { return }
        send(probe, "hello", "{}", .other)
        for _ in 0..<400 {
            turn()
            probe.flush()
            if daemon == nil { return }
            for line in probe.lines() {
                guard let result = parse(line)?.member("result"), let revision = result.integer("revision") else { continue }
                let epoch = result.member("epoch")?.string
                if let known = self.epoch, known != epoch { fault("[Order] another epoch after a restart") }
                self.epoch = epoch
                if revision < latest { fault("[Order] revision \(revision) after a restart, and \(latest) was told") }
                latest = max(latest, revision)
                let operation = Operation(.restart, "restart", author: "", low: revision)
                operation.revision = revision
                judgement.operations.append(operation)
                if let connection = probe.connection { sim_hang_up(connection) }
                return
            }
            sim_advance(1_000_000)
        }
        fault("[ping] a started daemon does not answer")
    }

    private func disarm() {
        sim_fail_disk(0, 0, 0)
        sim_set_room(-1)
        sim_kill(-1)
        sim_set_sync_time(0)
        isDiskFaulty = false
        isPowerCut = false
    }

    /// The daemon is dead, or has ended by itself.
    private func end() {
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

    private func bury() {
        let wasCut = isPowerCut && sim_is_dead()
        for client in clients where client.connection != nil { client.isStalled = false }
        sim_bury()
        if wasCut {
            sim_cut_power()
            boots += 1
            sim_write_file("/proc/sys/kernel/random/boot_id", "boot-\(boots)\n")
        }
        isPowerCut = false
        isDiskFaulty = false
    }

    private func restart() {
        restarts += 1
        // What the kernel still had of the dead process can be read.
        for client in clients where client.connection != nil {
            if generator.chance(70) { for line in client.lines() { receive(client, line) } }
            lose(client)
        }
        judgement.restarts += 1
        start()
    }

    /// Ends the daemon in order.
    private func stop(isTold: Bool) {
        guard let daemon else { return }
        tell("stop")
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

    // MARK: Steps

    private func step() {
        switch generator.below(100) {
        case 0..<46: write()
        case 46..<56: ask()
        case 56..<64: subscribe(generator.pick(clients))
        case 64..<69: hangUp(generator.pick(clients))
        case 69..<74: stall()
        case 74..<77: nonsense()
        case 77..<81: restructure()
        case 81..<86: pass()
        case 86..<88: reload()
        case 88..<90: kill()
        case 90..<92: harmDisk()
        case 92: if generator.chance(30) { stop(isTold: true) }
        case 93..<95: leaveWill()
        case 95: batch()
        default: turn(times: 1 + generator.below(4))
        }
        sim_set_short(generator.chance(30))
        turn(times: generator.below(4))
        read(clients.filter { _ in generator.chance(60) })
        sim_advance(Int64(generator.below(3_000_000)))
    }

    func connect(_ client: Client) -> Bool {
        if client.connection != nil { return true }
        // Each client is a process of its own.
        let connection = sim_connect(World.socket, Int32(100 + client.number), client.user, client.user)
        guard connection >= 0 else { return false }
        client.connection = connection
        client.input = []
        client.output = []
        client.pending = [:]
        client.isStalled = false
        sim_set_window(connection, generator.pick([4096, 60_000, 200_000]))
        if client.role == .principal {
            send(client, "hello", "{\"as\":\"pat\"}", .other)
            // Later requests must not overtake the answer.
            for _ in 0..<100 where daemon != nil && !client.pending.isEmpty && client.connection != nil {
                turn()
                read([client])
                sim_advance(100_000)
            }
            return client.connection != nil && client.pending.isEmpty
        }
        return true
    }

    func send(_ client: Client, _ method: String, _ parameters: String, _ kind: Client.Pending) {
        let id = client.nextID
        client.nextID += 1
        client.pending[id] = (kind, latest, turns)
        requests += 1
        tell("\(client.name) → \(method) \(parameters.prefix(300))")
        client.output += "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"\(method)\",\"params\":\(parameters)}\n".utf8
        client.flush()
    }

    private func change() -> [Model.Change] {
        let number = Int64(generator.below(10))
        switch generator.below(16) {
        case 0, 1: return [.set("/w.a", .int(number))]
        case 2: return [.set(generator.pick(["/w.o.x", "/w.o.y"]), .int(number))]
        case 3: return [.add("/w.a", 1), .add("/w.b", -1)]
        case 4: return [.set("/w/v\(generator.below(Model.views)).\(generator.pick(["a", "b", "n"]))", .int(number))]
        case 5: return [.set("/w.items", .list(["i1", "i2", "i3"].filter { _ in generator.chance(70) }.map { .string($0) }))]
        case 6: return [.set("/w/r/i\(1 + generator.below(3)).q", .int(number))]
        case 7: return [.set("/t.v", .int(number))]
        case 8: return [.toggle("/w.on"), .merge("/w.o", ["x": .int(number)])]
        case 9: return [.set("/w.text", .string(String(repeating: "x", count: generator.chance(20) ? 9000 : generator.below(9))))]
        case 10: return [.set("/w/m.z", .int(number))]
        case 11: return [.set("/w.sum", 1)]
        case 12: return [.set("/w.a", "text")]
        default: return account()
        }
    }

    /// A transfer, if the account has what the client believes.
    private func account() -> [Model.Change] {
        let from = "/bank.x\(generator.below(Model.accounts))", to = "/bank.x\(generator.below(Model.accounts))"
        let amount = Int64(1 + generator.below(9))
        if generator.chance(30) { return [.add(from, -amount), .add(to, amount)] }
        return [.test(from, .int(judgement.guess[from] ?? 100)), .add(from, -amount), .add(to, amount)]
    }

    private func write() {
        let client = generator.pick(clients)
        guard connect(client), client.pending.count < 60 else { return }
        if client.mustLook { return look(client) }
        for _ in 0..<1 + generator.below(generator.chance(20) ? 40 : 10) {
            switch client.role {
            case .owner(let number):
                client.written += 1
                let path = "/c.v\(number)"
                let operation = Operation(
                    .change([.set(path, .int(client.written))]), "", author: client.author, low: latest)
                send(client, "set", "{\"path\":\"\(path)\",\"value\":\(client.written)}", .operation(operation))
            case .writer: perform(client, change())
            case .principal: perform(client, account())
            case .reader: perform(client, change())
            case .architect: return restructure()
            case .rowdy: return nonsense()
            }
        }
    }

    private func perform(_ client: Client, _ changes: [Model.Change]) {
        nextOnce += 1
        let once = "o\(place)-\(nextOnce)"
        var parameters = "\"mutations\":[\(changes.map(\.text).joined(separator: ","))],\"once\":\"\(once)\""
        var method = "transact"
        if changes.count == 1, case .set(let path, let value) = changes[0], generator.chance(50) {
            method = "set"
            parameters = "\"path\":\"\(path)\",\"value\":\(value.jsonText),\"once\":\"\(once)\""
        }
        let operation = Operation(.change(changes), "\(method) {\(parameters)}", once: once, author: client.author, low: latest)
        if client.role == .reader {
            let isWithin = changes.allSatisfy { $0.path.hasPrefix("/w") && !$0.path.hasPrefix("/wills") }
            operation.isAlwaysDenied = !isWithin
            if !isReaderWriting || !isWithin { operation.mustFail = "denied" }
        }
        send(client, method, "{\(parameters)}", .operation(operation))
    }

    /// Sends requests with `once` again whose answers were lost.
    private func repeatLost(_ client: Client) {
        let own = lost.filter { $0.author == client.author }
        guard !own.isEmpty, client.role != .reader || isReaderWriting, connect(client) else { return }
        lost.removeAll { $0.author == client.author }
        for operation in own {
            operation.isRepeated = true
            let space = operation.text.firstIndex(of: " ") ?? operation.text.startIndex
            send(
                client, String(operation.text[..<space]), String(operation.text[space...].dropFirst()),
                .operation(operation))
        }
    }

    /// The only writer of something reads it, because it does not know what became of its requests.
    func look(_ client: Client) {
        guard client.pending.isEmpty, connect(client) else { return }
        switch client.role {
        case .owner(let number): send(client, "get", "{\"paths\":[\"/c.v\(number)\"]}", .get)
        case .architect: send(client, "get", "{\"paths\":[\"/w/m.z\"]}", .get)
        default: client.mustLook = false
        }
    }

    private func ask() {
        let client = generator.pick(clients)
        guard connect(client), client.pending.count < 60 else { return }
        if client.mustLook { return look(client) }
        if generator.chance(40) { repeatLost(client) }
        if generator.chance(50) { return send(client, "ping", "{}", .ping) }
        if client.role == .reader, generator.chance(20) { return send(client, "get", "{\"path\":\"/nothing.x\"}", .refused) }
        let paths = generator.pick([
            ["/w.a", "/w.b", "/w.sum", "/w.o.x", "/w/m.z", "/w/r/i1.q"], ["/w/**"], ["/bank/**"], ["/c/**", "/t.twice"],
            ["/w/v0.r2", "/w/v1.r1"],
        ])
        if client.role == .principal || client.role == .rowdy { return send(client, "ping", "{}", .ping) }
        send(client, "get", "{\"paths\":\(Value.list(paths.map { .string($0) }).jsonText)}", .get)
    }

    private func subscribe(_ client: Client) {
        guard client.role != .principal, client.role != .rowdy, connect(client), client.pending.count < 60 else { return }
        if let watch = client.watch, watch.subscription != nil || client.isSubscribing { return withExtendedLifetime(watch) {} }
        let watch: Watch
        if let old = client.watch {
            watch = old
        } else {
            let patterns = generator.pick([
                ["/w/**"], ["/w.a", "/w.b", "/w.sum"], ["/w.o.x"], ["/w/**.q"], ["/t/**", "/w.a"], ["/w/m/**"],
                ["/bank/**"], ["/c/**"], ["/w/*.r1"], ["/w/v1.a", "/w/v2.r2"], ["/w/r/i1.q"], ["/w.text"],
            ])
            let events = generator.pick([["update"], ["update"], ["update", "structure"], ["update", "invalidate"], ["invalidate"]])
            let rate: Double? = generator.chance(15) ? 50 : nil
            watch = Watch(
                WatchValidator(
                    "\(client.name) \(patterns) \(events)", judgement.truth, patterns: patterns, events: Set(events),
                    hasMaxRate: rate != nil), rate: rate)
            client.watch = watch
            judgement.watches.append(watch)
        }
        var parameters = ValueMap()
        parameters["bookmarks"] = true
        parameters["paths"] = .list(watch.validator.patterns.map { .string($0) })
        parameters["events"] = .list(watch.validator.events.sorted().map { .string($0) })
        if let rate = watch.rate { parameters["maxRate"] = .double(rate) }
        let since = watch.position
        if let since { parameters["since"] = ["epoch": .string(epoch ?? ""), "revision": .int(since)] }
        send(client, "subscribe", Value.map(parameters).jsonText, .subscribe(since: since))
    }

    private func hangUp(_ client: Client) {
        guard let connection = client.connection else { return }
        if generator.chance(20) {
            // Only its sending side.
            if client.output.isEmpty {
                tell("\(client.name) ends its side")
                sim_end_sending(connection)
                client.hasEnded = true
            }
            return
        }
        tell("\(client.name) hangs up")
        if generator.chance(50) { for line in client.lines() { receive(client, line) } }
        lose(client)
    }

    /// The connection is over: the client knows nothing of its requests.
    func lose(_ client: Client) {
        guard let connection = client.connection else { return }
        sim_hang_up(connection)
        client.connection = nil
        client.isStalled = false
        client.hasEnded = false
        for (_, pending) in client.pending.sorted(by: { $0.key < $1.key }) {
            guard case .operation(let operation) = pending.kind else { continue }
            if operation.once != nil {
                if client.role == .reader { operation.rightsChange() }
                lost.append(operation)
            } else {
                client.mustLook = true
                client.lostSince = min(client.lostSince ?? .max, operation.low)
            }
        }
        client.pending = [:]
        if let number = willNumbers.removeValue(forKey: client.number) { wills[number] += 1 }
        client.hasWill = false
        if let watch = client.watch {
            watch.subscription = nil
            record(watch, .interrupted)
        }
    }

    func record(_ watch: Watch, _ record: Watch.Record) { watch.records.append((judgement.restarts, record)) }

    private func stall() {
        let client = generator.pick(clients)
        guard client.connection != nil else { return }
        client.isStalled.toggle()
        tell("\(client.name) \(client.isStalled ? "reads nothing" : "reads again")")
    }

    private func nonsense() {
        guard let client = clients.first(where: { $0.role == .rowdy }), connect(client), !client.hasEnded else { return }
        let lines: [String] = [
            "{", "[]", "[1]", "null", "{\"jsonrpc\":\"2.0\",\"id\":\"s\"}", String(repeating: "[", count: 3000), "\u{0}\u{1}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"set\",\"params\":{\"path\":\"/w.a\",\"value\":1}}",
            "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"get\",\"params\":{\"path\":\"/\(Model.hidden)\"}}",
            "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"get\",\"params\":{\"path\":\"/\(Model.hidden)2.x\"}}",
            String(repeating: "x", count: 70_000), "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"apply\",\"params\":{\"document\":\"a: [\"}}",
        ]
        let line = generator.pick(lines)
        tell("\(client.name) → \(line.prefix(100))")
        client.output += (line + "\n").utf8
        client.flush()
        send(client, "ping", "{}", .ping)
    }

    private func restructure() {
        guard let client = clients.first(where: { $0.role == .architect }), connect(client), client.pending.isEmpty,
            !client.hasEnded
        else { return }
        if client.mustLook { return look(client) }
        let isThere = generator.chance(50)
        let operation = Operation(.node(isThere: isThere), "", author: client.author, low: latest)
        if isThere {
            send(
                client, "apply",
                "{\"at\":\"/w\",\"mode\":\"merge\",\"document\":{\"agd\":1,\"nodes\":[{\"id\":\"m\",\"kind\":\"container\",\"state\":{\"z\":0}}]}}",
                .operation(operation))
        } else {
            send(client, "remove", "{\"path\":\"/w/m\"}", .operation(operation))
        }
    }

    private func pass() {
        switch generator.below(8) {
        case 0:
            tell("the wall clock is set")
            sim_step_wall(Int64(generator.below(2_000_000) - 1_000_000) * 1_000_000_000)
        case 1:
            tell("the machine sleeps")
            sim_sleep(Int64(generator.below(100_000)) * 1_000_000_000)
        case 2:
            tell("time passes")
            sim_advance(Int64(generator.below(100)) * 1_000_000_000)
        default: sim_advance(Int64(generator.below(200)) * 1_000_000)
        }
    }

    private func reload() {
        tell("reload")
        isReaderWriting.toggle()
        changeAccess()
    }

    private func changeAccess() {
        setAccess()
        for client in clients where client.role == .reader {
            for (_, pending) in client.pending {
                if case .operation(let operation) = pending.kind { operation.rightsChange() }
            }
        }
        for operation in lost where operation.author == "user:1001" { operation.rightsChange() }
        daemon?.reload()
    }

    private func kill() {
        guard !isDiskFaulty, !isPowerCut else { return }
        isPowerCut = generator.chance(50)
        let calls = generator.below(generator.chance(50) ? 10 : 100)
        tell("\(isPowerCut ? "a power cut" : "a kill") after \(calls) calls")
        sim_kill(Int64(calls))
    }

    private func harmDisk() {
        guard !isDiskFaulty, !isPowerCut else { return }
        switch generator.below(3) {
        case 0:
            tell("the disk is slow")
            sim_set_sync_time(Int64(generator.below(200)) * 1_000_000)
        case 1:
            tell("the disk is full")
            isDiskFaulty = true
            sim_set_room(Int64(generator.below(20_000)))
        default:
            tell("the disk fails")
            isDiskFaulty = true
            sim_fail_disk(Int64(generator.below(60)), 5, Int64(1 + generator.below(3)))
        }
    }

    private func leaveWill() {
        guard willNumbers.count < Model.wills, let client = clients.first(where: { $0.role == .writer && !$0.hasWill && $0.connection != nil }),
            let number = (0..<Model.wills).first(where: { !willNumbers.values.contains($0) }), !client.hasEnded
        else { return }
        // Until it is answered, nobody knows whether it counts.
        let id = client.nextID
        send(client, "onDisconnect", "{\"mutations\":[{\"op\":\"add\",\"path\":\"/wills.k\(number)\",\"value\":1}]}", .other)
        client.hasWill = true
        for _ in 0..<40 where daemon != nil && client.connection != nil && client.pending[id] != nil {
            turn()
            read([client])
            sim_advance(100_000)
        }
        // An unanswered one makes the count unknown.
        if client.pending[id] == nil, client.connection != nil { willNumbers[client.number] = number } else { judgement.unknownWills.insert(number) }
    }

    /// Its replies are one list.
    private func batch() {
        let client = generator.pick(clients)
        guard client.role != .rowdy, connect(client), client.pending.count < 60, !client.hasEnded else { return }
        let first = client.nextID
        var calls: [String] = []
        for _ in 0..<2 + generator.below(4) {
            client.pending[client.nextID] = (.ping, latest, turns)
            calls.append("{\"jsonrpc\":\"2.0\",\"id\":\(client.nextID),\"method\":\"ping\"}")
            client.nextID += 1
            requests += 1
        }
        tell("\(client.name) → a batch from \(first)")
        client.output += ("[" + calls.joined(separator: ",") + "]\n").utf8
        client.flush()
    }

    // MARK: What clients are told

    func parse(_ line: ArraySlice<UInt8>) -> Value? { try? JSONParser.parseOnce(line) }

    private func receive(_ client: Client, _ line: ArraySlice<UInt8>) {
        guard let message = parse(line) else {
            return fault("[Messages] \(client.name) is sent \(String(decoding: line.prefix(200), as: UTF8.self))")
        }
        tell("\(client.name) ← \(String(decoding: line.prefix(400), as: UTF8.self))")
        // Who names it is told that it may not.
        let hidden = client.role == .rowdy ? "\(Model.hidden)child" : Model.hidden
        if client.user != 900, String(decoding: line, as: UTF8.self).contains(hidden) {
            fault("[Rights] \(client.name) is told of what it may not read: \(String(decoding: line.prefix(400), as: UTF8.self))")
        }
        if let list = message.list {
            for reply in list { answer(client, reply) }
        } else if message.member("method") != nil {
            event(client, message)
        } else {
            answer(client, message)
        }
    }

    private func event(_ client: Client, _ event: Value) {
        guard let watch = client.watch, let parameters = event.member("params"),
            let number = parameters.integer("subscription"), number == watch.subscription
        else { return fault("[Events] \(client.name) is sent \(event.jsonText.prefix(300))") }
        let method = event.member("method")?.string
        if method == "ended" {
            client.watch = nil
            return
        }
        record(watch, .event(event))
        guard let revision = parameters.integer("revision") else { return }
        latest = max(latest, revision)
        let isPosition = method == "update" || method == "bookmark" || !watch.validator.events.contains("update")
        if method == "update" { watch.awaitsSnapshot = false }
        if isPosition { watch.position = max(watch.position ?? 0, revision) }
    }

    private func answer(_ client: Client, _ reply: Value) {
        guard let id = reply.integer("id"), let pending = client.pending.removeValue(forKey: id) else {
            if client.role == .rowdy || reply.member("error")?.member("data")?.member("code") == "limit" { return }
            return fault("[Messages] \(client.name) is answered \(reply.jsonText.prefix(300)), and has not asked")
        }
        let error = reply.member("error")
        let code = error?.member("data")?.member("code")?.string
        let result = reply.member("result") ?? .null
        if let revision = result.integer("revision") {
            if revision < pending.low, result.member("repeated") != true {
                fault("[Order] \(client.name) is answered at \(revision), and \(pending.low) was told before it asked")
            }
            latest = max(latest, revision)
        }
        switch pending.kind {
        case .operation(let operation):
            operation.high = max(latest, committed)
            // A request that was sent again is refused now for want of a right, and may have been performed before.
            if code == "denied", operation.mayBeDenied, operation.isRepeated { return lost.append(operation) }
            if let code { operation.refusal = code } else { operation.revision = result.integer("revision") }
            judgement.operations.append(operation)
            if case .owner = client.role, case .change(let changes) = operation.kind, case .set(_, .int(let number))? = changes.first,
                code == nil
            {
                client.acknowledged = number
            }
            judgement.note(operation)
        case .get:
            if let error { return fault("[get] \(client.name) is refused \(error.jsonText)") }
            let revision = result.integer("revision") ?? 0
            judgement.reads.append((client.name, result.member("values") ?? .null, revision))
            if client.mustLook { found(client, result.member("values") ?? .null, revision) }
            if let watch = client.watch { record(watch, .answered(result.member("values") ?? .null, revision)) }
        case .subscribe(let since):
            guard let watch = client.watch else { return }
            if let code {
                if code != "notFound" { fault("[subscribe] \(client.name) is refused \(error?.jsonText ?? "")") }
                client.watch = nil
                return
            }
            watch.subscription = result.integer("subscription")
            record(watch, .subscribed(result, since: since))
            watch.awaitsSnapshot = result.member("resumed") != true && watch.validator.events.contains("update")
            if !watch.awaitsSnapshot, since == nil || !watch.validator.events.contains("update") { watch.position = result.integer("revision") }
            return
        case .refused: if code != "notFound" { fault("[Errors] \(client.name) is answered \(reply.jsonText)") }
        case .ping, .other:
            if let error { return fault("[ping] \(client.name) is refused \(error.jsonText)") }
        }
        // Before any reply, a client has all updates of revisions up to the one in the reply.
        if let watch = client.watch, watch.subscription != nil {
            let known = max(pending.low, result.member("repeated") == true ? 0 : result.integer("revision") ?? 0)
            record(watch, .barrier(known))
            if watch.rate == nil, !watch.awaitsSnapshot { watch.position = max(watch.position ?? 0, known) }
        }
    }

    /// The only writer of something has read it.
    private func found(_ client: Client, _ values: Value, _ revision: Int64) {
        client.mustLook = false
        let low = client.lostSince ?? latest
        client.lostSince = nil
        let content = values.map?.first { _ in true }?.value
        let kind: Operation.Kind
        switch client.role {
        case .owner(let number):
            guard case .int(let value)? = content?.member("value") else { return fault("[get] no value of /c.v\(number)") }
            if value < client.acknowledged || value > client.written {
                fault("[Durability] /c.v\(number) is \(value); \(client.acknowledged) was acknowledged and \(client.written) written")
            }
            kind = .found([.set("/c.v\(number)", .int(value))])
        default: kind = .foundNode(isThere: content?.member("value") != nil)
        }
        let operation = Operation(kind, "found", author: client.author, low: low)
        operation.revision = revision
        judgement.operations.append(operation)
    }

    // MARK: Coming to rest

    /// All requests are answered, all events read, all outcomes known. Then everything is judged.
    private func comeToRest() {
        tell("coming to rest")
        disarm()
        for client in clients { client.isStalled = false }
        if !isReaderWriting {
            isReaderWriting = true
            changeAccess()
        }
        var rounds = 0
        while faults.isEmpty {
            if daemon == nil { restart() }
            rounds += 1
            if rounds > 5000 {
                let waiting = clients.filter { !$0.pending.isEmpty }.map { "\($0.name): \($0.pending)" }
                return fault("[Slow clients and limits] in vain wait \(waiting.joined(separator: "; "))")
            }
            for client in clients {
                if let connection = client.connection { sim_set_window(connection, 200_000) }
                if client.mustLook { look(client) }
            }
            if let client = clients.first(where: { client in lost.contains { $0.author == client.author } && !client.hasEnded }) {
                repeatLost(client)
            }
            turn(times: 2)
            read()
            sim_advance(1_000_000)
            let isDone = lost.isEmpty && clients.allSatisfy {
                $0.pending.isEmpty && $0.output.isEmpty && !$0.mustLook && ($0.connection.map { sim_waiting($0) } ?? 0) == 0
            }
            if isDone, rounds > 3 { break }
        }
        // Behind what they were told last comes a barrier.
        for client in clients where client.connection != nil && !client.hasEnded { send(client, "ping", "{}", .ping) }
        settle { self.clients.allSatisfy(\.pending.isEmpty) }
        for _ in 0..<40 where daemon != nil {
            sim_advance(20_000_000)
            turn(times: 2)
            read()
        }
        guard faults.isEmpty, daemon != nil else { return }
        guard let (values, revision) = readEverything() else { return }
        judgement.judge(values, revision, wills: wills, fault)
        guard let figures = ask("stats", "{}") else { return }
        let connected = clients.filter { $0.connection != nil }
        let wanted: [(String, Int)] = [
            ("clients", connected.count + 1), ("subscriptions", connected.filter { $0.watch?.subscription != nil }.count),
        ]
        for (name, count) in wanted where figures.integer(name) != Int64(count) {
            fault("[stats] \(name) is \(figures.integer(name) ?? -1) and not \(count): something is not given back")
        }
    }

    private func settle(_ condition: () -> Bool) {
        for _ in 0..<5000 where daemon != nil && faults.isEmpty && !condition() {
            turn(times: 2)
            read()
            sim_advance(1_000_000)
        }
    }

    private func readEverything() -> (Value, Int64)? {
        ask("get", "{\"paths\":[\"/**\",\"/w.o.x\",\"/w.o.y\"]}").map {
            ($0.member("values") ?? .null, $0.integer("revision") ?? 0)
        }
    }

    /// What the daemon's own user is answered.
    private func ask(_ method: String, _ parameters: String) -> Value? {
        let probe = Client(-1, .architect, user: 900)
        guard connect(probe) else {
            fault("nobody listens")
            return nil
        }
        defer { if let connection = probe.connection { sim_hang_up(connection) } }
        send(probe, method, parameters, .other)
        for _ in 0..<500 {
            turn()
            for line in probe.lines() {
                if let result = parse(line)?.member("result") { return result }
                fault("[\(method)] a probe is answered \(String(decoding: line.prefix(300), as: UTF8.self))")
                return nil
            }
            sim_advance(1_000_000)
        }
        fault("[\(method)] a probe is not answered")
        return nil
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
