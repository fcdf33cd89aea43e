import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Somebody sets the wall clock, while the daemon runs or between two of its lives.
@Suite("A wall clock that is set")
struct SetClockTests {
    private static let scene = """
        nodes:
          - id: n
            state: { load: { initial: 1.0, history: 60s } }
            computed:
              isHot: load > 5.0
              since: changed(load)
              alarm: held(isHot, duration('5m'))
              slow: throttled(load, duration('5m'))
              mean: average(load, duration('1m'))
              top: greatest(load, duration('5m'))
        """
    private static let year = 365.0 * 86_400

    private func restarted(_ graph: Harness, after seconds: Double, correction: Double = 0) throws -> Harness {
        try graph.restarted(SetClockTests.scene, after: seconds, correction: correction)
    }

    private func beginning(ahead seconds: Double) throws -> Harness {
        var start = Harness.start
        start.wall = try #require(start.wall.advanced(by: TimeSpan(nanoseconds: Int64(seconds * 1e9))))
        return try Harness(SetClockTests.scene, at: start)
    }

    private func date(_ value: Value) -> Timestamp? { if case .timestamp(let date) = value { date } else { nil } }

    private func heat(_ graph: Harness) throws {
        try graph.subscribe(["/n.alarm", "/n.slow"], initial: true)
        try graph.set("/n.load", 7.0)
        graph.advance(1)
        try graph.set("/n.load", 9.0)
    }

    /// The alarm and the throttled value are due after so many seconds.
    private func expectAlarm(_ graph: Harness, in seconds: Double) throws {
        #expect(try graph.get("/n.alarm") == .value(false))
        #expect(try graph.get("/n.slow") == .value(7.0))
        graph.advance(seconds - 1)
        #expect(try graph.get("/n.alarm") == .value(false))
        #expect(try graph.get("/n.slow") == .value(7.0))
        graph.advance(1)
        #expect(try graph.get("/n.alarm") == .value(true))
        #expect(try graph.get("/n.slow") == .value(9.0))
    }

    @Test(
        "a wall clock that goes wrong and is set right, before or after a restart, makes no span longer or shorter",
        arguments: [year, -year, 3600, -3600], [false, true])
    func corrected(ahead: Double, isKilled: Bool) throws {
        let graph = try beginning(ahead: ahead + 2 * SetClockTests.year)
        try heat(graph)
        graph.advance(59)
        graph.setBack(ahead)
        graph.advance(60)
        if !isKilled { graph.end() }
        let next = try restarted(graph, after: 60)
        try next.subscribe(["/n.alarm", "/n.slow"], initial: true)
        try expectAlarm(next, in: 300 - 180)
    }

    @Test("a wall clock that is set back while the daemon is down: operators go on from where they were")
    func correctedBetween() throws {
        let graph = try beginning(ahead: SetClockTests.year)
        try heat(graph)
        graph.advance(100)
        graph.end()
        let next = try restarted(graph, after: 20, correction: -SetClockTests.year)
        try next.subscribe(["/n.alarm", "/n.slow"], initial: true)
        #expect(try next.get("/n.mean") == .value(9.0))
        #expect(try next.get("/n.top") == .value(9.0))
        #expect(try next.get("/n.alarm") == .value(false) && next.get("/n.slow") == .value(7.0))
        next.advance(50)
        // A second restart does not forget the first one.
        next.end()
        let last = try restarted(next, after: 30)
        try last.subscribe(["/n.alarm", "/n.slow"], initial: true)
        try expectAlarm(last, in: 300 - 181)
    }

    @Test("a wall clock that is set in a life without a stored operator is right for those that are stored later")
    func late() throws {
        let graph = try beginning(ahead: SetClockTests.year)
        graph.advance(5)
        graph.setBack(SetClockTests.year)
        graph.advance(5)
        try heat(graph)
        let next = try restarted(graph, after: 100)
        try next.subscribe(["/n.alarm", "/n.slow"], initial: true)
        try expectAlarm(next, in: 199)
    }

