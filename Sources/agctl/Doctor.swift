import AGClient
import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

struct DoctorCommand: Verb {
    static let help = VerbHelp(
        name: "doctor", summary: "Find problems of the daemon, and say how to solve them.",
        discussion: """
            Checks the socket and its rights, whether the daemon answers, its limits and counters, the settings, the \
            store, the systemd unit and the clock. Ends with status 1 if something is wrong. Run it as root to see \
            all. If the daemon does not answer, all of the store is read in a copy in $TMPDIR.

            Examples:
              agctl doctor
              sudo agctl doctor
              agctl doctor --json
            """)

    @Option(help: ArgumentHelp("The folder of the store.", valueName: "dir"), completion: .folders)
    var stateDirectory = "/var/lib/agd"

    @Option(help: ArgumentHelp("The file of settings.", valueName: "file"), completion: .files)
    var config = "/etc/agd/agd.conf"

    @OptionGroup var common: CommonOptions

    func run() throws {
        // A diagnosis should not wait long.
        if common.daemon.timeout == nil { common.daemon.timeout = 3 }
        try Session.run(common) { session in
            var doctor = Examination(session)
            doctor.examineSocket()
            doctor.examineDaemon()
            doctor.examineSettings(config)
            doctor.examineStore(stateDirectory)
            doctor.examineUnit()
            doctor.examineClock(stateDirectory)
            doctor.report()
            if doctor.isIll { throw EndOfCommand(status: .different) }
        }
    }
}

/// The checks, in the order in which they are shown.
private struct Examination {
    private enum State: String {
        case ok, warning, bad
        /// The check needs permissions or programs that are missing.
        case skipped
    }

    private struct Finding {
        var state: State
        var subject: String
        var message: String
        var hint: String?
    }

    private let session: Session
    private var findings: [Finding] = []
    private var isAnswering = false

    init(_ session: Session) { self.session = session }

    var isIll: Bool { findings.contains { $0.state == .bad || $0.state == .warning } }

    private mutating func note(_ state: State, _ subject: String, _ message: String, _ hint: String? = nil) {
        findings.append(Finding(state: state, subject: subject, message: message, hint: hint))
    }

    mutating func examineSocket() {
        let path = session.location.path
        var status = stat()
        guard stat(path, &status) == 0 else {
            let error = ClientError.unreachable(session.location, errno: errno)
            return note(.bad, "socket", "\(error)", error.hint)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            return note(.bad, "socket", "\(path) is no socket", "name the daemon's socket with --socket")
        }
        let mode = String(status.st_mode & 0o7777, radix: 8)
        let owner = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "\(status.st_uid)"
        let group = getgrgid(status.st_gid).map { String(cString: $0.pointee.gr_name) } ?? "\(status.st_gid)"
        let text = "\(path), mode \(mode), \(owner):\(group)"
        if access(path, W_OK) != 0 {
            let error = ClientError.unreachable(session.location, errno: errno)
            return note(.bad, "socket", "\(text): this user may not connect", error.hint)
        }
        if status.st_mode & 0o002 != 0 {
            return note(.warning, "socket", "\(text): every user can connect", "see socket-mode in agd.conf")
        }
        note(.ok, "socket", text)
    }

    mutating func examineDaemon() {
        do throws(ClientError) {
            let connection = try session.connection()
            let hello = try connection.call(.hello(client: "agctl doctor")).map ?? ValueMap()
            let began = MonotonicTime.now
            _ = try connection.call(.ping)
            isAnswering = true
            let microseconds = Figure.fixed((MonotonicTime.now - began) * 1e6, places: 0)
            note(.ok, "daemon", "agd answers in \(microseconds) µs, protocol \(hello["protocol"]?.jsonText ?? "?")")
            // A forwarded socket leads to another machine.
            if let text = hello["time"]?.map?["wall"]?.string, let wall = Timestamp(text) {
                let difference = wall.seconds - Int64(time(nil))
                if abs(difference) > 2 {
                    note(
                        .warning, "clock", "the daemon's clock differs by \(difference) s from the clock here",
                        "set the clocks: timedatectl set-ntp true")
                }
            }
            do throws(ClientError) {
                examineCounters(try connection.call(.stats(format: .json)).map ?? ValueMap())
            } catch {
                guard error.failure?.code == .denied else { throw error }
                note(.skipped, "rights", "this user may not read the counters", "see access in agd.conf")
            }
        } catch .timedOut(let seconds) {
            noteSilence(seconds)
        } catch { note(.bad, "daemon", "\(error)", error.hint == nil ? "see 'journalctl -u agd'" : error.hint) }
    }

