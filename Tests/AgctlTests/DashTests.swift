import AttributeValues
import Testing
import WireProtocol
@testable import agctl

@Suite("Boards in a terminal")
struct DashTests {
    @Test("keys are read from their sequences, also in parts, and unknown ones are skipped")
    func keys() {
        var bytes = Array("q\u{1b}[A\u{1b}OB\u{1b}[5~\u{1b}[1;5Cé\r\u{1b}[".utf8)
        var keys = Keyboard.keys(&bytes)
        #expect(keys == [.character("q"), .up, .down, .pageUp, .enter])
        bytes += Array("D".utf8)
        keys = Keyboard.keys(&bytes)
        #expect(keys == [.left] && bytes.isEmpty)
        bytes = [0x1b]
        keys = Keyboard.keys(&bytes)
        #expect(keys.isEmpty)
        bytes += Array("q".utf8)
        keys = Keyboard.keys(&bytes)
        #expect(keys == [.character("q")])
    }

    @Test(
        "numbers are written as on the page",
        arguments: [
            (21.37, [:], "21.4"), (0.5, ["format": "percent"], "50 %"),
            (1_530_000, ["format": "bytes", "unit": "/s"], "1.53 MB/s"),
            (3725, ["format": "duration"], "1 h 2 min"), (-4.0, ["unit": "°C"], "−4 °C"), (2_500_000, [:], "2.5 M"),
            (21, ["decimals": "1"], "21.0"), (.infinity, [:], "∞"),
            (0.0123, [:], "0.012"), (0.00456, [:], "0.0046"), (-1.234e-7, [:], "−1.23e−07"), (1e300, [:], "1e+300"),
            (0.5004, [:], "0.5"),
        ] as [(Double, [String: String], String)])
    func numbers(_ number: Double, _ members: [String: String], _ text: String) {
        let panel = ValueMap(members.map { (.string($0.key), Int64($0.value).map { .int($0) } ?? .string($0.value)) })
        #expect(DashText.formatNumber(number, panel) == text)
    }

