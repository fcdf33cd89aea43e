import AttributeValues
import Testing

@testable import ViewGraph

@Suite("evaluation")
struct EvaluationTests {
    @Test("each level of nesting has an evaluator of its own, the same each time") func levels() {
        var stack = EvaluatorStack()
        let first = (0..<9).map { _ in stack.enter().toOpaque() }
        for _ in first { stack.leave() }
        let second = (0..<9).map { _ in stack.enter().toOpaque() }
        #expect(first == second && Set(first).count == 9)
        for _ in second { stack.leave() }
    }

    @Test("costly evaluations add up to a sign of life") func longWork() {
        var evaluation = Evaluation()
        let signs = (1...4000).filter { _ in evaluation.isLongWork(after: 10_000) }
        #expect(signs == [2000, 4000])
    }

    @Test("rules that were deferred are taken once") func deferred() {
        var evaluation = Evaluation()
        evaluation.deferRule(of: .init(index: 3, generation: 1))
        let (count, first, second) = (evaluation.waiting.count, evaluation.takeWaiting(), evaluation.takeWaiting())
        #expect(count == 1 && first == [.init(index: 3, generation: 1)] && second == [])
    }
}

@Suite("the budget")
struct BudgetTests {
    @Test("a request that has used up its steps is refused") func steps() throws {
        var budget = Budget()
        budget.steps = 10
        try budget.charge(9)
        let refusal = #expect(throws: Failure.self) { try budget.charge(1) }
        #expect(refusal?.code == .limit && budget.steps <= 0)
    }

    @Test("instances that are refused cost nothing") func instances() throws {
        var budget = Budget()
        budget.growth = 200
        let one = Wiring.Growth(nodes: 1)
        #expect(throws: Failure.self) { try budget.chargeInstances(3, one) }
        #expect(budget.growth == 200)
        try budget.chargeInstances(2, one)
        #expect(budget.growth == 40)
    }

    @Test("a long value costs its bytes, of which no more are looked at than can be paid") func telling() {
        var budget = Budget()
        let text = Content.value(.string(String(repeating: "x", count: 32_000)))
        #expect((1000...1001).contains(budget.cost(ofTelling: text)))
        budget.steps = 10
        #expect((10...1001).contains(budget.cost(ofTelling: text)))
        #expect(budget.cost(ofTelling: .value(1)) == 0)
    }

    @Test("a write costs the lists on its way and the bindings that led there") func writes() {
        let list = Value.list((0..<80).map { .int($0) })
        let steps: [AttributePath.Step] = [.index(3)]
        #expect(Budget.cost(ofWriteInto: list, at: steps, through: 0) == 10)
        let map = Value.map(ValueMap([(.string("k"), list)]))
        #expect(Budget.cost(ofWriteInto: map, at: [.key("k")] + steps, through: 2) == 18)
    }
}
