import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness
@testable import ViewGraph

@Suite("Clocks")
struct ClockTests {
    static let monitor = """
        nodes:
          - id: host
            state: { seen: "1970-01-01T00:00:00Z" }
            clock: { now: every 1s }
            computed:
              isStale: 'now - timestamp(seen) > duration("10s")'
        """

    private func time(_ seconds: Int64) -> Content {
        .value(.timestamp(Timestamp.epoch.advanced(by: TimeSpan(nanoseconds: seconds * 1_000_000_000)) ?? .epoch))
    }

    @Test("a new watch of a clock that nobody watched begins with the present tick, and what depends on it follows")
    func watch() throws {
        let graph = try Harness(ClockTests.monitor)
        #expect(try graph.get("/host.isStale") == .value(false))
        graph.advance(480.5)
        #expect(graph.runtime.nextDeadline == nil)
        try graph.subscribe(["/host/**"], initial: true)
        #expect(graph.changes["/host.now"] == time(480))
        #expect(graph.changes["/host.isStale"] == .value(true))
        // And goes on from there.
        graph.advance(0.5)
        #expect(graph.changes == ["/host.now": time(481)])
        graph.turn([.disconnected(ClientID(number: 1))])
        #expect(graph.runtime.nextDeadline == nil)
    }

    @Test("a single read of a clock, of what depends on it, of several and of a node shows the present tick")
    func read() throws {
        let graph = try Harness(ClockTests.monitor)
        #expect(try graph.get("/host.now") == time(0))
        graph.advance(60.9)
        #expect(try graph.get("/host.now") == time(60))
        #expect(try graph.get("/host.isStale") == .value(true))
        graph.advance(60)
        #expect(try graph.contents(["/host.now"]) == ["/host.now": time(120)])
        graph.advance(60)
        let now = try graph.described("/host")["attributes"]?.map?["now"]?.map
        #expect(Content.value(now?["value"] ?? .null) == time(180))
    }

    @Test("a rule that starts to depend on a clock within a transaction sees the present tick") func inTransaction()
        throws
    {
        let graph = try Harness(
            """
            nodes:
              - { id: n, state: { on: false }, clock: { now: every 1s }, computed: { s: "on ? now.getSeconds() : -1" } }
            """)
        _ = try graph.get("/n.now")
        try graph.subscribe(["/n.s"], initial: true)
        #expect(graph.runtime.nextDeadline == nil)
        graph.advance(42.2)
        try graph.set("/n.on", true)
        #expect(graph.changes == ["/n.s": .value(42)])
        // From now on it ticks, at the grid.
        #expect(graph.runtime.nextDeadline.map { abs($0 - graph.now.monotonic - 0.8) < 1e-6 } == true)
        try graph.set("/n.on", false)
        #expect(graph.runtime.nextDeadline == nil)
    }

    @Test("a clock that nobody watches makes no revision and evaluates nothing") func unwatched() throws {
        let graph = try Harness(ClockTests.monitor)
        _ = try graph.get("/host.isStale")
        let revision = graph.runtime.revision
        _ = graph.runs()
        for _ in 0..<100 { graph.advance(1) }
        #expect(graph.runtime.revision == revision)
        #expect(graph.runs() == [])
        #expect(graph.runtime.nextDeadline == nil)
    }

    @Test("dependents of a clock are searched again only after a change of a watch or an edge that matters")
    func lookups() throws {
        let graph = try Harness(
            """
            nodes:
              - { id: n, state: { on: true, other: 0 }, clock: { now: every 1s }, computed: { s: "on ? now.getSeconds() : -1" } }
            """)
        _ = try graph.get("/n.s")
        #expect(graph.runtime.nextDeadline == nil)
        var lookups = graph.runtime.graph.clocks.lookups
        func walked() -> Int {
            defer { lookups = graph.runtime.graph.clocks.lookups }
            return graph.runtime.graph.clocks.lookups - lookups
        }
        for number in 1...20 {
            try graph.set("/n.other", .int(Int64(number)))
            graph.advance(0.3)
            #expect(graph.runtime.nextDeadline == nil)
        }
        #expect(walked() == 0)
        try graph.subscribe(["/n.s"])
        #expect(graph.runtime.nextDeadline != nil)
        #expect(walked() == 1)
        for _ in 0..<5 {
            graph.advance(1)
            #expect(graph.changes.count == 1 && graph.runtime.nextDeadline != nil)
        }
        #expect(walked() == 0)
        try graph.set("/n.on", false)
        #expect(graph.runtime.nextDeadline == nil)
        #expect(walked() == 1)
    }

    @Test("a watcher of invalidations alone makes a clock tick, and evaluates nothing") func invalidations() throws {
        let graph = try Harness(ClockTests.monitor)
        try graph.subscribe(["/host.isStale"], events: .invalidate)
        #expect(graph.runtime.nextDeadline.map { abs($0 - graph.now.monotonic - 1) < 1e-6 } == true)
        graph.advance(1)
        #expect(graph.invalidated == ["/host.isStale"])
        #expect(graph.runs() == [])
    }

    @Test(
        "each schedule ticks when it says",
        arguments: [
            ("every 250ms", [0.25, 0.5, 0.75]), ("{ every: 10s, start: 1970-01-01T00:00:03Z }", [3, 13, 23]),
            ("everyMinute", [60, 120, 180]), ("{ animation: { minimumInterval: 0.1s } }", [0.1, 0.2, 0.3]),
            ("[1970-01-01T00:00:05Z, 1970-01-01T00:00:07Z, 1970-01-01T01:00:00Z]", [5, 7, 3600]),
        ])
    func schedules(_ schedule: String, _ ticks: [Double]) throws {
        let graph = try Harness("nodes:\n  - { id: c, kind: view, clock: { now: \(schedule) } }")
        try graph.subscribe(["/c.now"], initial: true)
        for tick in ticks {
            let due = try #require(graph.runtime.nextDeadline)
            #expect(abs(due - 1000 - tick) < 1e-6)
            graph.advance(due - graph.now.monotonic + 1e-7)
            let shown = try #require(graph.changes["/c.now"]?.value)
            #expect(shown == (try graph.value("/c.now")))
            guard case .timestamp(let stamp) = shown else { throw Failure(.unavailable, "no timestamp") }
            #expect(stamp.since(.epoch).map { abs($0.seconds - tick) < 1e-6 } == true)
        }
        if schedule.hasPrefix("[") { #expect(graph.runtime.nextDeadline == nil) }
    }

    @Test("the animation clock ticks at display rate") func animation() throws {
        let graph = try Harness("nodes:\n  - { id: c, kind: view, clock: { now: animation } }")
        try graph.subscribe(["/c.now"])
        var ticks = 0
        let end = graph.now.monotonic + 1
        while let due = graph.runtime.nextDeadline, due < end {
            graph.advance(due - graph.now.monotonic + 1e-9)
            ticks += graph.changes.count
        }
        #expect((59...61).contains(ticks))
    }

    @Test("nodes with clocks of one schedule tick together, in one event") func shared() throws {
        let graph = try Harness(
            """
            components: { Dial: { clock: { now: every 1s }, computed: { s: now.getSeconds() } } }
            nodes: [{ id: a, component: Dial }, { id: b, component: Dial }]
            """)
        try graph.subscribe(["/*.s"], initial: true)
        graph.advance(1)
        #expect(graph.changes == ["/a.s": .value(1), "/b.s": .value(1)] && graph.events.count == 1)
    }
}
