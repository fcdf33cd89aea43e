import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// `$/*.battery`: a map of what a pattern matches.
@Suite("Patterns in rules")
struct PatternReadTests {
    private static let scene = """
        nodes:
          - { id: kitchen, state: { battery: 0.5 } }
          - { id: hall, state: { battery: 0.9, other: 1, sample: { temp: 20, load: 1 } } }
          - id: rooms
            kind: container
            children:
              - { id: attic, kind: container, children: [{ id: window, state: { battery: 0.3 } }] }
          - id: all
            computed:
              battery: '$/*.battery.transformList(id, level, level).min(1.0)'
              low: '$/*.battery.transformList(id, level, level < 0.6, id).sort()'
              deep: $/rooms/*/*.battery
              hall: '$/*.battery["hall"]'
              parts: $/*.sample.temp
        """

    @Test("a pattern gives the attributes that it matches, by what its stars stand for, without its own") func values()
        throws
    {
        let graph = try Harness(Self.scene)
        #expect(try graph.value("/all.battery") == 0.5)
        #expect(try graph.value("/all.deep") == ["attic/window": 0.3])
        // Another rule reads the attribute, too: 0.5 is the kitchen's.
        #expect(try graph.value("/all.low") == ["all", "kitchen"])
        #expect(try graph.value("/all.hall") == 0.9)
        #expect(try graph.value("/all.parts") == ["hall": 20])
    }

    @Test("the map follows nodes that come and go, and its readers run for nothing else") func comingAndGoing() throws {
        let graph = try Harness(Self.scene)
        try graph.subscribe(["/all.battery"], initial: true)
        _ = graph.runs()
        _ = try graph.apply("nodes: [{ id: cellar, state: { battery: 0.1 } }]")
        #expect(graph.changes["/all.battery"] == .value(0.1))
        try graph.set("/cellar.battery", 0.2)
        #expect(graph.changes["/all.battery"] == .value(0.2))
        _ = graph.runs()
        _ = try graph.apply("nodes: [{ id: garage, state: { light: true } }]")
        _ = try graph.apply(
            "nodes: [{ id: rooms, children: [{ id: bath, kind: container, children: [{ id: x, state: { battery: 0.0 } }] }] }]"
        )
        try graph.set("/hall.other", 2)
        #expect(graph.runs() == [], "neither the attribute nor its depth is that of the pattern")
        try graph.succeed(.remove(path: "/cellar", TransactionOptions()))
        #expect(graph.changes["/all.battery"] == .value(0.5))
        try graph.succeed(.move(path: "/kitchen", to: "/rooms", index: nil, TransactionOptions()))
        #expect(graph.changes["/all.battery"] == .value(0.9))
        // An attribute that a node gets later.
        _ = try graph.apply("nodes: [{ id: garage, state: { battery: 0.4 } }]")
        #expect(graph.changes["/all.battery"] == .value(0.4))
    }

    @Test("the elements of a list are matched as they come and go") func elements() throws {
        let graph = try Harness(
            """
            nodes:
              - id: racks
                kind: container
                state: { items: { initial: [{ id: a, load: 1 }, { id: b, load: 2 }], type: list } }
                children:
                  - id: rows
                    forEach: { in: $items, as: item, node: { computed: { load: item.load } } }
              - { id: sum, computed: { total: '$/racks/rows/*.load.transformList(id, load, load).sum()' } }
            """)
        try graph.subscribe(["/sum.total"], initial: true)
        #expect(graph.changes["/sum.total"] == .value(3))
        try graph.set("/racks.items", [["id": "a", "load": 1], ["id": "c", "load": 7]])
        #expect(graph.changes["/sum.total"] == .value(8))
        try graph.set("/racks.items[id=\"c\"].load", 5)
        #expect(graph.changes["/sum.total"] == .value(6))
        try graph.set("/racks.items", [])
        #expect(graph.changes["/sum.total"] == .value(0))
    }

    @Test("what fails is left out until it has a value") func failing() throws {
        let graph = try Harness(
            """
            nodes:
              - { id: a, state: { n: 1 }, computed: { x: 10 / n } }
              - { id: b, computed: { x: 7 } }
              - { id: all, computed: { count: '$/*.x.size()' } }
            """)
        try graph.subscribe(["/all.count"], initial: true)
        #expect(graph.changes["/all.count"] == .value(2))
        try graph.set("/a.n", 0)
        #expect(graph.changes["/all.count"] == .value(1))
        try graph.set("/a.n", 5)
        #expect(graph.changes["/all.count"] == .value(2))
    }

    @Test("a pattern costs by the nodes that it looks at, and vertices that nobody uses go") func cost() throws {
        let many = (0..<500).map { "{ id: n\($0), state: { x: 1 } }" }.joined(separator: ", ")
        let graph = try Harness("nodes: [\(many)]")
        let before = graph.runtime.graph.counters.liveAttributes
        for _ in 1...3 {
            _ = try graph.apply("nodes: [{ id: all, computed: { count: '$/*.x.size()' } }]")
            let left = graph.runtime.graph.stepsLeft
            #expect(try graph.value("/all.count") == 500)
            #expect(left - graph.runtime.graph.stepsLeft < 1_000_000)
            try graph.succeed(.remove(path: "/all", TransactionOptions()))
        }
        graph.settle()
        #expect(graph.runtime.graph.counters.liveAttributes <= before + 2)
    }

    @Test("the author of a document needs the right read on a pattern in its rules") func rights() throws {
        let graph = try Harness(Self.scene + "\n  - { id: mine, kind: container }")
        func allow(_ pattern: String) throws {
            let rules = try [(AccessRight.read, pattern), (.define, "/mine/**")].map {
                AccessRule($0.0, [.user(1000)], try PathPattern($0.1))
            }
            graph.turn([.accessChanged(AccessRules(rules, owner: 7))])
        }
        try allow("/kitchen/**")
        let document = "nodes: [{ id: r, computed: { x: '$/*.battery.size()' } }]"
        let refused = refusal { try graph.apply(document, at: "/mine") }
        #expect(refused?.code == .denied)
        #expect(refused?.message.contains("/*.battery") == true)
        try allow("/**")
        _ = try graph.apply(document, at: "/mine")
        #expect(try graph.value("/mine/r.x") == 3)
    }
}
