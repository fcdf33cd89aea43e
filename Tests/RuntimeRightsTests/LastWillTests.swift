import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// What a client leaves for its disconnect, when daemon and client end together.
@Suite("Last wills")
struct LastWillTests {
    private static let scene = "nodes: [{ id: host, state: { isAlive: true, n: 0 } }, { id: other, state: { x: 1 } }]"

    private static func will(_ path: String, _ value: Value = false) -> Request {
        .onDisconnect([Mutation(operation: .set, path: path, value: value)], TransactionOptions(label: "feeder gone"))
    }

    /// The next life of a daemon that was killed.
    private func restarted(_ graph: Harness, _ rules: AccessRules = AccessRules(), scene: String = scene) throws
        -> Harness
    {
        let rows = Array(graph.rows.values)
        let next = try Harness(scene, from: graph, after: 1)
        next.turn([.accessChanged(rules)])
        _ = next.runtime.restore(rows)
        return next
    }

    @Test("the next life of a killed daemon performs it once, and says so") func once() throws {
        let graph = try Harness(LastWillTests.scene)
        try graph.succeed(Self.will("/host.isAlive"))
        try graph.succeed(
            .onDisconnect([Mutation(operation: .add, path: "/host.n", value: 1)], TransactionOptions()))
        var next = try restarted(graph)
        #expect(next.runtime.hasLostWills)
        next.turn([])
        #expect(try next.value("/host.isAlive") == false)
        #expect(try next.value("/host.n") == 1)
        #expect(
            try next.explained("/host.isAlive")["changed"]?.map?["label"]
                == "feeder gone (the daemon ended before the client)")
        #expect(!next.rows.keys.contains { $0.hasPrefix("@disconnect") })
        next = try restarted(next)
        next.turn([])
        #expect(try next.value("/host.n") == 1)
    }

    @Test("nothing is left of a client that has disconnected before") func disconnected() throws {
        let graph = try Harness(LastWillTests.scene)
        try graph.succeed(Self.will("/host.isAlive"))
        #expect(graph.rows.keys.contains { $0.hasPrefix("@disconnect") })
        graph.turn([.disconnected(ClientID(number: 1))])
        #expect(!graph.rows.keys.contains { $0.hasPrefix("@disconnect") })
    }

    @Test("a path that is gone and a right that was taken away are told to the log") func told() throws {
        let graph = try Harness(LastWillTests.scene)
        try graph.succeed(.hello(client: "feeder", principal: nil))
        try graph.succeed(Self.will("/host.isAlive"))
        try graph.succeed(Self.will("/other.x", 5))
        let rules = AccessRules([AccessRule(.write, [.user(1000)], try PathPattern("/other/**"))], owner: 7)
        let next = try restarted(graph, rules, scene: "nodes: [{ id: host, state: { isAlive: true } }]")
        let outcome = next.runtime.apply([], at: next.now)
        #expect(
            outcome.faults.map(\.message) == [
                "onDisconnect of feeder (user 1000): user 1000 lacks the right 'write' on /host.isAlive",
                "onDisconnect of feeder (user 1000): no node other in /",
            ])
        #expect(
            try next.runtime.graph.content(at: next.runtime.graph.locate(text: "/host.isAlive").place) == .value(true))
    }
}
