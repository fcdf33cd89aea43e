import AttributeValues
import Foundation
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("slots and places")
struct PlacingTests {
    private static let card = """
        keys:
          environment: { size: 1 }
          preference: { count: { default: 0, reduce: value + next } }
          container: { isFeatured: false }
        components:
          Card:
            kind: container
            let: { title: Untitled }
            computed: { given: "subviews.map(s, s.id)", count: preferences.count }
            children:
              - id: top
                kind: container
                environment: { size: 3 }
                children:
                  - slot: header
                    default: [{ id: none, let: { text: $title } }]
              - id: body
                kind: container
                environment: { size: 2 }
                computed: { shown: "subviews.map(s, s.id)" }
                children: [{ slot: content }]
        """

    private func shown(in path: String, of graph: Harness) throws -> [String] {
        let map = try graph.described(path)
        return (map["shown"]?.list?.array ?? map["children"]?.list?.compactMap { $0.map?["path"] } ?? []).compactMap(
            \.string)
    }

    private func shownNews(_ graph: Harness) -> ValueMap {
        graph.structures.lazy.compactMap(\.details).first?.shown ?? ValueMap()
    }

    private func export(_ graph: Harness) throws -> Value {
        try graph.runtime.graph.scene(at: .root, limit: 1000)
    }

    // MARK: Slots

    @Test("a slot shows what is given; its names are those of the use, and its environment that of the slot")
    func slots() throws {
        let graph = try Harness(
            PlacingTests.card + """

                nodes:
                  - id: home
                    state: { title: Home }
                    children:
                      - id: card
                        component: Card
                        let: { title: Inside }
                        slots: { header: [{ id: name, let: { text: $title }, inherit: [size] }] }
                        children:
                          - { id: a, let: { text: $title }, inherit: [size], preferences: { count: 1 } }
                          - { id: b, preferences: { count: 2 } }
                      - { id: empty, component: Card }
                """)
        #expect(try graph.value("/home/card/name.text") == "Home")
        #expect(try graph.value("/home/card/a.text") == "Home")
        #expect(try graph.value("/home/card/name.size") == 3)
        #expect(try graph.value("/home/card/a.size") == 2)
        #expect(try graph.value("/home/card.given") == ["a", "b"])
        #expect(try graph.value("/home/card/body.shown") == ["../a", "../b"])
        #expect(try graph.value("/home/card.count") == 3)
        #expect(try shown(in: "/home/card", of: graph) == ["/home/card/top", "/home/card/body"])
        #expect(try shown(in: "/home/card/top", of: graph) == ["/home/card/name"])
        #expect(try shown(in: "/home/card/body", of: graph) == ["/home/card/a", "/home/card/b"])
        #expect(try shown(in: "/home/empty/top", of: graph) == ["/home/empty/top/none"])
        #expect(try graph.value("/home/empty/top/none.text") == "Untitled")
        #expect(throws: Failure.self) { try graph.value("/home/card/top/none.text") }
    }

    @Test("content that is given later replaces the default, which returns afterwards") func givenLater() throws {
        let graph = try Harness(
            PlacingTests.card + """

                nodes: [{ id: card, component: Card }]
                """)
        _ = try graph.apply(
            "nodes: [{ id: card, component: Card, slots: { header: [{ id: name, inherit: [size] }] } }]", mode: .merge)
        #expect(try graph.value("/card/name.size") == 3)
        #expect(try shown(in: "/card/top", of: graph) == ["/card/name"])
        _ = try graph.apply("nodes: [{ id: more, inherit: [size] }]", at: "/card")
        #expect(try shown(in: "/card/body", of: graph) == ["/card/more"])
        #expect(try graph.value("/card/more.size") == 2)
        try graph.succeed(.remove(path: "/card/name", .init()))
        #expect(try shown(in: "/card/top", of: graph) == ["/card/top/none"])
    }

