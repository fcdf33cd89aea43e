import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Functions that documents declare, in a living graph.
@Suite("Functions of documents")
struct FunctionTests {
    private static func scene(_ limit: Int) -> String {
        """
        functions: { "isLate(t)": "t.delay >= \(limit)" }
        nodes: [{ id: a, state: { train: { delay: 5, platform: 1 } }, computed: { late: isLate(train) } }]
        """
    }

    @Test("a rule with a call runs only for the parts that the function reads") func runs() throws {
        let graph = try Harness(Self.scene(5))
        try graph.subscribe(["/a.late"], initial: true)
        #expect(graph.changes["/a.late"] == .value(true))
        _ = graph.runs()
        try graph.set("/a.train.platform", 2)
        #expect(graph.runs() == [])
        try graph.set("/a.train.delay", 2)
        #expect(graph.runs() == ["/a.late"] && graph.changes["/a.late"] == .value(false))
    }

    @Test("functions stay over a restart, are exported, and later documents can call them") func kept() throws {
        let graph = try Harness()
        _ = try graph.apply(Self.scene(5))
        _ = try graph.apply("nodes: [{ id: b, let: { t: { delay: 9 } }, computed: { late: isLate(t) } }]")
        #expect(try graph.value("/b.late") == true)
        let document = try graph.exported()
        #expect(document.map?["functions"] == ["isLate(t)": "t.delay >= 5"])
        #expect(try Harness(document: document).value("/a.late") == true)
        let next = try graph.restarted("", after: 1)
        #expect(try next.value("/a.late") == true && next.value("/b.late") == true)
        _ = try next.apply("nodes: [{ id: c, let: { t: { delay: 1 } }, computed: { late: isLate(t) } }]")
        #expect(try next.value("/c.late") == false)
    }

    @Test("a function that is declared anew counts for documents that are applied later") func anew() throws {
        let graph = try Harness()
        _ = try graph.apply(Self.scene(5))
        _ = try graph.apply("functions: { 'isLate(t)': t.delay >= 7 }")
        #expect(try graph.value("/a.late") == true, "existing rules are as they were")
        _ = try graph.apply(Self.scene(7))
        #expect(try graph.value("/a.late") == false, "the same rule calls another function now")
        _ = try graph.apply("functions: { 'isLate(t, limit)': t.delay >= limit }")
        let next = try graph.restarted("", after: 1)
        #expect(try next.exported().map?["functions"] == ["isLate(t, limit)": "t.delay >= limit"])
    }
}
