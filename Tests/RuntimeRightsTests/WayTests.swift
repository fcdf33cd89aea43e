import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// A client with a part of its own tries to write elsewhere through what it defines.
@Suite("Ways to write")
struct WayTests {
    private static let scene = """
        types: { Lock: { state: { open: false } } }
        nodes:
          - id: vault
            state: { accounts: [{ id: bob, money: 5 }], door: 1 }
          - id: pub
            binding: { door: $/vault.door, accounts: $/vault.accounts }
            actions: { shut: { set: { $door: 0 } } }
          - id: home
            kind: container
            state: { jar: 1 }
            children:
              - { id: alice, kind: container, binding: { given: $/vault.door }, state: { own: 1 } }
          - id: area
            kind: container
            state: { lock: { type: Lock, initial: {} } }
            environment: { objects: [$lock] }
            children: [{ id: alice, kind: container }]
        """
    private static let alice: UInt64 = 11
    private static let root: UInt64 = 12

    private static func rules(_ more: (AccessRight, String)...) throws -> AccessRules {
        let given: [(AccessRight, String)] = [
            (.define, "/home/alice/**"), (.define, "/area/alice/**"), (.read, "/**"),
        ]
        return AccessRules(
            try (given + more).map { AccessRule($0.0, [.user(1001)], try PathPattern($0.1)) }, owner: 7)
    }

    private static func connect(_ graph: Harness) {
        graph.turn([
            .connected(ClientID(number: alice), Peer(pid: 3, uid: 1001, gid: 1001)),
            .connected(ClientID(number: root), Peer(pid: 4, uid: 0, gid: 0)),
        ])
    }

    private func harness() throws -> Harness {
        let graph = try Harness(WayTests.scene)
        graph.turn([.accessChanged(try WayTests.rules())])
        WayTests.connect(graph)
        return graph
    }

    private func apply(
        _ node: String, to graph: Harness, from client: UInt64 = WayTests.alice, head: String = "",
        at: String = "/home/alice"
    ) -> Failure? {
        refusal {
            try graph.succeed(
                .apply(
                    .init(
                        document: .string("agd: 1\n\(head)nodes: [\(node)]"), at: at, mode: .merge, dryRun: false,
                        options: .init())), from: client)
        }
    }

    private func set(_ path: String, _ value: Value = 0, in graph: Harness, from client: UInt64 = WayTests.alice)
        -> Failure?
    {
        refusal { try graph.set(path, value, from: client) }
    }

    /// The states of the vault.
    private func vault(_ graph: Harness) throws -> [Value] {
        try ["/vault.accounts[0].money", "/vault.door", "/area.lock"].map { path in
            guard
                case .content(let content, _, _) = try graph.succeed(
                    .get(.init(paths: [path], isSingle: true)), from: WayTests.root)
            else { throw Failure(.unavailable, "no content") }
            return try content.get()
        }
    }

    private static var untouched: [Value] { [5, 1, ["open": false]] }

