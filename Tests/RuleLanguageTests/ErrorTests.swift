import AttributeValues
import Testing

@testable import RuleLanguage

@Suite("Faults of rules")
struct ErrorTests {
    @Test(
        "each fault is told with its place, and what may have been meant",
        arguments: [
            ("nmae + 'a'", 1, 1, "undeclared reference to 'nmae'", "did you mean 'name'?"),
            (
                "x + 1.5", 1, 3, "found no matching overload for '+' applied to '(int, double)'",
                "numbers of different types do not mix: convert one, as double(x)"
            ),
            ("name.startWith('a')", 1, 6, "undeclared reference to 'startWith'", "did you mean 'startsWith'?"),
            ("env.local", 1, 4, "no environment key 'local'", "did you mean 'locale'?"),
            ("library.conut", 1, 8, "'Library' has no property 'conut'", "did you mean 'count'?"),
            ("env", 1, 1, "'env' is not a value", "name one environment key, as env.key"),
            ("name.size", 1, 5, "type 'string' does not support field selection", "'size' is a function: write size()"),
            ("x && true", 1, 1, "expected type 'bool' but found 'int'", nil),
            (
                "x.map(i, i)", 1, 1,
                "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)", nil
            ),
            ("[1, 2].map(1, 2)", 1, 12, "the variable of map() must be a simple name", nil),
            ("has(x)", 1, 1, "has() asks for a field", "write has(a.b)"),
            ("1 +", 1, 4, "expected an expression, found the end", nil),
            ("x = 1", 1, 3, "unexpected '='; equality is '=='", nil),
            ("'a\\z'", 1, 3, "unknown escape; a backslash itself is written '\\\\'", nil),
            ("9223372036854775808", 1, 1, "the number is out of range", nil),
            ("package + 1", 1, 1, "'package' is a reserved word", "it can be used only after a dot"),
            ("'é' +\n  nmae", 2, 3, "undeclared reference to 'nmae'", "did you mean 'name'?"),
            ("'😀é' + nmae", 1, 8, "undeclared reference to 'nmae'", "did you mean 'name'?"),
        ] as [(String, Int, Int, String, String?)])
    func places(rule: String, line: Int, column: Int, message: String, hint: String?) {
        let found = errors(of: rule)
        #expect(found.count == 1)
        #expect(found.first?.message == message)
        #expect(found.first.map { [$0.line, $0.column] } == [line, column])
        #expect(found.first?.hint == hint)
    }

    @Test("all independent faults of a rule are told at once, in the order of their places")
    func allAtOnce() {
        let typed = errors(of: "nmae == 'a' && x + 1.5 > 2.0 && numbers.exists(n, n.foo)")
        #expect(typed.map(\.column) == [1, 18, 52])
        let syntactic = errors(of: "[1 +, 2 *, (3]")
        #expect(syntactic.map(\.column) == [5, 10, 14])
    }

    @Test("the description shows the line, a caret under the column, and the hint")
    func caret() {
        do throws(RuleErrors) {
            _ = try Rule.compile("x >\n  nmae", in: makeScope())
            Issue.record("the rule is accepted")
        } catch {
            #expect(
                error.description == """
                    ERROR: <rule>:2:3: undeclared reference to 'nmae'
                     |   nmae
                     | ..^
                     hint: did you mean 'name'?
                    """)
            #expect(error.failure.code == .ruleType)
            #expect(error.failure.line == 2)
            #expect(error.failure.column == 3)
        }
    }

    @Test(
        "an error at run time has its place, also inside macros and lazy values",
        arguments: [
            ("1 / (x - 1)", 1, 3, "division by zero"),
            ("x > 0 ?\n 10 % (x - 1) : 2", 2, 5, "modulus by zero"),
            ("numbers.map(n, 10 / n)", 1, 19, "division by zero"),
            ("numbers.all(n, 10 / n > 0)", 1, 19, "division by zero"),
            ("cel.bind(a, 1 / (x - 1), 5 + a)", 1, 15, "division by zero"),
            ("user.age", 1, 5, "no such key: age"),
            ("anything[x - 3]", 1, 9, "index out of bounds: -2"),
            ("9223372036854775807 + x", 1, 21, "integer overflow"),
            ("anything == [1] && anything", 1, 20, "no such overload: '&&' applied to '(list)'"),
            ("int('z')", 1, 1, "type conversion error from 'string' to 'int': \"z\""),
            ("{'a': 1}[name]", 1, 9, "no such key: b"),
        ] as [(String, Int?, Int?, String)])
    func runtimePlaces(rule: String, line: Int?, column: Int?, message: String) throws {
        let values = bindings(["x": 1, "numbers": [2, 0], "user": [:], "anything": [1], "name": "b"])
        let program =
            rule.contains("anything &&") || rule.hasSuffix("&& anything")
            ? try Rule.compileUnchecked(rule, in: makeScope()) : try Rule.compile(rule, in: makeScope())
        let failure = Evaluator().evaluate(program, bindings: values).failure
        #expect(failure?.message == message)
        #expect(failure?.line == line)
        #expect(failure?.column == column)
    }
}