    @Test(
        "ids become words",
        arguments: [("busiestCore", "Busiest core"), ("ok", "OK"), ("sda1", "Sda1"), ("10.0", "10.0")])
    func words(_ id: String, _ text: String) { #expect(DashText.spellOut(id) == text) }

    private func update(_ path: String, _ value: Value) -> Event {
        .update(
            revision: 1, from: nil, label: nil, isInitial: false, changes: [Change(path: path, content: .value(value))],
            typed: false)
    }

    @Test("a line shows the past in steps, with its extremes, and gaps where nothing is known")
    func past() {
        var past = DashValues.Past(window: 240)
        past.add(1, at: 1000)
        past.add(9, at: 1002.5)
        past.add(2, at: 1002.6)
        past.fill(to: 1010)
        let columns = past.rangesByColumn(240)
        #expect(columns.dropLast(11).allSatisfy { $0 == nil })
        #expect(columns[229] == 1...1 && columns[231] == 1...9 && columns[239] == 2...2)
        past.interrupt()
        past.fill(to: 1020)
        #expect(past.rangesByColumn(240)[239] == nil)
        // A long time in which nothing changes takes no more memory.
        for hour in 1...50 { past.add(Double(hour), at: 1020 + Double(hour) * 3600) }
        #expect(past.ranges.count <= DashValues.Past.steps * 3)
    }

    @Test("a card without a panel suits its attribute, and is drawn within its width")
    func drawing() throws {
        var values = DashValues()
        _ = values.take(update("/a.x", 5.25), at: 10)
        let described: Value = [
            "id": "a", "path": "/a", "kind": "view", "attributes": ["x": ["kind": "state", "type": "double"]],
        ]
        let board = DashBoard(try #require(DashNode.tree(described)), subviews: [:], values: values.contents)
        let lines = DashPicture(board, values, chosen: nil, columns: 30, Style(isOn: false), at: 10).lines
        #expect(lines.prefix(2) == ["│ A                           ", "│ 5.25                        "])
    }

    @Test("a view is drawn where it stands, and one that stands nowhere is not")
    func places() throws {
        func view(_ id: String) -> Value {
            [
                "id": .string(id), "path": .string("/s/\(id)"), "kind": "view",
                "attributes": ["x": ["kind": "state", "type": "int"]],
            ]
        }
        var hidden = try #require(view("c").map)
        hidden["isUnshown"] = true
        let described: Value = [
            "id": "s", "path": "/s", "kind": "container", "component": "Shelf", "shown": ["/s/body"],
            "children": [
                ["id": "body", "path": "/s/body", "kind": "container", "children": [], "shown": ["/s/b", "/s/a"]],
                view("a"), view("b"), .map(hidden),
            ],
        ]
        let tree = try #require(DashNode.tree(described))
        #expect(DashBoard.containers(tree) == ["/s/body"])
        let subviews: ValueList = [["id": "../b"], ["id": "../a"]]
        let board = DashBoard(tree, subviews: ["/s/body": subviews], values: [:])
        #expect(board.rows.flatMap(\.cards).map(\.path) == ["/s/b.x", "/s/a.x"])
    }

    @Test("several boards have their own rows, with both names")
    func several() throws {
        func view(_ path: String, _ kind: String = "view", _ children: Value...) -> Value {
            [
                "id": .string(String(path.split(separator: "/").last ?? "")), "path": .string(path),
                "kind": .string(kind),
                "attributes": ["n": ["kind": "state", "type": "int"]], "children": .list(ValueList(children)),
            ]
        }
        func board(_ path: String) -> Value {
            view(path, "container", view("\(path)/x", "container", view("\(path)/x/v")), view("\(path)/loose"))
        }
        let described: Value = [
            "id": "", "path": "/", "kind": "container", "children": [board("/one"), board("/two")],
        ]
        let all = DashBoard(try #require(DashNode.tree(described)), subviews: [:], values: [:])
        #expect(all.rows.map(\.title) == ["One", "One · X", "Two", "Two · X"])
        let alone = DashBoard(try #require(DashNode.tree(board("/one"))), subviews: [:], values: [:])
        #expect(alone.rows.map(\.title) == [nil, "X"])
    }

    @Test("each of several values has a card, and a timeline is its present state")
    func values() throws {
        let described: Value = [
            "id": "s", "path": "/s", "kind": "container",
            "children": [
                [
                    "id": "p", "path": "/s/p", "kind": "group",
                    "children": [["id": "c", "path": "/s/p/c", "kind": "view"]],
                    "attributes": [
                        "solar": ["kind": "state", "type": "double"], "isOn": ["kind": "state", "type": "bool"],
                    ],
                ]
            ],
        ]
        func cards(_ panel: Value) throws -> [DashCard] {
            let subviews: ValueList = [["id": "p", "containerValues": ["panel": panel]]]
            let tree = try #require(DashNode.tree(described))
            return DashBoard(tree, subviews: ["/s": subviews], values: [:]).rows.flatMap(\.cards)
        }
        let both = try cards([
            "title": "House", "kind": "timeline", "values": ["isOn", ["value": "solar", "title": "Roof"], "nothing"],
        ])
        #expect(both.map(\.title) == ["House: Is on", "House: Roof", "House"])
        #expect(both.map(\.kind) == [.value, .value, .value])
        #expect(both.map(\.fault) == [nil, nil, "/s/p has no attribute nothing"])
        // What is no list of names counts as no list.
        #expect(try cards(["values": 5]).map(\.path) == ["/s/p.solar", "/s/p.isOn"])
    }

    @Test("thresholds give a status, also for values that must not fall")
    func thresholds() {
        var card = DashCard(path: "/a.x", kind: .bar, panel: ValueMap([("warn", 75), ("critical", 90)]), title: "")
        #expect([50, 75, 95].map { card.status(of: $0) } == ["ok", "warn", "critical"])
        card.panel = ValueMap([("warn", 20), ("critical", 10)])
        #expect([50, 15, 5].map { card.status(of: $0) } == ["ok", "warn", "critical"])
        card.panel = ValueMap()
        #expect(card.status(of: 5) == nil)
    }

    @Test("a text is scrolled to its ends and no further")
    func scroll() {
        var scroll = Scroll()
        let lines = Array(0..<10)
        func clip(_ room: Int) -> [Int] { Array(scroll.clip(lines, room: room)) }
        #expect(clip(4) == [0, 1, 2, 3])
        _ = scroll.move(.end, page: 4)
        #expect(clip(4) == [6, 7, 8, 9])
        _ = scroll.move(.pageUp, page: 4)
        #expect(clip(4).first == 2)
        scroll.show(8..<10, room: 4)
        #expect(scroll.offset == 6)
        #expect(clip(20) == lines)
    }
}
