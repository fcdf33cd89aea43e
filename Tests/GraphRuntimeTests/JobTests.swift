import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Changes of structure that take several turns.
@Suite("Documents in slices")
struct JobTests {
    private static let list = """
        nodes:
          - id: list
            state: { items: [1, 2] }
            children: [{ id: f, forEach: { in: $items, id: self, as: item, node: { kind: container, computed: { y: item * 2 } } } }]

        """

    private static func document(_ id: String, _ count: Int = 60) -> String {
        """
        agd: 1
        keys: { environment: { key\(id): 3 } }
        components:
          Core: { let: [number], inherit: { k: key\(id) }, computed: { twice: number * 2 + k } }
        nodes:
          - id: \(id)
            kind: container
            state: { base: 1 }
            computed: { n: subviews.size() }
            children:

        """ + (0..<count).map { "      - { id: c\($0), component: Core, let: { number: =base + \($0) } }\n" }.joined()
    }

    private func harness(_ scene: String = "nodes: [{ id: a, state: { n: 1 } }]", steps: Int = 500, clients: Int = 3)
        throws -> Harness
    {
        var limits = RuntimeLimits()
        limits.sliceSteps = steps
        return try Harness(scene, limits: limits, clients: clients)
    }

    private func apply(
        _ document: String, at: String = "/", mode: Request.ApplyMode = .merge, from client: UInt64 = 1,
        dryRun: Bool = false
    ) -> Command {
        .call(
            ClientID(number: client), id: .string("apply\(client)"),
            .apply(.init(document: .string(document), at: at, mode: mode, dryRun: dryRun, options: .init())))
    }

    /// Turns until nothing is postponed any more, `between` before each, with everything that was said.
    private func finish(_ graph: Harness, _ commands: [Command], between: (Int) throws -> [Command] = { _ in [] })
        throws
        -> (turns: Int, said: [Delivery])
    {
        var waiting = commands
        var said: [Delivery] = []
        var turns = 0
        while !waiting.isEmpty, turns < 10_000 {
            turns += 1
            let outcome = graph.runtime.apply(waiting + (try between(turns)), at: graph.now)
            said += outcome.deliveries
            waiting = outcome.postponed
        }
        return (turns, said)
    }

    private func replies(_ said: [Delivery]) -> [(id: RequestID, result: Answer)] {
        said.compactMap { if case .reply(_, let id, let result) = $0 { (id, result) } else { nil } }
    }

    private func failure(_ said: [Delivery], _ id: String) -> Failure? {
        for (found, result) in replies(said) {
            if case .string(id) = found, case .fault(let fault) = result { return fault.failure }
        }
        return nil
    }

    @Test("a large document takes many turns, in each of which others are served, and comes all at once") func slices()
        throws
    {
        let graph = try harness()
        try graph.subscribe(["/**"], events: [.update, .structure], from: 3)
        let revision = graph.runtime.revision
        var pings = 0
        let (turns, said) = try finish(graph, [apply(JobTests.document("big"))]) { turn in
            pings += 1
            // Nobody sees half of it.
            #expect((try? graph.runtime.graph.node(at: ["big"])) == nil || graph.runtime.revision > revision)
            return [
                .call(ClientID(number: 2), id: .int(Int64(turn)), .ping),
                .call(
                    ClientID(number: 2), id: .string("look"),
                    .get(.init(paths: ["/big/**"]))),
            ]
        }
        #expect(turns > 20)
        let answers = replies(said)
        #expect(answers.count { if case .int = $0.id { true } else { false } } == pings)
        var seen: Set<Int> = []
        for case .contents(let contents, _, _) in answers.map(\.result) { seen.insert(contents.count) }
        #expect(seen.isSubset(of: [0, 182]) && seen.contains(0))
        #expect(failure(said, "apply1") == nil)
        var updates = 0
        for case .event(_, .update(_, _, _, _, _, let changes, _)) in said {
            updates += 1
            #expect(changes.count == 182)
        }
        #expect(updates == 1 && graph.runtime.revision == revision + 1)
        #expect(try graph.value("/big/c3.twice") == 11 && graph.value("/big.n") == 60)
    }

