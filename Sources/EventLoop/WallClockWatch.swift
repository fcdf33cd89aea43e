import CLibuv
import Glibc

/// Calls on the loop when somebody has set the wall clock, and when the machine has been asleep.
///
/// The kernel cancels a timer on the wall clock when that clock jumps, and its descriptor becomes readable.
public final class WallClockWatch: DescriptorWatch {
    private let descriptor: Int32

    public convenience init(_ loop: Loop, _ onJump: @escaping () -> Void) throws(LoopError) {
        let descriptor = agd_open_clock_watch()
        guard descriptor >= 0 else { throw LoopError(call: "timerfd_create", number: errno) }
        guard agd_arm_clock_watch(descriptor) == 0 else {
            let number = errno
            Glibc.close(descriptor)
            throw LoopError(call: "timerfd_settime", number: number)
        }
        try self.init(loop, descriptor: descriptor, onJump)
    }

    /// - Parameter descriptor: becomes readable when the clock jumps. The handle closes it.
    init(_ loop: Loop, descriptor: Int32, _ onJump: @escaping () -> Void) throws(LoopError) {
        self.descriptor = descriptor
        do throws(LoopError) {
            try super.init(loop, descriptor, .readable) {
                // The read takes the news, so that the next jump makes the descriptor readable again.
                var expirations: UInt64 = 0
                _ = read(descriptor, &expirations, MemoryLayout<UInt64>.size)
                onJump()
            }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    override func didClose() { Glibc.close(descriptor) }
}
