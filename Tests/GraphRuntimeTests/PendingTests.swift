import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// What a subscription is owed while its client is behind or has had its share of updates.
@Suite("News that waits")
struct PendingTests {
    static let list = """
        nodes:
          - id: h
            state: { items: [x0, x1], load: 0.0 }
            children:
              - { id: r, forEach: { in: $items, as: item, index: place, id: self, node: { state: { q: 0 } } } }
        """

    private func setItems(_ graph: Harness, _ names: [String]) throws {
        try graph.set("/h.items", .list(names.map { .string($0) }))
    }

    private func pending(_ graph: Harness, _ subscription: Int64) throws -> Pending {
        try #require(graph.runtime.watching.subscriptions[subscription]?.pending)
    }

    @Test("a node that comes and goes while a subscription waits is stored once, however often it does") func bounded()
        throws
    {
        let graph = try Harness(PendingTests.list)
        let id = try graph.subscribe(["/h/**"], events: [.update, .invalidate, .structure], maxRate: 0.001)
        try graph.set("/h.load", 1.0)
        for round in 0..<50 {
            try setItems(graph, (0..<20).map { "y\(round)-\($0)" })
            try setItems(graph, [])
        }
        let waiting = try pending(graph, id)
        #expect(waiting.left.count == 6, "the element, the index and the state of two instances")
        #expect(waiting.renamed.count < 10 && waiting.invalidated.count < 10)
        try setItems(graph, ["x1", "z"])
        graph.advance(1000)
        guard case .update(_, _?, _, _, _, let changes, _)? = graph.events.dropFirst().first else {
            throw Failure(.unavailable, "no update that spans")
        }
        #expect(Set(changes.map(\.path)).count == changes.count, "each path once")
        #expect(
            changes.filter { $0.content.failure?.code == .removed }.map(\.path) == [
                "/h/r/x0.item", "/h/r/x0.place", "/h/r/x0.q",
            ])
        #expect(graph.changes["/h/r/x1.q"] == .value(0) && graph.changes["/h/r/z.q"] == .value(0))
        #expect(graph.methods.first == "structure")
        let (added, removed, moved, _) = try #require(graph.structures.first)
        #expect(
            moved.isEmpty && added.contains("/h/r/z.q") && added.contains("/h/r/x1") && removed.contains("/h/r/x0")
                && removed.contains("/h/r/x1"))
        #expect(!(added + removed).contains { $0.contains("y") })
    }

    @Test("values that change while a subscription waits are kept nowhere, and told once as they are then")
    func values() throws {
        let rules = (0..<100).map { "r\($0): x + \($0)" }.joined(separator: ", ")
        let graph = try Harness("nodes: [{ id: a, state: { x: 0, y: 0 }, computed: { \(rules) } }]")
        let id = try graph.subscribe(["/a.*"], maxRate: 1)
        try graph.set("/a.x", 1)
        for x in 2..<20 { try graph.set("/a.x", .int(Int64(x))) }
        let waiting = try pending(graph, id)
        #expect(waiting.from != nil && waiting.renamed.isEmpty && waiting.left.isEmpty && waiting.invalidated.isEmpty)
        graph.advance(1)
        #expect(graph.changes.count == 101 && graph.changes["/a.r7"] == .value(26) && graph.changes["/a.y"] == nil)
        graph.advance(1)
        #expect(graph.changes.isEmpty)
    }

    @Test("a node that came and went while a subscription waited is not told") func unknown() throws {
        let graph = try Harness(PendingTests.list)
        try graph.subscribe(["/h/r/*.q"], maxRate: 1)
        try setItems(graph, ["x0", "x1", "a"])
        #expect(graph.changes == ["/h/r/a.q": .value(0)])
        try setItems(graph, ["x0", "x1", "a", "b"])
        try setItems(graph, ["x0", "x1", "a"])
        graph.advance(1)
        #expect(graph.events.isEmpty)
        try setItems(graph, ["x0"])
        #expect(graph.changes.values.allSatisfy { $0.failure?.code == .removed } && graph.changes.count == 2)
    }

    @Test("neither structure nor completions nor invalidations overtake an update that waits") func order() throws {
        let graph = try Harness(PendingTests.list)
        try graph.subscribe(["/h/**"], events: [.update, .invalidate, .structure, .completion], maxRate: 1)
        try graph.set("/h.load", 1.0)
        #expect(graph.methods == ["update", "invalidate", "completion", "completion"])
        try graph.set("/h.load", 2.0, animation: "linear(duration: 0.5)")
        try setItems(graph, ["x0"])
        graph.advance(0.6)
        #expect(graph.events.isEmpty)
        graph.advance(0.4)
        #expect(
            graph.methods == [
                "structure", "update", "invalidate", "completion", "completion", "completion", "completion",
            ])
        let revisions = graph.events.compactMap { event -> UInt64? in
            switch event {
            case .update(let revision, _, _, _, _, _, _), .invalidate(let revision, _),
                .structure(let revision, _, _, _, _),
                .completion(let revision, _, _, _):
                revision
            default: nil
            }
        }
        #expect(revisions == revisions.sorted())
    }

    @Test("a client that is behind gets what became of the tree in one event") func behind() throws {
        let graph = try Harness(PendingTests.list)
        try graph.subscribe(["/h/r/*"], events: .structure, from: 2)
        graph.turn([.behind(ClientID(number: 2))])
        try setItems(graph, ["x1", "x0", "a"])
        try setItems(graph, ["x1", "a", "b"])
        #expect(graph.events.isEmpty)
        graph.turn([.drained(ClientID(number: 2))])
        #expect(graph.events.count == 1)
        let (added, removed, moved, _) = try #require(graph.structures.first)
        #expect(added.filter { !$0.contains(".") } == ["/h/r/a", "/h/r/b"])
        #expect(removed.filter { !$0.contains(".") } == ["/h/r/x0"] && moved == ["/h/r/x1"])
    }

    @Test("completions wait for a client that is behind up to a limit, and then are sent with all that waits")
    func limit() throws {
        var limits = RuntimeLimits()
        limits.pendingCompletions = 4
        let graph = try Harness(PendingTests.list, limits: limits)
        try graph.subscribe(["/h.load"], events: [.update, .completion], from: 2)
        graph.turn([.behind(ClientID(number: 2))])
        try graph.set("/h.load", 1.0)
        #expect(graph.events.isEmpty)
        try graph.set("/h.load", 2.0)
        #expect(graph.methods == ["update", "completion", "completion", "completion", "completion"])
        #expect(graph.changes == ["/h.load": .value(2.0)])
    }
}
