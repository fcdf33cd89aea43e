import AttributeValues
import Testing

@testable import RuleLanguage

/// What rules cost: in steps, which stand for processor time.
@Suite("Work of rules")
struct WorkTests {
    private static var scope: RuleScope {
        let scope = RuleScope()
        for name in ["t", "u", "zone", "key"] { scope.declare(name, RuleType.string) }
        scope.declare("b", RuleType.bytes)
        scope.declare("now", RuleType.timestamp)
        scope.declare("m", RuleType.map(.string, .dyn))
        scope.declare("l", RuleType.list(.dyn))
        scope.declare("s", RuleType.list(.string))
        return scope
    }

    private static func values(_ size: Int) -> ValueMap {
        let text = Value.string(String(repeating: "a", count: size))
        // The same content in memory of its own.
        let other = Value.string(String(decoding: [UInt8](repeating: 97, count: size), as: UTF8.self))
        return bindings([
            "t": text, "u": other, "zone": text, "key": text, "b": .bytes([UInt8](repeating: 97, count: size)),
            "now": .timestamp(.epoch),
            "m": ["x": 1, "y": 2], "l": [other], "s": [text, other],
        ])
    }

    private static func cost(_ rule: String, _ size: Int) throws -> Int {
        let evaluator = Evaluator()
        _ = evaluator.evaluate(try Rule.compile(rule, in: scope), bindings: values(size))
        return evaluator.lastCost
    }

    @Test(
        "a function that reads a text costs at least a step for each 20 bytes of it",
        arguments: [
            "size(t)", "t.size()", "int(t)", "uint(t)", "double(t)", "bool(t)", "bytes(t)", "string(b)", "timestamp(t)",
            "duration(t)", "now.getHours(zone)",
            "m[key]", "m[?key]", "key in m", "t in l", "t == u", "t != u", "t < u", "[[t]] == [[u]]",
            "{'x': t} == {'x': u}", "b == bytes(u)",
            "optional.of(t) == optional.of(u)", "t.contains(u)", "t.startsWith(u)", "t.endsWith(u)", "t.contains('ab')",
            "t + u", "'x' + t + 'y'", "[t] == l",
            "{t: 1}", "l.transformMap(i, e, {t: 1})", "t.lowerAscii()", "t.upperAscii()", "t.trim()", "t.reverse()",
            "strings.quote(t)", "t.charAt(0)", "t.substring(0)", "t.indexOf('b')",
            "t.lastIndexOf('b')", "t.replace('b', 'c')", "t.split('b')", "s.join()", "'%s'.format([t])",
            "'%x'.format([t])", "'%s'.format([[t]])", "t.format([])",
            "base64.encode(b)", "base64.decode(t)", "s.distinct()", "s.sort()", "s.sortBy(e, e)",
            "sets.contains([t], [u])", "t.matches('b')", "t.matches('b' + string(l.size()))",
            "regex.extract(t, 'b')", "regex.extractAll(t, 'b')", "regex.replace(t, 'b', 'c')",
        ]) func texts(rule: String) throws
    {
        let small = try Self.cost(rule, 20)
        let large = try Self.cost(rule, 100_020)
        #expect(large - small >= 5000, "\(small) and \(large)")
    }

    @Test(
        "a function that does not read its arguments costs the same for all",
        arguments: [
            "type(t)", "dyn(t) == 3", "l.first()", "optional.of(t).hasValue()", "isIP(t)", "isCIDR(t)", "size(l)",
        ]) func constant(rule: String) throws
    {
        #expect(try Self.cost(rule, 20) == Self.cost(rule, 100_000))
    }

    @Test("a call that is too large for the rest of the budget is not begun") func refused() throws {
        var limits = RuleLimits()
        limits.cost = 1000
        let scope = RuleScope(limits: limits)
        scope.declare("t", RuleType.string)
        let evaluator = Evaluator()
        let text = Value.string(String(repeating: "a", count: 1_000_000))
        for rule in [
            "size(t) > 0 || true", "lists.range(10).all(i, t.size() > i)", "t.matches('[ab]*a[ab]{900}c')",
            "'a'.matches(t.substring(0, 3) + '{1000}')",
        ] {
            let failure = evaluator.evaluate(try Rule.compile(rule, in: scope), bindings: bindings(["t": text])).failure
            #expect(failure?.code == .limit, "\(rule)")
        }
    }

