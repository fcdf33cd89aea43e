import CLibuv

/// Calls once, some time from now, on the loop.
public final class Timer: Handle {
    private let onFire: () -> Void
    private var timer: UnsafeMutablePointer<uv_timer_t> { memory.assumingMemoryBound(to: uv_timer_t.self) }

    public init(_ loop: Loop, _ onFire: @escaping () -> Void) throws(LoopError) {
        self.onFire = onFire
        super.init(of: uv_timer_t.self)
        try check(uv_timer_init(loop.raw, timer), "uv_timer_init")
        adopt()
    }

    /// Longest wait, in seconds; longer ones fire then.
    public static let maximumWait = 86_400.0

    /// Fires `seconds` from now, to the millisecond and never more than one early; a start before is forgotten.
    public func start(in seconds: Double) {
        precondition(!isClosed)
        uv_update_time(timer.pointee.loop)
        let wait = max(0, min(seconds, Timer.maximumWait))
        uv_timer_start(timer, { timer in Handle.owner(timer?.pointee.data, as: Timer.self)?.onFire() },
            UInt64((wait * 1000).rounded(.up)), 0)
    }

    public func stop() {
        if !isClosed { uv_timer_stop(timer) }
    }
}
