import AttributeValues
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime

/// Random documents of two users with a part each. States that neither of them may write never change, and those of one
/// user change only through ways that he has made or by his own requests.
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
        var rules: [AccessRule] = []
        for (_, user, part) in users {
            rules.append(AccessRule(.define, [.user(user)], try PathPattern("/up/\(part)/**")))
            rules.append(AccessRule(.read, [.user(user)], try PathPattern("/**")))
        }
        rules.append(AccessRule(.write, [.user(1001)], try PathPattern("/s")))
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

    private static func request(_ random: inout SeededGenerator, _ paths: [String], _ part: String) -> Request {
        let path = random.pick(paths)
        let value: Value = random.pick([.int(Int64(random.below(99))), true, ["n": 5], [["id": "k", "n": 9]]])
        let mutation = Mutation(operation: random.pick([.set, .add, .merge]), path: path, value: value)
        switch random.below(12) {
        case 0...4:
            let head = random.chance(60) ? "dangling: [later, lock, s, b, list]\n" : ""
            let nodes = node(&random, "n\(random.below(2))")
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

    @Test("no user's document or request changes a state that he may not write", arguments: freshSeeds(12))
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var graph = try Harness(RandomWayTests.scene)
        try Self.connect(graph)
        let first = try Self.contents(graph)
        let foreign = ["/v.x", "/v.list", "/up.lock", "/up.up", "/.timeZone"]
        var (done, last) = (0, "")
        for _ in 0..<150 {
            let before = try Self.contents(graph)
            let (client, _, part) = random.pick(Self.users)
            let request = Self.request(&random, before.keys.sorted(), part)
            last = "\(client): \(request)"
            if refusal({ try graph.succeed(request, from: client) }) == nil { done += 1 }
            if random.chance(10) {
                graph.turn([.disconnected(ClientID(number: client))])
                try Self.connect(graph)
            }
            if random.chance(5) {
                graph.end()
                let rows = Array(graph.rows.values)
                let next = try Harness(RandomWayTests.scene, from: graph, after: 1)
                _ = next.runtime.restore(rows)
                graph = next
                try Self.connect(graph)
                graph.turn([])
            }
            let after = try Self.contents(graph)
            for path in foreign { #expect(after[path] == first[path], "\(path), after \(last)") }
            if after["/v.x"] != first["/v.x"] { return }
            // Only user 1001 may write here, and only his parts.
            if client == 12, after["/s.x"] != before["/s.x"] {
                let ways = after.keys.contains { $0.hasPrefix("/up/a/") && $0 != "/up/a.own" }
                #expect(ways, "\(last)")
            }
        }
        #expect(done > 2)
    }
}
