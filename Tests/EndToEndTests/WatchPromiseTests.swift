import AttributeValues
import Foundation
import TestSupport
import Testing

/// Random scenarios with the real daemon: clients stall, ask, hang up and come back, and the daemon is killed or told
/// to stop and started again. Each subscription is held against the six promises of a watch: ordered, unique, atomic,
/// reliable, resumable, bookmarkable.
///
/// `AGD_WATCH_STEPS` makes a run longer.
@Suite("Promises to watchers")
struct WatchPromiseTests {
    @Test(
        "watchers that stall, ask, hang up or survive a restart get all changes in order, once, whole, and may resume")
    func promises() throws {
        let seed = freshSeed()
        let steps = Int(numberInEnvironment("AGD_WATCH_STEPS") ?? 400)
        let scenario = try WatchScenario(seed: seed)
        try scenario.run(steps: steps)
        let faults = scenario.faults.prefix(5).joined(separator: "\n")
        #expect(scenario.faults.isEmpty, "AGD_SEED=\(seed), \(steps) steps: \(faults)\n\(scenario.lastActs)")
        let told = scenario.told
        print("promises to watchers: \(told)")
        #expect(told.updates > 0 && told.bookmarks > 0)
    }
}

private final class WatchScenario {
    static let scene = """
        agd: 1
        nodes:
          - id: w
            kind: container
            state: { a: 0, b: 0, o: { x: 0, y: 0 }, text: "", items: [i1, i2] }
            computed: { sum: a + b, size: text.size() }
            children:
              - { id: r, forEach: { in: $items, id: self, node: { kind: container, state: { q: 0 }, computed: { p: q + 1 } } } }
              - { id: m, kind: container, state: { z: 0 } }
          - id: t
            state: { v: { initial: 0, transient: true } }
            computed: { twice: v * 2 }
          - id: noise
            state: { k: 0 }
        """
    static let choices = [
        ["/w/**"], ["/w.a", "/w.b", "/w.sum"], ["/w.o.x"], ["/w/**.q"], ["/t/**", "/w.a"], ["/w/m/**"], ["/w.text"],
        ["/w/r/i1.q"],
    ]
    static let read = ["/w/**", "/t/**", "/w.o.x"]

    struct Told: CustomStringConvertible {
        var updates = 0
        var bookmarks = 0
        var resumed = 0
        var snapshots = 0
        var restarts = 0
        var description: String {
            "\(updates) updates, \(bookmarks) bookmarks, \(restarts) restarts, \(resumed) resumed, \(snapshots) begun anew"
        }
    }

    /// One subscription on a connection of its own.
    final class Watch {
        let validator: WatchValidator
        let rate: Double?
        var client: Client?
        var subscription: Int64?
        var since: Int64?
        /// What the client has asked for, by id: the last revision that was committed when it asked.
        var asked: [Int64: Int64] = [:]
        var nextID: Int64 = 2

        init(_ validator: WatchValidator, rate: Double?) {
            self.validator = validator
            self.rate = rate
        }
    }

    private var generator: SeededGenerator
    private let folder: Folder
    private var daemon: Daemon
    private var writer: Client
    private var epoch = ""
    private let truth = WatchTruth(rules: ["sum", "size", "p", "twice"])
    private var watches: [Watch] = []
    private var acts: [String] = []
    private(set) var faults: [String] = []
    private(set) var told = Told()

