import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Every way to write, with everything that can stand against a write. A new way has to be added to `Way`, and then
/// meets all guards.
@Suite("All ways to write and all guards")
struct WayTableTests {
    enum Way: String, CaseIterable {
        case path, part, binding, held, chosen, ruled, element, object, action, pattern, trigger, disconnect, nextStart
        case values, add, merge
    }

    enum Guard: String, CaseIterable {
        case none, author, writer, delegation, type, size, once
    }

    private static let scene = """
        types:
          Item: { state: { id: a, v: { initial: 0, type: TYPE } } }
        nodes:
          - id: top
            kind: container
            state: { box: { type: Item, initial: { v: 0 } } }
            environment: { objects: [$box] }
            children: [{ id: ways, kind: container }]
          - id: end
            state:
              v: { initial: 0, type: TYPE }
              map: { initial: { v: 0 }, type: 'map(string, TYPE)' }
              items: { initial: [{ id: a, v: 0 }], type: list(Item) }
        """
    private static let node = """
        nodes:
          - id: x
            kind: container
            state: { seed: { initial: 0, type: dyn } }
            binding:
              plain: $/end.v
              map: $/end.map
              ruled: { get: '1', set: { $/end.v: =newValue } }
            inherit: { box: Item }
            actions:
              act: { parameters: { to: { type: dyn, default: 0 } }, set: { $/end.v: =to } }
              all: { parameters: { to: { type: dyn, default: 0 } }, set: { /end.v: =to } }
            onChange: { of: =seed, perform: { set: { $/end.v: =newValue } } }
            children:
              - { id: y, kind: view, binding: { chosen: '=seed != 99 ? $plain : $ruled' } }
              - id: list
                forEach: { in: $/end.items, as: e, node: { kind: view, binding: { v: $e.v } } }
        """

    private static let (owner, alice, bob): (UInt64, UInt64, UInt64) = (1, 11, 13)

    private static func rules(author: Bool = true) throws -> AccessRules {
        var lines: [(AccessRight, UInt32, String)] = [
            (.define, 1000, "/**"), (.define, 1001, "/top/ways/**"), (.read, 1001, "/**"), (.read, 1002, "/**"),
        ]
        if author { lines += [(.write, 1001, "/end"), (.write, 1001, "/top")] }
        return AccessRules(try lines.map { AccessRule($0.0, [.user($0.1)], try PathPattern($0.2)) }, owner: 7)
    }

    private static func connect(_ graph: Harness) {
        for (client, user) in [(alice, UInt32(1001)), (bob, 1002)] {
            graph.turn([.connected(ClientID(number: client), Peer(pid: 3, uid: user, gid: user))])
        }
    }

    private static func harness(_ type: String) throws -> Harness {
        var limits = RuntimeLimits()
        limits.graph.valueSize = 400
        let initial = type == "string" ? "''" : "0"
        let scene = scene.replacing("TYPE", with: type).replacing("v: 0", with: "v: \(initial)")
            .replacing("v: { initial: 0", with: "v: { initial: \(initial)")
        let graph = try Harness(scene, limits: limits)
        graph.turn([.accessChanged(try rules())])
        connect(graph)
        try graph.succeed(
            .apply(
                .init(
                    document: .string("agd: 1\n" + node), at: "/top/ways", mode: .merge, dryRun: false, options: .init()
                )),
            from: alice)
        return graph
    }

    /// The value that the way leads to.
    private static func end(of way: Way, in graph: Harness) throws -> Value {
        let path =
            switch way {
            case .element: "/end.items[id=\"a\"].v"
            case .object: "/top.box.v"
            case .part, .held, .merge: "/end.map.v"
            default: "/end.v"
            }
        guard
            case .content(let content, _, _) = try graph.succeed(
                .get(.init(paths: [path], isSingle: true)), from: owner)
        else { throw Failure(.unavailable, "no content") }
        return try content.get()
    }

