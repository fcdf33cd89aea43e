import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Written types")
struct HoldingTests {
    private static let scene = """
        keys:
          environment: { fontScale: 1.0, tint: { default: red, type: color }, pin: { rotation: 0.0, size: 1 } }
          container: { width: 1.0 }
          preference: { height: { default: 1.0, reduce: "value + next" } }
        components:
          Gauge: { let: { share: { type: double } }, computed: { percent: share * 100.0 } }
          Knob: { binding: { level: { type: double } }, computed: { twice: level * 2.0 } }
        nodes:
          - id: root
            kind: container
            state: { steps: 2, raw: { load: 5, name: text, shade: blue }, any: { initial: 3, type: dyn } }
            computed: { widths: "subviews.map(s, s.containerValues.width * 2.0)", height: preferences.height / 2.0 }
            children:
              - { id: ruled, environment: { fontScale: =steps }, containerValues: { width: =steps }, preferences: { height: =steps }, children: [{ id: v, computed: { size: env.fontScale * 12.0 } }] }
              - { id: named, environment: { fontScale: $steps, tint: $raw.shade, pin.rotation: $raw.load }, containerValues: { width: $raw.load }, preferences: { height: $steps }, children: [{ id: v, computed: { size: env.fontScale * 12.0, shade: type(env.tint) == color, turned: env.pin.rotation / 2.0 } }] }
              - { id: wrong, environment: { fontScale: $raw.name }, children: [{ id: v, computed: { size: env.fontScale * 12.0 } }] }
              - { id: changed, transformEnvironment: { fontScale: "dyn(3)" }, children: [{ id: v, computed: { size: env.fontScale * 12.0 } }] }
              - { id: gauge, component: Gauge, let: { share: $steps } }
              - { id: sick, component: Gauge, let: { share: $raw.name } }
              - { id: ill, component: Gauge, let: { share: =raw.name } }
              - { id: knob, component: Knob, binding: { level: $raw.load } }
              - { id: loose, component: Knob, binding: { level: $any } }
        """