    @Test("a node of a scene comes back although data makes other nodes while its document is read") func comesBack()
        throws
    {
        let scene = JobTests.list + "  - { id: w, kind: container, children: [{ id: m, state: { z: 0 } }] }\n"
        let graph = try harness(scene, steps: 20)
        _ = try finish(graph, [.call(ClientID(number: 1), id: .string("remove"), .remove(path: "/w/m", .init()))])
        #expect(try graph.children(of: "/w") == [])
        let document = "agd: 1\nnodes: [{ id: m, state: { z: 0, y: 1 } }]"
        let (turns, said) = try finish(graph, [apply(document, at: "/w")]) { turn in
            let items = Value.list(ValueList((0..<turn).map { .int(Int64($0)) }))
            let write = Mutation(operation: .set, path: "/list.items", value: items)
            return [.call(ClientID(number: 2), id: .int(Int64(turn)), .set(write, .init()))]
        }
        #expect(turns > 1)
        #expect(failure(said, "apply1") == nil)
        #expect(try graph.value("/w/m.y") == 1)
    }

    @Test(
        "what the store gets of a document before its revision is marked as unlinked, also if it is cancelled",
        arguments: [false, true])
    func marked(isCancelled: Bool) throws {
        let document = "agd: 1\nnodes: [{ id: doc, kind: container, children: [{ id: in, state: { w: 2 } }] }]"
        var ahead = 0
        for steps in stride(from: 20, to: 600, by: 20) {
            let graph = try harness(steps: steps)
            let denied = try rules((.write, "/a"))
            var waiting = [apply(document, from: 1)]
            var turns = 0
            while !waiting.isEmpty {
                turns += 1
                let rows = graph.rows.values.filter { $0.key.hasPrefix("/doc") }
                if isCancelled, !rows.isEmpty { waiting.append(.accessChanged(denied)) }
                waiting.append(
                    .call(
                        ClientID(number: 2), id: .int(0),
                        .set(Mutation(operation: .set, path: "/a.n", value: .int(Int64(turns))), .init())))
                graph.turn(waiting)
                waiting = graph.postponed
                let isThere = (try? graph.runtime.graph.node(at: ["doc"])) != nil
                let (kept, marks) = (graph.rows.values.filter { $0.key.hasPrefix("/doc") }, graph.rows["@unlinked\n"])
                #expect(kept.isEmpty || (marks == nil) == isThere, "\(steps) steps, turn \(turns): \(kept)")
                if marks != nil { ahead += 1 }
            }
            graph.settle()
            #expect(graph.rows["@unlinked\n"] == nil)
        }
        #expect(ahead > 10, "\(ahead)")
    }

    @Test("a document in slices makes what it makes in one turn") func equal() throws {
        let (whole, sliced) = (try harness(steps: 1_000_000), try harness(steps: 60))
        for (id, mode) in [("big", Request.ApplyMode.merge), ("more", .merge), ("big", .replace)] {
            #expect(try finish(whole, [apply(JobTests.document(id), mode: mode)]).turns == 1)
            #expect(try finish(sliced, [apply(JobTests.document(id), mode: mode)]).turns > 20)
            let described = try whole.succeed(.describe(path: "/", depth: nil))
            #expect("\(described)" == "\(try sliced.succeed(.describe(path: "/", depth: nil)))")
            #expect(whole.runtime.graph.liveAttributes == sliced.runtime.graph.liveAttributes)
        }
    }