    @Test(
        "a pattern costs by what its compilation may take: classes of Unicode, and repetitions until its memory is full"
    ) func compilation() {
        #expect(Pattern.compilationCost("abc") < 200)
        #expect(Pattern.compilationCost("\\pL") > 1600)
        #expect(Pattern.compilationCost(String(repeating: "\\pL", count: 1000)) > 1_600_000)
        #expect(Pattern.compilationCost("\\pL{1,1000}7") > 26_000)
        #expect(Pattern.compilationCost("\\d{4}-\\d{2}") < 4000)
        #expect(Pattern.compilationCost("(a{30}){30}") > 26_000)
        #expect(Pattern.compilationCost(String(repeating: ".{1000}", count: 100)) > 300_000)
        #expect(Pattern.compilationCost("x{1,}{,3}{") < 1000)
    }

    @Test("each search costs by the text's length and the pattern's size, and each of many by the rest of the text")
    func searching() throws {
        let short = try Self.cost("t.matches('[ab]*a[ab]{9}c')", 10_000)
        let long = try Self.cost("t.matches('[ab]*a[ab]{900}c')", 10_000)
        #expect(long > 30 * short)
        let once = try Self.cost("regex.extractAll(t, 'b')", 2000)
        let often = try Self.cost("regex.extractAll(t, 'a')", 2000)
        #expect(often - once > 2000 * 1000 / 32)
        #expect(try evaluate("regex.extractAll('a1b22', r'\\d+')") == .value(["1", "22"]))
        #expect(try evaluate("regex.replace('äöü', '', '-')") == .value("-ä-ö-ü-"))
    }

    @Test("constant patterns of a rule are compiled with it up to a bound, the others when they are used")
    func constants() throws {
        let costly = "'a'.matches('\\\\pL{900}')"
        let rule = "[" + Array(repeating: costly, count: 30).joined(separator: ", ") + "]"
        let program = try Rule.compile(rule, in: Self.scope)
        #expect(program.form.parts.patterns.count < 30)
        let evaluator = Evaluator()
        #expect(evaluator.evaluate(program).failure?.message.contains("too large") == true)
        #expect(evaluator.lastCost > 26_000)
        let cheap = try Rule.compile("['a'.matches('a'), 'b'.matches('[a-z]')]", in: Self.scope)
        #expect(cheap.form.parts.patterns.count == 2 && evaluator.evaluate(cheap) == .value([true, true]))
    }

    @Test("faults that are absorbed cost what it takes to make them") func faults() throws {
        let evaluator = Evaluator()
        let program = try Rule.compile("lists.range(100).all(i, 1 / (i - i) > 0 || true)", in: Self.scope)
        #expect(evaluator.evaluate(program) == .value(true))
        #expect(evaluator.lastCost > 2000)
    }

    @Test("literals and chains cost by their parts, maps by their entries") func literals() throws {
        for (few, many) in [
            ("[t, t]", "[\(Array(repeating: "t", count: 50).joined(separator: ", "))]"),
            ("t + t", Array(repeating: "t", count: 50).joined(separator: " + ")),
        ] {
            #expect(
                try Self.cost("lists.range(100).all(i, size(\(many)) >= i - i)", 0) > Self.cost(
                    "lists.range(100).all(i, size(\(few)) >= i - i)", 0) + 4000)
        }
        #expect(try Self.cost("lists.range(1000).transformMap(i, v, v)", 0) > 5000)
    }

    @Test("the compiler evaluates constants within a bound, and leaves the rest to each run") func folding()
        throws
    {
        let program = try Rule.compile(
            "[\(Array(repeating: "lists.range(5000)", count: 100).joined(separator: ", "))].size()", in: Self.scope)
        let evaluator = Evaluator()
        #expect(evaluator.evaluate(program) == .value(100))
        #expect(evaluator.lastCost > 500_000)
    }

    @Test("parts of texts are found where they are, as before") func finding() throws {
        for (rule, expected) in [
            ("'aaaab'.contains('aab')", true), ("'abcabcabcabd'.contains('abcabcabd')", true),
            ("'abc'.contains('abcd')", false), ("''.contains('')", true),
            ("'a,b,,c'.split(',') == ['a', 'b', '', 'c']", true), ("'aXXbXXc'.replace('XX', '-') == 'a-b-c'", true),
            ("'éaé'.split('') == ['é', 'a', 'é']", true), ("'abc'.split('', 2) == ['a', 'bc']", true),
            ("'a'.split('', 2) == ['a']", true), ("''.split('') == []", true),
            ("'éaé'.indexOf('é', 1) == 2", true),
            ("'%x'.format(['hi']) == '6869'", true), ("isIP('1.2.3.4')", true), ("isCIDR('1.2.3.0/24')", true),
        ] as [(String, Value)] {
            #expect(try evaluate(rule) == .value(expected), "\(rule)")
        }
    }
}
