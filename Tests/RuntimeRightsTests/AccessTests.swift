import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Access rules")
struct AccessTests {
    static let scene = """
        nodes:
          - id: hosts
            children:
              - { id: a, kind: view, state: { load: 1.0, tags: [x] } }
              - { id: b, kind: view, state: { load: 2.0 }, actions: { rest: { set: { $load: 0.0 } } } }
          - id: secret
            state: { key: 7 }
            children:
              - { id: open, kind: view, binding: { key: $key }, computed: { hint: key * 2 } }
        """

    /// Client 1 and client 2 are user 1000; the daemon is user 7.
    private func harness(_ rules: AccessRule...) throws -> Harness {
        let graph = try Harness(AccessTests.scene)
        graph.turn([.accessChanged(AccessRules(rules, owner: 7))])
        return graph
    }

    private func rule(_ right: AccessRight, _ pattern: String, _ holders: AccessRule.Subject...) throws -> AccessRule {
        AccessRule(right, holders.isEmpty ? [.user(1000)] : holders, try PathPattern(pattern))
    }

    private func denial(_ body: () throws -> some Any) -> String? {
        guard let failure = refusal(body), failure.code == .denied else { return nil }
        return failure.message
    }

    // MARK: Who

    @Test("without rules whoever is connected may do everything") func noRules() throws {
        let graph = try Harness(AccessTests.scene)
        try graph.set("/secret.key", 8)
        try graph.succeed(.trace(enable: nil))
    }

    @Test("an operation that no rule allows is denied with the user, the right and the path") func denied() throws {
        let graph = try harness(try rule(.read, "/hosts/**"))
        let failure = try #require(refusal { try graph.set("/hosts/a.load", 5) })
        #expect(failure.code == .denied)
        #expect(failure.message == "user 1000 lacks the right 'write' on /hosts/a.load")
        #expect(failure.hint == "a line of the daemon's configuration gives it: access = write user:1000 /hosts/a.load")
        #expect(failure.path == "/hosts/a.load")
        #expect(try graph.value("/hosts/a.load") == 1.0)
    }

    @Test("rules are for users, for groups, for supplementary groups, and for everyone") func holders() throws {
        let graph = try harness(
            try rule(.read, "/hosts/a", .user(1001)), try rule(.read, "/hosts/b", .group(50), .group(60)),
            try rule(.read, "/secret", .everyone))
        let peers = [
            Peer(pid: 3, uid: 1001, gid: 1), Peer(pid: 4, uid: 1002, gid: 50),
            Peer(pid: 5, uid: 1002, gid: 1, groups: [2, 60]),
            Peer(pid: 6, uid: 1002, gid: 1001, groups: [1000]),
        ]
        var allowed: [[String]] = []
        for (number, peer) in zip(UInt64(3)..., peers) {
            graph.turn([.connected(ClientID(number: number), peer)])
            #expect(try graph.get("/secret.key", from: number) == .value(7))
            allowed.append(
                ["/hosts/a.load", "/hosts/b.load"].filter { path in denial { try graph.get(path, from: number) } == nil
                })
        }
        #expect(allowed == [["/hosts/a.load"], ["/hosts/b.load"], ["/hosts/b.load"], []])
    }

    @Test("root and the daemon's own user have every right", arguments: [0, 7]) func owner(user: UInt32) throws {
        let graph = try harness(try rule(.read, "/hosts/**"))
        graph.turn([.connected(ClientID(number: 3), Peer(pid: 3, uid: user, gid: 1))])
        try graph.set("/secret.key", 8, from: 3)
        try graph.succeed(.trace(enable: nil), from: 3)
    }

    // MARK: What