    /// Reports a daemon that accepts connections but does not answer.
    private mutating func noteSilence(_ seconds: Double) {
        let silence = "\(ClientError.timedOut(seconds: seconds))"
        guard let process = session.location.listener, let state = Self.state(of: process) else {
            return note(.bad, "daemon", silence, "see 'journalctl -u agd'")
        }
        if state == "T" {
            return note(.bad, "daemon", "\(silence): process \(process) is stopped", "kill -CONT \(process)")
        }
        note(
            .bad, "daemon", silence,
            "it is busy; 'agctl --timeout 60 trace --seconds 10 --rules' shows with which rules")
    }

    /// The letter of a process's state in `/proc`, behind its name in parentheses: `T` if a signal has stopped it.
    private static func state(of process: Int32) -> Character? {
        guard let text = try? InputText.read("/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else {
            return nil
        }
        return text[end...].dropFirst(2).first
    }

    /// Counters that grow when something is wrong, each with a remedy.
    private static let counters = [
        ("refused_clients", "refused clients", "raise clients in agd.conf, and LimitNOFILE of the unit"),
        ("disconnected_clients", "disconnected clients", "the log names them: journalctl -u agd"),
        ("slow_clients", "clients that did not read in time", "find them with log-level = debug; see output-queue"),
        ("cycles", "cycles of rules", "agctl explain of the attribute prints the cycle"),
        ("turns_over_100ms", "turns of more than 100 ms", "agctl trace --seconds 10 --rules shows the rules"),
        (
            "archive_stopped", "the archive cannot be written",
            "free space on its file system, or lower archive-size; the log has the reason"
        ),
        ("absent_rows", "rows of the store without a node", "agctl prune deletes them"),
    ]

    private mutating func examineCounters(_ stats: ValueMap) {
        let count = findings.count
        for (name, meaning, hint) in Self.counters {
            if case .int(let number)? = stats[name], number > 0 {
                note(.warning, "counters", "\(meaning): \(number)", hint)
            }
        }
        if findings.count == count { note(.ok, "counters", "no refused, slow or disconnected clients, no cycles") }
    }

    mutating func examineSettings(_ file: String) {
        guard access(file, F_OK) == 0 else {
            return note(
                .skipped, "settings", "\(file) does not exist: the defaults apply",
                "--config names the file of a daemon with other settings")
        }
        let (status, text) = Child.captureOutput(Child.neighbour("agd"), ["--config", file, "--check-config"])
        switch status {
        case 0: note(.ok, "settings", text.trimmed)
        case 127: note(.skipped, "settings", "the program agd is not installed here")
        default: note(.bad, "settings", text.trimmed, "correct them, then run 'systemctl reload agd'")
        }
    }

