import AttributeValues
import CSimulatedKernel
import DaemonServer
import TestSupport

// What clients do, and what is done to the daemon.
extension World {
    func step() {
        switch generator.below(100) {
        case 0..<12 where hasPages && generator.chance(80): stepPages()
        case 0..<44: write()
        case 44: writeFar()
        case 45: delegate()
        case 46..<56: ask()
        case 56..<64: subscribe(generator.pick(clients))
        case 64..<68: hangUp(generator.pick(clients))
        case 68, 69: generator.chance(70) ? blink() : hangUp(generator.pick(clients))
        case 70..<74: stall()
        case 74..<77: nonsense()
        case 77..<81: restructure()
        case 81..<86: pass()
        case 86..<88: reload()
        case 88..<90: kill()
        case 90..<92: harmDisk()
        case 92: if generator.chance(30) { stop() }
        case 93..<95: leaveWill()
        case 95: batch()
        case 96: backUp()
        case 97: generator.chance(50) ? delegate() : writeFar()
        case 98: if hasGreed { crowd() } else { beModest() }
        case 99 where hasGreed: beModest()
        default: turn(times: 1 + generator.below(4))
        }
        sim_set_short(generator.chance(30))
        turn(times: generator.below(4))
        read(clients.filter { _ in generator.chance(60) })
        sim_advance(Int64(generator.below(3_000_000)))
    }

    func connect(_ client: Client) -> Bool {
        // Who has ended its side only listens.
        if client.connection != nil { return !client.hasEnded }
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

    func change() -> [Model.Change] {
        let number = Int64(generator.below(10))
        switch generator.below(23) {
        case 21, 22: return [.set(generator.pick(Model.optional).path, .int(number))]
        case 16: return [.call("/act.shift", generator.chance(50) ? nil : number)]
        case 17: return [.call("/act.swap", nil)]
        case 18: return [.call("/act.guarded", nil)]
        case 19: return [.set("/box\(1 + generator.below(Model.Tree.boxes))/ball.v", .int(number))]
        case 20: return [.set(Model.past + "fresh", .int(number))]
        case 0, 1: return [.set("/w.a", .int(number))]
        case 2: return [.set(generator.pick(["/w.o.x", "/w.o.y"]), .int(number))]
        case 3: return [.add("/w.a", 1), .add("/w.b", -1)]
        case 4: return [.set("/w/v\(generator.below(Model.views)).\(generator.pick(["a", "b", "n"]))", .int(number))]
        case 5:
            return [
                .set("/w.items", .list(["i1", "i2", "i3"].filter { _ in generator.chance(70) }.map { .string($0) }))
            ]
        case 6: return [.set("/w/r/i\(1 + generator.below(3)).q", .int(number))]
        case 7: return [.set("/t.v", .int(number))]
        case 8: return [.toggle("/w.on"), .merge("/w.o", ["x": .int(number)])]
        case 9:
            return [
                .set(
                    "/w.text", .string(String(repeating: "x", count: generator.chance(20) ? 9000 : generator.below(9))))
            ]
        case 10: return [.set("/w/m.z", .int(number))]
        case 11: return [.set("/w.sum", 1)]
        case 12: return [.set("/w.a", "text")]
        default: return account()
        }
    }

    /// A transfer, if the account has what the client believes.
    func account() -> [Model.Change] {
        let from = "/bank.x\(generator.below(Model.accounts))", to = "/bank.x\(generator.below(Model.accounts))"
        let amount = Int64(1 + generator.below(9))
        if generator.chance(30) { return [.add(from, -amount), .add(to, amount)] }
        return [.test(from, .int(judgement.guess[from] ?? 100)), .add(from, -amount), .add(to, amount)]
    }

    func write() {
        let client = generator.pick(clients)
        guard connect(client), client.pending.count < 60 else { return }
        if client.mustLook { return look(client) }
        for _ in 0..<1 + generator.below(generator.chance(25) ? 90 : 12) {
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
            case .delegate: return delegate()
            case .greedy: return beGreedy(client)
            case .modest: return beModest()
            }
        }
    }

