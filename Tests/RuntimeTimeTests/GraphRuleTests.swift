import AttributeValues
import GraphRuntime
@testable import RuntimeHarness
import RuleLanguage
import Testing
import WireProtocol

@testable import ViewGraph

/// The eight rules of the model; each test fails without its rule.
@Suite("Graph rules")
struct GraphRuleTests {
    @Test(
        "a vector is looked through as the list of its numbers, and shown as that",
        arguments: [
            ("v.map(e, e * 2.0)", "[2.0,4.0]"), ("v.all(i, e, e == double(i) + 1.0)", "true"),
            ("v == [1.0, 2.0]", "true"),
            ("[1.0, 3.0] == v", "false"), ("v != [2.0]", "true"), ("2.0 in v", "true"), ("3 in dyn(v)", "false"),
            ("v == v", "true"),
            ("v[1] + double(size(v))", "4.0"), ("'%s %s %s'.format([v, a, c])", #""[1, 2] 90 #ff0000""#),
            ("v.exists(e, e > 1.0) ? v[0] : 0.0", "1.0"),
        ])
    func vectors(rule: String, expected: String) throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { v: { type: vector(2), initial: [1, 2] }, a: { type: angle, initial: 90 }, c: { type: color, initial: red } }
                computed: { x: \(Value.string(rule).jsonText) }
            """)
        #expect(try graph.value("/n.x").jsonText == expected)
    }

    static let diamond = """
        nodes:
          - id: d
            state: { a: 1, other: 0 }
            computed:
              left: a + 1
              right: a * 10
              sum: left + right
              unread: a + 1000
        """

    @Test("a reader of two arms sees both of one revision") func glitchFree() throws {
        let graph = try Harness(GraphRuleTests.diamond)
        try graph.subscribe(["/d.sum"])
        try graph.set("/d.a", 2)
        #expect(graph.changes == ["/d.sum": .value(23)])
        #expect(graph.events.count == 1)
    }

    @Test("a rule that nobody reads is never evaluated") func lazy() throws {
        let graph = try Harness(GraphRuleTests.diamond)
        try graph.subscribe(["/d.sum"])
        _ = graph.runs()
        try graph.set("/d.a", 2)
        #expect(!graph.runs().contains("/d.unread"))
    }

    @Test("watching only invalidations evaluates nothing, even before the rule ever ran") func lazyInvalidations()
        throws
    {
        let graph = try Harness(GraphRuleTests.diamond)
        try graph.subscribe(["/d.sum"], events: .invalidate)
        try graph.set("/d.a", 2)
        #expect(graph.invalidated == ["/d.sum"])
        #expect(graph.runs() == [])
    }

    @Test("an invalidation is sent once until the client reads") func invalidateOnce() throws {
        let graph = try Harness(GraphRuleTests.diamond)
        try graph.subscribe(["/d.sum"], events: .invalidate)
        try graph.set("/d.a", 2)
        #expect(graph.invalidated == ["/d.sum"])
        try graph.set("/d.a", 3)
        #expect(graph.invalidated == [])
        #expect(try graph.value("/d.sum") == 34)
        try graph.set("/d.a", 4)
        #expect(graph.invalidated == ["/d.sum"])
    }

    @Test("each affected rule runs at most once in a transaction") func minimal() throws {
        let graph = try Harness(GraphRuleTests.diamond)
        try graph.subscribe(["/d.sum"])
        _ = graph.runs()
        try graph.transact([
            Mutation(operation: .set, path: "/d.a", value: 5), Mutation(operation: .add, path: "/d.a", value: 1),
        ])
        #expect(graph.runs().sorted() == ["/d.left", "/d.right", "/d.sum"])
        #expect(graph.changes == ["/d.sum": .value(67)])
    }

    @Test("a rule whose inputs turn out equal does not run") func cutOff() throws {
        let graph = try Harness(
            """
            nodes:
              - id: c
                state: { n: 1 }
                computed: { even: n % 2 == 0, text: 'even ? "even" : "odd"' }
            """)
        try graph.subscribe(["/c.text"])
        _ = graph.runs()
        try graph.set("/c.n", 3)
        #expect(graph.runs() == ["/c.even"])
        #expect(graph.events.isEmpty)
    }

    @Test("a write of an equal value wakes nobody and makes no revision") func equalWrite() throws {
        let graph = try Harness(GraphRuleTests.diamond)
        try graph.subscribe(["/d.sum", "/d.a"])
        _ = graph.runs()
        let before = graph.runtime.revision
        try graph.set("/d.a", 1)
        #expect(graph.events.isEmpty)
        #expect(graph.runs() == [])
        #expect(graph.runtime.revision == before)
    }

    @Test("a transaction that ends where it began wakes nobody") func revert() throws {
        let graph = try Harness(GraphRuleTests.diamond)
        try graph.subscribe(["/d.sum"])
        _ = graph.runs()
        try graph.transact([
            Mutation(operation: .set, path: "/d.a", value: 5), Mutation(operation: .set, path: "/d.a", value: 1),
        ])
        #expect(graph.runs() == [])
        #expect(graph.events.isEmpty)
    }

    @Test("a branch not taken is not a dependency") func dynamic() throws {
        let graph = try Harness(
            """
            nodes:
              - id: b
                state: { useA: true, a: 1, b: 2 }
                computed: { r: "useA ? a : b" }
            """)
        try graph.subscribe(["/b.r"])
        _ = graph.runs()
        try graph.set("/b.b", 20)
        #expect(graph.runs() == [])
        try graph.set("/b.useA", false)
        #expect(graph.changes == ["/b.r": .value(20)])
        _ = graph.runs()
        try graph.set("/b.a", 10)
        #expect(graph.runs() == [])
    }

    @Test("reading a key, an element by index or by id depends on that alone") func precise() throws {
        let graph = try Harness(
            """
            nodes:
              - id: p
                state:
                  episode: { title: T, isFavorite: false }
                  items: [{ id: x, done: false }, { id: y, done: false }]
                  which: 0
                computed:
                  title: episode.title
                  first: items[0].done
                  chosen: items[which].done
                children:
                  - { id: row, kind: view, binding: { isOn: '$items[id="y"].done' }, computed: { text: 'isOn ? "on" : "off"' } }
            """)
        try graph.subscribe(["/p.title", "/p.first", "/p.chosen", "/p/row.text"])
        _ = graph.runs()
        try graph.set("/p.episode.isFavorite", true)
        #expect(graph.runs() == [])
        try graph.set("/p.items[1].done", true)
        #expect(graph.runs() == ["/p/row.text"])
        try graph.set("/p.items[0].done", true)
        #expect(graph.runs().sorted() == ["/p.chosen", "/p.first"])
        // Writing the whole value touches only what differs in it.
        try graph.set("/p.episode", ["title": "U", "isFavorite": true])
        #expect(graph.runs() == ["/p.title"])
    }

    @Test("an invalidation watcher of one key hears nothing of another") func preciseInvalidation() throws {
        let graph = try Harness(
            """
            nodes:
              - { id: p, state: { e: { a: 1, b: 2 } }, computed: { x: e.a } }
            """)
        try graph.subscribe(["/p.x"], events: .invalidate)
        try graph.set("/p.e.b", 3)
        #expect(graph.invalidated == [])
        try graph.set("/p.e.a", 3)
        #expect(graph.invalidated == ["/p.x"])
    }

    @Test("a failing rule is an error that flows, and heals") func errors() throws {
        let graph = try Harness(
            """
            nodes:
              - id: e
                state: { n: 0 }
                computed: { inverse: 10 / n, next: inverse + 1, guarded: 'n == 0 || inverse > 1' }
            """)
        try graph.subscribe(["/e.next", "/e.guarded"])
        #expect(try graph.get("/e.inverse").failure?.code == .ruleFailed)
        #expect(try graph.get("/e.next").failure?.message.contains("division by zero") == true)
        #expect(try graph.value("/e.guarded") == true)
        try graph.set("/e.n", 5)
        #expect(graph.changes["/e.next"] == .value(3))
    }

    @Test("a cycle is an error that names its whole path, and ends with it") func cycle() throws {
        let graph = try Harness(
            """
            nodes:
              - id: c
                state: { closed: true }
                computed: { a: "closed ? b : 1", b: "d + 1", d: "a + 1" }
            """)
        let failure = try #require(try graph.get("/c.a").failure)
        #expect(failure.code == .cycle)
        for name in ["/c.a", "/c.b", "/c.d"] { #expect(failure.message.contains(name)) }
        #expect(try graph.get("/c.d").failure?.code == .cycle)
        try graph.set("/c.closed", false)
        #expect(try graph.value("/c.b") == 3)
    }

    @Test("a scene's chain of thousands of rules evaluates, cold and warm") func deepScene() throws {
        let count = 3_000
        var scene = "nodes:\n  - id: chain\n    state: { v0: 0 }\n    computed:\n"
        for number in 1...count { scene += "      v\(number): v\(number - 1) + 1\n" }
        let graph = try Harness(scene)
        #expect(try graph.value("/chain.v\(count)") == .int(Int64(count)))
        try graph.set("/chain.v0", 1)
        #expect(try graph.value("/chain.v\(count)") == .int(Int64(count + 1)))
    }

    @Test("a chain of 30,000 CEL rules evaluates without recursion") func longChain() throws {
        let scope = RuleScope()
        scope.declare("below", ValueType.int)
        let program = try Rule.compile("below + 1", in: scope)
        let graph = ViewGraph(wallTime: .epoch)
        var last = graph.createInput(.value(0), node: .root, name: "x", kind: .state, source: .state(isTransient: true))
        for _ in 0..<30_000 {
            let rule = BoundRule.obtain(program: program, accepted: nil, inputs: [.attribute(last)], at: .none)
            last = graph.createRule(node: .root, name: "v", source: .rule(rule))
        }
        #expect(graph.content(of: last) == .value(30_000))
    }

    @Test("removing a node ends what it had, and its readers read removed") func lifetimes() throws {
        let graph = try Harness(
            """
            keys: { preference: { total: { default: 0, reduce: value + next } } }
            nodes:
              - id: parent
                computed: { total: preferences.total }
                children:
                  - { id: one, kind: view, state: { v: 1 }, preferences: { total: =v } }
                  - { id: two, kind: view, state: { v: 2 }, preferences: { total: =v } }
            """)
        try graph.subscribe(["/parent/one.v"])
        try graph.subscribe(["/parent.total"], from: 2)
        #expect(try graph.value("/parent.total") == 3)
        try graph.succeed(.remove(path: "/parent/one", .init()))
        #expect(graph.changes["/parent/one.v"]?.failure?.code == .removed)
        #expect(graph.changes["/parent.total"] == .value(2))
        #expect(graph.events.contains { if case .ended = $0 { true } else { false } })
        #expect(throws: Failure.self) { try graph.get("/parent/one.v") }
    }
}
