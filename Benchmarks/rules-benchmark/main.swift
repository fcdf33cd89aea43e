import AttributeValues
import CAllocationCounter
import Glibc
import RuleLanguage

// Prints a JSON line per case: nanoseconds and allocations of one evaluation, inputs read from a map of bindings, the
// fastest of several rounds; then the same of parsing and checking, and of parsing, checking and compiling.
// `rules-benchmark NAME` runs the cases whose name begins with NAME. `rules-benchmark runs COUNT NAME` evaluates the
// case of that name COUNT times and prints nothing: for counts of instructions, of which the clock knows nothing.
// `rules-benchmark steps [NAME]` prints what a step of each kind of work takes, in nanoseconds of processor time.

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "steps" {
    try StepCases.run(arguments.dropFirst().first ?? "")
    exit(0)
}
if arguments.first == "runs", arguments.count == 3, let count = Int(arguments[2]) {
    for benchmark in BenchmarkCase.all where benchmark.name == arguments[3] {
        let program = try Rule.compile(benchmark.rule, in: benchmark.scope)
        var reader = BindingsReader(program, benchmark.bindings)
        let evaluator = Evaluator()
        for _ in 0..<count { _ = evaluator.evaluate(program, &reader) }
    }
    exit(0)
}
let wanted = arguments.first ?? ""
let clock = ContinuousClock()

/// The fastest of the rounds, each long enough for the clock.
func measure(_ body: () -> Void) -> (nanoseconds: Double, allocations: Double) {
    var repetitions = 1
    while true {
        let elapsed = clock.measure { for _ in 0..<repetitions { body() } }
        if elapsed > .milliseconds(5) { break }
        repetitions *= 2
    }
    var best = Double.infinity
    for _ in 0..<15 {
        let elapsed = clock.measure { for _ in 0..<repetitions { body() } }
        best = min(best, Double(elapsed.components.attoseconds) / 1e9 / Double(repetitions))
    }
    let before = agd_allocation_count()
    for _ in 0..<1000 { body() }
    return (best, Double(agd_allocation_count() - before) / 1000)
}

func report(_ name: String, _ body: () -> Void) {
    guard wanted.isEmpty || name.hasPrefix(wanted) else { return }
    let (nanoseconds, allocations) = measure(body)
    let line: Value = [
        "case": .string(name), "ns": .double((nanoseconds * 10).rounded() / 10), "allocations": .double(allocations),
    ]
    print(line.jsonText)
}

let evaluator = Evaluator()
for benchmark in BenchmarkCase.all {
    let program = try Rule.compile(benchmark.rule, in: benchmark.scope)
    let result = evaluator.evaluate(program, bindings: benchmark.bindings)
    precondition(result == .value(benchmark.expected), "\(benchmark.name) gives \(result)")
    var reader = BindingsReader(program, benchmark.bindings)
    report(benchmark.name) { _ = evaluator.evaluate(program, &reader) }
}
for benchmark in BenchmarkCase.all {
    let scope = benchmark.scope
    report("check_" + benchmark.name) { _ = try? Rule.type(of: benchmark.rule, in: scope) }
    report("compile_" + benchmark.name) { _ = try? Rule.compile(benchmark.rule, in: scope) }
}