    func perform(_ client: Client, _ changes: [Model.Change]) {
        nextOnce += 1
        let once = "o\(place)-\(nextOnce)"
        var parameters = "\"mutations\":[\(changes.map(\.text).joined(separator: ","))],\"once\":\"\(once)\""
        var method = "transact"
        if changes.count == 1, case .set(let path, let value) = changes[0], generator.chance(50) {
            method = "set"
            parameters = "\"path\":\"\(path)\",\"value\":\(value.jsonText),\"once\":\"\(once)\""
        }
        if case .call = changes[0] {
            method = "do"
            parameters = "\(changes[0].text.dropFirst().dropLast()),\"once\":\"\(once)\""
        }
        if generator.chance(15) { parameters += ",\"animation\":\"linear(duration: 0.2)\"" }
        let operation = Operation(
            .change(changes), "\(method) {\(parameters)}", once: once, author: client.author, low: latest)
        if client.role == .reader {
            // Who may not write may still call an action, which works with the rights of its author.
            if case .call = changes[0] {
            } else {
                let isWithin = changes.allSatisfy { $0.path.hasPrefix("/w") && !$0.path.hasPrefix("/wills") }
                operation.isAlwaysDenied = !isWithin
                if !isReaderWriting || !isWithin { operation.mustFail = "denied" }
            }
        }
        send(client, method, "{\(parameters)}", .operation(operation))
    }

