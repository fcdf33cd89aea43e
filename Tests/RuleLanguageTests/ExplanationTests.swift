import AttributeValues
import Testing

@testable import RuleLanguage

@Suite("Explanations")
struct ExplanationTests {
    @Test("every part shows what it gave, and what was passed by")
    func parts() throws {
        let explanation = try Explanation(
            "x > 3 ? numbers.map(n, n * 2) : [y]", in: makeScope(), bindings: bindings(["x": 5, "y": 1, "numbers": [1, 2]]))
        #expect(
            explanation.description == """
                x > 3 ? numbers.map(n, n * 2) : [y] → [2,4]
                  x > 3                             → true
                    x                               → 5
                  numbers.map(n, n * 2)             → [2,4]
                    numbers                         → [1,2]
                    n * 2                           → 4 (last of 2)
                      n                             → 2 (last of 2)
                  [y]                               → not evaluated
                    y                               → not evaluated
                """)
    }

    @Test("the part that fails shows its error")
    func faults() throws {
        let explanation = try Explanation("1 / x > 0 || true", in: makeScope(), bindings: bindings(["x": 0]))
        #expect(explanation.result == .value(true))
        let failed = explanation.parts.first { $0.text == "1 / x" }
        #expect(failed?.content?.failure?.message == "division by zero")
    }
}

@Suite("Cases as JSON")
struct RuleCaseTests {
    private func run(_ json: String) throws -> String {
        let ruleCase = try RuleCase(json: JSONParser.parseOnce(json.utf8))
        return ruleCase.run(on: Evaluator()).json.jsonText
    }

    @Test("a case prints its value and type, or its error with the place")
    func outcomes() throws {
        #expect(
            try run(#"{"expr":"x + 1u","type_env":[{"name":"x","type":"uint"}],"bindings":{"x":{"uint":"4"}}}"#)
                == #"{"value":{"uint":"5"},"type":"uint"}"#)
        #expect(try run(#"{"expr":"[1].map(i, [i])","check_only":true}"#) == #"{"type":["list",["list","int"]]}"#)
        #expect(try run(#"{"expr":"1 + 1.5","disable_check":true}"#).hasPrefix(#"{"error":{"message":"no such overload"#))
        #expect(try run(#"{"expr":"1 / 0"}"#) == #"{"error":{"message":"division by zero","line":1,"column":3}}"#)
        #expect(try run(#"{"expr":"optional.of(1)"}"#).hasPrefix(#"{"value":{"optional":{"int":"1"}}"#))
        #expect(try run(#"{"expr":"nope + 1u"}"#) == #"{"error":{"message":"undeclared reference to 'nope'","line":1,"column":1}}"#)
    }

    @Test("a type survives its JSON")
    func types() throws {
        let types: [RuleType] = [
            .dyn, .null, .list(.map(.string, .optional(.int))), .type(.bool), .wrapper(.double), .abstract("tuple", [.int, .bytes]),
        ]
        for type in types { #expect(try RuleType(json: type.json) == type) }
        #expect(throws: Failure.self) { try RuleType(json: "integer") }
    }
}
