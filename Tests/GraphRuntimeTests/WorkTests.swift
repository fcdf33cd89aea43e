import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime

/// How much one client's requests may do before others are served.
@Suite("Bounds on work")
struct WorkTests {
    private static let costly = "lists.range(90).map(i, i + seed).size()"
    private static let scene = """
        nodes:
          - id: a
            state: { seed: 1 }
            computed: { \((0..<20).map { "r\($0): '\(costly)'" }.joined(separator: ", ")), sum: r0 + r19 }
        """

    private func harness(cost: Int = 1000, _ change: (inout RuntimeLimits) -> Void = { _ in }) throws -> Harness {
        var limits = RuntimeLimits()
        limits.requestCost = cost
        change(&limits)
        return try Harness(WorkTests.scene, limits: limits)
    }

    private func values(_ graph: Harness, _ paths: [String]) throws -> [String: Content] {
        guard
            case .contents(let contents, _, _) = try graph.succeed(
                .get(.init(paths: paths, isSingle: false, presentation: false, typed: false)))
        else { return [:] }
        return Dictionary(contents.map { ($0.path, $0.content) }) { first, _ in first }
    }

    @Test("rules beyond the cost of one request have an error until it is asked for again") func reading() throws {
        let graph = try harness()
        let first = try values(graph, ["/a.*"])
        let waiting = first.filter { $0.value.failure?.code == .limit }
        #expect(waiting.count > 5 && waiting.count < 20)
        #expect(waiting.values.allSatisfy { $0.failure?.hint == "request-cost is the limit" })
        #expect(first["/a.r0"] == .value(90))
        let revision = graph.runtime.revision
        var turns = 1
        while try values(graph, ["/a.*"]).values.contains(where: { $0.failure != nil }) { turns += 1 }
        #expect(turns > 1 && turns < 20)
        #expect(try graph.value("/a.sum") == 180)
        // Nobody watches: nothing has happened.
        #expect(graph.runtime.revision == revision && graph.runtime.nextDeadline == nil)
    }

    @Test("watched rules beyond the cost of a transaction are told as errors, then turn by turn as they are") func watching() throws {
        let graph = try harness(cost: 100_000)
        try graph.subscribe(["/a.*"])
        let free = try harness(cost: 3000)
        try free.subscribe(["/a.*"])
        while free.runtime.nextDeadline != nil { free.advance(0) }
        try graph.set("/a.seed", 2)
        try free.set("/a.seed", 2)
        #expect(graph.changes["/a.sum"] == nil && graph.changes.count == 1)
        try free.set("/a.seed", 3)
        // Every size is as before: what was told as an error is told again, nothing else.
        #expect(free.changes.values.contains { $0.failure?.code == .limit })
        var known = free.changes
        var turns = 0
        while let deadline = free.runtime.nextDeadline {
            #expect(deadline <= free.now.monotonic)
            free.advance(0)
            known.merge(free.changes) { $1 }
            turns += 1
        }
        #expect(turns > 1 && turns < 30)
        #expect(known.values.allSatisfy { $0.failure == nil })
        #expect(try values(free, ["/a.*"]).values.allSatisfy { $0.failure == nil })
        let revision = free.runtime.revision
        free.advance(1)
        #expect(free.runtime.revision == revision && free.deliveries.isEmpty)
    }

    @Test("who asks behind a request whose rules have to wait is answered in the next turn, when they have run") func order() throws {
        let graph = try harness(cost: 3000)
        func get(_ client: UInt64, _ id: Int64, _ path: String) -> Command {
            .call(ClientID(number: client), id: .int(id), .get(.init(paths: [path], isSingle: path != "/a.*", presentation: false, typed: false)))
        }
        let outcome = graph.runtime.apply([get(1, 1, "/a.*"), get(2, 2, "/a.r19")], at: graph.now)
        #expect(outcome.deliveries.count == 1 && outcome.postponed.count == 1)
        let next = graph.runtime.apply(outcome.postponed, at: graph.now)
        guard case .reply(let client, .int(2), .content(.value(90), _, _))? = next.deliveries.first else {
            Issue.record("\(next.deliveries)")
            return
        }
        #expect(client == ClientID(number: 2) && next.postponed.isEmpty)
    }

