import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime

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

    @Test("a list with more elements than the graph may hold makes no instances, and its forEach says why") func instances() throws {
        for limits in [limits { $0.graph.nodes = 20 }, limits { $0.graph.attributes = 30 }] { try checkInstances(limits) }
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

    @Test("a document with more attributes than the graph may hold is refused, those of objects and of nodes there are included")
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
        let graph = try Harness("nodes: [{ id: a, children: [{ id: b }] }, { id: c, children: [{ id: d }] }, { id: e, kind: container }]", limits: limits)
        #expect(refusal { try graph.succeed(.move(.init(path: "/c", to: "/a/b", index: nil), .init())) } != nil)
        try graph.succeed(.move(.init(path: "/c", to: "/e", index: nil), .init()))
        #expect(refusal { try graph.succeed(.move(.init(path: "/e", to: "/a", index: nil), .init())) }?.code == .limit)
        #expect(try graph.apply("nodes: [{ id: f }]", at: "/e").map?["added"] == ["/e/f"])
        #expect(refusal { try graph.apply("nodes: [{ id: e, children: [{ id: c, children: [{ id: n, children: [{ id: m }] }] }] }]") }?.code == .limit)
    }

    @Test("a scene is dumped up to the limit of nodes, counted over the whole tree") func dumps() throws {
        let nodes = (0..<10).map { "{ id: n\($0) }" }.joined(separator: ", ")
        let graph = try Harness("nodes: [\(nodes)]", limits: limits { $0.describedNodes = 9 })
        for format in [Request.DumpFormat.scene, .json, .dot] {
            #expect(refusal { try graph.succeed(.dump(path: "/", format: format)) }?.code == .limit)
        }
    }

    @Test("an answer longer than the client may be owed is refused, not made") func answers() throws {
        let graph = try Harness("nodes: [{ id: a, state: { x: '' }, children: [{ id: b, binding: { y: $x, z: $x } }] }]")
        graph.runtime.longestAnswer = 10_000
        try graph.set("/a.x", .string(String(repeating: "x", count: 4000)))
        _ = try graph.get("/a.x")
        func get(_ paths: [String]) -> Failure? {
            refusal { try graph.succeed(.get(.init(paths: paths, isSingle: false, presentation: false, typed: false))) }
        }
        #expect(get(["/a.x", "/a/b.y"]) == nil)
        #expect(get(["/a.x", "/a/b.y", "/a/b.z"])?.code == .limit)
        let many = Request.Eval(expression: "lists.range(60000).map(i, a)", bindings: ValueMap([(.string("a"), "xxxx")]), at: nil, typed: false)
        #expect(refusal { try graph.succeed(.eval(many)) }?.code == .limit)
        #expect(refusal { try graph.succeed(.describe(path: "/", depth: nil)) }?.code == .limit)
    }

    @Test("a path that is asked for twice is answered once") func twice() throws {
        let graph = try Harness("nodes: [{ id: a, state: { x: 1 } }]")
        let request = Request.Get(paths: ["/a.x", "/a.x"], isSingle: false, presentation: false, typed: false)
        guard case .contents(let contents, _, _) = try graph.succeed(.get(request)) else { throw Failure(.unavailable, "no contents") }
        #expect(contents.map(\.path) == ["/a.x"])
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
            .move(.init(path: "/b", to: "/c", index: nil), options), .remove(path: "/c", options),
            .apply(.init(document: document, at: "/", mode: .create, dryRun: false, options: options)),
        ]
        for request in requests {
            try graph.succeed(request)
            let labels = graph.events.compactMap { if case .update(_, _, let label, _, _, _) = $0 { label } else { nil } }
            #expect(labels == ["größ"], "\(request)")
        }
        guard case .value(let value) = try graph.succeed(.explain(path: "/a.x", revision: nil)) else { return }
        #expect(value.map?["changed"]?.map?["label"] == "größ")
    }
}
