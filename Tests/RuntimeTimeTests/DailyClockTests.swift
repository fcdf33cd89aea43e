import AttributeValues
import RuleLanguage
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness
@testable import ViewGraph

/// Clocks that tick at local times of the day, and clocks whose period is a state.
@Suite("Clocks with a schedule")
struct DailyClockTests {
    private static func time(_ text: String) throws -> Timestamp { try #require(Timestamp(text)) }

    @Test(
        "a local time comes once on each day, also when clocks change",
        arguments: [
            // Summer time begins at 2:00 on 2024-03-31, and ends at 3:00 on 2024-10-27.
            (19812, 9000, "2024-03-30T01:30:00Z"), (19813, 9000, "2024-03-31T01:00:00Z"),
            (19813, 7200, "2024-03-31T01:00:00Z"), (19813, 10_800, "2024-03-31T01:00:00Z"),
            (19813, 3600, "2024-03-31T00:00:00Z"), (20023, 9000, "2024-10-27T00:30:00Z"),
            (20023, 10_800, "2024-10-27T02:00:00Z"), (20024, 9000, "2024-10-28T01:30:00Z"),
        ]) func local(day: Int, second: Int, text: String) throws
    {
        let clock = try #require(LocalClock("Europe/Berlin"))
        #expect(Timestamp(seconds: clock.instant(day: day, second: second)) == (try Self.time(text)))
    }

    @Test("there is a tick on each of the days, and none on the others") func days() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                clock: { night: { at: "03:00", on: [mon, tue], timeZone: UTC } }
            """)
        // 1970-01-01 was a Thursday.
        try graph.subscribe(["/n.night"], initial: true)
        #expect(graph.changes["/n.night"] == .value(.timestamp(try Self.time("1969-12-30T03:00:00Z"))))
        graph.advance(86_400 * 4 + 3 * 3600 - 1)
        #expect(graph.changes.isEmpty)
        graph.advance(1)
        #expect(graph.changes["/n.night"] == .value(.timestamp(try Self.time("1970-01-05T03:00:00Z"))))
        #expect(graph.runtime.nextDeadline == graph.now.monotonic + 86_400)
        graph.advance(86_400 * 6)
        #expect(graph.changes["/n.night"] == .value(.timestamp(try Self.time("1970-01-06T03:00:00Z"))))
    }

    @Test("a schedule without a time zone follows that of the environment") func zone() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                kind: container
                state: { zone: UTC }
                environment: { timeZone: =zone }
                children: [{ id: m, clock: { morning: { at: ["06:00", "18:30:30"] } } }]
            """)
        graph.advance(86_400)
        try graph.subscribe(["/n/m.morning"], initial: true)
        #expect(graph.changes["/n/m.morning"] == .value(.timestamp(try Self.time("1970-01-01T18:30:30Z"))))
        try graph.set("/n.zone", "+06:00")
        #expect(graph.changes["/n/m.morning"] == .value(.timestamp(try Self.time("1970-01-02T00:00:00Z"))))
        try graph.set("/n.zone", "Nowhere/Land")
        #expect(graph.changes["/n/m.morning"]?.failure?.message.hasPrefix("unknown time zone Nowhere/Land") == true)
        #expect(try graph.exported("/n").jsonText.contains(#"{"at":["06:00","18:30:30"]}"#))
    }

    @Test("the period of a clock can come from a state") func period() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { period: { type: duration, initial: 10s } }
                clock: { now: { every: $period } }
            """)
        try graph.subscribe(["/n.now"], initial: true)
        graph.advance(10)
        #expect(graph.changes["/n.now"] == .value(.timestamp(try Self.time("1970-01-01T00:00:10Z"))))
        try graph.set("/n.period", "4s")
        graph.advance(2)
        #expect(graph.changes["/n.now"] == .value(.timestamp(try Self.time("1970-01-01T00:00:12Z"))))
        #expect(graph.runtime.nextDeadline == graph.now.monotonic + 4)
        try graph.set("/n.period", "1us")
        #expect(graph.changes["/n.now"]?.failure?.code == .limit)
    }
}
