import AttributeValues
import Glibc
import Logging

/// Writes the log: to the journal, with fields, if standard error is the journal's; otherwise to standard error. A
/// terminal gets time and level; a file gets journald's `<N>` priority. In JSON format, each message is an object with
/// `time`, `level`, `message`, and `client` and `path` if they are known.
public struct StandardErrorLog: LogHandler {
    public enum Format: String, CaseIterable, Sendable { case text, json }

    public var metadata: Logger.Metadata = [:]
    public var logLevel: Logger.Level
    private let isForPeople: Bool
    private let format: Format
    private let journal: Journal?

    public init(
        level: Logger.Level, format: Format = .text,
        isForPeople: Bool = isatty(STDERR_FILENO) == 1 && !StandardErrorLog.isJournal
    ) {
        logLevel = level
        self.format = format
        self.isForPeople = isForPeople
        journal = format == .text && StandardErrorLog.isJournal ? Journal() : nil
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).map { (name: $0.key, value: $0.value.description) }.sorted {
            $0.name < $1.name
        }
        if format == .json {
            return StandardErrorLog.write(StandardErrorLog.json(event.level, "\(event.message)", details) + "\n")
        }
        if let journal {
            let fields =
                [
                    ("MESSAGE", event.message.description), ("PRIORITY", "\(event.level.priority)"),
                    ("SYSLOG_IDENTIFIER", "agd"),
                ] + details.map { ("AGD_" + $0.name.uppercased(), $0.value) }
            if journal.send(fields) { return }
        }
        let prefix = isForPeople ? "\(StandardErrorLog.time()) \(event.level): " : "<\(event.level.priority)>"
        // Each line of a message is a line of the log, with its own priority.
        let lines = event.message.description.split(separator: "\n", omittingEmptySubsequences: true)
        StandardErrorLog.write(lines.map { "\(prefix)\($0)\n" }.joined())
    }

    private static func write(_ text: String) { _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) } }

    /// One line, without a newline.
    static func json(_ level: Logger.Level, _ message: String, _ details: [(name: String, value: String)]) -> String {
        var map = ValueMap([
            (.string("time"), .string("\(Daemon.now().wall)")), (.string("level"), .string("\(level)")),
            (.string("message"), .string(message)),
        ])
        for detail in details { map[detail.name] = .string(detail.value) }
        return Value.map(map).jsonText
    }

    /// True if standard error is journald's: `$JOURNAL_STREAM` then has its device and inode (systemd.exec(5)).
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
        return "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
            + ".\(milliseconds < 100 ? "0" : "")\(two(milliseconds))"
    }
}

extension Logger.Level {
    /// syslog's priority.
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
