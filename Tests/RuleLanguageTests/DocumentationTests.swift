import AttributeValues
import Testing

@testable import RuleLanguage

/// The examples of `Documentation/Rules.md`: in blocks marked `cel`, one per line, `rule → result`. The result is an
/// expression too, or `error: ` and the message.
@Suite("The rules page")
struct DocumentationTests {
    private static let page: String? = SharedData.read(SharedData.root + "/Documentation/Rules.md").map {
        String(decoding: $0, as: UTF8.self)
    }

    private static var examples: [(rule: String, result: String)] {
        var examples: [(String, String)] = []
        var isExample = false
        for line in (page ?? "").split(separator: "\n") {
            if line.hasPrefix("```") {
                isExample = line == "```cel"
            } else if isExample, let arrow = line.unicodeScalars.firstIndex(of: "→") {
                func trim(_ text: Substring) -> String {
                    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
                }
                examples.append((trim(line[..<arrow]), trim(line[line.unicodeScalars.index(after: arrow)...])))
            }
        }
        return examples
    }

    /// What the page says is in scope.
    private static var scope: (RuleScope, ValueMap) {
        let scope = RuleScope()
        let variables: [(String, RuleType, Value)] = [
            ("count", .int, 3), ("ratio", .double, 0.5), ("title", .string, "Some Episode"), ("isPlaying", .bool, true),
            ("episode", .map(.string, .dyn), ["title": "Some Episode", "number": 7, "notes": .null]),
            ("items", .list(.map(.string, .dyn)), [["id": "a", "done": true], ["id": "b", "done": false]]),
            ("now", .timestamp, .timestamp(CivilMoment.leapDay)),
            ("limit", .wrapper(.int), .null), ("anything", .dyn, 2.0),
            (
                "subviews", .list(.map(.string, .dyn)),
                [["id": "first", "index": 0, "tag": 1, "containerValues": ["isFeatured": true]]]
            ),
        ]
        for (name, type, _) in variables { scope.declare(name, type) }
        scope.declareNamespace("env", keysAre: "environment key", ["locale": .string])
        scope.declareNamespace("self", keysAre: "property of self", ["id": .string, "path": .string, "index": .int])
        scope.declareNamespace("preferences", keysAre: "preference", ["widest": .int])
        var bindings = ValueMap(variables.map { (.string($0.0), $0.2) })
        bindings["env.locale"] = "en_US"
        bindings["self.id"] = "player"
        bindings["self.path"] = "/player"
        bindings["self.index"] = 0
        bindings["preferences.widest"] = 120
        return (scope, bindings)
    }

    @Test("every example gives what it says")
    func examples() throws {
        let (scope, bindings) = Self.scope
        let evaluator = Evaluator()
        for (rule, result) in Self.examples {
            var message: String?
            var value: Value?
            do {
                switch evaluator.evaluate(try Rule.compile(rule, in: scope), bindings: bindings) {
                case .value(let found): value = found
                case .failure(let failure): message = failure.message
                }
            } catch {
                message = error.errors[0].message
            }
            if result.hasPrefix("error: ") {
                #expect(message == String(result.dropFirst("error: ".count)), "\(rule)")
            } else {
                let expected = evaluator.evaluate(try Rule.compileUnchecked(result, in: scope))
                #expect(
                    value == expected.value && value != nil, "\(rule) gives \(message ?? value?.jsonText ?? "nothing")")
            }
        }
        #expect(Self.examples.count > 200)
    }

    @Test("the page gives the limits that hold")
    func limits() {
        let rows = Set(
            (Self.page ?? "").split(separator: "\n").filter { $0.hasPrefix("|") }.compactMap { row in
                row.split(separator: "|").last.flatMap { Int($0.filter { $0 != " " }) }
            })
        let limits = RuleLimits()
        for limit in [
            limits.sourceLength, limits.nesting, limits.nodes, limits.errors, limits.cost, limits.textSize,
            limits.resultSize,
            limits.resultDepth,
        ] {
            #expect(rows.contains(limit), "\(limit)")
        }
    }

    @Test("every function and macro has an example")
    func coverage() {
        let rules = Self.examples.map(\.rule).joined(separator: "\n")
        let macros = [
            "has", "all", "exists", "exists_one", "existsOne", "map", "filter", "transformList", "transformMap",
            "transformMapEntry",
            "sortBy", "optMap", "optFlatMap", "cel.bind", "cel.block",
        ]
        for name in RuleScope().functionNames + macros {
            #expect(rules.contains("\(name)("), "\(name)")
        }
    }
}
