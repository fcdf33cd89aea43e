import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness
@testable import ViewGraph

@Suite("Modifiers around placed subviews")
struct PlacedModifierTests {
    /// A component that shows what it is given, by a slot or one by one, where `size` is `at`.
    private static func scene(_ shown: String, _ modifiers: String) -> String {
        """
        keys:
          environment: { size: 1, shade: 0, pin: { default: { x: 0, y: 0 } } }
          preference: { sum: { default: 0, reduce: value + next }, last: 0 }
        components:
          Card:
            kind: container
            state: { at: 100 }
            children:
              - id: body
                kind: container
                environment: { size: =10, pin: { x: 5, y: 6 } }
                transformEnvironment: { size: value * 10 }
                computed: { sum: preferences.sum, last: preferences.last }
                children: [\(shown)]
        nodes:
          - id: app
            state: { n: 2, isIn: true }
            children:
              - id: card
                component: Card
                children:
                  - id: g
                    kind: group
                    \(modifiers)
                    children:
                      - { id: a, inherit: { size: size, shade: shade, pin: pin }, preferences: { sum: 1, last: 1 } }
                      - { id: b, inherit: { size: size }, preferences: { sum: 2, last: 2 } }
                  - { id: c, inherit: { size: size }, preferences: { sum: 4, last: 4 } }
        """
    }

    private static let ways = ["{ slot: content }", "{ place: =subviews }"]

    @Test("build on the environment of the place, as with a slot", arguments: ways) func environment(_ shown: String)
        throws
    {
        let graph = try Harness(
            PlacedModifierTests.scene(
                shown,
                "environment: { shade: =env.size + 1, pin.y: =n }, transformEnvironment: { size: value + n }"
                    .replacing(", transformEnvironment", with: "\n            transformEnvironment")))
        for node in ["a", "b"] { #expect(try graph.value("/app/card/g/\(node).size") == 102) }
        #expect(try graph.value("/app/card/c.size") == 100)
        #expect(try graph.value("/app/card/g/a.shade") == 101)
        #expect(try graph.value("/app/card/g/a.pin") == ["x": 5, "y": 2])
        try graph.set("/app.n", 7)
        #expect(try graph.value("/app/card/g/b.size") == 107 && graph.value("/app/card/g/a.pin") == ["x": 5, "y": 7])
        // The group gets another modifier while its subviews are placed.
        _ = try graph.apply("nodes: [{ id: g, transformEnvironment: { size: value - 1 } }]", at: "/app/card")
        #expect(try graph.value("/app/card/g/a.size") == 99)
        _ = try graph.apply(
            "nodes: [{ id: g, kind: group, children: [{ id: a, inherit: { size: size } }] }, { id: c }]",
            at: "/app/card", mode: .merge)
        #expect(try graph.value("/app/card/g/a.size") == 99)
    }

    @Test("a subview that is placed elsewhere has the environment of its new place") func moved() throws {
        let graph = try Harness(
            """
            keys: { environment: { size: 1 } }
            components:
              Card:
                kind: container
                state: { isLeft: true }
                children:
                  - { id: left, kind: container, environment: { size: 10 }, children: [{ place: 'isLeft ? subviews : []' }] }
                  - { id: right, kind: container, environment: { size: 20 }, children: [{ place: 'isLeft ? [] : subviews' }] }
            nodes:
              - id: card
                component: Card
                children:
                  - { id: g, kind: group, transformEnvironment: { size: value + 1 }, children: [{ id: h, kind: group, transformEnvironment: { size: value * 2 }, children: [{ id: a, inherit: [size] }] }] }
            """)
        try graph.subscribe(["/card/g/h/a.size"], initial: true)
        #expect(graph.changes == ["/card/g/h/a.size": .value(22)])
        try graph.set("/card.isLeft", false)
        #expect(graph.changes == ["/card/g/h/a.size": .value(42)])
        #expect(graph.runtime.graph.engine.checkInvariants() == [])
    }

    @Test("preferences of a group count once, as with a slot", arguments: ways) func preferences(_ shown: String) throws
    {
        let graph = try Harness(PlacedModifierTests.scene(shown, "preferences: { sum: =n * 10 }"))
        #expect(try graph.value("/app/card/body.sum") == 24 && graph.value("/app/card/body.last") == 4)
        try graph.set("/app.n", 3)
        #expect(try graph.value("/app/card/body.sum") == 34)
    }

    @Test("a group whose subviews are placed already begins to write a preference", arguments: ways)
    func laterPreference(_ shown: String) throws {
        let graph = try Harness(PlacedModifierTests.scene(shown, "let: { w: =n }"))
        #expect(try graph.value("/app/card/body.sum") == 7)
        _ = try graph.apply("nodes: [{ id: g, preferences: { sum: =w * 10 } }]", at: "/app/card", mode: .merge)
        #expect(try graph.value("/app/card/body.sum") == 24)
        try graph.set("/app.n", 3)
        #expect(try graph.value("/app/card/body.sum") == 34)
    }
}
