import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime

/// What a recovered store still has, when what made its states is lost.
@Suite("After a recovery")
struct SalvageTests {
    private let entries: [(revision: UInt64, entry: JournalEntry)] = [
        (3, .state(path: "/a.x", value: 5)), (4, .state(path: "/a/b.y", value: "kept")), (5, .state(path: "/a.z", value: 9)),
    ]

    @Test("a document that is applied again finds the values that have survived, and watchers are told of them") func appliedAgain() throws {
        let graph = try Harness("nodes: [{ id: c }]")
        #expect(graph.runtime.restore(entries, isSalvaged: true).count == 3)
        try graph.subscribe(["/**"])
        _ = try graph.apply("nodes: [{ id: a, state: { x: 1, z: text }, children: [{ id: b, state: { y: '' } }] }]")
        let (accepted, deliveries) = (graph.accepted, graph.deliveries)
        #expect(try graph.value("/a.x") == 5 && graph.value("/a/b.y") == "kept")
        // A state of another type has a value of its own.
        #expect(try graph.value("/a.z") == "text")
        let kept: [String] = accepted.compactMap { if case .state(let path, _) = $0 { path } else { nil } }
        #expect(kept.sorted() == ["/a.x", "/a/b.y"])
        let told = deliveries.contains {
            guard case .event(_, .update(_, _, _, _, let changes, _)) = $0 else { return false }
            return changes.contains { if $0.path == "/a.x", case .value(5) = $0.content { true } else { false } }
        }
        #expect(told)
    }

    @Test("a value that has found its state is not given a second time") func once() throws {
        let graph = try Harness("nodes: [{ id: c }]")
        _ = graph.runtime.restore(entries, isSalvaged: true)
        _ = try graph.apply("nodes: [{ id: a, state: { x: 1 } }]")
        try graph.set("/a.x", 6)
        _ = try graph.apply("nodes: [{ id: d, state: { x: 1 } }]")
        #expect(try graph.value("/a.x") == 6)
    }
}
