import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Places in values that are watched by the name of what refers to the value.
@Suite("Places behind references")
struct ReferenceTests {
    static let scene = """
        nodes:
          - id: src
            state: { ep: { title: A, length: 1 }, other: { title: O, length: 2 } }
            children:
              - id: p
                kind: container
                children: [{ id: a, kind: view, binding: { ep: $ep } }]
          - id: l
            state: { items: [{ id: x, v: 1 }] }
            children: [{ id: fe, forEach: { in: $items, as: item, node: { kind: view } } }]
        """

    @Test("they show what is referred to, and hear of nothing beside it", arguments: [EventKinds.update, .invalidate])
    func precise(_ events: EventKinds) throws {
        let graph = try Harness(ReferenceTests.scene)
        try graph.subscribe(["/src/p/*.ep.title"], events: events, initial: true)
        if events == .update { #expect(graph.changes == ["/src/p/a.ep.title": .value("A")]) }
        try graph.set("/src.ep.length", 3)
        #expect(graph.events.isEmpty)
        try graph.set("/src.ep.title", "B")
        #expect(
            events == .update
                ? graph.changes == ["/src/p/a.ep.title": .value("B")] : graph.invalidated == ["/src/p/a.ep.title"])
        #expect(try graph.value("/src/p/a.ep.title") == "B")
        try graph.set("/src/p/a.ep.title", "C")
        #expect(graph.events.count == 1)
        let changed = try graph.explained("/src/p/a.ep.title")["changed"]
        #expect(changed?.map?["revision"] == .int(Int64(graph.runtime.revision)))
    }

    @Test("they go with the node that refers, for patterns and for paths") func removed() throws {
        let graph = try Harness(ReferenceTests.scene)
        try graph.subscribe(["/src/p/*.ep.title"])
        try graph.subscribe(["/src/p/a.ep.title"], from: 2)
        try graph.succeed(.remove(path: "/src/p/a", TransactionOptions()))
        #expect(graph.methods == ["update", "update", "ended"])
        #expect(graph.changes["/src/p/a.ep.title"]?.failure?.code == .removed)
        try graph.set("/src.ep.title", "B")
        #expect(graph.events.isEmpty && graph.runtime.watching.topics.watches.isEmpty)
    }

    @Test(
        "instances that come and go leave neither names nor vertices behind",
        arguments: [EventKinds.update, .invalidate])
    func bounded(_ events: EventKinds) throws {
        let graph = try Harness(ReferenceTests.scene)
        try graph.subscribe(["/l/fe/*.item.v"], events: events)
        for round in 0..<500 {
            try graph.set("/l.items", [["id": .string("k\(round)"), "v": .int(Int64(round))]])
            if events == .update { #expect(graph.changes["/l/fe/k\(round).item.v"] == .value(.int(Int64(round)))) }
        }
        #expect(graph.runtime.watching.topics.watches.count == 1)
        #expect(graph.runtime.graph.counters.liveAttributes < 150)
        try graph.subscribe(["/l/fe/*.item.v"], initial: true, from: 2)
        #expect(graph.changes == ["/l/fe/k499.item.v": .value(499)])
    }

    @Test("they follow a reference that comes to refer to something else, until it refers to nothing") func rebound()
        throws
    {
        let graph = try Harness(ReferenceTests.scene)
        try graph.subscribe(["/src/p/*.ep.title"], initial: true)
        _ = try graph.apply("nodes: [{ id: a, kind: view, binding: { ep: $other } }]", at: "/src/p")
        #expect(graph.changes == ["/src/p/a.ep.title": .value("O")])
        try graph.set("/src.ep.title", "B")
        #expect(graph.events.isEmpty)
        try graph.set("/src.other.title", "P")
        #expect(graph.changes == ["/src/p/a.ep.title": .value("P")])
        _ = try graph.apply("nodes: [{ id: a, kind: view, binding: { ep: 5 } }]", at: "/src/p")
        #expect(graph.changes["/src/p/a.ep.title"]?.failure != nil && graph.changes.count == 1)
        _ = try graph.apply("nodes: [{ id: a, kind: view, binding: { ep: $ep } }]", at: "/src/p")
        #expect(graph.changes == ["/src/p/a.ep.title": .value("B")])
    }

    @Test("displayed values of references move") func motion() throws {
        let graph = try Harness(ReferenceTests.scene)
        try graph.subscribe(["/src/p/a.ep.length"], initial: true)
        try graph.set("/src.ep", ["title": "A", "length": 1.0])
        try graph.set("/src.ep.length", 11.0, animation: "linear(duration: 1)")
        graph.advance(0.5)
        #expect(try graph.value("/src/p/a.ep.length", presentation: true) == 6.0)
    }
}
