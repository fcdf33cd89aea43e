import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Writes that another client performs.
@Suite("Delegations")
struct DelegationTests {
    private static let scene = """
        nodes:
          - id: fleet
            kind: container
            state: { title: x }
            children: [{ id: web, state: { load: 1 }, children: [{ id: disk, state: { used: 2 } }] }]
          - { id: own, state: { x: 1 } }
        """
    private static var write: Request { DelegationTests.set("/fleet/web.load", 5) }

    private static func set(_ path: String, _ value: Value) -> Request {
        .set(Mutation(operation: .set, path: path, value: value), TransactionOptions(label: "why"))
    }

    /// Client 1 performs the writes below `/fleet/web`.
    private func delegated(_ limits: RuntimeLimits = RuntimeLimits()) throws -> Harness {
        let graph = try Harness(DelegationTests.scene, limits: limits, clients: 3)
        try graph.succeed(.delegate(path: "/fleet/web"))
        return graph
    }

    private func send(_ request: Request, to graph: Harness, from client: UInt64 = 2) -> Outcome {
        graph.runtime.apply([.call(ClientID(number: client), id: .int(7), request)], at: graph.now)
    }

    /// The number of the request that client 1 is asked to perform.
    private func forwarded(_ outcome: Outcome) -> Int64? {
        for case .event(let receivers, .forward(let number, _, _, _, _)) in outcome.deliveries
        where receivers.map(\.client.number) == [1] {
            return number
        }
        return nil
    }

    private func reply(_ outcome: Outcome) -> Answer? {
        for case .reply(_, .int(7), let result) in outcome.deliveries { return result }
        return nil
    }

    private func failure(_ outcome: Outcome) throws -> Failure {
        guard case .fault(let fault)? = reply(outcome) else { throw Failure(.unavailable, "not refused") }
        return fault.failure
    }

    @Test("a write waits for its delegate and gets the answer that it gives; the daemon writes nothing") func answered()
        throws
    {
        let graph = try delegated()
        let asked = send(Self.write, to: graph)
        guard case .event(_, .forward(let number, "set", let parameters, nil, 1000))? = asked.deliveries.first else {
            Issue.record("\(asked.deliveries)")
            return
        }
        #expect(.map(parameters) == ["path": "/fleet/web.load", "value": 5, "label": "why"])
        #expect(reply(asked) == nil && asked.parked == [ClientID(number: 2)] && asked.postponed.count == 1)
        #expect(try graph.value("/fleet/web.load") == 1)
        // Until then it may come again as often as it likes.
        #expect(forwarded(send(Self.write, to: graph)) == nil)
        let answer = send(.answer(forward: number, result: ["revision": 40], error: nil), to: graph, from: 1)
        #expect(answer.resumed == [ClientID(number: 2)])
        guard case .value(["revision": 40])? = reply(send(Self.write, to: graph)) else {
            throw Failure(.unavailable, "no answer")
        }
        #expect(try graph.value("/fleet/web.load") == 1)
        // The next one is another request.
        #expect(forwarded(send(Self.write, to: graph)) == number + 1)
        #expect(refusal { try graph.succeed(.answer(forward: number, result: [:], error: nil)) }?.code == .notFound)
    }

    @Test("only writes below the node are sent to the delegate, and its own are none of them") func kinds() throws {
        let get = Request.get(.init(paths: ["/fleet/web.load"], isSingle: true))
        for (request, isForwarded) in [
            (Self.set("/own.x", 2), false), (Self.set("/fleet.title", "y"), false),
            (Self.set("/fleet/web/disk.used", 3), true), (get, false),
            (.do(path: RequestPath("/fleet/web.act"), arguments: ValueMap(), .init()), true),
        ] {
            let graph = try delegated()
            #expect((forwarded(send(request, to: graph)) != nil) == isForwarded)
            let own = send(request, to: graph, from: 1)
            #expect(forwarded(own) == nil && reply(own) != nil)
        }
    }

    @Test("a transaction is of one owner") func mixed() throws {
        let graph = try delegated()
        let mutations = ["/fleet/web.load", "/own.x"].map { Mutation(operation: .set, path: $0, value: 9) }
        #expect(try failure(send(.transact(mutations, .init()), to: graph)).code == .conflict)
        #expect(try graph.value("/own.x") == 1 && graph.value("/fleet/web.load") == 1)
        // The delegate itself may.
        try graph.transact(mutations)
        #expect(try graph.value("/own.x") == 9 && graph.value("/fleet/web.load") == 9)
    }

    @Test("without an answer in time the outcome is unknown, and a late answer is nobody's") func late() throws {
        var limits = RuntimeLimits()
        limits.forwardTime = 2
        let graph = try delegated(limits)
        let number = try #require(forwarded(send(Self.write, to: graph)))
        #expect(graph.runtime.nextDeadline == graph.now.monotonic + 2)
        graph.advance(2.1)
        let late = try failure(send(Self.write, to: graph))
        #expect(late.code == .unavailable && late.message.contains("outcome unknown"))
        #expect(refusal { try graph.succeed(.answer(forward: number, result: [:], error: nil)) }?.code == .notFound)
    }

