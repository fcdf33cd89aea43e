import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// References that a rule chooses, bindings with rules, and objects that may be null.
@Suite("Selections")
struct SelectionTests {
    private static let pair = """
        nodes:
          - id: top
            kind: container
            state:
              isLeft: true
              left: 1
              right: 2
              i: 0
              selected: b
              list: [10, 20]
              items: [{ id: a, title: A, tags: [x] }, { id: b, title: B, tags: [y] }]
            children:
              - id: one
                binding: { value: '=isLeft ? $left : $right' }
                computed: { twice: value * 2 }
              - { id: part, binding: { title: '$items[id=selected].title', first: '$items[id=selected].tags[0]' } }
              - { id: element, binding: { value: '$list[i]' } }
              - id: outer
                kind: container
                binding: { value: '=isLeft ? $left : $right' }
                children: [{ id: inner, binding: { value: $value } }]
        """

    @Test("a binding reads and writes the state that its rule chooses") func conditional() throws {
        let graph = try Harness(Self.pair)
        #expect(try graph.value("/top/one.value") == 1)
        try graph.set("/top/one.value", 5)
        #expect(try graph.value("/top.left") == 5)
        try graph.set("/top.isLeft", false)
        #expect(try graph.value("/top/one.twice") == 4)
        try graph.set("/top/outer/inner.value", 7)
        #expect(try graph.value("/top.right") == 7)
        #expect(try graph.value("/top.left") == 5)
        #expect(refusal { try graph.set("/top/one.value", "text") }?.code == .typeMismatch)
    }

    @Test("only a change of what is chosen, or of the choice, runs its readers") func runs() throws {
        let graph = try Harness(Self.pair)
        try graph.subscribe(["/top/one.twice", "/top/outer/inner.value"], initial: true)
        _ = graph.runs()
        try graph.set("/top.right", 9)
        #expect(graph.runs() == [])
        try graph.set("/top.isLeft", false)
        #expect(graph.changes["/top/one.twice"] == .value(18))
        #expect(graph.changes["/top/outer/inner.value"] == .value(9))
        _ = graph.runs()
        try graph.set("/top.left", 3)
        #expect(graph.runs() == [])
        try graph.set("/top.right", 10)
        #expect(graph.changes["/top/one.twice"] == .value(20))
    }

    @Test("the choice and what is written through it can stand in one transaction") func transaction() throws {
        let graph = try Harness(Self.pair)
        try graph.transact([
            Mutation(operation: .set, path: "/top.isLeft", value: false),
            Mutation(operation: .set, path: "/top/one.value", value: 8),
        ])
        #expect(try graph.value("/top.right") == 8)
        #expect(try graph.value("/top.left") == 1)
    }

    @Test("steps can be left to rules: an element by its id, or by its index") func steps() throws {
        let graph = try Harness(Self.pair)
        try graph.subscribe(["/top/part.*"], initial: true)
        #expect(graph.changes["/top/part.title"] == .value("B"))
        try graph.set("/top/part.title", "Bee")
        #expect(try graph.value("/top.items[1].title") == "Bee")
        try graph.set("/top.items[0].title", "Ah")
        #expect(graph.changes.isEmpty)
        try graph.set("/top.selected", "a")
        #expect(graph.changes == ["/top/part.title": .value("Ah"), "/top/part.first": .value("x")])
        try graph.set("/top/part.first", "z")
        #expect(try graph.value("/top.items[id=\"a\"].tags") == ["z"])
        try graph.set("/top.selected", "nobody")
        #expect(graph.changes["/top/part.title"]?.failure?.code == .notFound)
        #expect(refusal { try graph.set("/top/part.title", "x") }?.code == .notFound)
        try graph.set("/top.i", 1)
        try graph.set("/top/element.value", 21)
        #expect(try graph.value("/top.list") == [10, 21])
    }

    @Test("the instances of a filtered list bind to its elements") func filtered() throws {
        let graph = try Harness(
            """
            nodes:
              - id: top
                kind: container
                state: { items: [{ id: a, title: A, on: false }, { id: b, title: B, on: true }] }
                children:
                  - id: rows
                    forEach:
                      in: =items.filter(i, i.on)
                      node: { binding: { item: '$items[id=element.id]' } }
            """)
        try graph.set("/top/rows/b.item.title", "Bee")
        #expect(try graph.value("/top.items[1].title") == "Bee")
        try graph.set("/top/rows/b.item.on", false)
        #expect(refusal { try graph.value("/top/rows/b.item") }?.code == .notFound)
    }

    private static let books = """
        types:
          Book: { state: { title: Untitled, pages: 1 }, computed: { label: 'title + " " + string(pages)' } }
        nodes:
          - id: shelf
            kind: container
            state:
              isFirst: true
              a: { type: Book, initial: { title: A } }
              b: { type: Book, initial: { title: B } }
            children:
              - id: desk
                kind: container
                let: { book: '=isFirst ? $a : $b' }
                environment: { objects: [$book] }
                children:
                  - { id: title, binding: { text: $book.title } }
                  - { id: reader, inherit: { book: Book }, computed: { text: book.label, pages: book.pages } }
        """

