import AttributeValues
import TestSupport
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Refused requests")
struct RefusalTests {
    private static let scene = """
        nodes:
          - id: a
            state:
              u: { initial: 5, type: uint }
              i: 5
              d: { initial: "9s", type: duration }
              list: [1, 2]
              moving: 1.0
            children: [{ id: b }, { id: c }]
        """

    private func add(_ path: String, _ value: Value) -> Mutation { Mutation(operation: .add, path: path, value: value) }

    @Test("add is exact for every pair of whole numbers, and a sum beyond the type is refused") func sums() throws {
        let graph = try Harness(RefusalTests.scene)
        try graph.transact([add("/a.u", -5)])
        #expect(try graph.value("/a.u") == .uint(0))
        for summand: Value in [-1, .int(.min)] {
            #expect(refusal { try graph.transact([add("/a.u", summand)]) }?.code == .ruleFailed)
        }
        try graph.set("/a.u", .uint(.max))
        try graph.transact([add("/a.u", -1)])
        #expect(try graph.value("/a.u") == .uint(.max - 1))
        #expect(refusal { try graph.transact([add("/a.u", 2)]) }?.code == .ruleFailed)
        try graph.transact([add("/a.i", .uint(7))])
        #expect(try graph.value("/a.i") == 12)
        #expect(refusal { try graph.transact([add("/a.i", .uint(.max))]) }?.code == .ruleFailed)
        #expect(
            refusal { try graph.transact([add("/a.d", .duration(TimeSpan(nanoseconds: .max)))]) }?.code == .ruleFailed)
        #expect(try graph.value("/a.u") == .uint(.max - 1))
    }

    @Test("insert without an index puts the value at the end") func insertion() throws {
        let graph = try Harness(RefusalTests.scene)
        try graph.transact([Mutation(operation: .insert, path: "/a.list", value: 3)])
        #expect(try graph.value("/a.list") == [1, 2, 3])
    }

    @Test("an animation that cannot be read refuses apply, remove and move, and nothing has changed") func animations()
        throws
    {
        let graph = try Harness(RefusalTests.scene)
        let revision = graph.runtime.revision
        let before = try graph.described("/")
        let wrong = TransactionOptions(animation: "wobbly")
        let document: Value = ["agd": 1, "nodes": [["id": "new"]]]
        let requests: [Request] = [
            .apply(.init(document: document, at: "/", mode: .merge, dryRun: false, options: wrong)),
            .remove(path: "/a/b", wrong), .move(path: "/a/b", to: "/", index: nil, wrong),
        ]
        for request in requests {
            #expect(refusal { try graph.succeed(request) }?.code == .invalid)
            #expect(try differences(.map(before), .map(graph.described("/"))) == [])
        }
        #expect(graph.runtime.revision == revision)
    }

    @Test(
        "an impossible mutation for the disconnect is refused at once, and one that depends on values later is not"
    )
    func onDisconnect() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { i: 1, list: [], any: { type: dyn, initial: 1 }, maybe: { type: int?, initial: null } }, computed: { c: i } }]"
        )
        let revision = graph.runtime.revision
        func refused(_ operation: Mutation.Operation, _ path: String, _ value: Value? = nil) -> ErrorCode? {
            refusal {
                try graph.succeed(
                    .onDisconnect([Mutation(operation: operation, path: path, value: value)], TransactionOptions()))
            }?.code
        }
        #expect(refused(.set, "/a.i", "abc") == .typeMismatch)
        #expect(refused(.toggle, "/a.i") == .typeMismatch)
        #expect(refused(.set, "/a.c", 1) == .readOnly)
        #expect(refused(.set, "/a.nope", 1) == .notFound)
        #expect(refused(.remove, "/a.i") == .invalid)
        #expect(refused(.set, "/a.i", 7) == nil)
        #expect(refused(.test, "/a.i", 8) == nil)
        #expect(refused(.remove, "/a.list[3]") == nil)
        #expect(refused(.toggle, "/a.any") == nil)
        #expect(refused(.add, "/a.maybe", 1) == nil)
        #expect(refused(.add, "/a.i", .int(.max)) == nil)
        #expect(try graph.value("/a.i") == 1)
        #expect(graph.runtime.revision == revision)
    }

    @Test("a key keeps its type as long as a node or component uses it") func keys() throws {
        let graph = try Harness(
            """
            keys: { environment: { k: 1, free: 1 }, preference: { p: { default: 0, reduce: value + next } } }
            components: { C: { computed: { c: env.k } } }
            nodes:
              - { id: a, environment: { k: 2 }, children: [{ id: b, computed: { x: env.k + 1 } }] }
              - { id: w, preferences: { p: 1 } }
            """)
        for document in [
            "keys: { environment: { k: text } }\nnodes: []",
            "keys: { preference: { p: { default: '', reduce: value + next } } }\nnodes: []",
        ] {
            #expect(refusal { try graph.apply(document) }?.code == .conflict, "\(document)")
        }
        #expect(try graph.value("/a/b.x") == 3)
        _ = try graph.apply("keys: { environment: { free: text, k: 5 } }\nnodes: []")
        _ = try graph.apply(
            """
            keys: { environment: { k: text } }
            components: { C: { computed: { c: 'env.k + "!"' } } }
            nodes: [{ id: a, environment: { k: other }, children: [{ id: b, computed: { x: 'env.k + "!"' } }] }]
            """, mode: .replace)
        #expect(try graph.value("/a/b.x") == "other!")
    }

    @Test("the errors of each method besides the common ones are listed") func listed() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { big: 9223372036854775807 } }]",
            limits: {
                var limits = RuntimeLimits()
                limits.mutationsPerTransaction = 1
                return limits
            }())
        let long = "/" + String(repeating: "x", count: AttributePath.maximumLength) + ".y"
        let add = Mutation(operation: .add, path: "/a.big", value: 1)
        let set = Mutation(operation: .set, path: long, value: 1)
        let readOnly: Value = [
            "agd": 1,
            "nodes": [["id": "n", "computed": ["c": "1"], "children": [["id": "v", "binding": ["b": "$c"]]]]],
        ]
        let requests: [(Request, ErrorCode)] = [
            (.transact([add], .init()), .ruleFailed), (.transact([add, add], .init()), .limit),
            (.set(set, .init()), .limit),
            (.onDisconnect([set], .init()), .limit), (.remove(path: long, .init()), .limit),
            (.move(path: long, to: nil, index: 0, .init()), .limit),
            (.apply(.init(document: readOnly, at: "/", mode: .create, dryRun: false, options: .init())), .readOnly),
        ]
        // The harness holds every refusal against the table.
        for (request, code) in requests { #expect(refusal { try graph.succeed(request) }?.code == code, "\(request)") }
    }
}
