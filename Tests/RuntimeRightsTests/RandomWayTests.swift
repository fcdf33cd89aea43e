import AttributeValues
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Says who may have changed a state, from the texts of the documents and the access lines alone. It knows the
/// references of each attribute that a document has defined, and takes a name for all paths that it could mean. So it
/// never forbids what is right, and it shares nothing with the graph.
private struct WayModel {
    /// What users may write, as the beginnings of paths.
    static let rights: [(user: UInt32, right: AccessRight, node: String)] = [
        (1001, .define, "/up/a"), (1002, .define, "/up/b"), (1001, .write, "/s"), (1002, .write, "/up/a/n0"),
    ]
    /// The ways of the scene, whose author has every right.
    private static let standing = ["/pub.p": "/v.x", "/pub.list": "/v.list", "/pub.go": "/v.x", "/up.far": "/v.x"]

    /// The references of attributes, by path. An element of a list is `*`.
    private var references: [String: Set<String>] = [:]
    /// What the actions of each user write that the graph sets off. A client may also call them.
    private var triggers: [UInt32: Set<String>] = [:]

    /// One who writes, and the paths that he names.
    struct Writer {
        var user: UInt32
        var paths: [String]
    }

    /// A document has been applied at a user's part. It defines its attributes anew.
    mutating func note(_ document: RandomDocument, at part: String, by user: UInt32) {
        references.merge(document.references.map { (part + $0.key, $0.value) }) { $1 }
        triggers[user, default: []].formUnion(document.triggers)
    }

    /// A node has another path. There may be old references at this path.
    mutating func noteMove(from old: String, to new: String) {
        for (path, names) in references where Self.isBelow(path, old) {
            references[new + path.dropFirst(old.count), default: []].formUnion(names)
        }
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

    /// The references of an attribute of a user.
    private func references(of path: String) -> Set<String> {
        if let known = references[path] { return known }
        guard let dot = path.lastIndex(of: "."), let slash = path[..<dot].lastIndex(of: "/") else { return [] }
        return references["\(path[...slash])*\(path[dot...])"] ?? []
    }

    /// True if a way leads from what somebody may write, and has named, to the state, and the author of each step may
    /// write the state.
    /// - Parameters:
    ///   - fired: the users whose actions may have been set off.
    func explains(
        _ state: String, by writers: [Writer], fired: (UInt32) -> Bool, among paths: Set<String>
    ) -> Bool {
        func lead(_ references: Set<String>, of user: UInt32) -> Set<String> {
            paths.filter { path in references.contains { Self.names($0, path, by: user) } }
        }
        var reached = Set(writers.flatMap { writer in writer.paths.filter { Self.mayWrite(writer.user, $0) } })
        for (user, references) in triggers where fired(user) && Self.mayWrite(user, state) {
            reached.formUnion(lead(references, of: user))
        }
        var pending = Array(reached)
        while let path = pending.popLast() {
            if path == state { return true }
            var next: Set<String> = []
            if let author = Self.author(of: path) {
                guard Self.mayWrite(author, state) else { continue }
                next = lead(references(of: path), of: author)
            } else if let end = Self.standing[path] {
                next = [end]
            }
            for path in next where reached.insert(path).inserted { pending.append(path) }
        }
        return false
    }
}

/// A document for a part of the tree, with what the model has to know of it.
private struct RandomDocument {
    var text = ""
    /// What each attribute leads to, by path below the part.
    var references: [String: Set<String>] = [:]
    var triggers: Set<String> = []
    /// The paths below the part that `values` sets.
    var values: [String] = []

    private static let names = [
        "$/v.x", "$/v.list", "$/pub.p", "$/pub.list", "$/s.x", "$/up/a/n0.s", "$/up/b/n0.s", "$/up/a/n1.b",
        "$/up/b/n1.b",
        "$up", "$far", "$own", "$s", "$b", "$later", "$timeZone", "$lock.open", "$/up.lock.open", "$/up/a/n0/l/k.e.n",
        "$/up/b/n0/l/k.e", "$/up/a/n1.lock.open",
    ]

    init(_ random: inout SeededGenerator, for part: String) {
        let head = random.chance(60) ? "dangling: [later, lock, s, b, list]\n" : ""
        let top = random.chance(60) ? link(&random, part) : node(&random, "n\(random.below(2))", below: "")
        if random.chance(30) { values = ["/n0.b", "/n0.s", "/n1/l/k.m"] }
        text =
            "agd: 1\n\(head)nodes: [\(top)]"
            + (values.isEmpty ? "" : "\nvalues: { /n0.b: 6, /n0.s: 5, /n1/l/k.m: 4 }")
    }

