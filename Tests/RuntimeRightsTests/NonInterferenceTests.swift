import AttributeValues
import TestSupport
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// What a client with rights to a part of the tree is sent must not depend on the rest. Two graphs that differ outside
/// the part get the same random requests of every method, in the same order, and must answer with the same bytes.
/// Revisions, subscriptions and motions are counted for all clients together: the owner's hidden writes are as many in
/// both.
@Suite("Rights: what is hidden has no influence")
struct NonInterferenceTests {
    private static let declarations = """
        keys:
          environment: { theme: { default: plain }, style: { default: { size: 1 } } }
          preference: { widest: { default: 0, reduce: "math.greatest(value, next)" } }
        components:
          Card: { kind: view, computed: { t: "env.theme", s: "1" } }
        """

    private static let inner = """
            - id: inner
              kind: container
              state: { a: { initial: 1, history: 10m }, list: [1, 2], map: { k: 1 }, name: x }
              binding: { k: $key }
              let: { e: $bad, w: $fixed, h: $key }
              computed: { double: a * 2, sum: k + 1, fault: 1 / (a - a), n: subviews.size(), q: "k == 99 ? 1 : 0" }
              preferences: { widest: =a }
              actions: { go: { parameters: { z: { default: 2 } }, set: { $a: =a + z, $k: =e } }, add: { add: { $a: 1 } } }
              children:
                - { id: b, kind: view, state: { n: 1 }, computed: { m: n + 1 }, binding: { up: $a, far: $key }, let: { l: $e } }
                - forEach: { in: $list, id: self, as: item, node: { kind: view, computed: { twice: item * 2 } } }
                  id: rows
        """

    /// Outside the part nothing is the same but what the part is bound to, and its type.
    private static let scenes = [
        """
        \(declarations)
        nodes:
          - id: outer
            kind: container
            state: { key: 5, secret: 1, secretA: 2, on: true }
            computed: { bad: 1 / (secret - 1), fixed: secret + 6, n: subviews.size(), widest: preferences.widest }
            environment: { theme: dark, reduceMotion: false }
            children:
        \(inner)
            - { id: innen, kind: view, state: { x: 1 } }
            - { id: onlyA, kind: view, state: { x: 1 } }
          - { id: other, kind: view, state: { x: 1 } }
        """,
        """
        \(declarations)
        nodes:
          - id: hidden
            state: { deep: 5 }
          - id: outer
            kind: container
            state: { key: 5, cause: oops, secretB: 2, on: true }
            computed: { bad: "cause == 'oops' ? [1][3] : 0" }
            let: { fixed: 7 }
            environment: { theme: bright }
            children:
            - { id: first, kind: view, state: { x: 1 } }
            - { id: second, kind: view, state: { x: 1 } }
        \(inner)
            - { id: onlyB, kind: view, state: { x: 1 } }
        """,
    ]

    private static let paths = [
        "/outer/inner", "/outer/inner.a", "/outer/inner.k", "/outer/inner.e", "/outer/inner.w", "/outer/inner.h",
        "/outer/inner.sum", "/outer/inner.fault",
        "/outer/inner/b.m", "/outer/inner/b.far", "/outer/inner/b.l", "/outer/inner/b", "/outer/inner/bb",
        "/outer/inner/bb.n",
        "/outer/inner.aa", "/outer/inner.map.k", "/outer/inner.list[0]", "/outer/inner.list", "/outer/inner/rows",
        "/outer/inner/rows/1.twice",
        "/outer", "/outer.secret", "/outer.key", "/outer.bad", "/outer/onlyA", "/outer/onlyA.x", "/outer/onlyB",
        "/outer/onlyB.x", "/outer/inne",
        "/outer/innen.x", "/oute.secret", "/", "/.locale", "/other.x", "/hidden.deep", "/nothing.here", "not a path",
        "/outer/inner/c",
        "/outer/inner/made.s", "/outer/inner/made.go", "/outer/inner/made",
    ]
    private static let inside = [
        "/outer/inner", "/outer/inner/b", "/outer/inner.k", "/outer/inner/b.n", "/outer/inner.e", "/outer/inner.a",
        "/outer/inner/made", "/outer/inner/made.go", "/outer/inner.go", "/outer/inner.add",
    ]
    private static let patterns = [
        "/outer/inner/**", "/outer/inner/*.n", "/outer/*/b.n", "/outer/**", "/**", "/*", "/outer/inner.*",
    ]

