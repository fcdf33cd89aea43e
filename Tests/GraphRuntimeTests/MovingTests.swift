import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Moved nodes")
struct MovingTests {
    static let groups = """
        nodes:
          - id: h
            kind: container
            environment: { level: 1.0 }
            children:
              - { id: h1, kind: container, state: { load: 1.0, spot: { x: 1 } }, children: [{ id: in, kind: view, state: { v: 1 } }] }
              - { id: h2, kind: view, state: { load: 2.0 } }
          - { id: g, kind: container, environment: { level: 5.0 } }
        keys: { environment: { level: 0.0 } }
        """

    private func move(_ graph: Harness, _ path: String, to parent: String, animation: Value? = nil) throws {
        try graph.succeed(.move(path: path, to: parent, index: nil, TransactionOptions(animation: animation)))
    }

    @Test("a moved node's attributes leave the topics of its old place") func leave() throws {
        let graph = try Harness(MovingTests.groups)
        try graph.subscribe(["/h/*.load"], initial: true)
        try move(graph, "/h/h1", to: "/g")
        #expect(graph.changes.keys.sorted() == ["/h/h1.load"])
        #expect(graph.changes["/h/h1.load"]?.failure?.code == .removed)
        try graph.set("/g/h1.load", 10.0)
        #expect(graph.events.isEmpty)
        _ = try graph.apply("nodes: [{ id: h1, kind: view, state: { load: 7.0 } }]", at: "/h")
        #expect(graph.changes == ["/h/h1.load": .value(7.0)])
    }

