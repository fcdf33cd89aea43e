import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

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
        let graph = try Harness(WorkTests.scene, limits: limits)
        // The clients are the daemon's own user, who has no share.
        graph.turn([.accessChanged(AccessRules(owner: 1000))])
        return graph
    }

    @Test("rules beyond the cost of one request have an error until it is asked for again") func reading() throws {
        let graph = try harness()
        let first = try graph.contents(["/a.*"])
        let waiting = first.filter { $0.value.failure?.code == .limit }
        #expect(waiting.count > 5 && waiting.count < 20)
        #expect(waiting.values.allSatisfy { $0.failure?.hint == "the setting request-cost is the limit" })
        #expect(first["/a.r0"] == .value(90))
        let revision = graph.runtime.revision
        var turns = 1
        while try graph.contents(["/a.*"]).values.contains(where: { $0.failure != nil }) { turns += 1 }
        #expect(turns > 1 && turns < 20)
        #expect(try graph.value("/a.sum") == 180)
        // Nobody watches: nothing has happened.
        #expect(graph.runtime.revision == revision && graph.runtime.nextDeadline == nil)
    }

    @Test("a cycle costs what its rules cost, and its message names the first steps, the last and how many lie between")
    func cycles() throws {
        let count = 10_000
        let rules = (0..<count).map { "a\($0): a\(($0 + 1) % count) + 1" }.joined(separator: ", ")
        let graph = try Harness("nodes: [{ id: c, computed: { \(rules) } }]")
        let before = graph.runtime.graph.counters
        let result = try graph.get("/c.a7")
        guard case .failure(let failure) = result else { throw Failure(.unavailable, "no failure") }
        #expect(failure.code == .cycle)
        #expect(failure.message.hasPrefix("cycle: /c.a0 → /c.a1 → /c.a2 →"))
        #expect(failure.message.contains(" → /c.a7 → 9984 more → /c.a9992 → "))
        #expect(failure.message.hasSuffix(" → /c.a9999 → /c.a0"))
        #expect(try graph.get("/c.a9999") == result)
        let after = graph.runtime.graph.counters
        #expect(after.evaluations - before.evaluations <= UInt64(2 * count))
        #expect(after.cycles - before.cycles == 1)
    }

    @Test("closing a cycle is charged to the request that has met it") func costOfCycles() throws {
        let rules = (0..<100).map { "a\($0): a\(($0 + 1) % 100)" }.joined(separator: ", ")
        let graph = try Harness("nodes: [{ id: c, computed: { \(rules) } }]")
        let view = graph.runtime.graph
        let place = try view.locate(AttributePath("/c.a0"))
        view.stepsLeft = 10_000
        _ = view.content(at: place)
        // A rule costs a step at least, and so does each member.
        #expect(view.stepsLeft <= 10_000 - 200)
    }

    @Test("watched rules beyond the cost of a transaction are told as errors, then turn by turn as they are")
    func watching() throws {
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
        #expect(try free.contents(["/a.*"]).values.allSatisfy { $0.failure == nil })
        let revision = free.runtime.revision
        free.advance(1)
        #expect(free.runtime.revision == revision && free.deliveries.isEmpty)
    }

    @Test("a request after one whose rules wait is answered in the next turn, when they have run")
    func order() throws {
        let graph = try harness(cost: 3000)
        func get(_ client: UInt64, _ id: Int64, _ path: String) -> Command {
            .call(
                ClientID(number: client), id: .int(id),
                .get(.init(paths: [path], isSingle: path != "/a.*")))
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

    @Test("a client that has had its time waits with all it sent, its going included, and others do not") func time()
        throws
    {
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

    @Test(
        "the mutations of many disconnects at once are performed in order over many turns, and others are served in each"
    )
    func storm() throws {
        let leaving = (1...4).map { ClientID(number: UInt64($0)) }
        let graph = try Harness("nodes: [{ id: a, state: { log: [] } }]", clients: 5)
        for client in leaving {
            for step in 0..<10 {
                let entry = Value.string("\(client.number).\(step)")
                try graph.succeed(
                    .onDisconnect([Mutation(operation: .append, path: "/a.log", value: entry)], .init()),
                    from: client.number)
            }
        }
        // Each transaction takes 4 ms.
        var transactions = graph.runtime.revision
        var clock = 0.0
        graph.runtime.turnClock = { [runtime = graph.runtime] in
            clock += Double(runtime.revision - transactions) * 0.004
            transactions = runtime.revision
            return clock
        }
        let other = ClientID(number: 5)
        var commands = leaving.map { Command.disconnected($0) }
        var turns = 0
        while !commands.isEmpty {
            let before = clock
            let outcome = graph.runtime.apply(commands + [.call(other, id: .int(1), .ping)], at: graph.now)
            #expect(outcome.deliveries.count == 1 && clock - before <= 0.03)
            commands = outcome.postponed
            turns += 1
        }
        graph.runtime.turnClock = nil
        #expect(turns >= 7 && graph.runtime.clients.count == 1)
        let log = try graph.get("/a.log", from: 5).get().list?.compactMap(\.string)
        #expect(log == leaving.flatMap { client in (0..<10).map { "\(client.number).\($0)" } })
    }

    @Test("clients that catch up at once do so over several turns, each before its own requests") func catchingUp()
        throws
    {
        let graph = try Harness("nodes: [{ id: a, state: { x: 0 } }]", clients: 6)
        let slow = (1...5).map { ClientID(number: UInt64($0)) }
        for client in slow { try graph.subscribe(["/a.x"], from: client.number) }
        graph.turn(slow.map { .behind($0) })
        try graph.set("/a.x", 1, from: 6)
        #expect(graph.events.isEmpty)
        // Each event takes 15 ms.
        var (told, clock) = (graph.runtime.statistics.events, 0.0)
        graph.runtime.turnClock = { [runtime = graph.runtime] in
            clock += Double(runtime.statistics.events - told) * 0.015
            told = runtime.statistics.events
            return clock
        }
        var commands = slow.flatMap { [Command.drained($0), .call($0, id: .int(Int64($0.number)), .ping)] }
        var heard: [UInt64] = []
        var turns = 0
        while !commands.isEmpty {
            let outcome = graph.runtime.apply(commands, at: graph.now)
            for delivery in outcome.deliveries {
                switch delivery {
                case .event(let members, _): heard += members.map(\.client.number)
                case .reply(let client, _, _): #expect(heard.contains(client.number))
                case .batchBegins, .batchEnds: Issue.record("there was no batch")
                }
            }
            commands = outcome.postponed
            turns += 1
        }
        #expect(heard == [1, 2, 3, 4, 5] && turns == 3)
    }

    @Test("subscriptions that are held back and due at once are told over several turns, longest due first") func due()
        throws
    {
        let graph = try Harness("nodes: [{ id: a, state: { x: 0 } }]")
        for rate in [1.0, 2, 4, 8] { try graph.subscribe(["/a.x"], maxRate: rate) }
        try graph.set("/a.x", 1)
        try graph.set("/a.x", 2)
        #expect(graph.events.isEmpty)
        var (told, clock) = (graph.runtime.statistics.events, 0.0)
        graph.runtime.turnClock = { [runtime = graph.runtime] in
            clock += Double(runtime.statistics.events - told) * 0.03
            told = runtime.statistics.events
            return clock
        }
        graph.advance(1)
        #expect(graph.events.count == 2 && graph.runtime.nextDeadline.map { $0 <= graph.now.monotonic } == true)
        graph.advance(0)
        #expect(graph.events.count == 2 && graph.runtime.watching.sender.delayed.isEmpty)
    }

    @Test("a client that goes with many subscriptions of the same leaves those of others") func goingWithMany() throws {
        let graph = try harness(cost: .max)
        for number in 0..<50 { try graph.subscribe(["/a.*", "/a.r\(number % 20)"]) }
        let other = try graph.subscribe(["/a.seed"], from: 2)
        graph.turn([.disconnected(ClientID(number: 1))])
        #expect(
            graph.runtime.watching.topics.watches.count == 1 && graph.runtime.watching.topics.count == 1
                && graph.runtime.watching.topics.ledger.count == 1)
        try graph.set("/a.seed", 77, from: 2)
        #expect(graph.changes == ["/a.seed": .value(77)] && graph.runtime.watching.subscriptions[other] != nil)
    }

    @Test(
        "a turn that has taken its time leaves the rest of its requests to the next one, and tells each client's time")
    func turnTime() throws {
        let graph = try Harness("nodes: [{ id: a, state: { x: 0 } }]", clients: 20)
        var clock = 0.0
        graph.runtime.turnClock = {
            clock += 0.015
            return clock
        }
        let commands: [Command] = (1...20).map { .call(ClientID(number: $0), id: .int(1), .ping) }
        let outcome = graph.runtime.apply(commands, at: graph.now)
        #expect(outcome.deliveries.count == 3 && outcome.postponed.count == 17)
        #expect(outcome.times.count == 3)
    }

    @Test("clients without any right share a small part of a turn, and leave the rest to others") func rightless()
        throws
    {
        let graph = try Harness("nodes: [{ id: a, state: { x: 0 } }]", clients: 5)
        let other = ClientID(number: 6)
        graph.turn([
            .connected(other, Peer(pid: 6, uid: 1001, gid: 1001)),
            .accessChanged(AccessRules([AccessRule(.read, [.user(1001)], .everything)], owner: 7)),
        ])
        var clock = 0.0
        graph.runtime.turnClock = {
            clock += 0.002
            return clock
        }
        let commands: [Command] = (1...5).map { .call(ClientID(number: $0), id: .int(1), .ping) }
        let outcome = graph.runtime.apply(commands + [.call(other, id: .int(2), .ping)], at: graph.now)
        #expect(outcome.deliveries.count == 3 && outcome.postponed.count == 3)
        guard case .reply(other, .int(2), _)? = outcome.deliveries.last else { return #expect(Bool(false)) }
    }

    @Test("long answers are asked for before they wait, and each delivery is handed over at once")
    func handingOver() throws {
        let graph = try Harness("nodes: [{ id: a, state: { x: 0, y: \(String(repeating: "y", count: 9000)) } }]")
        let output = CountingOutput()
        var asked: [Int] = []
        graph.runtime.output = output
        graph.runtime.clients.admitsAnswer = { _, bytes in
            asked.append(bytes)
            return false
        }
        func get(_ path: String) -> Command {
            .call(
                ClientID(number: 1), id: .int(1),
                .get(.init(paths: [path], isSingle: true)))
        }
        let outcome = graph.runtime.apply([get("/a.x"), get("/a.y")], at: graph.now)
        #expect(output.answers == 2 && outcome.deliveries.isEmpty && graph.runtime.turn.deliveryCount == 2)
        #expect(asked.count == 1 && asked.allSatisfy { $0 > 8999 })
        graph.runtime.output = nil
        let refused = graph.runtime.apply([get("/a.y")], at: graph.now).deliveries.last
        guard case .reply(_, _, .fault(let fault))? = refused else { return #expect(Bool(false)) }
        #expect(fault.failure.code == .limit && fault.failure.hint?.contains("output-total") == true)
    }

    @Test("patterns that look at more nodes than a request may cost refuse it") func patterns() throws {
        let nodes = (0..<100).map { "{ id: n\($0), state: { x: 1 } }" }.joined(separator: ", ")
        var limits = RuntimeLimits()
        limits.requestCost = 5000
        let graph = try Harness("nodes: [\(nodes)]", limits: limits)
        _ = try graph.contents(["/**.x", "/*.x"])
        let many = (0..<10).map { "/**.x\($0)" }
        let failure = refusal { try graph.contents(many) }
        #expect(failure?.code == .limit && failure?.hint?.contains("request-cost") == true)
        #expect(refusal { try graph.subscribe(many) }?.code == .limit)
        #expect(
            graph.runtime.watching.topics.isEmpty && graph.runtime.watching.topics.watches.isEmpty
                && graph.runtime.watching.topics.ledger.count == 0)
        #expect(try graph.value("/n5.x") == 1)
    }

    @Test("a request that waits for another client's rules is served before that client's next one") func fairness()
        throws
    {
        let graph = try harness(cost: 3000)
        func get(_ client: UInt64, _ id: Int64, _ paths: [String]) -> Command {
            .call(
                ClientID(number: client), id: .int(id),
                .get(.init(paths: paths)))
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

    @Test("writes of parts of long values count by what they copy, and are refused together when that is too much")
    func writes() throws {
        var limits = RuntimeLimits()
        limits.requestCost = 20_000
        let graph = try Harness("nodes: [{ id: a, state: { list: [0], text: '' } }]", limits: limits)
        try graph.set("/a.list", .list(Array(repeating: 0, count: 10_000)))
        func transact(_ count: Int, _ operation: Mutation.Operation, _ path: String, _ value: Value) -> Failure? {
            refusal {
                try graph.transact(
                    Array(repeating: Mutation(operation: operation, path: path, value: value), count: count))
            }
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

    @Test("mutations for the disconnect are performed even after costly requests") func leaving() throws {
        let graph = try harness(cost: 20_000) { $0.onDisconnectPerClient = 10 }
        try graph.subscribe(["/a.*"], from: 2)
        for path in ["/a.seed", "/a.seed", "/a.seed"] {
            try graph.succeed(.onDisconnect([Mutation(operation: .add, path: path, value: 1)], .init()))
        }
        graph.turn([.disconnected(ClientID(number: 1))])
        #expect(graph.runtime.statistics.refusedOnDisconnect == 0)
        #expect(try graph.get("/a.seed", from: 2) == .value(4))
    }

    @Test("a write pays for each binding that it goes through, and many are refused together") func bindings() throws {
        var node = "{ id: end, binding: { b: $b } }"
        for level in 0..<30 { node = "{ id: n\(level), kind: container, binding: { b: $b }, children: [\(node)] }" }
        var limits = RuntimeLimits()
        limits.requestCost = 5000
        let graph = try Harness(
            "nodes: [{ id: a, kind: container, state: { b: 0 }, children: [\(node)] }]", limits: limits)
        let path = "/a/" + (0..<30).reversed().map { "n\($0)/" }.joined() + "end.b"
        func add(_ count: Int, _ path: String) -> Failure? {
            refusal {
                try graph.transact(Array(repeating: Mutation(operation: .add, path: path, value: 1), count: count))
            }
        }
        #expect(add(100, "/a.b") == nil)
        #expect(add(100, path)?.code == .limit)
        #expect(add(10, path) == nil)
        #expect(try graph.value("/a.b") == 110)
    }

    @Test("a change that sets more in motion than its request may cost shows the rest at once") func motions() throws {
        let states = (0..<50).map { "x\($0): 0.0" }.joined(separator: ", ")
        var limits = RuntimeLimits()
        limits.requestCost = 3000
        let graph = try Harness("nodes: [{ id: a, state: { \(states) } }]", limits: limits)
        try graph.subscribe(["/a.*"])
        let mutations = (0..<50).map { Mutation(operation: .set, path: "/a.x\($0)", value: 1.0) }
        try graph.transact(mutations, animation: "linear(duration: 1)")
        let moving = graph.told.filter { $0.timeline != nil }.count
        #expect(graph.told.count == 50 && moving >= 10 && moving <= 15, "\(moving)")
        #expect(graph.runtime.presentations.running.count == moving)
    }

    @Test("topics that tell of the same motion share its easing, and go without when no steps are left") func easings()
        throws
    {
        func timelines(cost: Int, subscribers: Int) throws -> (css: Int, all: Int, samples: Int) {
            let states = (0..<10).map { "x\($0): 0.0" }.joined(separator: ", ")
            var limits = RuntimeLimits()
            limits.requestCost = cost
            let graph = try Harness("nodes: [{ id: a, state: { \(states) } }]", limits: limits)
            for number in 0..<subscribers {
                try graph.succeed(
                    .subscribe(
                        .init(patterns: ["/a.*", "/a.x\(number)"], events: .update, initial: false, css: true)))
            }
            let mutations = (0..<10).map {
                Mutation(operation: .set, path: "/a.x\($0)", value: .double(Double($0 + 1)))
            }
            try graph.transact(mutations, animation: "spring(duration: 1, bounce: 0.5)")
            let found = graph.told.compactMap(\.timeline)
            return (
                found.filter { $0["css"] != nil }.count, found.count, graph.runtime.presentations.easings.samples
            )
        }
        let one = try timelines(cost: 1_000_000, subscribers: 1)
        let five = try timelines(cost: 1_000_000, subscribers: 5)
        #expect(one.css == 10 && five.css == 50 && five.samples == one.samples && one.samples < 500)
        let poor = try timelines(cost: 1000, subscribers: 1)
        #expect(poor.css < 10 && poor.all < 10)
    }

    @Test("a move pays for the nodes that move, and is refused before anything has changed") func moves() throws {
        var limits = RuntimeLimits()
        limits.requestCost = 1000
        let children = (0..<40).map { "{ id: c\($0), state: { x: \($0) } }" }.joined(separator: ", ")
        let graph = try Harness(
            "nodes: [{ id: to, kind: container }, { id: top, kind: container, children: [\(children)] }]",
            limits: limits)
        let (refused, revision) = (
            refusal { try graph.succeed(.move(path: "/top", to: "/to", index: nil, .init())) }, graph.runtime.revision
        )
        #expect(refused?.code == .limit && refused?.hint?.contains("request-cost") == true)
        #expect(try graph.contents(["/top/c7.x"]) == ["/top/c7.x": .value(7)])
        try graph.succeed(.move(path: "/top/c7", to: "/to", index: nil, .init()))
        #expect(try graph.contents(["/to/c7.x"]) == ["/to/c7.x": .value(7)] && graph.runtime.revision == revision + 1)
    }

    // MARK: What is watched

    @Test("attributes that different subscriptions watch are counted for each set of patterns") func ledger() throws {
        let graph = try harness(cost: .max) { $0.watchedAttributes = 50 }
        let first = try graph.subscribe(["/a.*"])
        let second = try graph.subscribe(["/a.*"], from: 2)
        #expect(graph.runtime.watching.topics.ledger.count == 22)
        _ = try graph.subscribe(["/a.*", "/a.r0"])
        let failure = refusal { try graph.subscribe(["/a.*", "/a.r1"]) }
        #expect(failure?.code == .limit && failure?.hint?.contains("watched-attributes") == true)
        #expect(graph.runtime.watching.topics.ledger.count == 44)
        for (number, client) in [(first, 1), (second, 2)] as [(Int64, UInt64)] {
            try graph.succeed(.unsubscribe(subscription: number), from: client)
        }
        #expect(graph.runtime.watching.topics.ledger.count == 22)
    }

    @Test("patterns count as watched though they match nothing, long ones more than once") func patternSizes() throws {
        let graph = try harness(cost: .max) { $0.watchedAttributes = 100 }
        let long = "/a/" + String(repeating: "x", count: 640) + "/*.y"
        for number in 0..<8 { try graph.subscribe([long, "/nobody\(number)/*.x"]) }
        #expect(graph.runtime.watching.topics.ledger.count == 96)
        #expect(refusal { try graph.subscribe([long, "/nobody/*.x"]) }?.code == .limit)
        #expect(graph.runtime.watching.topics.ledger.count == 96)
    }

    @Test("a new node is found by all patterns that name it and by no others") func patternIndex() throws {
        let patterns = [
            "/**", "/**.x", "/*.x", "/a.x", "/a.*", "/a/**", "/a/**/c.x", "/**/c.x", "/**/*/c.*", "/*/*/*.x",
            "/**/b/**.x", "/a/b/c.y", "/b.x",
            "/**/c/**/c.x", "/a/*/c", "/**/c/*.x",
        ]
        let graph = try Harness("nodes: [{ id: z }, { id: a, kind: container }]")
        var numbers: [Int64: String] = [:]
        for pattern in patterns where pattern.contains("*") {
            numbers[try graph.subscribe([pattern, "/**/none"])] = pattern
        }
        let gone = try graph.subscribe(["/**/c.x", "/a/**"], events: [.update, .completion])
        try graph.succeed(.unsubscribe(subscription: gone))
        _ = try graph.apply(
            "nodes: [{ id: a, state: { x: 1, y: 2 }, children: [{ id: b, state: { x: 3 }, children: [{ id: c, state: { x: 4, y: 5 } }] }] }]"
        )
        var told: [String: Set<String>] = [:]
        for case .event(let receivers, .update(_, _, _, _, _, let changes, _)) in graph.deliveries {
            for receiver in receivers { told[numbers[receiver.subscription] ?? "?"] = Set(changes.map(\.path)) }
        }
        for pattern in numbers.values {
            let found = try graph.contents([pattern]).keys.filter { !$0.hasPrefix("/.") && !$0.hasPrefix("/z") }
            #expect(told[pattern] ?? [] == Set(found), "\(pattern)")
        }
    }

    @Test("a subscription whose patterns come to match more than may be watched ends with the reason; others go on")
    func growth() throws {
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
        #expect(
            Array(graph.runtime.watching.subscriptions.keys) == [steady]
                && graph.runtime.watching.topics.ledger.count == 1)
        try graph.set("/a.seed", 5)
        #expect(graph.changes == ["/a.seed": .value(5)])
    }

    @Test("a subscription that one transaction would have name more paths than may be watched ends; others are told")
    func largeStructure() throws {
        let graph = try harness(cost: .max) { $0.watchedAttributes = 30 }
        let wide = try graph.subscribe(["/**"], events: .structure)
        let narrow = try graph.subscribe(["/**/n3.x"], events: .structure, from: 2)
        // Twenty nodes with one attribute each.
        let nodes = (0..<20).map { "{ id: n\($0), state: { x: 1 } }" }.joined(separator: ", ")
        _ = try graph.apply("nodes: [\(nodes)]")
        var (ended, told): ([Int64], [Int64: [String]]) = ([], [:])
        for case .event(let receivers, let event) in graph.deliveries {
            if case .ended(.limit, _) = event { ended += receivers.map(\.subscription) }
            if case .structure(_, let added, _, _, _) = event {
                for receiver in receivers { told[receiver.subscription] = added }
            }
        }
        #expect(ended == [wide] && told == [narrow: ["/n3", "/n3.x"]])
        // It is the size of one transaction that counts.
        let again = try graph.subscribe(["/n0/**"], events: .structure)
        for group in 0..<3 {
            let children = (0..<12).map { "{ id: c\(group)-\($0), state: { x: 1 } }" }.joined(separator: ", ")
            _ = try graph.apply("nodes: [{ id: n0, children: [\(children)] }]")
        }
        #expect(graph.runtime.watching.subscriptions.keys.sorted() == [narrow, again])
        try graph.succeed(.remove(path: "/n0", .init()))
        #expect(graph.runtime.watching.subscriptions.keys.sorted() == [narrow])
    }

    @Test(
        "a snapshot longer than an answer may be refuses the subscription, and so does one too many in a turn; long ones come in turns"
    ) func snapshots() throws {
        let text = Value.string(String(repeating: "x", count: 600))
        let graph = try Harness("nodes: [{ id: a, state: { x: '', y: '' } }, { id: z, state: { s: 12 } }]")
        graph.runtime.clients.longestAnswer = 1000
        try graph.set("/a.x", text)
        try graph.set("/a.y", text)
        let failure = refusal { try graph.subscribe(["/a.*"], initial: true) }
        #expect(failure?.code == .limit && failure?.hint?.contains("output-maximum") == true)
        #expect(graph.runtime.watching.subscriptions.isEmpty && graph.runtime.watching.topics.watches.isEmpty)
        _ = try graph.subscribe(["/a.*"])
        func subscribe(_ id: Int64, _ path: String) -> Command {
            .call(
                ClientID(number: 1), id: .int(id),
                .subscribe(.init(patterns: [path], events: .update, initial: true)))
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

    @Test("an update longer than a client may be sent ends the subscription with the reason") func longUpdates() throws
    {
        let text = Value.string(String(repeating: "x", count: 600))
        let graph = try Harness("nodes: [{ id: a, state: { x: '', y: '' } }]")
        graph.runtime.clients.longestAnswer = 1000
        let both = try graph.subscribe(["/a.*"])
        let one = try graph.subscribe(["/a.x"])
        try graph.transact(["/a.x", "/a.y"].map { Mutation(operation: .set, path: $0, value: text) })
        var told: [Int64: String] = [:]
        for case .event(let receivers, let event) in graph.deliveries {
            for receiver in receivers { told[receiver.subscription] = "\(event.method)" }
        }
        #expect(told == [both: "ended", one: "update"])
        #expect(Array(graph.runtime.watching.subscriptions.keys) == [one])
        // What is held back until a client takes it is no longer, either.
        let held = try graph.subscribe(["/a.*"], from: 2)
        graph.turn([.behind(ClientID(number: 2))])
        for path in ["/a.x", "/a.y"] { try graph.set(path, .string(String(repeating: "y", count: 600))) }
        graph.turn([.drained(ClientID(number: 2))])
        #expect(graph.events.map { "\($0.method)" } == ["ended"] && graph.runtime.watching.subscriptions[held] == nil)
    }

    @Test(
        "rules at a start cost so much together at most; the rest runs in turns behind it, and states find their places then"
    ) func start() throws {
        var limits = RuntimeLimits()
        limits.requestCost = 1000
        limits.startRequests = 2
        let lists = (0..<10).map {
            "{ id: l\($0), forEach: { in: '=lists.range(300).filter(i, i < 2)', id: self, as: item, node: { kind: view, state: { kept: 0 } } } }"
        }
        let runtime = GraphRuntime(limits: limits, epoch: "test", at: Harness.start)
        try runtime.load("agd: 1\nnodes: [\(lists.joined(separator: ", "))]", file: "test.yaml")
        let lost = runtime.restore(
            (0..<10).map { StoredRow(key: "/l\($0)/1", name: "kept", revision: 1, value: .int(Int64($0))) })
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
            let content = runtime.graph.content(
                of: runtime.graph.follow(
                    try runtime.graph.locate(AttributePath("/l\(number)/1.kept")), isWritten: true
                ).attribute)
            #expect(content == .value(.int(Int64(number))), "\(number)")
        }
    }
}
