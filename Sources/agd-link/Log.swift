import AGClient
import CommandArguments

/// Writes to standard error. It says the same thing again only after other news.
struct Log {
    private let subject: String
    private var last: [String: String] = [:]

    init(subject: String) { self.subject = subject }

    enum Level: Int { case error = 3, warning = 4, info = 6 }

    /// - Parameter topic: messages of different topics do not count as news of each other.
    mutating func report(_ topic: String, _ text: String, _ level: Level = .warning) {
        guard last[topic] != text else { return }
        last[topic] = text
        Log.write("\(subject): \(text)", level)
    }

    static func write(_ text: String, _ level: Level) {
        StandardError.report(text, level: "\(level)", priority: level.rawValue)
    }
}

extension ClientError {
    /// With the hint, which names the setting that is the limit.
    var told: String {
        if case .timedOut = self {
            return "\(self): it is stopped, or too slow for a site of this size; the setting live-time of agd-link is "
                + "the limit"
        }
        return hint.map { "\(self) (\($0))" } ?? "\(self)"
    }
}
