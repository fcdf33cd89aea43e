import AttributeValues
import RuleCases
import Testing

@testable import RuleLanguage

/// Cases in the form of the conformance suite.
struct ConformanceFile {
    struct Case {
        var name: String
        var test: ValueMap
    }
    var cases: [Case] = []

    /// From JSON lines, each a case.
    init(lines: [UInt8]) throws {
        for (number, line) in lines.split(separator: 10).enumerated() {
            guard let test = try JSONParser.parseOnce(line).map else { continue }
            cases.append(Case(name: "line \(number + 1)", test: test))
        }
    }

    init(_ json: Value) {
        for file in json.map?["files"]?.list ?? [] {
            for section in file.map?["sections"]?.list ?? [] {
                for test in section.map?["tests"]?.list ?? [] {
                    guard let test = test.map else { continue }
                    let names = [file.map?["name"], section.map?["name"], test["name"]].map { $0?.string ?? "?" }
                    cases.append(Case(name: names.joined(separator: "/"), test: test))
                }
            }
        }
    }

    /// Runs all and tells which do not give what they expect.
    func failures() throws -> [String] {
        let evaluator = Evaluator()
        var failures: [String] = []
        for testCase in cases {
            let ruleCase = try RuleCase(json: .map(testCase.test))
            let outcome = ruleCase.run(on: evaluator)
            guard let expected = testCase.test["expect"]?.map else { continue }
            if !(try Self.agrees(outcome, expected)) {
                failures.append(
                    "\(testCase.name): \(ruleCase.expression)\n  wants \(Value.map(expected))\n  gave \(outcome.json)")
            }
        }
        return failures
    }

    private static func agrees(_ outcome: RuleCase.Outcome, _ expected: ValueMap) throws -> Bool {
        let type = try expected["type"].map { try RuleType(json: $0) }
        switch outcome {
        case .value(let value, let found):
            guard let wanted = expected["value"] else { return false }
            return try value == Value(typedJSON: wanted) && (type == nil || type == found)
        case .type(let found): return type == found
        case .errors, .failure: return expected["error"] != nil
        }
    }
}

@Suite("The conformance suite")
struct ConformanceTests {
    @Test("every case of the selection in the repository gives the expected value, type or error")
    func selection() throws {
        let bytes = try #require(SharedData.read(SharedData.root + "/Tests/RuleLanguageTests/Fixtures/core.jsonl"))
        let file = try ConformanceFile(lines: bytes)
        for failure in try file.failures() { Issue.record(Comment(rawValue: failure)) }
        #expect(file.cases.count > 300)
    }

    @Test("every case of the official suite that is at hand gives the expected value, type or error")
    func officialSuite() throws {
        guard let json = try SharedData.json("cel/conformance.json") else { return }
        let file = ConformanceFile(json)
        let failures = try file.failures()
        print("conformance: \(file.cases.count - failures.count) of \(file.cases.count) pass")
        for failure in failures { Issue.record(Comment(rawValue: failure)) }
        #expect(file.cases.count >= 1397)
    }
}
