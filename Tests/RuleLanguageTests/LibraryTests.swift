import AttributeValues
import Testing

@testable import RuleLanguage

/// What the language has beyond CEL and its extensions. The page Rules.md has an example for each function.
@Suite("Additions to the language")
struct LibraryTests {
    private static func failure(_ rule: String, _ given: ValueMap = ValueMap()) throws -> Failure? {
        try evaluate(rule, given).failure
    }

    @Test("an int is converted beside a double if a type is known only when the rule runs") func mixed() throws {
        let cases: [(rule: String, given: Value, result: Value)] = [
            ("anything * 1.8", 2, 3.6), ("anything - 0.5", 2, 1.5), ("1.5 + anything", 2, 3.5),
            ("anything / 4.0", 2, 0.5),
            ("anything * 2", 1.5, 3.0), ("anything * 2", 3, 6), ("anything + 1", 2.5, 3.5), ("anything / 2", 7, 3),
            ("[1, 2.5].map(n, n * 2)", 0, [2, 5.0]),
        ]
        for (rule, given, result) in cases {
            #expect(try evaluate(rule, bindings(["anything": given])).value == result, "\(rule)")
        }
    }

    @Test("a rule over an int of unknown type has no type that a double would break") func unknown() throws {
        #expect(try Rule.type(of: "anything * 2", in: makeScope()) == .dyn)
        #expect(try Rule.type(of: "anything + 1.5", in: makeScope()) == .double)
        #expect(try Rule.type(of: "x * 2", in: makeScope()) == .int)
    }

