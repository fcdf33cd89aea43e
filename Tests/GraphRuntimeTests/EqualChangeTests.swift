import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Changes of structure that change nothing")
struct EqualChangeTests {
    private static let document = """
        keys:
          environment: { accent: { default: red } }
          preference: { width: { default: 0, reduce: "math.greatest(value, next)" } }
        types: { Lamp: { state: { on: false }, computed: { off: "!on" } } }
        components:
          Inner: { state: { v: 1 } }
          Outer: { state: { title: x }, children: [{ id: in, component: Inner }] }
        nodes:
          - id: a
            state: { items: [1, 2], lamp: { type: Lamp, initial: {} }, shown: true }
            environment: { accent: blue }
            children:
              - { id: o, component: Outer }
              - { id: r, forEach: { in: $items, id: self, node: { state: { q: 0 } } } }
              - { id: p, preferences: { width: 3 }, tag: 1 }
          - { id: b, computed: { twice: 1 + 1 } }
        values: { /a/o.title: y, /a.lamp.on: true }
        """

    @Test(
        "a document that says what is there already makes no revision and leaves the store as it is",
        arguments: [Request.ApplyMode.merge, .replace])
    func again(mode: Request.ApplyMode) throws {
        let graph = try Harness()
        _ = try graph.apply(EqualChangeTests.document, mode: mode)
        #expect(!graph.kept.isEmpty)
        let subscription = try graph.subscribe(["/**"], events: [.update, .structure])
        #expect(subscription > 0)
        let revision = graph.runtime.revision
        for _ in 0..<3 {
            let result = try graph.apply(EqualChangeTests.document, mode: mode)
            #expect(result.map?["revision"] == .int(Int64(revision)) && result.map?["changed"] == [])
            #expect(graph.kept.isEmpty && graph.events.isEmpty)
        }
        // A state that was written since keeps its value, as before, and the document says otherwise of those under
        // values.
        try graph.set("/a.shown", false)
        _ = try graph.apply(EqualChangeTests.document, mode: mode)
        #expect(graph.kept.isEmpty)
        try graph.set("/a/o.title", "z")
        _ = try graph.apply(EqualChangeTests.document, mode: mode)
        #expect(!graph.kept.isEmpty)
        #expect(try graph.value("/a/o.title") == "y")
    }

    @Test(
        "any difference in a document makes a revision and is kept",
        arguments: [
            ("default: red", "default: green"), ("default: 0,", "default: 1,"), ("\"!on\"", "\"on\""),
            ("{ v: 1 }", "{ v: 2 }"), ("title: x", "title: w"),
            ("[1, 2]", "[1]"), ("accent: blue", "accent: grey"), ("{ q: 0 }", "{ q: 1 }"), ("width: 3", "width: 4"),
            ("tag: 1", "tag: 2"),
            ("1 + 1", "2 + 0"), ("o.title: y", "o.title: v"), ("lamp.on: true", "lamp.on: false"),
            ("id: in,", "id: inner,"), ("id: b,", "id: c,"),
        ])
    func difference(old: String, new: String) throws {
        let graph = try Harness()
        _ = try graph.apply(EqualChangeTests.document)
        let revision = graph.runtime.revision
        let changed = EqualChangeTests.document.replacing(old, with: new)
        #expect(changed != EqualChangeTests.document)
        _ = try graph.apply(changed)
        #expect(graph.runtime.revision == revision + 1)
        #expect(graph.kept.isEmpty == false)
    }

    @Test("another order of nodes that are replaced is a difference") func order() throws {
        let graph = try Harness("nodes: [{ id: a }, { id: b }]")
        _ = try graph.apply("nodes: [{ id: a }, { id: b }]", mode: .replace)
        #expect(graph.kept.isEmpty)
        _ = try graph.apply("nodes: [{ id: b }, { id: a }]", mode: .replace)
        #expect(!graph.kept.isEmpty)
    }

    @Test("a component in the same words is another when one that it uses is") func components() throws {
        let graph = try Harness()
        let outer = "components: { Outer: { children: [{ id: in, component: Inner }] } }"
        _ = try graph.apply(
            "components: { Inner: { state: { v: 1 } }, Outer: { children: [{ id: in, component: Inner }] } }")
        _ = try graph.apply(outer)
        #expect(graph.kept.isEmpty)
        _ = try graph.apply("components: { Inner: { state: { v: 2 } } }")
        #expect(graph.kept.map(\.name) == ["Inner", "Outer"])
        _ = try graph.apply(outer)
        #expect(graph.kept.isEmpty)
    }

    @Test("a node that is moved to where it stands makes no revision and leaves the store as it is") func moves() throws
    {
        let graph = try Harness("nodes: [{ id: a }, { id: b }, { id: c, kind: container, children: [{ id: d }] }]")
        let revision = graph.runtime.revision
        let same: [(String, String?, Int?)] = [
            ("/a", nil, 0), ("/a", "/", 0), ("/c", nil, nil), ("/c", nil, 2), ("/c", "/", 9), ("/c/d", "/c", nil),
            ("/b", nil, 1),
        ]
        for (path, to, index) in same {
            try graph.succeed(.move(path: path, to: to, index: index, .init()))
            #expect(graph.runtime.revision == revision && graph.kept.isEmpty, "\(path) \(String(describing: index))")
        }
        try graph.succeed(.move(path: "/a", to: nil, index: 1, .init()))
        #expect(graph.runtime.revision == revision + 1 && graph.kept.count == 1)
        #expect(
            refusal { try graph.succeed(.move(path: "/a", to: "/a", index: nil, .init())) }?.code == .conflict)
    }
}
