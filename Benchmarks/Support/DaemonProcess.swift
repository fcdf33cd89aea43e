import Glibc
import TestSupport

/// A daemon in a folder of its own, for as long as this lives.
public final class DaemonProcess {
    private let folder: Folder
    private let words: [String]
    private var process: ChildProcess?

    /// `agd` beside this program; nil where it has not been built.
    public static var program: String? {
        let path =
            ChildProcess.own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            + "/agd"
        return access(path, X_OK) == 0 ? path : nil
    }

    /// - Parameters:
    ///   - scene: a document that it is started with.
    ///   - settings: lines of its configuration.
    ///   - runner: the program and options that the daemon runs under.
    public init(
        _ program: String, scene: String? = nil, settings: [String] = [], hasStore: Bool = false, runner: [String] = []
    ) throws {
        folder = try Folder()
        // Others may reach the socket, not list the folder.
        chmod(folder.path, 0o711)
        let configuration = try folder.write(settings.joined(separator: "\n") + "\n", to: "agd.conf")
        var words = runner + [program, "--config", configuration, "--socket", folder.file("agd.sock")]
        if let scene { words += ["--scene", try folder.write(scene, to: "scene.json")] }
        if hasStore { words += ["--state-directory", folder.file("state")] }
        self.words = words
        try start()
    }

    // The program ends before its folder goes.
    deinit { process = nil }

    public var socketPath: String { folder.file("agd.sock") }
    public var store: String { folder.file("state") }

    /// Starts the program and waits until it answers.
    public func start() throws {
        process = try ChildProcess(words, log: folder.file("log"))
        do {
            try DaemonClient(socketPath, patience: 60).call("ping", within: 60)
        } catch {
            throw Trouble("\(error): \(log.suffix(300))")
        }
    }

    /// Tells the daemon to end.
    public func terminate() { if let process { kill(process.id, SIGTERM) } }

    /// - Returns: whether the daemon has ended in order.
    public func hasEnded(within length: Double) -> Bool { process?.wait(upTo: length) == 0 }

    public func killNow() { process = nil }

    public var isAlive: Bool { process.map { $0.wait(upTo: 0) == nil } ?? false }

    /// The last lines that it wrote.
    public var log: String { DaemonProcess.text(folder.file("log")) }

    /// 0 when it does not run.
    public var processID: pid_t { process?.id ?? 0 }
    /// Seconds of processor time that the daemon has had.
    public var processorTime: Double { process?.processorTime ?? 0 }
    /// The same, to the nanosecond, of its main thread.
    public var preciseTime: Double { process?.preciseTime ?? 0 }
    /// How often it has gone to sleep and been woken.
    public var wakes: Int { process?.status("voluntary_ctxt_switches") ?? 0 }
    /// Kilobytes of it in memory, now and at most.
    public var residentKilobytes: Int { process?.status("VmRSS") ?? 0 }
    public var peakKilobytes: Int { process?.status("VmHWM") ?? 0 }

    /// The beginning of a file.
    public static func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }
}
