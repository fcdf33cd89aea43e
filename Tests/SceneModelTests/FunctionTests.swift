import AttributeValues
import SceneModel
import Testing

/// `functions`: rules with parameters.
@Suite("Functions in documents")
struct FunctionTests {
    private func document(_ functions: String, _ rule: String = "n + 1") -> String {
        """
        functions:
          \(functions)
        nodes:
          - id: a
            state: { n: 2, t: { initial: { delay: 5 }, type: map } }
            computed: { x: '\(rule)' }
        """
    }

    @Test("rules of nodes, types and other functions call the functions of a document") func calls() throws {
        let made = try scene(
            """
            functions:
              late(t): t.delay >= limit()
              limit(): "=5"
            types:
              Train: { state: { delay: 0 }, computed: { isLate: "delay >= limit()" } }
            nodes:
              - { id: a, state: { t: { initial: { delay: 5 }, type: map } }, computed: { x: late(t) } }
            """)
        #expect(made.declarations.functions.keys.sorted() == ["late", "limit"])
        #expect(made.declarations.written.functions == ["late(t)": "t.delay >= limit()", "limit()": "=5"])
        #expect(try made.node("a").attribute("x").type == .bool)
    }

    @Test(
        "a mistake in a function is told at its place, with the right form",
        arguments: [
            (
                "double: n * 2",
                "2:3 'double' is no function | write it as name(parameters), with its rule: double(x): x * 2"
            ),
            ("f(x: x", "2:3 'f(x' is no function | write it as name(parameters), with its rule: double(x): x * 2"),
            (
                "f(1a): 2",
                "2:3 in 'f(1a)', '1a' is no identifier | write it as name(parameters), with its rule: double(x): x * 2"
            ),
            ("f(in): 2", "2:3 in 'f(in)', 'in' has a meaning in rules"),
            ("f(a, a): 2", "2:3 in 'f(a, a)', two parameters have the same name"),
            ("size(a): 2", "2:3 'size' is a function of every rule | choose another name"),
            ("average(a): 2", "2:3 'average' is a function of every rule | choose another name"),
            ("f(a): a +", "2:12 expected an expression, found the end"),
            ("f(a): b + 1", "2:9 undeclared reference to 'b'"),
            ("f(a): [1]", "2:9 the rule of f() is a text, not a list | write f(a): rule"),
            (
                "f(a): f(a) + 1",
                "2:9 a function cannot call itself: f → f | list.reduce(acc, x, start, step) repeats a step"
            ),
        ]) func mistakes(function: String, message: String)
    {
        #expect(onlyFault(document(function)) == message)
    }

    @Test("a call with wrong arguments is told at the call") func arguments() {
        #expect(
            onlyFault(document("half(n): n / 2", "half(\"a\")"))
                == "6:21 in half(): found no matching overload for '/' applied to '(string, int)' | string(x) makes a string of a value"
        )
        #expect(onlyFault(document("half(n): n / 2", "half()")) == "6:21 half() takes one argument | as half(n)")
    }
}