    @Test("a client that has had its time waits with all it sent, its going included, and others do not") func time() throws {
        let graph = try harness(cost: .max)
        var clock = 0.0
        graph.runtime.turnClock = {
            clock += 0.015
            return clock
        }
        let (busy, other) = (ClientID(number: 1), ClientID(number: 2))
        var commands: [Command] = (1...5).map { .call(busy, id: .int($0), .ping) }
        commands += [.disconnected(busy), .call(other, id: .int(9), .ping)]
        var replies: [Int64] = []
        var turns = 0
        while !commands.isEmpty {
            let outcome = graph.runtime.apply(commands, at: graph.now)
            for case .reply(_, .int(let id), _) in outcome.deliveries { replies.append(id) }
            commands = outcome.postponed
            turns += 1
        }
        #expect(replies == [1, 2, 9, 3, 4, 5])
        #expect(turns == 3 && graph.runtime.clients[busy] == nil)
    }

    @Test("patterns that look at more nodes than a request may cost refuse it") func patterns() throws {
        let nodes = (0..<100).map { "{ id: n\($0), state: { x: 1 } }" }.joined(separator: ", ")
        var limits = RuntimeLimits()
        limits.requestCost = 5000
        let graph = try Harness("nodes: [\(nodes)]", limits: limits)
        _ = try values(graph, ["/**.x", "/*.x"])
        let many = (0..<10).map { "/**.x\($0)" }
        let failure = refusal { try values(graph, many) }
        #expect(failure?.code == .limit && failure?.hint?.contains("request-cost") == true)
        #expect(refusal { try graph.subscribe(many) }?.code == .limit)
        #expect(graph.runtime.topics.isEmpty && graph.runtime.watches.isEmpty && graph.runtime.watchLedger.count == 0)
        #expect(try graph.value("/n5.x") == 1)
    }

    @Test("who waits because of another's request is served before that one's next") func fairness() throws {
        let graph = try harness(cost: 3000)
        func get(_ client: UInt64, _ id: Int64, _ paths: [String]) -> Command {
            .call(ClientID(number: client), id: .int(id), .get(.init(paths: paths, isSingle: false, presentation: false, typed: false)))
        }
        var commands = (1...4).map { get(1, $0, ["/a.*"]) } + [get(2, 9, ["/a.seed"])]
        var replies: [Int64] = []
        while !commands.isEmpty {
            let outcome = graph.runtime.apply(commands, at: graph.now)
            for case .reply(_, .int(let id), _) in outcome.deliveries { replies.append(id) }
            commands = outcome.postponed
        }
        #expect(replies.prefix(2) == [1, 9])
    }

    @Test("writes of parts of long values count by what they copy, and are refused together when that is too much") func writes() throws {
        var limits = RuntimeLimits()
        limits.requestCost = 20_000
        let graph = try Harness("nodes: [{ id: a, state: { list: [0], text: '' } }]", limits: limits)
        try graph.set("/a.list", .list(Array(repeating: 0, count: 10_000)))
        func transact(_ count: Int, _ operation: Mutation.Operation, _ path: String, _ value: Value) -> Failure? {
            refusal { try graph.transact(Array(repeating: Mutation(operation: operation, path: path, value: value), count: count)) }
        }
        let revision = graph.runtime.revision
        for (path, operation) in [("/a.list[5]", Mutation.Operation.set), ("/a.list", .append)] {
            let failure = transact(50, operation, path, 7)
            #expect(failure?.code == .limit && failure?.hint?.contains("request-cost") == true, "\(path)")
        }
        #expect(graph.runtime.revision == revision)
        #expect(try graph.value("/a.list[5]") == 0 && graph.value("/a.list").list?.count == 10_000)
        #expect(transact(5, .set, "/a.list[5]", 7) == nil)
        #expect(transact(100, .append, "/a.text", "0123456789") == nil)
        #expect(try graph.value("/a.text").string?.utf8.count == 1000)
    }

    @Test("what a client leaves is done when it goes, whatever it costs before that") func leaving() throws {
        let graph = try harness(cost: 20_000) { $0.onDisconnectPerClient = 10 }
        try graph.subscribe(["/a.*"], from: 2)
        for path in ["/a.seed", "/a.seed", "/a.seed"] {
            try graph.succeed(.onDisconnect([Mutation(operation: .add, path: path, value: 1)], .init()))
        }
        graph.turn([.disconnected(ClientID(number: 1))])
        #expect(graph.runtime.statistics.refusedOnDisconnect == 0)
        #expect(try graph.get("/a.seed", from: 2) == .value(4))
    }

    // MARK: What is watched

