import AttributeValues
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Says who may have changed a state, from the texts of the documents and the access lines alone. It knows who has
/// written a reference, and takes each for all paths that it could name. So it never forbids what is right, and it
/// shares nothing with the graph.
private struct WayModel {
    /// What users may write, as the beginnings of paths.
    static let rights: [(user: UInt32, right: AccessRight, node: String)] = [
        (1001, .define, "/up/a"), (1002, .define, "/up/b"), (1001, .write, "/s"), (1002, .write, "/up/a/n0"),
    ]
    /// The ways of the scene, whose author has every right.
    private static let standing = ["/pub.p": "/v.x", "/pub.list": "/v.list", "/pub.go": "/v.x", "/up.far": "/v.x"]

    /// The references and patterns in the documents of each user so far.
    private var references: [UInt32: Set<String>] = [:]
    private var triggers: Set<UInt32> = []

    /// One who writes, and the paths that he names.
    struct Writer {
        var user: UInt32
        var paths: [String]
    }

    mutating func note(_ document: String, by user: UInt32) {
        let isPart = { (letter: Character) in letter.isLetter || letter.isNumber || "/.*$".contains(letter) }
        for word in document.split(whereSeparator: { !isPart($0) }) where word.hasPrefix("$") || word.hasPrefix("/") {
            references[user, default: []].insert(String(word))
        }
        if document.contains("onChange") || document.contains("onAppear") { triggers.insert(user) }
    }

    static func isBelow(_ path: String, _ node: String) -> Bool {
        path.hasPrefix(node + "/") || path.hasPrefix(node + ".")
    }

    static func mayWrite(_ user: UInt32, _ path: String) -> Bool {
        rights.contains { $0.user == user && isBelow(path, $0.node) }
    }

    /// The author of all parts of a node; nil: the daemon.
    static func author(of path: String) -> UInt32? {
        isBelow(path, "/up/a") ? 1001 : isBelow(path, "/up/b") ? 1002 : nil
    }

    static func isState(_ path: String) -> Bool {
        let name = path.split(separator: ".").last ?? ""
        return ["s", "list", "own", "x", "up"].contains(name) && !path.hasPrefix("/pub") || path == "/up.lock"
            || path == "/.timeZone"
    }

    private static func names(_ reference: String, _ path: String, by user: UInt32) -> Bool {
        switch reference {
        case "/**.x": return path.hasSuffix(".x")
        case "/up/*/*.s": return path.hasPrefix("/up/") && path.hasSuffix(".s")
        default: break
        }
        let text = reference.drop { $0 == "$" }
        guard text.hasPrefix("/") else {
            // A name means an attribute of the node, or of one around it.
            let name = text.split(separator: ".").first ?? ""
            let node = path.split(separator: ".").first ?? ""
            return path.hasSuffix(".\(name)") && (author(of: path) == user || node == "/up" || path == "/.\(name)")
        }
        // A part of a value is named after its attribute.
        return text == path || text.hasPrefix(path + ".")
    }

    /// True if a way leads from what somebody may write, and has named, to the state, and the author of each step may
    /// write the state.
    /// - Parameters:
    ///   - fired: the users whose actions may have been set off.
    func explains(
        _ state: String, by writers: [Writer], fired: (UInt32) -> Bool, among paths: Set<String>
    ) -> Bool {
        var reached = Set(writers.flatMap { writer in writer.paths.filter { Self.mayWrite(writer.user, $0) } })
        for user in triggers where fired(user) && Self.mayWrite(user, state) {
            reached.formUnion(paths.filter { Self.author(of: $0) == user })
        }
        var pending = Array(reached)
        var used: Set<UInt32> = []
        while let path = pending.popLast() {
            if path == state { return true }
            var next: [String] = []
            if let author = Self.author(of: path) {
                guard Self.mayWrite(author, state), used.insert(author).inserted else { continue }
                next = paths.filter { path in
                    (references[author] ?? []).contains { Self.names($0, path, by: author) }
                }
            } else if let end = Self.standing[path] {
                next = [end]
            }
            for path in next where reached.insert(path).inserted { pending.append(path) }
        }
        return false
    }
}

/// Random documents of two users with a part each. The model says for each change who may have made it.
@Suite("Ways to write: random scenes and users")
struct RandomWayTests {
    private static let scene = """
        types: { Lock: { state: { open: false } } }
        nodes:
          - id: v
            state: { x: 1, list: [{ id: k, n: 1 }, { id: m, n: 2 }] }
          - id: pub
            binding: { p: $/v.x, list: $/v.list }
            actions: { go: { set: { $/v.x: 2 } } }
          - { id: s, state: { x: 1 } }
          - id: up
            kind: container
            state: { up: 1, lock: { type: Lock, initial: {} } }
            binding: { far: $/v.x }
            environment: { objects: [$lock] }
            children: [{ id: a, kind: container, state: { own: 1 } }, { id: b, kind: container, state: { own: 1 } }]
        """
    private static let users: [(client: UInt64, user: UInt32, part: String)] = [(11, 1001, "a"), (12, 1002, "b")]

