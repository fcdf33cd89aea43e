import AttributeValues
import TestSupport
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness
@testable import ViewGraph

@Suite("removed nodes are freed")
struct LeakTests {
    private func vertices(_ graph: Harness) -> UInt64 { graph.runtime.graph.counters.liveAttributes }
    private func edges(_ graph: Harness) -> UInt64 { graph.runtime.graph.counters.liveEdges }

    /// Does something many times, and expects no more vertices and edges at the end than at the beginning. Unused
    /// vertices are freed in groups, so the most at any time count.
    private func expectFlat(_ graph: Harness, _ comment: Comment, _ step: (Int) throws -> Void) rethrows {
        func most(_ turns: Range<Int>, _ step: (Int) throws -> Void) rethrows -> (vertices: UInt64, edges: UInt64) {
            var most: (vertices: UInt64, edges: UInt64) = (0, 0)
            for turn in turns {
                try step(turn)
                most = (max(most.vertices, vertices(graph)), max(most.edges, edges(graph)))
            }
            return most
        }
        let (first, last) = (try most(0..<140, step), try most(140..<700, step))
        #expect(last.vertices <= first.vertices, comment)
        #expect(last.edges <= first.edges, comment)
        #expect(graph.runtime.graph.attributes.count == Int(vertices(graph)), comment)
    }

    private static let list = """
        nodes:
          - id: list
            state: { items: [] }
            children:
              - id: rows
                forEach: { in: $items, id: id, as: item, node: { kind: view, computed: { y: "item.n * 2" } } }
        """

    private func elements(_ turn: Int) -> Value {
        .list((0..<2).map { ["id": .string("e\(2 * turn + $0)"), "n": .int(Int64(turn))] })
    }

    @Test("elements with new ids leave no vertex behind") func elementsOfLists() throws {
        let graph = try Harness(LeakTests.list)
        try graph.subscribe(["/list/**"], initial: true)
        try expectFlat(graph, "watched") { try graph.set("/list.items", elements($0)) }
    }

    @Test("elements that nobody watches leave no vertex behind") func unwatchedElements() throws {
        let graph = try Harness(LeakTests.list)
        try expectFlat(graph, "unwatched") { try graph.set("/list.items", elements($0)) }
    }

    @Test("places that are watched by name go with their subscription") func watchedPlaces() throws {
        let graph = try Harness("nodes: [{ id: a, state: { m: {} }, computed: { s: m.size() } }]")
        try expectFlat(graph, "subscribed") { turn in
            try graph.set("/a.m", ["k\(turn)": ["x": 1]])
            let subscription = try graph.subscribe(["/a.m.k\(turn).x", "/a.s"], initial: true)
            try graph.succeed(.unsubscribe(subscription: subscription))
        }
    }