    @Test("a quotient of ints beside a double is told with what to write") func quotient() {
        #expect(
            errors(of: "x / y * 1.5").first?.hint
                == "an int divided by an int is an int, 7 / 2 is 3: write double(a) / double(b)")
    }

    @Test("a branch of a conditional may be null") func null() throws {
        #expect(try Rule.type(of: "x > 1 ? x : null", in: makeScope()) == .wrapper(.int))
        #expect(try Rule.type(of: "x > 1 ? null : name", in: makeScope()) == .wrapper(.string))
        #expect(try Rule.type(of: "x > 1 ? maybe : null", in: makeScope()) == .wrapper(.int))
        #expect(try Rule.type(of: "x > 1 ? null : null", in: makeScope()) == .null)
        #expect(try evaluate("x > 1 ? x : null", bindings(["x": 1])).value == .null)
        #expect(errors(of: "x > 1 ? x : 'a'").count == 1)
    }

    @Test("orElse and isError catch what the rule and its inputs fail with") func caught() throws {
        let lost = bindings(["x": 1])
        #expect(try evaluate("orElse(numbers[3], 7)", bindings(["numbers": [1]])).value == 7)
        #expect(try evaluate("orElse(y, 7)", lost).value == 7)
        #expect(try evaluate("isError(y)", lost).value == true)
        #expect(try evaluate("isError(x)", lost).value == false)
        #expect(try evaluate("orElse(1 / 0, orElse(y, 3)) + 1", lost).value == 4)
        #expect(
            try evaluate("numbers.map(n, orElse(6 / n, -1))", bindings(["numbers": [2, 0, 3]])).value == [3, -1, 2])
        #expect(try evaluate("cel.bind(v, 1 / 0, orElse(v, 5))").value == 5)
        #expect(try evaluate("orElse([1, 2].map(n, n / 0), [9])").value == [9])
        #expect(try Rule.type(of: "orElse(x, null)", in: makeScope()) == .wrapper(.int))
        #expect(errors(of: "orElse(x, 'a')").first?.message.contains("'int' and 'string'") == true)
        #expect(errors(of: "orElse(x)").first?.hint == "as orElse(x / y, 0)")
        #expect(errors(of: "isError()").first?.message == "isError() takes an expression")
    }

    @Test("orElse reads its second part only after an error") func lazily() throws {
        let program = try Rule.compile("orElse(x, y)", in: makeScope())
        var reader = RecordingReader(program, bindings(["x": 1, "y": 2]))
        _ = Evaluator().evaluate(program, &reader)
        #expect(reader.reads == ["x"])
        #expect(program.inputs.map(\.isDefinite) == [true, false])
    }

    /// Every input fails with a code.
    private struct FailingReader: RuleReader {
        let code: ErrorCode
        mutating func read(_ input: Int, into register: InputRegister) -> Reading { .failure(Failure(code, "no")) }
        mutating func read(_ input: Int, at steps: [AttributePath.Step], into register: InputRegister) -> Reading {
            .failure(Failure(code, "no"))
        }
    }

    @Test(
        "orElse catches every error of an input but a limit and a cycle",
        arguments: [
            (.notFound, true), (.stale, true), (.typeMismatch, true), (.ruleFailed, true), (.limit, false),
            (.cycle, false),
        ] as [(ErrorCode, Bool)]) func codes(code: ErrorCode, isCaught: Bool) throws
    {
        for rule in ["orElse(x, 3) == 3", "isError(x)"] {
            let program = try Rule.compile(rule, in: makeScope())
            var reader = FailingReader(code: code)
            guard case .content(let content) = Evaluator().evaluate(program, &reader) else { return }
            #expect(content.value == (isCaught ? true : nil))
            #expect(content.failure?.code == (isCaught ? nil : code))
        }
        #expect(try Self.failure("orElse(lists.range(900000).map(n, n), [])")?.code == .limit)
    }

    @Test("reduce keeps the type of its start, and says so if a step has another") func reduceTypes() throws {
        #expect(try Rule.type(of: "numbers.reduce(sum, n, 0, sum + n)", in: makeScope()) == .int)
        #expect(try Rule.type(of: "numbers.reduce(l, n, [], l + [n])", in: makeScope()) == .list(.int))
        #expect(try Rule.type(of: "items.reduce(sum, i, 0.0, sum + i.price)", in: makeScope()) == .double)
        #expect(try evaluate("{'a': 1, 'b': 2}.reduce(t, k, '', t + k)").value == "ab")
        #expect(try evaluate("[].reduce(t, k, 5, t + 1)").value == 5)
        #expect(
            errors(of: "numbers.reduce(sum, n, 0, string(n))").first?.message
                == "reduce() begins with 'int', but its step gives 'string'")
        #expect(errors(of: "numbers.reduce(n, 0)").first?.hint == "as list.reduce(sum, x, 0, sum + x)")
    }

    @Test("an accumulator that nests without end is stopped, and one that grows is charged") func nesting() throws {
        #expect(try Self.failure("lists.range(100000).reduce(l, n, dyn([]), [l])")?.code == .limit)
        #expect(try Self.failure("lists.range(60).reduce(t, n, 'aa', t + t)")?.code == .limit)
        let doubling = try Self.failure("lists.range(60).reduce(l, n, [1], l + l)")
        #expect(doubling?.code == .limit)
        #expect(try evaluate("lists.range(100).reduce(m, n, {}, m.with(n, n)).size()").value == 100)
    }

    @Test(
        "what a function cannot do is told with what to do",
        arguments: [
            (
                "[].average(type(1))",
                "average() of an empty list is a number or a duration, not a value of type 'type'",
                nil
            ),
            ("[].average()", "average() of an empty list", "give a value for an empty list, as list.average(0)"),
            ("duration(1, 'y')", "unknown unit y", "the units are d, h, m, s, ms, us, ns"),
            (
                "timestamp(0).format('HH:nn')", "'nn' is no part of a time",
                "the parts are yyyy, MM, dd, HH, mm, ss, SSS, hh, a, EEE, MMM, XXX; text is put in ''"
            ),
            ("math.clamp(1, 3, 2)", "clamp(): the lower bound 3 is above the upper one 2", nil),
            (
                "[dyn(1), dyn('a')].max()",
                "max() compares elements of one type that have an order, not 'int' and 'string'", nil
            ),
            ("dyn(['a']).sum()", "sum() adds numbers or durations, not a value of type 'string'", nil),
            ("duration('200000h') * 2000000", "duration overflow", nil),
        ] as [(String, String, String?)]) func faults(rule: String, message: String, hint: String?) throws
    {
        let failure = try Self.failure(rule)
        #expect(failure?.message == message)
        #expect(failure?.hint == hint)
    }

    @Test(
        "a function costs what it walks",
        arguments: [
            "lists.range(N).sum()", "lists.range(N).average()", "lists.range(N).max()",
            "lists.range(N).reduce(a, n, 0, a + n)",
            "lists.range(N).map(n, {n: n}).reduce(m, n, {}, n)[0]", "lists.range(N).slice(0, N)",
        ]) func cost(rule: String) throws
    {
        func cost(_ size: Int) throws -> Int {
            let evaluator = Evaluator()
            _ = evaluator.evaluate(
                try Rule.compile(rule.split(separator: "N").joined(separator: "\(size)"), in: makeScope()))
            return evaluator.lastCost
        }
        #expect(try cost(10_000) - cost(1000) >= 18_000)
    }

    @Test("a pattern is a map, and a pattern with ** is refused") func patterns() throws {
        let scope = makeScope()
        scope.hasRoot = true
        #expect(try Rule.type(of: "$/*.battery", in: scope) == .map(.string, .dyn))
        #expect(try Rule.type(of: "$/rooms/*/*.battery['hall/a'] * 2.0", in: scope) == .dyn)
        #expect(
            try Rule.compile("$/*.battery.size() * 2", in: scope).inputs.first?.pattern?.description == "/*.battery")
        #expect(
            errors(of: "$/**.battery.size()", in: scope).map(\.message) == ["a pattern in a rule has no '**'"])
        #expect(errors(of: "$/rooms/* > 2", in: scope).count == 1)
        #expect(try Rule.type(of: "$/a.b * 2", in: scope) == .dyn)
    }
}
