import AttributeValues
import TestSupport
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Random scenarios of a runtime whose clients fall behind, read, resume and wait for their rate, each held against the
/// promises of a watch. `AGD_WATCH_STEPS` makes a run longer.
@Suite("Random watching")
struct RandomWatchTests {
    @Test(
        "whatever happens, watchers are told everything in order, once, whole, and may resume",
        arguments: freshSeeds(12))
    func promises(seed: UInt64) throws {
        let steps = Int(numberInEnvironment("AGD_WATCH_STEPS") ?? 150)
        let faults = try RandomWatch(seed: seed).run(steps: steps)
        #expect(faults.isEmpty, "\(faults.prefix(5).joined(separator: "\n"))")
    }
}

private final class RandomWatch {
    static let scene = """
        nodes:
          - id: w
            kind: container
            state: { a: 0, b: 0, o: { x: 0, y: 0 }, items: [i1, i2] }
            computed: { sum: a + b, many: items.size() }
            children:
              - { id: r, forEach: { in: $items, id: self, node: { kind: container, state: { q: 0 }, computed: { p: q + 1 } } } }
              - { id: m, kind: container, state: { z: 0 } }
              - { id: n, kind: container, state: { z: 0 } }
        """
    static let paths = ["/w.a", "/w.b", "/w.o.x", "/w.sum", "/w/m.z", "/w/r/i1.q"]
    static let choices = [
        ["/w/**"], ["/w.*"], ["/w.o.x", "/w.o.y"], ["/w/*.z"], ["/w/**.q", "/w.a"], ["/w/m"], ["/w/m/**", "/w/n/**"],
        ["/w/r/i1.q"], ["/w.o.x"],
    ]

