import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("The place of a node")
struct NewPlaceTests {
    @Test("a node that a later document adds knows its index at once, and others theirs") func indices() throws {
        let graph = try Harness(
            """
            nodes:
              - { id: c, kind: container, children: [{ id: a }, { id: b }] }
              - { id: s, kind: section, content: [{ id: x, computed: { i: self.index } }] }
            """)
        #expect(try graph.value("/s/x.i") == 0)
        _ = try graph.apply(
            """
            nodes:
              - id: c
                children:
                  - { id: d, computed: { i: self.index }, state: { first: { initial: =self.index, type: int } } }
                  - { id: e, computed: { i: self.index } }
              - { id: s, kind: section, header: [{ id: h, computed: { i: self.index } }] }
            """)
        #expect(try graph.value("/c/d.i") == 2 && graph.value("/c/d.first") == 2 && graph.value("/c/e.i") == 3)
        #expect(try graph.value("/s/h.i") == 0 && graph.value("/s/x.i") == 1)
    }

    @Test("the id of a subview is its path from the container, in quotes where a path needs them") func quotedIDs()
        throws
    {
        let graph = try Harness(
            """
            components:
              Shelf: { kind: container, children: [{ id: top, kind: container, children: [{ place: "subviews.filter(s, s.index == 0)" }] }] }
            nodes:
              - id: c
                kind: container
                computed: { ids: "subviews.map(s, s.id)" }
                children: [{ id: a.b }, { id: a b }, { id: plain }, { id: x/y, kind: group, children: [{ id: 'say "z"' }] }]
              - { id: d, component: Shelf, children: [{ id: a.b }, { id: c }] }
            """)
        #expect(try graph.value("/c.ids") == ["\"a.b\"", "\"a b\"", "plain", "\"x/y\"/\"say \\\"z\\\"\""])
        let shown = try graph.described("/d/top")["shown"]
        #expect(shown == ["/d/\"a.b\""])
    }
}

@Suite("Values that fail")
struct OverriddenFailureTests {
    private static let scene = """
        keys:
          container: { weight: 0, pin: { default: { x: 0, y: 0 } } }
          environment: { pin: { default: { x: 0, y: 0 } } }
        nodes:
          - id: c
            kind: container
            state: { zero: 0 }
            computed:
              weights: "subviews.map(s, s.containerValues.weight)"
              x: "subviews[0].containerValues.pin.x"
              tags: "subviews.map(s, s.tag)"
              parts: "sections.map(s, s.containerValues.weight)"
            children:
              - id: g
                kind: group
                containerValues: { weight: =1 / zero, pin.y: =1 / zero }
                tag: =1 / zero
                environment: { pin: '={"x": 1 / zero, "y": 1}' }
                children:
                  - id: v
                    containerValues: { weight: 5, pin.x: 7 }
                    tag: 9
                    environment: { pin.x: 3 }
                    children: [{ id: r, computed: { x: env.pin.x, y: env.pin.y } }]
                  - { id: s, kind: section, containerValues: { weight: 6 }, tag: 4, content: [{ id: w, tag: 8, containerValues: { weight: 4 } }] }
        """

    @Test("do not spoil inner ones that override them") func overridden() throws {
        let graph = try Harness(OverriddenFailureTests.scene)
        #expect(try graph.value("/c.weights") == [5, 4])
        #expect(try graph.value("/c.x") == 7)
        #expect(try graph.value("/c.tags") == [9, 8])
        #expect(try graph.value("/c.parts[1]") == 6)
        #expect(try graph.value("/c/g/v/r.x") == 3)
        #expect(try graph.get("/c/g/v/r.y").failure != nil)
        try graph.set("/c.zero", 1)
        #expect(try graph.value("/c/g/v/r.y") == 1 && graph.value("/c.weights") == [5, 4])
    }

    @Test("spoil what nothing overrides") func notOverridden() throws {
        let graph = try Harness(
            """
            keys: { container: { weight: 0 } }
            nodes:
              - id: c
                kind: container
                state: { zero: 0 }
                computed: { weights: "subviews.map(s, s.containerValues.weight)", tags: "subviews.map(s, s.tag)" }
                children:
                  - { id: g, kind: group, containerValues: { weight: =1 / zero }, tag: '=string(1 / zero)', children: [{ id: v, tag: 1 }] }
            """)
        #expect(try graph.get("/c.weights").failure != nil && graph.get("/c.tags").failure != nil)
        try graph.set("/c.zero", 1)
        #expect(try graph.value("/c.weights") == [1] && graph.value("/c.tags") == [[1, "1"]])
    }
}
