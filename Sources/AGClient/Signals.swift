import Glibc

/// Signals as a descriptor to wait for beside a socket. While this lives, these signals end the wait instead of the
/// program. Signals that the caller has set to be ignored stay ignored, as `nohup` does with SIGHUP.
package final class Signals {
    /// The signals that end a program: Ctrl-C, `kill`, a closed terminal.
    package static let ending = [SIGINT, SIGTERM, SIGHUP]
    /// The handler writes to it and does nothing else.
    nonisolated(unsafe) private static var descriptor: Int32 = -1

    package let wakeup: Wakeup
    /// The previous actions of the signals.
    private var before: [(number: Int32, action: sigaction)] = []

    /// Only one may exist in a program.
    /// - Parameter others: signals besides those that end a program.
    package init(and others: [Int32] = []) throws(ClientError) {
        precondition(Signals.descriptor < 0, "signals are caught in one place")
        wakeup = try Wakeup()
        Signals.descriptor = wakeup.signalDescriptor
        for number in Signals.ending + others {
            var old = sigaction()
            sigaction(number, nil, &old)
            if Signals.isIgnored(old) { continue }
            before.append((number, old))
            var new = sigaction()
            new.sa_flags = SA_RESTART
            new.__sigaction_handler.sa_handler = { number in
                let before = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Signals.descriptor, &byte, 1)
                errno = before
            }
            sigaction(number, &new, nil)
        }
    }

    deinit {
        for (number, action) in before {
            var action = action
            sigaction(number, &action, nil)
        }
        Signals.descriptor = -1
    }

    private static func isIgnored(_ action: sigaction) -> Bool {
        unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Readable when a signal has arrived.
    package var descriptor: Int32 { wakeup.descriptor }

    /// - Returns: the signals that have arrived since the last call.
    package func take() -> [Int32] { wakeup.clear().map(Int32.init) }
}
