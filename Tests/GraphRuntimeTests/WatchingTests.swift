import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Watching")
struct WatchingTests {
    static let hosts = """
        nodes:
          - id: hosts
            children:
              - { id: a, kind: view, state: { load: 1.0, name: a } }
              - { id: b, kind: view, state: { load: 2.0, name: b } }
        """

    @Test("a subscription begins with a snapshot of all it names, behind the reply") func snapshot() throws {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/*.load"], initial: true)
        let kinds = graph.deliveries.suffix(2).map { if case .reply = $0 { "reply" } else { "event" } }
        #expect(kinds == ["reply", "event"])
        #expect(graph.changes == ["/hosts/a.load": .value(1.0), "/hosts/b.load": .value(2.0)])
    }

    @Test("a transaction is one event, with its label, before the writer's reply") func atomic() throws {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/**"])
        try graph.transact(
            [
                Mutation(operation: .set, path: "/hosts/a.load", value: 5),
                Mutation(operation: .set, path: "/hosts/b.load", value: 6),
            ],
            label: "two")
        #expect(graph.events.count == 1)
        guard case .update(graph.runtime.revision, _, "two", _, false, _, _)? = graph.events.first,
            case .reply? = graph.deliveries.last
        else { throw Failure(.unavailable, "no update with the label before the reply") }
        #expect(graph.told.count == 2)
    }

    @Test("subscribers of the same thing share one event") func shared() throws {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/a.load"], from: 1)
        try graph.subscribe(["/hosts/a.load"], from: 2)
        try graph.set("/hosts/a.load", 9)
        let recipients = graph.deliveries.compactMap {
            if case .event(let list, .update) = $0 { list.count } else { nil }
        }
        #expect(recipients == [2])
    }

    @Test("a client that is behind gets one event with the newest values when it drains") func conflation() throws {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/**"], from: 2)
        graph.turn([.behind(ClientID(number: 2))])
        for load in 1...50 { try graph.set("/hosts/a.load", .double(Double(load) + 0.5)) }
        #expect(graph.events.isEmpty)
        graph.turn([.drained(ClientID(number: 2))])
        guard case .update(let revision, let from?, _, _, _, let changes, _)? = graph.events.first,
            graph.events.count == 1
        else { throw Failure(.unavailable, "not one event that spans revisions") }
        #expect(changes.map(\.path) == ["/hosts/a.load"] && changes[0].content == .value(50.5))
        #expect(from < revision && revision == graph.runtime.revision)
        try graph.set("/hosts/b.load", 7)
        #expect(graph.changes == ["/hosts/b.load": .value(7.0)])
    }

    @Test("maxRate sends the first at once, then the newest at most that often, and always the last") func maxRate()
        throws
    {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/a.load"], maxRate: 10)
        try graph.set("/hosts/a.load", 10)
        #expect(graph.changes == ["/hosts/a.load": .value(10.0)])
        try graph.set("/hosts/a.load", 11)
        try graph.set("/hosts/a.load", 12)
        #expect(graph.events.isEmpty)
        #expect(graph.runtime.nextDeadline.map { abs($0 - graph.now.monotonic - 0.1) < 1e-9 } == true)
        graph.advance(0.1)
        #expect(graph.changes == ["/hosts/a.load": .value(12.0)])
        #expect(graph.runtime.nextDeadline == nil)
    }

    @Test("after a reconnect only what changed since comes, or a full snapshot, and the client can tell") func resume()
        throws
    {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/**"])
        try graph.set("/hosts/a.load", 3)
        let seen = graph.runtime.revision
        try graph.set("/hosts/b.load", 4)
        try graph.set("/hosts/b.load", 5)
        try graph.subscribe(["/hosts/**"], since: .init(epoch: "test", revision: seen), from: 2)
        #expect(graph.changes == ["/hosts/b.load": .value(5.0)])
        try graph.subscribe(["/hosts/**"], since: .init(epoch: "another life", revision: seen), from: 2)
        #expect(graph.changes.count == 4)
        guard case .update(_, _, _, _, true, _, _)? = graph.events.first else {
            throw Failure(.unavailable, "a snapshot says so")
        }
    }

    @Test("after a reconnect what was made meanwhile comes, states with the rest") func resumeMade() throws {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/**"])
        let seen = graph.runtime.revision
        _ = try graph.apply(
            "nodes: [{ id: c, kind: view, state: { load: 3.0 }, computed: { twice: load * 2.0 } }]", at: "/hosts")
        let made = graph.runtime.revision
        try graph.subscribe(["/hosts/**"], since: .init(epoch: "test", revision: seen), from: 2)
        #expect(graph.changes == ["/hosts/c.load": .value(3.0), "/hosts/c.twice": .value(6.0)])
        _ = try graph.apply("nodes: [{ id: a, state: { extra: 1 } }]", at: "/hosts")
        try graph.subscribe(["/hosts/**"], since: .init(epoch: "test", revision: made), from: 2)
        #expect(graph.changes == ["/hosts/a.extra": .value(1)])
    }

    /// - Returns: whether it resumes.
    private func subscribe(_ graph: Harness, _ events: EventKinds, since revision: UInt64) throws -> Value? {
        let since = Request.Position(epoch: "test", revision: revision)
        let request = Request.Subscribe(patterns: ["/hosts/**"], events: events, initial: true, since: since)
        return try graph.map(.subscribe(request), from: 2)["resumed"]
    }

    @Test("a watcher of the tree resumes with its changes if others watched it meanwhile")
    func resumeStructure() throws {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/**"])
        let seen = graph.runtime.revision
        try graph.set("/hosts/a.load", 3)
        #expect(try subscribe(graph, .structure, since: seen) == true && graph.events.isEmpty)
        #expect(try subscribe(graph, [.update, .structure], since: seen) == true && graph.changes.count == 1)
        try graph.succeed(.move(path: "/hosts/a", to: nil, index: 1, TransactionOptions()))
        #expect(try subscribe(graph, .structure, since: seen) == false && graph.events.isEmpty)
        #expect(try subscribe(graph, .update, since: seen) == true && graph.changes.count == 1)
        let moved = graph.runtime.revision
        #expect(try subscribe(graph, .structure, since: moved) == true)
        _ = try graph.apply("nodes: [{ id: c, kind: view, state: { load: 3.0 } }]", at: "/hosts")
        #expect(try subscribe(graph, [.update, .structure], since: moved) == true)
        let told = try #require(graph.structures.first)
        #expect(told.added == ["/hosts/c", "/hosts/c.load"] && told.removed.isEmpty && told.moved.isEmpty)
        #expect(graph.changes["/hosts/c.load"] == .value(3.0))
    }

    @Test("a watcher of invalidations resumes with the paths that may have changed, and no rule runs")
    func resumeInvalidated() throws {
        let graph = try Harness(WatchingTests.hosts)
        _ = try graph.apply(
            "nodes: [{ id: c, kind: view, state: { load: 3.0, name: c }, computed: { twice: load * 2.0, loud: name + '!' } }]",
            at: "/hosts")
        let first = try graph.subscribe(["/hosts/**"], events: .invalidate)
        for path in ["/hosts/c.twice", "/hosts/c.loud"] { _ = try graph.get(path) }
        try graph.succeed(.unsubscribe(subscription: first))
        let seen = graph.runtime.revision
        try graph.subscribe(["/hosts/a.name"])
        try graph.set("/hosts/c.load", 4.0)
        _ = graph.runs()
        #expect(try subscribe(graph, .invalidate, since: seen) == true)
        #expect(graph.invalidated.sorted() == ["/hosts/c.load", "/hosts/c.twice"] && graph.runs().isEmpty)
        try graph.set("/hosts/c.load", 5.0)
        #expect(graph.invalidated.isEmpty, "not read since")
        #expect(try graph.get("/hosts/c.twice", from: 2) == .value(10.0))
        try graph.set("/hosts/c.load", 6.0)
        #expect(graph.invalidated == ["/hosts/c.twice"])
        #expect(try subscribe(graph, [.update, .invalidate], since: seen) == true)
        #expect(graph.changes.count == 2 && graph.invalidated.sorted() == ["/hosts/c.load", "/hosts/c.twice"])
    }

    @Test("new attributes join the patterns that name them") func joining() throws {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/*.load"])
        _ = try graph.apply("nodes:\n  - { id: c, kind: view, state: { load: 3.0 } }", at: "/hosts")
        #expect(graph.changes == ["/hosts/c.load": .value(3.0)])
        try graph.set("/hosts/c.load", 4)
        #expect(graph.changes == ["/hosts/c.load": .value(4.0)])
    }

    @Test("a pattern for all attributes of a node waits for the node, and for its return") func returning() throws {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/c.*"])
        for load in [1.0, 2.0] {
            _ = try graph.apply("nodes:\n  - { id: c, kind: view, state: { load: \(load) } }", at: "/hosts")
            #expect(graph.changes == ["/hosts/c.load": .value(.double(load))])
            try graph.succeed(.remove(path: "/hosts/c", .init()))
            #expect(graph.changes["/hosts/c.load"]?.failure?.code == .removed && graph.events.count == 1)
        }
    }

    @Test("structure events name the nodes and attributes that were added and removed") func structure() throws {
        let graph = try Harness(applied: WatchingTests.hosts)
        try graph.subscribe(["/hosts/*"], events: .structure)
        try graph.subscribe(["/hosts/*.load"], events: .structure, from: 2)
        func told() -> [[[String]]] { graph.structures.map { [$0.added, $0.removed, $0.moved] } }
        _ = try graph.apply("nodes: [{ id: c, kind: view, state: { load: 1.0, name: c } }]", at: "/hosts")
        #expect(
            told() == [
                [["/hosts/c", "/hosts/c.load", "/hosts/c.name"], [], []], [["/hosts/c", "/hosts/c.load"], [], []],
            ])
        _ = try graph.apply("nodes: [{ id: c, state: { extra: 1 } }]", at: "/hosts")
        #expect(told() == [[["/hosts/c.extra"], [], []]])
        _ = try graph.apply("nodes: [{ id: c, state: { load: 1.0, name: c } }]", at: "/hosts", mode: .replace)
        #expect(
            told().first?[1].sorted() == [
                "/hosts/a", "/hosts/a.load", "/hosts/a.name", "/hosts/b", "/hosts/b.load", "/hosts/b.name",
                "/hosts/c.extra",
            ])
        #expect(told().last?[1].sorted() == ["/hosts/a", "/hosts/a.load", "/hosts/b", "/hosts/b.load"])
    }

    @Test("a removed attribute invalidates, and one that comes again by its name does, too")
    func invalidatedByStructure() throws {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/a.load"], events: .invalidate)
        try graph.subscribe(["/hosts/*.load"], events: .invalidate, from: 2)
        try graph.succeed(.remove(path: "/hosts/a", .init()))
        #expect(graph.invalidated == ["/hosts/a.load", "/hosts/a.load"])
        _ = try graph.apply("nodes: [{ id: a, kind: view, state: { load: 9.0 } }]", at: "/hosts")
        #expect(graph.invalidated == ["/hosts/a.load"], "the one that named the path has ended")
    }

    @Test("an attribute that is replaced in one transaction is told once, with its value") func replaced() throws {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/*.load"])
        _ = try graph.apply("nodes: [{ id: a, kind: container, state: { load: 9.0 } }]", at: "/hosts")
        #expect(graph.told.map(\.path) == ["/hosts/a.load"] && graph.changes == ["/hosts/a.load": .value(9.0)])
    }

    @Test("a subscription to a path that names nothing is refused with the nearest name") func unknown() throws {
        let graph = try Harness(WatchingTests.hosts)
        let failure = #expect(throws: Failure.self) { try graph.subscribe(["/hosts/a.lod"]) }
        #expect(failure?.code == .notFound && failure?.hint?.contains("load") == true)
    }

    @Test("mutations for the disconnect are performed") func deadMan() throws {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/a.name"], from: 2)
        try graph.succeed(
            .onDisconnect([Mutation(operation: .set, path: "/hosts/a.name", value: "silent")], .init()), from: 1)
        graph.turn([.disconnected(ClientID(number: 1))])
        #expect(graph.changes == ["/hosts/a.name": .value("silent")])
    }

    @Test("a refused transaction changes nothing at all") func rollback() throws {
        let graph = try Harness(WatchingTests.hosts)
        try graph.subscribe(["/hosts/**"])
        let before = graph.runtime.revision
        let failure = #expect(throws: Failure.self) {
            try graph.transact([
                Mutation(operation: .set, path: "/hosts/a.load", value: 5),
                Mutation(operation: .set, path: "/hosts/b.load", value: "fast"),
            ])
        }
        #expect(failure?.code == .typeMismatch)
        #expect(failure?.message.contains("double") == true && failure?.message.contains("string") == true)
        #expect(graph.events.isEmpty)
        #expect(graph.runtime.revision == before)
        #expect(try graph.value("/hosts/a.load") == 1.0)
    }

    @Test("test aborts the transaction, also on a computed that sees its writes") func testMutation() throws {
        let graph = try Harness(
            """
            nodes:
              - { id: n, state: { a: 1 }, computed: { double: a * 2 } }
            """)
        try graph.transact([
            Mutation(operation: .set, path: "/n.a", value: 2), Mutation(operation: .test, path: "/n.double", value: 4),
        ])
        #expect(try graph.value("/n.a") == 2)
        let failure = #expect(throws: Failure.self) {
            try graph.transact([
                Mutation(operation: .set, path: "/n.a", value: 3),
                Mutation(operation: .test, path: "/n.double", value: 4),
            ])
        }
        #expect(failure?.code == .conflict)
        #expect(try graph.value("/n.a") == 2)
        #expect(try graph.value("/n.double") == 4)
    }
}
