import CSQLite
import Glibc

/// The reason why the store cannot be used, or could not be written.
public enum StoreError: Error, Equatable {
    /// A call that failed: SQLite's extended result code (or an errno) and what it means.
    case failed(call: String, code: Int32, message: String, subject: String)
    /// The daemon may not read and write it, because of permissions or a read-only file system.
    case denied(path: String, reason: String)
    /// Another process has the store open.
    case inUse(path: String)
    /// The file is not a store of this daemon, or has an unknown version.
    case foreign(path: String, reason: String)
    /// The store can be read only in part. The losses, one per finding, the oldest first.
    case damaged(path: String, findings: [String])
}

extension StoreError {
    static func system(_ call: String, _ path: String, _ number: Int32 = errno) -> StoreError {
        let message = String(cString: strerror(number))
        if isDenial(number) { return .denied(path: path, reason: "\(call): \(message)") }
        return .failed(call: call, code: number, message: message, subject: path)
    }

    /// Codes of SQLite and of the system are told apart by what they mean here: EACCES, which has the number of
    /// SQLITE_FULL, is a denial.
    private static func isFull(_ code: Int32) -> Bool { [SQLITE_FULL, ENOSPC, EDQUOT].contains(code) }

    static func isDenial(_ number: Int32) -> Bool { [EACCES, EPERM, EROFS].contains(number) }
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .failed(let call, let code, let message, let subject):
            // A statement is named by its first words: the rest may have values.
            "\(subject): \(call.prefix { !"(;".contains($0) }): \(message) (\(code))"
                + (StoreError.isFull(code) ? "; free space on its file system" : "")
        case .denied(let path, let reason):
            "the user that agd runs as must be able to read and write \(path) and its folder: \(reason)"
        case .inUse(let path):
            "\(path) is in use by another process; end it, or start this one with another --state-directory"
        case .foreign(let path, let reason): "\(path) is not a store of this daemon: \(reason)"
        case .damaged(let path, let findings):
            "\(path) is damaged:\n" + findings.map { "  - \($0)\n" }.joined()
                + "start agd with --recover to use the rows that can be read; agd keeps the damaged file"
        }
    }
}
