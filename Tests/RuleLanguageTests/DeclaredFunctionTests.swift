import AttributeValues
import Testing

@testable import RuleLanguage

/// Functions that a document declares.
@Suite("Declared functions")
struct DeclaredFunctionTests {
    private static func scope(_ functions: (String, [String], String)...) throws -> RuleScope {
        let home = RuleScope()
        home.declareNamespace("env", keysAre: "environment key", ["factor": .int])
        for (name, parameters, text) in functions {
            home.declare(try DeclaredFunction(name, parameters, text, limits: home.limits))
        }
        let scope = RuleScope(parent: home)
        scope.declare("x", RuleType.int)
        scope.declare("user", RuleType.map(.string, .dyn))
        return scope
    }

    private static func value(_ rule: String, _ scope: RuleScope, _ given: ValueMap = bindings(["x": 4])) throws
        -> Value?
    {
        try evaluate(rule, given, in: scope).value
    }

    @Test("a call has the value of the function's rule for its arguments") func calls() throws {
        let scope = try Self.scope(
            ("double2", ["n"], "n * 2"), ("sum3", ["a", "b", "c"], "a + b + c"), ("four", [], "4"))
        #expect(try Self.value("double2(x) + 1", scope) == 9)
        #expect(try Self.value("sum3(1, double2(x), four())", scope) == 13)
        #expect(try Self.value("[1, 2].map(n, double2(n + 1))", scope) == [4, 6])
        #expect(
            try Self.value("[1, 2].map(i, [3, 4].map(n, sum3(i, n, double2(n))))", scope) == [[10, 13], [11, 14]])
    }

    @Test("a function sees its parameters and the names around its declaration, and none at the call") func names()
        throws
    {
        let scope = try Self.scope(("scaled", ["n"], "n * env.factor"), ("lost", ["n"], "n * x"))
        #expect(try Self.value("scaled(x)", scope, bindings(["x": 4, "env.factor": 3])) == 12)
        #expect(errors(of: "lost(1)", in: scope).map(\.message) == ["in lost(): undeclared reference to 'x'"])
        // A variable of the call with the name of a parameter is another one.
        let outer = try Self.scope(("twice", ["n"], "[1].map(m, n + n + m)[0]"))
        #expect(try Self.value("[5].map(m, [7].map(n, twice(m)))", outer) == [[11]])
    }

    @Test("an argument is evaluated at most once, and only if the rule uses it") func once() throws {
        let scope = try Self.scope(("square", ["n"], "n * n"), ("first", ["a", "b"], "a"))
        let evaluator = Evaluator()
        _ = evaluator.evaluate(try Rule.compile("square(lists.range(1000).size())", in: scope))
        let once = evaluator.lastCost
        _ = evaluator.evaluate(try Rule.compile("lists.range(1000).size() * lists.range(1000).size()", in: scope))
        #expect(once < evaluator.lastCost * 6 / 10)
        #expect(try Self.value("first(1, 1 / 0)", scope) == 1)
    }

    @Test("a call reads only the parts of its arguments that the rule names") func parts() throws {
        let scope = try Self.scope(("title", ["u"], "u.name + ' ' + string(u.age)"), ("outer", ["v"], "title(v) + '!'"))
        let program = try Rule.compile("outer(user)", in: scope)
        #expect(program.inputs.map { "\($0)" } == ["user.name", "user.age"])
        let users = bindings(["user": ["name": "Ann", "age": 3, "rest": [1, 2, 3]]])
        #expect(Evaluator().evaluate(program, bindings: users) == .value("Ann 3!"))
    }

    @Test("a type that the rule does not take is told at the call, with the function's name") func types() throws {
        let scope = try Self.scope(("half", ["n"], "n / 2"))
        let found = errors(of: "x + half('a')", in: scope)
        #expect(
            found.map(\.message) == ["in half(): found no matching overload for '/' applied to '(string, int)'"])
        #expect(found.first?.column == 5)
        #expect(errors(of: "half()", in: scope).first?.message == "half() takes one argument")
        #expect(errors(of: "half(1, 2)", in: scope).first?.hint == "as half(n)")
        #expect(errors(of: "halff(1)", in: scope).first?.hint == "did you mean 'half'?")
    }

    @Test("functions that call each other in a circle are refused, with the way") func circle() throws {
        let scope = try Self.scope(("a", ["n"], "b(n)"), ("b", ["n"], "a(n) + 1"))
        #expect(errors(of: "a(1)", in: scope).first?.message.contains("a → b → a") == true)
        let function = try DeclaredFunction("a", ["n"], "b(n)", limits: RuleLimits())
        #expect(throws: RuleErrors.self) { try function.check(in: scope) }
    }

    @Test("calls that would make a rule too large are refused") func growth() throws {
        let home = RuleScope()
        home.declare(try DeclaredFunction("f0", ["n"], "n + n + n + n", limits: home.limits))
        for level in 1...40 {
            home.declare(
                try DeclaredFunction("f\(level)", ["n"], "f\(level - 1)(n) + f\(level - 1)(n)", limits: home.limits))
        }
        #expect(errors(of: "f40(1)", in: home).first?.code == .limit)
    }

    @Test("rules with the same text are equal only if the functions that they call are") func equality() throws {
        let (one, two) = (try Self.scope(("f", ["n"], "n + 1")), try Self.scope(("f", ["n"], "n + 2")))
        #expect(try Rule.compile("f(x)", in: one) == Rule.compile("f(x)", in: one))
        #expect(try Rule.compile("f(x)", in: one) != Rule.compile("f(x)", in: two))
        #expect(try !Rule.compile("f(x) + 1", in: one).isAdaptable)
    }
}