    @Test("when the delegate goes, its node stays closed to others until a new one comes or the node is removed")
    func gone() throws {
        let graph = try delegated()
        _ = send(Self.write, to: graph)
        let left = graph.runtime.apply([.disconnected(ClientID(number: 1))], at: graph.now)
        #expect(left.resumed == [ClientID(number: 2)])
        for expected in ["outcome unknown", "is not connected"] {
            let failure = try failure(send(Self.write, to: graph))
            #expect(failure.code == .unavailable && failure.message.contains(expected))
        }
        try graph.succeed(.delegate(path: "/fleet/web"), from: 3)
        #expect(refusal { try graph.succeed(.delegate(path: "/fleet/web/disk"), from: 2) }?.code == .conflict)
        graph.turn([.disconnected(ClientID(number: 3))])
        try graph.succeed(.remove(path: "/fleet/web", .init()), from: 2)
        _ = try graph.apply("nodes: [{ id: web, state: { load: 1 } }]", at: "/fleet")
        try graph.set("/fleet/web.load", 3, from: 2)
        #expect(try graph.value("/fleet/web.load") == 3)
    }

    @Test("nobody is asked for a write to a node that has been removed; a node that is made again is still delegated")
    func removed() throws {
        let graph = try delegated()
        try graph.succeed(.remove(path: "/fleet/web", .init()), from: 2)
        let writes = [Mutation(operation: .set, path: "/fleet/web.load", value: 5)]
        for request in [
            Self.write, .do(path: .init("/fleet/web.act"), arguments: ValueMap(), .init()),
            .onDisconnect(writes, .init()),
            .transact(writes + [Mutation(operation: .set, path: "/own.x", value: 5)], .init()),
        ] {
            let outcome = send(request, to: graph)
            #expect(forwarded(outcome) == nil && outcome.parked.isEmpty)
            #expect(try failure(outcome).code == .notFound)
        }
        // Between this and the delegate's next request, nobody else writes.
        _ = try graph.apply("nodes: [{ id: web, state: { load: 1 } }]", at: "/fleet")
        #expect(forwarded(send(Self.write, to: graph)) != nil)
        #expect(try graph.value("/fleet/web.load") == 1)
    }

    @Test("the requests of a writer that has gone are all performed, once each, and wait for nothing") func givenUp()
        throws
    {
        let graph = try delegated()
        let writer = ClientID(number: 2)
        let asked = send(Self.write, to: graph)
        let number = try #require(forwarded(asked))
        let own = Self.set("/own.x", 7)
        let rest = graph.runtime.apply(
            [.gaveUp(writer)] + asked.postponed + [
                .call(writer, id: .int(8), Self.set("/fleet/web/disk.used", 3)), .call(writer, id: .int(9), own),
                .disconnected(writer),
            ], at: graph.now)
        #expect(rest.postponed.isEmpty && rest.parked.isEmpty)
        let asks = rest.deliveries.compactMap { delivery -> ValueMap? in
            guard case .event(_, .forward(_, _, let parameters, _, _)) = delivery else { return nil }
            return parameters
        }
        #expect(asks.map { $0["path"] } == ["/fleet/web/disk.used"])
        #expect(try graph.value("/own.x") == 7)
        #expect(graph.runtime.nextDeadline == nil)
        #expect(refusal { try graph.succeed(.answer(forward: number, result: [:], error: nil)) }?.code == .notFound)
    }

    @Test("a writer without the right to write is denied before it learns that a node is delegated")
    func rights() throws {
        let graph = try delegated()
        let reading = AccessRule(.read, [.user(1000)], try PathPattern("/**"))
        graph.turn([.accessChanged(AccessRules([reading], owner: 7))])
        let mixed = Request.transact(
            ["/fleet/web.load", "/own.x"].map { Mutation(operation: .set, path: $0, value: 5) }, TransactionOptions())
        for request in [Self.write, mixed] {
            let outcome = send(request, to: graph)
            #expect(try failure(outcome).code == .denied && forwarded(outcome) == nil)
        }
    }

    // MARK: Ways that lead there

    private static let ways = """
        nodes:
          - { id: web, state: { load: 1, on: false } }
          - id: own
            state: { x: 1 }
            binding: { far: $/web.load, ruled: { get: '1', set: { $/web.load: =newValue } } }
            actions:
              go: { set: { $/web.load: 7 } }
              both: { steps: [{ set: { $/web.load: 7 } }, { set: { $x: 7 } }] }
            onChange: { of: =x, perform: { set: { $/web.load: =newValue } } }
        """