    private static let documents = [
        "nodes: [{ id: made, kind: view, state: { s: 1 }, computed: { t: s + 1 } }]",
        "nodes: [{ id: made, kind: view, binding: { s: $a } }]",
        "nodes: [{ id: made, kind: view, binding: { s: $key } }]",
        "nodes: [{ id: made, kind: view, let: { s: =secretA } }]",
        "nodes: [{ id: made, kind: view, binding: { s: $secretB } }]",
        "nodes: [{ id: made, kind: view, binding: { s: $b } }]",
        "nodes: [{ id: made, kind: view, computed: { s: env.theme } }]",
        "nodes: [{ id: made, kind: view, inherit: { s: theme } }]",
        "nodes: [{ id: made, kind: view, computed: { s: self.index } }]",
        "dangling: [secretA]\nnodes: [{ id: made, kind: view, let: { s: =secretA } }]",
        "nodes: [{ id: made, component: Card }]",
        "keys: { environment: { more: { default: 1 } } }\nnodes: [{ id: made, kind: view }]",
        "nodes: [{ id: made, kind: view, environment: { theme: light } }]",
        "nodes: [{ id: made, kind: view, environment: { style.size: 3 } }]",
        "nodes: [{ id: made, kind: view, transformEnvironment: { theme: value + '!' } }]",
        "nodes: [{ id: made, forEach: { in: $list, id: self, as: item, node: { kind: view, computed: { t: env.theme } } } }]",
        "nodes: [{ id: b, kind: view, state: { n: 3 } }]", "nodes: [{ id: b, kind: view }]",
        "nodes: [{ id: onlyA, kind: view }]",
        "nodes: [{ id: made, kind: view, actions: { go: { parameters: { z: { default: 2 } }, set: { $a: =a + z } } } }]",
        "nodes: [{ id: made, kind: view, actions: { go: { set: { /outer/inner/*.n: 3 } } } }]",
        "nodes: [{ id: made, kind: view, actions: { go: { set: { $key: 1 } } } }]",
        "nodes: [{ id: made, kind: view, actions: { go: { set: { /outer/onlyA.x: 1 } } } }]",
        "nodes: [{ id: made, kind: view, state: { locale: 1 }, let: { s: $locale } }]", "nodes: 7",
    ]
    private static let expressions = [
        "a + 1", "env.theme", "env.them", "self.index", "self.path", "k", "secret", "secretA", "e", "subviews.size()",
        "subviews",
        "preferences.widest", "1 +", "double", "1 / 0", "far", "name", "nam",
    ]