    @Test("a component can pass its content on") func givenOn() throws {
        let graph = try Harness(
            PlacingTests.card.replacingOccurrences(
                of: "components:",
                with: """
                    components:
                      Page:
                        kind: container
                        children:
                          - id: inner
                            component: Card
                            environment: { size: 7 }
                            slots: { header: [{ slot: title, default: [{ id: nothing }] }] }
                            children: [{ id: own }, { slot: content }]
                      Named:
                        component: Card
                        let: { title: Fixed }
                        children: [{ id: first }, { slot: content }]
                    """) + """

                    nodes:
                      - id: page
                        component: Page
                        slots: { title: [{ id: t, inherit: [size] }] }
                        children: [{ id: x, inherit: [size] }, { id: y }]
                      - { id: named, component: Named, children: [{ id: z, inherit: [size] }] }
                    """)
        #expect(try graph.value("/page/t.size") == 3)
        #expect(try graph.value("/page/x.size") == 2)
        #expect(try shown(in: "/page/inner/body", of: graph) == ["/page/inner/own", "/page/x", "/page/y"])
        #expect(try shown(in: "/page/inner/top", of: graph) == ["/page/t"])
        #expect(try graph.value("/page/inner.given") == ["own", "../x", "../y"])
        #expect(try graph.value("/named/z.size") == 2)
        #expect(try shown(in: "/named/body", of: graph) == ["/named/first", "/named/z"])
    }

    // MARK: Places

    private static let magazine = """
        keys:
          environment: { size: 1, depth: 0 }
          container: { isFeatured: false }
          preference: { loads: { default: [], reduce: value + next } }
        components:
          Magazine:
            kind: container
            computed: { order: "subviews.map(s, s.id)", loads: preferences.loads }
            children:
              - id: featured
                environment: { size: 9 }
                forEach:
                  in: "=sections.filter(s, s.containerValues.isFeatured)"
                  as: section
                  node: { kind: container, children: [{ place: section.content }] }
              - id: others
                environment: { size: 4 }
                forEach:
                  in: "=sections.filter(s, !s.containerValues.isFeatured)"
                  as: section
                  node:
                    kind: group
                    children:
                      - { place: section.header }
                      - id: row
                        kind: container
                        computed: { shown: "subviews.map(s, s.id)" }
                        children: [{ place: section.content }]
                      - { place: section.footer }
        nodes:
          - id: content
            state: { chosen: second }
            children:
              - id: magazine
                component: Magazine
                children:
                  - id: first
                    containerValues: { isFeatured: '=chosen == "first"' }
                    header: [{ id: title }]
                    content:
                      - id: red
                        state: { taps: 0 }
                        inherit: [size]
                        computed: { double: size * 2 }
                        preferences: { loads: '=["red"]' }
                      - { id: orange, preferences: { loads: '=["orange"]' } }
                  - id: second
                    containerValues: { isFeatured: '=chosen == "second"' }
                    content: [{ id: green, inherit: [size], preferences: { loads: '=["green"]' } }]
                    footer: [{ id: end }]
        """

