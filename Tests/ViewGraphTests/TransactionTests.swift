import AttributeGraph
import AttributeValues
import Testing

@testable import ViewGraph

@Suite("the open transaction")
struct TransactionTests {
    private let a = AttributeID(index: 1, generation: 1)
    private let b = AttributeID(index: 2, generation: 1)

    private func states(_ writes: [(state: AttributeID, value: Value)]) -> [AttributeID] { writes.map(\.state) }

    @Test("the last value of each state is written, in the order of the first writes") func order() {
        var open = OpenTransaction(stamp: 1)
        open.stage(1, for: b, nil)
        open.stage(2, for: a, "snappy")
        open.stage(3, for: b, nil)
        #expect(states(open.writes) == [b, a] && open.writes.map(\.value) == [3, 2])
        #expect(open.value(of: b) == 3 && open.bindingAnimations == [a: "snappy"] && !open.needsNote(of: a))
    }

    @Test("writes are handed over once; a state that is written again keeps its place") func handOver() {
        var open = OpenTransaction(stamp: 1)
        open.stage(1, for: a, nil)
        let first = open.handOver()
        #expect(states(first) == [a] && open.isAhead && open.needsNote(of: a))
        #expect(!open.hasWrites && open.writes.isEmpty && open.value(of: a) == nil)
        open.note(.init(attribute: a, content: .value(0), changedAt: 1))
        #expect(!open.needsNote(of: a) && open.needsNote(of: b) && open.touched.count == 1)
        open.stage(2, for: a, nil)
        open.stage(3, for: b, nil)
        #expect(open.order == [a, b] && states(open.writes) == [a, b])
    }
}
