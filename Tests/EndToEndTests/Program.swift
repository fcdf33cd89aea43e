import Foundation
import TestSupport
import Testing

/// A program of the project, or of the system, run as users run it. Ended and reaped when the object goes.
///
/// Nobody sleeps to wait for it: its end shows on a connection that it holds open as long as it lives, and with it the
/// files of the whole test, so that `wait` may block in `poll` with a deadline.
final class Program {
    let pid: pid_t
    /// Where the program's output and errors go.
    let output: String
    private let life: Descriptor
    private(set) var status: Int32?

    /// - Parameters:
    ///   - name: a program built with the tests (`agd`), or an absolute path.
    ///   - environment: in addition to `PATH`; nothing else is inherited.
    ///   - input: the program's standard input; nothing when nil.
    ///   - standardOutput: where its output goes in place of the file; its errors still go there.
    ///   - descriptors: handed down as 3, 4, … in this order.
    init(
        _ name: String, _ arguments: [String] = [], environment: [String: String] = [:], folder: Folder,
        input: Descriptor? = nil, standardOutput: Descriptor? = nil, descriptors: [Descriptor] = []
    ) throws {
        let path = name.hasPrefix("/") ? name : Program.built(name)
        output = folder.file("\(URL(fileURLWithPath: name).lastPathComponent)-\(UUID().uuidString.prefix(8)).out")
        let (ours, theirs) = try Descriptor.pair()

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, theirs.number, Program.lifeNumber)
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input.number, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        if let standardOutput { posix_spawn_file_actions_adddup2(&actions, standardOutput.number, 1) }
        for (place, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor.number, Int32(3 + place))
        }

        let variables = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        // A process group of its own, so that what it started ends with it.
        pid = try Program.spawn(
            path, arguments, variables.merging(environment) { $1 }, flags: POSIX_SPAWN_SETPGROUP, &actions)
        life = ours
    }

    /// Starts a program with the signals as a shell would leave them.
    /// - Parameter flags: in addition to those for the signals.
    static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String: String], flags: Int32,
        _ actions: inout posix_spawn_file_actions_t
    ) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | flags))
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, path, &actions, &attributes, words, variables)
        guard code == 0 else { throw Trouble("cannot start \(path): \(String(cString: strerror(code)))") }
        return pid
    }

    deinit {
        guard status == nil else { return }
        kill(-pid, SIGKILL)
        var status = Int32()
        waitpid(pid, &status, 0)
    }

    /// Everything the program has written so far.
    var text: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

    func signal(_ signal: Int32) { kill(pid, signal) }

    /// Signals the program and all that it has started.
    func signalGroup(_ signal: Int32) { kill(-pid, signal) }

    /// Waits for the program's end.
    /// - Returns: its exit code; 128 and the signal's number when a signal ended it.
    @discardableResult
    func wait(seconds: Double = Deadline.patience) throws -> Int32 {
        if let status { return status }
        // The connection ends once all that hold it are gone: the program, and what it started.
        guard life.isReadable(within: seconds) else {
            throw Trouble("\(output) still runs after \(seconds) s; it said:\n\(text)")
        }
        var code = Int32()
        waitpid(pid, &code, 0)
        let result = code & 0x7f == 0 ? code >> 8 & 0xff : 128 + code & 0x7f
        status = result
        return result
    }

    /// Whether the program ends within so many seconds.
    func isOver(within seconds: Double) -> Bool { life.isReadable(within: seconds) }

    /// Kilobytes of memory that the program holds now.
    var residentKilobytes: Int {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// Where the connection lies in the program: out of the way of what is handed down on purpose.
    private static let lifeNumber: Int32 = 999

    /// A program that was built together with the tests stands beside them.
    static func built(_ name: String) -> String { folder + "/" + name }

    static let folder: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().path
    }()

    /// Runs a program to its end.
    static func run(
        _ name: String, _ arguments: [String] = [], environment: [String: String] = [:], folder: Folder,
        seconds: Double = Deadline.patience
    ) throws -> (code: Int32, text: String) {
        let program = try Program(name, arguments, environment: environment, folder: folder)
        let code = try program.wait(seconds: seconds)
        return (code, program.text)
    }

    /// Makes a program of a shell script. A shell writes it: a file that the tests' own process writes may be open in
    /// another test's new process for a moment, and then "text file busy" is all that comes of running it.
    @discardableResult
    static func write(script: String, to name: String, in folder: Folder) throws -> String {
        let command = #"printf '%s' "$1" >"$0" && chmod 755 "$0""#
        let written = try run("/bin/sh", ["-c", command, folder.file(name), "#!/bin/sh\n" + script], folder: folder)
        try #require(written.code == 0, "\(written.text)")
        return folder.file(name)
    }
}
