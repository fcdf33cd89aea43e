import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Requests with an identifier, which are performed once.
@Suite("Requests that are sent again")
struct RepeatTests {
    private static let scene = "nodes: [{ id: c, state: { n: 0, d: 0.0, t: { initial: 0, transient: true } } }]"

    private static func add(_ once: String, to path: String = "/c.n") -> Request {
        .transact([Mutation(operation: .add, path: path, value: 1)], TransactionOptions(once: once))
    }

    @Test("a request with a known identifier is answered with the first revision, and changes nothing")
    func repeated() throws {
        let graph = try Harness(RepeatTests.scene)
        try graph.succeed(Self.add("a"))
        let first = graph.runtime.revision
        try graph.succeed(Self.add("b"))
        let again = try graph.map(Self.add("a"))
        #expect(again["revision"] == .int(Int64(first)) && again["repeated"] == true)
        #expect(try graph.value("/c.n") == 2)
    }

    @Test("a request that was refused is performed when it comes again") func refused() throws {
        let graph = try Harness(RepeatTests.scene)
        #expect(refusal { try graph.succeed(Self.add("a", to: "/c.m")) }?.code == .notFound)
        try graph.succeed(Self.add("a"))
        #expect(try graph.value("/c.n") == 1)
    }

    @Test("an identifier of another principal is another one") func others() throws {
        let graph = try Harness(RepeatTests.scene, clients: 2)
        let rules = [
            AccessRule(.admin, [.user(1000)], try PathPattern("/**")),
            AccessRule(.write, [.principal("anna")], try PathPattern("/**")),
        ]
        graph.turn([.accessChanged(AccessRules(rules, owner: 1000))])
        try graph.succeed(Self.add("a"))
        try graph.succeed(.hello(client: nil, principal: "anna"), from: 2)
        try graph.succeed(Self.add("a"), from: 2)
        #expect(try graph.value("/c.n") == 2)
    }

    @Test("only the newest identifiers are known, and a long one is refused") func bounded() throws {
        var limits = RuntimeLimits()
        limits.onceIdentifiers = 3
        let graph = try Harness(RepeatTests.scene, limits: limits)
        for once in ["a", "b", "c", "d", "b", "a"] { try graph.succeed(Self.add(once)) }
        // b was known, a not any more.
        #expect(try graph.value("/c.n") == 5)
        let long = String(repeating: "x", count: limits.onceLength + 1)
        #expect(refusal { try graph.succeed(Self.add(long)) }?.code == .invalid)
        #expect(refusal { try graph.succeed(Self.add("")) }?.code == .invalid)
    }

    @Test("nobody loses an identifier to somebody who uses more of them", arguments: [false, true])
    func shares(isRestored: Bool) throws {
        var limits = RuntimeLimits()
        limits.onceIdentifiers = 10
        var graph = try Harness(RepeatTests.scene, limits: limits)
        func connect() {
            graph.turn([.connected(ClientID(number: 3), Peer(pid: 3, uid: 1001, gid: 1001))])
        }
        connect()
        for once in ["a", "b"] { try graph.succeed(Self.add(once), from: 3) }
        for number in 0..<100 { try graph.succeed(Self.add("\(number)")) }
        #expect(graph.rows.keys.filter { $0.hasPrefix("@once") }.count == 10)
        if isRestored {
            let rows = Array(graph.rows.values)
            graph = try Harness(RepeatTests.scene, limits: limits)
            _ = graph.runtime.restore(rows)
            connect()
        }
        let before = try graph.value("/c.n")
        for once in ["a", "b"] { #expect(try graph.map(Self.add(once), from: 3)["repeated"] == true) }
        #expect(try graph.map(Self.add("99"))["repeated"] == true)
        #expect(try graph.value("/c.n") == before)
        // Who comes later gets as much as everybody else.
        for number in 0..<5 { try graph.succeed(Self.add("late\(number)"), from: 3) }
        for once in ["late0", "late4"] { #expect(try graph.map(Self.add(once), from: 3)["repeated"] == true) }
    }

    @Test("an animation that has run for a while is where it would be") func elapsed() throws {
        let graph = try Harness(RepeatTests.scene)
        try graph.subscribe(["/c.d"])
        let options = TransactionOptions(animation: "linear(duration: 4)", elapsed: 1)
        try graph.succeed(.set(Mutation(operation: .set, path: "/c.d", value: 8.0), options))
        #expect(try graph.value("/c.d", presentation: true) == 2.0)
        for elapsed in [-1, .infinity, .nan] {
            let options = TransactionOptions(animation: "linear(duration: 4)", elapsed: elapsed)
            let request = Request.set(Mutation(operation: .set, path: "/c.d", value: 9.0), options)
            #expect(refusal { try graph.succeed(request) }?.code == .invalid)
        }
    }
}
