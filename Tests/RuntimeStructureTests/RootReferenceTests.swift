import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// `$/grid/limits.high`: attributes by their paths from the root.
@Suite("References from the root")
struct RootReferenceTests {
    private static let scene = """
        nodes:
          - id: grid
            kind: container
            children: [{ id: limits, state: { high: 10, low: { value: 1, other: 2 } } }]
          - id: a
            kind: container
            state: { x: 5 }
            computed: { isHigh: x > $/grid/limits.high, low: $/grid/limits.low.value + 1, gone: '$/nowhere/at-all.x + 1' }
            let: { high: $/grid/limits.high }
            children: [{ id: b, binding: { high: $/grid/limits.high, low: $/grid/limits.low.value } }]
        """

    @Test("rules, lets and bindings read and write what is at the path") func reading() throws {
        let graph = try Harness(Self.scene)
        #expect(try graph.value("/a.isHigh") == false)
        #expect(try graph.value("/a.low") == 2)
        try graph.set("/a/b.high", 3)
        #expect(try graph.value("/grid/limits.high") == 3)
        #expect(try graph.value("/a.isHigh") == true)
        #expect(try graph.value("/a.high") == 3)
        try graph.set("/a/b.low", 7)
        #expect(try graph.value("/grid/limits.low") == ["value": 7, "other": 2])
    }

    @Test("only what reads a changed part runs") func runs() throws {
        let graph = try Harness(Self.scene)
        try graph.subscribe(["/a.*"], initial: true)
        _ = graph.runs()
        try graph.set("/grid/limits.low.other", 9)
        #expect(graph.runs() == [])
        try graph.set("/grid/limits.high", 4)
        #expect(graph.runs() == ["/a.isHigh"])
        #expect(graph.changes["/a.isHigh"] == .value(true))
    }

    @Test("while nothing is at the path there is an error, and the value when it comes") func comingAndGoing() throws {
        let graph = try Harness(Self.scene)
        try graph.subscribe(["/a.*"], initial: true)
        #expect(graph.changes["/a.gone"]?.failure?.code == .notFound)
        _ = try graph.apply("nodes: [{ id: nowhere, kind: container, children: [{ id: at-all, state: { x: 1 } }] }]")
        #expect(graph.changes["/a.gone"] == .value(2))
        try graph.set("/nowhere/at-all.x", 5)
        #expect(graph.changes["/a.gone"] == .value(6))
        try graph.succeed(.remove(path: "/nowhere", TransactionOptions()))
        #expect(graph.changes["/a.gone"]?.failure?.code == .notFound)
        _ = graph.runs()
        _ = try graph.apply("nodes: [{ id: other, state: { y: 1 } }]")
        #expect(!graph.runs().contains("/a.gone"), "another node is nothing to it")
        _ = try graph.apply("nodes: [{ id: nowhere, kind: container, children: [{ id: at-all, state: { x: 8 } }] }]")
        #expect(graph.changes["/a.gone"] == .value(9))
        #expect(refusal { try graph.set("/a/b.nothing", 1) }?.code == .notFound)
    }

    @Test("a reference follows a node that is moved to its path, and vertices nobody uses go") func moving() throws {
        let graph = try Harness(
            """
            nodes:
              - { id: box, kind: container, children: [{ id: v, state: { x: 1 } }] }
              - { id: home, kind: container }
              - { id: reader, computed: { y: $/home/v.x } }
            """)
        try graph.subscribe(["/reader.y"], initial: true)
        try graph.succeed(.move(path: "/box/v", to: "/home", index: nil, TransactionOptions()))
        #expect(graph.changes["/reader.y"] == .value(1))
        let before = graph.runtime.graph.counters.liveAttributes
        for _ in 1...5 {
            _ = try graph.apply("nodes: [{ id: r2, computed: { y: $/box/w.x } }]")
            try graph.succeed(.remove(path: "/r2", TransactionOptions()))
            graph.settle()
            graph.turn([])
        }
        #expect(graph.runtime.graph.counters.liveAttributes == before)
    }

    @Test("an author needs the right to read the path, or to write where it is bound") func rights() throws {
        let graph = try Harness(Self.scene)
        let rule = { (right: AccessRight, pattern: String) in
            AccessRule(right, [.user(1000)], try PathPattern(pattern))
        }
        let rules = [try rule(.define, "/a/**"), try rule(.read, "/grid/limits.high")]
        graph.turn([.accessChanged(AccessRules(rules, owner: 7))])
        func apply(_ node: String) -> Failure? { refusal { try graph.apply("nodes: [{ id: n, \(node) }]", at: "/a") } }
        #expect(apply("computed: { y: $/grid/limits.low }")?.code == .denied)
        #expect(apply("binding: { y: $/grid/limits.high }")?.code == .denied)
        #expect(apply("computed: { y: $/grid/limits.high }") == nil)
    }

    @Test("an export writes them as they were") func export() throws {
        let graph = try Harness(Self.scene)
        let document = try graph.exported("/a").map
        let node = document?["nodes"]?.list?.first?.map
        #expect(node?["let"] == ["high": "$/grid/limits.high"])
        #expect(node?["computed"]?.map?["isHigh"] == "x > $/grid/limits.high")
        #expect(document?["dangling"] == nil)
    }
}
