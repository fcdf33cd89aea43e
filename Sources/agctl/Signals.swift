import AGClient
import Glibc

/// Signals as something to wait for beside a socket: while it lives, Ctrl-C, SIGTERM and a new size of the terminal end the wait
/// instead of the program.
final class Signals {
    private static let caught = [SIGINT, SIGTERM, SIGHUP, SIGWINCH]
    /// Written to by the handler, which may do nothing but that.
    nonisolated(unsafe) private static var descriptor: Int32 = -1

    private let wakeup: Wakeup

    /// One at a time in a program.
    init() throws(ClientError) {
        precondition(Signals.descriptor < 0, "signals are caught in one place")
        wakeup = try Wakeup()
        Signals.descriptor = wakeup.signalDescriptor
        for number in Signals.caught {
            _ = signal(number) { number in
                let before = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Signals.descriptor, &byte, 1)
                errno = before
            }
        }
    }

    deinit {
        for number in Signals.caught { _ = signal(number, SIG_DFL) }
        Signals.descriptor = -1
    }

    /// Readable when a signal has come.
    var descriptor: Int32 { wakeup.descriptor }

    /// The signals that came since the last call.
    func take() -> [Int32] { wakeup.clear().map(Int32.init) }
}
