/// Why the store cannot be used, or could not be written.
public enum StoreError: Error, Equatable {
    /// A call that failed: SQLite's extended result code (or an errno) and what it means.
    case failed(call: String, code: Int32, message: String, subject: String)
    /// Another process has the store open.
    case inUse(path: String)
    /// The file is not a store of this daemon, or of a version that it does not know.
    case foreign(path: String, reason: String)
    /// The store can be read in part only. What is lost, one finding a line, from the oldest on.
    case damaged(path: String, findings: [String])
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .failed(let call, let code, let message, let subject): "\(subject): \(call): \(message) (\(code))"
        case .inUse(let path): "\(path) is in use by another process"
        case .foreign(let path, let reason): "\(path) is not a store of this daemon: \(reason)"
        case .damaged(let path, let findings):
            "\(path) is damaged:\n" + findings.map { "  - \($0)\n" }.joined()
                + "start with --recover to go on with what can be read; the damaged file is kept"
        }
    }
}
