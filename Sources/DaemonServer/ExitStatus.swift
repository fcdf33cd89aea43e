import EventLoop
import StateStore

/// The exit status of the process (sysexits.h). The unit does not restart it after a status that only a person can fix.
public enum ExitStatus: Int32, Sendable {
    case success = 0
    /// The command line is wrong.
    case usage = 64
    /// A scene is wrong.
    case dataError = 65
    /// A file that was named cannot be read.
    case noInput = 66
    /// Another daemon has the socket or the store.
    case unavailable = 69
    /// A fault of the program.
    case software = 70
    /// The operating system refused something.
    case osError = 71
    /// The store is damaged, or belongs to another program.
    case systemFile = 72
    /// The socket cannot be made.
    case cannotCreate = 73
    /// The store cannot be read or written.
    case inputOutput = 74
    /// The process lacks permissions.
    case noPermission = 77
    /// The configuration is wrong.
    case configuration = 78
}

/// The reason why the daemon does not start, or ends.
public struct StartupError: Error, CustomStringConvertible {
    public var status: ExitStatus
    public var description: String

    public init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }

    /// The same error with its place in front. A fault in a scene already has a place of its own, so it stays as it is.
    func located(_ place: String?) -> StartupError {
        guard let place, status != .dataError else { return self }
        return StartupError(status, "\(place): \(description)")
    }

    init(_ error: LoopError, otherwise status: ExitStatus = .osError) {
        let isRight = ["EACCES", "EPERM", "EROFS"].contains(error.name)
        self.init(isRight ? .noPermission : status, error.description)
    }

    init(_ error: StoreError) {
        let status: ExitStatus =
            switch error {
            case .inUse: .unavailable
            case .denied: .noPermission
            case .foreign, .damaged: .systemFile
            case .failed: .inputOutput
            }
        self.init(status, error.description)
    }
}
