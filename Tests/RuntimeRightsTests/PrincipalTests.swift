import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Clients that act for somebody else: `hello` with `as`.
@Suite("Principals")
struct PrincipalTests {
    /// Client 1 and client 2 are user 1000, who has every right; the daemon is user 7.
    private func harness(_ rules: [AccessRule], mayAdminister: Bool = true) throws -> Harness {
        let graph = try Harness(AccessTests.scene)
        try adopt(rules, mayAdminister: mayAdminister, graph)
        return graph
    }

    private func adopt(_ rules: [AccessRule], mayAdminister: Bool = true, _ graph: Harness) throws {
        let own = AccessRule(mayAdminister ? .admin : .define, [.user(1000)], .everything)
        graph.turn([.accessChanged(AccessRules([own] + rules, owner: 7))])
    }

    private func rule(_ right: AccessRight, _ pattern: String, as name: String = "web") throws -> AccessRule {
        AccessRule(right, [.principal(name)], try PathPattern(pattern))
    }

    private func act(for name: String, _ graph: Harness, from client: UInt64 = 1) throws {
        try graph.succeed(.hello(client: "gateway", principal: name), from: client)
    }

    private func isDenied(_ body: () throws -> some Any) -> Bool { refusal(body)?.code == .denied }

    private func explained(_ path: String, _ graph: Harness, from client: UInt64) throws -> ValueMap? {
        try graph.explained(path, from: client)["changed"]?.map?["client"]?.map
    }

    @Test("a client that acts for a principal has what the principal's lines give, in every method") func rights()
        throws
    {
        let graph = try harness([try rule(.write, "/hosts/a/**"), try rule(.define, "/**", as: "other")])
        try act(for: "web", graph)
        try graph.set("/hosts/a.load", 5)
        #expect(
            refusal { try graph.set("/secret.key", 8) }?.message
                == "principal web lacks the right 'write' on /secret.key")
        let refused: [Request] = [
            .get(.init(paths: ["/secret.key"], isSingle: true)),
            .subscribe(.init(patterns: ["/**"])),
            .eval(expression: "1", bindings: ValueMap(), at: nil, typed: false),
            .explain(path: "/secret.key", revision: nil), .describe(path: "/secret", depth: nil),
            .dump(path: "/", format: .json), .stats(format: .json), .trace(enable: nil), .prune,
            .remove(path: "/hosts/a", TransactionOptions()),
            .onDisconnect([Mutation(operation: .toggle, path: "/secret.key")], TransactionOptions()),
        ]
        for request in refused { #expect(isDenied { try graph.succeed(request) }, "\(request)") }
        #expect(try graph.value("/hosts/a.load") == 5.0)
        // Another connection of the same process is not concerned.
        try graph.set("/secret.key", 9, from: 2)
    }

    @Test("a principal without lines may do nothing, not even what everyone may, with access lines or without")
    func nothing() throws {
        let graph = try harness([AccessRule(.read, [.everyone], .everything)])
        try act(for: "web", graph)
        #expect(isDenied { try graph.get("/hosts/a.load") })
        let open = try Harness(AccessTests.scene)
        try act(for: "web", open)
        #expect(isDenied { try open.get("/hosts/a.load") })
        try open.set("/secret.key", 9, from: 2)
    }

    @Test("a client cannot act for another principal after the first, nor for itself again") func forGood() throws {
        let graph = try harness([try rule(.admin, "/**"), try rule(.read, "/hosts/**", as: "other")])
        try act(for: "web", graph)
        #expect(isDenied { try act(for: "other", graph) })
        try graph.succeed(.hello(client: "still", principal: nil))
        try act(for: "web", graph)
        try act(for: "other", graph, from: 2)
        #expect(isDenied { try act(for: "web", graph, from: 2) })
        #expect(isDenied { try graph.get("/secret.key", from: 2) })
    }

    @Test("only the right admin lets a client act for somebody; a refused hello changes nothing") func needsAdmin()
        throws
    {
        let graph = try harness([try rule(.read, "/hosts/**")], mayAdminister: false)
        #expect(isDenied { try act(for: "web", graph) })
        try graph.set("/secret.key", 8)
    }

    @Test(
        "a name is of ASCII letters, digits and a few signs",
        arguments: ["", "a b", "a,b", "é", "a\n", String(repeating: "x", count: 65)])
    func names(_ name: String) throws {
        let graph = try harness([])
        #expect(refusal { try act(for: name, graph) }?.code == .invalid)
        try act(for: "Wall-screen_2@kitchen.example", graph, from: 2)
    }

    @Test("subscriptions that the principal may not have end when the client begins to act for it") func earlier()
        throws
    {
        let graph = try harness([try rule(.read, "/hosts/**")])
        try graph.subscribe(["/secret.key"])
        try graph.subscribe(["/hosts/a.load"])
        try act(for: "web", graph)
        try graph.set("/secret.key", 8, from: 2)
        #expect(graph.events.isEmpty)
        try graph.set("/hosts/a.load", 8, from: 2)
        #expect(graph.events.count == 1)
    }

    @Test("new lines hold for clients that act for a principal; without admin of their user they have no rights")
    func reload() throws {
        let graph = try harness([try rule(.read, "/hosts/**")])
        try act(for: "web", graph)
        #expect(isDenied { try graph.set("/hosts/a.load", 5) })
        try adopt([try rule(.write, "/hosts/**")], graph)
        try graph.set("/hosts/a.load", 5)
        try adopt([], graph)
        #expect(isDenied { try graph.get("/hosts/a.load") })
        try adopt([try rule(.write, "/hosts/**")], mayAdminister: false, graph)
        #expect(isDenied { try graph.get("/hosts/a.load") })
        try graph.set("/hosts/a.load", 6, from: 2)
    }

    @Test("explain names the principal, to other principals of the same user only if they may read everything")
    func explain() throws {
        let graph = try harness([try rule(.write, "/hosts/**"), try rule(.read, "/hosts/**", as: "other")])
        try act(for: "web", graph)
        try graph.set("/hosts/a.load", 5)
        #expect(try explained("/hosts/a.load", graph, from: 1)?["as"] == "web")
        #expect(try explained("/hosts/a.load", graph, from: 2)?["as"] == "web")
        graph.turn([.connected(ClientID(number: 3), Peer(pid: 3, uid: 1000, gid: 1000))])
        try act(for: "other", graph, from: 3)
        #expect(try explained("/hosts/a.load", graph, from: 3) == nil)
        try graph.set("/hosts/b.load", 5, from: 2)
        #expect(try explained("/hosts/b.load", graph, from: 2)?["as"] == nil)
    }
}
