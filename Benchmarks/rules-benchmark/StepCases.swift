import AttributeValues
import CAllocationCounter
import Glibc
import RuleLanguage

/// Nanoseconds of processor time that a step takes, for each kind and size of work. The limit is 50.
enum StepCases {
    /// Rules in a loop: `t` is a text, `u` an equal one elsewhere, `l` a list, `m` a map, `n` the number of runs.
    static let bodies: [(name: String, body: String)] = [
        ("add", "i + i >= 0"), ("double", "1.5 * double(i) >= 0.0"), ("size", "size(t) >= i - i"), ("equal", "t == u"),
        ("less", "!(t < u)"),
        ("int", "int(t) == 0 || true"), ("uint", "uint(t) == 0u || true"), ("double text", "double(t) == 0.0 || true"),
        ("bool", "bool(t) || true"),
        ("timestamp", "timestamp(t) == now || true"), ("duration", "duration(t) == d || true"),
        ("bytes", "bytes(t).size() >= 0"),
        ("string bytes", "string(b) != ''"), ("string double", "string(double(i) + 0.123) != ''"),
        ("string now", "string(now) != ''"),
        ("isIP", "isIP(t) || true"), ("isIP short", "isIP('2001:db8::1' + x)"), ("isCIDR", "isCIDR(t) || true"),
        ("ip", "ip('127.0.0.' + string(i % 200)).isLoopback()"),
        ("isCanonical", "ip.isCanonical(t) || true"), ("hours", "now.getHours(t) >= 0 || true"),
        ("hours zone", "now.getHours('Europe/Berlin' + x) >= 0"),
        ("look-up", "m[t] == 1 || true"), ("in map", "t in m || true"), ("in list", "!(t in l)"),
        ("optional", "optional.of(t) == optional.of(u)"),
        ("nested", "[[t]] == [[u]]"), ("lists", "l == k"), ("contains", "!t.contains('aaaaaaab')"),
        ("startsWith", "t.startsWith(u)"), ("endsWith", "t.endsWith(u)"),
        ("concat", "(t + u).size() > 0"), ("lists concat", "(l + k).size() >= 0"), ("lower", "t.lowerAscii() != ''"),
        ("upper", "t.upperAscii() != ''"),
        ("trim", "w.trim() == '' || true"), ("trim a", "t.trim() != '' || true"), ("reverse", "t.reverse() != ''"),
        ("quote", "strings.quote(t) != ''"), ("quote q", "strings.quote(q) != ''"),
        ("charAt", "t.charAt(size(t) - 1) != '' || true"), ("substring", "t.substring(1) != '' || true"),
        ("indexOf", "t.indexOf('aab') == -1"),
        ("lastIndexOf", "t.lastIndexOf('baa') == -1"), ("replace", "t.replace('a', 'b') != ''"),
        ("replace empty", "t.replace('', 'b') != ''"),
        ("split", "t.split('a').size() >= 0"), ("split empty", "t.split('').size() >= 0"),
        ("join", "s.join(',') != 'x'"), ("format", "'%s %s'.format([t, i]) != ''"),
        ("format list", "'%s'.format([s]) != ''"),
        ("format map", "'%s'.format([m]) != ''"), ("format hex", "'%x'.format([t]) != ''"),
        ("format fixed", "'%.900f'.format([1.0e300]) != ''"), ("format %", "p.format([]) != ''"),
        ("base64", "base64.encode(b) != 'x'"), ("unbase64", "base64.decode(t) != b || true"),
        ("distinct", "s.distinct().size() >= 0"), ("distinct lists", "ll.distinct().size() >= 0"),
        ("sort", "s.sort().size() >= 0"), ("sortBy", "l.sortBy(e, -e).size() >= 0"),
        ("sets", "!sets.contains(l, [-1, t])"), ("flatten", "ll.flatten().size() >= 0"),
        ("list reverse", "l.reverse().size() >= 0"), ("slice", "l.slice(0, l.size()).size() >= 0"),
        ("greatest", "math.greatest(l) >= 0 || true"), ("range", "lists.range(l.size()).size() >= 0"),
        ("map", "l.map(e, e + 1).size() >= 0"), ("filter", "l.filter(e, e > 3).size() >= 0"),
        ("transformMap", "l.transformMap(k1, e, e).size() >= 0"),
        ("transformEntry", "l.transformMapEntry(k1, e, {k1: e}).size() >= 0"),
        ("exists text", "!s.exists(e, e == 'x')"), ("map all", "m.all(e, e != 'x')"),
        ("list literal", "[i, i, i, i, i, i, i, i].size() > 0"),
        ("map literal", "{'a': i, 'b': i, 'c': i, 'd': i}.size() > 0"),
        ("division by zero", "1 / (i - i) > 0 || true"), ("no overload", "dyn(l) + dyn(i) == 3 || true"),
        ("no key", "m['abc' + x] == 1 || true"), ("bounds", "l[-1 - i] == 1 || true"),
        ("pattern", "t.matches('a+$' + x) || true"), ("pattern p", "'abc'.matches('\\\\pL' + x)"),
        ("pattern 1000", "'abc'.matches('\\\\pL{1,1000}' + string(i)) || true"),
        ("pattern dots", "'abc'.matches('.{1000}.{1000}.{1000}' + x) || true"),
        ("pattern constant", "t.matches('[0-9]+[ab]')  || true"),
        ("slow pattern", "z.matches('[ab]*a[ab]{900}c') || true"),
        ("slow pattern 20", "z.matches('[ab]*a[ab]{20}c') || true"),
        ("extractAll", "regex.extractAll(t, 'a').size() >= 0"),
        ("extractAll lazy", "regex.extractAll(t, 'a.*z|a').size() >= 0"),
        ("regex replace", "regex.replace(t, 'a(a)', '\\\\1') != '!'"), ("bind", "cel.bind(v, i + 1, v + v) > 0"),
        ("optMap", "optional.of(i).optMap(v, v + 1).hasValue()"),
    ]

