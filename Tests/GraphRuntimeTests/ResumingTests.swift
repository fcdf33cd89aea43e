import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Who comes back, and from where it may.
@Suite("Resuming")
struct ResumingTests {
    static let scene = """
        nodes:
          - id: w
            state: { o: { x: 1, y: 2 }, a: 1 }
            computed: { twice: a * 2 }
          - id: m
            state: { z: 0 }
          - id: n
            state: { z: 0 }
        """

    /// - Returns: whether it resumes.
    private func resume(
        _ graph: Harness, _ patterns: [String], _ events: EventKinds = .update, since revision: UInt64,
        bookmarks: Bool = false
    ) throws -> Bool {
        let request = Request.Subscribe(
            patterns: patterns, events: events, initial: true, since: .init(epoch: "test", revision: revision),
            bookmarks: bookmarks)
        return try graph.map(.subscribe(request), from: 2)["resumed"] == true
    }

    private func bookmarks(_ graph: Harness) -> [UInt64] {
        graph.events.compactMap { if case .bookmark(_, let revision) = $0 { revision } else { nil } }
    }

    @Test("a watcher of a place in a value resumes without changes if only other places have changed") func places()
        throws
    {
        let graph = try Harness(ResumingTests.scene)
        let seen = graph.runtime.revision
        try graph.set("/w.a", 5)
        #expect(try resume(graph, ["/w.o.x"], since: seen))
        #expect(graph.events.isEmpty)
        #expect(try resume(graph, ["/w.o.y"], .invalidate, since: seen))
        #expect(graph.events.isEmpty)
    }

    @Test("a rule that runs late is told only if something that it reads has changed") func lateRules() throws {
        let graph = try Harness(ResumingTests.scene)
        try graph.set("/w.a", 3)
        let seen = graph.runtime.revision
        try graph.set("/m.z", 1)
        #expect(try resume(graph, ["/w.twice"], since: seen) && graph.events.isEmpty)
        try graph.set("/w.a", 4)
        #expect(try resume(graph, ["/w.twice", "/n.z"], since: seen))
        #expect(graph.changes == ["/w.twice": .value(8)])
    }

