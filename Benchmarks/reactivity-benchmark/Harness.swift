import AttributeGraph
import TestSupport

#if canImport(Glibc)
    import Glibc
#endif

/// One row of the table: what is measured, and what is printed of it.
struct Case {
    let name: String
    /// Builds the graph once and lets it run a little, before anything is measured.
    let warmUp: () throws -> Void
    let measure: () throws -> Measurement
}

struct Measurement {
    var milliseconds: Double
    /// Rules run in the measured part.
    var evaluations: UInt64
}

struct WrongResult: Error, CustomStringConvertible {
    let description: String
}

/// Results are part of what is measured, as in the original: a wrong one ends the program.
@inline(__always)
func check<T: Equatable>(_ actual: T, _ expected: T, _ what: @autoclosure () -> String = "") throws {
    if actual != expected { throw WrongResult(description: "\(what()): \(actual) instead of \(expected)") }
}

/// Milliseconds on the monotonic clock, or with `--cpu` of processor time, which other programs disturb less.
func now() -> Double {
    var time = timespec()
    clock_gettime(CommandLine.arguments.contains("--cpu") ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) * 1e-6
}

/// Runs a body and measures it; `evaluations` is read before and after.
func timed(_ evaluations: () -> UInt64, _ body: () throws -> Void) rethrows -> Measurement {
    let before = evaluations()
    let start = now()
    try body()
    let duration = now() - start
    return Measurement(milliseconds: duration, evaluations: evaluations() - before)
}

/// The fastest of several measurements.
func fastest(of count: Int, _ body: () throws -> Measurement) rethrows -> Measurement {
    var best = try body()
    for _ in 1..<count {
        let next = try body()
        if next.milliseconds < best.milliseconds { best = next }
    }
    return best
}

/// A number that closures share without reference counting; lives as long as the program.
@inline(__always)
func sharedNumber() -> UnsafeMutablePointer<Int> {
    let number = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    number.initialize(to: 0)
    return number
}

extension ClosureGraph {
    var evaluations: UInt64 { core.counters.evaluations }
}
