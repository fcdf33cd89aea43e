import Glibc

/// Writes to standard error, in the form of the system's journal. It says the same thing again only after other news.
struct Log {
    private let subject: String
    private var last: [String: String] = [:]

    init(subject: String) { self.subject = subject }

    /// - Parameters:
    ///   - topic: messages of different topics do not count as news of each other.
    ///   - level: 3 is an error, 4 a warning, 6 information.
    mutating func report(_ topic: String, _ text: String, level: Int = 4) {
        guard last[topic] != text else { return }
        last[topic] = text
        Log.write("\(subject): \(text)", level: level)
    }

    static func write(_ text: String, level: Int) {
        let bytes = Array("<\(level)>\(text)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
