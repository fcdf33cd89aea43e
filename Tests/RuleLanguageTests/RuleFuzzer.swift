import TestSupport
import AttributeValues

@testable import RuleLanguage

/// Writes rules at random: soups of tokens, expressions after the grammar, and mutations of both.
struct RuleWriter {
    var random: SeededGenerator

    static let names = [
        "i", "u", "d", "s", "b", "by", "l", "m", "n", "t", "o", "dn", "a.b", "x", "y", "unknown", "math", "self",
    ]
    static let literals = [
        "0", "1", "-1", "2", "3u", "0u", "1.5", "-0.0", "1e300", "9223372036854775807", "-9223372036854775808",
        "18446744073709551615u", "true", "false", "null", "''", "'a'", "'ab\\u00e9c'", "\"x-1\"", "b'\\xff'", "r'\\d+'",
        "[]", "{}",
        "[1, 2, 3]", "['a', 'b']", "{'a': 1, 'b': {'c': 2}}", "{1: 2u, true: 'x'}", "'1h30m'", "'2024-02-29T12:00:00Z'",
        "'Europe/Berlin'", "duration('1h')", "timestamp('2024-02-29T12:00:00Z')", "optional.none()", "optional.of(1)",
        "'%s %d %.2f'", "int", "type(1)",
    ]
    static let operators = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "in", "&&", "||"]
    static let tokens =
        literals + names + operators + [
            "(", ")", "[", "]", "{", "}", ".", ",", ":", "?", "!", "-", ".?", "[?", "'", "\"", "`", "//", "\n", "has(",
            "cel.bind(x, ",
            ".map(x, ", ".exists(x, ", "0x", "1.", "e5", "\\", "é", "\u{1f600}", "\u{0}", "in", "==", "package",
        ]
    static let functions: [String] = RuleScope().functionNames.sorted()
    static let macros = [
        "all", "exists", "exists_one", "existsOne", "map", "filter", "transformList", "transformMap",
        "transformMapEntry",
        "sortBy", "optMap", "optFlatMap",
    ]

    mutating func pick<T>(_ choices: [T]) -> T { choices[Int(random.next() % UInt64(choices.count))] }
    mutating func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

    mutating func rule() -> String {
        switch number(10) {
        case 0: return (0..<number(40) + 1).map { _ in pick(RuleWriter.tokens) }.joined(separator: pick(["", " "]))
        case 1: return mutate(expression(4))
        case 2: return nested()
        default: return expression(1 + number(6))
        }
    }

    private mutating func mutate(_ text: String) -> String {
        var bytes = Array(text.utf8)
        for _ in 0...number(3) where !bytes.isEmpty {
            let at = number(bytes.count)
            switch number(4) {
            case 0: bytes.remove(at: at)
            case 1: bytes[at] = UInt8(truncatingIfNeeded: random.next())
            case 2: bytes.insert(contentsOf: pick(RuleWriter.tokens).utf8, at: at)
            default: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 8)], at: at)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func nested() -> String {
        let count = pick([3, 50, 240, 300, 2000])
        switch number(6) {
        case 0: return String(repeating: "(", count: count) + "1" + String(repeating: ")", count: count)
        case 1: return String(repeating: "[", count: count) + String(repeating: "]", count: count)
        case 2: return String(repeating: "-", count: count) + "i"
        case 3: return "i" + String(repeating: " + 1", count: count)
        case 4: return "m" + String(repeating: ".a", count: count)
        default: return (0..<min(count, 60)).reduce("i") { text, _ in "[1, 2].map(x, \(text))" }
        }
    }

    mutating func expression(_ depth: Int) -> String {
        if depth == 0 { return pick(number(2) == 0 ? RuleWriter.names : RuleWriter.literals) }
        switch number(16) {
        case 0...3: return "(\(expression(depth - 1)) \(pick(RuleWriter.operators)) \(expression(depth - 1)))"
        case 4: return "(\(expression(depth - 1)) ? \(expression(depth - 1)) : \(expression(depth - 1)))"
        case 5: return "\(pick(["!", "-"]))(\(expression(depth - 1)))"
        case 6: return "\(expression(depth - 1))\(pick([".", ".?"]))\(pick(["a", "b", "c", "name", "`x-y`"]))"
        case 7: return "\(expression(depth - 1))\(pick(["[", "[?"]))\(expression(depth - 1))]"
        case 8: return "has(\(expression(depth - 1)).\(pick(["a", "b"])))"
        case 9:
            let elements = (0..<number(4)).map { _ in pick(["", "", "", "?"]) + expression(depth - 1) }
            return "[\(elements.joined(separator: ", "))]"
        case 10:
            let entries = (0..<number(3)).map { _ in
                pick(["", "", "?"]) + "\(expression(depth - 1)): \(expression(depth - 1))"
            }
            return "{\(entries.joined(separator: ", "))}"
        case 11, 12:
            let macro = pick(RuleWriter.macros)
            let variables = macro.hasPrefix("transform") || number(4) == 0 ? "x, y" : "x"
            let bodies = (0...number(2)).map { _ in expression(depth - 1) }.joined(separator: ", ")
            return "\(expression(depth - 1)).\(macro)(\(variables), \(bodies))"
        case 13: return "cel.bind(x, \(expression(depth - 1)), \(expression(depth - 1)))"
        case 14:
            let arguments = (0..<number(3)).map { _ in expression(depth - 1) }.joined(separator: ", ")
            return "\(pick(RuleWriter.functions))(\(arguments))"
        default:
            let arguments = (0..<number(3)).map { _ in expression(depth - 1) }.joined(separator: ", ")
            return "\(expression(depth - 1)).\(pick(RuleWriter.functions))(\(arguments))"
        }
    }
}

/// Runs rules in all the ways there are and compares.
struct RuleFuzzer {
    var writer: RuleWriter
    let scope: RuleScope
    let bindings: ValueMap
    private let evaluator = Evaluator()
    private(set) var rules = 0
    private(set) var valid = 0
    private(set) var values = 0

    init(seed: UInt64) {
        writer = RuleWriter(random: SeededGenerator(seed: seed))
        var limits = RuleLimits()
        limits.cost = 20_000
        limits.textSize = 100_000
        limits.resultSize = 10_000
        scope = RuleScope(limits: limits)
        let variables: [(String, RuleType, Value)] = [
            ("i", .int, 7), ("u", .uint, .uint(3)), ("d", .double, 2.5), ("s", .string, "hällo"), ("b", .bool, true),
            ("by", .bytes, .bytes([1, 255])), ("l", .list(.int), [3, 1, 2]), ("n", .wrapper(.int), .null),
            ("m", .map(.string, .dyn), ["a": 1, "b": ["a": [1, "x"]]]),
            ("t", .timestamp, .timestamp(CivilMoment.leapDay)),
            ("o", .optional(.map(.string, .int)), .optional(["a": 1])), ("dn", .dyn, ["a": 1.5, "b": [1, 2]]),
            ("a.b", .int, 9),
        ]
        for (name, type, _) in variables { scope.declare(name, type) }
        bindings = ValueMap(variables.map { (.string($0.0), $0.2) })
    }

    /// One rule; a sentence about what went wrong, or nil.
    mutating func round() -> String? {
        let text = writer.rule()
        rules += 1
        do throws(RuleErrors) {
            let unchecked = try Rule.compileUnchecked(text, in: scope)
            valid += 1
            let result = evaluator.evaluate(unchecked, bindings: bindings)
            let again = evaluator.evaluate(unchecked, bindings: bindings)
            guard same(result, again) else { return "\(text)\n gives \(result), then \(again)" }
            if case .value(let value) = result {
                values += 1
                guard let back = try? Value(typedJSON: value.typedJSON), back == value || hasOpaque(value) else {
                    return "\(text)\n gives \(value), which typed JSON loses"
                }
            }
            if let fault = interrupted(unchecked, result) { return "\(text)\n \(fault)" }
            // Cost limits fall at different places in programs that are made differently.
            if result.failure?.code == .limit { return nil }
            if let checked = try? Rule.compile(text, in: scope) {
                let other = evaluator.evaluate(checked, bindings: bindings)
                guard same(result, other) else { return "\(text)\n unchecked gives \(result), checked \(other)" }
                if let fault = mismatch(checked, other) ?? misadapted(checked) { return "\(text)\n \(fault)" }
            }
            let traced = try Explanation(text, in: scope, bindings: bindings, isChecked: false).result
            if traced.failure?.code == .limit { return nil }
            guard same(result, traced) else { return "\(text)\n gives \(result), traced \(traced)" }
        } catch {
            guard !error.errors.isEmpty, error.errors.allSatisfy({ $0.line >= 1 && $0.column >= 1 }) else {
                return "\(text)\n is refused without a place"
            }
        }
        return nil
    }

    /// A program with other numbers gives what the text with these numbers gives when it is compiled.
    private func misadapted(_ program: Program) -> String? {
        let digits = Array("1234567890")
        let text = String(
            program.text.map { sign in digits.firstIndex(of: sign).map { digits[($0 + 1) % 10] } ?? sign })
        guard Rule.shape(of: text) == Rule.shape(of: program.text), let adapted = program.adapted(to: text),
            let compiled = try? Rule.compile(text, in: scope)
        else { return nil }
        let (got, wanted) = (
            evaluator.evaluate(adapted, bindings: bindings), evaluator.evaluate(compiled, bindings: bindings)
        )
        if got.failure?.code == .limit || wanted.failure?.code == .limit { return nil }
        guard same(got, wanted), got.failure?.line == wanted.failure?.line,
            got.failure?.column == wanted.failure?.column
        else { return "adapted to \(text) gives \(got), compiled \(wanted)" }
        return nil
    }

    private func same(_ a: Content, _ b: Content) -> Bool {
        switch (a, b) {
        case (.value(let x), .value(let y)): x == y
        case (.failure, .failure): true
        default: false
        }
    }

    private func hasOpaque(_ value: Value) -> Bool { value.typedJSON.jsonText.contains("net.") }

    /// The checker's promise about the result's type.
    private func mismatch(_ program: Program, _ content: Content) -> String? {
        guard case .value(let value) = content, let name = program.resultType.runtimeName else { return nil }
        return value.typeName == name
            ? nil : "is of type \(program.resultType), but gives \(value) of type \(value.typeName)"
    }

    /// A run that is interrupted at a read leaves nothing behind.
    private func interrupted(_ program: Program, _ result: Content) -> String? {
        for stop in 0..<min(2, program.inputs.count) {
            var reader = InterruptingReader(inner: BindingsReader(program, bindings), remaining: stop)
            switch evaluator.evaluate(program, &reader) {
            case .interrupted: if !reader.wasInterrupted { return "is interrupted by itself" }
            case .content: if reader.wasInterrupted { return "absorbs an interruption" }
            }
        }
        return same(evaluator.evaluate(program, bindings: bindings), result) ? nil : "differs after an interruption"
    }
}

enum CivilMoment {
    static var leapDay: Timestamp {
        guard let time = Timestamp("2024-02-29T23:59:59.5Z") else { preconditionFailure("RFC 3339 is not read") }
        return time
    }
}

/// Interrupts after a number of reads.
struct InterruptingReader: RuleReader {
    var inner: BindingsReader
    var remaining: Int
    private(set) var wasInterrupted = false

    init(inner: BindingsReader, remaining: Int) {
        self.inner = inner
        self.remaining = remaining
    }

    private mutating func mayRead() -> Bool {
        if remaining == 0 { wasInterrupted = true }
        remaining -= 1
        return !wasInterrupted
    }

    mutating func read(_ input: Int, into register: InputRegister) -> Reading {
        mayRead() ? inner.read(input, into: register) : .interrupted
    }

    mutating func read(_ input: Int, at steps: [AttributePath.Step], into register: InputRegister) -> Reading {
        mayRead() ? inner.read(input, at: steps, into: register) : .interrupted
    }
}

extension RuleType {
    /// What a value of this type is known as at run time, where that is certain.
    fileprivate var runtimeName: String? {
        switch self {
        case .scalar(let type): type.typeName
        case .list: "list"
        case .map: "map"
        case .type: "type"
        case .abstract(let name, _): name
        case .dyn, .error, .wrapper, .parameter, .variable: nil
        }
    }
}