    private static func connect(_ graph: Harness) throws {
        var rules = try WayModel.rights.map { AccessRule($0.right, [.user($0.user)], try PathPattern($0.node + "/**")) }
        rules.append(AccessRule(.read, [.everyone], .everything))
        graph.turn([.accessChanged(AccessRules(rules, owner: 7))])
        for (client, user, _) in users {
            graph.turn([.connected(ClientID(number: client), Peer(pid: 3, uid: user, gid: user))])
        }
        graph.turn([.connected(ClientID(number: 9), Peer(pid: 3, uid: 7, gid: 7))])
    }

    private static let references = [
        "$/v.x", "$/v.list", "$/pub.p", "$/pub.list", "$/s.x", "$/up/a/n0.s", "$/up/b/n0.s", "$/up/a/n1.b",
        "$/up/b/n1.b",
        "$up", "$far", "$own", "$s", "$b", "$later", "$timeZone", "$lock.open", "$/up.lock.open", "$/up/a/n0/l/k.e.n",
        "$/up/b/n0/l/k.e", "$/up/a/n1.lock.open",
    ]

    private static func node(_ random: inout SeededGenerator, _ id: String, depth: Int = 0) -> String {
        var parts = ["id: \(id)", "kind: container"]
        func reference() -> String { random.pick(references) }
        if random.chance(50) { parts.append("state: { s: \(random.below(9)), list: [{ id: k, n: 1 }] }") }
        if random.chance(60) {
            let target = [
                reference(), "'=true ? \(reference()) : \(reference())'",
                "{ get: '1', set: { \(reference()): =newValue } }",
            ]
            parts.append("binding: { b: \(target[random.below(3)]) }")
        }
        if random.chance(20) { parts.append("inherit: { lock: Lock }") }
        if random.chance(20) { parts.append("environment: { objects: [\(random.pick(["$lock", "$b"]))] }") }
        if random.chance(40) {
            let target = random.chance(30) ? random.pick(["/v.x", "/up/*/*.s", "/**.x"]) : reference()
            parts.append("actions: { go: { set: { \(target): \(random.below(9)) } } }")
        }
        if random.chance(20) { parts.append("onChange: { of: $own, perform: { set: { \(reference()): 7 } } }") }
        if random.chance(20) { parts.append("onAppear: { set: { \(reference()): 8 } }") }
        var children: [String] = []
        if random.chance(40) {
            let inner = random.pick([
                "{ kind: view }", "{ binding: { m: $e.n } }", "{ actions: { go: { set: { $e.n: 3 } } } }",
                "{ onAppear: { set: { $e.n: 4 } } }",
            ])
            let data = random.pick(["$/v.list", "$/pub.list", "$list", "$/up/a/n0.list", "$b"])
            children.append("{ id: l, forEach: { in: \(data), as: e, node: \(inner) } }")
        }
        if depth < 2, random.chance(50) { children.append(node(&random, "n\(random.below(2))", depth: depth + 1)) }
        if !children.isEmpty { parts.append("children: [\(children.joined(separator: ", "))]") }
        return "{ \(parts.joined(separator: ", ")) }"
    }

    /// A node whose binding leads on to a binding of somebody else, or to a state: with the next document of either, a
    /// way through both leads elsewhere.
    private static func link(_ random: inout SeededGenerator) -> String {
        let target = random.pick(["$/up/a/n0.b", "$/up/b/n0.b", "$/up/a/n0.s", "$/up/b/n0.s", "$s", "$/s.x"])
        return "{ id: n0, kind: container, state: { s: \(random.below(9)) }, binding: { b: \(target) } }"
    }

