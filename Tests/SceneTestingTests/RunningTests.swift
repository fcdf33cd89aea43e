import AttributeValues
import SceneModel
import SceneTesting
import TestSupport
import Testing

/// Tests of scenes, as people write them, over files that are texts here.
@Suite("Tests of scenes")
struct RunningTests {
    private static let scene = """
        agd: 1
        components:
          Row: { let: [item], state: { isOpen: false }, computed: { label: string(item.id) } }
        nodes:
          - id: door
            state: { isOpen: false, opened: 0, angle: 0.0, items: { initial: [{ id: a }, { id: b }], type: list } }
            computed: { isAlarm: "held(isOpen, duration('5m'))", twice: opened * 2, half: opened / 2, turned: angle * 2.0 }
            clock: { now: every 1s }
            onChange: { of: isOpen, perform: { add: { $opened: '=newValue ? 1 : 0' } } }
            actions: { open: { parameters: { wide: { default: true } }, set: { $isOpen: =wide } } }
            animation: { curve: "linear(duration: 1)", value: =angle }
            children: [{ id: rows, forEach: { in: $items, as: item, component: Row, let: { item: $item } } }]

        """

    /// What the tests of a file have shown: nothing for those that pass.
    private func run(_ tests: String, scene: String = RunningTests.scene, given: String = "{ scene: door.yaml }") throws
        -> [[SceneTestRun.Mismatch]]
    {
        let text = "given: \(given)\ntests:\n" + tests.split(separator: "\n").map { "  " + $0 + "\n" }.joined()
        let file = try SceneTestReader.read(text: text, path: "dir/door.test.yaml")
        let run = try SceneTestRun(file) {
            switch $0 {
            case "dir/door.yaml": return scene
            case "dir/more.yaml": return "agd: 1\nnodes: [{ id: more, state: { x: 1 } }]"
            case "dir/other.yaml": return scene.replacing("duration('5m')", with: "duration('1m')")
            default: throw Trouble("no file \($0)")
            }
        }
        return file.tests.map(run.run)
    }

    private func expectPass(
        _ tests: String, given: String = "{ scene: door.yaml }", _ location: SourceLocation = #_sourceLocation
    ) throws {
        for mismatch in try run(tests, given: given).flatMap(\.self) {
            Issue.record(
                "\(mismatch.position.line): \(mismatch.message), expected \(mismatch.expected ?? ""), seen \(mismatch.seen ?? "")",
                sourceLocation: location)
        }
    }

    /// The only fault of a single test.
    private func mismatch(_ steps: String) throws -> SceneTestRun.Mismatch {
        let found = try run("fails:\n" + steps.split(separator: "\n").map { "  " + $0 + "\n" }.joined())
        #expect(found.count == 1 && found[0].count == 1)
        return try #require(found.first?.first)
    }

    @Test("five minutes pass at once, and nothing is early") func advancing() throws {
        try expectPass(
            """
            rings:
              - set: { /door.isOpen: true }
              - { advance: 4m59s, expect: { /door.isAlarm: false }, unchanged: /door.isAlarm }
              - { advance: 1s, expect: { /door.isAlarm: true }, changed: /door.isAlarm }
            """)
    }

    @Test("each test begins anew") func independence() throws {
        try expectPass(
            """
            one: [{ set: { /door.opened: 7 }, expect: { /door.twice: 14 } }]
            two: [{ expect: { /door.twice: 0 } }]
            """)
    }

    @Test("all operations and actions are steps") func steps() throws {
        try expectPass(
            """
            all:
              - { set: { /door.opened: 1 }, add: { /door.opened: 2 }, expect: { /door.opened: 3 } }
              - { toggle: /door.isOpen, expect: { /door.isOpen: true, /door.opened: 4 } }
              - { append: { /door.items: { id: c } }, children: { /door/rows: [a, b, c] } }
              - { insert: { '/door.items[0]': { id: z } }, children: { /door/rows: [z, a, b, c] } }
              - { remove: '/door.items[id="a"]', children: { /door/rows: [z, b, c] } }
              - { do: /door.open, expect: { /door.isOpen: true }, unchanged: others }
              - { do: { /door.open: { wide: false } }, expect: { /door.isOpen: false } }
              - transact: [{ test: { /door.isOpen: false } }, { set: { /door.isOpen: true } }, { add: { /door.opened: 10 } }]
                expect: { /door.opened: 15 }
              - apply: { nodes: [{ id: new, state: { x: 1.5 } }] }
                expect: { /new.x: 1.5, /door.opened: 15 }
              - { apply: { document: more.yaml, at: /door }, expect: { /door/more.x: 1 } }
            """)
    }

