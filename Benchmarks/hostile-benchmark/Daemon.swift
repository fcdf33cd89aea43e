import AttributeValues
import Glibc

/// A daemon in a folder of its own, and what the kernel says of it.
final class Daemon {
    let folder: String
    private var process: Process?
    private let words: [String]

    /// `agd` beside this program; nil where it has not been built.
    static var program: String? {
        let path = Process.own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/agd"
        return access(path, X_OK) == 0 ? path : nil
    }

    init(_ program: String, for attack: Attack) throws {
        var template = Array("/tmp/agd-hostile-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Trouble("mkdtemp: errno \(errno)") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // Others may reach the socket, not list the folder.
        chmod(folder, 0o711)
        var settings = ["socket-mode = 0666", "log-level = error"] + attack.settings
        // A line for somebody else: from then on nobody has a right by himself, except root and the daemon's own user.
        if !attack.hasRights { settings.append("access = read user:0 /nothing/**") }
        try Daemon.write(settings.joined(separator: "\n") + "\n", to: folder + "/agd.conf")
        var words = [program, "--config", folder + "/agd.conf", "--socket", folder + "/agd.sock"]
        if let scene = attack.scene() {
            try Daemon.write(scene, to: folder + "/scene.json")
            words += ["--scene", folder + "/scene.json"]
        }
        if attack.keepsStore { words += ["--state-directory", folder + "/state"] }
        self.words = words
        try start()
    }

    deinit {
        process = nil
        for file in ["/scene.json", "/agd.conf", "/agd.sock", "/agd.sock.lock", "/log", "/state/state.db", "/state/state.db-wal", "/state/state.db-shm"] {
            unlink(folder + file)
        }
        rmdir(folder + "/state")
        rmdir(folder)
    }

    var socketPath: String { folder + "/agd.sock" }

    private static func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw Trouble("fopen \(path): errno \(errno)") }
        defer { fclose(file) }
        guard fputs(text, file) >= 0 else { throw Trouble("fputs \(path): errno \(errno)") }
    }

    /// Starts the program and waits until it answers.
    func start() throws {
        process = try Process(words, log: folder + "/log")
        let client = try Client(socketPath, patience: 60)
        try client.call("ping", within: 60)
    }

    /// Tells the daemon to end.
    func terminate() { if let process { kill(process.id, SIGTERM) } }

    /// - Returns: whether the daemon has ended in order.
    func hasEnded(within length: Double) -> Bool { process?.wait(upTo: length) == 0 }

    func killNow() { process = nil }

    var isAlive: Bool { process.map { $0.wait(upTo: 0) == nil } ?? false }

    /// The last lines that it wrote.
    var log: String { Daemon.text(folder + "/log") }

    /// Seconds of processor time that the daemon has had.
    var processorTime: Double {
        // Behind the name in brackets: utime and stime are the 12th and 13th.
        let fields = (kernelText("stat").split(separator: ")").last ?? "").split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Bytes of it in memory, now and at most.
    var resident: Int { kernelKilobytes("VmRSS:") << 10 }
    var peak: Int { kernelKilobytes("VmHWM:") << 10 }

    private func kernelKilobytes(_ name: String) -> Int {
        for line in kernelText("status").split(separator: "\n") where line.hasPrefix(name) {
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).lazy.compactMap { Int($0) }.first ?? 0
        }
        return 0
    }

    private func kernelText(_ name: String) -> String { process.map { Daemon.text("/proc/\($0.id)/\(name)") } ?? "" }

    private static func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    /// The numbers that the daemon tells of itself.
    func figures(within patience: Double) -> [String: Double]? {
        guard let client = try? Client(socketPath, patience: 0), let line = try? client.call("stats", within: patience),
            let reply = try? JSONParser.parseOnce(line[...]), let members = reply.map?["result"]?.map
        else { return nil }
        var figures: [String: Double] = [:]
        for (key, value) in members { if let name = key.string, let number = value.number { figures[name] = number } }
        return figures
    }
}
