import CLibuv

/// Calls in every iteration just before the loop sleeps, after timers and after the events of the last sleep.
public final class BeforeSleep: Handle {
    private let onPhase: () -> Void
    private var prepare: UnsafeMutablePointer<uv_prepare_t> { memory.assumingMemoryBound(to: uv_prepare_t.self) }

    public init(_ loop: Loop, _ onPhase: @escaping () -> Void) throws(LoopError) {
        self.onPhase = onPhase
        super.init(of: uv_prepare_t.self)
        try check(uv_prepare_init(loop.raw, prepare), "uv_prepare_init")
        adopt()
        uv_prepare_start(prepare) { prepare in Handle.owner(prepare?.pointee.data, as: BeforeSleep.self)?.onPhase() }
    }
}

/// While this is active, the loop polls for events without sleeping.
public final class Wakefulness: Handle {
    private var idle: UnsafeMutablePointer<uv_idle_t> { memory.assumingMemoryBound(to: uv_idle_t.self) }

    public init(_ loop: Loop) throws(LoopError) {
        super.init(of: uv_idle_t.self)
        try check(uv_idle_init(loop.raw, idle), "uv_idle_init")
        adopt()
    }

    public var isAwake: Bool {
        get { uv_is_active(handle) != 0 }
        set {
            if isClosed { return }
            if newValue { uv_idle_start(idle) { _ in } } else { uv_idle_stop(idle) }
        }
    }
}