    /// Client 1 performs the writes at `/web`.
    private func delegatedWays() throws -> Harness {
        let graph = try Harness(DelegationTests.ways, clients: 3)
        try graph.succeed(.delegate(path: "/web"))
        return graph
    }

    @Test("a write that leads below the node goes to the delegate with the path of the state") func led() throws {
        let graph = try delegatedWays()
        let add = Request.transact([Mutation(operation: .add, path: "/own.far", value: 2)], .init())
        let cases: [(Request, Value)] = [
            (Self.set("/own.far", 5), ["op": "set", "path": "/web.load", "value": 5]),
            (add, ["op": "add", "path": "/web.load", "value": 2]),
            (
                .do(path: RequestPath("/own.go"), arguments: ValueMap(), .init()),
                ["op": "set", "path": "/web.load", "value": ["int": "7"]]
            ),
        ]
        for (request, expected) in cases {
            let graph = try delegatedWays()
            let asked = send(request, to: graph)
            let parameters = asked.deliveries.compactMap { delivery -> ValueMap? in
                guard case .event(_, .forward(_, "transact", let parameters, _, _)) = delivery else { return nil }
                return parameters
            }
            #expect(parameters.first?["mutations"] == .list([expected]))
            #expect(reply(asked) == nil)
            #expect(try graph.value("/web.load") == 1)
        }
        // The delegate's own writes are not sent.
        try graph.set("/own.far", 3)
        #expect(try graph.value("/web.load") == 3)
    }

    @Test("what cannot be sent is refused, and changes nothing") func notSent() throws {
        let graph = try delegatedWays()
        func refused(_ request: Request) throws {
            let outcome = send(request, to: graph)
            #expect(forwarded(outcome) == nil)
            #expect(try failure(outcome).code == .conflict)
        }
        try refused(Self.set("/own.ruled", 5))
        try refused(
            .transact(
                ["/own.x", "/own.far"].map { Mutation(operation: .set, path: $0, value: 5) }, TransactionOptions()))
        try refused(.do(path: RequestPath("/own.both"), arguments: ValueMap(), .init()))
        try refused(.onDisconnect([Mutation(operation: .set, path: "/own.far", value: 5)], .init()))
        #expect(try graph.value("/web.load") == 1 && graph.value("/own.x") == 1)
        // A triggered action has nobody to wait for the answer.
        try graph.set("/own.x", 2, from: 2)
        #expect(try graph.get("/own.onChange").failure?.code == .conflict)
        let applied = try graph.map(
            .apply(
                .init(
                    document: .string("agd: 1\nvalues: { /own.far: 9, /own.x: 3 }"), at: "/", mode: .merge,
                    dryRun: false,
                    options: .init())), from: 2)
        #expect(applied["unset"] == ["/own.far"])
        #expect(try graph.value("/web.load") == 1 && graph.value("/own.x") == 3)
    }

    @Test("the requests of pages on one connection do not wait for an owner that never answers") func pages() throws {
        var limits = RuntimeLimits()
        limits.forwardTime = 2
        let graph = try delegated(limits)
        let rules = [
            AccessRule(.admin, [.user(1000)], try PathPattern("/**")),
            AccessRule(.write, [.principal("card")], try PathPattern("/**")),
        ]
        graph.turn([.accessChanged(AccessRules(rules, owner: 7))])
        try graph.succeed(.hello(client: nil, principal: "card"), from: 2)
        let asked = send(Self.write, to: graph)
        #expect(forwarded(asked) != nil && reply(asked) == nil && asked.parked.isEmpty && asked.postponed.isEmpty)
        try graph.set("/own.x", 4, from: 2)
        #expect(try graph.value("/own.x") == 4)
        let again = try #require(forwarded(send(Self.write, to: graph)))
        let answered = send(.answer(forward: again, result: ["revision": 40], error: nil), to: graph, from: 1)
        let told = answered.deliveries.compactMap { delivery -> Answer? in
            if case .reply(ClientID(number: 2), .int(7), let answer) = delivery { answer } else { nil }
        }
        guard case .value(["revision": 40])? = told.first, told.count == 1 else {
            throw Failure(.unavailable, "\(told)")
        }
        graph.advance(2.1)
        let late = graph.deliveries.compactMap { delivery -> Answer? in
            if case .reply(ClientID(number: 2), _, let answer) = delivery { answer } else { nil }
        }
        guard case .fault(let fault)? = late.first, late.count == 1 else { throw Failure(.unavailable, "\(late)") }
        #expect(fault.failure.message.contains("outcome unknown"))
        for _ in 0..<256 { #expect(reply(send(Self.write, to: graph)) == nil) }
        #expect(try failure(send(Self.write, to: graph)).code == .limit)
        graph.turn([.disconnected(ClientID(number: 2))])
        #expect(graph.runtime.nextDeadline == nil)
    }
}
