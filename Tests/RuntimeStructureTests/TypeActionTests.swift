import AttributeValues
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Actions of types")
struct TypeActionTests {
    private static let scene = """
        types:
          Book:
            state: { id: "", title: "", pages: 0, read: 0, tags: { initial: [], type: list } }
            computed: { isRead: read >= pages }
            actions:
              turn:
                parameters: { by: { default: 1, type: int } }
                when: "!isRead"
                steps: [{ set: { $read: '=read + by' } }, { when: read + by >= pages, append: { $tags: =read } }]
              finish: [{ do: { $turn: { by: =pages - read } } }, { set: { $title: =title + '!' } }]
              sign: { append: { $tags: =caller.name } }
          Shelf:
            state: { book: { type: Book }, last: { type: "Book?" } }
            actions: { turn: { do: $book.turn } }
        nodes:
          - id: app
            kind: container
            state:
              books: { type: list(Book), initial: [{ id: a, title: A, pages: 3 }, { id: b, title: B, pages: 5 }] }
              shelf: { type: Shelf, initial: { book: { id: c, title: C, pages: 2 } } }
              chosen: b
            actions:
              turnFirst: { do: { '$books[0].turn': { by: 2 } } }
              turnChosen: { do: '$books[id=chosen].turn' }
              finishAll: { do: '/app/rows/*.book.finish' }
              turnLast: { do: $shelf.last.turn }
            children:
              - id: rows
                forEach: { in: $books, as: book, component: Row, binding: { book: $book } }
        components:
          Row: { binding: { book: { type: Book } }, actions: { next: { do: $book.turn } } }
        """

    private func call(_ path: String, _ graph: Harness, by count: Value? = nil) throws {
        var arguments = ValueMap()
        if let count { arguments["by"] = count }
        _ = try graph.succeed(.do(path: RequestPath(path), arguments: arguments, TransactionOptions()))
    }

    @Test("an action of a type is called on an element of a list, an object, and a property of an object")
    func paths() throws {
        let graph = try Harness(TypeActionTests.scene)
        try call("/app.books[0].turn", graph, by: 2)
        #expect(try graph.value("/app.books[0].read") == 2)
        #expect(try graph.value("/app.books[1].read") == 0)
        try call("/app.books[id=\"b\"].finish", graph)
        #expect(try graph.value("/app.books[1].read") == 5)
        #expect(try graph.value("/app.books[1].title") == "B!")
        #expect(try graph.value("/app.books[1].tags") == .list([.int(0)]))
        // It is read now, so its condition does not hold.
        try call("/app.books[1].turn", graph)
        #expect(try graph.value("/app.books[1].read") == 5)
        try call("/app.shelf.book.turn", graph)
        try call("/app.shelf.turn", graph)
        #expect(try graph.value("/app.shelf.book.read") == 2)
        #expect(try graph.value("/app.shelf.book.isRead") == true)
    }

    @Test("actions call it through references, rules, patterns, and what is handed down") func calls() throws {
        let graph = try Harness(TypeActionTests.scene)
        try call("/app.turnFirst", graph)
        #expect(try graph.value("/app.books[0].read") == 2)
        try call("/app.turnChosen", graph)
        try call("/app/rows/b.next", graph)
        #expect(try graph.value("/app.books[1].read") == 2)
        try call("/app.finishAll", graph)
        #expect(try graph.value("/app.books[0].title") == "A!")
        #expect(try graph.value("/app.books[1].title") == "B!")
    }

    @Test("a call on an object that is not there, or of what is no action, is refused") func refusals() throws {
        let graph = try Harness(TypeActionTests.scene)
        #expect(refusal { try call("/app.books[7].turn", graph) }?.code == .notFound)
        #expect(refusal { try call("/app.turnLast", graph) } != nil)
        #expect(refusal { try call("/app.books[0].turm", graph) }?.message.contains("no action") == true)
        #expect(refusal { try call("/app.books[0].title", graph) }?.message.contains("no action") == true)
        let failure = refusal { try call("/app.books[0].turn", graph, by: "x") }
        #expect(failure?.code == .typeMismatch)
        #expect(try graph.value("/app.books[0].read") == 0)
    }

    @Test("a type that is declared anew has other actions at once") func again() throws {
        let graph = try Harness("types: { T: { state: { n: 0 }, actions: { go: { add: { $n: 1 } } } } }")
        _ = try graph.apply("nodes: [{ id: a, state: { t: { type: T } }, actions: { go: { do: $t.go } } }]")
        try call("/a.go", graph)
        _ = try graph.apply("types: { T: { state: { n: 0 }, actions: { go: { add: { $n: 10 } } } } }")
        try call("/a.t.go", graph)
        #expect(try graph.value("/a.t.n") == 11)
        let next = try graph.restarted(
            "types: { T: { state: { n: 0 }, actions: { go: { add: { $n: 1 } } } } }", after: 1)
        try call("/a.t.go", next)
        #expect(try next.value("/a.t.n") == 21)
    }
}
