import AttributeValues
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Nodes that were elsewhere in an earlier form of a scene")
struct FormerPlaceTests {
    @Test("a node with another id keeps its values, what clients made of it, and what they removed")
    func renamed() throws {
        let graph = try Harness(
            """
            nodes:
              - id: room
                kind: container
                state: { a: 1 }
                children: [{ id: lamp, state: { n: 0 } }, { id: fan, state: { n: 0 } }]
            """)
        try graph.set("/room.a", 2)
        try graph.set("/room/lamp.n", 7)
        _ = try graph.apply("nodes: [{ id: room, state: { b: 5 }, children: [{ id: clock, state: { t: 3 } }] }]")
        try graph.set("/room/clock.t", 4)
        _ = try graph.succeed(.remove(path: "/room/fan", .init()))
        let scene = """
            nodes:
              - id: hall
                was: room
                kind: container
                state: { a: 1 }
                children: [{ id: light, was: lamp, state: { n: 0 } }, { id: fan, state: { n: 0 } }]
            """
        var next = try graph.restarted(scene, after: 1)
        func expectAll(_ graph: Harness) throws {
            #expect(try graph.value("/hall.a") == 2)
            #expect(try graph.value("/hall.b") == 5)
            #expect(try graph.value("/hall/light.n") == 7)
            #expect(try graph.value("/hall/clock.t") == 4)
            #expect(try graph.children(of: "/hall") == ["light", "clock"])
        }
        try expectAll(next)
        // Everything is done: `was` may go, and values that are written later stay.
        next = try next.restarted(scene, after: 1)
        try expectAll(next)
        try next.set("/hall/light.n", 8)
        next = try next.restarted(scene.replacing("was: room", with: "").replacing("was: lamp,", with: ""), after: 1)
        #expect(try next.value("/hall/light.n") == 8)
        #expect(try next.value("/hall.b") == 5)
        #expect(next.runtime.graph.persistence.absentRowCount == 0)
    }

    @Test(
        "a node keeps its values when its place changes",
        arguments: [
            // Into a node, out of one, and to a node that was renamed itself.
            "[{ id: a, children: [{ id: x, was: ../x, state: { n: 0 } }] }]",
            "[{ id: b, children: [{ id: x, was: /x, state: { n: 0 } }] }]",
            "[{ id: a, children: [{ if: 'true', then: [{ id: x, was: ../../../x, state: { n: 0 } }] }] }]",
        ])
    func nested(nodes: String) throws {
        let graph = try Harness("nodes: [{ id: x, state: { n: 0 } }, { id: a, kind: container }]")
        try graph.set("/x.n", 7)
        let next = try graph.restarted("nodes: \(nodes)", after: 1)
        #expect(try next.value(nodes.contains("id: b") ? "/b/x.n" : "/a/x.n") == 7)
    }

    @Test("a path means the places of the earlier form, also if the node around was renamed too")
    func leavesRenamedParent() throws {
        let graph = try Harness(
            "nodes: [{ id: a, children: [{ id: x, state: { n: 0 } }, { id: y, state: { n: 0 } }] }]")
        try graph.set("/a/x.n", 7)
        try graph.set("/a/y.n", 8)
        let next = try graph.restarted(
            """
            nodes:
              - { id: b, was: a, children: [{ id: y, state: { n: 0 } }] }
              - { id: x, was: /a/x, state: { n: 0 } }
            """, after: 1)
        #expect(try next.value("/x.n") == 7)
        #expect(try next.value("/b/y.n") == 8)
    }

