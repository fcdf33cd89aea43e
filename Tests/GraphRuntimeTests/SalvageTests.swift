import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// What a recovered store still has, when what made its states is lost.
@Suite("After a recovery")
struct SalvageTests {
    private let rows = [
        StoredRow(key: "/a", name: "x", revision: 3, value: 5),
        StoredRow(key: "/a/b", name: "y", revision: 4, value: "kept"),
        StoredRow(key: "/a", name: "z", revision: 5, value: 9),
    ]

    @Test("a document that is applied again finds the values that have survived, and watchers are told of them")
    func appliedAgain() throws {
        let graph = try Harness("nodes: [{ id: c }]")
        #expect(graph.runtime.restore(rows).count == 2)
        try graph.subscribe(["/**"])
        _ = try graph.apply("nodes: [{ id: a, state: { x: 1, z: text }, children: [{ id: b, state: { y: '' } }] }]")
        let (changes, deliveries) = (graph.kept, graph.deliveries)
        #expect(try graph.value("/a.x") == 5 && graph.value("/a/b.y") == "kept")
        // A state of another type has a value of its own.
        #expect(try graph.value("/a.z") == "text")
        #expect(Set(changes.filter { $0.name == "" }.map(\.key)) == ["/a", "/a/b"])
        let told = deliveries.contains {
            guard case .event(_, .update(_, _, _, _, _, let changes, _)) = $0 else { return false }
            return changes.contains { if $0.path == "/a.x", case .value(5) = $0.content { true } else { false } }
        }
        #expect(told)
    }

    @Test("a value that has found its state is not given a second time") func once() throws {
        let graph = try Harness("nodes: [{ id: c }]")
        _ = graph.runtime.restore(rows)
        _ = try graph.apply("nodes: [{ id: a, state: { x: 1 } }]")
        try graph.set("/a.x", 6)
        _ = try graph.apply("nodes: [{ id: d, state: { x: 1 } }]")
        #expect(try graph.value("/a.x") == 6)
    }
}
