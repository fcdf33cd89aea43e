import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Actions: named writes that a scene defines and somebody calls.
@Suite("Actions")
struct ActionTests {
    private static let home = """
        nodes:
          - id: home
            kind: container
            state: { count: 3, name: hall, isOn: true, log: { initial: [], type: 'list(dyn)' } }
            computed: { twice: count * 2 }
            actions:
              allOff: { set: { '/home/*.isOn': false }, animation: 'linear(duration: 1)' }
              more: { parameters: { by: { default: 1 } }, set: { $count: =count + by } }
              rename: { parameters: [to], set: { $name: $to }, append: { $log: =name } }
              swap:
                - { set: { $count: =count * 10 }, animation: 'easeIn(duration: 2)' }
                - { set: { $log: '=[count, name]' }, toggle: $isOn }
              guarded: [{ test: { $isOn: true } }, { add: { $count: 5 } }]
              broken: { set: { $count: =count / (count - count) } }
              lost: { set: { /home/nowhere.isOn: true } }
              typed: { parameters: { at: { type: timestamp } }, set: { $log: '=[string(at)]' } }
            children:
              - { id: a, kind: container, state: { isOn: true } }
              - { id: b, state: { isOn: true }, actions: { only: { set: { $isOn: false, $count: =count - 1 } } } }
        """

    private func harness() throws -> Harness {
        try Harness(Self.home)
    }

    @discardableResult
    private func call(
        _ graph: Harness, _ path: String, _ arguments: Value = [:], typed: Bool = false,
        from client: UInt64 = 1
    ) throws -> UInt64 {
        let before = graph.runtime.revision
        try graph.succeed(
            .do(path: RequestPath(path), arguments: arguments.map ?? ValueMap(), TransactionOptions(typed: typed)),
            from: client)
        return graph.runtime.revision - before
    }

    private func failure(_ graph: Harness, _ path: String, _ arguments: Value = [:], from client: UInt64 = 1)
        -> Failure?
    {
        refusal { try call(graph, path, arguments, from: client) }
    }

    @Test("an action writes all that its patterns match, as one transaction, with its own animation") func patterns()
        throws
    {
        let graph = try harness()
        try graph.subscribe(["/home/**"])
        #expect(try call(graph, "/home.allOff") == 1)
        #expect(graph.changes == ["/home/a.isOn": .value(false), "/home/b.isOn": .value(false)])
        #expect(graph.events.count == 1)
        guard case .update(_, _, let label, _, _, _, _)? = graph.events.first else {
            throw Failure(.invalid, "no update")
        }
        #expect(label == "do /home.allOff")
        // Nothing is left to write.
        #expect(try call(graph, "/home.allOff") == 0)
    }

    @Test("each step moves what it writes by its own animation") func animations() throws {
        let graph = try harness()
        try graph.subscribe(["/home.count", "/home.isOn", "/home.twice"])
        try call(graph, "/home.swap")
        #expect(graph.changes.keys.sorted() == ["/home.count", "/home.isOn", "/home.twice"])
        #expect(graph.timeline("/home.count")?["settle"] == 2 && graph.timeline("/home.isOn") == nil)
    }

    @Test("rules see the graph as it was before the first write, and parameters with their defaults") func rules()
        throws
    {
        let graph = try harness()
        try call(graph, "/home.more")
        try call(graph, "/home.more", ["by": 5])
        #expect(try graph.value("/home.count") == 9)
        try call(graph, "/home.swap")
        #expect(try graph.value("/home.count") == 90 && graph.value("/home.log") == [9, "hall"])
        #expect(try graph.value("/home.isOn") == false)
        try call(graph, "/home.rename", ["to": "attic"])
        #expect(try graph.value("/home.name") == "attic" && graph.value("/home.log") == [9, "hall", "hall"])
        // A reference leads to the nearest node that has the name.
        try call(graph, "/home/b.only")
        #expect(try graph.value("/home.count") == 89 && graph.value("/home/b.isOn") == false)
        #expect(try graph.value("/home/a.isOn") == true && graph.value("/home.isOn") == false)
    }

    @Test("arguments are held to the types of the parameters; typed ones are read as such") func arguments() throws {
        let graph = try harness()
        try call(graph, "/home.typed", ["at": "2020-01-02T00:00:00Z"])
        #expect(try graph.value("/home.log") == ["2020-01-02T00:00:00Z"])
        try call(graph, "/home.typed", ["at": ["timestamp": ["seconds": "0", "nanos": 0]]], typed: true)
        #expect(try graph.value("/home.log") == ["1970-01-01T00:00:00Z"])
        #expect(failure(graph, "/home.typed", ["at": 5])?.code == .typeMismatch)
        #expect(failure(graph, "/home.typed")?.message == "/home.typed needs the parameter 'at'")
        #expect(failure(graph, "/home.typed")?.hint == "it takes at: timestamp")
        #expect(failure(graph, "/home.more", ["bye": 1])?.hint == "did you mean 'by'?")
        #expect(failure(graph, "/home.allOff", ["x": 1])?.hint == "it takes none")
    }

