import AGClient
import AttributeValues
import Glibc

/// The exit statuses of agctl: the numbers of `sysexits.h` where it defines one. They are part of its interface.
enum ExitStatus: Int32 {
    case done = 0
    /// `diff`: the scene and the graph differ. `doctor`: something is wrong. `sites`: a mirror is silent.
    case different = 1
    /// `get` and `eval`: the attribute or rule has an error instead of a value.
    case attributeError = 2
    case usage = 64
    /// The daemon refused the request, or the input of agctl is wrong.
    case data = 65
    /// No such node, attribute, method or file.
    case notFound = 66
    /// The daemon cannot be reached or does not answer in time, or the connection ended.
    case unreachable = 69
    /// The daemon's answer is not part of the protocol.
    case software = 70
    case system = 71
    case inputOutput = 74
    /// A later attempt may succeed: a `test` found another value, a limit was exceeded, or the daemon lacks a resource.
    case tryAgain = 75
    case denied = 77
    /// Ended by a signal: 128 plus its number, as in shells. The terminal was closed, Ctrl-C, `kill`.
    case hungUp = 129
    case interrupted = 130
    case terminated = 143

    /// - Parameter signal: one of `Signals.ending`.
    init(endedBy signal: Int32) { self = ExitStatus(rawValue: 128 + signal) ?? .interrupted }

    init(_ failure: Failure) {
        switch failure.code {
        case .notFound, .removed: self = .notFound
        case .denied: self = .denied
        case .limit, .unavailable: self = .tryAgain
        default: self = .data
        }
    }

    init(_ error: ClientError) {
        switch error {
        case .unreachable(_, let code) where code == EACCES || code == EPERM: self = .denied
        case .unreachable, .timedOut, .lost, .waited: self = .unreachable
        case .gaveUp(_, _, _, let last, let unknown): self.init(unknown ?? last)
        case .socketPathTooLong: self = .usage
        case .refused(let fault): self.init(fault.failure)
        case .attribute: self = .attributeError
        case .unexpectedType: self = .data
        case .malformed: self = .software
        case .limit: self = .tryAgain
        case .system: self = .system
        case .ended: self = .notFound
        case .cancelled: self = .interrupted
        }
    }
}

/// Ends the command with a status, after everything has been printed.
struct EndOfCommand: Error {
    let code: Int32

    init(status: ExitStatus) { code = status.rawValue }

    /// - Parameter code: that of another program, whose end is the command's.
    init(code: Int32) { self.code = code }
}

extension Signals {
    /// - Returns: the signals that have arrived since the last call.
    /// - Throws: if one of the signals that end a program has arrived.
    @discardableResult
    func check() throws(EndOfCommand) -> [Int32] {
        let taken = take()
        if let signal = taken.first(where: Signals.ending.contains) {
            throw EndOfCommand(status: ExitStatus(endedBy: signal))
        }
        return taken
    }
}
