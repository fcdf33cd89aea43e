import EventLoop
import GraphRuntime

/// Measures each turn in processor time: all work of the loop between two sleeps, including reading and writing.
/// Waiting for the disk or for a busy machine does not count.
///
/// Reading the processor-time clock is a system call, and takes as long as a small request. So turns that end within a
/// millisecond of the last reading share the next one: each of them counts with their average.
struct TurnMeter {
    /// The end of the last turn that is counted, on the thread's processor-time clock and on the monotonic clock.
    private var counted: (processor: Double, time: Double)
    /// The turns since then: their number, the end of the last one, and the number of all requests up to there.
    private var short = (turns: UInt64(0), end: 0.0, requests: UInt64(0))
    /// Seconds.
    private(set) var longest = 0.0
    private(set) var over10Milliseconds: UInt64 = 0
    private(set) var over100Milliseconds: UInt64 = 0
    /// Turns, and the requests in them, by the length of the turn.
    private var turns = Histogram.Counts()
    private var requests = Histogram.Counts()
    private var requestsBefore: UInt64 = 0

    private static let readingInterval = 0.001

    init(at processor: Double = Loop.processorTime, _ time: Double = Loop.monotonicTime) { counted = (processor, time) }

    /// Called when the loop is about to sleep.
    /// - Parameter requests: the number of all requests so far.
    mutating func end(
        requests performed: UInt64, at time: Double = Loop.monotonicTime,
        processor: @autoclosure () -> Double = Loop.processorTime
    ) {
        if time - counted.time < TurnMeter.readingInterval {
            short = (short.turns + 1, time, performed)
            return
        }
        let now = processor()
        countShort((now - counted.processor) * Double(short.turns) / Double(short.turns + 1))
        count(1, performed, now - counted.processor)
        counted = (now, time)
    }

    /// Counts all turns that have ended. Called within a turn, before the figures are read.
    mutating func settle(at processor: Double = Loop.processorTime) { countShort(processor - counted.processor) }

    /// - Parameter most: the processor time of the short turns, if that is not longer than they lasted.
    private mutating func countShort(_ most: Double) {
        if short.turns == 0 { return }
        let seconds = min(most, short.end - counted.time)
        count(short.turns, short.requests, seconds / Double(short.turns))
        counted = (counted.processor + seconds, short.end)
        short.turns = 0
    }

    private mutating func count(_ number: UInt64, _ performed: UInt64, _ length: Double) {
        let bucket = Histogram.bucket(of: length)
        turns.add(number, length, in: bucket)
        if performed > requestsBefore {
            requests.add(performed - requestsBefore, length, in: bucket)
            requestsBefore = performed
        }
        if length <= longest, length <= 0.01 { return }
        longest = max(longest, length)
        if length > 0.01 { over10Milliseconds += number }
        if length > 0.1 { over100Milliseconds += number }
    }

    var histograms: [Histogram] {
        [
            Histogram(name: "turn_seconds", help: "Turns by their length, in processor time.", counts: turns),
            Histogram(
                name: "request_seconds",
                help: "Requests by the length of the turn that answered them, in processor time.", counts: requests),
        ]
    }

    var figures: [GraphRuntime.Figure] {
        [
            ("longest_turn_seconds", false, "Longest turn since the start, in processor time.", longest),
            ("turns_over_10ms", true, "Turns of more than 10 ms of processor time.", Double(over10Milliseconds)),
            ("turns_over_100ms", true, "Turns of more than 100 ms of processor time.", Double(over100Milliseconds)),
        ]
    }
}
