import AttributeValues
import Testing

@testable import RuleLanguage

@Suite("Hints of rules")
struct HintTests {
    @Test(
        "a mistake that is usual elsewhere is told with what is written here",
        arguments: [
            ("math.greates(1, 2)", "no function 'math.greates'", "did you mean 'math.greatest'?"),
            ("base64.encod(b'a')", "no function 'base64.encod'", "did you mean 'base64.encode'?"),
            ("lists.rang(3)", "no function 'lists.rang'", "did you mean 'lists.range'?"),
            ("optional.som(3)", "no function 'optional.som'", "optional has none, of, ofNonZeroValue, unwrap"),
            ("[1, 2].all(x > 0)", "all() takes a name and a condition", "as list.all(x, x > 0)"),
            (
                "[1].map(i)", "map() takes a name and an expression, with a condition between them or without",
                "as list.map(x, x * 2)"
            ),
            ("cel.bind(v, 1)", "cel.bind() takes a name, a value and an expression", "as cel.bind(x, a + b, x * x)"),
            (
                "null + 1", "found no matching overload for '+' applied to '(null, int)'",
                "'+' does not take null: give a value to use instead, as x == null ? … : x"
            ),
            (
                "null == 1", "found no matching overload for '==' applied to '(null, int)'",
                "make one side dyn(…) to compare it with null"
            ),
            (
                "'a' in 'abc'", "found no matching overload for 'in' applied to '(string, string)'",
                "to search a text, write text.contains(part)"
            ),
            ("x > 1 and y > 1", "expected an operator or the end, found 'and'", "'and' is written &&"),
            ("(x > 1 or y > 1)", "expected ')', found 'or'", "'or' is written ||"),
            ("not x", "expected an operator or the end, found 'x'", "'not' is written !"),
            ("z + 1", "undeclared reference to 'z'", nil),
        ] as [(String, String, String?)])
    func usual(rule: String, message: String, hint: String?) {
        let found = errors(of: rule)
        #expect(found.map(\.message) == [message])
        #expect(found.first?.hint == hint)
    }

    @Test("math.max is answered with what there is")
    func list() {
        #expect(errors(of: "math.max(1, 2)").first?.hint?.hasPrefix("math has abs, ") == true)
    }

    @Test("a variable of a namespace's name is itself")
    func shadowed() {
        let scope = makeScope()
        scope.declare("math", RuleType.map(.string, .dyn))
        #expect(errors(of: "math.sizes()", in: scope).map(\.message) == ["undeclared reference to 'sizes'"])
        #expect(errors(of: "[{'a': 1}].all(math, math.siz() > 0)").map(\.message) == ["undeclared reference to 'siz'"])
    }

    @Test("near names are looked for only for faults that are told")
    func untold() {
        let scope = makeScope()
        let rule = (0..<50).map { _ in "nmae" }.joined(separator: " + ")
        let told = errors(of: rule, in: scope)
        #expect(told.count == scope.limits.errors)
        #expect(told.allSatisfy { $0.hint == "did you mean 'name'?" })
        let errors = #expect(throws: RuleErrors.self) { try Rule.compile("nmae", in: scope, looksForNames: false) }
        #expect(errors?.errors.map(\.hint) == [nil])
    }
}
