import AttributeValues
import GraphRuntime
import StateStore
import TestSupport
import Testing
@testable import ViewGraph
import WireProtocol

/// What the store holds of a node, and what becomes of it when scenes change.
@Suite("Rows by key")
struct RowTests {
    private static let scene = """
        nodes:
          - id: app
            kind: container
            state: { volume: 5, name: a }
            computed: { loud: volume > 7 }
            children: [{ id: one, tag: 1 }, { id: two, state: { v: 0 } }, { id: three }]
        components: { C: { kind: container, children: [{ id: in }] } }

        """

    /// The ids of a node's children, in order.
    private func children(_ life: Life, _ path: String) throws -> [String] {
        try life.described(path).map?["children"]?.list?.compactMap { $0.map?["id"]?.string } ?? []
    }

    @Test("an edited scene shows through where clients have said nothing") func editedScene() throws {
        let life = try Life(RowTests.scene)
        try life.apply("[{ id: app, computed: { loud: volume > 8 }, children: [{ id: one, let: { l: 1 } }] }]")
        try life.apply("[{ id: mine }]", at: "/app")
        try life.move("/app/three", to: nil, at: 0)
        try life.set("/app.name", "b")
        let edited = RowTests.scene.replacing("volume: 5", with: "volume: 8").replacing(
            "tag: 1 }", with: "tag: 2 }, { id: between }")
        let next = try life.next(edited)
        #expect(next.failures == [])
        // The scene's new beginning, the client's rule, the client's value.
        #expect(
            try next.value("/app.volume") == 8 && next.value("/app.loud") == false && next.value("/app.name") == "b")
        #expect(try next.value("/app/one.l") == 1)
        #expect(try "\(next.exported())".contains("\"tag\": 2") || "\(next.exported().jsonText)".contains("\"tag\":2"))
        #expect(try children(next, "/app") == ["three", "one", "between", "two", "mine"])
    }

    @Test("only nodes that changed places among their siblings have a row") func reordered() throws {
        let life = try Life("nodes: [{ id: a }, { id: b }, { id: c }]")
        try life.apply("[{ id: c }, { id: a }, { id: b }]", mode: .replace)
        #expect(try life.rows().map(\.key) == ["/c"])
        #expect(try children(expectKept(life), "/") == ["c", "a", "b"])
    }

    @Test("a list whose data was refused while it had no instances has none after a restart") func refused() throws {
        let life = try Life(
            """
            nodes:
              - id: l
                kind: container
                state: { items: [{ id: a }] }
                children: [{ id: rows, forEach: { in: $items, node: { state: { q: 0 } } } }]
            """)
        try life.set("/l.items", [])
        try life.set("/l.items", [["id": "x"], ["id": "x"]])
        #expect(try children(expectKept(life), "/l/rows") == [])
    }

    @Test("replace ends what clients have applied, and leaves what the scene says") func replaced() throws {
        let life = try Life(RowTests.scene)
        try life.apply(
            "[{ id: app, computed: { more: 1 }, children: [{ id: two, let: { l: 1 } }, { id: mine }, { id: own }] }]")
        try life.apply("[{ id: app, state: { volume: 1 }, children: [{ id: two }, { id: own }] }]", mode: .replace)
        let app = try #require(try life.described("/app").map?["attributes"]?.map)
        #expect(app["more"] == nil && app["loud"] != nil && app["name"] != nil)
        #expect(try children(life, "/app") == ["one", "two", "three", "own"])
        #expect(try life.described("/app/two").map?["attributes"]?.map?["l"] == nil)
        #expect(try life.rows().filter(\.name.isEmpty).map(\.key).sorted() == ["/app", "/app/own"])
        try expectKept(life)
    }

    @Test("a node stands beside a choice of a component whose branches clients have changed, also after a start")
    func besideChoice() throws {
        let life = try Life(
            """
            components:
              Card: { kind: container, state: { open: true }, children: [{ id: way, if: open, then: [{ id: s, state: { q: 0 } }] }] }
            nodes: [{ id: one, component: Card }, { id: box, kind: container, children: [{ id: s, state: { q: 5 } }] }]
            """)
        try life.apply("[{ id: way, if: true, then: [{ id: t, state: { q: 1 } }] }]", at: "/one")
        try life.move("/box/s", to: "/one")
        #expect(try life.value("/one/s.q") == 5 && life.value("/one/t.q") == 1)
        try expectKept(life)
    }

    @Test("a node of a scene that was removed or moved away can be restored, and begins anew") func restored() throws {
        let life = try Life(RowTests.scene)
        try life.set("/app/two.v", 3)
        try life.remove("/app/two")
        try life.move("/app/one", to: "/")
        try life.apply("[{ id: mine, component: C }]")
        try life.remove("/mine/in")
        try expectKept(life)
        for path in ["/app/two", "/app/one", "/mine/in"] { try life.call(.restore(path: path, .init())) }
        #expect(try children(life, "/app") == ["one", "two", "three"] && children(life, "/mine") == ["in"])
        #expect(try life.value("/app/two.v") == 0)
        for path in ["/app/two", "/app/other", "/one"] {
            #expect(throws: Failure.self) { try life.call(.restore(path: path, .init())) }
        }
        // What was moved is a copy.
        #expect(try children(expectKept(life), "/") == ["app", "one", "mine"])
    }

    @Test("a document that names a removed node of the scene brings it back and completes it") func named() throws {
        let life = try Life(RowTests.scene)
        try life.remove("/app/two")
        try life.apply("[{ id: two, let: { l: 1 } }]", at: "/app")
        #expect(try life.value("/app/two.v") == 0 && life.value("/app/two.l") == 1)
        let edited = try expectKept(life).next(RowTests.scene.replacing("{ v: 0 }", with: "{ v: 2 }"))
        #expect(try edited.value("/app/two.v") == 2 && edited.value("/app/two.l") == 1)
    }

    @Test("rows of nodes that a scene no longer has stay, are named and counted, and prune deletes them") func prune()
        throws
    {
        let life = try Life(RowTests.scene)
        try life.set("/app/two.v", 3)
        try life.apply("[{ id: app, children: [{ id: two, let: { l: 1 } }] }]")
        let without = RowTests.scene.replacing(", { id: two, state: { v: 0 } }", with: "")
        let next = try life.next(without)
        #expect(next.failures.count == 1 && next.failures[0].contains("/app/two"))
        #expect(try next.call(.stats(format: .json)).map?["absent_rows"] == 2)
        // They come back with the scene.
        let back = try next.next(RowTests.scene)
        #expect(try back.value("/app/two.v") == 3 && back.value("/app/two.l") == 1)
        #expect(try next.call(.prune) == ["pruned": 2])
        #expect(try next.call(.stats(format: .json)).map?["absent_rows"] == 0)
        #expect(try next.next(RowTests.scene).value("/app/two.v") == 0)
    }

    @Test("a client's node that is written into a scene keeps its values, and counts over that of the scene")
    func exported() throws {
        let life = try Life(RowTests.scene)
        try life.apply(
            "[{ id: mine, state: { m: 1 }, let: { l: 1 }, children: [{ id: in, state: { n: 1 } }] }]", at: "/app")
        try life.set("/app/mine.m", 5)
        try life.set("/app/mine/in.n", 6)
        let scene = RowTests.scene.replacing(
            "{ id: three }]",
            with:
                "{ id: three }, { id: mine, kind: container, state: { m: 1 }, let: { l: 2 }, children: [{ id: in, state: { n: 1 } }] }]"
        )
        var next = try life.next(scene)
        for _ in 0..<2 {
            #expect(next.failures == [])
            #expect(
                try next.value("/app/mine.m") == 5 && next.value("/app/mine/in.n") == 6
                    && next.value("/app/mine.l") == 1)
            next = try next.next()
        }
        try next.remove("/app/mine")
        #expect(try children(next.next(), "/app") == ["one", "two", "three"])
    }

    @Test("of a scene's node and a client's the client's counts, with what is in it, at each start")
    func upperCounts() throws {
        let made = """
            nodes:
              - id: n
                kind: container
                state: { s: 0 }
                children: [{ id: in, kind: container, state: { v: 0, w: 0 } }, { id: far }]
              - { id: to, kind: container }

            """
        let life = try Life("nodes: [{ id: to, kind: container }]")
        try life.apply("[{ id: n, kind: container, children: [{ id: in, state: { v: 0 } }, { id: mine }] }]")
        try life.set("/n/in.v", 2)
        var next = try life.next(made)
        for _ in 0..<3 {
            #expect(try next.value("/n/in.v") == 2)
            #expect(throws: Failure.self) { try next.value("/n.s") }
            #expect(try children(next, "/n") == ["in", "mine"] && next.failures == [])
            next = try next.next()
        }
        try next.remove("/n")
        #expect(try children(expectKept(next), "/") == ["to"])
        try next.call(.restore(path: "/n", .init()))
        #expect(try children(expectKept(next), "/n") == ["in", "far"])
        #expect(try next.value("/n/in.v") == 0 && next.value("/n.s") == 0)
    }

    @Test("a client's node stays where clients have moved it among its siblings, whether a scene has it or not")
    func orderOfUpper() throws {
        let life = try Life("nodes: [{ id: a }, { id: b }]")
        try life.apply("[{ id: n, state: { s: 0 } }]")
        try life.set("/n.s", 1)
        let first = try life.next("nodes: [{ id: a }, { id: n, state: { s: 0 } }, { id: b }]")
        try first.move("/n", to: nil, at: 0)
        var next = try first.next("nodes: [{ id: a }, { id: b }]")
        #expect(try children(next, "/") == ["n", "a", "b"] && next.value("/n.s") == 1)
        for place in [2, 0, 1] {
            try next.move("/n", to: nil, at: place)
            let order = try children(next, "/")
            next = try next.next()
            #expect(try children(next, "/") == order)
        }
    }

    @Test("a list that is fed after the start gives edited instances back, and its end takes their rows along")
    func fed() throws {
        let rows =
            "{ id: rows, forEach: { in: $fed, node: { kind: container, state: { open: false }, children: [{ id: kid, state: { n: 0 } }] } } }"
        let life = try Life(
            "nodes: [{ id: l, kind: container, state: { fed: { initial: [], transient: true } }, children: [\(rows)] }]"
        )
        try life.set("/l.fed", [["id": "x"], ["id": "y"]])
        try life.apply(
            "[{ id: kid, computed: { w: n + 1 } }, { id: more, state: { m: 0 }, children: [{ id: deep }] }]",
            at: "/l/rows/x")
        try life.remove("/l/rows/y/kid")
        try life.set("/l/rows/x/more.m", 4)
        try life.set("/l/rows/y.open", true)
        let next = try life.next()
        #expect(next.absentNodes > 0)
        try next.set("/l.fed", [["id": "x"]])
        try next.set("/l.fed", [["id": "x"], ["id": "y"]])
        #expect(try differences(life.described(), next.described()) == [])
        #expect(next.absentNodes == 0)
        try next.set("/l.fed", [])
        #expect(try next.rows().isEmpty)
    }

    private static let homes = """
        nodes:
          - { id: away, kind: container }
          - id: home
            kind: container
            state: { fed: { initial: [], transient: true } }
            children:
              - id: rows
                forEach: { in: $fed, node: { kind: container, children: [{ id: box, kind: container }] } }
              - id: made
                kind: container
                state: { items: { initial: [], transient: true } }
                children: [{ id: each, forEach: { in: $items, node: { state: { q: 0 } } } }]

        """

    @Test(
        "a node that is removed takes no rows of moved nodes along", arguments: ["client's", "scene's"])
    func movedAway(kind: String) throws {
        let life = try Life(RowTests.homes)
        try life.set("/home.fed", [["id": "x"]])
        if kind == "client's" {
            try life.apply(
                """
                [{ id: made, kind: container, state: { items: { initial: [], transient: true } },
                   children: [{ id: each, forEach: { in: $items, node: { state: { q: 0 } } } }] }]
                """, at: "/home/rows/x/box")
        }
        try life.move(kind == "client's" ? "/home/rows/x/box/made" : "/home/made", to: "/away")
        try life.set("/away/made.items", [["id": "a"]])
        try life.set("/away/made/each/a.q", 4)
        if kind == "client's" { try life.remove("/home/rows/x/box") }
        let next = try life.next()
        if kind == "client's" { try next.set("/home.fed", [["id": "x"]]) } else { try next.remove("/home") }
        try next.set("/away/made.items", [["id": "a"]])
        #expect(try next.value("/away/made/each/a.q") == 4)
    }

    @Test("clients' nodes follow their component when it is declared anew, and keep their values") func redeclared()
        throws
    {
        let life = try Life()
        func declare(_ text: String, _ nodes: String) throws {
            let document = Value.string("agd: 1\ncomponents: { C: \(text) }\nnodes: \(nodes)")
            try life.call(.apply(.init(document: document, at: "/", mode: .merge, dryRun: false, options: .init())))
        }
        try declare(
            "{ kind: container, state: { v: 1 }, children: [{ id: in, let: { l: =v } }] }", "[{ id: a, component: C }]")
        try life.set("/a.v", 5)
        try declare("{ kind: container, state: { v: 2, other: 2 } }", "[{ id: b, component: C }]")
        let next = try expectKept(life, times: 2)
        #expect(try next.value("/a.v") == 5 && next.value("/a.other") == 2 && next.value("/b.v") == 2)
        #expect(try children(next, "/a") == [])
    }

    private static func cards(_ body: String) -> String {
        """
        keys: { environment: { scale: 1.0 } }
        components:
          Card:
            kind: container
            computed: { own: env.scale }
            children:
              - { id: top, kind: group, children: [{ slot: header, default: [{ id: label }] }] }
              - { id: body, kind: container, children: [{ slot: content }\(body)] }
          Placing:
            kind: container
            children: [{ id: each, forEach: { in: =subviews, as: s, node: { kind: group, children: [{ place: s }] } } }]

        """
    }

    private static let uses = """
        nodes:
          - id: p
            component: Card
            environment: { scale: 2.0 }
            slots: { header: [{ id: logo, state: { a: 1 } }] }
            children: [{ id: given, inherit: [scale] }]
          - { id: q, component: Placing, children: [{ id: given }] }
        """

    @Test(
        "nodes whose component puts what it is given are after a restart what they were when it was declared anew",
        arguments: [uses, ""])
    func redeclaredSlots(_ again: String) throws {
        let life = try Life()
        try life.apply(document: RowTests.cards("") + RowTests.uses)
        let other = RowTests.cards(", { id: extra, state: { v: 1 } }")
            .replacing("each, forEach", with: "each, computed: { n: 1 }, forEach")
        try life.apply(document: other + again)
        #expect(try expectKept(life, times: 2).value("/p.own") == 2.0)
    }

    @Test("what a component makes stays when it is declared anew after a restart, whoever has made it before")
    func redeclaredHeirs() throws {
        func card(_ locale: String, _ more: String) -> Value {
            .string(
                """
                components:
                  Card:
                    kind: container
                    children: [{ id: body, environment: { locale: \(locale) }, children: [{ id: in, state: { v: 1 } }\(more)] }]
                nodes: [{ id: p, component: Card }]
                """)
        }
        var life = try Life()
        for (document, mode) in [
            (card("de", ", { id: extra }"), .merge), (card("de", ""), .replace), (card("fr", ""), .merge),
        ] as [(Value, Request.ApplyMode)] {
            try life.call(.apply(.init(document: document, at: "/", mode: mode, dryRun: false, options: .init())))
            if mode == .replace { try life.set("/p/body/in.v", 5) }
            let next = try expectKept(life)
            life = next
        }
        #expect(try life.value("/p/body/in.v") == 5)
    }

    @Test("lists and choices make after a restart what they made of a component that was declared anew")
    func redeclaredInTemplates() throws {
        func declare(_ extra: String) -> String {
            RowTests.cards(extra) + """
                  Twice: { component: Card, environment: { scale: 4.0 } }
                nodes:
                  - id: all
                    kind: container
                    state: { items: [{ id: x }], isOpen: true }
                    children:
                      - id: rows
                        forEach:
                          in: $items
                          component: Twice
                          slots: { header: [{ id: logo, state: { a: 1 } }] }
                          children: [{ id: given, inherit: [scale] }]
                      - if: isOpen
                        then: [{ id: open, component: Placing, children: [{ id: inner, component: Card }] }]

                """
        }
        let life = try Life()
        let first = declare("")
        try life.apply(document: first, mode: .create)
        let again = RowTests.cards(", { id: extra, state: { v: 1 } }")
        try life.apply(document: again)
        try life.set("/all/rows/x/logo.a", 3)
        let next = try expectKept(life, times: 2)
        for life in [life, next] { try life.set("/all.items", [["id": "x"], ["id": "y"]]) }
        let found = try differences(life.described(), next.described())
        #expect(found == [])
        #expect(try next.value("/all/rows/y.own") == 4.0)
    }

    @Test("a component that was declared anew reads what its use and its body set, over a restart too")
    func redeclaredModifiers() throws {
        func declare(_ more: String) -> String {
            """
            keys: { environment: { scale: 1.0 } }
            components:
              Card:
                kind: container
                environment: { scale: 3.0 }
                computed: { own: env.scale }
                children: [{ id: inside, inherit: [scale]\(more) }]

            """
        }
        let life = try Life()
        for document in [
            declare("") + "nodes: [{ id: p, component: Card, environment: { scale: 2.0 } }]",
            declare(", state: { v: 1 }"),
        ] {
            try life.apply(document: document)
        }
        let next = try expectKept(life, times: 2)
        #expect(try next.value("/p.own") == 2.0 && next.value("/p/inside.scale") == 3.0)
    }

    @Test("modifiers that a client writes at a use do not read the component's own names after a restart either")
    func modifiersAtUse() throws {
        let life = try Life(
            """
            keys: { environment: { size: 0, shade: 0, depth: 0 }, container: { weight: 0 } }
            components:
              Card:
                kind: container
                let: { title: { default: 5 } }
                state: { count: 1, isOn: false }
                environment: { depth: =count }
                children: [{ id: inside, inherit: [size, shade, depth] }]
            nodes:
              - id: app
                kind: container
                state: { count: 1000, isOn: false }
                computed: { seen: "subviews.map(s, [s.tag, s.containerValues.weight])" }
                children: [{ id: card, component: Card }]
            """)
        try life.apply(
            """
            [{ id: card, component: Card, environment: { size: =count, depth: =count }, tag: =count,
               transformEnvironment: { shade: value + count }, containerValues: { weight: =count },
               onChange: { of: isOn, perform: { add: { $count: 1 } } } }]
            """, at: "/app")
        let next = try expectKept(life, times: 2)
        for life in [life, next] {
            try life.set("/app/card.count", 7)
            try life.set("/app/card.isOn", true)
            #expect(try life.value("/app.count") == 1000)
            #expect(try life.value("/app/card/inside.size") == 1000 && life.value("/app/card/inside.shade") == 1000)
            #expect(try life.value("/app/card/inside.depth") == 7)
            #expect(try life.value("/app.seen") == [[1000, 1000]])
            try life.set("/app.isOn", true)
            #expect(try life.value("/app.count") == 1001 && life.value("/app/card.count") == 7)
        }
    }

    @Test("nodes whose ids look the same and have other bytes keep their values over a restart") func canonicalIDs()
        throws
    {
        let (composed, decomposed) = ("K\u{FC}che", "Ku\u{308}che")
        let life = try Life()
        for id in [composed, decomposed] { try life.apply("[{ id: \(id), state: { x: 0 } }]") }
        try life.apply(
            "[{ id: list, state: { items: [\(composed), \(decomposed)] }, children: [{ id: rows, forEach: { in: $items, id: self, node: { state: { y: 0 } } } }] }]"
        )
        for (id, value) in [(composed, 1), (decomposed, 2)] as [(String, Value)] {
            try life.set("/\(id).x", value)
            try life.set("/list/rows/\(id).y", value)
        }
        // A mark behind a slash makes both one character.
        try life.apply("[{ id: \"a/\u{301}\", state: { z: 3 } }]")
        let next = try expectKept(life, times: 2)
        #expect(try next.value("/\(composed).x") == 1 && next.value("/\(decomposed).x") == 2)
        #expect(try next.value("/list/rows/\(composed).y") == 1 && next.value("/list/rows/\(decomposed).y") == 2)
        #expect(try next.value("/\"a/\u{301}\".z") == 3)
    }

    @Test("a use that is merged with another component of the name has after a restart the order that it had")
    func mergedAnew() throws {
        let life = try Life()
        for (body, given) in [
            ("{ id: in }, { id: far }, { slot: content }", ", children: [{ id: kid }]"),
            ("{ id: in }, { slot: content }", ""), ("{ id: far }, { id: new }, { slot: content }, { id: in }", ""),
        ] {
            let document = """
                components: { Shelf: { kind: container, children: [\(body)] } }
                nodes: [{ id: d, component: Shelf\(given) }]
                """
            try life.apply(document: document)
            try expectKept(life)
        }
    }

    @Test("instances that a scene makes are after a restart what a client's template says, with their states")
    func templates() throws {
        let life = try Life(
            """
            nodes:
              - id: l
                kind: container
                state: { items: [{ id: x }], isOn: true }
                children:
                  - { id: rows, forEach: { in: $items, node: { kind: container, state: { q: 1 }, computed: { w: q } } } }
                  - { id: choice, if: isOn, then: [{ id: y, state: { q: 1 } }] }
            """)
        for path in ["/l/rows/x.q", "/l/y.q"] { try life.set(path, 3) }
        try life.apply("[{ id: given, state: { g: 0 } }]", at: "/l/rows/x")
        try life.move("/l/rows/x/given", to: "/l")
        try life.apply(
            """

              - { id: rows, forEach: { in: $items, node: { kind: container, state: { q: 1 }, computed: { w: q * 2 } } } }
              - { id: choice, if: isOn, then: [{ id: y, state: { q: 1, more: 5 } }] }
            """, at: "/l")
        try life.set("/l/given.g", 4)
        #expect(try life.value("/l/rows/x.w") == 6)
        let next = try expectKept(life, times: 2)
        try next.set("/l.items", [["id": "x"], ["id": "z"]])
        #expect(try next.value("/l/rows/z.w") == 2 && next.value("/l/rows/x.w") == 6)
    }

    @Test("a component uses the latest declaration of another one, in its next use and after a restart")
    func redeclaredInside() throws {
        let life = try Life()
        try life.apply(
            document: """
                components:
                  Button: { let: { n: { default: 1 } } }
                  Bar: { kind: container, children: [{ id: b, component: Button }] }
                  Page: { component: Bar }
                nodes: [{ id: old, component: Page }]
                """)
        try life.apply(document: "components: { Button: { let: { n: { default: 2 } } } }")
        try life.apply(document: "nodes: [{ id: new, component: Page }]")
        #expect(try life.value("/old/b.n") == 2 && life.value("/new/b.n") == 2)
        try expectKept(life, times: 2)
        let failure = #expect(throws: Failure.self) { try life.apply(document: "components: { Button: { let: [n] } }") }
        #expect(failure?.message.contains("Button needs its let 'n'") == true, "\(String(describing: failure))")
    }

    @Test("what a component is given stays when it is declared anew without slots and places")
    func mergedWithoutSlots() throws {
        let life = try Life()
        try life.apply(
            document: """
                components:
                  C:
                    kind: container
                    children:
                      - { id: top, kind: container, children: [{ slot: header }] }
                      - { id: body, kind: container, children: [{ slot: content }, { id: more }] }
                  P: { kind: container, children: [{ id: in, kind: container, children: [{ place: "subviews" }] }] }
                nodes:
                  - { id: p, component: C, slots: { header: [{ id: h }] }, children: [{ id: g }] }
                  - { id: q, component: P, children: [{ id: g }] }

                """)
        try life.apply(
            document: """
                components:
                  C: { kind: container, children: [{ id: body, kind: container, children: [{ id: extra }] }] }
                  P: { kind: container }
                nodes: [{ id: p, component: C }, { id: q, component: P }]
                """)
        #expect(try Set(children(life, "/p")) == ["body", "g", "h"] && children(life, "/p/body") == ["extra"])
        // A slot shows nothing if the component has none.
        #expect(try life.described("/p/body").map?["shown"] == nil)
        try expectKept(life, times: 2)
    }

    @Test("of two places that want a node the first one shows it, whatever is moved, and after a restart too")
    func firstPlace() throws {
        let life = try Life()
        try life.apply(
            document: """
                components:
                  P:
                    kind: container
                    state: { items: [{ id: x }, { id: y }] }
                    children:
                      - { id: a, kind: container, children: [{ place: "subviews.filter(s, s.id == 'g')" }] }
                      - { id: b, kind: container, children: [{ place: "subviews.filter(s, s.id == 'g')" }] }
                      - id: each
                        forEach:
                          in: $items
                          node: { kind: container, children: [{ place: "subviews.filter(s, s.id == 'h')" }] }
                nodes: [{ id: p, component: P, children: [{ id: g }, { id: h }] }]
                """)
        func shown(_ path: String) throws -> Value? { try life.described(path).map?["shown"] }
        #expect(try shown("/p/a") == ["/p/g"] && shown("/p/each/x") == ["/p/h"])
        try life.move("/p/b", to: nil, at: 0)
        try life.set("/p.items", [["id": "y"], ["id": "x"]])
        #expect(try shown("/p/b") == ["/p/g"] && shown("/p/each/y") == ["/p/h"])
        #expect(try shown("/p/a") == nil && shown("/p/each/x") == nil)
        try expectKept(life)
    }

    @Test("a component that is declared anew costs the request each node that follows it, and no others")
    func redeclaredRows() throws {
        var limits = RuntimeLimits()
        limits.requestCost = 500_000
        let life = try Life(limits: limits)
        try life.apply(
            document: """
                components:
                  A: { kind: container }
                  B: { kind: container, state: { v: 1 } }
                  C: { component: B }
                nodes: [{ id: a, component: A }, { id: c, component: C }]
                """)
        func makeUses(_ numbers: Range<Int>) throws {
            try life.apply("[\(numbers.map { "{ id: b\($0), component: B }" }.joined(separator: ", "))]")
        }
        func declare(_ v: Int) throws {
            try life.apply(document: "components: { B: { kind: container, state: { v: \(v) } } }")
        }
        for start in stride(from: 0, to: 1500, by: 100) { try makeUses(start..<(start + 100)) }
        try declare(2)
        let rows = try life.rows().filter { $0.name.isEmpty && $0.revision == life.runtime.revision }
        #expect(!rows.contains { $0.key.hasPrefix("/a") })
        for start in stride(from: 1500, to: 6000, by: 100) { try makeUses(start..<(start + 100)) }
        let failure = #expect(throws: Failure.self) { try declare(3) }
        #expect(failure?.code == .limit)
        let next = try life.next()
        // A state keeps its value.
        #expect(try next.failures == [] && next.value("/b0.v") == 1 && next.value("/b2000.v") == 2)
    }

    @Test("a state that a client gives to a node takes the value that waits, as after a restart")
    func givenAgain() throws {
        func scene(_ state: String) -> String {
            "nodes: [{ id: a, kind: container, state: { items: [{ id: x }] }, children: [{ id: each, forEach: { in: $items, node: { state: { \(state) } } } }] }]"
        }
        let life = try Life(scene("n: 1, m: 1"))
        try life.set("/a/each/x.n", 5)
        try life.set("/a/each/x.m", 5)
        let without = try life.next(scene("k: 1"))
        try without.apply("[{ id: each, forEach: { in: $items, node: { state: { n: 1, k: 1 } } } }]", at: "/a")
        for life in [without, try without.next()] { #expect(try life.value("/a/each/x.n") == 5) }
    }

    @Test("objects have the properties of their type as soon as it is declared anew, and after a restart")
    func redeclaredTypes() throws {
        let life = try Life()
        try life.apply(
            document: """
                types:
                  Book: { state: { title: A, pages: 10 }, computed: { text: title } }
                  Library: { state: { book: { type: Book }, books: [], old: 1 }, computed: { count: books.size(), year: 1 } }
                keys: { environment: { shared: { type: Library, default: { old: 5, book: { pages: 3 } } } } }
                nodes:
                  - id: l
                    kind: container
                    state:
                      library: { type: Library, initial: { old: 3, book: { pages: 20 } } }
                      list: { type: "list(Book)", initial: [{ title: B }] }
                    environment: { objects: [$library] }
                    children:
                      - { id: r, inherit: { library: Library }, computed: { n: library.count, b: library.book.text } }
                      - { id: gone, inherit: { library: Library }, computed: { o: library.old + 1, n: "library.year + 1" } }
                      - { id: bound, binding: { old: $library.old } }
                  - { id: s, inherit: [shared], computed: { n: shared.count } }
                """)
        try life.set("/l.library.books", ["x", "y"])
        try life.set("/l.library.book.title", "T")
        #expect(try life.value("/l/r.n") == 2)
        try life.apply(
            document: """
                types:
                  Book: { state: { title: A, pages: 11, year: 2000 }, computed: { text: 'title + "!"' } }
                  Library: { state: { book: { type: Book }, books: [], new: 7 }, computed: { count: "books.size() * 10", year: "'y'" } }
                """)
        for (path, value) in [
            ("/l/r.n", 20), ("/l/r.b", "T!"), ("/l.library.new", 7), ("/l.library.book.pages", 20),
            ("/l.library.book.year", 2000), ("/l.list[0].year", 2000), ("/s.n", 0),
        ] as [(String, Value)] {
            #expect(try life.value(path) == value, "\(path)")
        }
        for path in ["/l.library.old", "/l/gone.o", "/l/gone.n", "/l/bound.old"] {
            #expect(throws: Failure.self, "\(path)") { try life.value(path) }
        }
        let next = try life.next()
        #expect(next.failures == [])
        // Of a rule that does not fit the types the type is unknown after a restart.
        let found = try differences(life.described(), next.described()).filter { !$0.contains("dyn") }
        #expect(found == [], "\(found)")
    }

    @Test("defaults of keys that have objects are those of a type as soon as it is declared anew")
    func redeclaredDefaults() throws {
        func types(_ pages: Int) -> String { "types: { Book: { state: { title: A, pages: \(pages) } } }\n" }
        let life = try Life()
        try life.apply(
            document: types(10) + """
                keys:
                  environment:
                    shared: { type: Book, default: { title: B } }
                    shelf: { type: list(Book), default: [{ title: C }] }
                  container: { open: { type: Book, default: {} } }
                nodes:
                  - id: s
                    kind: container
                    inherit: [shared, shelf]
                    computed:
                      n: shared.pages
                      m: "shelf[0].pages"
                      o: "subviews[0].containerValues.open.pages"
                      t: shared.title
                    children: [{ id: in }]
                """)
        try life.apply(document: types(11))
        for life in [life, try life.next()] {
            #expect(try ["n", "m", "o"].map { try life.value("/s.\($0)") } == [11, 11, 11])
            #expect(try life.value("/s.t") == "B")
        }
    }

    @Test("a node follows each declaration of its component") func redeclaredTwice()
        throws
    {
        let life = try Life()
        for more in ["", "pp: 1, ", ""] {
            let document = """
                components: { Sub: { kind: container, children: [{ id: in, computed: { \(more)p: self.path } }] } }
                nodes: [{ id: sub, component: Sub }]
                """
            try life.apply(document: document)
        }
        #expect(throws: Failure.self) { try life.value("/sub/in.pp") }
        try expectKept(life)
    }

    @Test("a node of a body that was removed after its component was declared anew is not there after a restart")
    func removedAnew() throws {
        for isRemoved in [true, false] {
            let life = try Life()
            for (mode, more) in [(.merge, ""), (.replace, ", { id: other }")] as [(Request.ApplyMode, String)] {
                let document = """
                    components: { Sub: { kind: container, children: [{ id: in, children: [{ id: deep }] }\(more)] } }
                    nodes: [{ id: sub, component: Sub }]
                    """
                try life.apply(document: document, mode: mode)
            }
            if isRemoved {
                try life.remove("/sub/in")
            } else {
                let more = "[{ id: in, state: { more: 1 }, children: [{ id: deep, state: { q: 1 } }] }]"
                try life.apply(more, at: "/sub")
                try life.set("/sub/in/deep.q", 2)
            }
            try expectKept(life, times: 2)
        }
    }

    @Test("a node whose actions and beginnings name what is not around it any more is there after a restart")
    func lostNames() throws {
        let life = try Life()
        try life.apply(
            """

              - id: home
                kind: container
                state: { count: 1, limit: 2 }
                children:
                  - id: moved
                    state: { own: { initial: =count } }
                    actions: { press: { parameters: { by: { default: 1 } }, add: { $count: =by + limit } } }
                    onChange: { of: limit + own > 0, perform: { set: { $count: '=newValue ? limit : own' } } }
                  - { id: rows, forEach: { in: [x], id: self, node: { actions: { add: { add: { $count: 1 } } } } } }
            """)
        for path in ["/home/moved", "/home/rows"] { try life.move(path, to: "/") }
        try expectKept(life, times: 2)
        let document = try life.exported().map?["document"] ?? .null
        let other = try Life()
        try other.call(.apply(.init(document: document, at: "/", mode: .merge, dryRun: false, options: .init())))
        #expect(try other.value("/moved.own") == 1)
    }

    private static let boards = """
        components:
          Board:
            kind: container
            children:
              - { id: low, kind: container, children: [{ slot: header }, { place: subviews }] }
              - id: high
                kind: container
                children: [{ id: each, forEach: { in: =subviews, node: { state: { q: 0 } } } }]
          Titled: { component: Board, children: [{ id: title, state: { q: 0 } }] }
        nodes:
          - { id: board, component: Titled, slots: { header: [{ id: top }] }, children: [{ id: k, kind: container }] }

        """

    @Test("nodes of a component's body that were removed and made again are after a restart what they were")
    func remadeBody() throws {
        let life = try Life(RowTests.boards)
        let use = "[{ id: board, component: Titled }]"
        func expectSame() throws {
            let next = try expectKept(life)
            let exported = try differences(life.exported(), next.exported())
            #expect(exported == [])
        }
        for path in ["/board/low", "/board/high", "/board/title"] { try life.remove(path) }
        try life.apply(use)
        #expect(try children(life, "/board") == ["k", "top"])
        try expectSame()
        for path in ["/board/low", "/board/high", "/board/title"] { try life.call(.restore(path: path, .init())) }
        try expectSame()
        try life.apply("[]", at: "/board/low", mode: .replace)
        try life.apply(use)
        try expectSame()
        try life.move("/board/low", to: "/")
        try life.move("/low", to: "/board", at: 0)
        try expectSame()
    }

    @Test("a node that was moved into a client's node comes back though the instance that made it has another key")
    func movedIntoOwn() throws {
        let life = try Life(
            """
            nodes:
              - id: top
                kind: container
                state: { fed: [{ id: z }] }
                children: [{ id: live, forEach: { in: $fed, node: { kind: container, children: [{ id: kid, state: { n: 0 } }] } } }]
              - id: d
                kind: container
                state: { items: [{ id: x }] }
                children: [{ id: rows, forEach: { in: $items, node: { kind: container } } }]

            """)
        try life.apply("[{ id: a, kind: group }]", at: "/top/live/z")
        try life.move("/top/live/z/kid", to: "/top/live/z/a")
        try life.set("/top/live/z/a/kid.n", 5)
        try life.move("/top", to: "/d/rows/x")
        let next = try expectKept(life)
        #expect(try next.value("/d/rows/x/top/live/z/a/kid.n") == 5)
        #expect(next.failures == [])
    }

    @Test("a use does not make a node of its body again that was moved away")
    func movedInBody() throws {
        let life = try Life(RowTests.boards)
        try life.apply("[{ id: mine, component: Board }]")
        try life.move("/mine/low", to: "/mine/high")
        try life.apply("[{ id: mine, component: Board }]")
        let next = try expectKept(life)
        #expect(try children(next, "/mine") == ["high"] && children(next, "/mine/high").contains("low"))
    }

    @Test("a node of a scene stays in a node that leaves its component") func stays() throws {
        let life = try Life(RowTests.boards + "  - { id: other, state: { q: 0 } }\n")
        try life.apply("[{ id: mine, component: Board }]")
        try life.move("/other", to: "/mine/high")
        try life.move("/mine/high", to: "/")
        try expectKept(life)
    }

    @Test("a node belongs to a component's body or to its use after a restart as it did before")
    func bodyOrUse() throws {
        let life = try Life(
            """
            components:
              Card: { kind: container, let: { n: { default: 5 } }, children: [{ id: inside, kind: container, let: { m: =n } }] }
              Panel: { kind: container, children: [{ id: fix, kind: container, children: [{ slot: header }] }, { slot: content }] }
            nodes:
              - { id: moved, component: Card }
              - { id: box, kind: container, state: { v: 1 }, children: [{ id: given, component: Card }] }
              - { id: panel, component: Panel, slots: { header: [{ id: head }] } }
              - { id: mine, component: Card }

            """)
        // A node that was moved here completes the body.
        try life.remove("/mine/inside")
        try life.move("/moved/inside", to: "/mine")
        try expectKept(life)
        // It is a copy, to which the names in the component mean nothing.
        try life.apply("[{ id: mine, component: Card }]")
        #expect(throws: Failure.self) { try life.value("/mine/inside.m") }
        try expectKept(life)
        // A document completes a node of the body, in which names mean what they mean there.
        try life.apply("[{ id: inside, kind: container, let: { m: =n + 1 } }]", at: "/box/given")
        #expect(try life.value("/box/given/inside.m") == 6)
        try expectKept(life)
        // A node leaves a slot for the content.
        try life.apply("[{ id: head }, { id: next }]", at: "/panel", mode: .replace)
        try expectKept(life)
    }

    @Test("values that were folded and values that were not come back together, whenever the daemon is killed")
    func folds() throws {
        let life = try Life(RowTests.scene)
        for round in 0..<20 {
            try life.set("/app.volume", .int(Int64(round)))
            try life.apply("[{ id: n\(round % 3), state: { v: \(round) } }]", at: "/app")
            if round % 4 == 3 { try life.remove("/app/n\(round % 3)") }
            try life.store.fold(atMost: 3)
            #expect(try differences(life.described(), life.next().described()) == [])
        }
    }

    @Test(
        "a checksum is CRC-32C",
        arguments: [
            ("", "0-8c28b28a"), ("a", "1-dc76ae8a"), ("123456789", "9-29148a8c"),
            ("the checksum of a text of 41 bytes, twice", "41-5f2deaa2"),
        ])
    func checksum(text: String, digest: String) { #expect(StateStore.digest(of: text) == digest) }

    @Test("order keys stand between their neighbours, however often one is put between two")
    func orderKeys() {
        var generator = SeededGenerator(seed: freshSeed())
        var keys = (0..<10).map { OrderKey.implied($0) }
        for _ in 0..<2000 {
            let place = Int.random(in: 0...keys.count, using: &generator)
            keys.insert(
                OrderKey.makeKey(place > 0 ? keys[place - 1] : nil, place < keys.count ? keys[place] : nil), at: place)
        }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.precedesByBytes($1) })
        var last = OrderKey.makeKey(nil, nil)
        for _ in 0..<2000 {
            let next = OrderKey.makeKey(last, nil)
            #expect(last.precedesByBytes(next) && next.utf8.count == 6)
            last = next
        }
    }
}