    @Test("attributes that different subscriptions watch are counted for each set of patterns") func ledger() throws {
        let graph = try harness(cost: .max) { $0.watchedAttributes = 50 }
        let first = try graph.subscribe(["/a.*"])
        let second = try graph.subscribe(["/a.*"], from: 2)
        #expect(graph.runtime.watchLedger.count == 22)
        _ = try graph.subscribe(["/a.*", "/a.r0"])
        let failure = refusal { try graph.subscribe(["/a.*", "/a.r1"]) }
        #expect(failure?.code == .limit && failure?.hint?.contains("watched-attributes") == true)
        #expect(graph.runtime.watchLedger.count == 44)
        for (number, client) in [(first, 1), (second, 2)] as [(Int64, UInt64)] { try graph.succeed(.unsubscribe(subscription: number), from: client) }
        #expect(graph.runtime.watchLedger.count == 22)
    }

    @Test("patterns count as watched though they match nothing, long ones more than once") func patternSizes() throws {
        let graph = try harness(cost: .max) { $0.watchedAttributes = 100 }
        let long = "/a/" + String(repeating: "x", count: 640) + "/*.y"
        for number in 0..<8 { try graph.subscribe([long, "/nobody\(number)/*.x"]) }
        #expect(graph.runtime.watchLedger.count == 96)
        #expect(refusal { try graph.subscribe([long, "/nobody/*.x"]) }?.code == .limit)
        #expect(graph.runtime.watchLedger.count == 96)
    }

    @Test("what joins the tree is found by all patterns that name it and by no others") func patternIndex() throws {
        let patterns = [
            "/**", "/**.x", "/*.x", "/a.x", "/a.*", "/a/**", "/a/**/c.x", "/**/c.x", "/**/*/c.*", "/*/*/*.x", "/**/b/**.x", "/a/b/c.y", "/b.x",
            "/**/c/**/c.x", "/a/*/c", "/**/c/*.x",
        ]
        let graph = try Harness("nodes: [{ id: z }, { id: a, kind: container }]")
        var numbers: [Int64: String] = [:]
        for pattern in patterns where pattern.contains("*") { numbers[try graph.subscribe([pattern, "/**/none"])] = pattern }
        let gone = try graph.subscribe(["/**/c.x", "/a/**"], events: [.update, .completion])
        try graph.succeed(.unsubscribe(subscription: gone))
        _ = try graph.apply("nodes: [{ id: a, state: { x: 1, y: 2 }, children: [{ id: b, state: { x: 3 }, children: [{ id: c, state: { x: 4, y: 5 } }] }] }]")
        var told: [String: Set<String>] = [:]
        for case .event(let receivers, .update(_, _, _, _, let changes, _)) in graph.deliveries {
            for receiver in receivers { told[numbers[receiver.subscription] ?? "?"] = Set(changes.map(\.path)) }
        }
        for pattern in numbers.values {
            let found = try values(graph, [pattern]).keys.filter { !$0.hasPrefix("/.") && !$0.hasPrefix("/z") }
            #expect(told[pattern] ?? [] == Set(found), "\(pattern)")
        }
    }

    @Test("a subscription whose patterns come to match more than may be watched ends with the reason; others go on") func growth() throws {
        let graph = try harness(cost: .max) { $0.watchedAttributes = 30 }
        let growing = try graph.subscribe(["/**"])
        let steady = try graph.subscribe(["/a.seed"], from: 2)
        let nodes = (0..<20).map { "{ id: n\($0), state: { x: 1 } }" }.joined(separator: ", ")
        _ = try graph.apply("nodes: [\(nodes)]")
        var ended: [Int64] = []
        for case .event(let receivers, .ended(.limit, let reason)) in graph.deliveries {
            ended += receivers.map(\.subscription)
            #expect(reason.contains("watched-attributes"))
        }
        #expect(ended == [growing] && !graph.events.contains { if case .update = $0 { true } else { false } })
        #expect(Array(graph.runtime.subscriptions.keys) == [steady] && graph.runtime.watchLedger.count == 1)
        try graph.set("/a.seed", 5)
        #expect(graph.changes == ["/a.seed": .value(5)])
    }

