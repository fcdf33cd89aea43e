import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Animations of what comes and goes")
struct StructureAnimationTests {
    /// The curves of the events of the last change, by the paths that came and went.
    private func curves(_ graph: Harness) -> [String: String?] {
        var found: [String: String?] = [:]
        for (added, removed, _, details) in graph.structures {
            let curve = details?.timeline?["curve"]?.map?.keys.first?.string
            for path in added + removed where !path.contains(".") { found[path] = .some(curve) }
        }
        return found
    }

    private static let choice = """
        nodes:
          - id: door
            state: { open: false, wide: false }
            animation: { curve: bouncy, value: =open }
            children:
              - if: open
                then: [{ id: room, animation: { curve: linear, value: =1 + 1 } }]
                else: [{ id: wall }]
              - if: wide
                then: [{ id: view }]
        """

    @Test("a node that comes or goes has the animation of the modifier around it whose value has changed")
    func modifier()
        throws
    {
        let graph = try Harness(StructureAnimationTests.choice)
        try graph.subscribe(["/**"], events: .structure)
        try graph.set("/door.open", true)
        #expect(curves(graph) == ["/door/room": "spring", "/door/wall": "spring"])
        try graph.set("/door.wide", true)
        #expect(curves(graph) == ["/door/view": nil])
        try graph.set("/door.open", false, animation: "linear(duration: 1)")
        #expect(curves(graph) == ["/door/room": "spring", "/door/wall": "spring"])
        try graph.set("/door.wide", false, animation: "linear(duration: 1)")
        #expect(curves(graph) == ["/door/view": "timingCurve"])
    }

    @Test("a modifier that a later document adds animates what comes and goes, and curve: null keeps it still")
    func later()
        throws
    {
        let graph = try Harness(
            "nodes: [{ id: a, state: { open: false }, children: [{ if: open, then: [{ id: b }] }] }]")
        try graph.subscribe(["/**"], events: .structure)
        _ = try graph.apply("nodes: [{ id: a, animation: { curve: bouncy, value: =open } }]")
        try graph.set("/a.open", true)
        #expect(curves(graph) == ["/a/b": "spring"])
        _ = try graph.apply("nodes: [{ id: a, animation: { curve: null, value: =open } }]")
        try graph.set("/a.open", false, animation: "bouncy")
        #expect(curves(graph) == ["/a/b": nil])
    }

    @Test("where motion is reduced, nothing that comes and goes is animated") func reduced() throws {
        let graph = try Harness(
            """
            nodes:
              - id: a
                state: { open: false }
                environment: { reduceMotion: true }
                children: [{ if: open, then: [{ id: b }] }]
            """)
        try graph.subscribe(["/**"], events: .structure)
        try graph.set("/a.open", true, animation: "bouncy")
        #expect(curves(graph) == ["/a/b": nil])
    }

    @Test("each change of the tree has the animation of the step that makes it, and a step without one has none")
    func steps() throws {
        let graph = try Harness(
            """
            nodes:
              - id: a
                state: { one: false, two: false, three: false, items: [x] }
                actions:
                  all:
                    - { set: { $one: true }, animation: bouncy }
                    - { set: { $two: true } }
                    - { set: { $three: true }, animation: 'linear(duration: 2)' }
                    - { append: { $items: y }, animation: 'linear(duration: 2)' }
                  back: [{ set: { $one: false }, animation: bouncy }, { set: { $two: false } }]
                children:
                  - { if: one, then: [{ id: first, children: [{ if: one, then: [{ id: inner }] }] }] }
                  - { if: two, then: [{ id: second }] }
                  - { if: three, then: [{ id: third }] }
                  - { id: rows, forEach: { in: $items, id: self, node: { kind: view } } }
            """)
        try graph.subscribe(["/**"], events: .structure)
        try graph.succeed(.do(path: RequestPath("/a.all"), arguments: ValueMap(), TransactionOptions()))
        #expect(
            curves(graph) == [
                "/a/first": "spring", "/a/first/inner": "spring", "/a/second": nil, "/a/third": "timingCurve",
                "/a/rows/y": "timingCurve",
            ])
        #expect(graph.structures.count == 3)
        try graph.succeed(
            .do(
                path: RequestPath("/a.back"), arguments: ValueMap(),
                TransactionOptions(animation: "linear(duration: 3)")))
        #expect(curves(graph) == ["/a/first": "spring", "/a/first/inner": "spring", "/a/second": "timingCurve"])
    }
}
