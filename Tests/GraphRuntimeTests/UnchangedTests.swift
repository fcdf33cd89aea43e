import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("What has not changed")
struct UnchangedTests {
    private static let undone = """
        nodes:
          - id: r
            state: { a: 0, b: 0, c: 0 }
            computed: { d: b * 2 }
            onChange:
              - { of: a, perform: { set: { $b: =newValue } } }
              - { of: a, perform: { set: { $b: 0 } } }
              - { of: c, perform: { set: { $c: 0 } } }
        """

    @Test("what one action sets and another one sets back is told to nobody, and counts as not changed")
    func actions() throws {
        let graph = try Harness(UnchangedTests.undone)
        try graph.subscribe(["/r.*"], initial: true)
        let before = try graph.explained("/r.b")["changed"]
        try graph.set("/r.a", 5)
        #expect(graph.changes == ["/r.a": .value(5)])
        #expect(try graph.explained("/r.b")["changed"] == before)
        #expect(try graph.value("/r.d") == 0)
        // The next change is told again.
        try graph.set("/r.b", 3)
        #expect(graph.changes == ["/r.b": .value(3), "/r.d": .value(6)])
    }

    @Test("what an action sets back after a client has set it is told to nobody") func takenBack() throws {
        let graph = try Harness(UnchangedTests.undone)
        try graph.subscribe(["/r.c"], initial: true)
        let before = try graph.explained("/r.c")["changed"]
        try graph.set("/r.c", 5)
        #expect(graph.changes.isEmpty)
        #expect(try graph.explained("/r.c")["changed"] == before)
        #expect(try graph.value("/r.c") == 0)
    }

    @Test("an index that one choice shifts and another one shifts back is told to nobody") func indices() throws {
        let graph = try Harness(
            """
            nodes:
              - id: a
                state: { x: false }
                children:
                  - { if: x, then: [{ id: one }] }
                  - { if: '!x', then: [{ id: two }] }
                  - { id: last, computed: { place: self.index } }
            """)
        try graph.subscribe(["/a/last.place"], initial: true)
        let before = try graph.explained("/a/last.place")["changed"]
        try graph.set("/a.x", true)
        #expect(graph.told.isEmpty)
        #expect(try graph.explained("/a/last.place")["changed"] == before)
        #expect(try graph.value("/a/last.place") == 1)
        _ = graph.runs()
        try graph.set("/a.x", false)
        #expect(!graph.runs().contains("/a/last.place"))
    }

    @Test("a value that a list changes and another list changes back is told to nobody, and counts as not changed")
    func lists() throws {
        let graph = try Harness(
            """
            keys: { preference: { ones: { default: 0, reduce: value + next }, twos: { default: 0, reduce: value + next } } }
            nodes:
              - id: a
                kind: container
                state: { items: [p] }
                computed: { n: "subviews.size()", ones: preferences.ones, twos: preferences.twos }
                children:
                  - id: side
                    kind: container
                    let: { n: $n }
                    children: [{ id: early, forEach: { in: '=n > 5 ? ["x"] : []', id: self, node: { } } }]
                  - { id: first, forEach: { in: $items, id: self, node: { preferences: { ones: 1 } } } }
                  - id: hold
                    kind: container
                    let: { ones: $ones }
                    children:
                      - id: middle
                        forEach: { in: '=ones > 1 ? ["m", "n"] : ["m"]', id: self, node: { preferences: { twos: 1 } } }
                  - { id: last, forEach: { in: '=twos > 1 ? ["u"] : ["u", "v"]', id: self, node: { } } }
            """)
        try graph.subscribe(["/a.n"], initial: true)
        #expect(graph.changes == ["/a.n": .value(5)])
        let before = try graph.explained("/a.n")["changed"]
        _ = graph.runs()
        try graph.set("/a.items", ["p", "q"])
        #expect(graph.runs().filter { $0 == "/a.n" }.count > 1, "it had another value in between")
        #expect(graph.told.isEmpty)
        let explained = try graph.explained("/a.n", at: graph.runtime.revision)
        #expect(explained["changed"] == before)
        #expect(explained["at"]?.map?["changed"] == false)
        try graph.set("/a.items", ["p", "q", "r"])
        #expect(graph.changes == ["/a.n": .value(6)])
        #expect(try graph.explained("/a.n")["changed"] != before)
    }

    // MARK: Animated writes

    private func phases(_ graph: Harness) -> [String] {
        graph.events.compactMap {
            if case .completion(_, let transaction, let phase, let paths) = $0 {
                "\(transaction) \(phase) \(paths)"
            } else {
                nil
            }
        }
    }

    @Test("an animated write of an equal value is complete at once, for those who wait for completions of the state")
    func equalWrite() throws {
        let graph = try Harness(
            """
            nodes:
              - id: a
                state: { x: 1.0, y: 1.0, p: { q: 1.0 } }
                children: [{ id: b, binding: { bound: { to: $x, animation: bouncy }, part: $p.q } }]
            """)
        try graph.subscribe(["/a.x"], events: [.update, .completion], initial: true)
        try graph.set("/a.x", 1.0, animation: "bouncy")
        var revision = graph.runtime.revision
        #expect(phases(graph) == ["\(revision) logical []", "\(revision) removed []"])
        #expect(graph.told.isEmpty)
        // Through a binding with an animation.
        try graph.set("/a/b.bound", 1.0)
        revision = graph.runtime.revision
        #expect(phases(graph) == ["\(revision) logical []", "\(revision) removed []"])
        // Without an animation, and for other states, nothing has happened.
        try graph.set("/a.x", 1.0)
        try graph.set("/a.y", 1.0, animation: "bouncy")
        #expect(phases(graph).isEmpty && graph.runtime.revision == revision)
    }

    @Test("an equal write beside a change completes with it") func besideOthers() throws {
        let graph = try Harness("nodes: [{ id: a, state: { x: 1.0, y: 1.0 } }]")
        try graph.subscribe(["/a.y"], events: [.update, .completion], initial: true)
        try graph.subscribe(["/a.x"], events: [.update, .completion], initial: true)
        try graph.transact(
            [
                Mutation(operation: .set, path: "/a.x", value: 2.0),
                Mutation(operation: .set, path: "/a.y", value: 1.0),
            ], animation: "linear(duration: 1)")
        #expect(phases(graph).isEmpty)
        graph.advance(1.1)
        #expect(phases(graph).filter { $0.contains("logical") }.count == 2)
    }

    @Test("a running motion goes on while an equal write completes at once") func running() throws {
        let graph = try Harness("nodes: [{ id: a, state: { x: 1.0 } }]")
        try graph.subscribe(["/a.x"], events: [.update, .completion], initial: true)
        try graph.set("/a.x", 2.0, animation: "linear(duration: 1)")
        let first = graph.runtime.revision
        try graph.set("/a.x", 2.0, animation: "linear(duration: 1)")
        let second = graph.runtime.revision
        #expect(second > first && phases(graph) == ["\(second) logical []", "\(second) removed []"])
        graph.advance(1.1)
        #expect(phases(graph) == ["\(first) logical [\"/a.x\"]", "\(first) removed [\"/a.x\"]"])
    }
}