    @Test("a restart retains states and what was held, and the downtime counts") func restarting() throws {
        try expectPass(
            """
            goes on:
              - set: { /door.isOpen: true, /door/rows/b.isOpen: true }
              - { restart: 2m, expect: { /door.isOpen: true, /door/rows/b.isOpen: true, /door.isAlarm: false } }
              - { advance: 5m, expect: { /door.isAlarm: true } }
              - restart
              - { restart: { after: 1s, scene: other.yaml }, expect: { /door.opened: 1 }, unchanged: /door.opened }
            """)
    }

    @Test("a displayed value is that of the moment") func motion() throws {
        try expectPass(
            """
            moves:
              - { set: { /door.angle: 1 }, expect: { /door.turned: 2 }, shown: { /door.turned: 0 } }
              - { advance: 0.25s, shown: { /door.turned: 0.5 } }
              - { advance: 0.75s, shown: { /door.turned: 2 } }
            """)
    }

    @Test("rules that ran are known, and rules that did not") func runs() throws {
        try expectPass(
            """
            runs:
              - { set: { /door.opened: 4 }, ran: [/door.twice, /door.half], idle: [/door.isAlarm, /door/**.label] }
              - { set: { /door.opened: 4 }, idle: others, unchanged: others }
            """, given: "{ scene: door.yaml, watch: [/door.twice, /door.half, /door.isAlarm, /door/rows/*.label] }")
    }

    @Test("rules give values and expectations, and see the time") func rules() throws {
        try expectPass(
            """
            rules:
              - { set: { /door.opened: =2 + 3 }, expect: { /door.opened: =value > 4 && value < 6 } }
              - { advance: 1h, expect: { /door.now: "2026-03-01T10:00:00Z", /door.opened: "=now == timestamp('2026-03-01T10:00:00Z')" } }
            """, given: "{ scene: door.yaml, time: 2026-03-01T09:00:00Z }")
    }

    @Test("a refusal can be expected") func refusals() throws {
        try expectPass("refused: [{ set: { /door.isAlarm: true }, refused: readOnly, unchanged: others }]")
        let other = try mismatch("- { set: { /door.opened: text }, refused: readOnly }")
        #expect(other.expected == "readOnly" && other.seen == "typeMismatch")
        #expect(try mismatch("- { set: { /door.opened: 1 }, refused: readOnly }").message == "the step is not refused")
        let refused = try mismatch("- set: { /door.openned: 1 }")
        #expect(refused.hint?.contains("opened") == true, "\(refused)")
    }

    @Test("a mismatch names its place, both values, and why the attribute has its value") func mismatches() throws {
        let found = try mismatch(
            """
            - set: { /door.isOpen: true }
            - expect: { /door.twice: 3 }
            """)
        #expect(found.expected == "3" && found.seen == "2")
        #expect(found.position.line == 5 && found.position.column == 30)
        let told = Dictionary(uniqueKeysWithValues: found.explanation.map { ($0.name, $0.value) })
        #expect(told["rule"] == "opened * 2")
        #expect(told["reads"] == ["/door.opened": 1])
        #expect(told["changed"]?.map?["action"] == "/door.onChange")
    }

