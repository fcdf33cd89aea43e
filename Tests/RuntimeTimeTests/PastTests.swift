import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness
@testable import ViewGraph

@Suite("Operators over time")
struct TimeOperatorTests {
    static let host = """
        nodes:
          - id: host
            state: { load: 1, limit: 5, on: false, count: { initial: null, type: int? } }
            computed:
              isHot: load > limit
              before: previous(load)
              since: changed(load)
              alarm: held(isHot, duration('5m'))
              mean: average(load, duration('1m'))
              high: greatest(load, duration('1m'))
              speed: rate(count, duration('10s'))
              calm: debounced(load, duration('2s'))
        """

    private func time(_ seconds: Int64) -> Content {
        .value(.timestamp(Timestamp.epoch.advanced(by: TimeSpan(nanoseconds: seconds * 1_000_000_000)) ?? .epoch))
    }

    @Test("previous and changed tell of the last change") func last() throws {
        let graph = try Harness(TimeOperatorTests.host)
        #expect(try graph.get("/host.before") == .value(1))
        #expect(try graph.get("/host.since") == time(0))
        graph.advance(7)
        try graph.set("/host.load", 3)
        graph.advance(2)
        try graph.set("/host.load", 3)
        #expect(try graph.get("/host.before") == .value(1))
        #expect(try graph.get("/host.since") == time(7))
        try graph.set("/host.load", 4)
        #expect(try graph.get("/host.before") == .value(3))
        #expect(try graph.get("/host.since") == time(9))
    }

    @Test("held becomes true at its moment, in a transaction of its own, and only then anything runs")
    func held() throws {
        let graph = try Harness(TimeOperatorTests.host)
        try graph.subscribe(["/host.alarm"], initial: true)
        try graph.set("/host.load", 9)
        #expect(graph.changes == [:])
        _ = graph.runs()
        let wait = try #require(graph.runtime.nextDeadline) - graph.now.monotonic
        #expect(wait > 0)
        graph.advance(299)
        #expect(graph.changes == [:])
        graph.advance(1)
        #expect(graph.changes == ["/host.alarm": .value(true)])
        // Another write of a hot load changes nothing of the condition.
        _ = graph.runs()
        try graph.set("/host.load", 10)
        #expect(!graph.runs().contains("/host.alarm"))
        try graph.set("/host.load", 2)
        #expect(graph.changes == ["/host.alarm": .value(false)])
    }

    @Test("an operator watches its operand although nobody watches the rule") func unwatched() throws {
        let graph = try Harness(TimeOperatorTests.host)
        try graph.set("/host.load", 50)
        graph.advance(1)
        try graph.set("/host.load", 2)
        graph.advance(30)
        #expect(try graph.get("/host.high") == .value(50))
        graph.advance(31)
        #expect(try graph.get("/host.high") == .value(2))
    }

    @Test("an average steps with its buckets and rests when the window is constant") func average() throws {
        let graph = try Harness(
            """
            nodes:
              - { id: n, state: { x: 0 }, computed: { mean: "average(x, duration('1m'))" } }
            """)
        try graph.subscribe(["/n.mean"], initial: true)
        graph.advance(60)
        #expect(graph.runtime.nextDeadline == nil)
        try graph.set("/n.x", 60)
        _ = graph.runs()
        for second in 1...60 {
            #expect(graph.runtime.nextDeadline == graph.now.monotonic + 1)
            graph.advance(1)
            #expect(graph.changes["/n.mean"] == .value(.double(Double(second))))
        }
        #expect(graph.runtime.nextDeadline == nil)
        #expect(graph.runs() == Array(repeating: "/n.mean", count: 60))
    }