    private var generator: SeededGenerator
    private let graph: Harness
    private let truth = WatchTruth(rules: ["sum", "many", "p"])
    private var watchers: [Int64: (client: UInt64, validator: WatchValidator)] = [:]
    private var behind: Set<UInt64> = []
    /// What clients have been sent and not looked at, in order.
    private var unread: [(client: UInt64, message: Value)] = []
    private var faults: [String] = []
    private var log: [String] = []
    private var readPaths: [Int64: Value] = [:]

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        var limits = RuntimeLimits()
        if seed % 2 == 0 {
            // What is removed is freed in the next turn.
            limits.graph.freedAtOnce = 1
        }
        graph = try Harness(RandomWatch.scene, limits: limits, clients: 4)
        look()
    }

    func run(steps: Int) throws -> [String] {
        for _ in 0..<steps where faults.isEmpty {
            try step()
            look()
            judge()
        }
        guard faults.isEmpty else { return faults + ["what was done: " + log.suffix(25).joined(separator: "; ")] }
        for client in behind.sorted() { turn([.drained(ClientID(number: client))]) }
        behind = []
        collect(graph.advance(10))
        collect(graph.advance(10))
        look()
        judge()
        for (_, watcher) in watchers { watcher.validator.barrier(at: Int64(graph.runtime.revision), isExact: true) }
        judge()
        return faults.isEmpty ? [] : faults + ["what was done: " + log.suffix(25).joined(separator: "; ")]
    }

    // MARK: Acts

    private func step() throws {
        switch generator.below(20) {
        case 0...7: write()
        case 8: restructure()
        case 9, 10: try subscribe()
        case 11: unsubscribe()
        case 12, 13: read()
        case 14: fallBehind()
        case 15, 16: catchUp()
        case 17: barrier()
        default:
            note("advance")
            collect(graph.advance(Double(generator.below(4)) * 0.1))
        }
    }

    private func note(_ text: String) { log.append(text) }

    private func set(_ path: String, _ value: Value) -> Request {
        .set(Mutation(operation: .set, path: path, value: value), TransactionOptions())
    }

    private func call(_ request: Request, from client: UInt64 = 1) {
        turn([.call(ClientID(number: client), id: .int(0), request)])
    }

    private func items() -> Value {
        .list(["i1", "i2", "i3", "i4"].filter { _ in generator.chance(60) }.map { .string($0) })
    }

    private func write() {
        switch generator.below(6) {
        case 0:
            let value = items()
            note("items \(value.jsonText)")
            call(set("/w.items", value))
        case 1:
            note("a and b")
            call(
                .transact(["/w.a", "/w.b"].map { Mutation(operation: .add, path: $0, value: 1) }, TransactionOptions()))
        case 2:
            note("a against b")
            call(
                .transact(
                    [("/w.a", 1), ("/w.b", -1)].map { Mutation(operation: .add, path: $0, value: $1) },
                    TransactionOptions()))
        default:
            let path = generator.pick([
                "/w.a", "/w.o.x", "/w.o.y", "/w/m.z", "/w/n.z", "/w/r/i1.q", "/w/r/i2.q", "/w/r/i3.q",
            ])
            let value = Int64(generator.below(3))
            note("\(path) = \(value)")
            call(set(path, .int(value)))
        }
    }

    private func restructure() {
        let id = generator.pick(["m", "n"])
        switch generator.below(5) {
        case 0, 1:
            note("remove \(id)")
            call(.remove(path: "/w/\(id)", TransactionOptions()))
        case 2:
            note("move \(id)")
            call(.move(path: "/w/\(id)", to: generator.chance(50) ? "/w" : "/", index: 0, TransactionOptions()))
        case 3:
            note("move /\(id) back")
            call(.move(path: "/\(id)", to: "/w", index: nil, TransactionOptions()))
        default:
            note("make \(id)")
            let document: Value = ["agd": 1, "nodes": [["id": .string(id), "kind": "container", "state": ["z": 0]]]]
            call(
                .apply(.init(document: document, at: "/w", mode: .merge, dryRun: false, options: TransactionOptions())))
        }
    }

    private func subscribe() throws {
        let client = 2 + UInt64(generator.below(3))
        guard watchers.count < 12, !behind.contains(client) else { return }
        let patterns = generator.pick(RandomWatch.choices)
        let events = generator.pick([
            ["update"], ["update"], ["update", "invalidate"], ["invalidate"], ["update", "structure"], ["structure"],
        ])
        let kinds: [String: EventKinds] = ["update": .update, "invalidate": .invalidate, "structure": .structure]
        let rate: Double? = generator.chance(25) ? 10 : nil
        // Some go on where another one was.
        let old = watchers.keys.sorted().filter { watchers[$0]?.client == client }
        var continued: WatchValidator?
        if !old.isEmpty, generator.chance(60) {
            let number = generator.pick(old)
            continued = watchers.removeValue(forKey: number)?.validator
            call(.unsubscribe(subscription: number), from: client)
            look()
            judge()
            continued?.interrupted()
        }
        let validator =
            continued
            ?? WatchValidator(
                "client \(client) \(patterns) \(events)", truth, patterns: patterns, events: Set(events),
                hasMaxRate: rate != nil)
        let since = continued?.position
        note(
            "client \(client) subscribes to \(validator.patterns) \(validator.events.sorted()) rate \(rate ?? 0) since \(since ?? 0)"
        )
        let request = Request.Subscribe(
            patterns: validator.patterns, events: EventKinds(validator.events.compactMap { kinds[$0] }),
            initial: validator.events.contains("update"),
            since: since.map { .init(epoch: "test", revision: UInt64($0)) },
            maxRate: validator.hasMaxRate ? rate ?? 10 : nil,
            bookmarks: generator.chance(50))
        subscribing = (validator, since)
        call(.subscribe(request), from: client)
    }
    private var subscribing: (validator: WatchValidator, since: Int64?)?

    private func unsubscribe() {
        guard !watchers.isEmpty, generator.chance(30) else { return }
        let number = generator.pick(watchers.keys.sorted())
        guard let client = watchers[number]?.client, !behind.contains(client) else { return }
        note("unsubscribe \(number)")
        watchers[number] = nil
        call(.unsubscribe(subscription: number), from: client)
    }

    private func read() {
        let client = 2 + UInt64(generator.below(3))
        let paths = RandomWatch.paths.filter { _ in generator.chance(70) }
        guard !paths.isEmpty, !behind.contains(client) else { return }
        note("client \(client) reads \(paths)")
        call(.get(.init(paths: paths)), from: client)
    }

    private func fallBehind() {
        let client = 2 + UInt64(generator.below(3))
        guard behind.insert(client).inserted else { return }
        note("client \(client) is behind")
        turn([.behind(ClientID(number: client))])
    }

    private func catchUp() {
        guard !behind.isEmpty else { return }
        let client = generator.pick(behind.sorted())
        behind.remove(client)
        note("client \(client) has drained")
        turn([.drained(ClientID(number: client))])
    }

    private func barrier() {
        let client = 2 + UInt64(generator.below(3))
        guard !behind.contains(client) else { return }
        note("client \(client) asks")
        call(.unsubscribe(subscription: 0), from: client)
        call(.hello(client: nil), from: client)
    }

    // MARK: What is said

    private func turn(_ commands: [Command]) { collect(graph.turn(commands)) }

    private func collect(_ deliveries: [Delivery]) {
        for delivery in deliveries {
            let buffer = ByteBuffer()
            switch delivery {
            case .reply(let client, let id, let result):
                buffer.appendReply(result, to: id)
                unread.append((client.number, message(buffer)))
            case .batchBegins, .batchEnds: break
            case .event(let receivers, let event):
                for (client, subscription) in receivers {
                    let line = ByteBuffer()
                    line.appendHead(of: event)
                    line.append(subscription)
                    line.appendTail(of: event)
                    unread.append((client.number, message(line)))
                }
            }
        }
    }

    private func message(_ buffer: ByteBuffer) -> Value {
        (try? JSONParser.parseOnce(buffer.text.utf8)) ?? .null
    }

    /// What the graph holds now.
    private func look() {
        let paths = ["/w/**", "/m/**", "/n/**", "/w.o.x", "/w.o.y"]
        for case .reply(_, _, let result) in graph.turn([
            .call(
                ClientID(number: 1), id: .int(0),
                .get(.init(paths: paths)))
        ]) {
            let buffer = ByteBuffer()
            buffer.appendReply(result, to: .int(0))
            if let result = message(buffer).map?["result"], let revision = result.integer("revision") {
                truth.add(revision, result.map?["values"] ?? .null)
            }
        }
        // Its own turn may have sent what was due.
        collect(graph.deliveries.filter { if case .event = $0 { true } else { false } })
    }

    private func judge() {
        for (client, message) in unread {
            if let number = message.map?["params"]?.integer("subscription") {
                guard let watcher = watchers[number] else {
                    faults.append(
                        "subscription \(number) is sent \(message.jsonText) before its reply or behind its end")
                    continue
                }
                if message.map?["method"] == "ended" {
                    watchers[number] = nil
                } else {
                    watcher.validator.receive(message)
                }
            } else if let result = message.map?["result"] {
                if let number = result.integer("subscription"), let (validator, since) = subscribing {
                    subscribing = nil
                    watchers[number] = (client, validator)
                    validator.subscribed(result, since: since)
                }
                guard let revision = result.integer("revision") else { continue }
                for (number, watcher) in watchers
                where watcher.client == client && number != result.integer("subscription") {
                    watcher.validator.barrier(at: revision)
                    if let values = result.map?["values"] { watcher.validator.answered(values, at: revision) }
                }
            }
        }
        unread = []
        for (number, watcher) in watchers { faults += watcher.validator.takeFaults().map { "\(number): \($0)" } }
    }
}