    @Test("whatever is expected can fail") func failing() throws {
        for (step, message) in [
            ("{ expect: { /door.isOpen: true } }", "/door.isOpen has another value"),
            ("{ expect: { /door.nothing: true } }", "/door.nothing has another value"),
            ("{ expect: { /door.opened: =value > 1 } }", "/door.opened has another value"),
            ("{ expect: { /door.opened: =value } }", "the rule 'value' gives 0, not a bool"),
            ("{ expect: { /door.opened: { $error: stale } } }", "/door.opened has another value"),
            ("{ shown: { /door.twice: 1 } }", "/door.twice has another displayed value"),
            ("{ set: { /door.opened: 1 }, changed: /door.isAlarm }", "/door.isAlarm did not change"),
            ("{ set: { /door.opened: 1 }, unchanged: /door.twice }", "/door.twice changed"),
            ("{ set: { /door.opened: 1 }, changed: /door.opened, unchanged: others }", "/door.twice changed, too"),
            ("{ set: { /door.opened: 1 }, ran: /door.isAlarm }", "/door.isAlarm did not run"),
            ("{ set: { /door.opened: 1 }, idle: /door.twice }", "/door.twice ran"),
            ("{ set: { /door.opened: 1 }, ran: /door.half, idle: others }", "/door.twice ran, too"),
            ("{ children: { /door/rows: [b, a] } }", "/door/rows has other children"),
            ("{ children: { /door/shelves: [] } }", "there is no node /door/shelves"),
        ] { #expect(try mismatch("- " + step).message == message) }
    }

    @Test("a fault in a test file names its line and column, and says what to do") func faults() throws {
        let cases: [(String, String?, String, String?)] = [
            ("tests: { a: [{ set: { /door.x: 1 } }] }\ngven: {}", "2:1", "a test file has no key 'gven'", "given"),
            ("tests: { a: [{ sett: { /door.x: 1 } }] }", "1:16", "a step has no key 'sett'", "set"),
            ("tests: { a: [{ set: { /door: 1 } }] }", "1:23", "'/door' names no attribute", "/door.name"),
            ("tests: { a: [{ advance: 5 }] }", "1:25", "a time is written as 90s, 5m or 1d, not the int 5", nil),
            ("tests: { a: [{ advance: 5m, do: /a.b }] }", "1:29", "a step does one thing", "two steps"),
            ("tests: { a: { set: 1 } }", "1:13", "a test is a list", "'-'"),
            ("tests: { a: [] }", "1:10", "the test has no steps", nil),
            ("given: { scene: a.yaml }", "1:1", "the file has no tests", "tests:"),
            ("tests: { a: [{ expect: { /a.b: { $error: stael } } }] }", "1:42", "there is no error", "stale"),
            ("tests: { a: [{ insert: { /a.b: 1 } }] }", "1:32", "insert takes the element", "/a.b[0]"),
            ("tests: { a: [{ changed: /a.b.c, set: { /a.b: 1 } }] }", "1:25", "names a part of a value", "attribute"),
            ("tests: { a: [{ expect: { /a.b: 1 }, refused: denied }] }", "1:46", "nothing is refused", nil),
            ("given: { time: noon }\ntests: { a: [restart] }", "1:16", "time is a timestamp", "2026"),
            ("tests: {", nil, "not YAML", nil),
        ]
        for (text, place, message, hint) in cases {
            do throws(SceneFaults) {
                _ = try SceneTestReader.read(text: text, path: "door.test.yaml")
                Issue.record("no fault: \(text)")
            } catch {
                let fault = error.faults[0]
                if let place {
                    #expect("\(fault.position.line):\(fault.position.column)" == place, "\(text): \(error)")
                }
                #expect(fault.message.contains(message), "\(text): \(error)")
                if let hint { #expect(fault.hint?.contains(hint) == true, "\(text): \(error)") }
            }
        }
        #expect(throws: SceneFaults.self) { try SceneTestReader.read(text: "tests: { a: [restart] }", path: "x.yaml") }
    }

    @Test("a scene with a fault is not tested, and its fault is told") func faultyScene() throws {
        let failure = #expect(throws: Failure.self) {
            try run("a: [restart]", scene: "nodes: [{ id: x, komputed: {} }]")
        }
        #expect(failure?.message.contains("komputed") == true)
    }

    @Test("a thousand steps take little time, counted in turns of the daemon") func speed() throws {
        let steps = (0..<1000).map { "  - { add: { /door.opened: 1 }, expect: { /door.opened: \($0 + 1) } }\n" }
            .joined()
        try expectPass("counts:\n" + steps)
    }

    @Test("the report is TAP, and shows what is wrong as YAML") func report() throws {
        let text = """
            given: { scene: door.yaml }
            tests:
              passes: [{ expect: { /door.opened: 0 } }]
              "fails #1": [{ expect: { /door.opened: 1 } }]
            """
        let file = try SceneTestReader.read(text: text, path: "door.test.yaml")
        var told = ""
        var report = TestReport { told += $0 }
        report.run(try SceneTestRun(file) { _ in RunningTests.scene })
        report.end()
        #expect(report.failed == 1)
        #expect(
            told == """
                TAP version 14
                # door.test.yaml
                ok 1 - passes
                not ok 2 - fails \\#1
                  ---
                  failures:
                    - at: door.test.yaml:4:42
                      message: "/door.opened has another value"
                      expected: 1
                      seen: 0
                      explain:
                        kind: "state"
                        changed: {"revision":1,"time":"2026-01-01T00:00:00Z","label":"door.yaml"}
                  ...
                1..2

                """)
    }
}