    /// Writes a value by a way.
    /// - Parameter graph: becomes the next life for a way that needs one.
    private static func write(
        _ value: Value, by way: Way, from client: UInt64, once: String? = nil, _ graph: inout Harness,
        rules: AccessRules
    ) -> Failure? {
        let options = TransactionOptions(once: once)
        func set(_ path: String, _ value: Value, _ operation: Mutation.Operation = .set) -> Request {
            .set(Mutation(operation: operation, path: path, value: value), options)
        }
        func call(_ name: String) -> Request {
            .do(path: RequestPath("/top/ways/x.\(name)"), arguments: ValueMap([(.string("to"), value)]), options)
        }
        let will = Request.onDisconnect(
            [Mutation(operation: .set, path: "/top/ways/x.plain", value: value)], TransactionOptions())
        let request: Request =
            switch way {
            case .path: set("/end.v", value)
            case .part: set("/end.map.v", value)
            case .binding: set("/top/ways/x.plain", value)
            case .held: set("/top/ways/x.map.v", value)
            case .chosen: set("/top/ways/x/y.chosen", value)
            case .ruled: set("/top/ways/x.ruled", value)
            case .element: set("/top/ways/x/list/a.v", value)
            case .object: set("/top/ways/x.box.v", value)
            case .action: call("act")
            case .pattern: call("all")
            case .trigger: set("/top/ways/x.seed", value)
            case .disconnect, .nextStart: will
            case .values:
                .apply(
                    .init(
                        document: ["agd": 1, "values": ["/x.plain": value]], at: "/top/ways", mode: .merge,
                        dryRun: false,
                        options: options))
            // Adding to 0 or to an empty text makes the value.
            case .add:
                if case .string = value {
                    set("/top/ways/x.plain", value, .append)
                } else {
                    set("/top/ways/x.plain", value, .add)
                }
            case .merge: set("/top/ways/x.map", ["v": value], .merge)
            }
        let failure = refusal { try graph.succeed(request, from: client) }
        switch way {
        case .disconnect:
            graph.turn([.accessChanged(rules)])
            graph.turn([.disconnected(ClientID(number: client))])
        case .nextStart:
            let rows = Array(graph.rows.values)
            let last = graph
            guard let next = try? Harness(scene.replacing("TYPE", with: "int"), from: last, after: 1) else { break }
            next.turn([.accessChanged(rules)])
            _ = next.runtime.restore(rows)
            next.turn([])
            graph = next
        default: break
        }
        return failure
    }

    /// What cannot meet a guard.
    private static func isExcepted(_ way: Way, _ stands: Guard) -> Bool {
        switch (way, stands) {
        // Nobody has made a way.
        case (.path, .author), (.part, .author): true
        // It is inside the node that contains the ways.
        case (.object, .delegation): true
        // These methods have no identifier.
        case (.disconnect, .once), (.nextStart, .once), (.values, .once): true
        // Checked when the client was connected, with a scene of another type here.
        case (.nextStart, .size), (.nextStart, .type): true
        default: false
        }
    }

    @Test("no way goes past a guard", arguments: Way.allCases, Guard.allCases)
    func table(_ way: Way, _ stands: Guard) throws {
        if Self.isExcepted(way, stands) { return }
        var graph = try Self.harness(stands == .size ? "string" : "int")
        let before = try Self.end(of: way, in: graph)
        var value: Value = 5
        var client = Self.alice
        var rules = try Self.rules()
        switch stands {
        case .none, .once: break
        case .author:
            rules = try Self.rules(author: false)
            // These ways have passed the check when the client was connected.
            if way != .disconnect, way != .nextStart { graph.turn([.accessChanged(rules)]) }
            client = Self.owner
        case .writer: client = Self.bob
        case .delegation: try graph.succeed(.delegate(path: "/end"), from: Self.owner)
        case .type: value = "text"
        case .size: value = .string(String(repeating: "x", count: 500))
        }
        if stands == .once {
            #expect(Self.write(6, by: way, from: client, once: "a", &graph, rules: rules) == nil)
            #expect(try Self.end(of: way, in: graph) == 6)
        }
        let failure = Self.write(
            value, by: way, from: client, once: stands == .once ? "a" : nil, &graph, rules: rules)
        let after = try Self.end(of: way, in: graph)
        switch stands {
        case .none:
            #expect(failure == nil)
            #expect(after == 5)
        case .once: #expect(after == 6)
        default: #expect(after == before, "\(failure?.message ?? "not refused")")
        }
    }
}