    @Test("a snapshot longer than an answer may be refuses the subscription, and so does one too many in a turn; long ones come in turns") func snapshots() throws {
        let text = Value.string(String(repeating: "x", count: 600))
        let graph = try Harness("nodes: [{ id: a, state: { x: '', y: '' } }, { id: z, state: { s: 12 } }]")
        graph.runtime.longestAnswer = 1000
        try graph.set("/a.x", text)
        try graph.set("/a.y", text)
        let failure = refusal { try graph.subscribe(["/a.*"], initial: true) }
        #expect(failure?.code == .limit && failure?.hint?.contains("output-maximum") == true)
        #expect(graph.runtime.subscriptions.isEmpty && graph.runtime.watches.isEmpty)
        _ = try graph.subscribe(["/a.*"])
        func subscribe(_ id: Int64, _ path: String) -> Command {
            .call(
                ClientID(number: 1), id: .int(id),
                .subscribe(
                    .init(
                        patterns: [path], events: .update, initial: true, since: nil, maxRate: nil, frameRate: nil, css: false, typed: false,
                        bookmarks: false)))
        }
        // Long ones wait for their client to take those before.
        let outcome = graph.runtime.apply([subscribe(1, "/a.x"), subscribe(2, "/a.y")], at: graph.now)
        #expect(outcome.deliveries.count == 2 && outcome.postponed.count == 1)
        graph.turn(outcome.postponed)
        #expect(graph.events.count == 1)
        try graph.set("/a.y", .string(String(repeating: "y", count: 990)))
        graph.turn([subscribe(3, "/z.s"), subscribe(4, "/a.y")])
        guard case .reply(_, .int(4), .fault(let fault))? = graph.deliveries.last else { return #expect(Bool(false)) }
        #expect(fault.failure.code == .limit && fault.failure.message.contains("before it"))
    }

    @Test("an update longer than a client may be sent ends the subscription with the reason") func longUpdates() throws {
        let text = Value.string(String(repeating: "x", count: 600))
        let graph = try Harness("nodes: [{ id: a, state: { x: '', y: '' } }]")
        graph.runtime.longestAnswer = 1000
        let both = try graph.subscribe(["/a.*"])
        let one = try graph.subscribe(["/a.x"])
        try graph.transact(["/a.x", "/a.y"].map { Mutation(operation: .set, path: $0, value: text) })
        var told: [Int64: String] = [:]
        for case .event(let receivers, let event) in graph.deliveries { for receiver in receivers { told[receiver.subscription] = "\(event.method)" } }
        #expect(told == [both: "ended", one: "update"])
        #expect(Array(graph.runtime.subscriptions.keys) == [one])
        // What is held back until a client takes it is no longer, either.
        let held = try graph.subscribe(["/a.*"], from: 2)
        graph.turn([.behind(ClientID(number: 2))])
        for path in ["/a.x", "/a.y"] { try graph.set(path, .string(String(repeating: "y", count: 600))) }
        graph.turn([.drained(ClientID(number: 2))])
        #expect(graph.events.map { "\($0.method)" } == ["ended"] && graph.runtime.subscriptions[held] == nil)
    }

    @Test("rules at a start cost so much together at most; the rest runs in turns behind it, and states find their places then") func start() throws {
        var limits = RuntimeLimits()
        limits.requestCost = 1000
        limits.startRequests = 2
        let lists = (0..<10).map {
            "{ id: l\($0), forEach: { in: '=lists.range(300).filter(i, i < 2)', id: self, as: item, node: { kind: view, state: { kept: 0 } } } }"
        }
        let runtime = GraphRuntime(limits: limits, epoch: "test", at: Harness.start)
        try runtime.load("agd: 1\nnodes: [\(lists.joined(separator: ", "))]", file: "test.yaml")
        let lost = runtime.restore((0..<10).map { (1, JournalEntry.state(path: "/l\($0)/1.kept", value: .int(Int64($0)))) })
        #expect(lost.allSatisfy { $0.failure.code == .notFound })
        let waiting = runtime.graph.waitingRuleCount
        #expect(waiting >= 5 && waiting < 10, "\(waiting)")
        var turns = 0
        while let deadline = runtime.nextDeadline, turns < 50 {
            #expect(deadline <= Harness.start.monotonic)
            _ = runtime.apply([], at: Harness.start)
            turns += 1
        }
        #expect(turns >= 3 && turns < 20, "\(turns)")
        for number in 0..<10 {
            let content = runtime.graph.content(of: runtime.graph.target(of: try runtime.graph.locate(AttributePath("/l\(number)/1.kept"))))
            #expect(content == .value(.int(Int64(number))), "\(number)")
        }
    }
}