    /// A call of each method that needs its right to `/hosts` and all below it, or to everything.
    static let calls: [String: String] = [
        "get": #"{"path":"/hosts/a.load"}"#,
        "set": #"{"path":"/hosts/a.load","value":2}"#,
        "transact": #"{"mutations":[{"op":"set","path":"/hosts/a.load","value":2}]}"#,
        "do": #"{"path":"/hosts/b.rest"}"#,
        "onDisconnect": #"{"mutations":[{"op":"set","path":"/hosts/a.load","value":2}]}"#,
        "delegate": #"{"path":"/hosts"}"#,
        "answer": #"{"forward":1,"result":{}}"#,
        "subscribe": #"{"paths":["/hosts/**"]}"#,
        "unsubscribe": #"{"subscription":99}"#,
        "apply": #"{"at":"/hosts","document":{"agd":1,"nodes":[{"id":"c"}]}}"#,
        "remove": #"{"path":"/hosts/a"}"#,
        "move": #"{"path":"/hosts/a","index":1}"#,
        "restore": #"{"path":"/hosts/a"}"#,
        "layers": #"{"path":"/hosts"}"#,
        "hello": #"{"client":"x"}"#,
        "ping": "{}",
        "describe": #"{"path":"/hosts"}"#,
        "board": #"{"path":"/hosts"}"#,
        "explain": #"{"path":"/hosts/a.load"}"#,
        "history": #"{"path":"/hosts/a.load"}"#,
        "dump": #"{"path":"/hosts"}"#,
        "stats": "{}",
        "trace": "{}", "prune": "{}",
        "eval": #"{"expression":"load","at":"/hosts/a"}"#,
    ]

    private func request(_ method: Method) throws -> Request {
        let parameters = try #require(AccessTests.calls[method.name], "no call of \(method.name)")
        var request: Request?
        let line = #"{"jsonrpc":"2.0","id":1,"method":"\#(method.name)","params":\#(parameters)}"#
        Array(line.utf8).withUnsafeBufferPointer { bytes in
            RequestDecoder().decode(bytes) { if case .call(_, let call) = $0 { request = call } }
        }
        return try #require(request)
    }

    @Test("every method that declares a right is denied without it, with the one before it, and not with it")
    func methods() throws {
        // agd-past performs these, and looks at the rights to each path.
        for method in Method.table() where !["log", "series", "seek", "play"].contains(method.name) {
            let request = try request(method)
            func isDenied(_ rules: AccessRule...) throws -> Bool {
                let graph = try Harness(AccessTests.scene)
                graph.turn([.accessChanged(AccessRules(rules, owner: 7))])
                return denial { try graph.succeed(request) } != nil
            }
            let elsewhere = try rule(.admin, "/elsewhere")
            guard let need = method.need else {
                #expect(try !isDenied(elsewhere), "\(method.name) needs no right")
                continue
            }
            #expect(method.errors.contains(.denied), "\(method.name)")
            #expect(try isDenied(elsewhere), "\(method.name)")
            for right in AccessRight.allCases {
                #expect(try isDenied(rule(right, "/**")) == (right < need.right), "\(method.name) with \(right)")
            }
        }
    }

    @Test(
        "an operation on one part of the tree needs the right to that part only",
        arguments: [
            "get", "set", "transact", "onDisconnect", "subscribe", "apply", "remove", "move", "describe", "explain",
            "history", "dump", "eval", "delegate", "board", "restore", "layers",
        ])
    func parts(name: String) throws {
        let method = try #require(Method.table().first { $0.name == name })
        let request = try request(method)
        #expect(denial { try harness(try rule(.define, "/hosts/**")).succeed(request) } == nil)
        #expect(denial { try harness(try rule(.define, "/secret/**")).succeed(request) } != nil)
    }

    @Test("a path into a value belongs to its attribute") func steps() throws {
        let graph = try harness(try rule(.write, "/hosts/a.tags"))
        try graph.set("/hosts/a.tags[0]", "y")
        #expect(try graph.value("/hosts/a.tags[0]") == "y")
        try graph.subscribe(["/hosts/a.tags[0]"])
        #expect(denial { try graph.value("/hosts/a.load") } != nil)
    }