    static func run(_ wanted: String) throws {
        var limits = RuleLimits()
        limits.cost = 400_000
        let scope = RuleScope(limits: limits)
        let types: [(String, RuleType)] = [
            ("t", .string), ("u", .string), ("w", .string), ("q", .string), ("p", .string), ("z", .string),
            ("x", .string), ("b", .bytes), ("l", .list(.dyn)), ("k", .list(.dyn)), ("s", .list(.string)),
            ("ll", .list(.dyn)),
            ("m", .map(.string, .dyn)), ("now", .timestamp), ("d", .duration), ("n", .int),
        ]
        for (name, type) in types { scope.declare(name, type) }
        let evaluator = Evaluator()
        var worst = 0.0
        for (name, body) in bodies where wanted.isEmpty || name.hasPrefix(wanted) {
            let program = try Rule.compile("lists.range(n).all(i, \(body))", in: scope)
            for size in [0, 1, 16, 256, 4096, 65_536, 1_000_000] {
                let bindings = values(size)
                let before = processorTime()
                var steps = 0
                var ended = 0
                repeat {
                    _ = evaluator.evaluate(program, bindings: bindings)
                    steps += evaluator.lastCost
                    ended += 1
                } while processorTime() - before < 0.004
                let time = (processorTime() - before) * 1e9
                worst = max(worst, time / Double(steps))
                let line: Value = [
                    "steps": .string(name), "size": .int(Int64(size)),
                    "ns": .double((time / Double(steps) * 10).rounded() / 10),
                    "ms": .double((time / Double(ended) / 1e5).rounded() / 10),
                ]
                print(line.jsonText)
            }
        }
        print((["worst": .double(worst)] as Value).jsonText)
        if wanted.isEmpty { runReading() }
    }

    private static func values(_ size: Int) -> ValueMap {
        func text(_ unit: String) -> Value { .string(String(repeating: unit, count: size / unit.utf8.count)) }
        let elements = (0..<min(size, 100_000)).map { Value.int(Int64($0 * 7919 % 10_007)) }
        let texts = (0..<min(size, 100_000)).map { Value.string("element number \($0 * 7919 % 10_007)") }
        var random: UInt32 = 1
        let letters = (0..<size).map { _ -> UInt8 in
            random = random &* 1_103_515_245 &+ 12_345
            return 97 + UInt8(random >> 20 & 1)
        }
        var values = ValueMap()
        values["t"] = text("a")
        values["u"] = text("a")
        values["w"] = text("\u{2003}")
        values["q"] = text("\"")
        values["p"] = text("%%")
        values["z"] = .string(String(decoding: letters, as: UTF8.self))
        values["x"] = ""
        values["b"] = .bytes([UInt8](repeating: 97, count: size))
        values["l"] = .list(elements)
        values["k"] = .list(elements)
        values["s"] = .list(texts)
        values["ll"] = .list(elements.prefix(3000).map { .list([$0, $0]) })
        var map = ValueMap()
        for key in texts + [text("a"), text("b")] { map[key] = 1 }
        values["m"] = .map(map)
        values["now"] = Timestamp(seconds: 1_780_000_000).map { .timestamp($0) } ?? .null
        values["d"] = .duration(TimeSpan(nanoseconds: 5))
        values["n"] = 100_000
        return values
    }

    static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Nanoseconds of processor time that reading a rule takes for each byte, for a text of the longest length.
extension StepCases {
    static func runReading() {
        let parts: [(name: String, open: String, unit: String, close: String)] = [
            ("blanks", "", " ", "1"), ("list", "[", "1,", "1]"), ("or", "", "x||", "x"), ("unknown", "", "abcd||", "x"),
            ("calls", "[", "size(x),", "1]"),
            ("fold", "[", "lists.range(390),", "1]"), ("patterns", "[", "s.matches('\\\\pL{9}'),", "1]"),
            ("open", "", "(", ""), ("text", "'", "a", "'"),
            ("faults", "", "~", ""), ("map", "[", "{x:1},", "1]"), ("macro", "[", "[1].map(i,i),", "1]"),
        ]
        let scope = RuleScope()
        scope.declare("x", RuleType.dyn)
        scope.declare("s", RuleType.string)
        for (name, open, unit, close) in parts {
            let text =
                open + String(repeating: unit, count: (100_000 - open.utf8.count - close.utf8.count) / unit.utf8.count)
                + close
            let before = processorTime()
            _ = try? Rule.compile(text, in: scope)
            let time = processorTime() - before
            let line: Value = [
                "reading": .string(name), "ns": .double((time * 1e9 / Double(text.utf8.count) * 10).rounded() / 10),
                "ms": .double((time * 1e4).rounded() / 10),
            ]
            print(line.jsonText)
        }
    }
}