    @Test("an object that a rule chooses is handed down, bound to and written through") func objects() throws {
        let graph = try Harness(Self.books)
        try graph.subscribe(["/shelf/desk/*.*"], initial: true)
        #expect(graph.changes["/shelf/desk/reader.text"] == .value("A 1"))
        try graph.set("/shelf.isFirst", false)
        #expect(graph.changes["/shelf/desk/reader.text"] == .value("B 1"))
        #expect(graph.changes["/shelf/desk/title.text"] == .value("B"))
        #expect(graph.changes["/shelf/desk/reader.pages"] == nil)
        try graph.set("/shelf/desk/title.text", "Bee")
        #expect(try graph.value("/shelf.b.title") == "Bee")
        try graph.set("/shelf/desk/reader.book.pages", 7)
        #expect(try graph.value("/shelf.b.pages") == 7)
        _ = graph.runs()
        try graph.set("/shelf.b.title", "Be")
        #expect(!graph.runs().contains("/shelf/desk/reader.pages"))
    }

    @Test("an object that may be null is handed down, set to null and back") func optional() throws {
        let graph = try Harness(
            """
            types:
              Profile: { state: { name: nobody, age: 1 } }
            nodes:
              - id: app
                kind: container
                state: { profile: { type: 'Profile?', initial: null } }
                environment: { objects: [$profile] }
                children:
                  - { id: maybe, inherit: { profile: 'Profile?' }, computed: { text: 'profile == null ? "none" : profile.name' } }
                  - { id: sure, inherit: { profile: Profile }, computed: { text: profile.name } }
                  - { id: field, binding: { name: $profile.name } }
            """)
        try graph.subscribe(["/app/*.text"], initial: true)
        #expect(graph.changes["/app/maybe.text"] == .value("none"))
        #expect(graph.changes["/app/sure.text"]?.failure?.code == .typeMismatch)
        try graph.set("/app.profile", ["name": "Ada"])
        #expect(graph.changes["/app/maybe.text"] == .value("Ada"))
        #expect(graph.changes["/app/sure.text"] == .value("Ada"))
        try graph.set("/app/field.name", "Bo")
        #expect(graph.changes["/app/maybe.text"] == .value("Bo"))
        try graph.set("/app/maybe.profile.name", "Cy")
        #expect(try graph.value("/app.profile.name") == "Cy")
        try graph.set("/app.profile.age", 2)
        #expect(graph.changes.isEmpty)
        try graph.set("/app.profile", .null)
        #expect(graph.changes["/app/maybe.text"] == .value("none"))
        #expect(refusal { try graph.set("/app/field.name", "x") } != nil)
    }

    @Test("a part of what is chosen is found again after its watchers have gone") func parts() throws {
        let graph = try Harness(Self.pair)
        for _ in 1...3 {
            let subscription = try graph.subscribe(["/top/part.first", "/top/one.value"], initial: true)
            try graph.succeed(.unsubscribe(subscription: subscription))
            #expect(try graph.value("/top/part.title") == "B")
        }
        let books = try Harness(Self.books)
        for _ in 1...3 {
            let subscription = try books.subscribe(["/shelf/desk.book.title"], initial: true)
            try books.set("/shelf.isFirst", false)
            #expect(books.changes["/shelf/desk.book.title"] == .value("B"))
            try books.succeed(.unsubscribe(subscription: subscription))
            try books.set("/shelf.isFirst", true)
        }
    }

    private static let degrees = """
        nodes:
          - id: oven
            kind: container
            state: { celsius: 100.0, writes: 0, mode: { unit: F, color: red } }
            children:
              - id: dial
                binding:
                  fahrenheit: { get: celsius * 1.8 + 32.0, set: { $celsius: '=(newValue - 32.0) / 1.8', $writes: =writes + 1 } }
                  mode: { get: mode, set: { $mode: =newValue } }
              - id: outer
                kind: container
                binding: { f: { get: celsius * 1.8 + 32.0, set: { $celsius: '=(newValue - 32.0) / 1.8' } } }
                children: [{ id: half, binding: { f: { get: f / 2.0, set: { $f: =newValue * 2.0 } } } }]
        """

    @Test("a binding with rules reads by one and writes by the others") func rules() throws {
        let graph = try Harness(Self.degrees)
        try graph.subscribe(["/oven/**"])
        #expect(try graph.value("/oven/dial.fahrenheit") == 212.0)
        try graph.set("/oven/dial.fahrenheit", 32.0)
        #expect(graph.changes["/oven.celsius"] == .value(0.0))
        #expect(graph.changes["/oven/dial.fahrenheit"] == .value(32.0))
        #expect(try graph.value("/oven.writes") == 1)
        try graph.succeed(
            .set(Mutation(operation: .add, path: "/oven/dial.fahrenheit", value: 18.0), TransactionOptions()))
        #expect(try graph.value("/oven.celsius") == 10.0)
        try graph.set("/oven/outer/half.f", 106.0)
        #expect(try graph.value("/oven.celsius") == 100.0)
        try graph.set("/oven/dial.mode.color", "blue")
        #expect(try graph.value("/oven.mode") == ["unit": "F", "color": "blue"])
        #expect(refusal { try graph.set("/oven/dial.fahrenheit", "hot") }?.code == .typeMismatch)
        #expect(try graph.value("/oven.celsius") == 100.0)
    }

    @Test("an export writes all of them as they were", arguments: [pair, books, degrees]) func export(_ scene: String)
        throws
    {
        let graph = try Harness(scene)
        let document = try graph.exported()
        let again = try Harness(document: document)
        #expect(try again.exported() == document)
        #expect(try again.restarted("", after: 1).exported() == document)
    }
}
