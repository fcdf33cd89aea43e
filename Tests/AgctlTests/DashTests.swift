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