    /// A node whose bindings lead to bindings of the other user, or to states that only one of them may write. With the
    /// next document of either, a way through several of them leads elsewhere.
    private mutating func link(_ random: inout SeededGenerator, _ part: String) -> String {
        let (on, end) =
            part == "a"
            ? (random.pick(["$/up/b/n0.b", "$/up/b/n0.b", "$c", "$s"]), random.pick(["$s", "$/s.x"]))
            : (random.pick(["$/up/a/n0.c", "$/up/a/n0.c", "$/up/a/n0.b", "$s"]), "$s")
        references["/n0.b"] = [on]
        references["/n0.c"] = [end]
        return "{ id: n0, kind: container, state: { s: \(random.below(9)) }, binding: { b: \(on), c: \(end) } }"
    }

    private mutating func node(
        _ random: inout SeededGenerator, _ id: String, below parent: String, depth: Int = 0
    ) -> String {
        let path = "\(parent)/\(id)"
        var parts = ["id: \(id)", "kind: container"]
        func reference() -> String { random.pick(RandomDocument.names) }
        if random.chance(50) { parts.append("state: { s: \(random.below(9)), list: [{ id: k, n: 1 }] }") }
        if random.chance(60) {
            let (one, other) = (reference(), reference())
            let kind = random.below(3)
            references["\(path).b"] = kind == 1 ? [one, other] : [one]
            let target = [one, "'=true ? \(one) : \(other)'", "{ get: '1', set: { \(one): =newValue } }"][kind]
            parts.append("binding: { b: \(target) }")
        }
        if random.chance(20) {
            references["\(path).lock"] = ["$lock", "$b"]
            parts.append("inherit: { lock: Lock }")
        }
        if random.chance(20) { parts.append("environment: { objects: [\(random.pick(["$lock", "$b"]))] }") }
        if random.chance(40) {
            let target = random.chance(30) ? random.pick(["/v.x", "/up/*/*.s", "/**.x"]) : reference()
            references["\(path).go"] = [target]
            parts.append("actions: { go: { set: { \(target): \(random.below(9)) } } }")
        }
        if random.chance(20) {
            let target = reference()
            triggers.insert(target)
            references["\(path).onChange"] = [target]
            parts.append("onChange: { of: $own, perform: { set: { \(target): 7 } } }")
        }
        if random.chance(20) {
            let target = reference()
            triggers.insert(target)
            references["\(path).onAppear"] = [target]
            parts.append("onAppear: { set: { \(target): 8 } }")
        }
        var children: [String] = []
        if random.chance(40) {
            let inner = random.pick([
                "{ kind: view }", "{ binding: { m: $e.n } }", "{ actions: { go: { set: { $e.n: 3 } } } }",
                "{ onAppear: { set: { $e.n: 4 } } }",
            ])
            let data = random.pick(["$/v.list", "$/pub.list", "$list", "$/up/a/n0.list", "$b"])
            references["\(path)/l/*.e"] = [data]
            for name in ["m", "go", "onAppear"] { references["\(path)/l/*.\(name)"] = ["$e"] }
            if inner.contains("onAppear") { triggers.insert("$e") }
            children.append("{ id: l, forEach: { in: \(data), as: e, node: \(inner) } }")
        }
        if depth < 2, random.chance(50) {
            children.append(node(&random, "n\(random.below(2))", below: path, depth: depth + 1))
        }
        if !children.isEmpty { parts.append("children: [\(children.joined(separator: ", "))]") }
        return "{ \(parts.joined(separator: ", ")) }"
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

    /// Before the first turn of a life, as a daemon has its rules when it starts.
    private static func begin(_ graph: Harness) throws {
        var rules = try WayModel.rights.map { AccessRule($0.right, [.user($0.user)], try PathPattern($0.node + "/**")) }
        rules.append(AccessRule(.read, [.everyone], .everything))
        graph.runtime.changeAccess(to: AccessRules(rules, owner: 7))
        for (client, user, _) in users { connect(client, user, graph) }
        connect(9, 7, graph)
    }

    private static func connect(_ client: UInt64, _ user: UInt32, _ graph: Harness) {
        graph.turn([.connected(ClientID(number: client), Peer(pid: 3, uid: user, gid: user))])
    }

    private static func request(
        _ random: inout SeededGenerator, _ paths: [String], _ part: String
    ) -> (request: Request, document: RandomDocument?) {
        let bindings = paths.filter { $0.hasSuffix("/n0.b") }
        let path = random.chance(60) && !bindings.isEmpty ? random.pick(bindings) : random.pick(paths)
        let other: Value = random.pick([true, ["n": 5], [["id": "k", "n": 9]]])
        let value = random.chance(70) ? Value.int(Int64(random.below(99))) : other
        let mutation = Mutation(
            operation: random.chance(70) ? .set : random.pick([.add, .merge]), path: path, value: value)
        switch random.below(16) {
        case 0...4:
            let document = RandomDocument(&random, for: part)
            let request = Request.apply(
                .init(
                    document: .string(document.text), at: "/up/\(part)", mode: random.chance(80) ? .merge : .replace,
                    dryRun: false, options: .init()))
            return (request, document)
        case 5: return (.do(path: RequestPath(path), arguments: ValueMap(), .init()), nil)
        case 6: return (.transact([mutation], .init()), nil)
        case 7: return (.onDisconnect([mutation], .init()), nil)
        case 8: return (.remove(path: "/up/\(part)/n\(random.below(2))", .init()), nil)
        case 9:
            let parent = random.chance(50) ? "/up/\(part)" : "/up/\(part)/n1"
            return (.move(path: "/up/\(part)/n0/n1", to: parent, index: nil, .init()), nil)
        default: return (.set(mutation, .init()), nil)
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
    private static func named(_ request: Request) -> [String] {
        switch request {
        case .set(let mutation, _): [mutation.path]
        case .transact(let mutations, _): mutations.map(\.path)
        case .do(let path, _, _): [path.text]
        default: []
        }
    }

    @Test(
        "each change of a state comes from a path that its writer may write, by steps whose authors may write the state",
        arguments: freshSeeds(12))
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var graph = try Harness(RandomWayTests.scene)
        try Self.begin(graph)
        var model = WayModel()
        var wills: [UInt32: [String]] = [:]
        var before = try Self.contents(graph)
        let first = before
        var done = 0
        /// - Parameter part: a part whose structure its user has changed, with its states.
        func check(
            _ writers: [WayModel.Writer], changing part: String? = nil, isStart: Bool = false, _ step: String
        ) throws {
            let after = try Self.contents(graph)
            let paths = Set(before.keys).union(after.keys)
            let changed = Set(paths.filter { before[$0] != after[$0] })
            // Actions are set off by a change of `own`, by a new node, and by a new element.
            let mayAppear = isStart || part != nil || changed.contains { $0.hasSuffix(".list") }
            for state in changed where WayModel.isState(state) && before[state] != nil && after[state] != nil {
                if let part, WayModel.isBelow(state, part) { continue }
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
            let (request, document) = Self.request(&random, before.keys.sorted(), part)
            let isDone = refusal { try graph.succeed(request, from: client) } == nil
            var (isStructure, paths) = (false, Self.named(request))
            if isDone {
                done += 1
                switch request {
                case .apply:
                    guard let document else { break }
                    model.note(document, at: "/up/\(part)", by: user)
                    paths = document.values.map { "/up/\(part)\($0)" }
                    isStructure = true
                case .onDisconnect(let mutations, _): wills[user, default: []] += mutations.map(\.path)
                case .move(let path, let to, _, _):
                    model.noteMove(from: path, to: "\(to ?? "")/n1")
                    isStructure = true
                case .remove: isStructure = true
                default: break
                }
            }
            try check(
                isDone ? [WayModel.Writer(user: user, paths: paths)] : [],
                changing: isStructure ? "/up/\(part)" : nil, "\(client): \(request)")
            func lastWill(of user: UInt32) -> WayModel.Writer { .init(user: user, paths: wills[user] ?? []) }
            if random.chance(10) {
                graph.turn([.disconnected(ClientID(number: client))])
                Self.connect(client, user, graph)
                try check([lastWill(of: user)], "\(client) has gone")
            }
            if random.chance(5) {
                graph.end()
                let rows = Array(graph.rows.values)
                let next = try Harness(RandomWayTests.scene, from: graph, after: 1)
                _ = next.runtime.restore(rows)
                graph = next
                try Self.begin(graph)
                graph.turn([])
                try check(Self.users.map { lastWill(of: $0.user) }, isStart: true, "a restart")
            }
        }
        #expect(done > 2)
    }
}
