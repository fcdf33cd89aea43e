import Glibc

/// The messages of a program that runs for long. A terminal gets time and level; the journal and files get journald's
/// `<N>` priority.
package enum StandardError {
    /// True if standard error is journald's: `$JOURNAL_STREAM` then has its device and inode (systemd.exec(5)).
    package static let isJournal: Bool = {
        guard let stream = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }()

    /// True if a person reads along.
    package static let isTerminal = isatty(STDERR_FILENO) == 1 && !isJournal

    /// - Parameters:
    ///   - level: for people, as `warning`.
    ///   - priority: syslog's number of the level.
    package static func report(_ text: String, level: String, priority: Int, isForPeople: Bool = isTerminal) {
        let prefix = isForPeople ? "\(time()) \(level): " : "<\(priority)>"
        // Each line of a message has its own priority.
        write(text.split(separator: "\n").map { "\(prefix)\($0)\n" }.joined())
    }

    package static func write(_ text: String) { _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) } }

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
