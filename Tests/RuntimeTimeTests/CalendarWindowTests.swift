import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Operators over hours, days and months by local time.
@Suite("Operators over periods")
struct CalendarWindowTests {
    private static let scene = """
        nodes:
          - id: meter
            state: { energy: { type: double, initial: 100.0 } }
            computed:
              today: increase(energy, 'day')
              yesterday: increase(energy, 'day', 1)
              mean: average(energy, 'day')
              most: greatest(energy, 'day', 1)
              hour: increase(energy, duration('1h'))
        """

    private func harness() throws -> Harness {
        let graph = try Harness(Self.scene)
        try graph.set("/.timeZone", "UTC")
        try graph.subscribe(["/meter.*"], initial: true)
        return graph
    }

    @Test("a meter counts today, and has yesterday after midnight") func days() throws {
        let graph = try harness()
        #expect(try graph.value("/meter.today") == 0.0 && graph.value("/meter.yesterday") == .null)
        graph.advance(3600)
        try graph.set("/meter.energy", 103.0)
        #expect(graph.changes["/meter.today"] == .value(3.0))
        graph.advance(22 * 3600)
        try graph.set("/meter.energy", 110.0)
        #expect(graph.changes["/meter.today"] == .value(10.0))
        graph.advance(3600)
        #expect(graph.changes["/meter.today"] == .value(0.0) && graph.changes["/meter.yesterday"] == .value(10.0))
        #expect(try graph.value("/meter.most") == 110.0)
        try graph.set("/meter.energy", 111.5)
        #expect(try graph.value("/meter.today") == 1.5 && graph.value("/meter.yesterday") == 10.0)
        graph.advance(3 * 86_400)
        #expect(try graph.value("/meter.today") == 0.0 && graph.value("/meter.yesterday") == 0.0)
        #expect(try graph.value("/meter.most") == 111.5)
    }

    @Test("the average of a day begins anew at midnight") func averages() throws {
        let graph = try harness()
        graph.advance(43_200)
        try graph.set("/meter.energy", 200.0)
        graph.advance(43_199)
        let mean = try #require(try graph.value("/meter.mean").number)
        #expect(abs(mean - 150) < 0.01)
        graph.advance(2)
        #expect(try graph.value("/meter.mean") == 200.0)
    }

    @Test("the day is that of the time zone") func zones() throws {
        let graph = try harness()
        try graph.set("/.timeZone", "+02:00")
        graph.advance(21 * 3600)
        try graph.set("/meter.energy", 104.0)
        graph.advance(3599)
        #expect(try graph.value("/meter.today") == 4.0)
        graph.advance(1)
        #expect(try graph.value("/meter.today") == 0.0 && graph.value("/meter.yesterday") == 4.0)
    }

    @Test("a restart goes on with the day, and with the days before") func restarts() throws {
        let graph = try harness()
        try graph.set("/meter.energy", 105.0)
        graph.advance(86_400)
        try graph.set("/meter.energy", 107.0)
        graph.end()
        let next = try graph.restarted(Self.scene, after: 3600)
        try next.set("/.timeZone", "UTC")
        #expect(try next.value("/meter.today") == 2.0 && next.value("/meter.yesterday") == 5.0)
        try next.set("/meter.energy", 108.0)
        #expect(try next.value("/meter.today") == 3.0)
    }

    @Test("an increase over a duration is what the counter has counted in it") func spans() throws {
        let graph = try harness()
        for _ in 0..<4 {
            graph.advance(900)
            try graph.set("/meter.energy", .double(try #require(try graph.value("/meter.energy").number) + 1))
        }
        #expect(try graph.value("/meter.hour") == 4.0)
        graph.advance(7200)
        #expect(try graph.value("/meter.hour") == 0.0)
    }

    @Test(
        "a mistake in a period is told with what to write",
        arguments: [
            ("increase(x, 'week')", "the periods are 'hour', 'day', 'month'; a duration is written duration('1m')"),
            ("increase(x, 'day', 200)", "as increase(x, 'day', 1), which is yesterday"),
            ("increase(x, 'day', x)", "as increase(x, 'day', 1), which is yesterday"),
        ]) func mistakes(rule: String, hint: String) throws
    {
        let failure = refusal { try Harness("nodes: [{ id: a, state: { x: 1 }, computed: { y: \"\(rule)\" } }]") }
        #expect(failure?.hint?.contains(hint) == true, "\(failure.map { "\($0)" } ?? "accepted")")
    }
}
