import AttributeValues
import Glibc
import TestSupport

/// A program that runs beside this one, with a pipe to its standard input and one from its standard output.
public final class ChildProcess {
    public let id: pid_t
    private var input: Int32
    private let output: Int32
    private var status: Int32?

    /// This program itself.
    public static let own: String = {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = max(0, readlink("/proc/self/exe", &bytes, bytes.count - 1))
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    /// - Parameter log: where standard error goes; nil: where this program's goes.
    public init(_ words: [String], log: String? = nil) throws {
        var (inward, outward): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&inward) == 0, pipe(&outward) == 0 else { throw Trouble(call: "pipe") }
        for end in inward + outward { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inward[0], 0)
        posix_spawn_file_actions_adddup2(&actions, outward[1], 1)
        if let log { posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0o600) }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var id: pid_t = 0
        let result = posix_spawn(&id, words[0], &actions, nil, &arguments, environ)
        close(inward[0])
        close(outward[1])
        input = inward[1]
        output = outward[0]
        self.id = id
        guard result == 0 else { throw Trouble("posix_spawn \(words[0]): errno \(result)") }
    }

    deinit {
        if status == nil {
            kill(id, SIGKILL)
            _ = wait(upTo: .infinity)
        }
        endInput()
        close(output)
    }

    public func endInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// - Returns: how it ended; nil when it has not.
    public func wait(upTo length: Double) -> Int32? {
        let deadline = MonotonicTime.now + length
        while status == nil {
            var found: Int32 = 0
            let result = waitpid(id, &found, length == .infinity ? 0 : WNOHANG)
            if result == id { status = found }
            if status != nil || MonotonicTime.now >= deadline { break }
            usleep(2_000)
        }
        return status
    }

    // MARK: What the kernel says of it

    /// Seconds of processor time that it has had.
    public var processorTime: Double {
        // Behind the name in brackets: utime and stime are the 12th and 13th.
        let fields = (text(of: "stat").split(separator: ")").last ?? "").split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The same, to the nanosecond, of its main thread.
    public var preciseTime: Double {
        (text(of: "schedstat").split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
    }

    /// A number of `/proc/PID/status`, as `VmRSS`; 0 when it has ended.
    public func status(_ name: String) -> Int {
        for line in text(of: "status").split(separator: "\n") where line.hasPrefix(name + ":") {
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).lazy.compactMap { Int($0) }.first ?? 0
        }
        return 0
    }

    private func text(of name: String) -> String { DaemonProcess.text("/proc/\(id)/\(name)") }

    // MARK: Its output

    /// All output until the process ends.
    public func readOutput() -> String {
        var text: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(output, &bytes, bytes.count)
            if count <= 0 { return String(decoding: text, as: UTF8.self) }
            text += bytes[..<count]
        }
    }
}