    @Test("the date of a change follows the wall clock, and watchers are told") func dates() throws {
        let graph = try beginning(ahead: SetClockTests.year)
        try graph.set("/n.load", 9.0)
        graph.advance(10)
        try graph.subscribe(["/n.since"], initial: true)
        graph.setBack(SetClockTests.year)
        graph.turn([.woken])
        #expect(graph.changes == ["/n.since": .value(.timestamp(.epoch))])
        // A clock that is only slewed tells nothing.
        graph.setBack(0.2)
        graph.turn([.woken])
        #expect(graph.changes == [:])
        graph.end()
        let next = try restarted(graph, after: 10)
        let known = try #require(date(try next.value("/n.since")))
        #expect(abs(try #require(known.since(.epoch)).seconds) <= 0.2)
    }

    @Test("the time that the machine sleeps counts") func sleep() throws {
        let graph = try Harness(SetClockTests.scene)
        try heat(graph)
        graph.sleep(3600)
        graph.turn([.woken])
        #expect(try graph.get("/n.alarm") == .value(true))
        #expect(try graph.get("/n.since") == .value(.timestamp(try #require(Timestamp("1970-01-01T00:00:01Z")))))
    }

    @Test("nothing runs because the wall clock goes on or is slewed") func idle() throws {
        let graph = try Harness(SetClockTests.scene)
        try graph.subscribe(["/n.*"], initial: true)
        graph.advance(1000)
        _ = graph.runs()
        for _ in 0..<5 { graph.advance(1) }
        graph.setBack(0.1)
        graph.turn([.woken])
        #expect(graph.runs() == [])
    }

    @Test("a history is in order, whatever the wall clock was", arguments: [year, -year, year + 0.73, -year - 0.73])
    func history(ahead: Double) throws {
        let graph = try beginning(ahead: ahead + 2 * SetClockTests.year)
        for number in 0..<5 {
            try graph.set("/n.load", .double(Double(number)))
            graph.advance(1)
        }
        graph.end()
        let next = try restarted(graph, after: 2, correction: -ahead)
        try next.set("/n.load", 9.0)
        next.advance(3)
        let history = try next.map(.history(path: "/n.load"))
        let starts = try #require(history["times"]?.list).compactMap { date($0) }
        #expect(starts.count > 3)
        for (one, other) in zip(starts, starts.dropFirst()) {
            #expect(one < other)
        }
    }

    @Test("a clock whose dates are all to come keeps its value until the first one") func futureDates() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { x: 0 }
                clock: { at: ["1970-01-01T00:10:00Z", "1970-01-01T00:20:00Z"], far: { every: 1s, start: 0001-01-01T00:00:00Z } }
                computed: { isOver: "at >= timestamp('1970-01-01T00:10:00Z')" }
            """)
        try graph.subscribe(["/n.at", "/n.isOver"], initial: true)
        #expect(try graph.get("/n.at") == .value(.timestamp(.epoch)))
        for number in 1...3 {
            graph.advance(7.5)
            #expect(graph.changes == [:])
            try graph.set("/n.x", .int(Int64(number)))
            #expect(try graph.get("/n.at") == .value(.timestamp(.epoch)))
        }
        #expect(try graph.get("/n.far") == .value(.timestamp(try #require(Timestamp("1970-01-01T00:00:22Z")))))
        graph.setBack(-600)
        graph.turn([.woken])
        #expect(graph.changes["/n.isOver"] == .value(true))
        // The clock was ahead: no date is over, and the value is constant again.
        graph.setBack(615)
        graph.turn([.woken])
        let now = try graph.get("/n.at")
        #expect(try graph.get("/n.isOver") == .value(false))
        graph.advance(5)
        #expect(try graph.get("/n.at") == now)
    }
}