    @Test("a moved node's attributes join the topics of its new place, with their values") func join() throws {
        let graph = try Harness(MovingTests.groups)
        try graph.subscribe(["/g/**"], initial: true)
        try move(graph, "/h/h1", to: "/g")
        #expect(
            graph.changes == [
                "/g/h1.load": .value(1.0), "/g/h1.spot": .value(["x": 1]), "/g/h1/in.v": .value(1),
            ])
        try graph.set("/g/h1.load", 10.0)
        #expect(graph.changes == ["/g/h1.load": .value(10.0)])
        try graph.subscribe(["/g/**"], initial: true, from: 2)
        #expect(graph.changes.count == 3 && graph.changes["/g/h1.load"] == .value(10.0))
    }

    @Test("a watcher of both places gets both paths in one update, each once") func both() throws {
        let graph = try Harness(MovingTests.groups)
        try graph.subscribe(["/**.load", "/*/h1.spot.x"], initial: true)
        try move(graph, "/h/h1", to: "/g")
        #expect(graph.events.count == 1)
        let changes = graph.told
        #expect(changes.map(\.path).sorted() == ["/g/h1.load", "/g/h1.spot.x", "/h/h1.load", "/h/h1.spot.x"])
        #expect(
            changes.filter { $0.content.failure?.code == .removed }.map(\.path).sorted() == [
                "/h/h1.load", "/h/h1.spot.x",
            ])
        try graph.set("/g/h1.spot.x", 4)
        #expect(graph.changes == ["/g/h1.spot.x": .value(4)])
    }

    @Test("a value that a moved node inherits anew is told once, by its new path") func inherited() throws {
        let graph = try Harness(
            MovingTests.groups.replacing(
                "{ id: h2,", with: "{ id: h3, kind: view, computed: { twice: env.level * 2.0 } }\n      - { id: h2,"))
        try graph.subscribe(["/**.twice"], initial: true)
        #expect(graph.changes == ["/h/h3.twice": .value(2.0)])
        try move(graph, "/h/h3", to: "/g", animation: "linear(duration: 1)")
        let changes = graph.told
        try #require(changes.map(\.path) == ["/h/h3.twice", "/g/h3.twice"])
        #expect(changes[1].content == .value(10.0) && changes[1].timeline?["from"]?.number == 2)
    }

    @Test("a path that named what has moved ends its subscription") func exact() throws {
        let graph = try Harness(MovingTests.groups)
        try graph.subscribe(["/h/h1.load"])
        try graph.subscribe(["/h/h1.load"], events: .structure, from: 2)
        try move(graph, "/h/h1", to: "/g")
        #expect(graph.changes["/h/h1.load"]?.failure?.code == .removed)
        #expect(graph.methods == ["structure", "update", "ended", "ended"])
        #expect(graph.runtime.watching.topics.watches.isEmpty && graph.runtime.watching.subscriptions.isEmpty)
    }

    @Test("a motion goes on by the new name, in updates and in frames") func motion() throws {
        let graph = try Harness(MovingTests.groups)
        try graph.subscribe(["/**.load"], events: [.update, .frames], frames: 10)
        try graph.set("/h/h1.load", 11.0, animation: "linear(duration: 1)")
        try move(graph, "/h/h1", to: "/g")
        #expect(graph.told.last?.path == "/g/h1.load" && graph.told.last?.timeline != nil)
        graph.advance(0.1)
        #expect(
            graph.events.compactMap { if case .frameSheet(_, let members) = $0 { members.text } else { nil } } == [
                "\"/g/h1.load\":2.0"
            ])
        #expect(try graph.value("/g/h1.load", presentation: true).number.map { abs($0 - 2) < 1e-9 } == true)
    }

    @Test("a motion ends when its node moves to where nobody looks") func unwatched() throws {
        let graph = try Harness(MovingTests.groups)
        try graph.subscribe(["/h/**"], events: [.update, .frames], frames: 10)
        try graph.set("/h/h1.load", 11.0, animation: "linear(duration: 1)")
        try move(graph, "/h/h1", to: "/g")
        #expect(graph.runtime.presentations.running.isEmpty && graph.runtime.presentations.completions.count == 0)
        graph.advance(0.1)
        #expect(graph.runtime.nextDeadline == nil && graph.events.isEmpty)
    }

    @Test("a watcher of invalidations is told of both places") func invalidations() throws {
        let graph = try Harness(MovingTests.groups)
        try graph.subscribe(["/h/*.load"], events: .invalidate)
        try graph.subscribe(["/g/*.load"], events: .invalidate, from: 2)
        try move(graph, "/h/h1", to: "/g")
        #expect(graph.invalidated.sorted() == ["/g/h1.load", "/h/h1.load"])
        try graph.set("/g/h1.load", 3.0)
        #expect(graph.invalidated.isEmpty, "not read since")
        _ = try graph.get("/g/h1.load", from: 2)
        try graph.set("/g/h1.load", 4.0)
        #expect(graph.invalidated == ["/g/h1.load"])
    }

    @Test("structure events name what has moved by its old path as removed and by its new one as moved")
    func structure() throws {
        let graph = try Harness(MovingTests.groups)
        try graph.subscribe(["/h/**"], events: .structure)
        try graph.subscribe(["/g/**"], events: .structure, from: 2)
        try move(graph, "/h/h1", to: "/g")
        let told = graph.structures
        try #require(told.count == 2 && told.allSatisfy(\.added.isEmpty))
        #expect(told[0].removed == ["/h/h1", "/h/h1.load", "/h/h1.spot", "/h/h1/in", "/h/h1/in.v"])
        #expect(told[1].moved == ["/g/h1", "/g/h1.load", "/g/h1.spot", "/g/h1/in", "/g/h1/in.v"])
        #expect(told[0].moved.isEmpty && told[1].removed.isEmpty)
    }

    @Test("instances that a move changes are removed by their old names, and added by their new ones") func instances()
        throws
    {
        let graph = try Harness(
            """
            nodes:
              - id: a
                state: { l: [{ id: x }, { id: both }] }
                children: [{ id: fe, forEach: { in: $l, node: { kind: view, state: { o: 0 } } } }]
              - { id: b, state: { l: [{ id: both }, { id: y }] }, kind: container }
            """)
        try graph.subscribe(["/**.o"], events: .structure)
        try move(graph, "/a/fe", to: "/b")
        #expect(graph.events.count == 1)
        let told = try #require(graph.structures.first)
        #expect(told.added == ["/b/fe/y", "/b/fe/y.o"])
        #expect(told.removed == ["/a/fe", "/a/fe/x", "/a/fe/x.o", "/a/fe/both", "/a/fe/both.o"])
        #expect(told.moved == ["/b/fe", "/b/fe/both", "/b/fe/both.o"])
    }

    @Test("a move completes for who watches either place, as every transaction does") func completions() throws {
        let graph = try Harness(MovingTests.groups)
        try graph.subscribe(["/h/**"], events: [.update, .completion])
        try graph.subscribe(["/g/**"], events: [.update, .completion], from: 2)
        try move(graph, "/h/h1", to: "/g")
        let revision = graph.runtime.revision
        let ends = graph.events.compactMap {
            if case .completion(_, revision, let phase, []) = $0 { phase } else { nil }
        }
        #expect(ends == ["logical", "logical", "removed", "removed"] && graph.runtime.presentations.moves.isEmpty)
        #expect(graph.methods.first == "update")
    }

    @Test("a client that resumes after a move gets the new path, and the removal of the old one") func resume() throws {
        let graph = try Harness(MovingTests.groups)
        try graph.subscribe(["/h/*.load"])
        let seen = graph.runtime.revision
        try move(graph, "/h/h1", to: "/g")
        try graph.subscribe(["/**.load"], since: .init(epoch: "test", revision: seen), from: 2)
        guard case .update(_, _, _, _, false, _, _)? = graph.events.first else {
            throw Failure(.unavailable, "no update, or a snapshot")
        }
        #expect(graph.told.map(\.path) == ["/h/h1.load", "/g/h1.load"])
        #expect(graph.changes["/h/h1.load"]?.failure?.code == .removed)
    }

    // MARK: Sections

    static let sections = """
        nodes:
          - id: s
            kind: section
            header: [{ id: h, kind: view, computed: { at: self.index } }]
            content: [{ id: a, kind: view }, { id: b, kind: view }]
            footer: [{ id: f, kind: view }]
          - { id: t, kind: section, content: [{ id: x, kind: view }], footer: [{ id: g, kind: view }] }
          - { id: c, kind: container, children: [{ id: y, kind: view }] }
        """

    /// The node as a document writes it: ids by the part they stand in.
    private func parts(_ graph: Harness, _ path: String) throws -> [String: [String]] {
        let node = try #require(try graph.exported(path).map?["nodes"]?.list?.first?.map)
        var parts: [String: [String]] = [:]
        for name in ["header", "content", "footer", "children"] {
            if let list = node[name]?.list { parts[name] = list.compactMap { $0.map?["id"]?.string } }
        }
        return parts
    }

    @Test("a section's header or footer is content wherever else it goes, and what is exported then can be read")
    func headers() throws {
        let graph = try Harness(MovingTests.sections)
        try move(graph, "/s/h", to: "/c")
        try move(graph, "/s/f", to: "/t")
        #expect(try parts(graph, "/s") == ["content": ["a", "b"]])
        #expect(try parts(graph, "/t") == ["content": ["x", "f"], "footer": ["g"]])
        #expect(try parts(graph, "/c") == ["children": ["y", "h"]])
        #expect(try graph.value("/c/h.at") == 1)
        let other = try Harness(document: graph.exported())
        #expect(try other.children(of: "/t") == ["x", "f", "g"])
    }

    @Test("within a section the header stays before the content, and the footer behind it") func order() throws {
        let graph = try Harness(MovingTests.sections)
        #expect(try graph.value("/s/h.at") == 0)
        func place(_ path: String, _ index: Int?) throws {
            try graph.succeed(.move(path: path, to: nil, index: index, .init()))
        }
        try place("/s/f", 0)
        #expect(try graph.children(of: "/s") == ["h", "a", "b", "f"])
        try place("/s/h", nil)
        #expect(try graph.children(of: "/s") == ["h", "a", "b", "f"])
        try place("/s/b", 0)
        #expect(try graph.children(of: "/s") == ["h", "b", "a", "f"])
        try place("/s/b", nil)
        #expect(try graph.children(of: "/s") == ["h", "a", "b", "f"])
        try move(graph, "/c/y", to: "/s")
        #expect(try graph.children(of: "/s") == ["h", "a", "b", "y", "f"])
        // A document that gives a child another part gives it that part's place.
        _ = try graph.apply(
            "nodes: [{ id: s, kind: section, header: [{ id: y, kind: view }], footer: [{ id: h, kind: view }] }]")
        #expect(try graph.children(of: "/s") == ["y", "a", "b", "f", "h"])
    }
}
