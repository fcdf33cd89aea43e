import AGClient
import Glibc

/// Signals as something to wait for beside a socket: while it lives, they end the wait instead of the program. Those that its caller
/// has the program ignore stay ignored, as `nohup` has it ignore SIGHUP.
final class Signals {
    /// Those that end a program: Ctrl-C, `kill`, a terminal that is closed.
    static let ending = [SIGINT, SIGTERM, SIGHUP]
    /// Written to by the handler, which may do nothing but that.
    nonisolated(unsafe) private static var descriptor: Int32 = -1

    private let wakeup: Wakeup
    /// What was done about them before.
    private var before: [(number: Int32, action: sigaction)] = []

    /// One at a time in a program.
    /// - Parameter others: besides those that end a program.
    init(and others: [Int32] = []) throws(ClientError) {
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

    /// Readable when a signal has come.
    var descriptor: Int32 { wakeup.descriptor }

    /// - Returns: whether a signal has come since the last call.
    /// - Throws: `EndOfCommand` when one of those has that end a program.
    @discardableResult
    func check() throws(EndOfCommand) -> Bool {
        let taken = wakeup.clear().map(Int32.init)
        if let signal = taken.first(where: Signals.ending.contains) { throw EndOfCommand(status: ExitStatus(endedBy: signal)) }
        return !taken.isEmpty
    }
}
