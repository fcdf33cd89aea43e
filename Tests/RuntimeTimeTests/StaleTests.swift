import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness
@testable import ViewGraph

/// States that expire, and when states were last reported.
@Suite("Reports and stale states")
struct StaleTests {
    private static let sensor = """
        nodes:
          - id: n
            state:
              x: { initial: 1, expires: 30s }
              map: { initial: { a: 1, b: 1 }, expires: 30s }
              on: { initial: false, expires: 30s }
              list: { initial: [1], expires: 30s }
              plain: 0
            computed:
              double: x * 2
              seen: reported(x)
              part: map.a
              isOver: x > 0 || plain == 1
        """

    private func time(_ seconds: Double) -> Value {
        .timestamp(Timestamp.epoch.advanced(by: TimeSpan(nanoseconds: Int64(seconds * 1e9))) ?? .epoch)
    }

    private func stale(_ path: String, _ graph: Harness) throws -> String? {
        guard case .failure(let failure) = try graph.get(path), failure.code == .stale else { return nil }
        return failure.message
    }

    private func mutate(_ operation: Mutation.Operation, _ path: String, _ value: Value? = nil) -> Mutation {
        Mutation(operation: operation, path: path, value: value)
    }

    private func restarted(_ graph: Harness, after seconds: Double) throws -> Harness {
        try graph.restarted(StaleTests.sensor, after: seconds)
    }

    // MARK: Expiring

