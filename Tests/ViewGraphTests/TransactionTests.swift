import AttributeGraph
import AttributeValues
import Testing

@testable import ViewGraph

@Suite("the open transaction")
struct TransactionTests {
    private let a = AttributeID(index: 1, generation: 1)
    private let b = AttributeID(index: 2, generation: 1)

    private func writes(of open: OpenTransaction) -> [(state: AttributeID, value: Value)] {
        var writes: [(state: AttributeID, value: Value)] = []
        open.takeWrites { writes.append(($0, $1)) }
        return writes
    }

    private func states(_ writes: [(state: AttributeID, value: Value)]) -> [AttributeID] { writes.map(\.state) }

    @Test("the last value of each state is written, in the order of the first writes") func order() {
        let open = OpenTransaction()
        open.stage(1, for: b, nil)
        open.stage(2, for: a, "snappy")
        open.stage(3, for: b, nil)
        #expect(open.value(of: b) == 3 && open.bindingAnimations == [a: "snappy"] && !open.needsNote(of: a))
        let taken = writes(of: open)
        #expect(states(taken) == [b, a] && taken.map(\.value) == [3, 2])
    }

    @Test("writes are handed over once; a state that is written again keeps its place") func handOver() {
        let open = OpenTransaction()
        open.stage(1, for: a, nil)
        open.isAhead = true
        #expect(states(writes(of: open)) == [a] && open.needsNote(of: a))
        #expect(!open.hasWrites && writes(of: open).isEmpty && open.value(of: a) == nil)
        open.note(.init(attribute: a, content: .value(0), changedAt: 1))
        #expect(!open.needsNote(of: a) && open.needsNote(of: b) && open.touched.count == 1)
        open.stage(2, for: a, nil)
        open.stage(3, for: b, nil)
        #expect(Array(open.states) == [a, b] && states(writes(of: open)) == [a, b])
    }

    @Test("many states keep their order and their last values") func many() {
        let open = OpenTransaction()
        let states = (1...20).map { AttributeID(index: $0, generation: 1) }
        for round in 1...2 {
            for (position, state) in states.enumerated() { open.stage(.int(Int64(position * round)), for: state, nil) }
        }
        #expect(Array(open.states) == states)
        #expect(states.enumerated().allSatisfy { open.value(of: $1) == .int(Int64($0 * 2)) })
        #expect(open.value(of: AttributeID(index: 21, generation: 1)) == nil)
    }
}

/// Without lists and a store.
@Suite("transactions")
struct TransactionsTests {
    private let scene: WiredScene
    private var wiring: TransactedWiring { scene.wiring }

    init() throws {
        scene = try WiredScene(
            """
            nodes:
              - id: a
                state: { count: 1, other: 5 }
                computed: { twice: count * 2 }
                actions: { swap: { set: { $count: =other, $other: =count } } }
                children: [{ id: b, binding: { mine: $count } }]
            """)
    }

    private func content(_ path: String) throws -> Value? {
        wiring.contentInTransaction(at: try scene.place(path)).value
    }

    @Test("a write is seen in its transaction at once, and outside from the commit on") func visibility() throws {
        wiring.begin()
        try wiring.write(3, to: "/a/b.mine")
        #expect(try content("/a.count") == 3 && scene.value("/a.count") == 1)
        let commit = Commit()
        wiring.closeTransaction(into: commit)
        #expect(try commit.states == [scene.vertex("/a.count")] && scene.value("/a.twice") == 6)
    }

    @Test("a rule that read writes ahead of a rollback has its old value, and nobody is told") func rollingBack() throws
    {
        let twice = try scene.vertex("/a.twice")
        wiring.beginWatch(of: twice)
        #expect(try scene.value("/a.twice") == 2)
        wiring.begin()
        try wiring.write(3, to: "/a.count")
        #expect(try content("/a.twice") == 6)
        wiring.rollBack()
        #expect(try scene.value("/a.twice") == 2 && wiring.takeInvalidated() == [])
    }

    @Test("a value of a rule cannot be written, and the hint names the rule") func readOnly() throws {
        wiring.begin()
        defer { wiring.rollBack() }
        let failure = #expect(throws: Failure.self) { try wiring.write(1, to: "/a.twice") }
        #expect(failure?.code == .readOnly && failure?.hint == "it is computed as count * 2")
    }

    @Test("all rules of an action see the graph as it is before its first write") func actions() throws {
        let call = try wiring.call(actionAt: scene.place("/a.swap"), named: "/a.swap", ValueMap())
        let writes = try wiring.makeWrites(of: call)
        #expect(writes.map(\.path.description) == ["/a.count", "/a.other"] && writes.map(\.value) == [5, 1])
    }
}
