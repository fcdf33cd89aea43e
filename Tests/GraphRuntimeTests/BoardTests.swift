import AttributeValues
import GraphRuntime
import Testing
import WireProtocol

@testable import RuntimeHarness

/// What cards a part of the tree has.
@Suite("Boards")
struct BoardTests {
    private func board(_ scene: String, at path: String = "/") throws -> ValueMap {
        try Harness(scene).map(.board(path: path, panel: ValueMap()))
    }

    private func rows(_ board: ValueMap) -> [ValueMap] { (board["rows"]?.list ?? []).compactMap(\.map) }

    private func cards(_ board: ValueMap) -> [ValueMap] {
        rows(board).flatMap { ($0["cards"]?.list ?? []).compactMap(\.map) }
    }

    private func paths(_ board: ValueMap) -> [String] { cards(board).compactMap { $0["path"]?.string } }

    @Test("a view without a panel has a card for each attribute, displays first, then controls, then lists")
    func kinds() throws {
        let found = try board(
            """
            nodes:
              - id: a
                kind: container
                state: { list: [1], isOn: true, text: x, n: 1, status: ok, map: { a: 1 } }
                computed: { half: n * 2, isBig: n > 1 }
                clock: { now: every 1s }
                actions: { go: { set: { $n: 2 } } }
            """)
        #expect(
            cards(found).compactMap { $0["kind"]?.string }
                == ["status", "sparkline", "sparkline", "value", "toggle", "field", "button", "table", "list"])
        // Everything else that a view has leads to its percentage.
        #expect(try paths(board("nodes: [{ id: a, state: { raw: 1, percent: 5.0 } }]\n")) == ["/a.percent"])
    }

    @Test("names become words, of the id of a card, too")
    func words() throws {
        let found = try board(
            "nodes: [{ id: busiestCore, state: { cpuLoad: 1, isOK: true } }, { id: cpu0, state: { x: 1 } }]\n")
        #expect(
            cards(found).compactMap { $0["title"]?.string } == [
                "Busiest core: CPU load", "Busiest core: is OK", "CPU0",
            ])
    }

    @Test("a view is drawn where it stands, and one that stands nowhere is not")
    func places() throws {
        let scene = """
            components:
              Shelf:
                kind: container
                children:
                  - { id: body, kind: container, children: [{ place: 'subviews.filter(s, s.id == "b") + subviews.filter(s, s.id == "a")' }] }
            nodes:
              - id: s
                component: Shelf
                children:
                  - { id: a, state: { x: 1 } }
                  - { id: b, state: { x: 2 } }
                  - { id: c, state: { x: 3 } }
            """
        #expect(try paths(board(scene)) == ["/s/b.x", "/s/a.x"])
    }

    private static func twice(_ id: String) -> String {
        """
          - id: \(id)
            kind: container
            state: { own: 1 }
            children:
              - { id: x, kind: container, children: [{ id: v, state: { n: 1 } }] }
              - { id: loose, state: { n: 2 } }

        """
    }

    @Test("several boards have their own rows, with both names; a part has its own board")
    func several() throws {
        let scene = "nodes:\n" + BoardTests.twice("one") + BoardTests.twice("two")
        let all = try board(scene)
        #expect(rows(all).map { $0["title"]?.string } == ["One", "One · X", "Two", "Two · X"])
        #expect(all["boards"]?.list?.compactMap { $0.map?["title"]?.string } == ["One", "Two"])
        let alone = try board(scene, at: "/one")
        #expect(rows(alone).map { $0["title"]?.string } == [nil, "X"])
        #expect(rows(alone).map { $0["heading"]?.string } == ["One", "X"])
        #expect(alone["root"] == "/one" && alone["title"] == "One")
    }

    private static let panels = """
        keys: { container: { panel: { default: {}, type: "map(string, dyn)" } } }

        """

    @Test("featured cards of several boards stand below the name of their own board")
    func featured() throws {
        func board(_ id: String) -> String {
            """
              - id: \(id)
                kind: container
                children:
                  - { id: first, kind: container, children: [{ id: v, state: { n: 1 } }] }
                  - { id: main, state: { n: 2 }, containerValues: { panel: { value: n, featured: true } } }

            """
        }
        let found = try self.board(BoardTests.panels + "nodes:\n" + board("one") + board("two"))
        #expect(rows(found).map { $0["title"]?.string } == ["One", "One · First", "Two", "Two · First"])
        #expect(rows(found).map { $0["isFeatured"] == true } == [true, false, true, false])
    }

    private func card(_ panel: String, attributes: String = "state: { x: 1 }") throws -> ValueMap {
        let found = try board(
            BoardTests.panels
                + "nodes: [{ id: n, kind: container, children: [{ id: v, \(attributes), containerValues: { panel: \(panel) } }] }]\n"
        )
        return try #require(cards(found).first)
    }

    @Test("a panel decides about kind, span, height, width and thresholds")
    func panel() throws {
        let bar = try card("{ value: x, kind: bar, warn: 75, critical: 90, width: full, height: 2 }")
        #expect(
            bar["kind"] == "bar" && bar["panel"]?.map?["unit"] == "%" && bar["isFull"] == true && bar["height"] == 2)
        #expect(bar["levels"] == [["from": 75.0, "status": "warn"], ["from": 90.0, "status": "critical"]])
        #expect(
            try card("{ value: x, warn: 20, critical: 10 }")["levels"]?.list?.first == ["to": 20.0, "status": "warn"])
        #expect(try card("{ value: x, kind: line }")["kind"] == "chart")
        #expect(try card("{ value: x, kind: line }")["span"] == 2)
        #expect(try card("{ value: x, span: 9 }")["span"] == 4)
        #expect(try card("{ value: y }")["fault"] == "/n/v has no attribute y.")
        #expect(try card("{ value: x, kind: hologram }")["fault"]?.string?.contains("hologram") == true)
        // Nothing can be written to a rule.
        #expect(try card("{ value: x, kind: toggle }", attributes: "computed: { x: 1 == 1 }")["kind"] == "value")
    }

    @Test("a tile names its further attributes; without the right to write its value it shows it")
    func tiles() throws {
        let state = "state: { isOn: true, level: 40, heat: { initial: 21.5 } }, computed: { now: heat - 1.0 }"
        let light = try card("{ kind: light, value: isOn, level: level }", attributes: state)
        #expect(light["kind"] == "light" && light["type"] == "bool")
        #expect(light["parts"] == ["level": ["path": "/n/v.level", "type": "int", "isWritable": true]])
        let heat = try card("{ kind: thermostat, value: heat, current: now, switch: isOn }", attributes: state)
        #expect(heat["parts"]?.map?["current"]?.map?["isWritable"] == false)
        #expect(heat["parts"]?.map?["switch"]?.map?["path"] == "/n/v.isOn")
        #expect(
            try card("{ kind: light, value: isOn, level: dim }", attributes: state)["fault"]
                == "/n/v has no attribute dim.")
        #expect(try card("{ kind: thermostat, value: now }", attributes: state)["kind"] == "value")
    }

    @Test("a text names the attributes that it shows, and asks again when it changes")
    func markdown() throws {
        let given = try card(
            #"{ kind: markdown, text: 'Now **{heat}** of {plan.most}, \{not}, { neither }' }"#,
            attributes: "state: { heat: 21.5, plan: { most: 30 } }")
        #expect(given["kind"] == "markdown" && given["path"] == "/n/v" && given["span"] == 2)
        #expect(given["parts"]?.map?.keys.compactMap(\.string) == ["heat", "plan.most"])
        #expect(given["parts"]?.map?["plan.most"]?.map?["path"] == "/n/v.plan.most")
        #expect(try card("{ kind: markdown, text: '{gone}' }")["fault"] == "/n/v has no attribute gone.")
        #expect(try card("{ kind: markdown }")["fault"]?.string?.contains("text or a value") == true)
        let graph = try Harness("nodes: [{ id: n, state: { note: 'It is {x}', x: 1 } }]\n")
        let own = try graph.map(.board(path: "/n.note", panel: ValueMap([("kind", "markdown")])))
        #expect(own["parts"]?.map?["x"]?.map?["path"] == "/n.x" && own["path"] == "/n.note")
        let whole = try board(
            BoardTests.panels
                + "nodes: [{ id: b, kind: container, children: [{ id: n, state: { note: 'It is {x}', x: 1 }, containerValues: { panel: { kind: markdown, value: note } } }] }]\n"
        )
        #expect(whole["layout"]?.list?.contains("/b/n.note") == true)
    }

    @Test("columns have bars and thresholds, and rows an order")
    func columns() throws {
        let table = try card(
            "{ kind: table, value: x, sort: -size, formats: { size: { format: bytes, bar: true, warn: 10 }, share: { format: percent, bar: true }, name: { unit: m } } }",
            attributes: "state: { x: [] }")
        let formats = table["panel"]?.map?["formats"]?.map
        #expect(table["sort"] == ["column": "size", "isDescending": true])
        #expect(formats?["size"]?.map?["levels"] == [["from": 10.0, "status": "warn"]])
        #expect(formats?["size"]?.map?["min"] == 0 && formats?["size"]?.map?["max"] == nil)
        #expect(formats?["share"]?.map?["max"] == 1)
        #expect(formats?["name"] == ["unit": "m"])
        #expect(try card("{ kind: table, value: x, sort: size }")["sort"]?.map?["isDescending"] == false)
    }

    @Test(
        "numbers have the units of the people who see them",
        arguments: [
            ("units: us", "°C", "°F", 1.8, 32), ("units: metric", "mph", "km/h", 1 / 0.621371, 0),
            ("units: uk", "km/h", "mph", 0.621371, 0), ("locale: de_DE", "°F", "°C", 1 / 1.8, -32 / 1.8),
        ] as [(String, String, String, Double, Double)])
    func units(_ environment: String, _ unit: String, _ shown: String, _ factor: Double, _ offset: Double) throws {
        let found = try board(
            """
            keys:
              environment: { units: { default: null, type: "string?" } }
              container: { panel: { default: {}, type: "map(string, dyn)" } }
            nodes:
              - id: n
                kind: container
                environment: { \(environment) }
                children:
                  - id: inner
                    kind: container
                    inherit: [units, locale]
                    children:
                      - { id: v, state: { x: 1.0 }, containerValues: { panel: { value: x, unit: \(unit) } } }
                      - { id: w, state: { x: 1.0 }, containerValues: { panel: { value: x, unit: \(unit), units: given } } }
            """)
        let panels = cards(found).compactMap { $0["panel"]?.map }
        let conversion = try #require(panels.first?["conversion"]?.map)
        #expect(panels.first?["unit"] == .string(shown))
        #expect(abs((conversion["factor"]?.number ?? 0) - factor) < 1e-9)
        #expect(abs((conversion["offset"]?.number ?? 0) - offset) < 1e-9)
        // The panel has the last word.
        #expect(panels.last?["unit"] == .string(unit) && panels.last?["conversion"] == nil)
    }

    @Test("without a choice, numbers keep the units that they were given")
    func unitsAsGiven() throws {
        #expect(try card("{ value: x, unit: °C }")["panel"]?.map?["unit"] == "°C")
        // So does a unit that nobody converts.
        #expect(try card("{ value: x, unit: kWh, units: us }")["panel"]?.map?["conversion"] == nil)
        #expect(try card("{ value: x, unit: g, format: bytes, units: us }")["panel"]?.map?["conversion"] == nil)
    }

    @Test("a link leads to a node or to a web address, and to nothing else")
    func links() throws {
        let link = try card("{ link: /home/lights, title: Lights }")
        #expect(link["kind"] == "link" && link["title"] == "Lights" && link["fault"] == nil)
        #expect(try card("{ value: x, link: 'https://example.org' }")["fault"] == nil)
        for bad in ["javascript:alert(1)", "//elsewhere", "lights"] {
            #expect(try card("{ value: x, link: '\(bad)' }")["fault"] != nil, "\(bad)")
        }
    }

    @Test("a card has the status of its node; of one around it, it can only be stale")
    func statuses() throws {
        let found = try board(
            """
            nodes:
              - id: m
                kind: container
                state: { status: ok }
                children: [{ id: core, state: { n: 1 } }, { id: own, state: { n: 1, status: ok } }]
            """)
        let byPath = Dictionary(uniqueKeysWithValues: cards(found).map { ($0["path"]?.string ?? "", $0["status"]) })
        #expect(byPath["/m/core.n"] == ["path": "/m.status", "isOwn": false])
        #expect(byPath["/m/own.n"] == ["path": "/m/own.status", "isOwn": true])
    }

    @Test("the answer names the attributes whose change may change the cards")
    func layout() throws {
        let graph = try Harness(
            BoardTests.panels + """
                nodes:
                  - id: home
                    kind: container
                    state: { isShown: false, title: Mine }
                    computed: { cards: 'subviews.filter(each, isShown).map(each, {"id": each.id, "panel": {"value": "x"}})' }
                    children: [{ id: v, state: { x: 1 } }]
                """)
        let before = try graph.map(.board(path: "/", panel: ValueMap()))
        #expect(before["layout"]?.list?.contains("/home.cards") == true && !paths(before).contains("/home/v.x"))
        try graph.set("/home.isShown", true)
        #expect(paths(try graph.map(.board(path: "/", panel: ValueMap()))).contains("/home/v.x"))
    }

    @Test(
        "a position is the place of a card in its section, and of a section in its board; the others keep their order")
    func positions() throws {
        let scene = """
            nodes:
              - id: b
                kind: container
                children:
                  - { id: v, state: { x: 1 }, containerValues: { panel: { value: x } } }
                  - { id: w, state: { x: 1 }, containerValues: { panel: { value: x }, panel.position: 1 } }
                  - { id: y, state: { x: 1 }, containerValues: { panel: { value: x } } }
                  - { id: z, state: { x: 1 }, containerValues: { panel: { value: x, position: 3 } } }
                  - { id: one, kind: container, children: [{ id: v, state: { x: 1 } }] }
                  - id: two
                    kind: container
                    containerValues: { panel: { position: 1 } }
                    children: [{ id: v, state: { x: 1 } }]

            """
        let found = try board(BoardTests.panels + scene)
        #expect(
            paths(found) == ["/b/w.x", "/b/v.x", "/b/z.x", "/b/y.x", "/b/two/v.x", "/b/one/v.x"])
        #expect(rows(found).map { $0["position"] } == [nil, 1, nil])
    }

    @Test("a card stands in the section that its panel names, if there is one")
    func sections() throws {
        let scene = """
            nodes:
              - id: b
                kind: container
                children:
                  - { id: v, state: { x: 1 }, containerValues: { panel: { value: x, section: /b/two, position: 1 } } }
                  - { id: w, state: { x: 1 }, containerValues: { panel: { value: x, section: /b/none } } }
                  - id: one
                    kind: container
                    children: [{ id: v, state: { x: 1 }, containerValues: { panel.cards.x.section: /b } }]
                  - { id: two, kind: container, children: [{ id: v, state: { x: 1 } }] }

            """
        let found = try board(BoardTests.panels + scene)
        #expect(paths(found) == ["/b/w.x", "/b/one/v.x", "/b/v.x", "/b/two/v.x"])
        #expect(rows(found).map { $0["key"] } == ["", "/b/two"])
    }

    @Test("cards of a panel says something of the cards that a view has without a panel, and keeps the others")
    func automaticCards() throws {
        let scene = """
            nodes:
              - id: b
                kind: container
                state: { own: 1 }
                children:
                  - id: v
                    state: { n: 1, m: 2, t: x }
                    containerValues:
                      panel.cards.n: { title: Number, kind: gauge, position: 1 }
                      panel.cards.t.hidden: true

            """
        let found = try board(BoardTests.panels + scene)
        #expect(paths(found) == ["/b/v.n", "/b.own", "/b/v.m"])
        #expect(cards(found).first?["title"] == "Number" && cards(found).first?["kind"] == "gauge")
        #expect(cards(found).map { $0["isAutomatic"] } == [true, nil, true])
    }

    @Test("the answer says what a layer at the board can change, if the client may define there and has panels")
    func editable() throws {
        let scene = """
            nodes:
              - id: b
                kind: container
                state: { own: 1, items: [1] }
                children:
                  - { id: v, state: { n: 1 }, containerValues: { panel: { value: n } } }
                  - { id: all, forEach: { in: $items, id: self, as: n, node: { kind: view, let: { x: =int(n) } } } }

            """
        func editable(_ right: AccessRight, _ scene: String) throws -> (Value?, [String]) {
            let graph = try Harness(scene)
            let rule = AccessRule(right, [.everyone], try PathPattern("/b/**"))
            graph.turn([.accessChanged(AccessRules([rule], owner: 7))])
            let found = try graph.map(.board(path: "/b", panel: ValueMap()))
            return (
                found["isEditable"],
                cards(found).filter { $0["isEditable"] == true }.compactMap { $0["path"]?.string }
            )
        }
        // The board's own node is not below the board, and no document reaches what a list makes.
        #expect(try editable(.define, BoardTests.panels + scene) == (true, ["/b/v.n"]))
        #expect(try editable(.write, BoardTests.panels + scene) == (nil, []))
        let plain = scene.replacing(", containerValues: { panel: { value: n } }", with: "")
        #expect(try editable(.define, plain) == (nil, []))
    }

    @Test("an extra card of a layer takes none of the automatic cards away")
    func added() throws {
        let graph = try Harness(
            BoardTests.panels
                + "nodes: [{ id: b, kind: container, state: { own: 1 }, children: [{ id: v, state: { n: 1 } }] }]\n")
        let node: Value = [
            "id": "new", "let": ["o": "$/b.own"],
            "containerValues": ["panel": ["value": "o", "position": 1, "extra": true]],
        ]
        var apply = Request.Apply(
            document: ["agd": 1, "nodes": [node]], at: "/b", mode: .merge, dryRun: false, options: .init())
        apply.layer = "board"
        try graph.succeed(.apply(apply))
        let found = try graph.map(.board(path: "/b", panel: ValueMap()))
        #expect(paths(found) == ["/b/new.o", "/b.own", "/b/v.n"])
    }

    @Test("an attribute has one card, with the panel that is given")
    func single() throws {
        let graph = try Harness("nodes: [{ id: lamp, state: { level: 5.0, status: warn } }]\n")
        let plain = try graph.map(.board(path: "/lamp.level", panel: ValueMap()))
        #expect(plain["kind"] == "sparkline" && plain["title"] == "Level")
        #expect(plain["status"] == ["path": "/lamp.status", "isOwn": true])
        let given = try graph.map(
            .board(path: "/lamp.level", panel: ValueMap([("kind", "slider"), ("title", "Mine")])))
        #expect(given["kind"] == "slider" && given["title"] == "Mine")
        #expect(refusal { try graph.succeed(.board(path: "/lamp.no", panel: ValueMap())) }?.code == .notFound)
    }

    @Test("a board has at most 500 cards, and says how many it leaves out; a tree that is too large is refused")
    func limits() throws {
        let graph = try Harness(
            "nodes: [{ id: m, kind: container, state: { items: [] }, children: [{ id: all, forEach: { in: $items, id: self, as: n, node: { kind: view, let: { x: =int(n) } } } }] }]\n"
        )
        func fill(_ count: Int) throws {
            try graph.set("/m.items", .list(ValueList((0..<count).map { .int(Int64($0)) })))
            graph.settle()
        }
        for count in stride(from: 1000, through: 9000, by: 1000) { try fill(count) }
        let found = try graph.map(.board(path: "/m", panel: ValueMap()))
        #expect(cards(found).count == 500 && (found["omitted"]?.number ?? 0) >= 8_500)
        for count in stride(from: 10_000, through: 21_000, by: 1000) { try fill(count) }
        #expect(refusal { try graph.succeed(.board(path: "/m", panel: ValueMap())) }?.code == .limit)
    }
}