    var lastActs: String { "what was done: " + acts.suffix(30).joined(separator: "; ") }

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        folder = try Folder()
        daemon = try WatchScenario.start(folder)
        writer = try daemon.client()
        epoch = try writer.call("hello")["epoch"]?.string ?? ""
        try look()
        for _ in 0..<6 { try subscribe(begin()) }
    }

    private static func start(_ folder: Folder) throws -> Daemon {
        let settings = """
            state-directory = \(folder.file("state"))
            output-queue = 16 KiB
            durability = normal
            bookmark-interval = 50 ms
            """
        return try Daemon(scenes: [scene], configuration: settings, folder: folder)
    }

    func run(steps: Int) throws {
        for _ in 0..<steps where faults.isEmpty {
            try step()
            collect()
        }
        // In the end everybody reads, and knows what there is.
        for watch in watches where faults.isEmpty {
            if watch.client == nil { try subscribe(watch) }
            // What waits for its rate or for room has come when a later change has.
            try ask(watch, "ping")
            while let client = watch.client, !watch.asked.isEmpty || watch.subscription == nil {
                try receive(watch, try client.message())
            }
        }
        try? settle()
        for watch in watches where faults.isEmpty && watch.client != nil {
            watch.validator.barrier(at: truth.revision, isExact: true)
        }
        collect()
        for watch in watches {
            told.updates += watch.validator.updates
            told.bookmarks += watch.validator.bookmarks
        }
        try daemon.stop()
    }

    /// Reads what is held back for its rate: a bookmark says that it was all.
    private func settle() throws {
        for watch in watches where watch.validator.hasMaxRate {
            guard let client = watch.client else { continue }
            while watch.validator.position ?? 0 < truth.revision { try receive(watch, try client.message()) }
        }
    }

    // MARK: Acts

    private func step() throws {
        switch generator.below(40) {
        case 0...13: try write()
        case 14: try burst()
        case 15, 16: try restructure()
        case 17...27: try readSome(generator.pick(watches))
        case 28...33: try ask(generator.pick(watches), generator.pick(["ping", "get", "set"]))
        case 34...37: try reconnect(generator.pick(watches))
        case 38: if generator.chance(40) { try restart() }
        default: try batch()
        }
    }

    private func note(_ text: String) { acts.append(text) }

    /// What there is now, by the revision of the writer's last change: others may have written since what nobody here
    /// watches.
    private func look(behind reply: Value = .null) throws {
        let answer = try writer.call("get", ["paths": .list(WatchScenario.read.map { .string($0) })])
        truth.add(reply["result"]?.integer("revision") ?? answer.integer("revision") ?? 0, answer["values"] ?? .null)
    }

    private func mutation() -> (method: String, parameters: Value) {
        func add(_ path: String, _ value: Int64) -> Value {
            ["op": "add", "path": .string(path), "value": .int(value)]
        }
        func set(_ path: String, _ value: Value) -> (String, Value) {
            ("set", ["path": .string(path), "value": value])
        }
        switch generator.below(7) {
        case 0: return ("transact", ["mutations": [add("/w.a", 1), add("/w.b", 1)]])
        case 1: return ("transact", ["mutations": [add("/w.a", 1), add("/w.b", -1)]])
        case 2:
            return set("/w.items", .list(["i1", "i2", "i3"].filter { _ in generator.chance(70) }.map { .string($0) }))
        case 3: return set("/t.v", .int(Int64(generator.below(3))))
        default:
            let path = generator.pick(["/w.a", "/w.o.x", "/w.o.y", "/w/m.z", "/w/r/i1.q", "/w/r/i2.q"])
            return set(path, .int(Int64(generator.below(4))))
        }
    }

    /// One change. A refusal is no matter: what is named may be gone.
    private func write() throws {
        let (method, parameters) = mutation()
        note("\(method) \(parameters.jsonText)")
        try look(behind: try writer.reply(method, parameters))
    }

    /// More than a client may be sent while it does not read.
    private func burst() throws {
        note("burst")
        for _ in 0..<4 + generator.below(30) {
            let text = String(repeating: generator.pick(["x", "y"]), count: 2000 + generator.below(30_000))
            try look(behind: try writer.reply("set", ["path": "/w.text", "value": .string(text)]))
        }
    }

    private func restructure() throws {
        let document: Value = ["agd": 1, "nodes": [["id": "m", "kind": "container", "state": ["z": 0]]]]
        if generator.chance(50) {
            note("remove m")
            try look(behind: try writer.reply("remove", ["path": "/w/m"]))
        } else {
            note("make m")
            try look(behind: try writer.reply("apply", ["at": "/w", "mode": "merge", "document": document]))
        }
    }

    /// Somebody who is not connected yet.
    @discardableResult
    private func begin() -> Watch {
        let patterns = generator.pick(WatchScenario.choices)
        let events = generator.pick([
            ["update"], ["update"], ["update", "structure"], ["update", "invalidate"], ["invalidate"],
        ])
        let rate: Double? = generator.chance(20) ? 50 : nil
        let validator = WatchValidator(
            "\(watches.count) \(patterns) \(events)", truth, patterns: patterns, events: Set(events),
            hasMaxRate: rate != nil)
        let watch = Watch(validator, rate: rate)
        watches.append(watch)
        return watch
    }

    private func subscribe(_ watch: Watch) throws {
        let client = try daemon.client()
        watch.client = client
        watch.asked = [:]
        watch.subscription = nil
        watch.since = watch.validator.position
        var parameters = ValueMap()
        parameters["bookmarks"] = true
        parameters["paths"] = .list(watch.validator.patterns.map { .string($0) })
        parameters["events"] = .list(watch.validator.events.sorted().map { .string($0) })
        if let rate = watch.rate { parameters["maxRate"] = .double(rate) }
        if let since = watch.since { parameters["since"] = ["epoch": .string(epoch), "revision": .int(since)] }
        try request(client, 1, "subscribe", .map(parameters))
    }

    private func request(_ client: Client, _ id: Int64, _ method: String, _ parameters: Value) throws {
        let request: Value = ["jsonrpc": "2.0", "id": .int(id), "method": .string(method), "params": parameters]
        try client.send(request.jsonText)
    }

    /// Sends a request and does not wait for its answer.
    private func ask(_ watch: Watch, _ method: String) throws {
        guard let client = watch.client, watch.asked.count < 40 else { return }
        note("\(watch.validator.patterns) asks \(method)")
        let id = watch.nextID
        watch.nextID += 1
        watch.asked[id] = truth.revision
        switch method {
        case "get":
            try request(client, id, method, ["paths": ["/w.a", "/w.b", "/w.sum", "/w.o.x", "/w/m.z", "/w/r/i1.q"]])
        case "set": try request(client, id, method, ["path": "/noise.k", "value": .int(id)])
        default: try request(client, id, method, [:])
        }
    }

    private func reconnect(_ watch: Watch) throws {
        if watch.client != nil {
            if generator.chance(50) { try readSome(watch) }
            note("\(watch.validator.patterns) hangs up")
            watch.client = nil
            watch.validator.interrupted()
        } else {
            note("\(watch.validator.patterns) comes back from \(watch.validator.position ?? -1)")
            try subscribe(watch)
        }
    }

    private func restart() throws {
        told.restarts += 1
        for watch in watches where generator.chance(50) { try readSome(watch) }
        let isKilled = generator.chance(60)
        if isKilled, generator.chance(50) {
            truth.isOpen = true
            let (method, parameters) = mutation()
            note("\(method) \(parameters.jsonText) is not answered")
            try request(writer, 0, method, parameters)
        }
        note(isKilled ? "kill" : "stop")
        if isKilled {
            daemon.program.signal(SIGKILL)
            try daemon.program.wait()
        } else {
            // Who does not read must not keep it from ending.
            for watch in watches {
                watch.client = nil
                watch.validator.interrupted()
            }
            try daemon.stop()
        }
        for watch in watches {
            if watch.client != nil { try readSome(watch) }
            watch.client = nil
            watch.validator.interrupted()
        }
        truth.noteRestart()
        daemon = try WatchScenario.start(folder)
        writer = try daemon.client()
        let isNew = try writer.call("hello")["epoch"]?.string != epoch
        if isNew { faults.append("another epoch after a restart") }
        try look()
        for watch in watches where generator.chance(70) { try subscribe(watch) }
    }

    /// A subscription that a batch makes and ends is told nothing behind the end.
    private func batch() throws {
        note("batch")
        let client = try daemon.client()
        func call(_ id: Int64, _ method: String, _ parameters: Value) -> Value {
            ["jsonrpc": "2.0", "id": .int(id), "method": .string(method), "params": parameters]
        }
        let isEnded = generator.chance(50)
        // The next number is known only to the daemon: another subscription tells it.
        let number =
            try client.call("subscribe", ["paths": ["/noise.k"], "initial": false]).integer("subscription") ?? 0
        try client.call("unsubscribe", ["subscription": .int(number)])
        var calls = [
            call(1, "subscribe", ["paths": ["/noise.k"]]),
            call(2, "set", ["path": "/noise.k", "value": .int(Int64(acts.count) + 1_000_000)]),
        ]
        if isEnded { calls.append(call(3, "unsubscribe", ["subscription": .int(number + 1)])) }
        calls.append(call(4, "get", ["path": "/noise.k"]))
        try client.send(Value.list(calls).jsonText)
        try client.send(call(5, "ping", [:]).jsonText)
        var messages: [Value] = []
        while messages.last?["id"] != .int(5) { messages.append(try client.message()) }
        let events = messages.filter { $0["method"] != nil }
        if messages.first?.list?.count != calls.count { faults.append("a batch is answered by \(messages)") }
        if events.count != (isEnded ? 0 : 2) { faults.append("behind a batch come \(events.map(\.jsonText))") }
    }

    // MARK: What is told

    private func readSome(_ watch: Watch) throws {
        guard let client = watch.client else { return }
        var count = generator.chance(70) ? Int.max : generator.below(5)
        while count > 0, let line = try? client.line(within: 0) {
            count -= 1
            try receive(watch, try JSONParser.parseOnce(line.utf8))
        }
    }

    private func receive(_ watch: Watch, _ message: Value) throws {
        if message["method"] != nil {
            guard let number = message["params"]?.integer("subscription"), number == watch.subscription else {
                return faults.append("\(watch.validator.patterns) is sent \(message.jsonText.prefix(300))")
            }
            guard message["method"] == "ended" else { return watch.validator.receive(message) }
            // All that it named is gone: another one takes its place.
            faults += watch.validator.takeFaults()
            return replace(watch)
        }
        guard let result = message["result"], let id = message.integer("id") else {
            if message.integer("id") == 1, message["error"]?["data"]?["code"] == "notFound" {
                return replace(watch)
            }
            return faults.append("\(watch.validator.patterns) is answered \(message.jsonText)")
        }
        if id == 1 {
            watch.subscription = result.integer("subscription")
            if watch.since != nil { if result["resumed"] == true { told.resumed += 1 } else { told.snapshots += 1 } }
            return watch.validator.subscribed(result, since: watch.since)
        }
        let committed = watch.asked.removeValue(forKey: id) ?? 0
        watch.validator.barrier(at: max(committed, result.integer("revision") ?? 0))
        if let values = result["values"], let revision = result.integer("revision") {
            watch.validator.answered(values, at: revision)
        }
    }

    private func replace(_ watch: Watch) {
        watch.client = nil
        watches.removeAll { $0 === watch }
        begin()
    }

    private func collect() {
        for watch in watches { faults += watch.validator.takeFaults() }
    }
}
