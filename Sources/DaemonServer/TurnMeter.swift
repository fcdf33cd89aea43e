import EventLoop
import GraphRuntime

/// Measures each turn in processor time: all work of the loop between two sleeps, including reading and writing.
/// Waiting for the disk or for a busy machine does not count. Costs one clock reading a turn.
struct TurnMeter {
    /// When the present turn began, on the thread's processor-time clock.
    private var began: Double
    /// Seconds.
    private(set) var longest = 0.0
    private(set) var over10Milliseconds: UInt64 = 0
    private(set) var over100Milliseconds: UInt64 = 0
    /// Turns, and the requests in them, by the length of the turn.
    private var turns = Histogram.Counts()
    private var requests = Histogram.Counts()
    private var requestsBefore: UInt64 = 0

    init(at now: Double = Loop.processorTime) { began = now }

    /// Called when the loop is about to sleep.
    /// - Parameter requests: the number of all requests so far.
    mutating func end(requests performed: UInt64, at now: Double = Loop.processorTime) {
        let length = now - began
        began = now
        let bucket = Histogram.bucket(of: length)
        turns.add(1, length, in: bucket)
        if performed > requestsBefore {
            requests.add(performed - requestsBefore, length, in: bucket)
            requestsBefore = performed
        }
        if length <= longest, length <= 0.01 { return }
        longest = max(longest, length)
        if length > 0.01 { over10Milliseconds += 1 }
        if length > 0.1 { over100Milliseconds += 1 }
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
