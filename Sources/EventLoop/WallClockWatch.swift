import CLibuv
import Glibc

/// Calls on the loop when somebody has set the wall clock, and when the machine has been asleep.
///
/// The kernel cancels a timer on the wall clock when that clock jumps, and its descriptor becomes readable.
public final class WallClockWatch: Handle {
    private let descriptor: Int32
    private let onJump: () -> Void
    private var poll: UnsafeMutablePointer<uv_poll_t> { memory.assumingMemoryBound(to: uv_poll_t.self) }

    public convenience init(_ loop: Loop, _ onJump: @escaping () -> Void) throws(LoopError) {
        let descriptor = agd_open_clock_watch()
        guard descriptor >= 0 else { throw LoopError(call: "timerfd_create", number: -errno) }
        guard agd_arm_clock_watch(descriptor) == 0 else {
            let number = errno
            Glibc.close(descriptor)
            throw LoopError(call: "timerfd_settime", number: -number)
        }
        try self.init(loop, descriptor: descriptor, onJump)
    }

    /// - Parameter descriptor: becomes readable when the clock jumps. The handle closes it.
    init(_ loop: Loop, descriptor: Int32, _ onJump: @escaping () -> Void) throws(LoopError) {
        self.descriptor = descriptor
        self.onJump = onJump
        super.init(of: uv_poll_t.self)
        let result = uv_poll_init(loop.raw, poll, descriptor)
        guard result >= 0 else {
            Glibc.close(descriptor)
            throw LoopError(call: "uv_poll_init", number: result)
        }
        adopt()
        let started = uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { poll, _, _ in
            Handle.owner(poll?.pointee.data, as: WallClockWatch.self)?.hear()
        }
        if started < 0 {
            close()
            throw LoopError(call: "uv_poll_start", number: started)
        }
    }

    /// The read takes the news, so that the next jump makes the descriptor readable again.
    private func hear() {
        var expirations: UInt64 = 0
        _ = read(descriptor, &expirations, MemoryLayout<UInt64>.size)
        onJump()
    }

    override func didClose() { Glibc.close(descriptor) }
}
