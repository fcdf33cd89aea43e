import Foundation
import TestSupport

/// The real daemon, on a socket in a folder of its own. It is ready when `init` returns.
final class Daemon {
    let folder: Folder
    let socket: String
    let program: Program
    private let notifications: Descriptor

    /// - Parameters:
    ///   - scenes: texts of scene documents, loaded at start.
    ///   - sceneFiles: files of the project, as `Examples/podcast.yaml`.
    ///   - configuration: text of a configuration file; the socket is named by option.
    ///   - folder: one that earlier daemons have used, for what they left there.
    ///   - limits: what `ulimit` sets for it.
    convenience init(
        scenes: [String] = [], sceneFiles: [String] = [], configuration: String? = nil, folder: Folder? = nil,
        limits: String = ""
    ) throws {
        try self.init(
            starting: scenes, sceneFiles, configuration, in: folder ?? Folder(), listening: [], environment: [:],
            limits: limits)
    }

    init(
        starting scenes: [String], _ sceneFiles: [String], _ configuration: String?, in folder: Folder,
        listening: [Descriptor], environment: [String: String], limits: String = ""
    ) throws {
        self.folder = folder
        socket = folder.file("agd.sock")
        let notify = folder.file("notify-\(UUID().uuidString.prefix(8))")
        notifications = try Descriptor(UnixSocket.receive(notify), "bind")
        var arguments = listening.isEmpty ? ["--socket", socket] : []
        if let configuration { arguments += ["--config", try folder.write(configuration, to: "agd.conf")] }
        for (number, scene) in scenes.enumerated() {
            arguments += ["--scene", try folder.write(scene, to: "scene-\(number).yaml")]
        }
        for file in sceneFiles { arguments += ["--scene", Project.file(file)] }
        var variables = ["NOTIFY_SOCKET": notify]
        variables.merge(environment) { $1 }
        if listening.isEmpty, limits.isEmpty {
            program = try Program("agd", arguments, environment: variables, folder: folder)
        } else {
            // LISTEN_PID must be the daemon's own, which a shell knows before it becomes the daemon.
            let limit = limits.isEmpty ? "" : "ulimit \(limits) && "
            program = try Program(
                "/bin/sh", ["-c", limit + "LISTEN_PID=$$ exec \"$0\" \"$@\"", Program.built("agd")] + arguments,
                environment: variables, folder: folder, descriptors: listening)
        }
        try awaitNotification("READY=1")
    }

    /// Waits until the daemon tells the service manager so. Answers what it told before, and this.
    @discardableResult
    func awaitNotification(_ wanted: String, seconds: Double = Deadline.patience) throws -> [String] {
        let deadline = Deadline(seconds)
        var told: [String] = []
        while !told.contains(where: { $0.hasPrefix(wanted) }) {
            guard notifications.isReadable(within: min(0.1, deadline.seconds)) else {
                if program.isOver(within: 0) { throw Trouble("the daemon ended and said:\n\(program.text)") }
                guard !deadline.isOver else { throw Trouble("no \(wanted) within \(seconds) s:\n\(program.text)") }
                continue
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(notifications.number, &buffer, buffer.count, 0)
            told += String(decoding: buffer[..<max(0, count)], as: UTF8.self).split(separator: "\n").map(String.init)
        }
        return told
    }

    func client() throws -> Client { try Client(socket) }

    /// Asks the daemon to end, as a service manager does, and waits for it.
    @discardableResult
    func stop() throws -> Int32 {
        program.signal(SIGTERM)
        return try program.wait()
    }

    /// Runs `agctl` against it.
    func control(_ arguments: [String]) throws -> (code: Int32, text: String) {
        try Program.run("agctl", arguments, environment: ["AGD_SOCKET": socket], folder: folder)
    }

    /// `agctl` where it runs until it is told to end, and what it prints.
    func startControl(_ arguments: [String]) throws -> (program: Program, output: Client) {
        let (ours, theirs) = try Descriptor.pair()
        let program = try Program(
            "agctl", arguments, environment: ["AGD_SOCKET": socket], folder: folder, standardOutput: theirs)
        return (program, Client(socket: ours))
    }
}
