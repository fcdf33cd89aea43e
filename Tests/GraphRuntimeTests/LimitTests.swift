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
}
