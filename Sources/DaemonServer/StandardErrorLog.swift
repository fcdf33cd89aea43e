import Glibc
import Logging

/// Writes the log to standard error: with journald's `<N>` priority where a service manager or a file reads it, with time
/// and level where a person does.
public struct StandardErrorLog: LogHandler {
    public var metadata: Logger.Metadata = [:]
    public var logLevel: Logger.Level
    private let isForPeople: Bool

    public init(level: Logger.Level, isForPeople: Bool = isatty(STDERR_FILENO) == 1 && !StandardErrorLog.isJournal) {
        logLevel = level
        self.isForPeople = isForPeople
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let prefix = isForPeople ? "\(StandardErrorLog.time()) \(event.level): " : "<\(event.level.priority)>"
        // Each line of a message is a line of the log, with its own priority.
        let lines = event.message.description.split(separator: "\n", omittingEmptySubsequences: true)
        let text = lines.map { "\(prefix)\($0)\n" }.joined()
        _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }

    /// `$JOURNAL_STREAM` names the device and inode of standard error where that is journald's (systemd.exec(5)).
    public static var isJournal: Bool {
        guard let stream = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    private static func time() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var parts = tm()
        localtime_r(&now.tv_sec, &parts)
        func two(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let milliseconds = now.tv_nsec / 1_000_000
        return
            "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)).\(milliseconds < 100 ? "0" : "")\(two(milliseconds))"
    }
}

extension Logger.Level {
    /// syslog's number.
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