    private static func request(_ random: inout SeededGenerator, _ paths: [String], _ part: String) -> Request {
        let bindings = paths.filter { $0.hasSuffix("/n0.b") }
        let path = random.chance(40) && !bindings.isEmpty ? random.pick(bindings) : random.pick(paths)
        let value: Value = random.pick([.int(Int64(random.below(99))), true, ["n": 5], [["id": "k", "n": 9]]])
        let mutation = Mutation(operation: random.pick([.set, .add, .merge]), path: path, value: value)
        switch random.below(12) {
        case 0...4:
            let head = random.chance(60) ? "dangling: [later, lock, s, b, list]\n" : ""
            let nodes = random.chance(50) ? link(&random) : node(&random, "n\(random.below(2))")
            let values = random.chance(30) ? "\nvalues: { /n0.b: 6, /n0.s: 5, /n1/l/k.m: 4 }" : ""
            return .apply(
                .init(
                    document: .string("agd: 1\n\(head)nodes: [\(nodes)]\(values)"), at: "/up/\(part)",
                    mode: random.chance(80) ? .merge : .replace, dryRun: false, options: .init()))
        case 5: return .do(path: RequestPath(path), arguments: ValueMap(), .init())
        case 6: return .transact([mutation], .init())
        case 7: return .onDisconnect([mutation], .init())
        case 8: return .remove(path: "/up/\(part)/n\(random.below(2))", .init())
        case 9:
            return .move(
                path: "/up/\(part)/n0/n1", to: random.chance(50) ? "/up/\(part)" : "/up/\(part)/n1", index: nil, .init()
            )
        default: return .set(mutation, .init())
        }
    }

    /// The contents of all attributes, by path.
    private static func contents(_ graph: Harness) throws -> [String: Content] {
        guard case .contents(let all, _, _) = try graph.succeed(.get(.init(paths: ["/**"])), from: 9) else {
            throw Failure(.unavailable, "no contents")
        }
        return Dictionary(all.map { ($0.path, $0.content) }) { $1 }
    }

    /// The paths that a request names, as far as their writer has to have a right there.
    private static func named(_ request: Request, _ part: String, among paths: Set<String>) -> [String] {
        switch request {
        case .set(let mutation, _): [mutation.path]
        case .transact(let mutations, _): mutations.map(\.path)
        case .do(let path, _, _): [path.text]
        // The values of a document, and the states of its nodes.
        case .apply, .remove, .move: paths.filter { WayModel.isBelow($0, "/up/\(part)") }
        default: []
        }
    }

    @Test(
        "each change of a state comes from a path that its writer may write, by steps whose authors may write the state",
        arguments: freshSeeds(12))
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var graph = try Harness(RandomWayTests.scene)
        try Self.connect(graph)
        var model = WayModel()
        var wills: [UInt32: [String]] = [:]
        var before = try Self.contents(graph)
        let first = before
        var done = 0
        func check(_ writers: [WayModel.Writer], isStructure: Bool, _ step: String) throws {
            let after = try Self.contents(graph)
            let paths = Set(before.keys).union(after.keys)
            let changed = Set(paths.filter { before[$0] != after[$0] })
            // Actions are set off by a change of `own`, by a new node, and by a new element.
            let mayAppear = isStructure || changed.contains { $0.hasSuffix(".list") }
            for state in changed where WayModel.isState(state) && before[state] != nil && after[state] != nil {
                let isRight = model.explains(
                    state, by: writers,
                    fired: { user in mayAppear || changed.contains(user == 1001 ? "/up/a.own" : "/up/b.own") },
                    among: paths)
                #expect(isRight, "\(state) has changed after \(step)")
            }
            for path in ["/v.x", "/v.list", "/up.lock", "/up.up", "/.timeZone"] {
                #expect(after[path] == first[path], "\(path), after \(step)")
            }
            before = after
        }
        for _ in 0..<150 {
            let (client, user, part) = random.pick(Self.users)
            let request = Self.request(&random, before.keys.sorted(), part)
            let isDone = refusal { try graph.succeed(request, from: client) } == nil
            var isStructure = false
            if isDone {
                done += 1
                switch request {
                case .apply(let apply):
                    model.note(apply.document.string ?? "", by: user)
                    isStructure = true
                case .onDisconnect(let mutations, _): wills[user, default: []] += mutations.map(\.path)
                case .remove, .move: isStructure = true
                default: break
                }
            }
            let after = try Self.contents(graph)
            let paths = Self.named(request, part, among: Set(before.keys).union(after.keys))
            try check(
                isDone ? [WayModel.Writer(user: user, paths: paths)] : [], isStructure: isStructure,
                "\(client): \(request)")
            func lastWill(of user: UInt32) -> WayModel.Writer { .init(user: user, paths: wills[user] ?? []) }
            if random.chance(10) {
                graph.turn([.disconnected(ClientID(number: client))])
                try Self.connect(graph)
                try check([lastWill(of: user)], isStructure: false, "\(client) has gone")
            }
            if random.chance(5) {
                graph.end()
                let rows = Array(graph.rows.values)
                let next = try Harness(RandomWayTests.scene, from: graph, after: 1)
                _ = next.runtime.restore(rows)
                graph = next
                try Self.connect(graph)
                graph.turn([])
                try check(Self.users.map { lastWill(of: $0.user) }, isStructure: true, "a restart")
            }
        }
        #expect(done > 2)
    }
}