    @Test("an int widens wherever a double is written, by reference as by rule") func widening() throws {
        let graph = try Harness(HoldingTests.scene)
        for (path, value) in [
            ("/root/ruled/v.size", 24.0), ("/root/named/v.size", 24.0), ("/root/changed/v.size", 36.0),
            ("/root/named/v.turned", 2.5),
            ("/root/gauge.share", 2.0), ("/root/gauge.percent", 200.0), ("/root/knob.level", 5.0),
            ("/root/knob.twice", 10.0),
            ("/root.height", 2.0),
        ] { #expect(try graph.value(path) == .double(value), "\(path)") }
        #expect(try graph.value("/root/named/v.shade") == true)
        #expect(try graph.value("/root.widths").list?.array.prefix(2) == [4.0, 10.0])
        try graph.set("/root.steps", 3)
        #expect(try graph.value("/root/named/v.size") == 36.0)
        #expect(try graph.value("/root/gauge.percent") == 300.0)
    }

    @Test("a wrong type is refused with both types named, where it is written") func refusals() throws {
        let graph = try Harness(HoldingTests.scene)
        for path in ["/root/sick.share", "/root/sick.percent", "/root/ill.share", "/root/wrong/v.size"] {
            let failure = #expect(throws: Failure.self) { try graph.value(path) }
            #expect(failure?.code == .typeMismatch, "\(path)")
            #expect(failure?.message.hasSuffix("takes double, not string") == true, "\(failure?.message ?? "")")
        }
        try graph.set("/root.raw", ["load": 1, "name": 7, "shade": "nocolor"])
        #expect(try graph.value("/root/sick.percent") == 700.0)
        #expect(throws: Failure.self) { try graph.value("/root/named/v.shade") }
    }

    @Test("a write through a typed binding is checked against its type and reaches the state") func bindings() throws {
        let graph = try Harness(HoldingTests.scene)
        let failure = refusal { try graph.set("/root/knob.level", "text") }
        #expect(failure?.code == .typeMismatch)
        #expect(failure?.message == "/root/knob.level takes double, not string")
        #expect(try graph.value("/root.raw.load") == 5)
        try graph.set("/root/knob.level", 7)
        #expect(try graph.value("/root.raw.load") == 7.0)
        try graph.set("/root/loose.level", 2.5)
        #expect(try graph.value("/root.any") == 2.5)
        #expect(try graph.value("/root/loose.twice") == 5.0)
        // Whoever writes the state itself is not bound.
        try graph.set("/root.any", "text")
        #expect(throws: Failure.self) { try graph.value("/root/loose.twice") }
    }

    @Test("a binding that holds no value reads its state directly: a change of another part runs nothing")
    func precision() throws {
        let graph = try Harness(
            """
            components: { Part: { let: { whole: { type: map } }, computed: { title: whole.title } } }
            nodes:
              - id: a
                state: { episode: { title: A, rating: 1 } }
                children: [{ id: p, component: Part, let: { whole: $episode } }]
            """)
        try graph.subscribe(["/a/p.title"], initial: true)
        _ = graph.runs()
        try graph.set("/a.episode.rating", 2)
        #expect(graph.runs() == [])
        try graph.set("/a.episode.title", "B")
        #expect(graph.runs() == ["/a/p.title"])
    }

    // MARK: Objects

    private static let objects = """
        types:
          Author: { state: { name: unknown, born: 0 }, computed: { label: "name + '!'" } }
          Article: { state: { title: "", author: { type: Author, initial: { name: Default } }, pages: 1.0 } }
        keys: { environment: { by: { type: Author, default: { name: Key } } } }
        nodes:
          - id: n
            state:
              art: { type: Article, initial: { title: T, author: { born: 1815 }, pages: 3 } }
              who: { type: "Author?" }
              first: { type: "Author?", initial: { name: Eve } }
              all: { type: list(Author), initial: [{ name: A }] }
              tint: { type: color, initial: red }
              at: { type: timestamp, initial: "2026-01-01T00:00:00Z" }
              few: { type: list(int), initial: [1, 2] }
              raw: { type: bytes, initial: !!binary aGk= }
            children: [{ id: reader, kind: view, inherit: [by], computed: { name: by.name, label: by.label } }]
        """

    @Test("an object inside an object begins as its state says, over what its type says") func nested() throws {
        let graph = try Harness(HoldingTests.objects)
        #expect(try graph.value("/n.art.author.name") == "Default")
        #expect(try graph.value("/n.art.author.born") == 1815)
        #expect(try graph.value("/n.art.author.label") == "Default!")
        #expect(try graph.value("/n.art.pages") == 3.0)
    }

    @Test("an object that may be null is written as a map and completed with what its type says") func optional() throws
    {
        let graph = try Harness(HoldingTests.objects)
        #expect(try graph.value("/n.who") == .null)
        try graph.set("/n.who", ["name": "Ada"])
        #expect(try graph.value("/n.who") == ["name": "Ada", "born": 0])
        try graph.set("/n.who.born", 1815)
        #expect(try graph.value("/n.who.born") == 1815)
        #expect(try graph.value("/n.first") == ["name": "Eve", "born": 0])
        #expect(try graph.value("/n.all") == [["name": "A", "born": 0]])
        try graph.set("/n.who", .null)
        let unknown = refusal { try graph.set("/n.who", ["nam": "Ada"]) }
        #expect(unknown?.code == .notFound)
        #expect(unknown?.message == "Author stores no property nam")
        #expect(unknown?.hint == "did you mean 'name'?")
        #expect(refusal { try graph.set("/n.who", ["name": 7]) }?.message == "/n.who.name takes string, not int")
        #expect(try graph.value("/n.who") == .null)
    }

    @Test("the default of a key of an object type is an object") func defaultObject() throws {
        let graph = try Harness(HoldingTests.objects)
        #expect(try graph.value("/n/reader.name") == "Key")
        #expect(try graph.value("/n/reader.label") == "Key!")
        try graph.set("/n/reader.by.name", "New")
        #expect(try graph.value("/n/reader.label") == "New!")
        _ = try graph.apply("keys: { environment: { by: { type: Author, default: { name: Again } } } }")
        #expect(try graph.value("/n/reader.label") == "Again!")
    }

    @Test("a type's property may begin with a list or map of objects of a type that stands beside it")
    func listsInTypes() throws {
        func scene(_ book: String) -> String {
            """
            types:
              Library: { state: { books: { type: list(Book), initial: [{ title: One }, \(book)] }, best: { type: "map(string, Book)", initial: { a: {} } } } }
              Book: { state: { title: Sample, isAvailable: true } }
            nodes: [{ id: n, state: { library: { type: Library } } }]
            """
        }
        let graph = try Harness(scene("{}"))
        let sample: Value = ["title": "Sample", "isAvailable": true]
        #expect(try graph.value("/n.library.books") == [["title": "One", "isAvailable": true], sample])
        #expect(try graph.value("/n.library.best.a") == sample)
        let refused = refusal { try Harness(scene("{ titel: Two }")) }
        #expect(refused?.code == .typeMismatch, "\(refused?.message ?? "")")
        #expect(refusal { try Harness(scene("5")) }?.code == .typeMismatch)
    }

    @Test("defaults of keys are completed, in lists, too, and when they are declared again") func completeDefaults()
        throws
    {
        let keys = """
            keys:
              environment: { by: { type: "Author?", default: { name: N } }, all: { type: list(Author), default: [{ name: N }] } }
              container: { by: { type: "Author?", default: { name: N } } }
              preference: { by: { type: "Author?", default: { name: N } } }
            """
        let graph = try Harness(
            """
            types: { Author: { state: { name: unknown, born: 0 } } }
            \(keys)
            nodes:
              - { id: n, computed: { values: "[env.by, env.all[0], subviews[0].containerValues.by, preferences.by]" }, children: [{ id: v, kind: view }] }
            """)
        #expect(try graph.value("/n.values").list?.array == Array(repeating: ["name": "N", "born": 0], count: 4))
        _ = try graph.apply(keys.replacing("name: N", with: "born: 7"))
        #expect(try graph.value("/n.values").list?.array == Array(repeating: ["name": "unknown", "born": 7], count: 4))
        let wrong = refusal { try graph.apply(keys.replacing("[{ name: N }]", with: "[{ nam: N }]")) }
        #expect(wrong?.code == .typeMismatch)
        #expect(wrong?.message.contains("the default is a list, not a list(Author)") == true, "\(wrong?.message ?? "")")
    }

    @Test(
        "a test holds where the value is what a set would write, or equal as rules see it",
        arguments: [
            ("/n.pages", "3", true), ("/n.pages", "3.0", true), ("/n.pages", "4", false), ("/n.any", "1", true),
            ("/n.any", "1.5", false),
            ("/n.map", #"{"x":1,"l":[1,2]}"#, true), ("/n.map.x", "1", true), ("/n.map", #"{"x":1}"#, false),
            ("/n.who", #"{"name":"Eve"}"#, true), ("/n.who", "{}", false), ("/n.who.name", #""Eve""#, true),
            ("/n.who", "null", false),
            ("/n.all", #"[{"name":"A"}]"#, true), ("/n.all[0]", #"{"name":"A"}"#, true),
            ("/n.all[0]", #"{"name":"B"}"#, false),
            ("/n.real", #"{"name":"Real"}"#, true), ("/n.real", #"{"name":"Real","born":0,"label":"Real!"}"#, true),
            ("/n.real", "{}", false),
            ("/n.tint", #""rgb(255 0 0)""#, true), ("/n.tints[0]", #""rgb(255 0 0)""#, true),
            ("/n.tint", #""rgb(255 0 1)""#, false), ("/n.text", "1", false),
        ])
    func tests(path: String, json: String, holds: Bool) throws {
        let value = try JSONParser.parseOnce(json.utf8)
        let graph = try Harness(
            """
            types: { Author: { state: { name: unknown, born: 0 }, computed: { label: "name + '!'" } } }
            nodes:
              - id: n
                state:
                  pages: 3.0
                  any: { type: dyn, initial: 1.0 }
                  map: { x: 1.0, l: [1, 2.0] }
                  who: { type: "Author?", initial: { name: Eve } }
                  all: { type: list(Author), initial: [{ name: A }] }
                  real: { type: Author, initial: { name: Real } }
                  tint: { type: color, initial: red }
                  tints: { type: list(color), initial: [red] }
                  text: "1"
            """)
        let failure = refusal { try graph.transact([Mutation(operation: .test, path: path, value: value)]) }
        #expect(failure?.code == (holds ? nil : .conflict), "\(failure?.message ?? "it held")")
    }

    @Test(
        "messages name types as they are written",
        arguments: [
            ("/n.at", .add, "1", "add cannot add int to timestamp"),
            ("/n.long", .toggle, "0", "toggle needs a bool at /n.long, not duration"),
            ("/n.none", .append, "1", "append needs a list (or a string and a string) at /n.none, not null"),
            ("/n.long.part", .set, "1", "a value of type duration has no .part"),
        ] as [(String, Mutation.Operation, String, String)])
    func typeNames(path: String, operation: Mutation.Operation, json: String, message: String) throws {
        let value = try JSONParser.parseOnce(json.utf8)
        let graph = try Harness(
            """
            nodes: [{ id: n, state: { at: { type: timestamp, initial: "2026-01-01T00:00:00Z" }, long: { type: duration, initial: 1s }, none: null } }]
            """)
        #expect(
            refusal { try graph.transact([Mutation(operation: operation, path: path, value: value)]) }?.message
                == message)
    }

    // MARK: References to objects

    private static let references = """
        types:
          Author: { state: { name: unknown, born: 0 }, computed: { label: "name + '!'" } }
          Book: { state: { title: "" } }
        keys: { environment: { by: { type: Author, default: { name: Key } } } }
        components:
          Card: { let: { author: { type: Author } }, computed: { name: author.name } }
          Edit: { binding: { author: { type: Author } }, computed: { name: author.name } }
          Maybe: { let: { author: { type: "Author?" } }, computed: { label: "author == null ? 'none' : author.label" } }
        nodes:
          - id: n
            state:
              who: { type: "Author?", initial: { name: Eve } }
              real: { type: Author, initial: { name: Real } }
              book: { type: Book }
              any: { type: dyn, initial: { name: Any } }
              on: true
            children:
              - id: at
                kind: container
                let: { whose: $any, which: $book }
                inherit: { near: "Author?" }
                children:
                  - { id: card, component: Card, let: { author: $who } }
                  - { id: given, component: Card, let: { author: $real } }
                  - { id: ruled, component: Card, let: { author: "=dyn(real)" } }
                  - { id: chosen, component: Maybe, let: { author: "=on ? dyn(real) : null" } }
                  - { id: loose, component: Card, let: { author: $whose } }
                  - { id: near, component: Card, let: { author: $near } }
                  - { id: wrong, component: Card, let: { author: "=dyn(which)" } }
                  - { id: edit, component: Edit, binding: { author: $who } }
                  - { id: open, component: Edit, binding: { author: $any } }
                  - { id: env, environment: { by: $who }, children: [{ id: v, computed: { name: env.by.name } }] }
        """

    @Test("a reference of an object type holds one: null and other objects are refused where they are read")
    func referredObjects() throws {
        let graph = try Harness(HoldingTests.references)
        for (path, value) in [
            ("card.name", "Eve"), ("given.name", "Real"), ("ruled.name", "Real"), ("chosen.label", "Real!"),
            ("loose.name", "Any"),
            ("edit.name", "Eve"), ("open.name", "Any"), ("env/v.name", "Eve"),
        ] { #expect(try graph.value("/n/at/" + path) == .string(value), "\(path)") }
        #expect(try graph.value("/n/at/loose.author") == ["name": "Any", "born": 0])
        try graph.set("/n.who", .null)
        for path in ["card", "edit", "near", "env/v"] {
            let failure = #expect(throws: Failure.self) { try graph.value("/n/at/\(path).name") }
            #expect(failure?.code == .typeMismatch, "\(path)")
            #expect(failure?.message.hasSuffix("takes Author, not null") == true, "\(failure?.message ?? "")")
        }
        let wrong = #expect(throws: Failure.self) { try graph.value("/n/at/wrong.name") }
        #expect(wrong?.code == .typeMismatch)
        try graph.set("/n.any", ["name": "A", "size": 1])
        #expect(throws: Failure.self) { try graph.value("/n/at/open.name") }
    }

    @Test("a write through a binding of an object type is checked against that type") func boundObjects() throws {
        let graph = try Harness(HoldingTests.references)
        #expect(
            refusal { try graph.set("/n/at/edit.author", .null) }?.message == "/n/at/edit.author takes Author, not null"
        )
        try graph.set("/n/at/edit.author", ["name": "Ada"])
        #expect(try graph.value("/n.who") == ["name": "Ada", "born": 0])
        #expect(refusal { try graph.set("/n/at/open.author", ["size": 1]) }?.code == .notFound)
        try graph.set("/n/at/open.author", ["name": "Bo"])
        #expect(try graph.value("/n.any") == ["name": "Bo", "born": 0])
        // Whoever writes the state itself is not bound.
        try graph.set("/n.who", .null)
        #expect(try graph.value("/n.who") == .null)
    }

    @Test("a reference to an object that comes leads to the object itself") func comingObject() throws {
        let graph = try Harness(HoldingTests.references)
        #expect(throws: Failure.self) { try graph.value("/n/at/near.name") }
        _ = try graph.apply("nodes: [{ id: n, environment: { objects: [$real] } }]")
        #expect(try graph.value("/n/at/near.name") == "Real")
        try graph.set("/n/at/near.author.name", "New")
        #expect(try graph.value("/n.real.label") == "New!")
        #expect(try graph.value("/n/at/near.author.label") == "New!")
    }

    @Test(
        "a refused write names the part that is wrong, and what it takes",
        arguments: [
            ("/n.few", #"["1"]"#, .typeMismatch, "/n.few[0] takes int, not string", "write a value of type int"),
            ("/n.few[1]", #""x""#, .typeMismatch, "/n.few[1] takes int, not string", "write a value of type int"),
            ("/n.few", "null", .typeMismatch, "/n.few takes list(int), not null", "write a value of type list(int)"),
            (
                "/n.tint", #""nocolor""#, .typeMismatch, "/n.tint takes color, not the text 'nocolor'",
                "a color is a CSS color, as red, #rrggbb or rgb(255 0 0)"
            ),
            (
                "/n.at", #""soon""#, .typeMismatch, "/n.at takes timestamp, not the text 'soon'",
                "a timestamp is written as 2026-01-31T12:00:00Z"
            ),
            (
                "/n.raw", #""aGk=""#, .typeMismatch, "/n.raw takes bytes, not the text 'aGk='",
                #"bytes are written as typed JSON, as {"bytes":"aGk="}"#
            ),
            (
                "/n.art.pages", #""NaN""#, .typeMismatch, "/n.art.pages takes double, not the text 'NaN'",
                #"NaN and the infinities are written as typed JSON, as {"double":"NaN"}"#
            ),
            ("/n.art.nope", "1", .notFound, "Article has no property nope", nil),
            ("/n.art.titel", "1", .notFound, "Article has no property titel", "did you mean 'title'?"),
            (
                "/n.art", #"{"author":{"born":"x"}}"#, .typeMismatch, "/n.art.author.born takes int, not string",
                "write a value of type int"
            ),
        ] as [(String, String, ErrorCode, String, String?)])
    func misfits(path: String, json: String, code: ErrorCode, message: String, hint: String?) throws {
        let value = try JSONParser.parseOnce(json.utf8)
        let graph = try Harness(HoldingTests.objects)
        let failure = refusal { try graph.set(path, value) }
        #expect(failure?.code == code)
        #expect(failure?.message == message)
        #expect(failure?.hint == hint)
    }

    @Test("the first of many paths to nothing are reported with a near name") func missing() throws {
        let graph = try Harness(HoldingTests.objects)
        let paths = (0..<20).map { "/n.few\($0)" }
        let contents = try graph.contents(paths)
        #expect(paths.map { contents[$0]?.failure?.hint != nil } == (0..<20).map { $0 < 10 })
    }
}
