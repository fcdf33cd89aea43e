import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// A greedy user, a modest one, and root, for each limit of the whole runtime.
@Suite("Shares of users")
struct ShareTests {
    private static let (greedy, modest, root, wall) = (UInt64(11), UInt64(12), UInt64(13), UInt64(14))
    private static let scene = """
        nodes:
          - id: top
            kind: container
            children: [\((0..<100).map { "{ id: n\($0), kind: container, state: { x: \($0) } }" }.joined(separator: ", "))]
          - { id: own, kind: container }
        """

    private func harness(_ change: (inout RuntimeLimits) -> Void) throws -> Harness {
        var limits = RuntimeLimits()
        change(&limits)
        let graph = try Harness(ShareTests.scene, limits: limits)
        let users: [(UInt64, UInt32)] = [(Self.greedy, 1001), (Self.modest, 1002), (Self.root, 0), (Self.wall, 0)]
        for (client, user) in users {
            graph.turn([.connected(ClientID(number: client), Peer(pid: 9, uid: user, gid: user))])
        }
        return graph
    }

    private func isRefused(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch { return (error as? Failure)?.code == .limit }
    }

    /// Repeats what takes one more of the limit until it is refused.
    private func count(_ body: (Int) throws -> Void) -> Int {
        (0..<200).first { number in isRefused { try body(number) } } ?? 200
    }

    // MARK: Watched attributes

    @Test("one user's subscriptions leave attributes for another's, and root gets the last ones") func watched() throws
    {
        let graph = try harness { $0.watchedAttributes = 64 }
        func watch(_ client: UInt64, from first: Int = 0) -> Int {
            count { try graph.subscribe(["/top/n\(first + $0).x"], from: client) }
        }
        #expect(watch(Self.greedy) == 47)
        #expect(watch(Self.modest, from: 47) == 12)
        #expect(watch(Self.root, from: 60) == 5)
        #expect(graph.runtime.watching.topics.ledger.count == 64)
    }

    @Test("attributes that several users watch count once for all, and for each") func together() throws {
        let graph = try harness { $0.watchedAttributes = 160 }
        let patterns = ["/top/*.x"]
        for client in [Self.greedy, Self.modest, Self.root] { try graph.subscribe(patterns, from: client) }
        let ledger = graph.runtime.watching.topics.ledger
        #expect(ledger.count == 100)
        for owner in [AccessRule.Subject.user(1001), .user(1002), .user(0)] { #expect(ledger.used(by: owner) == 100) }
        // What they have together costs each of them, so nobody evades the share with others' patterns.
        #expect(
            isRefused {
                try graph.subscribe(["/top/*.x", "/own.*"], events: [.update, .structure], from: Self.greedy)
            })
        graph.turn([.disconnected(ClientID(number: Self.greedy))])
        #expect(ledger.count == 100 && ledger.used(by: .user(1001)) == 0)
    }

    @Test("a principal has a share of its own, and root's connection for it no place of root's") func principals()
        throws
    {
        let graph = try harness { $0.watchedAttributes = 64 }
        let rules = [
            AccessRule(.read, [.principal("wall")], .everything), AccessRule(.admin, [.everyone], .everything),
        ]
        graph.turn([.accessChanged(AccessRules(rules))])
        try graph.succeed(.hello(client: nil, principal: "wall"), from: Self.wall)
        #expect(count { try graph.subscribe(["/top/n\($0).x"], from: Self.wall) } == 47)
        #expect(graph.runtime.watching.topics.ledger.used(by: .principal("wall")) == 47)
        #expect(graph.runtime.watching.topics.ledger.used(by: .user(0)) == 0)
        _ = try graph.subscribe(["/top/n0.x", "/top/n99.x"], from: Self.root)
    }

    @Test("attributes that were removed no longer count for those who watched them") func removal() throws {
        let graph = try harness { $0.watchedAttributes = 160 }
        _ = try graph.subscribe(["/top/**"], from: Self.modest)
        let ledger = graph.runtime.watching.topics.ledger
        let before = ledger.used(by: .user(1002))
        try graph.succeed(.remove(path: "/top/n7", TransactionOptions()), from: Self.root)
        #expect(ledger.count == before - 1 && ledger.used(by: .user(1002)) == ledger.count)
    }

    @Test("new nodes end the subscriptions of whoever then watches more than anybody may, and of nobody else")
    func growth() throws {
        let graph = try harness { $0.watchedAttributes = 64 }
        let greedy = try graph.subscribe(["/own/**"], from: Self.greedy)
        let shared = try graph.subscribe(["/own/**"], from: Self.root)
        let modest = try graph.subscribe(["/top/n1.x"], from: Self.modest)
        let nodes = (0..<50).map { "{ id: m\($0), state: { y: 1 } }" }.joined(separator: ", ")
        _ = try graph.apply("nodes: [{ id: own, kind: container, children: [\(nodes)] }]", mode: .merge)
        var ended: [Int64] = []
        for case .event(let receivers, .ended(.limit, let reason)) in graph.deliveries {
            ended += receivers.map(\.subscription)
            #expect(reason.contains("user:1001") && reason.contains("watched-attributes"))
        }
        #expect(ended == [greedy])
        #expect(graph.runtime.watching.subscriptions.keys.sorted() == [shared, modest].sorted())
        let ledger = graph.runtime.watching.topics.ledger
        #expect(ledger.count == 51 && ledger.used(by: .user(1001)) == 0 && ledger.used(by: .user(0)) == 50)
    }