    /// A value for each parameter that there is: a new one does not compile without.
    private static func value(_ key: ParameterKey, _ random: inout SeededGenerator) -> Value {
        switch key {
        case .path, .at, .to: return .string(random.pick(paths))
        case .paths:
            return .list(
                (0...random.below(3)).map { _ in
                    .string(random.below(3) == 0 ? random.pick(patterns) : random.pick(paths))
                })
        case .mutations:
            return .list(
                (0...random.below(2)).map { _ in
                    let operation = random.below(2) == 0 ? .set : random.pick(Mutation.Operation.allCases)
                    var mutation = ValueMap([
                        (.string("op"), .string(operation.rawValue)),
                        (.string("path"), .string(random.pick(random.below(4) > 0 ? inside : paths))),
                    ])
                    if operation != .toggle, operation != .remove { mutation["value"] = random.pick([1, 2, 3, "x"]) }
                    if operation == .insert { mutation["index"] = 0 }
                    return .map(mutation)
                })
        case .document: return .string("agd: 1\n" + random.pick(documents))
        case .expression: return .string(random.pick(expressions))
        case .value: return random.pick([1, 2, 7, "x", [1, 2, 3], ["k": 2], .null])
        case .bindings, .arguments: return ["z": 1]
        case .panel: return ["kind": "bar"]
        case .animation: return "linear(duration: 1)"
        case .events: return .list([.string(random.pick(EventKinds.names.map(\.name))), "update", "structure"])
        // Not from before this life: that depends on definitions anywhere in the tree, as Protocol.md says.
        case .if, .since: return ["epoch": "test", "revision": .int(Int64(1 + random.below(8)))]
        case .frames: return ["rate": 10]
        case .format: return .string(random.pick(["json", "dot", "scene", "openmetrics"]))
        case .mode: return .string(random.pick(Request.ApplyMode.allCases.map(\.rawValue)))
        case .motions: return [["animation": "linear(duration: 1)", "mutations": [0]]]
        case .bookmarks, .brief, .changes, .css, .disablesAnimations, .dryRun, .enable, .initial, .presentation,
            .structure,
            .typed,
            .writers:
            return .bool(random.below(10) == 0)
        // The times of reports of a readable attribute come from anywhere, as its value does.
        case .reports: return false
        case .elapsed: return 0.5
        case .layer: return .string(random.pick(["one", "two"]))
        case .by, .client, .as, .label, .once: return .string("me")
        case .result: return ["k": 1]
        case .error: return ["code": "denied", "message": "no"]
        case .depth, .forward, .index, .points, .subscription: return .int(Int64(random.below(4)))
        case .count, .from, .revision, .time: return .int(Int64(random.below(12)))
        case .maxRate, .speed: return 5
        }
    }

    private static func line(of method: Method, _ random: inout SeededGenerator) -> String {
        var parameters = ValueMap()
        for parameter in method.parameters
        where parameter.field.isRequired || parameter.key == .at || parameter.key == .as && parameters.isEmpty
            || parameter.key != .as && random.below(3) == 0
        {
            parameters[parameter.field.name] = value(parameter.key, &random)
        }
        if method.name == "get" {
            parameters[random.below(2) == 0 ? "path" : "paths"] = nil
            if parameters.isEmpty { parameters["path"] = "/outer/inner.a" }
        }
        // Most of what is asked should get past the rights.
        for name in ["path", "at"] where parameters[name] != nil && random.below(2) == 0 {
            parameters[name] = .string(random.pick(inside))
        }
        if method.name == "do", random.below(2) == 0 {
            parameters["path"] = .string(random.pick(["/outer/inner.go", "/outer/inner.add", "/outer/inner/made.go"]))
        }
        // Without the part itself there is nothing left to ask about.
        if method.name == "remove", parameters["path"] == "/outer/inner", random.below(20) > 0 {
            parameters["path"] = "/outer/inner/made"
        }
        // Few documents fit where they are applied.
        if method.name == "apply", random.below(2) == 0 {
            (parameters["at"], parameters["mode"]) = ("/outer/inner", "merge")
            parameters["document"] = .string("agd: 1\n" + documents[0])
        }
        return #"{"jsonrpc":"2.0","id":1,"method":"\#(method.name)","params":\#(Value.map(parameters).jsonText)}"#
    }

    /// Everything that client 2 is sent for a turn, as it goes over the wire.
    private static func sent(_ deliveries: [Delivery]) -> String {
        let buffer = ByteBuffer()
        for delivery in deliveries {
            switch delivery {
            case .reply(let client, let id, let result) where client.number == 2: buffer.appendReply(result, to: id)
            case .event(let receivers, let event):
                for receiver in receivers where receiver.client.number == 2 {
                    buffer.appendHead(of: event)
                    buffer.append(receiver.subscription)
                    buffer.appendTail(of: event)
                }
            default: continue
            }
        }
        return buffer.text
    }

    private static func request(_ line: String, _ decoder: RequestDecoder) -> Request? {
        var request: Request?
        Array(line.utf8).withUnsafeBufferPointer { bytes in
            decoder.decode(bytes) { if case .call(_, let call) = $0 { request = call } }
        }
        return request
    }