    @Test("a client that resumes after a removal is told of it, and watchers of other paths are not")
    func removals() throws {
        let graph = try Harness(ResumingTests.scene)
        let seen = graph.runtime.revision
        try graph.succeed(.remove(path: "/m", .init()))
        #expect(try resume(graph, ["/w.a"], since: seen) && graph.events.isEmpty)
        #expect(try resume(graph, ["/*.z"], [.update, .invalidate], since: seen))
        #expect(
            graph.changes["/m.z"]?.failure?.code == .removed && graph.changes.count == 1
                && graph.invalidated == ["/m.z"])
        _ = try graph.apply("nodes: [{ id: m, state: { z: 7 } }]")
        #expect(try resume(graph, ["/*.z"], since: seen))
        #expect(graph.changes == ["/m.z": .value(7)])
    }

    @Test("names of more removals than are kept make a snapshot") func manyRemovals() throws {
        var limits = RuntimeLimits()
        limits.historyNames = 1
        let graph = try Harness(ResumingTests.scene, limits: limits)
        let seen = graph.runtime.revision
        try graph.succeed(.remove(path: "/m", .init()))
        let later = graph.runtime.revision
        try graph.succeed(.remove(path: "/n", .init()))
        #expect(try !resume(graph, ["/w.a"], since: seen))
        #expect(try resume(graph, ["/w.a"], since: later))
    }

    @Test(
        "a silent subscription gets a bookmark from time to time, and no bookmark wakes the daemon if nothing has changed"
    )
    func quietPaths() throws {
        let graph = try Harness(ResumingTests.scene)
        _ = try resume(graph, ["/w.a"], since: graph.runtime.revision, bookmarks: true)
        #expect(bookmarks(graph) == [graph.runtime.revision])
        graph.advance(100)
        #expect(bookmarks(graph).isEmpty && graph.runtime.nextDeadline == nil)
        try graph.set("/m.z", 1)
        graph.advance(0)
        try graph.set("/m.z", 2)
        try graph.set("/m.z", 3)
        #expect(bookmarks(graph).isEmpty)
        graph.advance(graph.runtime.limits.bookmarkInterval)
        #expect(bookmarks(graph) == [graph.runtime.revision])
        #expect(graph.runtime.nextDeadline == nil)
    }

    @Test("a bookmark goes to those who want it, though others watch the same and more of them watch other things")
    func bookmarkReceivers() throws {
        let graph = try Harness(ResumingTests.scene)
        for (path, wants) in [("/w.a", true), ("/m.z", true), ("/w.a", false), ("/w.a", true)] {
            _ = try resume(graph, [path], since: graph.runtime.revision, bookmarks: wants)
        }
        try graph.set("/n.z", 1)
        graph.advance(graph.runtime.limits.bookmarkInterval)
        let receivers = graph.deliveries.flatMap { delivery -> [Int64] in
            guard case .event(let receivers, .bookmark) = delivery else { return [] }
            return receivers.map(\.subscription)
        }
        #expect(receivers == [1, 2, 4])
    }

    @Test("a bookmark comes behind everything of its revision, changes of structure included") func bookmarkOrder()
        throws
    {
        let graph = try Harness(ResumingTests.scene)
        _ = try resume(graph, ["/**"], [.update, .structure], since: graph.runtime.revision, bookmarks: true)
        _ = try graph.apply("nodes: [{ id: k, state: { z: 7 } }]")
        #expect(graph.methods == ["structure", "update", "bookmark"])
    }

    @Test("a watcher of the structure resumes with all additions, removals and moves, each once") func structure()
        throws
    {
        let graph = try Harness(
            """
            nodes:
              - id: top
                kind: container
                state: { isOn: true, names: [a, b] }
                children:
                  - { if: isOn, then: [{ id: x, state: { n: 1 } }], else: [{ id: y, state: { n: 2 } }] }
                  - { id: rows, forEach: { in: $names, id: self, as: name, node: { state: { v: 0 } } } }
              - { id: other, kind: container }
            """)
        let all: EventKinds = [.update, .structure]
        #expect(try resume(graph, ["/top/**"], all, since: graph.runtime.revision) && graph.events.isEmpty)
        let seen = graph.runtime.revision
        _ = try graph.apply("nodes: [{ id: more }]", at: "/other")
        #expect(try resume(graph, ["/top/**"], all, since: seen))
        #expect(graph.events.isEmpty, "what happens elsewhere is not told")
        try graph.set("/top.isOn", false)
        try graph.set("/top.names", ["b", "c"])
        try graph.set("/top.names", ["c", "b"])
        try graph.succeed(.move(path: "/other/more", to: "/top", index: nil, .init()))
        #expect(try resume(graph, ["/top/**"], all, since: seen))
        let (added, removed, moved, _) = try #require(graph.structures.first)
        #expect(
            Set(added) == [
                "/top/y", "/top/y.n", "/top/rows/c", "/top/rows/c.v", "/top/rows/c.name", "/top/rows/c.index",
            ])
        #expect(removed.contains("/top/x") && removed.contains("/top/rows/a") && !removed.contains("/top/rows/c"))
        #expect(moved.contains("/top/more") && Set(moved).count == moved.count)
        #expect(graph.changes["/top/y.n"] == .value(2) && graph.changes["/top/x.n"]?.failure?.code == .removed)
        #expect(graph.methods == ["structure", "update"])
    }

    @Test("a change of structure that is more than is kept, and one before anybody watched, is a snapshot")
    func forgottenStructure() throws {
        var limits = RuntimeLimits()
        limits.historyNames = 10
        let graph = try Harness("nodes: [{ id: a, kind: container, state: { n: 0 } }]", limits: limits)
        let start = graph.runtime.revision
        _ = try graph.apply("nodes: [{ id: b }]", at: "/a")
        #expect(try !resume(graph, ["/a/**"], [.update, .structure], since: start))
        let seen = graph.runtime.revision
        _ = try graph.apply("nodes: [{ id: c }]", at: "/a")
        #expect(try resume(graph, ["/a/**"], [.update, .structure], since: seen))
        let many = (0..<20).map { "{ id: n\($0) }" }.joined(separator: ", ")
        _ = try graph.apply("nodes: [\(many)]", at: "/a")
        #expect(try !resume(graph, ["/a/**"], [.update, .structure], since: seen))
        #expect(try resume(graph, ["/a/**"], [.update, .structure], since: graph.runtime.revision))
    }

    @Test("every reply's revision is a place to resume from") func replies() throws {
        let graph = try Harness(ResumingTests.scene)
        guard
            case .content(_, let read, _) = try graph.succeed(
                .get(.init(paths: ["/w.a"], isSingle: true))),
            case .revision(let written) = try graph.succeed(
                .set(Mutation(operation: .set, path: "/w.a", value: 9), .init()))
        else { throw Failure(.unavailable, "no revisions") }
        #expect(try resume(graph, ["/w.a"], since: read) && graph.changes == ["/w.a": .value(9)])
        #expect(try resume(graph, ["/w.a"], since: written) && graph.events.isEmpty)
    }

    @Test("a subscription by several names hears of one that is removed and comes again, and ends with the last")
    func returning() throws {
        let graph = try Harness(ResumingTests.scene)
        try graph.subscribe(["/m.z", "/n.z"])
        try graph.succeed(.remove(path: "/m", .init()))
        #expect(graph.changes["/m.z"]?.failure?.code == .removed)
        _ = try graph.apply("nodes: [{ id: m, state: { z: 7 } }]")
        #expect(graph.changes == ["/m.z": .value(7)])
        try graph.succeed(.remove(path: "/m", .init()))
        try graph.succeed(.remove(path: "/n", .init()))
        guard case .ended(.removed, _)? = graph.events.last else { throw Failure(.unavailable, "\(graph.methods)") }
        _ = try graph.apply("nodes: [{ id: m, state: { z: 8 } }]")
        #expect(graph.events.isEmpty)
    }

    @Test("only get counts as reading, whichever way the path is named") func readingCounts() throws {
        let graph = try Harness(ResumingTests.scene)
        try graph.subscribe(["/w.a"], events: .invalidate)
        try graph.set("/w.a", 2)
        #expect(graph.invalidated == ["/w.a"])
        try graph.succeed(.describe(path: "/w", depth: nil))
        try graph.succeed(.explain(path: "/w.a", revision: nil))
        try graph.succeed(.dump(path: "/w", format: .json))
        _ = try graph.get("/w.a", from: 2)
        try graph.set("/w.a", 3)
        #expect(graph.invalidated.isEmpty)
        try graph.succeed(.get(.init(paths: ["/w.*"])))
        try graph.set("/w.a", 4)
        #expect(graph.invalidated == ["/w.a"])
    }

    @Test(
        "an invalidation that waits for its rate is told when its node has been removed, and one that is replaced is named once"
    )
    func invalidationsOfWhatGoes() throws {
        let graph = try Harness(ResumingTests.scene)
        try graph.subscribe(["/*.z"], events: [.update, .invalidate], maxRate: 1)
        try graph.set("/n.z", 1)
        #expect(graph.invalidated == ["/n.z"])
        try graph.set("/m.z", 1)
        try graph.succeed(.remove(path: "/m", .init()))
        graph.advance(1)
        #expect(graph.invalidated == ["/m.z"] && graph.changes["/m.z"]?.failure?.code == .removed)
        _ = try graph.get("/n.z")
        graph.advance(10)
        _ = try graph.apply("nodes: [{ id: n, kind: container, state: { z: 5 } }]")
        #expect(graph.invalidated == ["/n.z"] && graph.changes == ["/n.z": .value(5)])
    }

    @Test("a path that came, was read and went while news waited is in the invalidation") func readWhileWaiting()
        throws
    {
        let graph = try Harness(ResumingTests.scene)
        try graph.subscribe(["/*.z"], events: [.update, .invalidate], maxRate: 1)
        try graph.set("/n.z", 1)
        _ = try graph.apply("nodes: [{ id: k, kind: container, state: { z: 5 } }]")
        #expect(try graph.get("/k.z") == .value(5))
        try graph.succeed(.remove(path: "/k", .init()))
        graph.advance(1)
        #expect(graph.invalidated == ["/k.z"])
    }

    @Test("changes of structure that waited name each path once") func structureOnce() throws {
        let graph = try Harness(ResumingTests.scene)
        try graph.subscribe(["/**"], events: .structure, from: 2)
        graph.turn([.behind(ClientID(number: 2))])
        _ = try graph.apply("nodes: [{ id: k, kind: container }]")
        try graph.succeed(.move(path: "/k", to: nil, index: 0, .init()))
        try graph.succeed(.move(path: "/m", to: "/k", index: nil, .init()))
        try graph.succeed(.move(path: "/k/m", to: nil, index: 0, .init()))
        graph.turn([.drained(ClientID(number: 2))])
        let (added, _, moved, _) = try #require(graph.structures.first)
        #expect(Set(added + moved).count == added.count + moved.count, "\(added) \(moved)")
    }

    @Test("a subscription resumes from before a start, but not after a change of the tree in the same turn")
    func changedInTheSameTurn() throws {
        func answer(behind calls: [Command]) throws -> Value? {
            let first = try Harness(ResumingTests.scene)
            try first.set("/w.a", 5)
            let graph = try first.restarted(ResumingTests.scene, after: 1)
            let request = Request.Subscribe(
                patterns: ["/*.z"], events: .update, initial: true,
                since: .init(epoch: "test", revision: 0))
            for delivery in graph.turn(calls + [.call(ClientID(number: 2), id: .int(2), .subscribe(request))]) {
                if case .reply(ClientID(number: 2), _, .value(let value)) = delivery { return value.map?["resumed"] }
            }
            return nil
        }
        #expect(try answer(behind: []) == true)
        let removal = Command.call(ClientID(number: 1), id: .int(1), .remove(path: "/m", .init()))
        #expect(try answer(behind: [removal]) == false)
    }
}
