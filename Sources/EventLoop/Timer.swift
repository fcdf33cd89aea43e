import CLibuv

/// Calls once on the loop, after a given time.
public final class Timer: Handle {
    private let onFire: (Timer) -> Void
    private var timer: UnsafeMutablePointer<uv_timer_t> { memory.assumingMemoryBound(to: uv_timer_t.self) }

    public init(_ loop: Loop, _ onFire: @escaping (Timer) -> Void) throws(LoopError) {
        self.onFire = onFire
        super.init(of: uv_timer_t.self)
        try check(uv_timer_init(loop.raw, timer), "uv_timer_init")
        adopt()
    }

    /// The longest wait, in seconds. A longer timer fires after this time.
    public static let maximumWait = 86_400.0

    /// Fires after `seconds`, with millisecond precision and at most one millisecond early. Replaces an earlier start.
    public func start(in seconds: Double) {
        precondition(!isClosed)
        uv_update_time(timer.pointee.loop)
        let wait = max(0, min(seconds, Timer.maximumWait))
        uv_timer_start(
            timer,
            { timer in
                guard let timer = Handle.owner(timer?.pointee.data, as: Timer.self) else { return }
                timer.onFire(timer)
            },
            UInt64((wait * 1000).rounded(.up)), 0)
    }

    public var isActive: Bool { uv_is_active(handle) != 0 }

    public func stop() {
        if !isClosed { uv_timer_stop(timer) }
    }
}
