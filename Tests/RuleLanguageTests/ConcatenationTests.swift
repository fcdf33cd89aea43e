import AttributeValues
import Testing

@testable import RuleLanguage

@Suite("Chains of +")
struct ConcatenationTests {
    private static let rule = "a + b + '-' + 'é' + c"

    private static var scope: RuleScope {
        let scope = RuleScope()
        for name in ["a", "b", "c"] { scope.declare(name, RuleType.string) }
        scope.declare("n", RuleType.int)
        scope.declare("anything", RuleType.dyn)
        return scope
    }

    @Test("a chain gives what joining one by one gives, at every length and in every representation")
    func lengths() throws {
        let program = try Rule.compile(Self.rule, in: Self.scope)
        let evaluator = Evaluator()
        let texts = (0...18).flatMap { count in
            [
                String(repeating: "x", count: count), String(repeating: "é", count: count / 2) + "y",
                String(repeating: "日", count: count / 3),
            ]
        }
        for a in texts {
            for b in texts {
                let c = b + a
                let content = evaluator.evaluate(
                    program, bindings: bindings(["a": .string(a), "b": .string(b), "c": .string(c)]))
                #expect(content == .value(.string(a + b + "-" + "é" + c)))
                // Equality looks at the words of short strings first: they must be those that the library makes.
                #expect(
                    content.value.map { $0 == .string(String(decoding: Array((a + b + "-é" + c).utf8), as: UTF8.self)) }
                        == true)
            }
        }
    }

    @Test("a binding of another type than declared fails as + does")
    func otherTypes() throws {
        let program = try Rule.compile(Self.rule, in: Self.scope)
        let content = Evaluator().evaluate(program, bindings: bindings(["a": "a", "b": 1, "c": "c"]))
        #expect(content.failure?.message == "no such overload: '+' applied to '(string, int)'")
    }

    @Test("operands that may not be strings are added from the left")
    func dynamic() throws {
        let values = bindings(["anything": [1], "n": 3])
        #expect(try evaluate("anything + [2] + [n]", values, in: Self.scope) == .value([1, 2, 3]))
        #expect(try evaluate("'n' + string(n) + string(-n) + string(1.5)", values, in: Self.scope) == .value("n3-31.5"))
        #expect(
            try evaluate("string(anything)", values, in: Self.scope).failure?.message
                == "no such overload: 'string' applied to '(list)'")
    }

    @Test("the text of a chain has the limit that any text has, and its size is paid for")
    func limit() throws {
        var limits = RuleLimits()
        limits.textSize = 100
        let scope = RuleScope(limits: limits)
        scope.declare("a", RuleType.string)
        let evaluator = Evaluator()
        let program = try Rule.compile("a + a + a", in: scope)
        #expect(
            evaluator.evaluate(program, bindings: bindings(["a": .string(String(repeating: "x", count: 33))])).value
                != nil)
        let cost = evaluator.lastCost
        #expect(evaluator.evaluate(program, bindings: bindings(["a": "x"])).value == "xxx")
        #expect(cost == evaluator.lastCost + 99 / 10 + 1 - 2)
        let failed = evaluator.evaluate(program, bindings: bindings(["a": .string(String(repeating: "x", count: 34))]))
        #expect(failed.failure?.code == .limit)
    }
}
