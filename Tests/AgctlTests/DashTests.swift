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
        arguments: [
            ("busiestCore", "Busiest core"), ("ok", "OK"), ("sda1", "Sda1"), ("10.0", "10.0"), ("cpu0", "CPU0"),
            ("ioWait", "IO wait"), ("a\u{1b}b", "a\\u001bb"),
        ])
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

    @Test("a card is drawn within its width")
    func drawing() {
        var values = DashValues()
        _ = values.take(update("/a.x", 5.25), at: 10)
        let board = DashBoard([
            "rows": [["cards": [["path": "/a.x", "kind": "value", "title": "A"]]]]
        ])
        let lines = DashPicture(board, values, chosen: nil, columns: 30, Style(isOn: false), at: 10).lines
        #expect(lines.prefix(2) == ["│ A                           ", "│ 5.25                        "])
    }

    @Test("thresholds give a status, also for values that must not fall")
    func thresholds() {
        func card(_ limit: String, _ warn: Value, _ critical: Value) -> DashCard {
            let levels = [("warn", warn), ("critical", critical)].map { name, number -> Value in
                .map(ValueMap([("status", .string(name)), (.string(limit), number)]))
            }
            return DashCard(ValueMap([("levels", .list(ValueList(levels)))]))
        }
        #expect([50, 75, 95].map { card("from", 75, 90).status(of: $0) } == ["ok", "warn", "critical"])
        #expect([50, 15, 5].map { card("to", 20, 10).status(of: $0) } == ["ok", "warn", "critical"])
        #expect(DashCard(ValueMap()).status(of: 5) == nil)
    }

    @Test("each of several values has a card, and a timeline is its present state")
    func values() {
        let board = DashBoard([
            "rows": [
                [
                    "cards": [
                        [
                            "path": "/s.isOn", "kind": "timeline", "title": "House",
                            "series": [["path": "/s.isOn", "title": "Is on"], ["path": "/s.solar", "title": "Roof"]],
                        ],
                        ["path": "/s.x", "kind": "chart", "title": "X"],
                    ]
                ]
            ]
        ])
        let cards = board.rows.flatMap(\.cards)
        #expect(cards.map(\.title) == ["House: Is on", "House: Roof", "X"])
        #expect(cards.map(\.path) == ["/s.isOn", "/s.solar", "/s.x"])
        #expect(cards.map(\.kind) == [.value, .value, .chart])
    }

    private func picture(_ card: Value, _ known: [(String, Value)]) -> [String] {
        var values = DashValues()
        for (path, value) in known { _ = values.take(update(path, value), at: 10) }
        let board = DashBoard(["rows": [["cards": [card]]]])
        let lines = DashPicture(board, values, chosen: nil, columns: 40, Style(isOn: false), at: 10).lines
        return lines.dropLast().map { String($0.dropFirst(2)).trimmingSpaces }
    }

    @Test("a light has its level, a thermostat what it measures, in the units of the board")
    func tiles() {
        let light: Value = [
            "path": "/l.isOn", "kind": "light", "title": "Lamp", "parts": ["level": ["path": "/l.level"]],
        ]
        let drawn = picture(light, [("/l.isOn", true), ("/l.level", 50)])
        #expect(drawn.first == "Lamp" && drawn[1] == "━● On" && drawn[2].hasPrefix("━━━━━━━━━"))
        let heat: Value = [
            "path": "/h.target", "kind": "thermostat", "title": "Heat",
            "panel": ["unit": "°F", "conversion": ["factor": 1.8, "offset": 32]],
            "parts": ["current": ["path": "/h.now"], "active": ["path": "/h.isActive"]],
        ]
        let shown = picture(heat, [("/h.target", 20), ("/h.now", 19.5), ("/h.isActive", true)])
        #expect(shown == ["Heat", "− 68 °F +", "now 67.1 °F · active"])
        #expect(DashCard(heat.map ?? ValueMap()).stepped?.step == 0.5)
        #expect(DashCard(light.map ?? ValueMap()).stepped?.path == "/l.level")
    }

    @Test("a text in Markdown is read with the values that it names")
    func markdown() {
        let card: Value = [
            "path": "/n", "kind": "markdown", "title": "Note",
            "panel": [
                "text": "# Now **{x}**\n\n- one `two`\n- [three](https://example.org)\n\n> \\{x} {y}",
                "formats": ["x": ["unit": "kW"]],
            ],
            "parts": ["x": ["path": "/n.x"], "y": ["path": "/n.plan.y"]],
        ]
        let drawn = picture(card, [("/n.x", 2.5), ("/n.plan", ["y": 7])])
        #expect(drawn == ["Note", "Now 2.5 kW", "", "• one two", "• three (https://example.org)", "", "│ {x} 7"])
    }

    @Test("a table is sorted, and marks what its thresholds tell")
    func columns() {
        let card: Value = [
            "path": "/t.rows", "kind": "table", "title": "Disks", "sort": ["column": "used", "isDescending": true],
            "panel": [
                "formats": [
                    "used": ["format": "percent", "levels": [["from": 0.9, "status": "critical"]]],
                    "state": ["colours": ["failed": "warn"]],
                ]
            ],
        ]
        let rows: Value = [
            ["id": "a", "used": 0.5, "state": "ok"], ["id": "b", "used": .null, "state": "failed"],
            ["id": "c", "used": 0.95, "state": "ok"],
        ]
        let drawn = picture(card, [("/t.rows", rows)])
        #expect(drawn[2].hasPrefix("c") && drawn[2].contains("◆ 95 %"))
        #expect(drawn[3].hasPrefix("a") && drawn[4].hasPrefix("b") && drawn[4].contains("▲ failed"))
    }

    @Test("lines of a log have their time and level")
    func log() {
        let card: Value = ["path": "/l.lines", "kind": "log", "title": "Log"]
        let drawn = picture(card, [("/l.lines", [["time": "06:12", "level": "error", "text": "disk"], "plain"])])
        #expect(drawn == ["Log", "06:12  error  disk", "plain"])
    }

    @Test("a place inside a value is found below quoted ids")
    func places() {
        var values = DashValues()
        _ = values.take(update(#"/hosts/"web.01".disks"#, [["id": "a.b", "used": 5]]), at: 1)
        let card = DashCard(ValueMap([("path", .string(#"/hosts/"web.01".disks[id="a.b"].used"#))]))
        #expect(values.content(of: card)?.value == 5)
    }

    @Test("a text is scrolled to its ends and no further")
    func scroll() {
        var scroll = Scroll()
        let lines = Array(0..<10)
        func clip(_ space: Int) -> [Int] { Array(scroll.clip(lines, space: space)) }
        #expect(clip(4) == [0, 1, 2, 3])
        _ = scroll.move(.end, page: 4)
        #expect(clip(4) == [6, 7, 8, 9])
        _ = scroll.move(.pageUp, page: 4)
        #expect(clip(4).first == 2)
        scroll.show(8..<10, space: 4)
        #expect(scroll.offset == 6)
        #expect(clip(20) == lines)
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