    @Test("a body places subviews by their sections; they keep paths and states wherever they stand") func places()
        throws
    {
        let graph = try Harness(PlacingTests.magazine)
        let magazine = "/content/magazine"
        #expect(try graph.value(magazine + ".order") == ["first/red", "first/orange", "second/green"])
        #expect(try shown(in: magazine + "/featured/second", of: graph) == [magazine + "/second/green"])
        #expect(
            try shown(in: magazine + "/others/first", of: graph) == [
                magazine + "/first/title", magazine + "/others/first/row",
            ])
        #expect(
            try graph.value(magazine + "/others/first/row.shown") == ["../../../first/red", "../../../first/orange"])
        #expect(try graph.value(magazine + "/first/red.size") == 4)
        #expect(try graph.value(magazine + "/second/green.size") == 9)
        #expect(try graph.value(magazine + ".loads") == ["green", "red", "orange"])
        try graph.set(magazine + "/first/red.taps", 3)
        try graph.subscribe(["/content/**"], events: [.update, .structure])
        try graph.set("/content.chosen", "first")
        #expect(graph.changes[magazine + "/first/red.size"] == .value(9))
        #expect(graph.changes[magazine + "/first/red.double"] == .value(18))
        #expect(graph.changes[magazine + "/second/green.size"] == .value(4))
        #expect(graph.changes[magazine + ".loads"] == .value(["red", "orange", "green"]))
        #expect(
            shownNews(graph)[.string(magazine + "/featured/first")] == [
                .string(magazine + "/first/red"), .string(magazine + "/first/orange"),
            ])
        #expect(try graph.value(magazine + "/first/red.taps") == 3)
        // A featured section shows its content alone.
        #expect(try graph.described(magazine + "/second/end")["isUnshown"] == nil)
        #expect(try graph.described(magazine + "/first/title")["isUnshown"] == true)
    }

    @Test("a client that may read everything is told all that a node shows, whoever has changed it")
    func toldInFull() throws {
        let graph = try Harness(PlacingTests.magazine)
        let rule = AccessRule(.write, [.user(1000)], try PathPattern("/content.chosen"))
        let root = ClientID(number: 3)
        graph.turn([.accessChanged(AccessRules([rule], owner: 7)), .connected(root, Peer(pid: 3, uid: 0, gid: 0))])
        try graph.subscribe(["/content/**"], events: .structure, from: 3)
        try graph.set("/content.chosen", "first")
        #expect(
            shownNews(graph)["/content/magazine/featured/first"] == [
                "/content/magazine/first/red", "/content/magazine/first/orange",
            ])
    }

    @Test("a subview that stays where it stands runs nothing again") func runs() throws {
        let graph = try Harness(PlacingTests.magazine)
        let green = "/content/magazine/second/green.size"
        try graph.subscribe([green, "/content/magazine/first/red.double"], events: [.update])
        _ = try graph.apply(
            "nodes: [{ id: content, children: [{ id: magazine, children: [{ id: third, content: [{ id: blue }] }] }] }]",
            mode: .merge)
        #expect(graph.changes.isEmpty)
        #expect(try shown(in: "/content/magazine/others/third/row", of: graph) == ["/content/magazine/third/blue"])
    }

    @Test("rules that decide read labels with the environment of the declaration") func labels() throws {
        let graph = try Harness(
            """
            keys: { environment: { level: 1 }, container: { weight: 0 } }
            components:
              Board:
                kind: container
                children:
                  - id: heavy
                    environment: { level: 0 }
                    children: [{ place: "subviews.filter(s, s.containerValues.weight > 1)" }]
                  - id: light
                    environment: { level: 5 }
                    children: [{ place: "subviews.filter(s, s.containerValues.weight <= 1)" }]
            nodes:
              - id: top
                state: { level: 2 }
                environment: { level: $level }
                children:
                  - id: board
                    component: Board
                    children:
                      - { id: a, containerValues: { weight: =env.level }, inherit: [level] }
                      - { id: b, containerValues: { weight: 0 }, inherit: [level] }
            """)
        #expect(try graph.value("/top/board/a.level") == 0)
        #expect(try graph.value("/top/board/b.level") == 5)
        try graph.set("/top.level", 1)
        #expect(try graph.value("/top/board/a.level") == 5)
    }

    @Test("a place whose rule fails shows nothing, as after a start, and all again when the rule heals")
    func failing() throws {
        let graph = try Harness(
            """
            keys: { container: { mark: 0 } }
            components:
              Shelf:
                kind: container
                children:
                  - id: in
                    kind: container
                    computed: { ids: "subviews.map(s, s.id)" }
                    children: [{ place: "subviews.filter(s, s.containerValues.mark > 0)" }]
            nodes:
              - id: shelf
                component: Shelf
                children: [{ id: a, state: { v: 1 }, containerValues: { mark: =100 / v } }]
            """)
        #expect(try graph.value("/shelf/in.ids") == ["../a"])
        try graph.set("/shelf/a.v", 0)
        #expect(try graph.value("/shelf/in.ids") == [])
        try graph.set("/shelf/a.v", 2)
        #expect(try graph.value("/shelf/in.ids") == ["../a"])
    }

    @Test("a place that depends on what it brings about ends with the error cycle") func endless() throws {
        let graph = try Harness(
            """
            keys: { environment: { side: left }, container: { side: left } }
            components:
              Swap:
                kind: container
                children:
                  - id: left
                    environment: { side: right }
                    children: [{ place: 'subviews.filter(s, s.containerValues.side == "left")' }]
                  - id: right
                    environment: { side: left }
                    children: [{ place: 'subviews.filter(s, s.containerValues.side == "right")' }]
            nodes:
              - id: swap
                component: Swap
                children:
                  - { id: a, inherit: [side], computed: { next: side }, containerValues: { side: =next } }
            """)
        let error = try graph.described("/swap")["children"]?.list?.compactMap {
            $0.map?["choices"]?.list?.first?.map?["error"]?.map?["code"]
        }
        #expect(error?.contains("cycle") == true)
        try graph.set("/.locale", "de")
    }

    @Test("a node that is placed twice is shown in the first place, and the second place says so") func twice() throws {
        let graph = try Harness(
            """
            components:
              Twice:
                kind: container
                state: { isFirst: true }
                children:
                  - if: isFirst
                    then: [{ id: one, children: [{ place: subviews }] }]
                  - { id: two, children: [{ place: "subviews.filter(s, s.id != 'c')" }] }
            nodes: [{ id: t, component: Twice, children: [{ id: a }, { id: b }, { id: c }] }]
            """)
        #expect(try shown(in: "/t/one", of: graph) == ["/t/a", "/t/b", "/t/c"])
        let error = try graph.described("/t/two")["choices"]?.list?.first?.map?["error"]?.map
        #expect(error?["code"] == "conflict")
        #expect(error?["message"]?.string?.contains("/t/a is placed already, in /t/one") == true)
        try graph.set("/t.isFirst", false)
        #expect(try shown(in: "/t/two", of: graph) == ["/t/a", "/t/b"])
        #expect(try graph.described("/t/two")["choices"]?.list?.first?.map?["error"] == nil)
        #expect(try graph.described("/t/c")["isUnshown"] == true)
        try graph.succeed(.remove(path: "/t/a", .init()))
        #expect(try shown(in: "/t/two", of: graph) == ["/t/b"])
        try graph.set("/t.isFirst", true)
        #expect(try shown(in: "/t/one", of: graph) == ["/t/b", "/t/c"])
    }

    @Test("animations around a place apply to what stands there") func animation() throws {
        let graph = try Harness(
            """
            components:
              Fade:
                kind: container
                state: { step: 0 }
                children:
                  - { id: here, kind: group, animation: { curve: "linear(duration: 2)", value: $step }, children: [{ slot: content }] }
            nodes:
              - id: app
                state: { x: 0.0 }
                children: [{ id: fade, component: Fade, children: [{ id: a, let: { x: $x } }] }]
            """)
        try graph.subscribe(["/app/fade/a"])
        try graph.transact([
            Mutation(operation: .set, path: "/app.x", value: 1.0),
            Mutation(operation: .set, path: "/app/fade.step", value: 1),
        ])
        #expect(graph.timeline("/app/fade/a.x")?["logical"] == 2)
    }

    @Test("a slot that has left its component shows again what the component is given when it returns")
    func returned() throws {
        let graph = try Harness(
            PlacingTests.card + """

                nodes:
                  - { id: card, component: Card, slots: { header: [{ id: name }] } }
                  - { id: other, kind: container }
                """)
        #expect(try shown(in: "/card/top", of: graph) == ["/card/name"])
        try graph.succeed(.move(path: "/card/top", to: "/other", index: nil, .init()))
        #expect(try shown(in: "/other/top", of: graph) == ["/other/top/none"])
        try graph.succeed(.move(path: "/other/top", to: "/card/body", index: nil, .init()))
        #expect(try shown(in: "/card/body/top", of: graph) == ["/card/name"])
    }

    @Test("a place that is empty after its component has moved tells those who read what it shows") func moved() throws
    {
        let graph = try Harness(
            """
            keys: { container: { mark: 0 } }
            components:
              Board:
                kind: container
                children:
                  - { id: low, kind: container, computed: { ids: "subviews.map(s, s.id)" }, children: [{ place: "subviews.filter(s, s.containerValues.mark < 5)" }] }
                  - { id: high, kind: container, children: [{ place: "subviews.filter(s, s.containerValues.mark >= 5)" }] }
            nodes:
              - id: top
                kind: container
                state: { v: 1 }
                children:
                  - { id: board, component: Board, children: [{ id: a, containerValues: { mark: =v } }] }
                  - { id: other, kind: container, state: { v: 8 } }
            """)
        try graph.subscribe(["/top/**"])
        #expect(try graph.value("/top/board/low.ids") == ["../a"])
        _ = try graph.succeed(.move(path: "/top/board", to: "/top/other", index: 0, .init()))
        #expect(graph.changes["/top/other/board/low.ids"] == .value([]))
        #expect(try shown(in: "/top/other/board/high", of: graph) == ["/top/other/board/a"])
    }

    @Test("a node in the group of a component's content inherits an object that the group later provides")
    func object() throws {
        let graph = try Harness(
            """
            types: { Shelf: { state: { name: shelf } } }
            components: { Board: { kind: container, let: { n: 0 }, children: [{ id: low, kind: container, children: [{ place: subviews }] }] } }
            nodes:
              - { id: board, component: Board, children: [{ id: g, kind: group, state: { own: { type: Shelf } }, children: [{ id: a, inherit: { shelf: "Shelf?" } }] }] }
            """)
        #expect(try graph.value("/board/g/a.shelf") == .null)
        _ = try graph.apply(
            """
            nodes:
              - { id: board, component: Board, let: { n: 1 }, children: [{ id: g, kind: group, state: { own: { type: Shelf } }, environment: { objects: [$own] } }] }
            """, mode: .merge)
        #expect(try graph.value("/board/g/a.shelf.name") == "shelf")
    }

    @Test("an export shows the same again") func exported() throws {
        let first = try Harness(
            PlacingTests.card + """

                nodes:
                  - id: card
                    component: Card
                    slots: { header: [{ id: name, inherit: [size] }] }
                    children: [{ id: a, inherit: [size] }]
                """)
        let document = try export(first)
        let second = try Harness(document: document)
        #expect(try second.value("/card/name.size") == 3)
        #expect(try shown(in: "/card/body", of: second) == ["/card/a"])
        #expect(try export(second) == document)
    }

    @Test("an export of a component that was changed inside shows no places, and can be applied")
    func exportedChanged() throws {
        let first = try Harness(
            """
            components:
              Card:
                kind: container
                let: { isOpen: true }
                children:
                  - id: body
                    kind: container
                    children:
                      - if: isOpen
                        then: [{ id: first }, { slot: content }, { id: inner, component: Inner, children: [{ slot: more }] }]
                  - { id: each, forEach: { in: =subviews, as: s, node: { kind: container, children: [{ place: s }] } } }
                  - { if: subviews.size() > 0, then: [{ id: some, children: [{ place: "subviews[0]" }] }], else: [{ id: none }] }
              Inner: { kind: container, children: [{ id: box, kind: group, children: [{ slot: content }] }] }
            nodes:
              - { id: other }
              - { id: card, component: Card, children: [{ id: a, state: { n: 1 } }] }
              - { id: cards, forEach: { in: [x], id: self, component: Card, children: [{ id: b }] } }
            """)
        try first.succeed(.move(path: "/other", to: "/card/body", index: nil, .init()))
        _ = try first.apply("components: { Card: { kind: container, children: [{ id: body }] } }\nnodes: []")
        let document = try export(first)
        let second = try Harness(document: document)
        for path in ["/card/body/first", "/card/body/inner/box", "/card/body/other", "/card/some", "/cards/x/b"] {
            #expect(throws: Never.self) { try second.described(path) }
        }
        #expect(try second.value("/card/a.n") == 1 && second.value("/card/each.elements") == [])
        #expect(try export(second) == document)
    }
}