    @Test("a state that nobody writes becomes stale at its moment, in a transaction of its own, and says since when")
    func expires() throws {
        let graph = try Harness(StaleTests.sensor)
        graph.advance(5)
        try graph.set("/n.x", 2)
        try graph.subscribe(["/n.x", "/n.double", "/n.isOver"], initial: true)
        let wait = try #require(graph.runtime.nextDeadline) - graph.now.monotonic
        #expect(wait == 25, "the others expire after 30 seconds")
        graph.advance(29.5)
        #expect(graph.changes == [:])
        graph.advance(0.5)
        let failure = Failure(
            .stale, "nobody has written it since 1970-01-01T00:00:05Z (expires: 30s)", path: "/n.x")
        #expect(
            graph.changes == [
                "/n.x": .failure(failure), "/n.double": .failure(failure), "/n.isOver": .failure(failure),
            ])
        // Nothing happens any more.
        #expect(graph.runtime.nextDeadline == nil)
        graph.advance(1000)
        #expect(graph.changes == [:])
        #expect(try graph.get("/n.x") == .failure(failure))
        try graph.set("/n.plain", 1)
        #expect(try graph.get("/n.isOver") == .value(true))
    }

    @Test("a write of an equal value keeps a state fresh, runs no rule over the value, and makes a stale one fresh")
    func equalWrites() throws {
        let graph = try Harness(StaleTests.sensor)
        try graph.subscribe(["/n.x", "/n.double"], initial: true)
        for _ in 0..<10 {
            graph.advance(20)
            _ = graph.runs()
            try graph.set("/n.x", 1)
            #expect(graph.changes == [:])
            #expect(!graph.runs().contains("/n.double"))
        }
        graph.advance(30)
        #expect(graph.changes.count == 2)
        try graph.set("/n.x", 1)
        #expect(graph.changes == ["/n.x": .value(1), "/n.double": .value(2)])
        graph.advance(29)
        #expect(graph.changes == [:])
        graph.advance(1)
        #expect(graph.changes.count == 2)
    }

    @Test("a state that was never written counts from when it was made") func neverWritten() throws {
        let graph = try Harness(StaleTests.sensor)
        graph.advance(100)
        _ = try graph.apply("nodes: [{ id: late, state: { y: { type: double?, expires: 1m } } }]")
        graph.advance(59)
        #expect(try graph.get("/late.y") == .value(.null))
        graph.advance(1)
        #expect(try stale("/late.y", graph)?.contains("1970-01-01T00:01:40Z") == true)
    }

    @Test(
        "what follows from the present value is refused with the error, and changes nothing",
        arguments: [
            (.add, "/n.x", 1), (.toggle, "/n.on", nil), (.append, "/n.list", 2), (.insert, "/n.list", 2),
            (.remove, "/n.map.a", nil), (.add, "/n.map.a", 1),
        ] as [(Mutation.Operation, String, Int64?)])
    func updates(operation: Mutation.Operation, path: String, value: Int64?) throws {
        let graph = try Harness(StaleTests.sensor)
        let mutation = mutate(operation, path, value.map { .int($0) })
        try graph.transact([mutation])
        graph.advance(30)
        let revision = graph.runtime.revision
        #expect(refusal { try graph.transact([mutation]) }?.code == .stale)
        #expect(refusal { try graph.transact([mutation]) }?.message.contains("1970-01-01T00:00:00Z") == true)
        #expect(graph.runtime.revision == revision)
        // Behind a write of the same transaction there is a value.
        let whole = String(path.prefix { $0 != "." }) + "." + path.split(separator: ".")[1]
        let fresh: Value = ["/n.x": 1, "/n.on": true, "/n.list": [1], "/n.map": ["a": 1, "b": 1]]
        let first = try #require(fresh.map?[.string(whole)])
        try graph.transact([mutate(.set, whole, first), mutation])
        #expect(try stale(whole, graph) == nil)
    }

    @Test("a test fails and says why") func tests() throws {
        let graph = try Harness(StaleTests.sensor)
        graph.advance(30)
        let refused = refusal { try graph.transact([mutate(.test, "/n.x", 1)]) }
        #expect(refused?.code == .conflict)
        #expect(refused?.message.contains("nobody has written it since") == true)
    }

    @Test("a write through a binding with rules makes a stale state fresh; what needs the present value is refused")
    func throughRules() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { x: { initial: 1, expires: 30s }, m: { initial: { a: 1 }, expires: 30s } }
                children:
                  - id: c
                    binding:
                      twice: { get: x * 2, set: { $x: =newValue / 2 } }
                      same: { get: m, set: { $m: =newValue } }
                      sum: { get: x, set: { $x: =newValue + m.a } }
            """)
        graph.advance(30)
        let revision = graph.runtime.revision
        #expect(refusal { try graph.transact([mutate(.add, "/n/c.twice", 2)]) }?.code == .stale)
        #expect(refusal { try graph.set("/n/c.same.a", 2) }?.code == .stale)
        #expect(refusal { try graph.transact([mutate(.merge, "/n/c.same", ["b": 2])]) }?.code == .stale)
        #expect(refusal { try graph.set("/n/c.sum", 2) }?.code == .stale, "the rule reads a stale state")
        #expect(refusal { try graph.set("/n/c.twice", "x") }?.code == .typeMismatch)
        #expect(graph.runtime.revision == revision)
        try graph.set("/n/c.twice", 8)
        try graph.set("/n/c.same", ["a": 3])
        #expect(try graph.value("/n.x") == 4 && graph.value("/n/c.twice") == 8 && graph.value("/n.m") == ["a": 3])
        try graph.set("/n/c.sum", 2)
        #expect(try graph.value("/n.x") == 5)
    }

    @Test("the error of a stale state names the place to which its node has moved") func moved() throws {
        let graph = try Harness(
            """
            nodes:
              - { id: top, kind: container, children: [{ id: inner, state: { x: { initial: 1, expires: 30s } } }] }
              - { id: other, kind: container }
            """)
        graph.advance(30)
        try graph.subscribe(["/**"], initial: true)
        try graph.succeed(.move(path: "/top", to: "/other", index: nil, .init()))
        let path = "/other/top/inner.x"
        #expect(graph.changes[path]?.failure?.path == path)
        #expect(try graph.get(path).failure?.path == path)
    }

    @Test("a write of a part keeps a state fresh, and makes a stale one fresh with the other parts' last values")
    func parts() throws {
        let graph = try Harness(StaleTests.sensor)
        graph.advance(20)
        try graph.set("/n.map.a", 1)
        graph.advance(20)
        #expect(try graph.get("/n.part") == .value(1))
        try graph.set("/n.map.b", 5)
        graph.advance(30)
        #expect(try stale("/n.part", graph) != nil)
        try graph.set("/n.map.a", 7)
        #expect(try graph.value("/n.map") == ["a": 7, "b": 5])
        graph.advance(30)
        try graph.transact([mutate(.merge, "/n.map", ["b": 6])])
        #expect(try graph.value("/n.map") == ["a": 7, "b": 6])
    }

    @Test("a write that is refused or rolled back makes nothing fresh") func refused() throws {
        let graph = try Harness(StaleTests.sensor)
        graph.advance(20)
        #expect(refusal { try graph.transact([mutate(.set, "/n.x", 1), mutate(.toggle, "/n.plain")]) } != nil)
        graph.advance(10)
        #expect(try stale("/n.x", graph) != nil)
        #expect(refusal { try graph.transact([mutate(.set, "/n.x", 1), mutate(.toggle, "/n.plain")]) } != nil)
        #expect(try stale("/n.x", graph) != nil)
        #expect(refusal { try graph.set("/n.x", "text") }?.code == .typeMismatch)
    }

    @Test("a write through a binding or an action counts") func ways() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { x: { initial: 1, expires: 30s } }
                actions: { report: { set: { $x: 1 } } }
                children: [{ id: c, binding: { y: $x } }]
            """)
        graph.advance(20)
        try graph.set("/n/c.y", 1)
        graph.advance(20)
        #expect(try graph.get("/n.x") == .value(1))
        try graph.succeed(.do(path: RequestPath("/n.report"), arguments: ValueMap(), TransactionOptions()))
        graph.advance(29)
        #expect(try graph.get("/n/c.y") == .value(1))
        graph.advance(1)
        #expect(try stale("/n/c.y", graph) != nil)
    }

    @Test("expires comes, goes and changes with the definition, and the last report stays") func redefined() throws {
        let graph = try Harness(StaleTests.sensor)
        try graph.set("/n.x", 4)
        graph.advance(40)
        #expect(try stale("/n.x", graph) != nil)
        _ = try graph.apply("nodes: [{ id: n, state: { x: { initial: 1, expires: 60s } } }]")
        #expect(try graph.get("/n.x") == .value(4))
        #expect(try graph.get("/n.double") == .value(8))
        graph.advance(20)
        #expect(try stale("/n.x", graph)?.contains("expires: 60s") == true)
        _ = try graph.apply("nodes: [{ id: n, state: { x: { initial: 1, expires: 30s } } }]")
        #expect(try stale("/n.x", graph) != nil)
        _ = try graph.apply("nodes: [{ id: n, state: { x: 1 } }]")
        #expect(try graph.get("/n.x") == .value(4))
        graph.advance(100)
        #expect(try graph.get("/n.x") == .value(4))
        #expect(try graph.get("/n.seen") == .value(time(0)))
        _ = try graph.apply("nodes: [{ id: n, state: { x: { initial: 1, expires: 30s } } }]")
        graph.advance(0)
        #expect(try stale("/n.x", graph)?.contains("1970-01-01T00:00:00Z") == true)
        try graph.succeed(.remove(path: "/n", TransactionOptions()))
        graph.settle()
        graph.turn([])
        #expect(graph.runtime.nextDeadline == nil)
    }

    @Test("it is written back as it was defined, also while it is stale") func exported() throws {
        let graph = try Harness(StaleTests.sensor)
        try graph.set("/n.x", 5)
        graph.advance(30)
        let node = try graph.exported().map?["nodes"]?.list?.first?.map
        #expect(node?["state"]?.map?["x"] == ["initial": 5, "expires": "30s"])
        #expect(try graph.described("/n")["attributes"] != nil)
        let again = try Harness(document: graph.exported())
        #expect(try again.get("/n.x") == .value(5))
        again.advance(30)
        #expect(try stale("/n.x", again) != nil)
    }

    @Test("lengths of time that are none, too short or too long, and objects are refused with what to write")
    func faults() throws {
        func fault(_ state: String) -> String? {
            refusal { try Harness("nodes: [{ id: n, state: { x: \(state) } }]\n") }?.description
        }
        #expect(fault("{ initial: 0, expires: soon }")?.contains("'soon' is not a length of time") == true)
        #expect(fault("{ initial: 0, expires: 1ms }")?.contains("after 10 ms to") == true)
        #expect(fault("{ initial: 0, expires: 900000h }")?.contains("after 10 ms to") == true)
        #expect(fault("{ initial: 0, expired: 30s }")?.contains("did you mean 'expires'") == true)
    }

    // MARK: Reported

    @Test("reported is the time of the last write, and watchers are told of equal ones") func reported() throws {
        let graph = try Harness(
            "nodes: [{ id: n, state: { x: 1 }, computed: { seen: reported(x), since: changed(x), twice: x * 2 } }]\n")
        graph.advance(3)
        #expect(try graph.value("/n.seen") == time(0))
        try graph.subscribe(["/n.*"], initial: true)
        try graph.set("/n.x", 1)
        #expect(graph.changes == ["/n.seen": .value(time(3))])
        graph.advance(4)
        _ = graph.runs()
        try graph.set("/n.x", 1)
        #expect(graph.changes == ["/n.seen": .value(time(7))])
        #expect(graph.runs() == ["/n.seen"])
        graph.advance(1)
        try graph.set("/n.x", 2)
        #expect(
            graph.changes == [
                "/n.x": .value(2), "/n.seen": .value(time(8)), "/n.since": .value(time(8)), "/n.twice": .value(4),
            ])
        #expect(try graph.value("/n.since") == time(8))
    }

    @Test("reported of a rule is its last change, and of a stale state its last report") func reportedOthers() throws {
        let graph = try Harness(StaleTests.sensor)
        graph.advance(7)
        try graph.set("/n.x", 1)
        graph.advance(60)
        #expect(try stale("/n.x", graph) != nil)
        #expect(try graph.value("/n.seen") == time(7))
        let rule = try Harness(
            "nodes: [{ id: n, state: { x: 1 }, computed: { y: x / 10, seen: reported(y) } }]\n")
        rule.advance(3)
        try rule.set("/n.x", 2)
        #expect(try rule.value("/n.seen") == time(0))
        try rule.set("/n.x", 20)
        #expect(try rule.value("/n.seen") == time(3))
    }

    @Test("a repeated on extends a timer") func timer() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { motion: false }
                computed:
                  last: reported(motion)
                  isLit: motion && last != debounced(last, duration('5m'))
            """)
        try graph.subscribe(["/n.isLit"], initial: true)
        graph.advance(1000)
        try graph.set("/n.motion", true)
        #expect(graph.changes == ["/n.isLit": .value(true)])
        for _ in 0..<3 {
            graph.advance(200)
            try graph.set("/n.motion", true)
            #expect(graph.changes == [:])
        }
        graph.advance(299)
        #expect(graph.changes == [:])
        graph.advance(1)
        #expect(graph.changes == ["/n.isLit": .value(false)])
        graph.advance(1000)
        try graph.set("/n.motion", true)
        #expect(graph.changes == ["/n.isLit": .value(true)])
    }

    // MARK: Restarts

    @Test("reports and expiry survive a restart, and the downtime counts", arguments: [false, true])
    func restart(isKilled: Bool) throws {
        let graph = try Harness(StaleTests.sensor)
        graph.advance(100)
        try graph.set("/n.x", 8)
        graph.advance(15)
        try graph.set("/n.map.b", 2)
        if !isKilled { graph.end() }
        let next = try restarted(graph, after: 10)
        #expect(try next.value("/n.x") == 8)
        #expect(try next.value("/n.seen") == time(100))
        #expect(try next.value("/n.map") == ["a": 1, "b": 2])
        #expect(try stale("/n.on", next) != nil, "it was stale before")
        try next.subscribe(["/n.x"], initial: true)
        next.advance(4.5)
        #expect(next.changes == [:])
        next.advance(0.5)
        #expect(try stale("/n.x", next)?.contains("1970-01-01T00:01:40Z") == true)
        if !isKilled { next.end() }
        let last = try restarted(next, after: 1)
        #expect(try stale("/n.x", last)?.contains("1970-01-01T00:01:40Z") == true)
        #expect(try last.value("/n.map.b") == 2)
        #expect(try last.value("/n.seen") == time(100))
        try last.set("/n.x", 8)
        #expect(try last.value("/n.double") == 16)
    }

    @Test("equal reports cost the store a row every ten seconds, and none is late after a crash") func stored() throws {
        let graph = try Harness(StaleTests.sensor)
        graph.advance(100)
        try graph.set("/n.x", 2)
        #expect(graph.kept.contains { $0.name == "x reported" })
        var rows = 0
        for _ in 0..<20 {
            graph.advance(1)
            try graph.set("/n.x", 2)
            #expect(!graph.kept.contains { $0.name == "x" })
            rows += graph.kept.count { $0.name == "x reported" }
        }
        #expect(rows == 2)
        graph.advance(5)
        try graph.set("/n.x", 2)
        let next = try restarted(graph, after: 0)
        guard case .timestamp(let seen) = try next.value("/n.seen"), let age = next.now.wall.since(seen) else {
            throw Failure(.unavailable, "no time")
        }
        #expect(0...10 ~= age.seconds)
    }

    @Test("a transient state begins anew, at the end of the earlier life") func transient() throws {
        let scene = "nodes: [{ id: n, state: { x: { initial: 1, transient: true, expires: 30s } } }]\n"
        let graph = try Harness(scene)
        graph.advance(40)
        #expect(try stale("/n.x", graph) != nil)
        graph.end()
        #expect(graph.rows.isEmpty)
        let next = try graph.restarted(scene, after: 10)
        #expect(try next.value("/n.x") == 1)
        next.advance(20)
        #expect(try stale("/n.x", next)?.contains("1970-01-01T00:00:40Z") == true)
    }

    @Test("an error of a stale state tells a client nothing of a state that it may not read") func rights() throws {
        let graph = try Harness(StaleTests.sensor)
        graph.turn([
            .accessChanged(AccessRules([AccessRule(.read, [.everyone], try PathPattern("/n.double"))], owner: 7))
        ])
        graph.advance(30)
        guard case .failure(let failure) = try graph.get("/n.double") else { throw Failure(.unavailable, "a value") }
        #expect(failure.code == .stale)
        #expect(failure.path == nil && failure.message == "it depends on an attribute that has an error")
    }
}
