import TestSupport
import Testing

@testable import RuleLanguage

/// `AGD_FUZZ_SECONDS=600 swift test --filter Fuzz` runs for ten minutes.
@Suite("Random rules")
struct FuzzTests {
    /// Rules of a run without a time given.
    private static let rounds = 3_000

    @Test("parser, checker, compiler and evaluator survive any rule, and agree however it is compiled")
    func randomRules() {
        let seed = freshSeed()
        var fuzzer = RuleFuzzer(seed: seed)
        let end = numberInEnvironment("AGD_FUZZ_SECONDS").map { ContinuousClock.now + .seconds($0) }
        while end.map({ ContinuousClock.now < $0 }) ?? (fuzzer.rules < Self.rounds) {
            for _ in 0..<100 {
                if let fault = fuzzer.round() {
                    Issue.record("seed \(seed), rule \(fuzzer.rules): \(fault)")
                    return
                }
            }
        }
        print("fuzz: \(fuzzer.rules) rules, \(fuzzer.valid) of them valid, \(fuzzer.values) with a value")
        #expect(fuzzer.values > fuzzer.rules / 20)
    }
}
