import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Limits of the graph")
struct LimitTests {
    private static let list = """
        nodes:
          - id: a
            state: { items: [] }
            children: [{ id: r, forEach: { in: $items, id: self, node: { state: { q: 0 }, children: [{ id: in }] } } }]
        """

    private func limits(_ change: (inout RuntimeLimits) -> Void) -> RuntimeLimits {
        var limits = RuntimeLimits()
        change(&limits)
        return limits
    }

    /// `C<depth>` uses the component before it twice, and so on; with slots, each passes on what it is given.
    private func doubling(_ depth: Int, slots: Bool) -> String {
        let given = slots ? ", children: [{ slot: content }]" : ""
        let components = (1...depth).map {
            "  C\($0): { kind: container, children: [{ id: u, component: C\($0 - 1)\(given) }, { id: v, component: C\($0 - 1)\(given) }] }"
        }
        return """
            components:
              C0: { kind: container, children: [\(slots ? "{ slot: content }" : "{ id: x }")] }
            \(components.joined(separator: "\n"))
            nodes: [{ id: top, component: C\(depth)\(slots ? ", children: [{ id: k, state: { v: 1 } }]" : "") }]
            """
    }

    @Test("a document is charged for what it gives to slots, also inside of it, and for the nodes that it changes")
    func atOnce() throws {
        let limits = limits {
            $0.requestCost = 50_000
            $0.sliceSteps = 100_000_000
        }
        let graph = try Harness(limits: limits)
        _ = try graph.apply("components: { Box: { kind: container, children: [{ slot: content }] } }\nnodes: []")
        func children(_ count: Int, _ more: String = "") -> String {
            "[\((0..<count).map { "{ id: x\($0)\(more) }" }.joined(separator: ", "))]"
        }
        func use(_ id: String, _ children: String) -> ErrorCode? {
            refusal { try graph.apply("nodes: [{ id: \(id), component: Box, children: \(children) }]") }?.code
        }
        #expect(use("few", children(1000)) == nil)
        #expect(use("many", children(2000)) == .limit)
        #expect(use("deep", "[{ id: g, kind: container, children: \(children(2000)) }]") == .limit)
        #expect(
            refusal { try graph.apply("nodes: [{ id: plain, kind: container, children: \(children(2000)) }]") } == nil)
        func change(_ count: Int) -> ErrorCode? {
            let nodes = children(count, ", state: { s: \(count) }")
            return refusal {
                try graph.apply("nodes: [{ id: plain, kind: container, children: \(nodes) }]", mode: .merge)
            }?.code
        }
        #expect(change(1000) == .limit)
        #expect(change(200) == nil)
    }

    @Test("a document is charged for its slots before it is built, and a list for those of its instances")
    func slots() throws {
        let limits = limits {
            $0.requestCost = 50_000
            // Documents are built in one turn.
            $0.sliceSteps = 100_000_000
        }
        let graph = try Harness(limits: limits)
        _ = try graph.apply(doubling(6, slots: true))
        #expect(graph.runtime.graph.liveNodes > 250)
        _ = try graph.apply(doubling(10, slots: false).replacing("id: top", with: "id: other"))
        let before = graph.runtime.graph.counters.attributesCreated
        #expect(
            refusal { try graph.apply(doubling(7, slots: true).replacing("id: top", with: "id: third")) }?.code
                == .limit)
        #expect(graph.runtime.graph.counters.attributesCreated == before)
        func list(_ inside: String) throws -> ErrorCode? {
            let graph = try Harness(
                "components: { Box: { kind: container, children: [\(inside)] } }\nnodes: [{ id: a, state: { items: [] }, children: [{ id: r, forEach: { in: $items, id: self, component: Box } }] }]",
                limits: limits)
            try graph.set("/a.items", .list((0..<300).map { .int($0) }))
            return try graph.get("/a/r.elements").failure?.code
        }
        #expect(try list("{ id: x }") == nil)
        #expect(try list("{ slot: content }") == .limit)
    }

    @Test("a list with more elements than the graph may hold makes no instances, and its forEach says why")
    func instances() throws {
        for limits in [limits { $0.graph.nodes = 20 }, limits { $0.graph.attributes = 30 }] {
            try checkInstances(limits)
        }
        let graph = try Harness(LimitTests.list, limits: limits { $0.graph.depth = 3 })
        try graph.set("/a.items", [1])
        #expect(try graph.get("/a/r.elements").failure?.code == .limit)
    }

    private func checkInstances(_ limits: RuntimeLimits) throws {
        let graph = try Harness(LimitTests.list, limits: limits)
        try graph.set("/a.items", .list((0..<100).map { .int($0) }))
        #expect(try graph.get("/a/r.elements").failure?.code == .limit)
        #expect(graph.runtime.graph.liveNodes == 3)
        try graph.set("/a.items", .list((0..<5).map { .int($0) }))
        #expect(try graph.value("/a/r.elements") == [0, 1, 2, 3, 4])
        // As many go as come.
        try graph.set("/a.items", .list((5..<10).map { .int($0) }))
        #expect(try graph.value("/a/r.elements") == [5, 6, 7, 8, 9])
    }

    @Test(
        "a document with more attributes than the graph may hold is refused, those of objects and of nodes there are included"
    )
    func attributes() throws {
        let limits = limits { $0.graph.attributes = 20 }
        let graph = try Harness("nodes: [{ id: a }]", limits: limits)
        let revision = graph.runtime.revision
        let states = (0..<20).map { "s\($0): 0" }.joined(separator: ", ")
        let object = (0..<20).map { "p\($0): 0" }.joined(separator: ", ")
        for document in [
            "nodes: [{ id: b, state: { \(states) } }]", "nodes: [{ id: a, state: { \(states) } }]",
            "types: { T: { state: { \(object) } } }\nnodes: [{ id: b, state: { o: { type: T, initial: {} } } }]",
        ] {
            #expect(refusal { try graph.apply(document) }?.code == .limit, "\(document)")
        }
        #expect(graph.runtime.revision == revision)
        _ = try graph.apply("nodes: [{ id: b, state: { x: 0 } }]")
    }

    @Test("a node cannot be moved, nor a document applied, below the deepest level") func depth() throws {
        let limits = limits { $0.graph.depth = 3 }
        let graph = try Harness(
            "nodes: [{ id: a, children: [{ id: b }] }, { id: c, children: [{ id: d }] }, { id: e, kind: container }]",
            limits: limits)
        #expect(refusal { try graph.succeed(.move(path: "/c", to: "/a/b", index: nil, .init())) } != nil)
        try graph.succeed(.move(path: "/c", to: "/e", index: nil, .init()))
        #expect(refusal { try graph.succeed(.move(path: "/e", to: "/a", index: nil, .init())) }?.code == .limit)
        #expect(try graph.apply("nodes: [{ id: f }]", at: "/e").map?["added"] == ["/e/f"])
        #expect(
            refusal {
                try graph.apply(
                    "nodes: [{ id: e, children: [{ id: c, children: [{ id: n, children: [{ id: m }] }] }] }]")
            }?.code == .limit)
    }

    @Test(
        "a write that would make a value longer than value-size is refused, by whatever operation, and changes nothing")
    func valueSize() throws {
        let scene = """
            types: { T: { state: { text: '', list: [] } } }
            nodes: [{ id: a, state: { list: [], text: '', map: { in: {} }, any: { initial: 0, type: dyn }, o: { type: T, initial: {} } } }]
            """
        let graph = try Harness(scene, limits: limits { $0.graph.valueSize = 2000 })
        let long = Value.string(String(repeating: "x", count: 900))
        for (operation, path) in [
            (Mutation.Operation.append, "/a.list"), (.insert, "/a.list"), (.append, "/a.text"), (.append, "/a.o.list"),
            (.append, "/a.o.text"),
        ] {
            let mutation = Mutation(operation: operation, path: path, value: long)
            while try graph.value(path).jsonText.utf8.count + 900 < 2000 { try graph.transact([mutation]) }
            let (before, revision) = (try graph.value(path), graph.runtime.revision)
            let failure = refusal { try graph.transact([mutation]) }
            #expect(
                failure?.code == .limit && failure?.hint == "the setting value-size is the limit",
                "\(operation) \(path)")
            #expect(try graph.value(path) == before && graph.runtime.revision == revision)
        }
        // Many parts, each of them short.
        let keys = (0..<400).map { Mutation(operation: .set, path: "/a.map.in.key\($0)", value: .int($0)) }
        #expect(refusal { try graph.transact(keys) }?.code == .limit)
        let patch = Value.map(ValueMap((0..<400).map { (.string("key\($0)"), .int($0)) }))
        #expect(
            refusal { try graph.transact([Mutation(operation: .merge, path: "/a.map", value: patch)]) }?.code == .limit)
        #expect(refusal { try graph.set("/a.any", patch) }?.code == .limit)
        #expect(refusal { try graph.set("/a.o", ["text": long, "list": .list([long, long, long])]) }?.code == .limit)
        #expect(try graph.value("/a.map") == ["in": .map(ValueMap())])
    }

    @Test(
        "scalars inside a value of the greatest length can be written and removed, and a store restores longer values"
    )
    func longValue() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { list: [0, ''] } }]", limits: limits { $0.graph.valueSize = 2000 })
        let kept = Value.list([1, .string(String(repeating: "x", count: 5000))])
        #expect(graph.runtime.restore([StoredRow(key: "/a", name: "list", revision: 1, value: kept)]).isEmpty)
        try graph.set("/a.list[0]", 123_456_789)
        try graph.set("/a.list[1]", "short")
        #expect(try graph.value("/a.list") == [123_456_789, "short"])
    }

    @Test("a long list is held against value-size by what its writes add, also behind refused and undone ones")
    func longList() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { list: [] } }]", limits: limits { $0.graph.valueSize = 20_000 })
        let element = Value.string(String(repeating: "x", count: 997))
        func append(_ count: Int) -> [Mutation] {
            (0..<count).map { _ in Mutation(operation: .append, path: "/a.list", value: element) }
        }
        // Each element takes 1000 bytes.
        for _ in 0..<10 { try graph.transact(append(1)) }
        #expect(refusal { try graph.transact(append(11)) }?.code == .limit)
        try graph.transact(append(10))
        #expect(refusal { try graph.transact(append(1)) }?.code == .limit)
        #expect(refusal { try graph.set("/a.list[3]", .string(String(repeating: "x", count: 998))) }?.code == .limit)
        try graph.transact([Mutation(operation: .remove, path: "/a.list[3]", value: nil)])
        try graph.set("/a.list[4]", "short")
        try graph.transact(append(1))
        #expect(refusal { try graph.transact(append(1)) }?.code == .limit)
        try graph.set("/a.list", [])
        try graph.transact(append(20))
        #expect(refusal { try graph.transact(append(1)) }?.code == .limit)
    }

    @Test("initial values of a document are as long as a value may be, and longer ones come only from a store")
    func longBeginnings() throws {
        let limits = limits { $0.graph.valueSize = 2000 }
        let graph = try Harness(limits: limits)
        let document = "nodes: [{ id: a, state: { x: \(String(repeating: "x", count: 3000)) } }]"
        let text = "agd: 1\n" + document
        let failure = refusal { try graph.apply(document) }
        #expect(failure?.code == .limit && failure?.hint == "the setting value-size is the limit")
        #expect(refusal { try graph.runtime.load(text, file: "scene.yaml") }?.code == .limit)
        let row: Value = [
            "makes": ["kind": "view", "state": ["x": .string(String(repeating: "x", count: 3000))]]
        ]
        #expect(graph.runtime.restore([StoredRow(key: "/a", name: "", revision: 1, value: row)]).isEmpty)
        #expect(try graph.value("/a.x").string?.utf8.count == 3000)
    }

    @Test("objects are completed with what their type says as far as a value may be long, and no further")
    func completedObjects() throws {
        let graph = try Harness(
            """
            types:
              A: { state: { a: { type: B }, b: { type: B } } }
              B: { state: { text: some text, number: 1 } }
            nodes: [{ id: a, state: { list: { type: list(A), initial: [] } } }]
            """, limits: limits { $0.graph.valueSize = 2000 })
        try graph.set("/a.list", [[:], [:]])
        #expect(try graph.value("/a.list[1].b") == ["text": "some text", "number": 1])
        #expect(refusal { try graph.set("/a.list", .list(Array(repeating: [:], count: 100))) }?.code == .limit)
        var room = 2000
        let list = Value.list(Array(repeating: [:], count: 1000))
        #expect(graph.runtime.graph.declarations.accept(list, as: .list(.object("A")), within: &room) == nil)
        // It stops with the first part that has no room.
        #expect(room < 0 && room > -100)
    }

    @Test("mutations for the disconnect are bounded in bytes, labels and animations included")
    func onDisconnect() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { text: '' } }]", limits: limits { $0.onDisconnectSize = 2000 })
        let long = Value.string(String(repeating: "x", count: 900))
        func leave(_ mutations: [Mutation], _ options: TransactionOptions = .init()) -> Failure? {
            refusal { try graph.succeed(.onDisconnect(mutations, options)) }
        }
        let set = Mutation(operation: .set, path: "/a.text", value: long)
        #expect(leave([set]) == nil)
        #expect(
            leave([], TransactionOptions(label: String(repeating: "x", count: 2000)))?.hint
                == "the setting on-disconnect-size is the limit")
        #expect(leave([set, set])?.code == .limit)
        #expect(leave([set]) == nil)
        #expect(leave([set])?.code == .limit)
        var count = 0
        while leave([]) == nil { count += 1 }
        #expect(count < 10)
        // Each client has its own.
        try graph.succeed(.onDisconnect([set], .init()), from: 2)
        graph.turn([.disconnected(ClientID(number: 1))])
        #expect(try graph.get("/a.text", from: 2).get() == long)
    }

    @Test("a scene is dumped up to the limit of nodes, counted over the whole tree") func dumps() throws {
        let nodes = (0..<10).map { "{ id: n\($0) }" }.joined(separator: ", ")
        let graph = try Harness("nodes: [\(nodes)]", limits: limits { $0.describedNodes = 9 })
        for format in [Request.DumpFormat.scene, .json, .dot] {
            #expect(refusal { try graph.succeed(.dump(path: "/", format: format)) }?.code == .limit)
        }
    }

    @Test("an answer longer than the client may be owed is refused, not made") func answers() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { x: '' }, children: [{ id: b, binding: { y: $x, z: $x } }] }]")
        graph.runtime.clients.longestAnswer = 10_000
        try graph.set("/a.x", .string(String(repeating: "x", count: 4000)))
        _ = try graph.get("/a.x")
        func get(_ paths: [String]) -> Failure? {
            refusal { try graph.succeed(.get(.init(paths: paths))) }
        }
        #expect(get(["/a.x", "/a/b.y"]) == nil)
        #expect(get(["/a.x", "/a/b.y", "/a/b.z"])?.code == .limit)
        let many = Request.eval(
            expression: "lists.range(60000).map(i, a)", bindings: ValueMap([(.string("a"), "xxxx")]), at: nil,
            typed: false)
        #expect(refusal { try graph.succeed(many) }?.code == .limit)
        #expect(refusal { try graph.succeed(.describe(path: "/", depth: nil)) }?.code == .limit)
    }

    @Test("a path that is asked for twice is answered once") func twice() throws {
        let graph = try Harness("nodes: [{ id: a, state: { x: 1 } }]")
        #expect(try graph.contents(["/a.x", "/a.x"]) == ["/a.x": .value(1)])
    }

    @Test("a label is cut for subscribers as for the history, whatever request carries it") func labels() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { x: 1 } }, { id: b, state: { y: 1 } }, { id: c, kind: container, state: { z: 1 } }]",
            limits: limits { $0.labelLength = 4 })
        try graph.subscribe(["/**"], events: .update)
        let options = TransactionOptions(label: "größer")
        let mutation = Mutation(operation: .set, path: "/a.x", value: 2)
        let document: Value = ["agd": 1, "nodes": [["id": "d", "state": ["w": 1]]]]
        let requests: [Request] = [
            .set(mutation, options), .transact([Mutation(operation: .add, path: "/a.x", value: 2)], options),
            .move(path: "/b", to: "/c", index: nil, options), .remove(path: "/c", options),
            .apply(.init(document: document, at: "/", mode: .create, dryRun: false, options: options)),
        ]
        for request in requests {
            try graph.succeed(request)
            let labels = graph.events.compactMap {
                if case .update(_, _, let label, _, _, _, _) = $0 { label } else { nil }
            }
            #expect(labels == ["größ"], "\(request)")
        }
        #expect(try graph.explained("/a.x")["changed"]?.map?["label"] == "größ")
    }
}
