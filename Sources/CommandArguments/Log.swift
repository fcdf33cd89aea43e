/// The messages of a program that runs for long. It says the same thing again only after other news.
package struct Log {
    private let subject: String
    private var last: [String: String] = [:]

    package init(subject: String) { self.subject = subject }

    package enum Level: Int { case error = 3, warning = 4, info = 6 }

    /// - Parameter topic: messages of different topics do not count as news of each other.
    package mutating func report(_ topic: String, _ text: String, _ level: Level = .warning) {
        guard last[topic] != text else { return }
        last[topic] = text
        Log.write("\(subject): \(text)", level)
    }

    package static func write(_ text: String, _ level: Level) {
        StandardError.report(text, level: "\(level)", priority: level.rawValue)
    }
}
