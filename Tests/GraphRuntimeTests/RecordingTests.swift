import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Recordings")
struct RecordingTests {
    /// A clock that is a second later whenever it is looked at.
    private final class Stopwatch {
        private(set) var looks = 0

        func look() -> Double {
            looks += 1
            return 2000 + Double(looks)
        }
    }

    static let scene = "nodes: [{ id: a, state: { x: 1, w: 1 }, computed: { y: x + 1, z: y * 2, v: w + 1 } }]"

    private func harness(_ change: (inout RuntimeLimits) -> Void = { _ in }) throws -> (Harness, Stopwatch) {
        var limits = RuntimeLimits()
        change(&limits)
        let graph = try Harness(RecordingTests.scene, limits: limits)
        let stopwatch = Stopwatch()
        graph.runtime.surroundings.stopwatch = stopwatch.look
        return (graph, stopwatch)
    }

    @discardableResult
    private func trace(_ graph: Harness, enable: Bool? = nil) throws -> ValueMap {
        try graph.map(.trace(enable: enable))
    }

    private func events(_ trace: ValueMap) -> [ValueMap] { (trace["traceEvents"]?.list ?? []).compactMap(\.map) }

    private func rules(_ trace: ValueMap) -> [String: ValueMap] {
        var rules: [String: ValueMap] = [:]
        for rule in (trace["rules"]?.list ?? []).compactMap(\.map) { rules[rule["path"]?.string ?? ""] = rule }
        return rules
    }

    @Test("turns and the rules that run in them are stretches of time, those of rules inside those of turns")
    func stretches() throws {
        let (graph, _) = try harness()
        try graph.subscribe(["/a.z"], initial: true)
        try trace(graph, enable: true)
        try graph.set("/a.x", 2)
        let recorded = events(try trace(graph))
        #expect(recorded.allSatisfy { $0["ph"] == "X" })
        // The turn of the request that began it is the first.
        #expect(recorded.compactMap { $0["name"]?.string } == ["turn", "/a.y", "/a.z", "turn"])
        func bounds(_ event: ValueMap) -> (start: Double, end: Double) {
            let start = event["ts"]?.number ?? .nan
            return (start, start + (event["dur"]?.number ?? .nan))
        }
        let turn = bounds(try #require(recorded.last))
        for rule in recorded where rule["cat"] == "rule" {
            let run = bounds(rule)
            #expect(run.start < run.end && turn.start < run.start && run.end < turn.end)
        }
        #expect(recorded.last?["args"]?.map?["evaluations"] == 2)
    }

    @Test("every rule has its runs and its time, with and without the rules that it made run") func totals() throws {
        let (graph, _) = try harness()
        try trace(graph, enable: true)
        // Never having run, z makes y run inside.
        _ = try graph.get("/a.z")
        var found = rules(try trace(graph))
        #expect(found["/a.y"]?["runs"] == 1 && found["/a.z"]?["runs"] == 1 && found["/a.v"] == nil)
        #expect(found["/a.y"]?["time"] == 1.0 && found["/a.y"]?["ownTime"] == 1.0)
        #expect(found["/a.z"]?["time"] == 3.0 && found["/a.z"]?["ownTime"] == 2.0)
        for number: Int64 in 2...4 {
            try graph.set("/a.x", .int(number))
            _ = try graph.get("/a.y")
        }
        found = rules(try trace(graph))
        #expect(found["/a.y"]?["runs"] == 4 && found["/a.y"]?["time"] == 4.0)
    }

    @Test("nobody looks at the clock unless it records, and a recording that begins has nothing of the one before")
    func off() throws {
        let (graph, stopwatch) = try harness()
        try graph.subscribe(["/a.*"], initial: true)
        try graph.set("/a.x", 2)
        #expect(stopwatch.looks == 0)
        try trace(graph, enable: true)
        try graph.set("/a.x", 3)
        #expect(try rules(trace(graph, enable: false)).count == 2)
        let looks = stopwatch.looks
        try graph.set("/a.x", 4)
        #expect(stopwatch.looks == looks)
        #expect(try rules(trace(graph))["/a.y"]?["runs"] == 1, "what was recorded stays")
        #expect(try rules(trace(graph, enable: true)).isEmpty && events(trace(graph)).count == 1)
    }

    @Test("a recording keeps the last events and counts so many rules; the others are summed up") func bounds() throws {
        let (graph, _) = try harness { $0.traceEvents = 2 }
        try graph.subscribe(["/a.*"], initial: true)
        try trace(graph, enable: true)
        try graph.set("/a.x", 2)
        try graph.set("/a.w", 2)
        let found = try trace(graph)
        #expect(events(found).compactMap { $0["name"]?.string } == ["/a.v", "turn"])
        #expect(rules(found).keys.sorted() == ["/a.y", "/a.z"])
        #expect(found["otherRules"]?.map?["runs"] == 1)
    }
}