    @Test("a user with many patterns for changes of the tree is told a limited number of paths, and others are told")
    func structure() throws {
        let graph = try harness { $0.watchedAttributes = 640 }
        for number in 0..<40 {
            try graph.subscribe(["/own/**", "/none\(number)/**"], events: .structure, from: Self.greedy)
        }
        let modest = try graph.subscribe(["/own/**"], events: .structure, from: Self.modest)
        let nodes = (0..<30).map { "{ id: m\($0), kind: container }" }.joined(separator: ", ")
        _ = try graph.apply("nodes: [{ id: own, kind: container, children: [\(nodes)] }]", mode: .merge)
        var told: [String] = []
        for case .event(let receivers, .structure(_, let added, _, _, _)) in graph.deliveries {
            if receivers.contains(where: { $0.subscription == modest }) { told = added }
        }
        #expect(told.count == 30)
        #expect(graph.runtime.watching.subscriptions.keys.sorted() == [modest])
    }

    @Test("places inside of new values that patterns name end the topics with the most, before they are all found")
    func places() throws {
        let graph = try harness { $0.watchedAttributes = 640 }
        for group in 0..<4 {
            try graph.subscribe((0..<100).map { "/own/**.z[\(group * 100 + $0)]" }, from: Self.greedy)
        }
        let modest = try graph.subscribe(["/own/*.z"], from: Self.modest)
        let before = graph.runtime.statistics.steps
        let nodes = (0..<30).map { "{ id: m\($0), kind: container, state: { z: [] } }" }.joined(separator: ", ")
        _ = try graph.apply("nodes: [{ id: own, kind: container, children: [\(nodes)] }]", mode: .merge)
        #expect(graph.runtime.watching.subscriptions.keys.sorted() == [modest])
        #expect(graph.runtime.watching.topics.ledger.count == 30)
        #expect(graph.runtime.statistics.steps - before >= 400)
    }

    // MARK: Delegated nodes

    @Test("one user's delegated nodes leave some for another, also after he has gone, and after a restart")
    func delegated() throws {
        func take(_ client: UInt64, _ graph: Harness, from first: Int) -> Int {
            count { try graph.succeed(.delegate(path: "/top/n\(first + $0)"), from: client) }
        }
        let graph = try harness { $0.delegations = 64 }
        #expect(take(Self.greedy, graph, from: 0) == 47)
        graph.turn([.disconnected(ClientID(number: Self.greedy))])
        graph.turn([.connected(ClientID(number: Self.greedy), Peer(pid: 9, uid: 1001, gid: 1001))])
        #expect(take(Self.greedy, graph, from: 60) == 0)
        #expect(take(Self.modest, graph, from: 47) == 12)
        #expect(take(Self.root, graph, from: 59) == 5)
        #expect(graph.runtime.delegations.shares.used == 64)
        let rows = graph.rows.values.filter { $0.key == Delegations.key }
        let next = try harness { $0.delegations = 64 }
        next.runtime.restoreDelegations(rows)
        #expect(next.runtime.delegations.shares.used(by: .user(1001)) == 47)
        #expect(next.runtime.delegations.shares.used(by: .user(0)) == 5)
    }

    // MARK: The graph

    @Test("the last nodes, attributes and operators over time are for root")
    func last() throws {
        let graph = try harness {
            ($0.graph.nodes, $0.graph.attributes, $0.graph.timedValues) = (640, 640, 64)
        }
        func make(_ client: UInt64, _ node: String) throws {
            let document = "agd: 1\nnodes: [{ id: own, kind: container, children: [\(node)] }]"
            try graph.succeed(
                .apply(.init(document: .string(document), at: "/", mode: .merge, dryRun: false, options: .init())),
                from: client)
        }
        let nodes = graph.runtime.graph.liveNodes
        #expect(
            isRefused {
                let many = (0..<(640 - nodes)).map { "{ id: m\($0) }" }.joined(separator: ", ")
                try make(Self.greedy, many)
            })
        for number in 0..<(630 - nodes) { try make(Self.greedy, "{ id: m\(number) }") }
        #expect(isRefused { try make(Self.greedy, "{ id: one-more }") })
        for number in 0..<10 { try make(Self.root, "{ id: r\(number) }") }
        #expect(isRefused { try make(Self.root, "{ id: one-more }") })
    }

    // MARK: Turns for changes of structure

    @Test("the changes of structure of one user's many connections come in turn with another's single one")
    func jobs() throws {
        let graph = try harness { $0.sliceSteps = 500 }
        var commands: [Command] = []
        let nodes = (0..<40).map { "{ id: k\($0), state: { y: 1 } }" }.joined(separator: ", ")
        func apply(_ id: String, _ client: UInt64) -> Command {
            let document = "agd: 1\nnodes: [{ id: \(id), kind: container, children: [\(nodes)] }]"
            return .call(
                ClientID(number: client), id: .int(Int64(client)),
                .apply(.init(document: .string(document), at: "/", mode: .merge, dryRun: false, options: .init())))
        }
        for client in UInt64(20)..<30 {
            commands.append(.connected(ClientID(number: client), Peer(pid: 9, uid: 1001, gid: 1001)))
            commands.append(apply("g\(client)", client))
        }
        commands.append(apply("m", Self.modest))
        var (answered, postponed): ([Int64], [Command]) = ([], commands)
        for _ in 0..<500 where answered.count < 11 {
            let outcome = graph.runtime.apply(postponed, at: graph.now)
            postponed = outcome.postponed
            for case .reply(_, .int(let id), let answer) in outcome.deliveries {
                if case .fault(let fault) = answer { Issue.record("\(fault.failure)") }
                answered.append(id)
            }
        }
        #expect(answered.count == 11 && answered.prefix(2).contains(Int64(Self.modest)))
    }
}
