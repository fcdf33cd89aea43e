import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Windows that an attribute gives")
struct GivenSpanTests {
    private static let scene = """
        keys: { environment: { patience: { default: 10s, type: duration } } }
        nodes:
          - id: n
            state:
              isOpen: false
              x: 0.0
              wait: { initial: 5m, type: duration }
              settings: { initial: { wait: 2m }, type: map }
            computed:
              alarm: held(isOpen, wait)
              late: held(isOpen, env.patience)
              part: held(isOpen, settings.wait)
              mean: average(x, wait)
              high: greatest(x, wait)
              total: increase(x, wait)
              calm: debounced(x, wait)
              shown: throttled(x, wait)
              smooth: smoothed(x, wait)
        """

    @Test("a condition is held for the present span, also if that becomes shorter or longer meanwhile")
    func held() throws {
        let graph = try Harness(GivenSpanTests.scene)
        try graph.subscribe(["/n.alarm", "/n.late", "/n.part"], initial: true)
        try graph.set("/n.isOpen", true)
        graph.advance(10)
        #expect(graph.changes == ["/n.late": .value(true)])
        graph.advance(110)
        #expect(graph.changes == ["/n.part": .value(true)])
        try graph.set("/n.wait", try span("1m"))
        #expect(graph.changes == ["/n.alarm": .value(true)])
        try graph.set("/n.wait", try span("3m"))
        #expect(graph.changes == ["/n.alarm": .value(false)])
        graph.advance(60)
        #expect(graph.changes == ["/n.alarm": .value(true)])
    }

    @Test("a window of another length has what is known of its time") func windows() throws {
        let graph = try Harness(GivenSpanTests.scene)
        try graph.set("/n.wait", try span("60s"))
        #expect(try graph.value("/n.mean") == 0.0)
        try graph.set("/n.x", 10.0)
        graph.advance(30)
        try graph.set("/n.x", 4.0)
        graph.advance(30)
        #expect(try graph.value("/n.mean") == 7.0)
        #expect(try graph.value("/n.high") == 10.0)
        #expect(try graph.value("/n.calm") == 0.0)
        try graph.set("/n.wait", try span("20s"))
        #expect(try graph.value("/n.mean") == 4.0)
        #expect(try graph.value("/n.high") == 4.0)
        #expect(try graph.value("/n.calm") == 4.0)
        try graph.set("/n.wait", try span("120s"))
        #expect(try graph.value("/n.mean") == 4.0)
        graph.advance(20)
        #expect(try graph.value("/n.mean") == 4.0)
    }

    @Test("a window that is no duration, or is too short, is an error that says so")
    func faults() throws {
        let graph = try Harness(GivenSpanTests.scene)
        try graph.set("/n.wait", try span("1ms"))
        guard case .failure(let short) = try graph.get("/n.alarm") else { throw Trouble() }
        #expect(short.code == .limit && short.message.contains("a window is at least 0.01s, not 0.001s"))
        try graph.set("/n.settings", ["wait": 5])
        guard case .failure(let wrong) = try graph.get("/n.part") else { throw Trouble() }
        #expect(wrong.code == .typeMismatch && wrong.message.contains("the window of held() is a duration, not 5"))
        try graph.set("/n.settings", ["wait": "20s"])
        #expect(try graph.value("/n.part") == false)
    }

    private struct Trouble: Error {}

    private func span(_ text: String) throws -> Value { .duration(try #require(TimeSpan(text))) }

    @Test("the past survives a restart") func restart() throws {
        let graph = try Harness(GivenSpanTests.scene)
        try graph.set("/n.wait", try span("60s"))
        try graph.set("/n.isOpen", true)
        try graph.set("/n.x", 10.0)
        graph.advance(50)
        graph.end()
        let next = try graph.restarted(GivenSpanTests.scene, after: 5)
        #expect(try next.value("/n.alarm") == false)
        #expect(try next.value("/n.mean") == 10.0)
        next.advance(5)
        #expect(try next.value("/n.alarm") == true)
    }
}
