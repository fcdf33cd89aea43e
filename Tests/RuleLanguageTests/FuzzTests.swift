import Glibc
import Testing

@testable import RuleLanguage

/// `AGD_FUZZ_SECONDS=600 swift test --filter Fuzz` runs for ten minutes; `AGD_FUZZ_SEED` repeats a run.
@Suite("Random rules")
struct FuzzTests {
    private static func setting(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }

    /// Rules of a run without a time given.
    private static let rounds = 3_000

    @Test("parser, checker, compiler and evaluator survive any rule, and agree however it is compiled")
    func randomRules() {
        let seed = Self.setting("AGD_FUZZ_SEED") ?? UInt64.random(in: 0...UInt64.max)
        print("fuzz: AGD_FUZZ_SEED=\(seed)")
        var fuzzer = RuleFuzzer(seed: seed)
        let end = Self.setting("AGD_FUZZ_SECONDS").map { ContinuousClock.now + .seconds($0) }
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
