import AttributeValues
import Synchronization

/// Shows the main thread that another thread still runs, and what it has counted.
final class Pulse: Sendable {
    /// A thread that shows nothing for this time hangs. All calls to the daemon and to NATS end sooner. In seconds.
    static let patience = 60.0

    /// The last sign of life, in monotonic seconds, and what the thread has counted last.
    private let state = Mutex((beat: MonotonicTime.now, samples: [Sample]()))

    /// The main thread reads it for the file of metrics.
    var samples: [Sample] {
        get { state.withLock { $0.samples } }
        set { state.withLock { $0.samples = newValue } }
    }

    func beat() { state.withLock { $0.beat = MonotonicTime.now } }

    var isFresh: Bool { MonotonicTime.now < state.withLock { $0.beat } + Pulse.patience }
}