    @Test("documents of several clients come one after the other, and a client's later requests behind its own")
    func queue() throws {
        let graph = try harness()
        let next = Command.call(
            ClientID(number: 1), id: .string("after"),
            .get(.init(paths: ["/one.base"], isSingle: true)))
        let remove = Command.call(ClientID(number: 3), id: .string("remove"), .remove(path: "/one", .init()))
        let (_, said) = try finish(
            graph, [apply(JobTests.document("one")), next, apply(JobTests.document("two"), from: 2), remove])
        let order = replies(said).compactMap { if case .string(let id) = $0.id { id } else { nil } }
        #expect(order.filter { $0 != "after" } == ["apply1", "apply2", "remove"])
        #expect(order.firstIndex(of: "apply1") ?? 9 < order.firstIndex(of: "after") ?? 0)
        for case (.string("after"), let result) in replies(said) {
            guard case .content(let content, _, _) = result else {
                Issue.record("\(result)")
                continue
            }
            #expect(content == .value(1))
        }
        #expect(refusal { try graph.value("/one.base") }?.code == .notFound)
        #expect(try graph.value("/two.base") == 1)
    }

    @Test("the document of a client that goes away is finished, as what it had sent") func gone() throws {
        let graph = try harness()
        let (turns, said) = try finish(graph, [apply(JobTests.document("big")), .disconnected(ClientID(number: 1))])
        #expect(turns > 20 && failure(said, "apply1") == nil)
        #expect(
            graph.runtime.clients[ClientID(number: 1)] == nil && graph.runtime.jobs.isEmpty)
        #expect(try graph.get("/big.base", from: 2) == .value(1))
    }

    @Test("a document whose place goes meanwhile is refused and leaves nothing behind") func refused() throws {
        let graph = try harness(JobTests.list)
        let before = (graph.runtime.graph.liveNodes, graph.runtime.graph.liveAttributes)
        let keys = graph.runtime.graph.declarations.environment.count
        let set = Command.call(
            ClientID(number: 2), id: .string("set"),
            .set(Mutation(operation: .set, path: "/list.items", value: [1]), TransactionOptions()))
        var most = 0
        var isSent = false
        let (turns, said) = try finish(graph, [apply(JobTests.document("big"), at: "/list/f/2")]) { _ in
            most = max(most, graph.runtime.graph.liveNodes)
            guard most > before.0 + 20, !isSent else { return [] }
            isSent = true
            return [set]
        }
        #expect(failure(said, "apply1")?.code == .notFound && turns > 20)
        #expect(isSent)
        graph.settle()
        // The instance and its two attributes are what data took away.
        #expect(graph.runtime.graph.liveNodes == before.0 - 1 && graph.runtime.graph.liveAttributes == before.1 - 2)
        #expect(graph.runtime.graph.declarations.environment.count == keys)
        #expect(try finish(graph, [apply(JobTests.document("big"), at: "/list/f/1")]).said.count == 1)
        #expect(try graph.value("/list/f/1/big.n") == 60)
    }

    @Test("nodes that a document was still making when their place went have neither appeared nor disappeared")
    func neverAppeared() throws {
        let scene =
            JobTests.list + """
                  - { id: count, kind: container, state: { up: 0, down: 0 } }

                """
        let document =
            "nodes:\n  - id: big\n    children:\n"
            + (0..<60).map {
                "      - { id: c\($0), onAppear: { add: { /count.up: 1 } }, onDisappear: { add: { /count.down: 1 } } }\n"
            }.joined()
        for room in [2000, 0] {
            var limits = RuntimeLimits()
            limits.sliceSteps = 500
            limits.graph.freedAtOnce = room
            let graph = try Harness(scene, limits: limits, clients: 3)
            let before = graph.runtime.graph.liveNodes
            var isSent = false
            let (_, said) = try finish(graph, [apply("agd: 1\n" + document, at: "/list/f/2")]) { _ in
                guard graph.runtime.graph.liveNodes > before + 40, !isSent else { return [] }
                isSent = true
                return [
                    .call(
                        ClientID(number: 2), id: .string("set"),
                        .set(Mutation(operation: .set, path: "/list.items", value: [1]), TransactionOptions()))
                ]
            }
            #expect(isSent && failure(said, "apply1")?.code == .notFound)
            graph.settle()
            #expect(try graph.value("/count.up") == 0 && graph.value("/count.down") == 0, "with room for \(room)")
        }
    }

    @Test("a document that is given up leaves no row of an operator over a state that was there, not even for a while")
    func operators() throws {
        let scene = JobTests.list + "  - { id: s, kind: container, state: { v: 1 } }\n"
        let document =
            "nodes:\n  - id: big\n    binding: { v: $/s.v }\n    computed: { most: \"greatest(v, duration('1h'))\" }\n"
            + "    children:\n" + (0..<60).map { "      - { id: c\($0), state: { n: \($0) } }\n" }.joined()
        let graph = try harness(scene)
        let before = graph.runtime.graph.liveNodes
        var isSent = false
        func hasRow() -> Bool { graph.rows.keys.contains { $0.contains("greatest") } }
        let (_, said) = try finish(graph, [apply("agd: 1\n" + document, at: "/list/f/2")]) { _ in
            #expect(!hasRow())
            guard graph.runtime.graph.liveNodes > before + 40, !isSent else { return [] }
            isSent = true
            return [
                .call(
                    ClientID(number: 2), id: .string("set"),
                    .set(Mutation(operation: .set, path: "/list.items", value: [1]), TransactionOptions()))
            ]
        }
        #expect(isSent && failure(said, "apply1")?.code == .notFound)
        while graph.runtime.graph.hasUnlinked {
            #expect(!hasRow())
            graph.advance(0.01)
        }
        #expect(!hasRow())
        graph.end()
        #expect(!hasRow())
    }

    /// No keys: declarations hold everywhere.
    private static func plain(_ id: String, reading name: String = "base") -> String {
        "nodes:\n  - id: \(id)\n    state: { base: 1 }\n    children:\n"
            + (0..<60).map { "      - { id: c\($0), let: { b: $\(name) }, computed: { y: b + \($0) } }\n" }.joined()
    }

    private static let parts = """
        nodes:
          - id: around
            state: { top: 1 }
            children: [{ id: open, kind: group, state: { n: 1 } }, { id: shut, kind: group, state: { n: 1 } }]
        """

    private func rules(_ rights: (AccessRight, String)...) throws -> AccessRules {
        AccessRules(try rights.map { AccessRule($0.0, [.user(1000)], try PathPattern($0.1)) }, owner: 7)
    }

    @Test("rights hold in every slice: what a client may not do is refused before it is a job or once it is read")
    func rights() throws {
        let graph = try harness(JobTests.parts)
        graph.turn([.accessChanged(try rules((.define, "/around/open/**")))])
        let before = graph.runtime.graph.liveNodes
        let denied = try finish(graph, [apply(JobTests.plain("big"), at: "/around/shut")])
        #expect(denied.turns == 1 && failure(denied.said, "apply1")?.code == .denied && graph.runtime.jobs.isEmpty)
        let declaring = try finish(graph, [apply(JobTests.document("big"), at: "/around/open")])
        #expect(declaring.turns > 2 && failure(declaring.said, "apply1")?.code == .denied)
        // Names of the hidden part lead nowhere.
        let hidden = try finish(graph, [apply(JobTests.plain("big", reading: "top"), at: "/around/open")])
        graph.settle()
        #expect(hidden.turns > 2 && failure(hidden.said, "apply1") != nil)
        #expect(graph.runtime.graph.liveNodes == before)
        let (turns, said) = try finish(graph, [apply(JobTests.plain("big"), at: "/around/open")])
        #expect(failure(said, "apply1") == nil, "\(said)")
        #expect(turns > 20 && failure(said, "apply1") == nil && graph.runtime.graph.liveNodes == before + 61)
    }

    @Test(
        "a job whose client loses its rights meanwhile is refused and leaves nothing behind",
        arguments: [2, 8, 16, 20, 24])
    func rightsLost(turn last: Int) throws {
        let graph = try harness(JobTests.parts)
        graph.turn([.accessChanged(try rules((.define, "/around/open/**")))])
        let before = (graph.runtime.graph.liveNodes, graph.runtime.graph.liveAttributes)
        let less = try rules((.define, "/around/shut/**"))
        let (turns, said) = try finish(graph, [apply(JobTests.plain("big"), at: "/around/open")]) {
            $0 == last ? [.accessChanged(less)] : []
        }
        graph.settle()
        #expect(turns > last && failure(said, "apply1")?.code == .denied)
        #expect(graph.runtime.graph.liveNodes == before.0 && graph.runtime.graph.liveAttributes == before.1)
        #expect(graph.runtime.jobs.isEmpty && graph.runtime.clients[ClientID(number: 1)]?.job == nil)
    }

    @Test("a job whose client gets other rights meanwhile starts again", arguments: [2, 8, 16, 20, 24])
    func rightsChanged(turn last: Int) throws {
        let graph = try harness(JobTests.parts)
        graph.turn([.accessChanged(try rules((.define, "/around/open/**")))])
        let before = graph.runtime.graph.liveNodes
        let other = try rules((.define, "/around/open/**"), (.read, "/around/shut"))
        let (turns, said) = try finish(graph, [apply(JobTests.plain("big"), at: "/around/open")]) {
            $0 == last ? [.accessChanged(other)] : []
        }
        #expect(turns > 20 && failure(said, "apply1") == nil && graph.runtime.graph.liveNodes == before + 61)
        #expect(try graph.value("/around/open/big/c9.y") == 10)
    }

    @Test("a batch waits for the change of structure in it, and others do not") func batch() throws {
        let graph = try harness()
        let get = Command.call(
            ClientID(number: 1), id: .string("after"),
            .get(.init(paths: ["/big.base"], isSingle: true)))
        let batch: [Command] = [
            .batchBegins(ClientID(number: 1)), apply(JobTests.document("big")), get, .batchEnds(ClientID(number: 1)),
        ]
        let (turns, said) = try finish(graph, batch) { [.call(ClientID(number: 2), id: .int(Int64($0)), .ping)] }
        #expect(turns > 20)
        let own = said.compactMap { delivery -> String? in
            switch delivery {
            case .batchBegins: "begins"
            case .batchEnds: "ends"
            case .reply(ClientID(number: 1), .string(let id), _): id
            default: nil
            }
        }
        #expect(own == ["begins", "apply1", "after", "ends"])
        #expect(replies(said).count == turns + 2)
    }

    @Test("a client that resumes from before the end of a job gets all that the job made") func resumed() throws {
        let graph = try harness()
        try graph.subscribe(["/**"], from: 3)
        var middle: UInt64 = 0
        let set = Command.call(
            ClientID(number: 2), id: .string("set"),
            .set(Mutation(operation: .set, path: "/a.n", value: 7), TransactionOptions()))
        _ = try finish(graph, [apply(JobTests.document("big"))]) { turn in
            if turn == 31 { middle = graph.runtime.revision }
            return turn == 30 ? [set] : []
        }
        #expect(graph.runtime.revision == middle + 1)
        try graph.subscribe(["/**"], since: .init(epoch: "test", revision: middle), from: 2)
        #expect(graph.changes["/big.base"] == .value(1) && graph.changes["/a.n"] == nil)
    }

    @Test("a document that changes nothing, or is only tried, leaves nothing behind either") func tried() throws {
        let graph = try harness()
        let before = (graph.runtime.graph.liveNodes, graph.runtime.revision)
        #expect(failure(try finish(graph, [apply(JobTests.document("big"), dryRun: true)]).said, "apply1") == nil)
        #expect(graph.runtime.graph.liveNodes == before.0 && graph.runtime.revision == before.1)
        _ = try finish(graph, [apply(JobTests.document("big"))])
        let revision = graph.runtime.revision
        _ = try finish(graph, [apply(JobTests.document("big"))])
        #expect(graph.runtime.revision == revision)
    }

    @Test("a list makes no more instances than one request may pay for, and is right again with fewer") func instances()
        throws
    {
        var limits = RuntimeLimits()
        limits.requestCost = 20_000
        let graph = try Harness(JobTests.list, limits: limits)
        try graph.set("/list.items", .list((0..<1000).map { .int($0) }))
        let refused = try graph.get("/list/f.elements").failure
        #expect(refused?.code == .limit && refused?.hint?.contains("request-cost") == true)
        #expect(graph.runtime.graph.liveNodes == 5)
        try graph.set("/list.items", .list((0..<100).map { .int($0) }))
        #expect(try graph.value("/list/f/99.y") == 198)
        // Each request has a budget of its own.
        try graph.set("/list.items", .list((0..<220).map { .int($0) }))
        #expect(graph.runtime.graph.liveNodes == 223)
        // A start has none.
        let scene = "nodes: [{ id: f, forEach: { in: =lists.range(5000), id: self, node: { kind: view } } }]"
        #expect(try Harness(scene, limits: limits).runtime.graph.liveNodes == 5002)
    }

    @Test("answers are charged by nodes, attributes and bytes before they are made") func answers() throws {
        var limits = RuntimeLimits()
        limits.requestCost = 4000
        let graph = try Harness(
            """
            nodes:
              - id: l
                children:
                  - { id: f, forEach: { in: =lists.range(100), id: self, as: x, node: { kind: view, state: { a: 1 } } } }
              - { id: t, state: { text: \(String(repeating: "x", count: 200_000)), b: 1 } }
            """, limits: limits)
        let requests: [Request] = [
            .describe(path: "/l", depth: nil), .dump(path: "/l", format: .json), .dump(path: "/l", format: .dot),
            .dump(path: "/l", format: .scene), .describe(path: "/t", depth: nil),
        ]
        for request in requests {
            let runs = graph.runtime.graph.counters.evaluations
            let refused = refusal { try graph.succeed(request) }
            #expect(refused?.code == .limit && refused?.hint?.contains("request-cost") == true, "\(request)")
            #expect(graph.runtime.graph.counters.evaluations - runs < 110)
        }
        try graph.succeed(.describe(path: "/l/f/7", depth: nil))
        try graph.succeed(.dump(path: "/l/f/7", format: .scene))
    }

    private static func views(_ count: Int, changed: Int? = nil) -> String {
        let views = (0..<count).map { "{ id: v\($0), let: { n: \($0 == changed ? -1 : $0) } }" }
        return "agd: 1\nnodes: [{ id: many, kind: container, children: [\(views.joined(separator: ", "))] }]"
    }

    @Test("a document is compared with what is there over many turns, and touches only what it changes")
    func comparing() throws {
        let graph = try harness(steps: 2000)
        _ = try finish(graph, [apply(JobTests.views(300))])
        try graph.subscribe(["/many/**"], from: 2)
        let (turns, said) = try finish(graph, [apply(JobTests.views(300, changed: 7))])
        // 50 nodes in each, and some for reading.
        #expect(turns > 8)
        var told: [String] = []
        for case .event(_, .update(_, _, _, _, _, let changes, _)) in said { told += changes.map(\.path) }
        #expect(told == ["/many/v7.n"] && failure(said, "apply1") == nil)
    }

    @Test("a tree that data changes while a document is compared is compared at once") func comparingAgain() throws {
        let graph = try harness(JobTests.list, steps: 2000)
        _ = try finish(graph, [apply(JobTests.views(300))])
        let (turns, said) = try finish(graph, [apply(JobTests.views(310, changed: 7))]) { turn in
            [
                .call(
                    ClientID(number: 2), id: .int(Int64(turn)),
                    .set(
                        Mutation(operation: .set, path: "/list.items", value: [.int(Int64(turn))]), TransactionOptions()
                    ))
            ]
        }
        #expect(turns > 3 && failure(said, "apply1") == nil)
        #expect(try graph.value("/many/v7.n") == -1 && graph.value("/many/v309.n") == 309)
    }
}
