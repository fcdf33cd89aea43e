import AttributeValues
import Testing
@testable import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Objects that are values, as the elements of `list(Book)`: they have the computed properties of their type.
@Suite("Lists of objects")
struct ListsOfObjectsTests {
    private static let scene = """
        functions:
          isOld(year): year < 1950
        types:
          Book:
            state: { id: "", title: "", year: 2000, lent: 0 }
            computed: { isOld: isOld(year), label: 'title + (isOld ? " (old)" : "")', first: 'title.split(" ")' }
        components:
          Row:
            let: { book: { type: Book } }
            binding: [shown]
            computed: { text: book.label, isShown: shown.isOld }
            actions: { lend: { add: { $shown.lent: 1 } } }
        nodes:
          - id: lib
            kind: container
            state:
              books:
                type: list(Book)
                initial: [{ id: a, title: Emma, year: 1815 }, { id: b, title: Dune Two, year: 1965 }]
              best: { type: 'Book?', initial: { id: c, title: Best } }
            computed:
              old: books.filter(b, b.isOld).map(b, b.label)
              second: books[1].label
              word: books[1].first[1]
              bestLabel: "best == null ? '' : best.label"
            actions: { note: { set: { $best.title: '=books[0].label' } } }
            children:
              - id: rows
                forEach: { in: $books, as: book, component: Row, let: { book: $book }, binding: { shown: $book } }
        """

    @Test("rules read the computed properties of elements, by their functions of the stored ones") func rules() throws {
        let graph = try Harness(Self.scene)
        #expect(try graph.value("/lib.old") == ["Emma (old)"])
        #expect(try graph.value("/lib.second") == "Dune Two")
        #expect(try graph.value("/lib.word") == "Two")
        #expect(try graph.value("/lib.bestLabel") == "Best")
        #expect(try graph.value("/lib/rows/a.text") == "Emma (old)")
        #expect(try graph.value("/lib/rows/a.isShown") == true)
    }

    @Test("clients read and watch them by their paths") func paths() throws {
        let graph = try Harness(Self.scene)
        #expect(try graph.value("/lib.books[id=\"a\"].isOld") == true)
        try graph.subscribe(["/lib.books[1].label"], initial: true)
        #expect(graph.changes["/lib.books[1].label"] == .value("Dune Two"))
        try graph.set("/lib.books[1].year", 1900)
        #expect(graph.changes["/lib.books[1].label"] == .value("Dune Two (old)"))
        // The stored value has the stored properties alone.
        #expect(try graph.value("/lib.books[1]").map?["label"] == nil)
    }

    @Test("a rule runs only for the properties behind what it reads") func runs() throws {
        let graph = try Harness(Self.scene)
        try graph.subscribe(["/lib.second", "/lib/rows/a.isShown"], initial: true)
        _ = graph.runs()
        try graph.set("/lib.books[1].lent", 3)
        #expect(graph.runs().filter { $0.hasPrefix("/lib.second") || $0.hasPrefix("/lib/rows/a.is") } == [])
        try graph.set("/lib.books[1].title", "Dune")
        #expect(graph.changes["/lib.second"] == .value("Dune"))
        #expect(graph.runs().contains("/lib.second"))
    }

    @Test("an element keeps its identity by its id, is handed down and is written through a binding") func identity()
        throws
    {
        let graph = try Harness(Self.scene)
        try graph.subscribe(["/lib/rows/b.text"], initial: true)
        try graph.succeed(.do(path: RequestPath("/lib/rows/b.lend"), arguments: ValueMap(), TransactionOptions()))
        #expect(try graph.value("/lib.books[1].lent") == 1)
        try graph.set(
            "/lib.books",
            [["id": "b", "title": "Dune", "year": 1965, "lent": 1], ["id": "a", "title": "Emma", "year": 1815]])
        #expect(graph.changes["/lib/rows/b.text"] == .value("Dune"))
        #expect(try graph.value("/lib/rows/a.text") == "Emma (old)")
        #expect(try graph.value("/lib.second") == "Emma (old)")
    }

    @Test("actions read them too, and a type that is declared anew has its new rules") func anew() throws {
        let graph = try Harness(Self.scene)
        try graph.succeed(.do(path: RequestPath("/lib.note"), arguments: ValueMap(), TransactionOptions()))
        #expect(try graph.value("/lib.best").map?["title"] == "Emma (old)")
        try graph.subscribe(["/lib.second"], initial: true)
        _ = try graph.apply(
            "types: { Book: { state: { id: '', title: '', year: 2000, lent: 0 }, computed: { isOld: year < 1970, label: 'title + (isOld ? \"!\" : \"\")', first: 'title.split(\" \")' } } }"
        )
        #expect(graph.changes["/lib.second"] == .value("Dune Two!"))
    }

    @Test("vertices of properties that nobody reads any more are freed") func freed() throws {
        let graph = try Harness(Self.scene)
        _ = try graph.value("/lib.old")
        let before = graph.runtime.graph.derived.count
        let number = try graph.subscribe(["/lib.books[0].label", "/lib.books[0].isOld"], initial: true)
        #expect(graph.runtime.graph.derived.count > before)
        try graph.succeed(.unsubscribe(subscription: number))
        graph.settle()
        try graph.set("/lib.books[0].lent", 5)
        #expect(graph.runtime.graph.derived.count <= before)
    }

    @Test("properties that read each other in a circle are a fault where the type is declared") func circle() throws {
        #expect(throws: (any Error).self) {
            try Harness(
                """
                types: { T: { state: { n: 1 }, computed: { a: b + 1, b: a + 1 } } }
                nodes: [{ id: x, state: { l: { type: list(T), initial: [{}] } }, computed: { y: 'l.map(t, t.a)' } }]
                """)
        }
    }
}
