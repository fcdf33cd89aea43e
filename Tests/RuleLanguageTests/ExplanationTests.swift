import AttributeValues
import RuleCases
import Testing

@testable import RuleLanguage

@Suite("Explanations")
struct ExplanationTests {
    @Test("every part shows what it gave, and what was passed by")
    func parts() throws {
        let explanation = try Explanation(
            "x > 3 ? numbers.map(n, n * 2) : [y]", in: makeScope(),
            bindings: bindings(["x": 5, "y": 1, "numbers": [1, 2]]))
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

    @Test("a failure shows in every part that it passes through, and no further")
    func passedFailure() throws {
        let explanation = try Explanation(
            "[1, 2].map(i, i / (i - 1)).size() + x > 0 || true", in: makeScope(), bindings: bindings(["x": 1]))
        #expect(
            explanation.description == """
                [1, 2].map(i, i / (i - 1)).size() + x > 0 || true → true
                  [1, 2].map(i, i / (i - 1)).size() + x > 0      → error: division by zero
                    [1, 2].map(i, i / (i - 1)).size() + x        → error: division by zero
                      [1, 2].map(i, i / (i - 1)).size()          → error: division by zero
                        [1, 2].map(i, i / (i - 1))               → error: division by zero
                          [1, 2]                                 → [1,2]
                          i / (i - 1)                            → error: division by zero
                            i                                    → 1
                            i - 1                                → 0
                              i                                  → 1
                      x                                          → not evaluated
                """)
    }

    @Test("a path that is read as a whole is one part; only computed keys are parts of it")
    func paths() throws {
        let values = bindings(["x": 0, "items": [["name": "q"]], "user": ["age": 3]])
        let texts = try Explanation(
            "items[x].name == 'q' && has(user.age) && user['age'] > 2", in: makeScope(), bindings: values
        )
        .parts.map(\.text)
        #expect(
            texts == [
                "items[x].name == 'q' && has(user.age) && user['age'] > 2", "items[x].name == 'q'", "items[x].name",
                "x",
                "has(user.age)", "user['age'] > 2", "user['age']",
            ])
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
        #expect(
            try run(#"{"expr":"1 + 1.5","disable_check":true}"#).hasPrefix(#"{"error":{"message":"no such overload"#))
        #expect(try run(#"{"expr":"1 / 0"}"#) == #"{"error":{"message":"division by zero","line":1,"column":3}}"#)
        #expect(try run(#"{"expr":"optional.of(1)"}"#).hasPrefix(#"{"value":{"optional":{"int":"1"}}"#))
        #expect(
            try run(#"{"expr":"nope + 1u"}"#)
                == #"{"error":{"message":"undeclared reference to 'nope'","line":1,"column":1}}"#)
    }

    @Test("a type survives its JSON")
    func types() throws {
        let types: [RuleType] = [
            .dyn, .null, .list(.map(.string, .optional(.int))), .type(.bool), .wrapper(.double),
            .abstract("tuple", [.int, .bytes]),
        ]
        for type in types { #expect(try RuleType(json: type.json) == type) }
        #expect(throws: Failure.self) { try RuleType(json: "integer") }
    }
}
