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
        let first = open.handOver()
        #expect(states(first) == [a] && open.isAhead && open.needsNote(of: a))
        #expect(!open.hasWrites && writes(of: open).isEmpty && open.value(of: a) == nil)
        open.note(.init(attribute: a, content: .value(0), changedAt: 1))
        #expect(!open.needsNote(of: a) && open.needsNote(of: b) && open.touched.count == 1)
        open.stage(2, for: a, nil)
        open.stage(3, for: b, nil)
        #expect(Array(open.order) == [a, b] && states(writes(of: open)) == [a, b])
    }

    @Test("many states keep their order and their last values") func many() {
        let open = OpenTransaction()
        let states = (1...20).map { AttributeID(index: $0, generation: 1) }
        for round in 1...2 {
            for (position, state) in states.enumerated() { open.stage(.int(Int64(position * round)), for: state, nil) }
        }
        #expect(Array(open.order) == states)
        #expect(states.enumerated().allSatisfy { open.value(of: $1) == .int(Int64($0 * 2)) })
        #expect(open.value(of: AttributeID(index: 21, generation: 1)) == nil)
    }
}