    @Test("a transaction that is refused leaves nothing in the past") func rollBack() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { x: 1, y: 1 }
                computed: { before: previous(x), double: x * 2, beforeDouble: previous(double) }
            """)
        try graph.subscribe(["/n.**"], initial: true)
        #expect(
            refusal {
                try graph.transact([
                    Mutation(operation: .set, path: "/n.x", value: 7),
                    Mutation(operation: .toggle, path: "/n.y", value: .null),
                ])
            } != nil)
        try graph.set("/n.x", 2)
        #expect(try graph.get("/n.before") == .value(1))
        #expect(try graph.get("/n.beforeDouble") == .value(2))
    }

    @Test("a rule over a value and an operator over another rule sees both of one moment") func consistent() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { x: 1 }
                computed: { before: previous(x), both: x * 100 + before, last: previous(both) }
            """)
        try graph.subscribe(["/n.both", "/n.last"], initial: true)
        try graph.set("/n.x", 2)
        #expect(graph.changes == ["/n.both": .value(201)])
        try graph.set("/n.x", 3)
        // Never 301 or 202, of which half is old.
        #expect(graph.changes == ["/n.both": .value(302), "/n.last": .value(201)])
    }

    @Test("an operator over a rule that reads it is a cycle that is told") func cycle() throws {
        let graph = try Harness(
            "nodes: [{ id: n, state: { x: 1 }, computed: { a: \"x + previous(a)\" } }]\n")
        #expect(try graph.get("/n.a").failure?.code == .cycle)
    }

    @Test("rules share an operator, and it goes with the last of them") func shared() throws {
        let graph = try Harness(
            """
            nodes:
              - id: top
                state: { x: 1 }
                children:
                  - { id: a, let: { x: $x }, computed: { m: "average(x, duration('1m'))" } }
                  - { id: b, let: { x: $x }, computed: { m: "average(x, duration('1m')) + 0.0" } }
                  - { id: c, let: { x: $x }, computed: { m: "average(x, duration('2m'))" } }
            """)
        #expect(graph.runtime.graph.timedValues.count == 2)
        for id in ["a", "b", "c"] { try graph.succeed(.remove(path: "/top/\(id)", TransactionOptions())) }
        graph.settle()
        graph.turn([])
        #expect(graph.runtime.graph.timedValues.isEmpty)
        #expect(graph.runtime.nextDeadline == nil)
    }

    @Test("an operand's error is the result, and adds nothing to the past") func failing() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { x: 1 }
                computed: { y: 10 / x, before: previous(y) }
            """)
        try graph.set("/n.x", 0)
        #expect(try graph.get("/n.before").failure != nil)
        try graph.set("/n.x", 2)
        #expect(try graph.get("/n.before") == .value(10))
    }

    @Test("a value that is no number is told where its type is not known") func notANumber() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { x: { initial: 1, type: dyn } }
                computed: { m: "average(x, duration('1m'))" }
            """)
        #expect(try graph.get("/n.m") == .value(1.0))
        try graph.set("/n.x", "much")
        #expect(
            try graph.get("/n.m").failure?.message == "average() takes a number, not a value of type 'string'")
    }

    @Test("a clock that is set back shortens nothing and repeats nothing") func setBack() throws {
        let graph = try Harness(TimeOperatorTests.host)
        try graph.subscribe(["/host.alarm"], initial: true)
        graph.advance(1000)
        try graph.set("/host.load", 9)
        graph.advance(100)
        graph.setBack(600)
        graph.turn([.woken])
        graph.advance(199)
        #expect(graph.changes == [:])
        graph.advance(1)
        #expect(graph.changes == ["/host.alarm": .value(true)])
    }

    @Test("more operators than the limit have an error that names it") func limit() throws {
        var limits = RuntimeLimits()
        limits.graph.timedValues = 1
        let graph = try Harness(
            "nodes: [{ id: n, state: { x: 1 }, computed: { a: previous(x), b: changed(x) } }]\n", limits: limits)
        #expect(try graph.get("/n.a") == .value(1))
        #expect(
            try graph.get("/n.b").failure?.message == "there are 1 operators over time already (time-operators)")
    }

    // MARK: History

    private func history(_ path: String, _ graph: Harness, from client: UInt64 = 1) throws -> ValueMap {
        try graph.map(.history(path: path), from: client)
    }

    static let recorded = """
        nodes:
          - id: n
            state: { x: { initial: 1, history: 10m }, plain: 1 }
            computed: { double: { rule: x * 2, history: 10m } }
            children:
              - { id: child, binding: { bound: $x } }
        """

    @Test("a history has the least and greatest values by time, of states, rules and what shows them") func chart()
        throws
    {
        let graph = try Harness(TimeOperatorTests.recorded)
        try graph.set("/n.x", 5)
        graph.advance(2)
        try graph.set("/n.x", 3)
        let state = try history("/n.x", graph)
        #expect(state["step"] == 1.0 && state["span"] == 600.0)
        #expect(state["least"] == [1.0, 5.0, 3.0])
        #expect(state["greatest"] == [5.0, 5.0, 3.0])
        #expect(state["times"]?.list?.map(\.jsonText).last == "\"1970-01-01T00:00:02Z\"")
        #expect(try history("/n/child.bound", graph)["least"] == state["least"])
        #expect(try history("/n.double", graph)["least"] == [2.0, 10.0, 6.0])
        // Nothing wakes the daemon for it.
        #expect(graph.runtime.nextDeadline == nil)
        graph.advance(100_000)
        #expect(try history("/n.x", graph)["least"]?.list?.count == 600)
    }

    @Test("an attribute without a history says how to get one") func noHistory() throws {
        let graph = try Harness(TimeOperatorTests.recorded)
        let failure = refusal { try graph.succeed(.history(path: "/n.plain")) }
        #expect(failure?.code == .notFound && failure?.hint?.contains("history: 10m") == true)
    }

    @Test("a history comes and goes with its definition") func redefined() throws {
        let graph = try Harness(TimeOperatorTests.recorded)
        #expect(graph.runtime.graph.timedValues.count == 2)
        _ = try graph.apply("nodes: [{ id: n, state: { x: 1, plain: { initial: 1, history: 1h } } }]\n")
        graph.turn([])
        #expect(refusal { try history("/n.x", graph) }?.code == .notFound)
        #expect(try history("/n.plain", graph)["span"] == 3600.0)
        #expect(graph.runtime.graph.timedValues.count == 2)
        try graph.succeed(.remove(path: "/n", TransactionOptions()))
        graph.settle()
        graph.turn([])
        #expect(graph.runtime.graph.timedValues.isEmpty)
    }

    @Test("a history is written back as it was defined") func exported() throws {
        let graph = try Harness(TimeOperatorTests.recorded)
        let node = try graph.exported("/n").map?["nodes"]?.list?.first?.map
        #expect(node?["state"]?.map?["x"]?.map?["history"] == "600s")
        #expect(node?["computed"]?.map?["double"]?.map?["history"] == "600s")
    }

    /// The seconds of a history's stretches since the epoch.
    private func seconds(_ history: ValueMap) -> [Int64] {
        (history["times"]?.list ?? []).compactMap { time in
            Timestamp(time.jsonText.dropFirst().dropLast())?.since(.epoch).map { $0.nanoseconds / 1_000_000_000 }
        }
    }

    @Test("a history survives a restart, and has a gap for the time between") func historyRestart() throws {
        let graph = try Harness(TimeOperatorTests.recorded)
        graph.advance(1)
        try graph.set("/n.x", 9)
        graph.advance(1)
        try graph.set("/n.x", 4)
        graph.now.monotonic += 3
        graph.now.wall = try #require(graph.now.wall.advanced(by: TimeSpan(nanoseconds: 3_000_000_000)))
        graph.end()
        let next = try graph.restarted(TimeOperatorTests.recorded, after: 10)
        next.advance(2)
        let recorded = try history("/n.x", next)
        #expect(seconds(recorded) == [0, 1, 2, 3, 4, 5, 15, 16, 17])
        #expect(recorded["greatest"] == [1.0, 9.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0])
        let rule = try history("/n.double", next)
        #expect(seconds(rule) == seconds(recorded))
        #expect(rule["least"]?.list?.last == 8.0)
    }

    @Test("a history has a gap for the time in which the machine was asleep") func asleep() throws {
        let graph = try Harness(TimeOperatorTests.recorded)
        graph.advance(2)
        graph.now.monotonic += 3
        graph.now.wall = try #require(graph.now.wall.advanced(by: TimeSpan(nanoseconds: 3_000_000_000)))
        graph.sleep(100)
        try graph.set("/n.x", 7)
        graph.advance(2)
        let recorded = try history("/n.x", graph)
        #expect(seconds(recorded) == [0, 1, 2, 3, 4, 105, 106, 107])
        #expect(recorded["greatest"]?.list.map { Array($0.prefix(6)) } == [1.0, 1.0, 1.0, 1.0, 1.0, 7.0])
        // A clock that somebody sets is no sleep.
        graph.setBack(-50)
        graph.turn([.woken])
        #expect(try history("/n.x", graph)["times"]?.list?.count == recorded["times"]?.list?.count)
    }

    @Test("a history with another span keeps its record, at its own scale") func rescaled() throws {
        let graph = try Harness(TimeOperatorTests.recorded)
        for step in 1...120 {
            graph.advance(1)
            try graph.set("/n.x", .int(Int64(step)))
        }
        _ = try graph.apply("nodes: [{ id: n, state: { x: { initial: 1, history: 100m } } }]\n")
        graph.turn([])
        let wide = try history("/n.x", graph)
        #expect(wide["step"] == 10.0)
        #expect(wide["least"]?.list.map { Array($0.prefix(3)) } == [1.0, 10.0, 20.0])
        #expect(wide["greatest"]?.list.map { Array($0.prefix(3)) } == [9.0, 19.0, 29.0])
        #expect(wide["least"]?.list?.count == 13)
        _ = try graph.apply("nodes: [{ id: n, state: { x: { initial: 1, history: 1m } } }]\n")
        graph.turn([])
        let narrow = try history("/n.x", graph)
        #expect(narrow["step"] == 0.1)
        #expect(narrow["least"]?.list?.count == 600)
        #expect(narrow["greatest"]?.list?.last == 120.0)
        // The old record is no longer in the store.
        #expect(graph.rows.values.map(\.name).filter { $0.hasPrefix("x history") } == ["x history 60s"])
    }

    @Test("a history whose span was changed in the scene takes its record at the next start")
    func rescaledAtStart() throws {
        let graph = try Harness(TimeOperatorTests.recorded)
        for step in 1...30 {
            graph.advance(1)
            try graph.set("/n.x", .int(Int64(step)))
        }
        graph.end()
        let scene = TimeOperatorTests.recorded.replacing("history: 10m", with: "history: 100m")
        let next = try graph.restarted(scene, after: 20)
        for path in ["/n.x", "/n.double"] {
            let recorded = try history(path, next)
            #expect(seconds(recorded) == [0, 10, 20, 30, 50])
            #expect(recorded["greatest"]?.list?.first == (path == "/n.x" ? 9.0 : 18.0))
        }
        next.end()
        let last = try next.restarted(scene, after: 20)
        #expect(seconds(try history("/n.x", last)) == [0, 10, 20, 30, 50, 70])
        // A finer scale fills no more than the stretches that were known.
        last.end()
        let fine = try last.restarted(TimeOperatorTests.recorded, after: 20)
        #expect(seconds(try history("/n.x", fine)) == Array(0...39) + Array(50...59) + [70, 90])
    }

    // MARK: Restarts

    @Test("operators over durable states survive a restart, and the time between counts as unchanged")
    func restart() throws {
        let graph = try Harness(TimeOperatorTests.host)
        graph.advance(5)
        try graph.set("/host.load", 60)
        graph.advance(100)
        graph.end()
        let next = try graph.restarted(TimeOperatorTests.host, after: 150)
        #expect(try next.get("/host.before") == .value(1))
        #expect(try next.get("/host.since") == time(5))
        #expect(try next.get("/host.mean") == .value(60.0))
        try next.subscribe(["/host.alarm"], initial: true)
        #expect(next.changes == ["/host.alarm": .value(false)])
        next.advance(50)
        #expect(next.changes == ["/host.alarm": .value(true)])
    }

    @Test("operators over transient states begin anew") func transient() throws {
        let scene = """
            nodes:
              - id: n
                state: { x: { initial: 0, transient: true } }
                computed: { since: changed(x) }
            """
        let graph = try Harness(scene)
        graph.advance(5)
        try graph.set("/n.x", 1)
        graph.turn([])
        #expect(graph.rows.isEmpty)
        let next = try graph.restarted(scene, after: 10)
        #expect(try next.get("/n.since") == time(15))
    }

    // MARK: Where operators stand

    @Test("operators decide branches and are handed down the environment") func places() throws {
        let graph = try Harness(
            """
            keys: { environment: { load: { default: 1.0 } } }
            nodes:
              - id: q
                state: { a: 1.0, on: false }
                environment: { load: "=greatest(a, duration('1m'))" }
                children:
                  - { id: c, kind: view, computed: { z: env.load, high: "greatest(env.load, duration('5m'))" } }
                  - if: held(on, duration('1m'))
                    then: [{ id: t, kind: view, state: { x: 1 } }]
            """)
        try graph.set("/q.a", 5.0)
        graph.advance(1)
        try graph.set("/q.a", 2.0)
        #expect(try graph.get("/q/c.z") == .value(5.0))
        try graph.set("/q.on", true)
        graph.advance(59.9)
        #expect(refusal { try graph.get("/q/t.x") }?.code == .notFound)
        graph.advance(0.1)
        #expect(try graph.get("/q/t.x") == .value(1))
        graph.advance(2)
        #expect(try graph.get("/q/c.z") == .value(2.0))
        #expect(try graph.get("/q/c.high") == .value(5.0))
    }

    // MARK: Mistakes

    @Test("rules that watch nothing have no past") func pastless() {
        let failure = refusal {
            try Harness(
                """
                keys: { environment: { load: { default: 1.0 } } }
                nodes:
                  - id: n
                    kind: view
                    transformEnvironment: { load: "average(value, duration('1m'))" }
                """)
        }
        #expect(failure?.message.contains("average() needs the past of an attribute") == true)
    }

    @Test(
        "mistakes are told where they are made",
        arguments: [
            (
                "average(list.map(e, e)[0], duration('1m'))",
                "average() watches an attribute, not the result of an expression"
            ),
            ("list.exists(e, previous(e) > 1)", "previous() watches an attribute; 'e' is a variable of this rule"),
            ("average(x, duration('0s'))", "a window is at least 0.01s, not 0s"),
            ("average(x, duration('9000h'))", "a window is at most 31d, not 32400000s"),
            ("average(x, span + span)", "the window of average() is a constant or an attribute, not an expression"),
            ("average(x, x)", "expected type 'duration' but found 'int'"),
            ("average(text, duration('1m'))", "average() takes a number, not 'string'"),
            ("held(x, duration('1m'))", "held() takes a condition, not 'int'"),
            ("average(x)", "average() takes an attribute and a duration"),
            ("average(x + 1, duration('1m'))", "average() watches an attribute, not the result of an expression"),
            ("previous(list[x])", "previous() watches one part of a value, so this index must be a constant"),
        ])
    func mistakes(rule: String, message: String) throws {
        let failure = refusal {
            try Harness(
                """
                nodes:
                  - id: n
                    state: { x: 1, text: a, list: [1, 2], span: { initial: 1s, type: duration } }
                    computed: { y: \(Value.string(rule).jsonText) }
                """)
        }
        #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
    }

    @Test(
        "a history of what is no number, or of no time, is a mistake",
        arguments: [
            ("{ initial: a, history: 10m }", "a history is of numbers, and this is a string"),
            ("{ initial: 1, history: soon }", "'soon' is not a length of time"),
            ("{ initial: 1, history: 0s }", "a window is at least 0.01s, not 0s"),
        ])
    func historyMistakes(state: String, message: String) {
        let failure = refusal { try Harness("nodes: [{ id: n, state: { x: \(state) } }]\n") }
        #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
    }

    @Test("eval refuses operators") func eval() throws {
        let graph = try Harness(TimeOperatorTests.host)
        let failure = refusal {
            try graph.succeed(
                .eval(expression: "previous(load)", bindings: ValueMap(), at: "/host", typed: false))
        }
        #expect(failure?.message.contains("previous() needs the past of an attribute") == true)
    }
}
