import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Names at the use of a component")
struct NamesAtUseTests {
    /// A component that keeps `count` to itself, and a `count` around its uses.
    private static func scene(_ modifiers: String...) -> String {
        """
        keys:
          environment: { size: 0, shade: 0 }
          container: { weight: 0 }
          preference: { widest: 0 }
        types: { Library: { state: { n: 0 } } }
        components:
          Card:
            kind: container
            let: { title: { default: 5 } }
            binding: { opened: { type: bool } }
            state: { count: 1, library: { type: Library, initial: { n: 1 } } }
            computed: { doubled: count * 2 }
            children: [{ id: inside, inherit: { size: size, shade: shade, library: "Library?" }, computed: { n: library.n } }]
        nodes:
          - id: app
            kind: container
            state: { count: 1000, opened: false, title: 7, library: { type: Library, initial: { n: 2 } } }
            computed: { seen: "subviews.map(s, [s.tag, s.containerValues.weight])", widest: preferences.widest }
            children:
              - id: card
                component: Card
                binding: { opened: $opened }
                \(modifiers.joined(separator: "\n        "))
        """
    }

    @Test(
        "a modifier at a use reads what is around the use, and not the component's own names",
        arguments: [
            ("environment: { size: =count }", "/app/card/inside.size", 1000, 1001),
            ("environment: { size: $count }", "/app/card/inside.size", 1000, 1001),
            ("transformEnvironment: { size: value + count }", "/app/card/inside.size", 1000, 1001),
            ("environment: { objects: [$library] }", "/app/card/inside.n", 2, 2),
            ("containerValues: { weight: =count }", "/app.seen[0][1]", 1000, 1001),
            ("tag: =count", "/app.seen[0][0]", 1000, 1001),
            ("preferences: { widest: =count }", "/app.widest", 1000, 1001),
        ] as [(String, String, Int64, Int64)])
    func reads(_ modifier: String, _ path: String, _ before: Int64, _ after: Int64) throws {
        let graph = try Harness(NamesAtUseTests.scene(modifier))
        #expect(try graph.value(path) == .int(before))
        try graph.set("/app/card.count", 50)
        #expect(try graph.value(path) == .int(before))
        try graph.set("/app.count", 1001)
        #expect(try graph.value(path) == .int(after))
    }

    @Test("of the component, a modifier at a use reads the parameters before what is around") func parameters() throws {
        let graph = try Harness(NamesAtUseTests.scene("environment: { size: =title }", "let: { title: 9 }"))
        #expect(try graph.value("/app/card/inside.size") == 9)
    }

    @Test("actions at a use write what is around the use, and not the component's own states")
    func writes() throws {
        let graph = try Harness(
            NamesAtUseTests.scene(
                "onChange: { of: opened, perform: { add: { $count: 100 } } }"))
        try graph.set("/app.opened", true)
        #expect(try graph.value("/app/card.count") == 1 && graph.value("/app.count") == 1100)
        try graph.set("/app/card.opened", false)
        #expect(try graph.value("/app/card.count") == 1 && graph.value("/app.count") == 1200)
    }

    @Test("onAppear and onDisappear at a use write what is around it") func comingAndGoing() throws {
        let graph = try Harness(
            """
            components: { Card: { state: { count: 1 } } }
            nodes:
              - id: app
                state: { count: 0, isShown: false }
                children:
                  - if: isShown
                    then: [{ id: card, component: Card, onAppear: { add: { $count: 1 } }, onDisappear: { add: { $count: 10 } } }]
            """)
        try graph.set("/app.isShown", true)
        #expect(try graph.value("/app.count") == 1 && graph.value("/app/card.count") == 1)
        try graph.set("/app.isShown", false)
        #expect(try graph.value("/app.count") == 11)
    }

    @Test("an animation at a use follows a value around the use") func animations() throws {
        let graph = try Harness(
            """
            keys: { environment: { size: 0.0 } }
            components: { Card: { state: { isOn: false }, children: [{ id: inside, inherit: [size] }] } }
            nodes:
              - id: app
                state: { isOn: false, size: 1.0 }
                environment: { size: =size }
                children: [{ id: card, component: Card, animation: { curve: bouncy, value: =isOn } }]
            """)
        try graph.subscribe(["/app/card/inside.size"], initial: true)
        try graph.transact([
            Mutation(operation: .set, path: "/app/card.isOn", value: true),
            Mutation(operation: .set, path: "/app.size", value: 2.0),
        ])
        #expect(graph.timeline("/app/card/inside.size") == nil)
        try graph.transact([
            Mutation(operation: .set, path: "/app.isOn", value: true),
            Mutation(operation: .set, path: "/app.size", value: 3.0),
        ])
        #expect(graph.timeline("/app/card/inside.size") != nil)
    }

    @Test("the instances of a list take the names in their modifiers from the list, also where the component has them")
    func instances() throws {
        let graph = try Harness(
            """
            keys: { environment: { size: 0 } }
            components: { Row: { state: { element: 1, index: 1, count: 1 }, children: [{ id: inside, inherit: [size] }] } }
            nodes:
              - id: app
                state: { count: 100, items: [{ id: a, v: 10 }, { id: b, v: 20 }] }
                children:
                  - id: rows
                    forEach: { in: $items, component: Row, environment: { size: =element.v + index + count } }
            """)
        #expect(try graph.value("/app/rows/a/inside.size") == 110)
        #expect(try graph.value("/app/rows/b/inside.size") == 121)
    }

    @Test("the modifiers of a component's body and of its variants read the component's own names") func bodies() throws
    {
        let graph = try Harness(
            """
            keys: { environment: { size: 0, shade: 0 } }
            components:
              Card: { state: { count: 1 }, environment: { size: =count }, children: [{ id: inside, inherit: [size, shade] }] }
              Big: { component: Card, environment: { shade: =count + 1 } }
            nodes:
              - { id: app, state: { count: 1000 }, children: [{ id: card, component: Big, environment: { shade: =count } }, { id: big, component: Big }] }
            """)
        #expect(try graph.value("/app/card/inside.size") == 1 && graph.value("/app/card/inside.shade") == 2)
        #expect(try graph.value("/app/big/inside.shade") == 2)
        try graph.set("/app/card.count", 5)
        #expect(try graph.value("/app/card/inside.size") == 5 && graph.value("/app/card/inside.shade") == 6)
    }

    @Test("a document that completes an instance without naming its component uses the names of both") func completed()
        throws
    {
        let graph = try Harness(NamesAtUseTests.scene("environment: { size: =count }"))
        _ = try graph.apply("nodes: [{ id: card, environment: { shade: =count + title } }]", at: "/app")
        #expect(try graph.value("/app/card/inside.shade") == 6 && graph.value("/app/card/inside.size") == 1000)
        _ = try graph.apply(
            "nodes: [{ id: card, component: Card, binding: { opened: $opened }, environment: { shade: =count } }]",
            at: "/app")
        #expect(try graph.value("/app/card/inside.shade") == 1000)
    }

    @Test("an export of a use has the same meaning") func exported() throws {
        let graph = try Harness(
            NamesAtUseTests.scene(
                "environment: { size: =count }", "onChange: { of: opened, perform: { add: { $count: 1 } } }"))
        let again = try Harness(document: graph.exported())
        try again.set("/app.opened", true)
        #expect(try again.value("/app.count") == 1001 && again.value("/app/card/inside.size") == 1001)
    }
}