    /// Ways that are refused when they are made.
    @Test(
        "a way to a state that its author may not write is refused",
        arguments: [
            "{ id: x, binding: { p: $/vault.door } }", "{ id: x, binding: { p: $/pub.door } }",
            "{ id: x, binding: { p: $jar } }", "{ id: x, binding: { p: $given } }",
            "{ id: x, binding: { p: $timeZone } }",
            "{ id: x, forEach: { in: $/vault.accounts, as: e, node: { binding: { m: $e.money } } } }",
            "{ id: x, forEach: { in: $/pub.accounts, as: e, node: { children: [{ binding: { m: $e.money } }] } } }",
            "{ id: x, forEach: { in: $/vault.accounts, as: e, node: { actions: { a: { set: { $e.money: 0 } } } } } }",
            "{ id: x, binding: { p: '=true ? $jar : $given' } }",
            "{ id: x, binding: { p: { get: '1', set: { $jar: =newValue } } } }",
            "{ id: x, actions: { a: { set: { $jar: 0 } } } }", "{ id: x, actions: { a: { set: { /vault.door: 0 } } } }",
            "{ id: x, state: { s: 0 }, onChange: { of: =s, perform: { set: { $jar: 0 } } } }",
            "{ id: x, onAppear: { set: { $/vault.door: 0 } } }",
        ])
    func making(_ node: String) throws {
        let graph = try harness()
        let error = apply(node, to: graph)
        #expect(error?.code == .denied, "\(error?.message ?? "made")")
        #expect(error?.message.contains("user 1001 lacks the right 'write' on /") == true)
        #expect(
            refusal { try graph.succeed(.describe(path: "/home/alice/x", depth: nil), from: Self.root) }?.code
                == .notFound)
        #expect(try vault(graph) == Self.untouched)
    }

    @Test("an element of a list that its author may only read can be shown, and not be written") func elements() throws
    {
        let graph = try harness()
        #expect(
            apply("{ id: x, forEach: { in: $/vault.accounts, as: e, node: { computed: { m: e.money } } } }", to: graph)
                == nil)
        #expect(try graph.get("/home/alice/x/bob.m", from: Self.root) == .value(5))
        let error = try #require(set("/home/alice/x/bob.e.money", in: graph))
        #expect(error.code == .denied)
        #expect(
            error.message == "user 1001, the author of /home/alice/x/bob.e, lacks the right 'write' on "
                + "/vault.accounts[id=\"bob\"].money")
        // Neither may a writer with every right do it through alice's list.
        #expect(set("/home/alice/x/bob.e.money", in: graph, from: Self.root)?.code == .denied)
        #expect(try vault(graph) == Self.untouched)
        graph.turn([.accessChanged(try Self.rules((.write, "/vault.accounts")))])
        #expect(set("/home/alice/x/bob.e.money", in: graph) == nil)
        #expect(try vault(graph) == [0, 1, ["open": false]])
    }

    @Test(
        "whoever binds a hidden path is not told whether there is something",
        arguments: ["$/vault.door", "$/vault.nope"])
    func hiddenPath(_ path: String) throws {
        let graph = try Harness(WayTests.scene)
        let rule = AccessRule(.define, [.user(1001)], try PathPattern("/home/alice/**"))
        graph.turn([.accessChanged(AccessRules([rule], owner: 7))])
        WayTests.connect(graph)
        let refusal = apply("{ id: x, kind: container, binding: { b: \(path) } }", to: graph)
        #expect(refusal?.code == .denied && refusal?.path == String(path.dropFirst()))
        #expect(refusal?.message.hasSuffix("user 1001 lacks the right 'write' on \(path.dropFirst())") == true)
    }

    @Test("a name that is defined later leads nowhere that its author may not write") func dangling() throws {
        let graph = try harness()
        #expect(
            apply(
                "{ id: x, binding: { p: $later }, actions: { a: { set: { $later: 0 } } } }", to: graph,
                head: "dangling: [later]\n") == nil)
        #expect(apply("{ id: home, binding: { later: $/vault.door } }", to: graph, from: Self.root, at: "/") == nil)
        #expect(set("/home/alice/x.p", in: graph)?.code == .denied)
        let call = Request.do(path: RequestPath("/home/alice/x.a"), arguments: ValueMap(), TransactionOptions())
        #expect(refusal { try graph.succeed(call, from: Self.alice) }?.code == .denied)
        #expect(refusal { try graph.succeed(call, from: Self.root) }?.code == .denied)
        #expect(try vault(graph) == Self.untouched)
    }

    @Test("an inherited object is written by those who may write it") func objects() throws {
        let graph = try harness()
        graph.turn([.accessChanged(try Self.rules())])
        #expect(apply("{ id: x, inherit: { lock: Lock } }", to: graph, at: "/area/alice") == nil)
        #expect(set("/area/alice/x.lock.open", true, in: graph)?.code == .denied)
        // The daemon's own node below an object that alice provides.
        #expect(
            apply("{ id: y, kind: container, environment: { objects: [$lock] } }", to: graph, at: "/area/alice") == nil)
        #expect(apply("{ id: z, inherit: { lock: Lock } }", to: graph, from: Self.root, at: "/area/alice/y") == nil)
        #expect(set("/area/alice/y/z.lock.open", true, in: graph)?.code == .denied)
        #expect(try vault(graph) == Self.untouched)
        // The daemon's nodes lead anywhere.
        #expect(apply("{ id: w, inherit: { lock: Lock } }", to: graph, from: Self.root, at: "/area/alice") == nil)
        #expect(set("/area/alice/w.lock.open", true, in: graph) == nil)
    }

    @Test("a node that provides the object that it inherits does not inherit it from itself") func circle() throws {
        let graph = try Harness(WayTests.scene)
        _ = try graph.apply("nodes: [{ id: c, inherit: { lock: Lock }, environment: { objects: [$lock] } }]")
        #expect(try graph.get("/c.lock").failure?.code == .notFound)
    }

    @Test("a writer needs no right at the end of a way that somebody with the right has made") func othersWays() throws
    {
        let graph = try harness()
        #expect(
            apply(
                "{ id: x, binding: { p: $/vault.door }, actions: { a: { set: { $/vault.door: 7 } } } }", to: graph,
                from: Self.root) == nil)
        #expect(set("/home/alice/x.p", 2, in: graph) == nil)
        #expect(try vault(graph)[1] == 2)
        try graph.succeed(
            .do(path: RequestPath("/home/alice/x.a"), arguments: ValueMap(), TransactionOptions()), from: Self.alice)
        #expect(try vault(graph)[1] == 7)
        // A part of alice's on the way takes that away.
        #expect(apply("{ id: y, binding: { q: $p } }", to: graph, at: "/home/alice/x")?.code == .denied)
    }

    @Test("a list of alice's in between is a step, whoever has written the parts around it") func between() throws {
        let graph = try harness()
        #expect(
            apply("{ id: x, forEach: { in: $/vault.accounts, as: e, node: { kind: container } } }", to: graph) == nil)
        #expect(
            apply("{ id: y, binding: { m: \"$/home/alice/x/bob.e.money\" } }", to: graph, from: Self.root, at: "/")
                == nil)
        #expect(set("/y.m", in: graph, from: Self.root)?.code == .denied)
        #expect(try vault(graph) == Self.untouched)
    }

    @Test("root becomes the author of what it applies again, and others who apply the same change nothing")
    func again() throws {
        let graph = try harness()
        let node = "{ id: x, forEach: { in: $/vault.accounts, as: e, node: { kind: container } } }"
        #expect(apply(node, to: graph) == nil)
        #expect(apply(node, to: graph, from: Self.root) == nil)
        #expect(set("/home/alice/x/bob.e.money", 1, in: graph) == nil)
        #expect(apply(node, to: graph) == nil)
        #expect(set("/home/alice/x/bob.e.money", 2, in: graph) == nil)
    }

    @Test("an action of a type writes with the rights of whoever has declared the type, also after a restart")
    func types() throws {
        let graph = try harness()
        graph.turn([.accessChanged(try WayTests.rules((.define, "/**")))])
        let lock = "types: { Lock: { state: { open: false }, actions: { unlock: { set: { $open: true } } } } }\n"
        #expect(apply("{ id: own, state: { lock: { type: Lock, initial: {} } } }", to: graph, head: lock) == nil)
        // Since then she has lost the right.
        let rules = try WayTests.rules((.do, "/**"))
        graph.turn([.accessChanged(rules)])
        func unlock(_ path: String, _ graph: Harness, from client: UInt64) -> Failure? {
            let call = Request.do(path: RequestPath(path), arguments: ValueMap(), TransactionOptions())
            return refusal { try graph.succeed(call, from: client) }
        }
        func expectGuarded(_ graph: Harness) throws {
            #expect(unlock("/area.lock.unlock", graph, from: Self.alice)?.code == .denied)
            #expect(unlock("/area.lock.unlock", graph, from: Self.root)?.code == .denied)
            #expect(try vault(graph) == Self.untouched)
        }
        try expectGuarded(graph)
        #expect(unlock("/home/alice/own.lock.unlock", graph, from: Self.alice) == nil)
        graph.end()
        let next = try Harness(WayTests.scene)
        next.turn([.accessChanged(rules)])
        #expect(next.runtime.restore(Array(graph.rows.values)).isEmpty)
        WayTests.connect(next)
        try expectGuarded(next)
        // Root says the same, and is the author now.
        #expect(apply("{ id: other, kind: view }", to: next, from: Self.root, head: lock) == nil)
        #expect(unlock("/area.lock.unlock", next, from: Self.alice) == nil)
        #expect(try vault(next) == [5, 1, ["open": true]])
    }

    @Test("authors and their parts are the same after a restart", arguments: [false, true])
    func restart(isOld: Bool) throws {
        let graph = try harness()
        #expect(
            apply("{ id: x, forEach: { in: $/vault.accounts, as: e, node: { kind: container } } }", to: graph) == nil)
        #expect(apply("{ id: y, kind: container, binding: { p: $/vault.door } }", to: graph, from: Self.root) == nil)
        #expect(apply("{ id: y, binding: { own: $own } }", to: graph) == nil)
        #expect(
            apply(
                "{ id: z, children: [{ id: c, component: Door, binding: { d: $/vault.door } }] }", to: graph,
                from: Self.root, head: "components: { Door: { binding: [d], actions: { shut: { set: { $d: 0 } } } } }\n"
            ) == nil)
        graph.end()
        var rows = graph.rows.values.map { $0 }
        if isOld { rows = rows.filter { $0.key != "@author" }.map(Self.withoutAuthors) }
        let next = try Harness(WayTests.scene)
        next.turn([.accessChanged(try WayTests.rules())])
        let faults = next.runtime.restore(rows)
        #expect(faults.count == (isOld ? 1 : 0), "\(faults)")
        WayTests.connect(next)
        #expect(set("/home/alice/x/bob.e.money", 2, in: next)?.code == .denied)
        #expect(set("/home/alice/y.own", 2, in: next)?.code == (isOld ? .denied : nil))
        #expect(set("/home/alice/y.p", 2, in: next)?.code == (isOld ? .denied : nil))
        let call = Request.do(path: RequestPath("/home/alice/z/c.shut"), arguments: ValueMap(), TransactionOptions())
        #expect(refusal { try next.succeed(call, from: Self.alice) }?.code == (isOld ? .denied : nil))
        #expect(set("/home/alice.own", 3, in: next) == nil)
        guard isOld else { return }
        #expect(apply("{ id: y, kind: container, binding: { p: $/vault.door } }", to: next, from: Self.root) == nil)
        #expect(set("/home/alice/y.p", 2, in: next) == nil)
        next.turn([.accessChanged(AccessRules([], owner: 7))])
        #expect(set("/home/alice/y.own", 2, in: next) == nil)
    }

    /// A row as an agd without authors has written it.
    private static func withoutAuthors(_ row: StoredRow) -> StoredRow {
        func without(_ value: Value) -> Value {
            guard case .map(let map) = value else { return value }
            var made = ValueMap()
            for (key, value) in map where key != "by" { made[key] = without(value) }
            return .map(made)
        }
        return StoredRow(key: row.key, name: row.name, revision: row.revision, value: without(row.value))
    }

    @Test("an author who loses a right loses his ways, and a principal is an author") func lost() throws {
        let graph = try harness()
        graph.turn([.accessChanged(try Self.rules((.write, "/vault.door")))])
        #expect(apply("{ id: x, binding: { p: $/vault.door } }", to: graph) == nil)
        #expect(set("/home/alice/x.p", 2, in: graph) == nil)
        graph.turn([.accessChanged(try Self.rules())])
        #expect(set("/home/alice/x.p", 3, in: graph)?.code == .denied)
        let card = AccessRule(.define, [.principal("card")], try PathPattern("/home/alice/**"))
        let door = AccessRule(.write, [.principal("card")], try PathPattern("/vault.door"))
        let reads = AccessRule(.read, [.principal("card")], try PathPattern("/**"))
        graph.turn([.accessChanged(AccessRules([card, door, reads], owner: 7))])
        try graph.succeed(.hello(client: nil, principal: "card"), from: Self.root)
        #expect(apply("{ id: y, binding: { p: $/vault.door } }", to: graph, from: Self.root) == nil)
        #expect(set("/home/alice/y.p", 4, in: graph, from: Self.root) == nil)
        graph.turn([.accessChanged(AccessRules([card, reads], owner: 7))])
        let error = set("/home/alice/y.p", 5, in: graph, from: Self.root)
        #expect(
            error?.message == "principal card, the author of /home/alice/y.p, lacks the right 'write' on /vault.door")
    }

    @Test("a refusal names nothing that the writer may not read") func hidden() throws {
        let graph = try harness()
        #expect(
            apply("{ id: x, forEach: { in: $/vault.accounts, as: e, node: { kind: container } } }", to: graph) == nil)
        graph.turn([
            .accessChanged(
                AccessRules([AccessRule(.define, [.user(1001)], try PathPattern("/home/alice/**"))], owner: 7))
        ])
        let error = try #require(set("/home/alice/x/bob.e.money", in: graph))
        #expect(error.code == .denied && !error.message.contains("vault") && error.path == nil)
        let made = try #require(apply("{ id: y, binding: { p: $given } }", to: graph))
        #expect(made.code == .denied && !made.message.contains("vault"))
    }
}
