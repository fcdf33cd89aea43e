import AttributeValues
import Testing
import ViewGraph

@testable import GraphRuntime
@testable import RuntimeHarness

/// States that begin with what a rule gives.
@Suite("States that begin with rules")
struct BeginningTests {
    private static let editors = """
        components:
          Editor:
            kind: container
            binding: { title: { default: '', type: string } }
            state: { draft: { initial: =title, type: string }, length: { initial: =size(title) } }
        nodes:
          - id: list
            kind: container
            state: { items: [{ id: a, title: Alpha }] }
            children:
              - { id: rows, forEach: { in: $items, as: item, node: { component: Editor, binding: { title: $item.title } } } }
        """

    @Test("a state begins with the value of its rule when its node is made, and does not follow it") func once() throws
    {
        let graph = try Harness(Self.editors)
        #expect(try graph.value("/list/rows/a.draft") == "Alpha")
        #expect(try graph.value("/list/rows/a.length") == 5)
        try graph.subscribe(["/list/rows/**"])
        try graph.set("/list.items[id=\"a\"].title", "Beta")
        #expect(graph.changes["/list/rows/a.title"] == .value("Beta"))
        #expect(graph.changes["/list/rows/a.draft"] == nil)
        try graph.set("/list/rows/a.draft", "Own")
        #expect(try graph.value("/list.items[0].title") == "Beta")
        try graph.set("/list.items", [["id": "b", "title": "New"], ["id": "a", "title": "Old"]])
        #expect(graph.changes["/list/rows/b.draft"] == .value("New"))
        #expect(try graph.value("/list/rows/a.draft") == "Own")
        let wrong = refusal { try graph.set("/list/rows/a.length", "x") }
        #expect(wrong?.code == .typeMismatch, "the type is the rule's")
    }

    @Test("a state can begin with one that begins with a rule, and so can a list and its instances") func chain() throws
    {
        let graph = try Harness(
            """
            nodes:
              - id: top
                kind: container
                let: { n: 3 }
                state: { names: { initial: '=["x" + string(n), "y"]', type: list } }
                children:
                  - id: early
                    binding: { later: $/top/late.first }
                    state: { second: { initial: =later + 1, type: int } }
                  - { id: late, state: { first: { initial: =n * 2 } } }
                  - { id: rows, forEach: { in: $names, id: self, as: name, node: { state: { own: { initial: =name + '!' } } } } }
            """)
        #expect(try graph.value("/top/early.second") == 7)
        #expect(try graph.value("/top/rows/x3.own") == "x3!")
    }

    @Test("the error of the rule is the state's value until one is written") func failing() throws {
        let graph = try Harness(
            """
            nodes:
              - id: top
                kind: container
                state: { zero: 0, any: { type: dyn } }
                children:
                  - { id: a, state: { share: { initial: =1 / zero }, number: { initial: =any, type: int } } }
            """)
        #expect(refusal { try graph.value("/top/a.share") }?.code == .ruleFailed)
        #expect(refusal { try graph.value("/top/a.number") }?.code == .typeMismatch)
        try graph.set("/top.zero", 1)
        #expect(refusal { try graph.value("/top/a.share") }?.code == .ruleFailed, "it has begun")
        try graph.set("/top/a.share", 4)
        #expect(try graph.value("/top/a.share") == 4)
        let states = try graph.runtime.graph.scene(at: NodeID.root, limit: 10)
        #expect("\(states)".contains("=any"), "what has no value is exported as its rule")
    }

    @Test("a state in a circle of beginnings stays an error, and the daemon goes on") func circle() throws {
        let graph = try Harness(
            """
            nodes:
              - { id: a, binding: { other: $/b.s }, state: { s: { initial: =other, type: int } } }
              - { id: b, binding: { other: $/a.s }, state: { s: { initial: =other, type: int } } }
            """)
        #expect(refusal { try graph.value("/a.s") }?.message.contains("has not begun") == true)
        try graph.set("/b.s", 1)
        #expect(try graph.value("/a.s") == 1, "it begins as soon as it can")
    }

    @Test(
        "an impossible initial value of a state is refused with a reason",
        arguments: [
            ("state: { s: { initial: =twice } }, computed: { twice: '2' }", "an initial value cannot read 'twice'"),
            ("state: { s: { initial: =t }, t: { initial: =1 } }", "an initial value cannot read 't'"),
            (
                "let: { n: 1 }, state: { s: { initial: =previous(n) } }",
                "an initial value cannot use an operator over time"
            ),
            ("state: { s: =1 }", "{ initial: =rule } for a rule that runs once"),
            ("let: { n: 1 }, state: { s: { initial: =n, type: string } }", "'initial' is a string, but this is an int"),
            ("state: { s: { initial: =nowhere } }", "undeclared"),
        ])
    func refused(_ node: String, _ message: String) throws {
        let graph = try Harness("nodes: []")
        let failure = refusal { _ = try graph.apply("nodes: [{ id: a, \(node) }]") }
        let told = (failure?.message ?? "") + (failure?.hint ?? "")
        #expect(told.contains(message), "\(told)")
    }
}
