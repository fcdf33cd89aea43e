import AGClient
import Archive
import AttributeValues
import CommandArguments
import DaemonServer
import Glibc

/// Accepts connections, and starts a process for each: this program with `--connected`.
final class Listener {
    private let socket: ListeningSocket
    private let connections: Int
    /// What a process is started with, after its name.
    private let arguments: [String]
    private var children: Set<pid_t> = []
    /// Packs the archive.
    private var packer: pid_t?
    private let folder: String
    /// The newest segment when the packer was started.
    private var newest: UInt64 = 0

    private static let backlog: Int32 = 64
    /// Milliseconds after which ended processes are looked for.
    private static let interval: Int32 = 1000
    /// Milliseconds after which complete files are looked for.
    private static let packing: Int32 = 60_000

    init(_ socket: ListeningSocket, of folder: String, connections: Int, arguments: [String]) {
        (self.socket, self.connections, self.arguments) = (socket, connections, arguments)
        self.folder = folder
    }

    /// Until a signal ends it. The processes of connections go on until their clients go.
    func run() throws(StartupError) {
        defer { socket.remove() }
        let signals: Signals
        do throws(ClientError) { signals = try Signals() } catch { throw StartupError(.osError, "\(error)") }
        guard listen(socket.descriptor, Listener.backlog) == 0 else {
            throw StartupError(.osError, "listen: \(String(cString: strerror(errno)))")
        }
        ServiceManager { getenv($0).map { String(cString: $0) } }.ready("listening on \(socket.path)")
        while true {
            pack()
            var waits = [
                pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&waits, 2, children.isEmpty && packer == nil ? Listener.packing : Listener.interval)
            reap()
            if count <= 0 { continue }
            if waits[0].revents != 0 { return }
            if waits[1].revents != 0 { accept() }
        }
    }

    private func reap() {
        for child in children where waitpid(child, nil, WNOHANG) != 0 { children.remove(child) }
        if let child = packer, waitpid(child, nil, WNOHANG) != 0 { packer = nil }
    }

    /// A segment is complete when a newer one is there.
    private func pack() {
        guard packer == nil, let last = Segment.all(in: folder).last?.number, last != newest else { return }
        newest = last
        packer = try? start("--pack", nil)
    }

    private func accept() {
        let connection = Glibc.accept(socket.descriptor, nil, nil)
        guard connection >= 0 else { return }
        defer { close(connection) }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        guard children.count < connections else {
            return refuse(connection, "agd-past has \(connections) connections already; try again later")
        }
        do throws(Failure) { children.insert(try start("--connected", connection)) } catch {
            refuse(connection, error.message)
        }
    }

    private func refuse(_ connection: Int32, _ message: String) {
        let text = ByteBuffer()
        text.append("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":")
        text.appendJSONString(message)
        text.append(",\"data\":{\"code\":\"limit\"}}}\n")
        text.withBytes { _ = send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) }
    }

    /// Starts this program again.
    /// - Parameter connection: its descriptor 3.
    private func start(_ option: String, _ connection: Int32?) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let connection { posix_spawn_file_actions_adddup2(&actions, connection, 3) }
        var words = (["agd-past"] + arguments + [option]).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, "/proc/self/exe", &actions, nil, &words, environ)
        guard code == 0 else {
            throw Failure(.unavailable, "cannot start a process: \(String(cString: strerror(code)))")
        }
        return process
    }
}
