import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Bindings and lets")
struct BindingTests {
    static let levels = """
        components:
          Level3: { binding: [value], computed: { shown: value } }
          Level2: { kind: container, binding: [value], children: [{ id: c, component: Level3, binding: { value: $value } }] }
          Level1: { kind: container, binding: [value], children: [{ id: b, component: Level2, binding: { value: $value } }] }
        nodes:
          - id: app
            state:
              items: [{ id: x, tags: { color: red, size: 1 } }, { id: y, tags: { color: blue, size: 2 } }]
              settings: { audio: { volume: 5 } }
            children:
              - { id: byIndex, component: Level1, binding: { value: "$items[0].tags.color" } }
              - { id: byID, component: Level1, binding: { value: '$items[id="y"].tags.color' } }
              - { id: inMap, component: Level1, binding: { value: $settings.audio.volume } }
        """

    @Test("a binding through three levels reads and writes a map entry, a list element by index and by id")
    func places() throws {
        let graph = try Harness(BindingTests.levels)
        try graph.subscribe(["/app/*/b/c.shown"], initial: true)
        #expect(
            graph.changes == [
                "/app/byIndex/b/c.shown": .value("red"), "/app/byID/b/c.shown": .value("blue"),
                "/app/inMap/b/c.shown": .value(5),
            ])
        _ = graph.runs()
        try graph.set("/app/inMap/b/c.value", 6)
        #expect(graph.runs() == ["/app/inMap/b/c.shown"])
        #expect(try graph.value("/app.settings") == ["audio": ["volume": 6]])
        try graph.set("/app/byID/b/c.value", "green")
        #expect(graph.runs() == ["/app/byID/b/c.shown"])
        #expect(try graph.value("/app.items[1].tags.color") == "green")
        #expect(try graph.value("/app.items[1].tags.size") == 2)
        try graph.set("/app/byIndex/b/c.value", "black")
        #expect(graph.runs() == ["/app/byIndex/b/c.shown"])
        // A place by index stays where it is, one by id goes with its element.
        try graph.set(
            "/app.items", [["id": "y", "tags": ["color": "white"]], ["id": "x", "tags": ["color": "grey"]]])
        #expect(try graph.value("/app/byIndex/b/c.shown") == "white")
        #expect(try graph.value("/app/byID/b/c.shown") == "white")
    }

    @Test("a binding whose element goes is an error for readers and writers, and heals when it returns") func dangling()
        throws
    {
        let graph = try Harness(BindingTests.levels)
        try graph.subscribe(["/app/byID/b/c.shown"], initial: true)
        try graph.transact([Mutation(operation: .remove, path: "/app.items[id=\"y\"]")])
        #expect(graph.changes["/app/byID/b/c.shown"]?.failure?.code == .notFound)
        #expect(graph.changes["/app/byID/b/c.shown"]?.failure?.message.contains("\"y\"") == true)
        let before = try graph.value("/app.items")
        let refused = refusal { try graph.set("/app/byID/b/c.value", "x") }
        #expect(refused?.code == .notFound && refused?.path == "/app/byID/b/c.value")
        #expect(try graph.value("/app.items") == before)
        try graph.transact([
            Mutation(operation: .append, path: "/app.items", value: ["id": "y", "tags": ["color": "pink"]])
        ])
        #expect(graph.changes == ["/app/byID/b/c.shown": .value("pink")])
    }

    @Test("a binding whose state goes is an error that names it, and heals when the state returns") func danglingState()
        throws
    {
        let graph = try Harness(
            """
            nodes:
              - id: a
                state: { v: 1 }
                children: [{ id: c, kind: view, binding: { b: $v }, computed: { t: b + 1 } }]
              - { id: b, kind: container }
            """)
        try graph.subscribe(["/a/c.t"], initial: true)
        try graph.succeed(.move(path: "/a/c", to: "/b", index: nil, .init()))
        let failure = try graph.get("/b/c.t").failure
        #expect(failure?.code == .dangling && failure?.message.contains("$v") == true)
        #expect(refusal { try graph.set("/b/c.b", 2) }?.code == .dangling)
        try graph.succeed(.move(path: "/b/c", to: "/a", index: nil, .init()))
        #expect(try graph.value("/a/c.t") == 2)
        try graph.set("/a/c.b", 5)
        #expect(try graph.value("/a.v") == 5)
    }

    @Test("a let of any way of writing is read-only, and the refusal names its source") func lets() throws {
        let graph = try Harness(
            """
            nodes:
              - id: p
                state: { n: 1 }
                children:
                  - { id: c, kind: view, let: { direct: $n, made: =n * 2, fixed: 7 }, computed: { sum: direct + made + fixed } }
            """)
        try graph.subscribe(["/p/c.sum"], initial: true)
        #expect(graph.changes == ["/p/c.sum": .value(10)])
        try graph.set("/p.n", 2)
        #expect(graph.changes == ["/p/c.sum": .value(13)])
        #expect(refusal { try graph.set("/p/c.direct", 3) }?.hint?.contains("/p.n") == true)
        #expect(refusal { try graph.set("/p/c.made", 3) }?.hint?.contains("n * 2") == true)
        for name in ["direct", "made", "fixed"] {
            #expect(refusal { try graph.set("/p/c.\(name)", 3) }?.code == .readOnly)
        }
        #expect(try graph.value("/p.n") == 2)
    }

    @Test("a constant binding reads as its value in every level below and refuses writes in each") func constant()
        throws
    {
        let graph = try Harness(
            """
            components:
              Inner: { binding: [isOn], computed: { text: 'isOn ? "on" : "off"' } }
              Outer: { kind: container, binding: [isOn], children: [{ id: inner, component: Inner, binding: { isOn: $isOn } }] }
            nodes: [{ id: preview, component: Outer, binding: { isOn: true } }]
            """)
        #expect(try graph.value("/preview/inner.text") == "on")
        for path in ["/preview.isOn", "/preview/inner.isOn"] {
            #expect(refusal { try graph.set(path, false) }?.code == .readOnly)
        }
    }

    @Test("a write through a binding moves with the binding's animation, of several the outermost's") func animation()
        throws
    {
        let graph = try Harness(
            """
            nodes:
              - id: g
                state: { v: 0.0 }
                children:
                  - id: m
                    binding: { inner: { to: $v, animation: "linear(duration: 2)" } }
                    children:
                      - { id: plain, kind: view, binding: { b: $inner } }
                      - { id: own, kind: view, binding: { b: { to: $inner, animation: "linear(duration: 3)" } } }
            """)
        try graph.subscribe(["/g.v"], initial: true)
        func settle() -> Double? { graph.told.first?.timeline?["settle"]?.number }
        try graph.set("/g/m/plain.b", 1)
        #expect(settle() == 2)
        graph.advance(10)
        try graph.set("/g/m/own.b", 2)
        #expect(settle() == 3)
        graph.advance(10)
        try graph.set("/g.v", 3)
        #expect(settle() == nil)
    }

    @Test("a wrong type of target is refused when it is defined, with both types and both places") func types() throws {
        let failure = refusal {
            try Harness(
                """
                components: { Toggle: { binding: { isOn: { type: bool } } } }
                nodes: [{ id: a, state: { n: 1 }, children: [{ id: t, component: Toggle, binding: { isOn: $n } }] }]
                """)
        }
        #expect(failure?.message.contains("'isOn' of Toggle is a bool, but is bound to an int") == true)
        #expect(failure?.message.contains("declared here") == true)
    }

    @Test("state lives and dies with its node") func lifetime() throws {
        let graph = try Harness("nodes:\n  - id: box\n    children: [{ id: a, kind: view, state: { n: 1 } }]")
        try graph.set("/box/a.n", 5)
        try graph.succeed(.remove(path: "/box/a", .init()))
        #expect(refusal { try graph.get("/box/a.n") }?.code == .notFound)
        _ = try graph.apply("nodes: [{ id: a, kind: view, state: { n: 1 } }]", at: "/box")
        #expect(try graph.value("/box/a.n") == 1)
    }
}