    mutating func examineStore(_ folder: String) {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            return note(
                .skipped, "store", "\(folder): \(String(cString: strerror(errno)))",
                "--state-directory names the folder of another store")
        }
        let file = folder + "/state.db"
        guard access(file, F_OK) == 0 else {
            return note(.skipped, "store", "\(file): \(String(cString: strerror(errno)))")
        }
        let owner = status.st_uid
        if stat(file, &status) == 0, status.st_uid != owner {
            return note(
                .bad, "store", "\(file) has another owner than its folder", "chown --reference=\(folder) \(file)")
        }
        var space = statvfs()
        if statvfs(folder, &space) == 0 {
            let free = UInt64(space.f_bavail) * UInt64(space.f_frsize)
            guard free >= 64 << 20 else {
                return note(.bad, "store", "\(free >> 20) MiB are free in \(folder)", "free space on the file system")
            }
        }
        let kilobytes = (Int64(status.st_size) + 1023) / 1024
        let text = "\(file), \(kilobytes) KiB"
        if isAnswering {
            return note(.ok, "store", "\(text); 'agd --backup' or 'agctl backup' checks all of it")
        }
        let (code, found) = Self.readStore(folder)
        switch code {
        case 0: note(.ok, "store", "\(text), is sound: \(found)")
        case 127: note(.skipped, "store", "\(text): the program agd, which could read it, is not installed here")
        case ExitStatus.denied.rawValue: note(.skipped, "store", found, "run doctor as root")
        default: note(.bad, "store", found)
        }
    }

    /// Reads and checks all of a store in a copy. The store stays as it is, also if a daemon has it open.
    /// - Returns: the daemon's exit status, and what it has found.
    private static func readStore(_ folder: String) -> (code: Int32, text: String) {
        var template = Array("\(Contexts.temporaryFolder)/agctl-doctor-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            return (ExitStatus.system.rawValue, "mkdtemp in $TMPDIR: \(String(cString: strerror(errno)))")
        }
        let temporary = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let copy = temporary + "/state.db"
        defer {
            unlink(copy)
            rmdir(temporary)
        }
        let (code, text) = Child.captureOutput(
            Child.neighbour("agd"), ["--backup", copy, "--state-directory", folder])
        let lines = text.lines.map { line in
            for prefix in ["agd: ", "\(copy): "] where line.hasPrefix(prefix) {
                return String(line.dropFirst(prefix.count))
            }
            return line
        }
        return (code, lines.joined(separator: "\n").trimmed)
    }

    mutating func examineUnit() {
        guard access("/run/systemd/system", F_OK) == 0 else {
            return note(.skipped, "unit", "systemd does not run here")
        }
        let (status, text) = Child.captureOutput(
            "systemctl", ["show", "agd.socket", "agd.service", "-p", "LoadState,ActiveState,UnitFileState,Result"])
        let units = text.lines.split(separator: "").map { lines in
            Dictionary(
                lines.map { line -> (String, String) in
                    let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    return (String(parts[0]), parts.count == 2 ? String(parts[1]) : "")
                }, uniquingKeysWith: { $1 })
        }
        guard status == 0, units.count == 2 else { return note(.skipped, "unit", "systemctl did not answer") }
        guard units[0]["LoadState"] == "loaded" else {
            return note(.skipped, "unit", "agd.socket is not installed", "make package makes a Debian package")
        }
        if units[1]["ActiveState"] == "failed" {
            return note(
                .bad, "unit", "agd.service has failed: \(units[1]["Result"] ?? "")",
                "journalctl -u agd says why; then run 'systemctl reset-failed agd.service agd.socket' and 'systemctl "
                    + "start agd.socket'")
        }
        if units[0]["ActiveState"] != "active" {
            return note(.bad, "unit", "agd.socket is not active", "systemctl start agd.socket")
        }
        if units[0]["UnitFileState"] != "enabled" {
            return note(.warning, "unit", "agd.socket does not start with the machine", "systemctl enable agd.socket")
        }
        note(.ok, "unit", "agd.socket is enabled, agd.service is \(units[1]["ActiveState"] ?? "unknown")")
    }

    mutating func examineClock(_ folder: String) {
        let now = time(nil)
        for name in ["state.db", "state.db-wal"] {
            var status = stat()
            guard stat("\(folder)/\(name)", &status) == 0, status.st_mtim.tv_sec > now + 60 else { continue }
            return note(
                .bad, "clock", "\(folder)/\(name) was written \(status.st_mtim.tv_sec - now) s in the future",
                "set the clock: timedatectl set-ntp true")
        }
        // A machine without a battery begins in 1970.
        if now < 1_700_000_000 {
            return note(.bad, "clock", "the clock is years behind", "set the clock: timedatectl set-ntp true")
        }
        guard access("/usr/share/zoneinfo/UTC", F_OK) == 0 else {
            return note(.bad, "clock", "there are no time zones for rules", "apt-get install tzdata")
        }
        note(.ok, "clock", "the time is plausible, and time zones are installed")
    }

    func report() {
        let output = session.output
        if session.isJSON {
            return output.json([
                "checks": .list(
                    findings.map { finding in
                        var map = ValueMap([
                            (.string("subject"), .string(finding.subject)),
                            (.string("state"), .string(finding.state.rawValue)),
                            (.string("message"), .string(finding.message)),
                        ])
                        map["hint"] = finding.hint.map { .string($0) }
                        return .map(map)
                    })
            ])
        }
        for finding in findings {
            let state = DisplayWidth.pad(finding.state.rawValue, to: 8)
            let painted =
                switch finding.state {
                case .ok: output.style.green(state)
                case .warning: output.style.yellow(state)
                case .bad: output.style.red(state)
                case .skipped: output.style.dim(state)
                }
            // Programs' messages may have several lines.
            let lines = finding.message.lines
            output.writeLine("\(painted) \(DisplayWidth.pad(finding.subject, to: 9)) \(lines.first ?? "")")
            for line in lines.dropFirst() { output.writeLine("\(String(repeating: " ", count: 19))\(line)") }
            if let hint = finding.hint {
                output.writeLine("\(String(repeating: " ", count: 19))\(output.style.dim("hint:")) \(hint)")
            }
        }
    }
}
