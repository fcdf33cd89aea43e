import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime

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
        #expect(refusal { try graph.transact([add("/a.d", .duration(TimeSpan(nanoseconds: .max)))]) }?.code == .ruleFailed)
        #expect(try graph.value("/a.u") == .uint(.max - 1))
    }

    @Test("insert without an index puts the value at the end") func insertion() throws {
        let graph = try Harness(RefusalTests.scene)
        try graph.transact([Mutation(operation: .insert, path: "/a.list", value: 3)])
        #expect(try graph.value("/a.list") == [1, 2, 3])
    }
}