@Suite("Observable objects")
struct ObjectTests {
    static let types = """
        types:
          Book: { state: { title: "", isAvailable: true }, computed: { label: 'title + (isAvailable ? "" : " (out)")' } }
          Library:
            state: { books: [{ id: x, isAvailable: true }, { id: y, isAvailable: true }], name: City, featured: { type: Book, initial: { title: One } } }
            computed: { available: "books.filter(b, b.isAvailable).size()", headline: 'name + ": " + featured.label' }

        """

    /// A graph with these types and a node `app`.
    private func graph(_ app: String) throws -> Harness {
        try Harness(
            applied: ObjectTests.types + "nodes:\n  - id: app\n"
                + app.split(separator: "\n").map { "    \($0)\n" }.joined())
    }

    @Test("readers depend on single properties, through $object.property bindings too") func properties() throws {
        let graph = try graph(
            """
            state: { library: { type: Library } }
            environment: { objects: [$library] }
            computed: { count: library.available }
            children:
              - id: view
                inherit: { library: Library }
                computed: { name: library.name, head: library.headline }
                children:
                  - { id: field, kind: view, binding: { name: $library.name, out: '$library.books[id="y"].isAvailable' } }
            """)
        try graph.subscribe(["/app.count", "/app/view.name", "/app/view.head"], initial: true)
        #expect(
            graph.changes == [
                "/app.count": .value(2), "/app/view.name": .value("City"), "/app/view.head": .value("City: One"),
            ])
        _ = graph.runs()
        try graph.set("/app/view/field.name", "Town")
        #expect(graph.runs().sorted() == ["/app.library.headline", "/app/view.head", "/app/view.name"])
        try graph.set("/app/view/field.out", false)
        #expect(graph.runs() == ["/app.library.available", "/app.count"])
        #expect(try graph.value("/app.count") == 1)
        try graph.set("/app.library.featured.isAvailable", false)
        #expect(graph.runs() == ["/app.library.featured.label", "/app.library.headline", "/app/view.head"])
        #expect(graph.changes == ["/app/view.head": .value("Town: One (out)")])
    }

    @Test("the nearest object of a type wins, and nodes that move or come see another one live") func nearest() throws {
        let graph = try graph(
            """
            state: { outer: { type: Library, initial: { name: Outer } } }
            environment: { objects: [$outer] }
            children:
              - id: wing
                state: { inner: { type: Library, initial: { name: Inner } } }
                environment: { objects: [$inner] }
                children: [{ id: reader, kind: view, inherit: { library: Library }, computed: { name: library.name } }]
              - { id: hall, kind: container }
            """)
        try graph.subscribe(["/app/wing/reader.name"], initial: true)
        #expect(graph.changes == ["/app/wing/reader.name": .value("Inner")])
        _ = graph.runs()
        try graph.set("/app.outer.name", "Other")
        #expect(graph.runs() == [])
        // The override goes: the next one above holds.
        _ = try graph.apply(
            "nodes: [{ id: wing, state: { inner: { type: Library } }, children: [{ id: reader, kind: view, inherit: { library: Library }, computed: { name: library.name } }] }, { id: hall, kind: container }]",
            at: "/app", mode: .replace)
        #expect(graph.changes == ["/app/wing/reader.name": .value("Other")])
        _ = try graph.apply("nodes: [{ id: wing, environment: { objects: [$inner] } }]", at: "/app")
        #expect(graph.changes == ["/app/wing/reader.name": .value("Inner")])
        try graph.succeed(.move(path: "/app/wing/reader", to: "/app/hall", index: nil, .init()))
        #expect(try graph.value("/app/hall/reader.name") == "Other")
    }

    @Test("a required object that is absent is an error naming type and path, an optional one null; both follow")
    func absent() throws {
        let graph = try graph(
            """
            state: { library: { type: Library } }
            children:
              - { id: required, kind: view, inherit: { library: Library }, computed: { name: library.name } }
              - { id: optional, kind: view, inherit: { library: "Library?" }, computed: { has: library != null } }
            """)
        try graph.subscribe(["/app/required.name", "/app/optional.has"], initial: true)
        let failure = try #require(graph.changes["/app/required.name"]?.failure)
        #expect(
            failure.code == .notFound && failure.message.contains("Library")
                && failure.message.contains("/app/required"))
        #expect(graph.changes["/app/optional.has"] == .value(false))
        _ = try graph.apply("nodes: [{ id: app, environment: { objects: [$library] } }]")
        #expect(graph.changes == ["/app/required.name": .value("City"), "/app/optional.has": .value(true)])
        _ = try graph.apply(
            "nodes: [{ id: app, state: { library: { type: Library } }, children: [{ id: required, kind: view, inherit: { library: Library }, computed: { name: library.name } }, { id: optional, kind: view, inherit: { library: 'Library?' }, computed: { has: library != null } }] }]",
            mode: .replace)
        #expect(graph.changes["/app/required.name"]?.failure?.code == .notFound)
        #expect(graph.changes["/app/optional.has"] == .value(false))
    }

    @Test("an object under a key path has a default, and its readers depend on single properties") func keyPath() throws
    {
        let graph = try Harness(
            ObjectTests.types + """
                keys: { environment: { shelf: { default: null, type: "Library?" } } }
                nodes:
                  - { id: outside, kind: view, inherit: [shelf], computed: { name: 'shelf == null ? "none" : shelf.name' } }
                  - id: app
                    state: { library: { type: Library } }
                    environment: { shelf: $library }
                    children:
                      - { id: view, kind: view, inherit: [shelf], computed: { name: shelf.name } }
                """)
        try graph.subscribe(["/outside.name", "/app/view.name"], initial: true)
        #expect(graph.changes == ["/outside.name": .value("none"), "/app/view.name": .value("City")])
        _ = graph.runs()
        try graph.set("/app.library.books", [])
        #expect(!graph.runs().contains("/app/view.name"))
        try graph.set("/app.library.name", "Town")
        #expect(graph.changes == ["/app/view.name": .value("Town")])
    }

    @Test("a whole object can be replaced in one write, and only readers of what differs run") func replaced() throws {
        let graph = try graph(
            """
            state: { book: { type: Book, initial: { title: A } } }
            computed: { title: book.title, free: book.isAvailable }
            """)
        try graph.subscribe(["/app.title", "/app.free"], initial: true)
        _ = graph.runs()
        try graph.set("/app.book", ["title": "B", "isAvailable": true])
        #expect(graph.runs() == ["/app.title"])
        #expect(graph.changes == ["/app.title": .value("B")])
        // What is not given begins as its type says.
        try graph.set("/app.book.isAvailable", false)
        try graph.set("/app.book", ["title": "C"])
        #expect(try graph.value("/app.free") == true)
        let before = try graph.value("/app.book")
        #expect(refusal { try graph.set("/app.book", ["titel": "D"]) }?.code == .notFound)
        #expect(refusal { try graph.set("/app.book", ["title": 4]) }?.code == .typeMismatch)
        #expect(refusal { try graph.set("/app.book", "D") }?.code == .typeMismatch)
        #expect(try graph.value("/app.book") == before)
        try graph.transact([Mutation(operation: .merge, path: "/app.book", value: ["isAvailable": false])])
        #expect(try graph.value("/app.book.label") == "C (out)")
    }

    @Test("an object's life is that of its node: what refers to it elsewhere goes with it or reads the next")
    func lifetime() throws {
        let graph = try graph(
            """
            state: { library: { type: Library } }
            environment: { objects: [$library] }
            children: [{ id: view, kind: view, inherit: { library: Library }, computed: { name: library.name } }]
            """)
        try graph.subscribe(["/app/view.name"], initial: true)
        let before = graph.runtime.graph.counters.liveAttributes
        try graph.succeed(.remove(path: "/app", .init()))
        #expect(graph.changes["/app/view.name"]?.failure?.code == .removed)
        #expect(graph.runtime.graph.counters.liveAttributes < before - 10)
    }

    @Test("objects in a list are instances of their own, bound property by property") func lists() throws {
        let graph = try graph(
            """
            state: { library: { type: Library } }
            children:
              - id: rows
                forEach: { in: $library.books, as: book, node: { kind: view, binding: { free: $book.isAvailable }, computed: { text: 'free ? "in" : "out"' } } }
            """)
        try graph.subscribe(["/app/rows/*.text"], initial: true)
        _ = graph.runs()
        try graph.set("/app/rows/y.free", false)
        #expect(graph.runs() == ["/app/rows/y.text"])
        #expect(try graph.value("/app.library.available") == 1)
    }
}
