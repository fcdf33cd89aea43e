import AttributeValues
import Glibc

/// SIGINT and SIGTERM as a descriptor that becomes readable, so that one wait can cover the daemon and the signals.
/// There is one in a process, and it is never freed.
final class StopSignal {
    /// Readable from the first signal on: nothing is ever read from it.
    let descriptor: Int32

    /// The end that the handler writes to. Set once, before the handler is installed.
    private nonisolated(unsafe) static var alarm: Int32 = -1

    /// After this, the two signals no longer end the process.
    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        let flags = SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | flags), 0, &ends) == 0 else {
            throw SystemError(call: "socketpair")
        }
        descriptor = ends[0]
        StopSignal.alarm = ends[1]
        for number in [SIGINT, SIGTERM] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in
                // write is allowed in a handler, but its errno must not reach the interrupted code.
                let before = errno
                var byte: UInt8 = 1
                _ = write(StopSignal.alarm, &byte, 1)
                errno = before
            }
            guard sigaction(number, &action, nil) == 0 else { throw SystemError(call: "sigaction") }
        }
    }

    var hasCome: Bool { wait(seconds: 0) }

    /// - Returns: true if a signal arrived before the timeout.
    @discardableResult
    func wait(seconds: Double) -> Bool {
        let end = MonotonicTime.now + seconds
        while true {
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&watched, 1, MonotonicTime.milliseconds(end - MonotonicTime.now))
            if count >= 0 { return count > 0 }
            guard errno == EINTR else { return false }
        }
    }
}

/// A system call that failed.
struct SystemError: Error, CustomStringConvertible {
    var call: String
    var code = errno

    var description: String { "\(call): \(String(cString: strerror(code)))" }
}