    @Test("several paths are asked for together, or not at all") func severalPaths() throws {
        let graph = try harness(try rule(.read, "/hosts/**"))
        let paths = ["/hosts/a.load", "/secret.key"]
        #expect(
            denial { try graph.succeed(.get(.init(paths: paths))) }
                == "user 1000 lacks the right 'read' on /secret.key")
    }

    @Test("a transaction with one denied path changes nothing") func transactions() throws {
        let graph = try harness(try rule(.write, "/hosts/a"), try rule(.read, "/**"))
        let revision = graph.runtime.revision
        let both = ["/hosts/a.load", "/hosts/b.load"].map { Mutation(operation: .set, path: $0, value: 9) }
        #expect(denial { try graph.transact(both) } == "user 1000 lacks the right 'write' on /hosts/b.load")
        // A test writes nothing, but tells.
        let test = Mutation(operation: .test, path: "/hosts/b.load", value: 2)
        #expect(denial { try graph.transact([both[0], test]) } != nil)
        #expect(try graph.value("/hosts/a.load") == 1.0)
        #expect(graph.runtime.revision == revision)
    }

    @Test("a subscription needs one rule for all that a pattern of it can match") func subscriptions() throws {
        let graph = try harness(try rule(.read, "/hosts/*.load"), try rule(.read, "/secret"))
        try graph.subscribe(["/hosts/*.load", "/hosts/a.load", "/secret"])
        for pattern in ["/**", "/hosts/*", "/hosts/**.load", "/*.key", "/secret/**"] {
            #expect(
                denial { try graph.subscribe(["/hosts/a.load", pattern]) }
                    == "user 1000 lacks the right 'read' on \(pattern)")
        }
        #expect(graph.runtime.watching.subscriptions.count == 1)
    }

    @Test("a denial does not tell whether the path exists") func existence() throws {
        let graph = try harness(try rule(.define, "/hosts/**"))
        for path in ["/secret.key", "/secret.no", "/nobody.key"] {
            #expect(denial { try graph.value(path) } == "user 1000 lacks the right 'read' on \(path)")
        }
        #expect(denial { try graph.succeed(.remove(path: "/nobody", TransactionOptions())) } != nil)
        #expect(refusal { try graph.value("/hosts/a.no") }?.code == .notFound)
        #expect(refusal { try graph.value("hosts") }?.code == .invalid)
    }

    @Test("a computed attribute or a binding needs no right on what it leads to") func computed() throws {
        let graph = try harness(try rule(.read, "/secret/open.hint"), try rule(.write, "/secret/open.key", .user(1001)))
        #expect(try graph.value("/secret/open.hint") == 14)
        #expect(denial { try graph.value("/secret.key") } != nil)
        #expect(denial { try graph.value("/secret/open.key") } != nil)
        graph.turn([.connected(ClientID(number: 3), Peer(pid: 3, uid: 1001, gid: 1))])
        try graph.set("/secret/open.key", 8, from: 3)
        #expect(denial { try graph.set("/secret.key", 9, from: 3) } != nil)
        #expect(try graph.value("/secret/open.hint") == 16)
    }

    @Test("a node is moved by who may define where it is and where it goes") func move() throws {
        func move(_ rules: AccessRule...) throws -> String? {
            let graph = try Harness(AccessTests.scene)
            graph.turn([.accessChanged(AccessRules(rules, owner: 7))])
            return denial {
                try graph.succeed(.move(path: "/hosts/a", to: "/secret", index: nil, TransactionOptions()))
            }
        }
        #expect(try move(rule(.define, "/hosts/**")) == "user 1000 lacks the right 'define' on /secret/**")
        #expect(try move(rule(.define, "/secret/**")) == "user 1000 lacks the right 'define' on /hosts/a/**")
        // What its names mean there may be further out.
        #expect(
            try move(rule(.define, "/hosts/**"), rule(.define, "/secret/**"))
                == "user 1000 lacks the right 'read' on /**")
        #expect(try move(rule(.define, "/hosts/**"), rule(.define, "/secret/**"), rule(.read, "/**")) == nil)
    }

    @Test("a document that declares something needs the right to define everything") func declarations() throws {
        let graph = try harness(try rule(.define, "/hosts/**"))
        let document = "keys: { environment: { unit: C } }\nnodes: [{ id: c }]"
        #expect(denial { try graph.apply(document, at: "/hosts") } == "user 1000 lacks the right 'define' on /**")
        #expect(refusal { try graph.succeed(.describe(path: "/hosts/c", depth: nil)) }?.code == .notFound)
        #expect(denial { try harness(try rule(.define, "/**")).apply(document, at: "/hosts") } == nil)
    }

    // MARK: When

    @Test("mutations for the disconnect are committed with the rights of that time") func onDisconnect()
        throws
    {
        let left = Request.onDisconnect(
            [Mutation(operation: .set, path: "/hosts/a.load", value: 0)], TransactionOptions())
        for isTakenAway in [false, true] {
            let graph = try harness(try rule(.write, "/hosts/**"))
            try graph.succeed(left)
            if isTakenAway { graph.turn([.accessChanged(AccessRules([try rule(.read, "/**")], owner: 7))]) }
            graph.turn([.disconnected(ClientID(number: 1))])
            #expect(try graph.get("/hosts/a.load", from: 2) == .value(isTakenAway ? 1.0 : 0.0))
        }
    }

    @Test("new rules hold for who is connected, and end the subscriptions that they do not allow") func change() throws
    {
        let graph = try harness(try rule(.write, "/**"))
        let kept = try graph.subscribe(["/hosts/a.load"])
        let lost = try graph.subscribe(["/hosts/*"])
        graph.turn([.accessChanged(AccessRules([try rule(.read, "/hosts/a")], owner: 7))])
        guard case .event(let receivers, .ended(.denied, let reason))? = graph.deliveries.first,
            graph.deliveries.count == 1
        else {
            Issue.record("one subscription ends")
            return
        }
        #expect(receivers.map(\.subscription) == [lost])
        #expect(reason == "user 1000 lacks the right 'read' on /hosts/*")
        #expect(Array(graph.runtime.watching.subscriptions.keys) == [kept])
        #expect(denial { try graph.set("/hosts/a.load", 5) } != nil)
        graph.turn([.accessChanged(AccessRules([], owner: 7))])
        try graph.set("/hosts/a.load", 5)
        #expect(graph.changes == ["/hosts/a.load": .value(5.0)])
    }

    @Test("a client without any right is refused before its paths are read, and a refusal repeats no long path")
    func cheapRefusals() throws {
        let graph = try harness(try rule(.read, "/hosts/**", .user(1001)))
        let get = Request.get(.init(paths: ["not a path"], isSingle: true))
        #expect(denial { try graph.succeed(get) } == "user 1000 has no rights, and needs 'read' for this")
        let other = try harness(try rule(.read, "/hosts/**"))
        let long = "/" + [String](repeating: "long", count: 800).joined(separator: "/")
        let failure = try #require(refusal { try other.value(long + ".x") })
        #expect(failure.code == .denied && failure.message.utf8.count < 200 && (failure.path?.utf8.count ?? 0) < 200)
    }

    @Test("the check of a request takes steps by the number of paths and rules, not by their length")
    func costOfChecks() throws {
        let rules = try (0..<255).map { try rule(.read, "/area\($0)/**") } + [try rule(.read, "/hosts/**")]
        let graph = try harness()
        let tail = [String](repeating: "/x", count: 1000).joined()
        func steps(_ path: String, rules: [AccessRule]) -> Int {
            graph.turn([.accessChanged(AccessRules(rules, owner: 7))])
            graph.runtime.graph.stepsLeft = 10_000_000
            let paths = (0..<1000).map { "\(path)\($0)" }
            let get = Request.get(.init(paths: paths))
            if let client = graph.runtime.clients[ClientID(number: 1)] {
                try? graph.runtime.checkAccess(of: client, to: get)
            }
            return 10_000_000 - graph.runtime.graph.stepsLeft
        }
        let short = steps("/hosts/a.load", rules: rules)
        #expect(short <= 1000 * (2 * 256 + 4))
        // What stands behind the last segment that a rule looks at counts once, for reading it.
        #expect(steps("/hosts\(tail).load", rules: rules) <= short + 1000 * 1000)
        // The first path that no rule allows is the last one looked at.
        #expect(steps("/elsewhere\(tail).load", rules: rules) <= 2 * 256 + 1010)
    }

    @Test("a request with too many paths for its steps is refused") func boundOfChecks() throws {
        var limits = RuntimeLimits()
        limits.requestCost = 1000
        let graph = try Harness(AccessTests.scene, limits: limits)
        graph.turn([
            .accessChanged(
                AccessRules(try (0..<100).map { try rule(.read, "/area\($0)/**") } + [try rule(.read, "/**")], owner: 7)
            )
        ])
        let get = Request.get(
            .init(paths: (0..<100).map { "/hosts/a.x\($0)" }, typed: false))
        #expect(refusal { try graph.succeed(get) }?.code == .limit)
    }

    @Test("eval needs a right, and reads no environment and no place among siblings for who may read a part")
    func eval() throws {
        let graph = try harness(try rule(.read, "/secret/open/**"))
        func eval(_ expression: String, at: String?) throws -> Answer {
            try graph.succeed(.eval(expression: expression, bindings: ValueMap(), at: at, typed: false))
        }
        #expect(denial { try eval("1 + 1", at: nil) } == "user 1000 lacks the right 'read' on /**")
        #expect(refusal { try eval("env.locale", at: "/secret/open") }?.code == .ruleType)
        #expect(refusal { try eval("self.index", at: "/secret/open") }?.code == .ruleType)
        guard case .content(.value(14), _, _) = try eval("hint", at: "/secret/open") else {
            Issue.record("what is the node's own is read")
            return
        }
    }

    @Test("explain names nothing that may not be read, and no other user's process") func explain() throws {
        let graph = try harness(try rule(.read, "/secret/open/**"))
        graph.turn([.connected(ClientID(number: 3), Peer(pid: 4711, uid: 7, gid: 7))])
        try graph.set("/secret.key", 8, from: 3)
        let told = try graph.explained("/secret/open.hint", at: 2)
        #expect(told["dependencies"] == ["/secret/open.key"] || told["dependencies"] == [])
        let text = Value.map(told).jsonText
        #expect(!text.contains("4711") && !text.contains("secret.key"))
        let binding = try graph.described("/secret/open.key")
        #expect(binding["value"] == 8 && binding["target"] == nil)
    }

    @Test("a node that comes from a hidden place is new to who watches a part") func arrivals() throws {
        let graph = try harness(try rule(.read, "/secret/**"))
        graph.turn([.connected(ClientID(number: 3), Peer(pid: 4711, uid: 7, gid: 7))])
        try graph.subscribe(["/secret/**"], events: .structure)
        try graph.succeed(.move(path: "/hosts/a", to: "/secret", index: nil, TransactionOptions()), from: 3)
        let told = try #require(graph.structures.first)
        #expect(told.added == ["/secret/a", "/secret/a.load", "/secret/a.tags"])
        #expect(told.removed.isEmpty && told.moved.isEmpty)
    }

    @Test("a definition in a part reads no names, environment or components from outside")
    func definers() throws {
        let graph = try harness(try rule(.define, "/secret/open/**"), try rule(.define, "/hosts/**"))
        func refused(_ node: String, at: String = "/hosts", head: String = "") -> ErrorCode? {
            refusal { try graph.apply("\(head)nodes: [\(node)]", at: at, mode: .create) }?.code
        }
        #expect(refused("{ id: c, kind: view, let: { x: $locale } }") == .notFound)
        #expect(refused("{ id: c, kind: view, let: { x: $locale } }", head: "dangling: [locale]\n") != nil)
        #expect(refused("{ id: c, kind: view, inherit: { x: locale } }") == .denied)
        #expect(refused("{ id: c, kind: view, computed: { x: env.locale } }") == .denied)
        #expect(refused("{ id: c, kind: view, state: { s: 1 }, computed: { x: s + 1 } }") == nil)
        #expect(
            denial { try graph.apply("nodes: [{ id: d, kind: view }]", at: "/hosts", mode: .replace) }
                == "user 1000 lacks the right 'read' on /**")
    }

    /// A node with a visible part that reads a hidden place.
    private static let secret = """
        nodes:
          - id: secret
            state: { key: 7 }
            computed: { share: 100 / key }
            children: [{ id: open, kind: view, let: { told: $share } }]
        """

    @Test("an error from a hidden place stays hidden while somebody's batch subscribes") func errorsBesideBatches()
        throws
    {
        let graph = try Harness(AccessTests.secret)
        graph.turn([.accessChanged(AccessRules([try rule(.read, "/secret/open/**")], owner: 7))])
        let owner = ClientID(number: 3)
        graph.turn([.connected(owner, Peer(pid: 4711, uid: 7, gid: 7))])
        try graph.subscribe(["/secret/open.told"])
        let subscribe = Request.Subscribe(
            patterns: ["/secret.key"], events: .update, initial: true, since: nil, maxRate: nil, frameRate: nil,
            css: false,
            typed: false, bookmarks: false)
        graph.turn([
            .batchBegins(owner), .call(owner, id: .int(1), .subscribe(subscribe)),
            .call(
                owner, id: .int(2), .set(Mutation(operation: .set, path: "/secret.key", value: 0), TransactionOptions())
            ),
            .batchEnds(owner),
        ])
        let told = graph.deliveries.compactMap { delivery -> [Change]? in
            guard case .event(let receivers, .update(_, _, _, _, _, let changes, _)) = delivery else { return nil }
            return receivers.contains { $0.client == ClientID(number: 1) } ? changes : nil
        }
        #expect(told.joined().map { $0.content.failure?.message } == ["it depends on an attribute that has an error"])
    }

    @Test("an update as text names its writer to those who may know, and an error from a hidden place stays hidden")
    func texts() throws {
        let graph = try Harness(AccessTests.secret)
        let (part, owner) = (ClientID(number: 1), ClientID(number: 3))
        graph.turn([.accessChanged(AccessRules([try rule(.read, "/secret/open/**")], owner: 7))])
        graph.turn([.connected(owner, Peer(pid: 4711, uid: 7, gid: 7))])
        let subscribe = Request.Subscribe(patterns: ["/secret/open.told"], initial: false, writers: true)
        for client in [part, owner] { try graph.succeed(.subscribe(subscribe), from: client.number) }
        let output = CountingOutput()
        graph.runtime.output = output
        for key: Value in [50, 0] {
            let mutation = Mutation(operation: .set, path: "/secret.key", value: key)
            graph.turn([.call(owner, id: .int(1), .set(mutation, TransactionOptions()))])
        }
        #expect(output.texts.map(\.clients) == [[owner], [part]])
        #expect(output.texts.map { $0.writer == nil } == [false, true])
        #expect(output.texts.allSatisfy { $0.changes == #"{"path":"/secret/open.told","value":2}"# })
        let hidden = "it depends on an attribute that has an error"
        let failures = output.events.flatMap { event in event.clients.map { ($0, event.changes[0].content.failure) } }
        #expect(Set(failures.map(\.0)) == [part, owner])
        #expect(failures.allSatisfy { ($1?.message == hidden) == ($0 == part) })
    }

    @Test("denied requests are counted, and told for the log") func counted() throws {
        let graph = try harness(try rule(.read, "/hosts/**"))
        let set = Request.set(Mutation(operation: .set, path: "/hosts/a.load", value: 5), TransactionOptions())
        // A notification is answered to nobody, but is told here.
        let outcome = graph.runtime.apply(
            [.call(ClientID(number: 1), id: nil, set), .call(ClientID(number: 2), id: .int(1), set)], at: graph.now)
        #expect(outcome.denials.map(\.client) == [ClientID(number: 1), ClientID(number: 2)])
        #expect(graph.runtime.statistics.denials == 2)
    }
}
