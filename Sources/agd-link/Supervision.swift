import AttributeValues
import Glibc
import Synchronization

/// Shows the main thread that another thread still runs, and what it has counted.
final class Pulse: Sendable {
    /// A thread that shows nothing for this time hangs. All calls to the daemon and to NATS end sooner. In seconds.
    static let patience = 60.0

    /// The last sign of life, in monotonic seconds, and what the thread has counted last.
    private let state = Mutex((beat: MonotonicTime.now, samples: [Sample](), connection: Int32?.none))

    /// The main thread reads it for the file of metrics.
    var samples: [Sample] {
        get { state.withLock { $0.samples } }
        set { state.withLock { $0.samples = newValue } }
    }

    func beat() { state.withLock { $0.beat = MonotonicTime.now } }

    /// The thread's connection to the daemon, if the daemon is to learn that the thread hangs. It must be nil before
    /// the connection is closed.
    var connection: Int32? {
        get { state.withLock { $0.connection } }
        set { state.withLock { $0.connection = newValue } }
    }

    /// Shuts the connection down if the thread has shown nothing for some seconds. The daemon then makes `isLive` false
    /// (`onDisconnect`). When the thread goes on, it connects again.
    /// - Returns: whether it has done so.
    func hangUp(after seconds: Double) -> Bool {
        state.withLock { state in
            guard let descriptor = state.connection, MonotonicTime.now > state.beat + seconds else { return false }
            shutdown(descriptor, Int32(SHUT_RDWR))
            state.connection = nil
            return true
        }
    }

    var isFresh: Bool { MonotonicTime.now < state.withLock { $0.beat } + Pulse.patience }
}
