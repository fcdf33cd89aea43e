import Glibc
import Synchronization

/// A reading that may take long or never end, as that of a file system whose machine is away. Each one runs in a thread
/// of its own, so it delays nothing else. Nothing can end such a thread; until it ends, the probe begins no other.
final class Probe<Reading: Sendable>: Sendable {
    private struct State {
        /// When the present reading began, in nanoseconds on the monotonic clock; nil if there is none.
        var begun: Int64?
        var hasEnded = false
        var reading: Reading?

        func isSilent(at now: Int64) -> Bool { begun.map { now - $0 > SlowReadings.patience } ?? false }
    }

    private let state = Mutex(State())
    private let read: @Sendable () -> Reading?

    init(_ read: @escaping @Sendable () -> Reading?) { self.read = read }

    /// Begins to read, unless a reading is under way.
    func begin(at now: Int64) {
        let isIdle = state.withLock { state in
            defer { state.begun = state.begun ?? now }
            return state.begun == nil
        }
        guard isIdle else { return }
        let hasBegun = startThread { [self] in
            let reading = read()
            state.withLock { $0 = State(begun: nil, hasEnded: true, reading: reading) }
        }
        // The kernel makes no more threads now. The next time it may.
        if !hasBegun { state.withLock { $0.begun = nil } }
    }

    /// The last reading, unless the present one takes too long already; nil too if there is nothing to read.
    func reading(at now: Int64) -> Reading? {
        state.withLock { $0.isSilent(at: now) ? nil : $0.reading }
    }

    /// True if the present reading takes so long that the last one tells nothing any more.
    func isSilent(at now: Int64) -> Bool { state.withLock { $0.isSilent(at: now) } }

    /// True while a reading is under way.
    var isReading: Bool { state.withLock { $0.begun != nil } }

    /// True if a reading has ended since the last call.
    func takeEnd() -> Bool {
        state.withLock { state in
            defer { state.hasEnded = false }
            return state.hasEnded
        }
    }
}

/// Runs a function in a new thread. It has a small stack: readings need little, and there may be one for each mount.
private func startThread(_ run: @escaping @Sendable () -> Void) -> Bool {
    final class Start: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 512 << 10)
    let start = Unmanaged.passRetained(Start(run))
    var thread = pthread_t()
    let failure = pthread_create(
        &thread, &attributes,
        { start in
            if let start { Unmanaged<Start>.fromOpaque(start).takeRetainedValue().run() }
            return nil
        }, start.toOpaque())
    if failure != 0 { start.release() }
    return failure == 0
}