    @Test("keys that a rule no longer reads are freed") func dynamicKeys() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { m: { k: 1 }, key: k }, computed: { v: 'm[?key].orValue(0)' } }]")
        try graph.subscribe(["/a.v"], initial: true)
        for turn in 0..<1000 { try graph.set("/a.key", .string("k\(turn)")) }
        #expect(vertices(graph) < 200)
    }

    @Test("keys that rules read by the thousand go with the rules") func dynamicKeysOfMany() throws {
        let graph = try Harness(
            """
            nodes:
              - id: a
                state: { m: {}, items: [] }
                children:
                  - id: rows
                    forEach: { in: $items, id: id, as: item, node: { kind: view, let: { m: $m }, computed: { y: "m[?item.id].orValue(0)" } } }
            """)
        try graph.subscribe(["/a/**"], initial: true)
        let before = vertices(graph)
        try graph.set("/a.items", .list((0..<1000).map { ["id": .string("e\($0)")] }))
        #expect(vertices(graph) > before + 1000)
        try graph.set("/a.items", [])
        #expect(vertices(graph) == before)
    }

    @Test("eval leaves no vertex behind") func evaluated() throws {
        let graph = try Harness("nodes: [{ id: a, state: { m: { x: { y: 1 } } } }]")
        try expectFlat(graph, "eval") { turn in
            try graph.set("/a.m", ["k\(turn)": ["y": 1]])
            try graph.succeed(.eval(expression: "m.k\(turn).y", bindings: ValueMap(), at: "/a", typed: false))
        }
    }

    @Test("overrides of a field, clocks and rules of nodes that are made anew leave no vertex behind") func redefined()
        throws
    {
        let graph = try Harness(
            """
            keys: { environment: { font: { default: { size: 12, weight: 400 } } } }
            nodes: [{ id: a, state: { m: { x: 1 } } }]
            """)
        try graph.subscribe(["/**"], initial: true)
        try expectFlat(graph, "redefined") { turn in
            _ = try graph.apply(
                """
                nodes:
                  - id: a
                    state: { m: { x: 1 } }
                    environment: { font.size: =m.x + \(turn) }
                    clock: { now: every \(turn + 1)s }
                    computed: { y: m.k\(turn), z: "now", u: "has(m.x\(turn))" }
                    children: [{ id: c, kind: view, computed: { f: env.font.size } }]
                """)
        }
    }

    @Test("rules that are only reported as invalid leave nothing behind") func invalidated() throws {
        let graph = try Harness(LeakTests.list)
        try graph.subscribe(["/list/**"], events: .invalidate)
        try expectFlat(graph, "invalidate") { try graph.set("/list.items", elements($0)) }
        #expect(graph.runtime.graph.watches.proxyCount < 20)
    }

    @Test("an input stays watched for one subscription when another that named it ends") func proxiesAndWatchers()
        throws
    {
        let graph = try Harness("nodes: [{ id: a, state: { x: 1 }, computed: { y: x + 1 } }]")
        try graph.subscribe(["/a.y"], events: .invalidate)
        let second = try graph.subscribe(["/a.x"], events: .invalidate, from: 2)
        try graph.succeed(.unsubscribe(subscription: second), from: 2)
        try graph.set("/a.x", 2)
        #expect(graph.invalidated == ["/a.y"])
    }

    @Test("a place that another rule names stays when the first goes") func sharedPlaces() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { m: { x: 1 } }, children: [{ id: b, kind: view, let: { v: =m.x } }, { id: c, kind: view, let: { v: =m.x + 1 } }] }]"
        )
        try graph.subscribe(["/a/**"], initial: true)
        let before = vertices(graph)
        try graph.succeed(.remove(path: "/a/b", .init()))
        #expect(try graph.value("/a/c.v") == 2)
        try graph.set("/a.m", ["x": 5])
        #expect(try graph.value("/a/c.v") == 6)
        try graph.succeed(.remove(path: "/a/c", .init()))
        // The two rules, and with the second the place.
        #expect(vertices(graph) == before - 3)
    }

    @Test("an object goes with the state that held it, also where that becomes another") func objects() throws {
        let graph = try Harness(
            """
            types: { Book: { state: { title: A, pages: 1 } } }
            nodes: [{ id: a, state: { b: { type: Book } } }]
            """)
        try expectFlat(graph, "retyped") { turn in
            _ = try graph.apply("nodes: [{ id: a, state: { b: \(turn % 2 == 0 ? "1" : "{ type: Book }") } }]")
        }
    }

    private static let large = 10_000

    @Test("a graph that has shrunk gives its rows and edges back and goes on, and ids of what is gone stay so")
    func givingBack() throws {
        // More instances than one request may make.
        var limits = RuntimeLimits()
        limits.requestCost = .max
        limits.watchedAttributes = 10 * LeakTests.large
        let graph = try Harness(LeakTests.list, limits: limits)
        let view = graph.runtime.graph
        func set(_ count: Int, _ n: Int64) throws {
            try graph.set("/list.items", .list((0..<count).map { ["id": .int(Int64($0)), "n": .int(n)] }))
        }
        try graph.subscribe(["/list/**"], initial: true)
        try set(LeakTests.large, 1)
        let attribute = try view.locate(AttributePath("/list/rows/\(LeakTests.large - 1).y")).attribute
        let node = try view.node(at: ["list", "rows", Name("\(LeakTests.large - 1)")])
        let before = view.engine.memory
        #expect(!graph.runtime.hasShrunk)
        try set(0, 1)
        graph.settle()
        #expect(graph.runtime.hasShrunk)
        graph.runtime.giveBack()
        #expect(!graph.runtime.hasShrunk)
        let after = view.engine.memory
        #expect(after.vertices < before.vertices / 100 && after.edges <= before.edges)
        #expect(view.attributes.count < 100)
        #expect(graph.runtime.watching.topics.watches.capacity < LeakTests.large / 100)
        #expect(view.engine.checkInvariants() == [])
        try set(1000, 2)
        #expect(graph.changes["/list/rows/999.y"] == .value(4))
        try graph.set("/list.items[3].n", 7)
        #expect(graph.changes["/list/rows/3.y"] == .value(14))
        #expect(view.engine.checkInvariants() == [])
        // Rows with the same numbers are used again.
        try set(LeakTests.large, 1)
        #expect(!view.isAlive(attribute) && !view.isAlive(node))
        #expect(view.engine.rowCount > Int(attribute.index))
    }
}