    @Test("an action that fails changes nothing and says where") func failures() throws {
        let graph = try harness()
        let revision = graph.runtime.revision
        let broken = failure(graph, "/home.broken")
        #expect(broken?.code == .ruleFailed && broken?.message.hasPrefix("/home.broken: ") == true)
        #expect(failure(graph, "/home.lost")?.code == .notFound)
        #expect(failure(graph, "/home.more", ["by": "x"])?.code == .typeMismatch)
        #expect(failure(graph, "/home.count")?.message == "/home.count is no action")
        #expect(failure(graph, "/home.alloff")?.code == .notFound)
        #expect(graph.runtime.revision == revision)
        try graph.set("/home.isOn", false)
        #expect(failure(graph, "/home.guarded")?.code == .conflict)
        #expect(try graph.value("/home.count") == 3)
        try graph.set("/home.isOn", true)
        try call(graph, "/home.guarded")
        #expect(try graph.value("/home.count") == 8)
    }

    @Test("an action is an attribute that tells its parameters, cannot be written, and is exported as it was written")
    func attribute() throws {
        let graph = try harness()
        #expect(
            try graph.value("/home.more") == ["parameters": ["by": ["type": "int", "default": 1]]])
        let refused = refusal { try graph.set("/home.more", 1) }
        #expect(refused?.code == .readOnly && refused?.hint == "call it with do")
        let scene = try graph.runtime.graph.scene(at: .root, limit: 100).jsonText
        #expect(scene.contains(#""allOff":{"set":{"/home/*.isOn":false},"animation":"linear(duration: 1)"}"#))
        // The same document again is no change; another action is.
        let before = graph.runtime.revision
        _ = try graph.apply(Self.home)
        #expect(graph.runtime.revision == before)
        _ = try graph.apply("nodes: [{ id: home, kind: container, actions: { more: { set: { $count: 0 } } } }]")
        try call(graph, "/home.more")
        #expect(try graph.value("/home.count") == 0)
    }

    @Test("each use of a component and each instance of a list has actions of its own") func components() throws {
        let graph = try Harness(
            """
            components:
              Lamp: { binding: [isOn], state: { n: 0 }, actions: { flip: { toggle: $isOn, add: { $n: 1 } } } }
            nodes:
              - id: room
                kind: container
                state: { x: false, lamps: [{ id: p, on: true }, { id: q, on: true }] }
                children:
                  - { id: one, component: Lamp, binding: { isOn: $x } }
                  - id: list
                    forEach: { in: $lamps, id: id, as: lamp, component: Lamp, binding: { isOn: $lamp.on } }
            """)
        try call(graph, "/room/one.flip")
        try call(graph, "/room/list/q.flip")
        #expect(try graph.value("/room.x") == true && graph.value("/room/one.n") == 1)
        #expect(try graph.value("/room.lamps") == [["id": "p", "on": true], ["id": "q", "on": false]])
        #expect(try graph.value("/room/list/q.n") == 1 && graph.value("/room/list/p.n") == 0)
    }

    @Test("calling an action needs no right to what it writes, and defining one does")
    func rights() throws {
        let graph = try harness()
        graph.turn([.connected(ClientID(number: 7), Peer(pid: 7, uid: 1001, gid: 1001))])
        graph.turn([
            .accessChanged(
                AccessRules(
                    [
                        AccessRule(.admin, [.user(1000)], .everything),
                        AccessRule(.do, [.user(1001)], try PathPattern("/home.allOff")),
                        AccessRule(.define, [.user(1001)], try PathPattern("/home/a/**")),
                    ], owner: 7))
        ])
        #expect(failure(graph, "/home.allOff", from: 7) == nil)
        #expect(try graph.value("/home/b.isOn") == false)
        #expect(failure(graph, "/home.more", from: 7)?.code == .denied)
        #expect(refusal { try graph.set("/home/b.isOn", true, from: 7) }?.code == .denied)
        func define(_ action: String) -> Failure? {
            let document = Value.string("agd: 1\nnodes: [{ id: k, actions: { go: \(action) } }]")
            return refusal {
                try graph.succeed(
                    .apply(.init(document: document, at: "/home/a", mode: .merge, dryRun: false, options: .init())),
                    from: 7)
            }
        }
        #expect(define("{ set: { /home/a.isOn: true } }") == nil)
        let denied = define("{ set: { /home/b.isOn: true } }")
        #expect(denied?.code == .denied && denied?.message.hasPrefix("the action go: ") == true)
        #expect(define("{ set: { '/home/*.isOn': true } }")?.code == .denied)
    }
}
