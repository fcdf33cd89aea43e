import AttributeValues
import Synchronization

/// Shows the main thread that another thread still runs, and what it has counted.
final class Pulse: Sendable {
    /// A thread that shows nothing for this time hangs. All calls to the daemon and to NATS end sooner. In seconds.
    static let patience = 60.0

    /// Monotonic milliseconds.
    private let last = Atomic<Int64>(Pulse.now)

    private let latest = Mutex<[Sample]>([])

    private static var now: Int64 { Int64(MonotonicTime.now * 1000) }

    /// What the thread has counted last. The main thread reads it for the file of metrics.
    var samples: [Sample] {
        get { latest.withLock { $0 } }
        set { latest.withLock { $0 = newValue } }
    }

    func beat() { last.store(Pulse.now, ordering: .relaxed) }

    var isFresh: Bool { Double(Pulse.now - last.load(ordering: .relaxed)) < Pulse.patience * 1000 }
}