    /// Sends requests with `once` again whose answers were lost.
    func repeatLost(_ client: Client) {
        if client.role == .delegate, client.delegation == nil { return delegate() }
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
        case .architect:
            let paths = Value.list(Model.Tree.paths.map { .string($0) })
            send(client, "get", "{\"paths\":\(paths.jsonText)}", .get)
        default: client.mustLook = false
        }
    }

    func ask() {
        let client = generator.pick(clients)
        guard connect(client), client.pending.count < 60 else { return }
        if client.mustLook { return look(client) }
        if generator.chance(40) { repeatLost(client) }
        if generator.chance(50) { return send(client, "ping", "{}", .ping) }
        if client.role == .architect, generator.chance(60) {
            let (method, parameters) = generator.pick([
                ("describe", "{\"path\":\"/w\"}"), ("dump", "{}"), ("explain", "{\"path\":\"/w/v0.r1\"}"),
                ("stats", "{}"),
                ("describe", "{}"), ("dump", "{\"format\":\"scene\"}"), ("eval", "{\"expression\":\"1 + 1\"}"),
            ])
            return send(client, method, parameters, .other)
        }
        if client.role == .reader, generator.chance(20) {
            return send(client, "get", "{\"path\":\"/nothing.x\"}", .refused)
        }
        let paths = generator.pick([
            ["/w.a", "/w.b", "/w.sum", "/w.o.x", "/w/m.z", "/w/r/i1.q"], ["/w/**"], ["/bank/**"],
            ["/c/**", "/t.twice"],
            ["/w/v0.r2", "/w/v1.r1"],
        ])
        if [.principal, .rowdy, .greedy, .delegate].contains(client.role) { return send(client, "ping", "{}", .ping) }
        send(client, "get", "{\"paths\":\(Value.list(paths.map { .string($0) }).jsonText)}", .get)
    }

    func subscribe(_ client: Client) {
        guard ![.principal, .rowdy, .greedy, .delegate, .modest].contains(client.role), connect(client),
            client.pending.count < 60
        else {
            return
        }
        if let watch = client.watch, watch.subscription != nil || client.isSubscribing {
            return withExtendedLifetime(watch) {}
        }
        let watch: Watch
        if let old = client.watch {
            watch = old
        } else {
            let patterns = generator.pick([
                ["/w/**"], ["/w.a", "/w.b", "/w.sum"], ["/w.o.x"], ["/w/**.q"], ["/t/**", "/w.a"], ["/w/m/**"],
                ["/bank/**"], ["/c/**"], ["/w/*.r1"], ["/box1/**"], ["/box2/**", "/box1/**"], ["/act.n", "/act.p"],
                ["/w/v1.a", "/w/v2.r2"], ["/w/r/i1.q"], ["/w.text"],
            ])
            let events = generator.pick([
                ["update"], ["update"], ["update", "structure"], ["update", "invalidate"], ["invalidate"],
                ["update", "frames", "completion"],
            ])
            let rate: Double? = generator.chance(15) ? 50 : nil
            watch = Watch(
                WatchValidator(
                    "\(client.name) \(patterns) \(events)", judgement.truth, patterns: patterns, events: Set(events),
                    hasMaxRate: rate != nil),
                motion: events.contains("frames")
                    ? MotionValidator(client.name, judgement.truth, hasMaxRate: rate != nil) : nil,
                rate: rate)
            client.watch = watch
            judgement.watches.append(watch)
        }
        var parameters = ValueMap()
        parameters["bookmarks"] = true
        parameters["paths"] = .list(watch.validator.patterns.map { .string($0) })
        parameters["events"] = .list(watch.validator.events.sorted().map { .string($0) })
        if watch.motion != nil { parameters["frames"] = ["rate": 30] }
        if let rate = watch.rate { parameters["maxRate"] = .double(rate) }
        let since = watch.position
        if let since { parameters["since"] = ["epoch": .string(epoch ?? ""), "revision": .int(since)] }
        send(client, "subscribe", Value.map(parameters).jsonText, .subscribe(since: since))
    }

    func hangUp(_ client: Client) {
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
        // It is back when little has changed.
        if client.watch != nil, generator.chance(60) {
            for _ in 0..<1 + generator.below(3) { write() }
            turn(times: 2)
            subscribe(client)
        }
    }

    /// [resumable] A client that has been told everything is away for exactly one change, or two, and resumes.
    func blink() {
        let watching = clients.filter {
            $0.role == .reader && $0.watch?.subscription != nil && $0.watch?.awaitsSnapshot == false && !$0.hasEnded
        }
        guard !watching.isEmpty, let writer = clients.first(where: { $0.role == .writer && !$0.hasEnded }),
            connect(writer)
        else { return }
        let client = generator.pick(watching)
        client.isStalled = false
        sim_set_short(false)
        if client.pending.count < 60 { send(client, "ping", "{}", .ping) }
        settle(at: [client, writer])
        guard let watch = client.watch, watch.position != nil else { return }
        tell("\(client.name) blinks")
        lose(client)
        for _ in 0..<1 + generator.below(2) {
            // The daemon may have died meanwhile.
            guard connect(writer) else { break }
            // One that it will be told of, mostly.
            var changes = change()
            for _ in 0..<10 where !changes.contains(where: { judgement.truth.names($0.path, watch.validator.patterns) })
            {
                changes = change()
            }
            perform(writer, changes)
            settle(at: [writer])
        }
        subscribe(client)
    }

    /// A few turns, until nothing that these clients have asked is open.
    private func settle(at chosen: [Client]) {
        for _ in 0..<30 where daemon != nil && chosen.contains(where: { $0.connection != nil && !$0.pending.isEmpty }) {
            turn()
            read(chosen)
            sim_advance(100_000)
        }
    }

    /// The connection is over: the client knows nothing of its requests.
    func lose(_ client: Client) {
        guard let connection = client.connection else { return }
        sim_hang_up(connection)
        client.connection = nil
        client.output = []
        client.isStalled = false
        client.hasEnded = false
        client.delegation = nil
        for (_, pending) in client.pending.sorted(by: { $0.key < $1.key }) {
            guard case .operation(let operation) = pending.kind else { continue }
            if case .forwarded = operation.kind { continue }
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
        // The daemon performs what it has received, maybe behind the requests of the client's next connection. The only
        // writer of something must know that this is over.
        var rounds = 0
        while client.mustLook, !isStopping, daemon != nil, sim_is_served(connection), rounds < 1000 {
            turn()
            rounds += 1
        }
        if client.mustLook, !isStopping { turn(times: 3) }
    }

    func record(_ watch: Watch, _ record: Watch.Record) { watch.records.append((judgement.restarts, record)) }

    func stall() {
        let client = generator.pick(clients)
        guard client.connection != nil, client.role != .modest else { return }
        client.isStalled.toggle()
        tell("\(client.name) \(client.isStalled ? "reads nothing" : "reads again")")
    }

    static let nonsense: [String] = [
        "{", "[]", "[1]", "null", "{\"jsonrpc\":\"2.0\",\"id\":\"s\"}", String(repeating: "[", count: 3000),
        "\u{0}\u{1}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"set\",\"params\":{\"path\":\"/w.a\",\"value\":1}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"get\",\"params\":{\"path\":\"/\(Model.hidden)\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"get\",\"params\":{\"path\":\"/\(Model.hidden)2.x\"}}",
        String(repeating: "x", count: 70_000),
        "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"apply\",\"params\":{\"document\":\"a: [\"}}",
    ]

    func nonsense() {
        guard let client = clients.first(where: { $0.role == .rowdy }), connect(client), !client.hasEnded else {
            return
        }
        let line = generator.pick(World.nonsense)
        tell("\(client.name) → \(line.prefix(100))")
        client.output += (line + "\n").utf8
        client.flush()
        send(client, "ping", "{}", .ping)
    }

    func restructure() {
        guard let client = clients.first(where: { $0.role == .architect }), connect(client), client.pending.isEmpty,
            !client.hasEnded
        else { return }
        if client.mustLook { return look(client) }
        var tree = client.tree
        if generator.chance(40) {
            let from = tree.ball
            tree.box = 1 + generator.below(Model.Tree.boxes)
            return send(
                client, "move", "{\"path\":\"\(from)\",\"to\":\"/box\(tree.box)\"}",
                .operation(Operation(.tree(tree), "", author: client.author, low: latest)))
        }
        if tree.layer > 0, generator.chance(20) {
            tree.isLampRemoved.toggle()
            return send(
                client, tree.isLampRemoved ? "remove" : "restore", "{\"path\":\"/lamp\"}",
                .operation(Operation(.tree(tree), "", author: client.author, low: latest)))
        }
        if generator.chance(60) {
            let before = tree.layer
            tree.layer = generator.below(Model.Tree.documents.count + 1)
            if tree.layer == 0, before == 0 { return }
            // Values that wait for the scene's node go with the layer's. After a power cut some may be there again.
            if tree.plan == .made, !edition.hasPlan, tree.layer != 1 { return }
            if tree.layer != before { tree.isLampRemoved = false }
            if tree.layer != 1 {
                tree.plan = .none
            } else if before != 1 {
                tree.plan = edition.hasPlan ? .completed : .made
            }
            let what = tree.layer == 0 ? "" : ",\"document\":\(Model.Tree.documents[tree.layer - 1])"
            return send(
                client, tree.layer == 0 ? "remove" : "apply",
                "{\"\(tree.layer == 0 ? "path" : "at")\":\"/\",\"layer\":\"lights\"\(what)}",
                .operation(Operation(.tree(tree), "", author: client.author, low: latest)))
        }
        tree.hasNode = generator.chance(50)
        let operation = Operation(.tree(tree), "", author: client.author, low: latest)
        if tree.hasNode {
            send(
                client, "apply",
                "{\"at\":\"/w\",\"mode\":\"merge\",\"document\":{\"agd\":1,\"nodes\":[{\"id\":\"m\",\"kind\":\"container\",\"state\":{\"z\":0}}]}}",
                .operation(operation))
        } else {
            send(client, "remove", "{\"path\":\"/w/m\"}", .operation(operation))
        }
    }

    func pass() {
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

    func reload() {
        tell("reload")
        isReaderWriting.toggle()
        changeAccess()
    }

    func changeAccess() {
        setAccess()
        for client in clients where client.role == .reader {
            for (_, pending) in client.pending {
                if case .operation(let operation) = pending.kind { operation.rightsChange() }
            }
        }
        for operation in lost where operation.author == "user:1001" { operation.rightsChange() }
        daemon?.reload()
    }

    func kill() {
        guard !isDiskFaulty, !isPowerCut, generator.chance(peril) else { return }
        // Without a disk that confirms, a power cut may lose what was acknowledged.
        isPowerCut = configuration.durability == .full && generator.chance(60)
        let calls = generator.below(generator.chance(50) ? 10 : 100)
        tell("\(isPowerCut ? "a power cut" : "a kill") after \(calls) calls")
        sim_kill(Int64(calls))
    }

    func harmDisk() {
        guard !isDiskFaulty, !isPowerCut, generator.chance(peril) else { return }
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

    func leaveWill() {
        guard willNumbers.count < Model.wills,
            let client = clients.first(where: { $0.role == .writer && !$0.hasWill && $0.connection != nil }),
            let number = (0..<Model.wills).first(where: { !willNumbers.values.contains($0) }), !client.hasEnded
        else { return }
        // Until it is answered, nobody knows whether it counts.
        let id = client.nextID
        send(
            client, "onDisconnect", "{\"mutations\":[{\"op\":\"add\",\"path\":\"/wills.k\(number)\",\"value\":1}]}",
            .other)
        client.hasWill = true
        for _ in 0..<40 where daemon != nil && client.connection != nil && client.pending[id] != nil {
            turn()
            read([client])
            sim_advance(100_000)
        }
        // An unanswered one makes the count unknown.
        if client.pending[id] == nil, client.connection != nil {
            willNumbers[client.number] = number
        } else {
            judgement.unknownWills.insert(number)
        }
    }

    /// Beside the daemon, as `agd --backup` does.
    func backUp() {
        guard daemon != nil, !sim_is_dead() else { return }
        tell("a backup")
        do throws(StartupError) {
            let description = try Daemon.backUp(configuration, to: World.backupFile)
            backup = daemon.map { Int64($0.revision) }
            backupEdition = edition
            tell(description)
        } catch {
            if !isDiskFaulty, !sim_is_dead() { fault("[Backup] \(error)") }
        }
    }

    /// Its replies are one list.
    func batch() {
        let client = generator.pick(clients)
        guard client.role != .rowdy, client.role != .greedy, connect(client), client.pending.count < 60,
            !client.hasEnded
        else { return }
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
}