    @Test("each instance of a component keeps its values, whoever made it")
    func components() throws {
        func scene(_ child: String) -> String {
            """
            components:
              Card: { kind: container, children: [{ \(child), state: { n: 0 } }] }
              Row: { kind: container, children: [{ \(child), state: { n: 0 } }] }
            nodes:
              - id: list
                state: { items: { initial: [{ id: p }], type: list, transient: true } }
                children: [{ id: rows, forEach: { in: $items, component: Row } }]
              - { id: one, component: Card }
            """
        }
        let graph = try Harness(scene("id: old"))
        try graph.set("/list.items", .list([["id": "p"], ["id": "q"]]))
        _ = try graph.apply("nodes: [{ id: two, component: Card }]")
        for (path, n) in [("/one/old.n", 1), ("/two/old.n", 2), ("/list/rows/p/old.n", 3), ("/list/rows/q/old.n", 4)] {
            try graph.set(path, .int(Int64(n)))
        }
        let next = try Harness(scene("id: new, was: old"), from: graph, after: 1)
        // The rows of an instance that is not there yet are waiting.
        _ = next.runtime.restore(Array(graph.rows.values))
        _ = next.turn([])
        #expect(try next.value("/one/new.n") == 1)
        #expect(try next.value("/two/new.n") == 2)
        #expect(try next.value("/list/rows/p/new.n") == 3)
        try next.set("/list.items", .list([["id": "p"], ["id": "q"]]))
        #expect(try next.value("/list/rows/q/new.n") == 4)
        let last = try Harness(scene("id: new"), from: next, after: 1)
        _ = last.runtime.restore(Array(next.rows.values))
        #expect(try last.value("/two/new.n") == 2)
        #expect(try last.value("/list/rows/p/new.n") == 3)
        #expect(last.runtime.graph.persistence.absentKeys.map(\.key) == ["/list/rows/q/new"])
    }

    @Test("a choice with another id keeps the values of its branches")
    func choices() throws {
        let graph = try Harness("nodes: [{ id: a, children: [{ if: 'true', then: [{ id: x, state: { n: 0 } }] }] }]")
        try graph.set("/a/x.n", 7)
        let next = try graph.restarted(
            "nodes: [{ id: a, children: [{ id: c, was: if0, if: 'true', then: [{ id: x, state: { n: 0 } }] }] }]",
            after: 1)
        #expect(try next.value("/a/x.n") == 7)
    }

    @Test("the past of operators moves with the node") func pasts() throws {
        func scene(_ node: String) -> String {
            "nodes: [{ \(node), state: { n: 0 }, computed: { total: \"increase(n, duration('1d'))\" } }]"
        }
        let graph = try Harness(scene("id: a"))
        try graph.set("/a.n", 5)
        graph.end()
        let next = try graph.restarted(scene("id: b, was: a"), after: 1)
        #expect(try next.value("/b.total") == 5.0)
    }

    @Test("a node that a client has made under the former id stays where it is") func otherNode() throws {
        let scene = "nodes: [{ id: b, was: a, state: { n: 0 } }]"
        let graph = try Harness(scene)
        _ = try graph.apply("nodes: [{ id: a, state: { n: 1 } }]")
        try graph.set("/a.n", 5)
        let next = try graph.restarted(scene, after: 1)
        #expect(try next.value("/a.n") == 5)
        #expect(try next.value("/b.n") == 0)
    }

    @Test("values that the node has got under its new id count") func newerValues() throws {
        let graph = try Harness("nodes: [{ id: a, state: { n: 0, m: 0 } }]")
        try graph.set("/a.n", 1)
        try graph.set("/a.m", 1)
        // Its author has forgotten `was`.
        let second = try Harness("nodes: [{ id: b, state: { n: 0, m: 0 } }]", from: graph, after: 1)
        _ = second.runtime.restore(Array(graph.rows.values))
        try second.set("/b.n", 2)
        let third = try Harness("nodes: [{ id: b, was: a, state: { n: 0, m: 0 } }]", from: second, after: 1)
        _ = third.runtime.restore(Array(second.rows.values))
        #expect(try third.value("/b.n") == 2)
        #expect(try third.value("/b.m") == 1)
    }

    @Test("a document is refused if the node of which it tells a former place is still there") func living() throws {
        let graph = try Harness("nodes: [{ id: a, state: { n: 0 } }]")
        let failure = refusal { try graph.apply("nodes: [{ id: b, was: a, state: { n: 0 } }]") }
        #expect(failure?.code == .conflict)
        #expect(failure?.message.contains("/b was /a, but /a is still there") == true)
        #expect(try graph.children(of: "/") == ["a"])
    }
}
