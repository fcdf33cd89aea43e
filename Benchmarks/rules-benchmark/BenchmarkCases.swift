import AttributeValues
import RuleLanguage

/// A rule with its names and their values.
struct BenchmarkCase {
    var name: String
    var rule: String
    var types: [String: RuleType]
    var bindings: ValueMap
    var expected: Value

    init(_ name: String, _ rule: String, _ variables: [String: (RuleType, Value)], _ expected: Value) {
        self.name = name
        self.rule = rule
        types = variables.mapValues(\.0)
        bindings = ValueMap(variables.map { (.string($0.key), $0.value.1) })
        self.expected = expected
    }

    var scope: RuleScope {
        let scope = RuleScope()
        for (name, type) in types { scope.declare(name, type) }
        return scope
    }
}

extension BenchmarkCase {
    /// Ten expressions that CEL implementations are compared with.
    static var all: [BenchmarkCase] {
        let numbers = Value.list((0..<100).map { .int($0) })
        let users = Value.list(
            (0..<100).map { number in
                [
                    "name": .string("user\(number / 10)\(number % 10)"), "age": .int(Int64(number)),
                    "active": .bool(number % 2 == 0), "group": .string("g\(number % 7)"),
                ]
            })
        func time(_ seconds: Int64) -> Value { Timestamp(seconds: seconds).map { .timestamp($0) } ?? .null }
        return [
            BenchmarkCase("00_baseline_true", "true", [:], true),
            BenchmarkCase("01_arith", "x + 2 * y - 4", ["x": (.int, 10), "y": (.int, 7)], 20),
            BenchmarkCase(
                "02_select_and_prefix", "a.b > 3 && c.startsWith(\"x\")",
                ["a": (.map(.string, .int), ["b": 5]), "c": (.string, "xylophone")], true),
            BenchmarkCase(
                "03_role_in_list", "user.age >= 18 && \"admin\" in user.roles",
                ["user": (.map(.string, .dyn), ["age": 30, "roles": ["dev", "ops", "admin"]])], true),
            BenchmarkCase(
                "04_has_ternary", "has(cfg.timeout) ? cfg.timeout : 30",
                ["cfg": (.map(.string, .int), ["timeout": 12, "retries": 3])], 12),
            BenchmarkCase(
                "05_string_build", "name + \"-\" + string(id)", ["name": (.string, "worker"), "id": (.int, 42)],
                "worker-42"),
            BenchmarkCase(
                "06_regex", "path.matches(\"^/api/v[0-9]+/users/\")", ["path": (.string, "/api/v2/users/1234")], true),
            BenchmarkCase(
                "07_time_window", "now - start < duration(\"1h\") && now.getFullYear() == 2026",
                ["now": (.timestamp, time(1_780_000_000)), "start": (.timestamp, time(1_779_998_000))], true),
            BenchmarkCase("08_all_100", "items.all(i, i >= 0)", ["items": (.list(.int), numbers)], true),
            BenchmarkCase("09_filter_100", "items.filter(i, i % 2 == 0).size()", ["items": (.list(.int), numbers)], 50),
            BenchmarkCase(
                "10_filter_map_objs_100", "users.filter(u, u.active && u.age > 30).map(u, u.name).size()",
                ["users": (.list(.map(.string, .dyn)), users)], 34),
        ]
    }
}
