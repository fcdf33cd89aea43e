import AttributeValues
import CommandArguments
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
        isForPeople: Bool? = nil
    ) {
        logLevel = level
        self.format = format
        self.isForPeople = isForPeople ?? StandardError.isTerminal
        journal = format == .text && StandardError.isJournal ? Journal() : nil
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
            return StandardError.write(StandardErrorLog.json(event.level, "\(event.message)", details) + "\n")
        }
        if let journal {
            let fields =
                [
                    ("MESSAGE", event.message.description), ("PRIORITY", "\(event.level.priority)"),
                    ("SYSLOG_IDENTIFIER", "agd"),
                ] + details.map { ("AGD_" + $0.name.uppercased(), $0.value) }
            if journal.send(fields) { return }
        }
        StandardError.report(
            event.message.description, level: "\(event.level)", priority: event.level.priority, isForPeople: isForPeople
        )
    }

    /// One line, without a newline.
    static func json(_ level: Logger.Level, _ message: String, _ details: [(name: String, value: String)]) -> String {
        var map = ValueMap([
            (.string("time"), .string("\(Daemon.now().wall)")), (.string("level"), .string("\(level)")),
            (.string("message"), .string(message)),
        ])
        for detail in details { map[detail.name] = .string(detail.value) }
        return Value.map(map).jsonText
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