    /// - Returns: the first request whose answers differ, with both of them; and the methods that were once not
    ///   refused.
    private func play(_ rules: [AccessRule], seed: UInt64, requests: Int) throws -> (
        difference: String?, performed: Set<String>
    ) {
        let graphs = try NonInterferenceTests.scenes.map { try Harness($0) }
        for graph in graphs {
            graph.turn([
                .accessChanged(AccessRules(rules, owner: 7)),
                .connected(ClientID(number: 9), Peer(pid: 9, uid: 7, gid: 7)),
            ])
        }
        let hidden = [
            ["/other.x", "/outer.secretA", "/outer/onlyA.x"], ["/hidden.deep", "/outer.secretB", "/outer/second.x"],
        ]
        var random = SeededGenerator(seed: seed)
        var performed: Set<String> = []
        let table = Method.table()
        let decoder = RequestDecoder()
        for step in 0..<requests {
            if random.below(4) == 0 {
                let place = random.below(3)
                for (graph, paths) in zip(graphs, hidden) {
                    let value = Value.int(Int64(step + 10))
                    // A client with all rights may have removed it.
                    _ = try? graph.succeed(
                        .set(Mutation(operation: .set, path: paths[place], value: value), .init(label: "hidden")),
                        from: 9)
                }
            }
            // Others have rules run that the client has not asked for.
            if random.below(6) == 0 {
                let place = random.below(3)
                let read = [
                    ["/outer.widest", "/outer.fixed", "/outer.n"], ["/outer.bad", "/outer.fixed", "/outer.secretB"],
                ]
                for (graph, paths) in zip(graphs, read) { _ = try? graph.get(paths[place], from: 9) }
            }
            let method = random.pick(table)
            let line = NonInterferenceTests.line(of: method, &random)
            guard let request = NonInterferenceTests.request(line, decoder) else { continue }
            let call = Command.call(ClientID(number: 2), id: .int(Int64(step)), request)
            let answers = graphs.map { NonInterferenceTests.sent($0.turn([call])) }
            if answers[0] != answers[1] { return ("seed \(seed), \(line)\n\(answers[0])\n\(answers[1])", performed) }
            if answers[0].contains("\"result\"") { performed.insert(method.name) }
            if random.below(10) == 0 {
                let events = graphs.map { NonInterferenceTests.sent($0.advance(0.3)) }
                if events[0] != events[1] {
                    return ("seed \(seed), after \(line)\n\(events[0])\n\(events[1])", performed)
                }
            }
        }
        return (nil, performed)
    }

    private func rule(_ right: AccessRight, _ pattern: String) throws -> AccessRule {
        AccessRule(right, [.user(1000)], try PathPattern(pattern))
    }

    @Test(
        "a client with rights to a part gets the same bytes whatever the rest is",
        arguments: [
            ["define /outer/inner/**"], ["read /outer/inner/**"], ["write /outer/inner.a", "read /outer/inner/b.*"],
            ["write /outer/*/b/**"], [],
        ])
    func part(lines: [String]) throws {
        var rules = [AccessRule(.read, [.user(55)], .everything)]
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            rules.append(try rule(try #require(AccessRight(rawValue: words[0])), words[1]))
        }
        // Clients seldom remove what the scene makes and then ask for it again.
        // agd-past alone knows the past.
        let never: Set = ["answer", "stats", "trace", "prune", "log", "series", "seek", "play"]
        let expected = Set(Method.table().map(\.name)).subtracting(never).subtracting(["restore"])
        var refused = lines == ["define /outer/inner/**"] ? expected : []
        for round in 0..<5 where round == 0 || !refused.isEmpty {
            for seed in freshSeeds(12) {
                let played = try play(rules, seed: seed, requests: 150)
                #expect(played.difference == nil)
                if played.difference != nil { return }
                refused.subtract(played.performed)
                #expect(played.performed.isDisjoint(with: never))
            }
        }
        #expect(refused == [], "every other method was performed at times")
    }

    @Test("a client that may read everything tells the two graphs apart at once") func everything() throws {
        #expect(try play([try rule(.define, "/**")], seed: freshSeed(), requests: 50).difference != nil)
    }
}
