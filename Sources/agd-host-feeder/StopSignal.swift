import AGClient
import Glibc

/// SIGINT and SIGTERM as a descriptor that becomes readable, so that one wait can cover the daemon and the signals.
enum StopSignal {
    /// The end that the handler writes to. Set once, before the handler is installed.
    private nonisolated(unsafe) static var alarm: Int32 = -1

    /// After this, the two signals no longer end the process. The result must live as long as the process.
    static func install() throws(ClientError) -> Wakeup {
        let wakeup = try Wakeup()
        alarm = wakeup.signalDescriptor
        for number in [SIGINT, SIGTERM] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in
                // write is allowed in a handler, but its errno must not reach the interrupted code.
                let before = errno
                var byte: UInt8 = 1
                _ = write(StopSignal.alarm, &byte, 1)
                errno = before
            }
            guard sigaction(number, &action, nil) == 0 else { throw .system(call: "sigaction", errno: errno) }
        }
        return wakeup
    }
}