@Suite("Limits of rules")
struct LimitTests {
    private func scope(_ change: (inout RuleLimits) -> Void) -> RuleScope {
        var limits = RuleLimits()
        change(&limits)
        return RuleScope(limits: limits)
    }

    @Test("short texts cannot nest deep, whatever they nest")
    func nesting() {
        for (open, close) in [
            ("(", ")"), ("[", "]"), ("{1:", "}"), ("-", ""), ("!", ""), ("[1].map(x, ", ")"), ("true ? 1 : ", ""),
        ] {
            let text = String(repeating: open, count: 10_000) + "1" + String(repeating: close, count: 10_000)
            let found = errors(of: text)
            if open == "-" || open == "!" { continue }
            #expect(found.contains { $0.code == .limit }, "\(open)")
        }
        #expect(errors(of: "1" + String(repeating: " + 1", count: 1000)).first?.code == .limit)
        #expect(errors(of: String(repeating: "a.", count: 1000) + "b").first?.code == .limit)
    }

    @Test("chains of && and || are as long as the text may be")
    func longChains() throws {
        let rule = "x > 0" + String(repeating: " || x > 1", count: 5000)
        #expect(try evaluate(rule, bindings(["x": 1])) == .value(true))
    }

    @Test("the text's length and the tree's size are bounded")
    func size() {
        #expect(errors(of: String(repeating: " ", count: 100_001)).first?.code == .limit)
        #expect(
            errors(of: "[" + String(repeating: "1,", count: 100) + "]", in: scope { $0.nodes = 50 }).first?.code
                == .limit)
    }

    @Test("an evaluation that costs too much ends with its place, and nothing absorbs that")
    func cost() throws {
        let scope = scope { $0.cost = 10_000 }
        for rule in [
            "lists.range(1000).all(a, lists.range(1000).all(b, a + b >= 0))",
            "true || lists.range(1000).all(a, lists.range(1000).all(b, a + b >= 0)) || true",
            "lists.range(1000).exists(a, !lists.range(1000).all(b, a + b >= 0) || 1 / 0 > 0) || true",
        ] {
            let content = try evaluate(rule, in: scope)
            if rule.hasPrefix("true") {
                #expect(content == .value(true))
            } else {
                #expect(content.failure?.code == .limit)
                #expect(content.failure?.column != nil)
            }
        }
    }

    @Test("values that share their parts cannot be built, compared or given out beyond the limits")
    func sharing() throws {
        var doubling = "[1]"
        var joining = "'abcdefgh'"
        for _ in 0..<40 {
            doubling = "cel.bind(a, \(doubling), [a, a])"
            joining = "cel.bind(a, \(joining), a + a)"
        }
        #expect(try evaluate(doubling).failure?.code == .limit)
        #expect(try evaluate("\(doubling) == \(doubling)").failure?.code == .limit)
        #expect(try evaluate("size(\(doubling))") == .value(2))
        #expect(try evaluate(joining).failure?.code == .limit)
        #expect(try evaluate("size(lists.range(2000000))").failure?.code == .limit)
        #expect(try evaluate("'%.2000f'.format([1.0])").failure != nil)
    }

    @Test("types that share their parts are checked in no time")
    func sharedTypes() {
        var maps = "1"
        for _ in 0..<60 { maps = "cel.bind(a, \(maps), {a: a})" }
        #expect(errors(of: maps).contains { $0.message.hasPrefix("a map key is") })
    }

    @Test("lists that grow in a macro are counted as they grow")
    func growth() throws {
        let scope = scope { $0.resultSize = 1000 }
        #expect(
            try evaluate("lists.range(100).map(a, lists.range(100)).flatten().size()", in: scope).failure?.code
                == .limit)
        #expect(try evaluate("lists.range(100).map(a, a).size()", in: scope) == .value(100))
    }

    @Test("a hostile pattern takes neither time nor memory")
    func patterns() throws {
        let text = String(repeating: "a", count: 5000)
        #expect(try evaluate("name.matches('(a*)*b')", bindings(["name": .string(text)])) == .value(false))
        #expect(try evaluate("name.matches('((a{100}){100}){100}')", bindings(["name": .string(text)])).failure != nil)
        #expect(
            try evaluate("name.matches('(')", bindings(["name": "a"])).failure?.message.hasPrefix("faulty pattern")
                == true)
    }
}
