import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// A stop and a start are as if the process had been suspended.
@Suite("A stop and a start")
struct SuspensionTests {
    private static let day = 86_400.0

    // MARK: Time

    private static let nightly = """
        nodes:
          - id: house
            state: { resets: 0, lamps: 3, seen: "" }
            clock: { night: { at: "03:00", timeZone: UTC } }
            onChange:
              - { of: night, perform: { add: { $resets: 1 }, set: { $lamps: 0, $seen: "=string(oldValue) + ' ' + string(newValue)" } } }
        """

    @Test(
        "a nightly reset that was missed is made up once, however many nights the daemon was down", arguments: [1, 5])
    func missed(nights: Double) throws {
        let graph = try Harness(Self.nightly)
        try graph.set("/house.lamps", 7)
        var next = try graph.restarted(Self.nightly, after: nights * Self.day)
        #expect(try next.value("/house.resets") == 1 && next.value("/house.lamps") == 0)
        #expect(
            try next.value("/house.seen") == .string("1969-12-31T03:00:00Z 1970-01-0\(Int(nights))T03:00:00Z"))
        // Nothing is missed by the next start.
        next = try next.restarted(Self.nightly, after: 60)
        #expect(try next.value("/house.resets") == 1)
    }

    @Test("a start that restores rows calls no actions: the first turn does") func restoring() throws {
        let graph = try Harness(Self.nightly)
        try graph.set("/house.lamps", 7)
        let next = try Harness(Self.nightly, from: graph, after: Self.day)
        _ = next.runtime.restore(Array(graph.rows.values))
        let state = try next.runtime.graph.locate(text: "/house.resets").place
        #expect(next.runtime.graph.content(at: state) == .value(0))
        next.turn([])
        #expect(next.runtime.graph.content(at: state) == .value(1))
    }

    @Test("the next life begins at the last commit, or where the daemon ended in order", arguments: [false, true])
    func beginning(isKilled: Bool) throws {
        let graph = try Harness(Self.nightly)
        graph.advance(2 * 3600)
        try graph.set("/house.lamps", 7)
        // The tick at three o'clock makes a commit of its own.
        graph.advance(2 * 3600)
        #expect(try graph.value("/house.resets") == 1)
        graph.advance(Self.day / 2)
        if !isKilled { graph.end() }
        let next = try graph.restarted(Self.nightly, after: 3600)
        #expect(try next.value("/house.resets") == 1)
    }

    private static let time = """
        nodes:
          - id: n
            state: { on: false, count: 1, level: 2.0, fresh: { initial: 1, expires: 30s }, log: [] }
            clock: { second: every 1s, hour: { every: 1h } }
            computed:
              alarm: held(on, duration('5m'))
              late: debounced(count, duration('10s'))
              slow: throttled(count, duration('1m'))
              speed: rate(count, duration('10m'))
              mean: average(level, duration('10m'))
              top: greatest(level, duration('5m'))
              soft: smoothed(level, duration('1m'))
              before: previous(count)
              since: changed(level)
            onChange:
              - { of: alarm, perform: { append: { $log: "='alarm ' + string(newValue)" } } }
              - { of: hour, perform: { append: { $log: "=string(newValue)" } } }
              - { of: late, perform: { append: { $log: "='late ' + string(newValue)" } } }
        """

    @Test(
        "clocks and operators are as after a sleep of the machine",
        arguments: [0.05, 4, 20, 45, 200, 400, 3000, 4000, 90_000])
    func suspended(seconds: Double) throws {
        func live() throws -> Harness {
            let graph = try Harness(Self.time)
            for step in 1...4 {
                graph.advance(60)
                try graph.set("/n.count", .int(Int64(step * step)))
                try graph.set("/n.level", .double(Double(step % 3)))
                try graph.set("/n.fresh", .int(Int64(step)))
            }
            try graph.set("/n.on", true)
            return graph
        }
        let (slept, stopped) = (try live(), try live())
        slept.sleep(seconds)
        stopped.end()
        let next = try stopped.restarted(Self.time, after: seconds)
        for graph in [slept, next] { graph.advance(7) }
        let names = [
            "on", "count", "level", "fresh", "log", "second", "hour", "alarm", "late", "slow", "speed", "mean", "top",
            "soft",
            "before", "since",
        ]
        for name in names {
            let (one, other) = (try? slept.value("/n.\(name)"), try? next.value("/n.\(name)"))
            #expect(one == other, "\(name) after \(seconds) s")
        }
    }

    // MARK: What clients leave

    @Test("what lost clients have left for their end is done at the time of the last commit, before time goes on")
    func wills() throws {
        let scene = """
            nodes:
              - id: host
                state: { isAlive: true, log: [] }
                clock: { hour: { every: 1h } }
                computed: { isGone: "!isAlive", isLost: "held(isGone, duration('5m'))" }
                onChange:
                  - { of: hour, perform: { append: { $log: "='hour ' + string(isAlive)" } } }
                  - { of: isAlive, perform: { append: { $log: '="alive " + string(newValue)' } } }
            """
        let graph = try Harness(scene)
        try graph.succeed(
            .onDisconnect(
                [Mutation(operation: .set, path: "/host.isAlive", value: false)], TransactionOptions(label: "gone")))
        graph.advance(60)
        try graph.set("/host.log", ["begins"])
        let next = try graph.restarted(scene, after: 7200)
        #expect(try next.value("/host.log") == ["begins", "alive false", "hour false"])
        #expect(try next.value("/host.isLost") == true)
        #expect(try next.explained("/host.isAlive")["changed"]?.map?["time"]?.jsonText == #""1970-01-01T00:01:00Z""#)
    }

    // MARK: Transient states, and states that begin

    @Test("transient states begin anew, at the time of the last commit, and call nothing") func transient() throws {
        let scene = """
            nodes:
              - id: n
                state: { mode: { initial: idle, transient: true }, calls: 0 }
                computed: { isCalm: "mode == 'idle'", isIdle: "held(isCalm, duration('5m'))" }
                onChange: { of: mode, perform: { add: { $calls: 1 } } }
            """
        let graph = try Harness(scene)
        try graph.set("/n.mode", "busy")
        #expect(try graph.value("/n.calls") == 1)
        let next = try graph.restarted(scene, after: 600)
        #expect(try next.value("/n.mode") == "idle" && next.value("/n.calls") == 1 && next.value("/n.isIdle") == true)
    }

    @Test(
        "a state that begins with a rule begins with what is stored, not with what the file says",
        arguments: [false, true])
    func begun(isTransient: Bool) throws {
        func scene(_ draft: String) -> String {
            """
            nodes:
              - id: form
                kind: container
                state: { title: file, names: [a] }
                children:
                  - { id: field, binding: { title: $/form.title }, state: { \(draft) } }
                  - { id: rows, forEach: { in: $names, id: self, node: { binding: { title: $/form.title }, state: { own: { initial: =title } } } } }
            """
        }
        let graph = try Harness(scene(""))
        try graph.set("/form.title", "stored")
        try graph.set("/form.names", ["b"])
        let edited = scene("draft: { initial: =title, type: string, transient: \(isTransient) }")
        var next = try graph.restarted(edited, after: 1)
        #expect(try next.value("/form/field.draft") == "stored" && next.value("/form/rows/b.own") == "stored")
        try next.set("/form.title", "later")
        next = try next.restarted(edited, after: 1)
        #expect(try next.value("/form/field.draft") == (isTransient ? "later" : "stored"))
        #expect(try next.value("/form/rows/b.own") == "stored")
    }

    // MARK: Nodes that appear

    private static func hall(_ more: String = "") -> String {
        """
        nodes:
          - id: hall
            kind: container
            state: { here: 0, names: [a, b], guests: { initial: [], transient: true }, log: [] }
            children:
              - { id: desk, onAppear: { add: { $here: 1 } }, onDisappear: { add: { $here: -1 } } }
              - { id: rows, forEach: { in: $names, id: self, as: name, node: { kind: container, onAppear: { add: { $here: 1 } }, onDisappear: { add: { $here: -1 } } } } }
              - { id: visits, forEach: { in: $guests, id: self, node: { state: { n: 0 }, onAppear: { add: { $here: 1 } }, onDisappear: { add: { $here: -1 } } } } }
              - { id: light, state: { on: true }, onChange: { of: on, initial: true, perform: { append: { $log: '=string(newValue)' } } } }
        \(more)
        """
    }

    @Test("the nodes of a scene appear once, in the first turn of their first life") func once() throws {
        var graph = try Harness(Self.hall())
        #expect(try graph.value("/hall.here") == 3 && graph.value("/hall.log") == ["true"])
        for seconds in [1.0, 100] {
            graph = try graph.restarted(Self.hall(), after: seconds)
            #expect(try graph.value("/hall.here") == 3 && graph.value("/hall.log") == ["true"])
        }
        try graph.set("/hall.names", ["b", "c", "d"])
        #expect(try graph.value("/hall.here") == 4)
        graph = try graph.restarted(Self.hall(), after: 1)
        try graph.set("/hall.names", [])
        #expect(try graph.value("/hall.here") == 1)
        try graph.succeed(.remove(path: "/hall/desk", .init()))
        #expect(try graph.value("/hall.here") == 0)
        graph = try graph.restarted(Self.hall(), after: 1)
        #expect(try graph.value("/hall.here") == 0)
        try graph.succeed(.restore(path: "/hall/desk", .init()))
        #expect(try graph.value("/hall.here") == 1)
    }

    @Test("a node that an edited scene adds appears in the first turn, the others do not") func edited() throws {
        let graph = try Harness(Self.hall())
        let edited = Self.hall("      - { id: bell, onAppear: { add: { $here: 10 } } }")
        var next = try graph.restarted(edited, after: 1)
        #expect(try next.value("/hall.here") == 13)
        next = try next.restarted(edited, after: 1)
        #expect(try next.value("/hall.here") == 13)
    }

    @Test("an instance that is fed after a start has appeared, and so has one in a moved node") func waiting() throws {
        let graph = try Harness(Self.hall("  - { id: yard, kind: container }"))
        try graph.set("/hall.guests", ["x", "y"])
        #expect(try graph.value("/hall.here") == 5)
        _ = try graph.apply(
            "nodes: [{ id: box, kind: container, children: [{ id: in, binding: { here: $/hall.here }, onAppear: { add: { $here: 1 } } }] }]"
        )
        try graph.succeed(.move(path: "/box", to: "/yard", index: nil, .init()))
        #expect(try graph.value("/hall.here") == 6)
        let next = try Harness(Self.hall("  - { id: yard, kind: container }"), from: graph, after: 1)
        _ = next.runtime.restore(Array(graph.rows.values))
        #expect(try next.value("/hall.here") == 6)
        try next.set("/hall.guests", ["x", "y", "z"])
        #expect(try next.value("/hall.here") == 7)
        try next.set("/hall.guests", [])
        #expect(try next.value("/hall.here") == 4)
        try next.set("/hall.guests", ["x"])
        #expect(try next.value("/hall.here") == 5)
    }

    @Test("a document that gives a node more actions calls them only if the node has not appeared") func added() throws
    {
        let graph = try Harness("nodes: [{ id: n, state: { here: 0 } }]")
        _ = try graph.apply("nodes: [{ id: n, actions: { a: { on: appear, perform: { add: { $here: 1 } } } } }]")
        #expect(try graph.value("/n.here") == 1)
        _ = try graph.apply("nodes: [{ id: n, actions: { b: { on: appear, perform: { add: { $here: 10 } } } } }]")
        #expect(try graph.value("/n.here") == 1)
    }
}
