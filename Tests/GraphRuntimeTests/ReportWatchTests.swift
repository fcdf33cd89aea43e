import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Subscriptions that ask when values were last reported.
@Suite("Watched reports")
struct ReportWatchTests {
    private static let scene = """
        nodes:
          - id: s
            state: { x: 1, y: 5, room: { a: 1, b: 1 }, old: { initial: 3, expires: 1h } }
            computed: { double: x * 2, sum: x + y, part: room.a, fixed: 2 + 3 }
            children:
              - { id: n, binding: { x: $x } }
        """

    private func watch(
        _ graph: Harness, _ paths: [String], since: Request.Position? = nil, maxRate: Double? = nil,
        from client: UInt64 = 1
    ) throws {
        try graph.succeed(
            .subscribe(.init(patterns: paths, since: since, maxRate: maxRate, reports: true)), from: client)
    }

    /// What the last deliveries tell: the seconds since the last report by path.
    private func ages(_ graph: Harness) -> [String: Double] {
        Dictionary(graph.told.map { ($0.path, graph.now.monotonic - ($0.reported ?? -1)) }) { $1 }
    }

    @Test("an equal report is an update that repeats the value, to those who ask alone") func equal() throws {
        let graph = try Harness(ReportWatchTests.scene)
        try graph.subscribe(["/s.x"], from: 2)
        try watch(graph, ["/s.x"])
        graph.advance(5)
        try graph.set("/s.x", 1)
        #expect(graph.events.count == 1)
        #expect(graph.changes == ["/s.x": .value(1)])
        #expect(ages(graph) == ["/s.x": 0])
        graph.advance(5)
        #expect(graph.told.isEmpty)
    }

    @Test("a change has the time of its report, and is told once") func change() throws {
        let graph = try Harness(ReportWatchTests.scene)
        try watch(graph, ["/s.x"])
        graph.advance(5)
        try graph.set("/s.x", 2)
        #expect(ages(graph) == ["/s.x": 0])
        graph.advance(0)
        #expect(graph.told.isEmpty)
        graph.advance(2)
        #expect(graph.told.isEmpty)
    }

    @Test("however often a value is reported, it is told once a second, and its rule does not run") func bounded()
        throws
    {
        let graph = try Harness(ReportWatchTests.scene)
        try watch(graph, ["/s.double"])
        graph.advance(5)
        _ = graph.runs()
        var told = 0
        for _ in 0..<100 {
            graph.advance(0.05)
            told += graph.told.count
            try graph.set("/s.x", 1)
        }
        #expect(told >= 4 && told <= 6, "\(told) in 5 seconds")
        #expect(!graph.runs().contains("/s.double"))
        // The last report is not lost.
        graph.advance(1)
        #expect(ages(graph) == ["/s.double": 1])
    }

    @Test("a value with a rule is as old as the newest report of what it comes from") func rules() throws {
        let graph = try Harness(ReportWatchTests.scene)
        try watch(graph, ["/s.sum", "/s.part", "/s/n.x"])
        graph.advance(10)
        try graph.set("/s.y", 5)
        #expect(ages(graph) == ["/s.sum": 0])
        graph.advance(2)
        try graph.set("/s.room.b", 1)
        #expect(graph.told.isEmpty)
        try graph.set("/s.room.a", 1)
        #expect(ages(graph) == ["/s.part": 0])
        graph.advance(0.25)
        try graph.set("/s.x", 1)
        #expect(graph.told.isEmpty, "there was an update less than a second ago")
        graph.advance(0.75)
        #expect(ages(graph) == ["/s.sum": 0.75, "/s/n.x": 0.75])
    }

    @Test("the snapshot has what is known: the last report, the last change, or the time of the subscription")
    func snapshot() throws {
        let graph = try Harness(ReportWatchTests.scene)
        graph.advance(10)
        try graph.set("/s.x", 2)
        try graph.set("/s.old", 3)
        graph.advance(20)
        try graph.set("/s.x", 2)
        try watch(graph, ["/s.x", "/s.double", "/s.old", "/s.fixed"])
        #expect(ages(graph) == ["/s.x": 20, "/s.double": 20, "/s.old": 20, "/s.fixed": 0])
        graph.advance(3)
        try graph.set("/s.x", 2)
        graph.advance(4)
        try watch(graph, ["/s.double", "/s.old"], from: 2)
        #expect(ages(graph)["/s.double"] == 4)
        #expect(ages(graph)["/s.old"] == 27)
    }

    @Test("a client that comes back gets all times anew") func resuming() throws {
        let graph = try Harness(ReportWatchTests.scene)
        try watch(graph, ["/s.x"])
        let position = Request.Position(epoch: "test", revision: graph.runtime.revision)
        graph.turn([.disconnected(ClientID(number: 1))])
        graph.advance(10)
        try graph.set("/s.x", 1, from: 2)
        graph.advance(2)
        try watch(graph, ["/s.x"], since: position)
        #expect(graph.changes == ["/s.x": .value(1)])
    }

    @Test("a report that has to wait is told with the next update") func waiting() throws {
        let graph = try Harness(ReportWatchTests.scene)
        try watch(graph, ["/s.x", "/s.y"], maxRate: 0.1)
        graph.advance(20)
        try graph.set("/s.y", 6)
        #expect(ages(graph) == ["/s.y": 0])
        graph.advance(1)
        try graph.set("/s.x", 1)
        #expect(graph.told.isEmpty)
        graph.advance(9)
        #expect(ages(graph) == ["/s.x": 9])
    }

    @Test("after the last such watch an equal write is no revision, and nothing is left") func end() throws {
        let graph = try Harness(ReportWatchTests.scene)
        let vertices = graph.runtime.graph.counters.liveAttributes
        try graph.subscribe(["/s.x"], from: 2)
        try watch(graph, ["/s.x", "/s.sum"])
        graph.advance(1)
        let before = graph.runtime.revision
        try graph.set("/s.x", 1)
        #expect(graph.runtime.revision == before + 1)
        graph.turn([.disconnected(ClientID(number: 1))])
        graph.turn([])
        graph.advance(1)
        let after = graph.runtime.revision
        try graph.set("/s.x", 1, from: 2)
        #expect(graph.runtime.revision == after)
        #expect(graph.runtime.nextDeadline == 4600, "that of the expiry")
        #expect(graph.runtime.graph.counters.liveAttributes == vertices)
    }

    @Test("a node that comes has times, and one that goes takes them along") func tree() throws {
        let graph = try Harness(ReportWatchTests.scene)
        try watch(graph, ["/**"])
        graph.advance(5)
        _ = try graph.apply("nodes: [{ id: t, state: { z: 1 } }]\n")
        #expect(ages(graph)["/t.z"] == 0)
        graph.advance(5)
        try graph.set("/t.z", 1)
        try graph.succeed(.remove(path: "/t", TransactionOptions()))
        graph.settle()
        graph.advance(5)
        #expect(graph.told.isEmpty)
    }
}
