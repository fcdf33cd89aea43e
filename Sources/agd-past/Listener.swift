import AGClient
import Archive
import AttributeValues
import CommandArguments
import DaemonServer
import Glibc
import Replay

/// Accepts connections, and forks a process for each. The program has one thread, so a forked process can go on with
/// all that this one has in memory: the graph of a recent moment, from which a connection reaches another one sooner.
final class Listener {
    private let socket: ListeningSocket
    private let connections: Int
    private var past: Past
    /// Reads the settings again: each connection has the present ones.
    private let read: () throws(StartupError) -> Past
    /// A forked process gives it up, so that signals end it.
    private var signals: Signals?
    private var children: Set<pid_t> = []
    /// Packs the archive.
    private var packer: pid_t?
    /// The newest segment when the packer was started.
    private var newest: UInt64 = 0
    /// A graph that nobody uses, of the newest moment when it was made; nil: connections make their own.
    private var spare: PastGraph?
    /// The newest segment when it was made.
    private var spareSegment: UInt64?
    /// When somebody connected last, in monotonic seconds.
    private var lastConnection = -Listener.patience

    private static let backlog: Int32 = 64
    /// Milliseconds after which ended processes are looked for.
    private static let interval: Int32 = 1000
    /// Milliseconds after which complete files are looked for.
    private static let packing: Int32 = 60_000
    /// If nobody connects for so many seconds, the spare graph is freed.
    private static let patience = 600.0

    init(
        _ socket: ListeningSocket, _ past: Past, connections: Int, _ read: @escaping () throws(StartupError) -> Past
    ) {
        (self.socket, self.past, self.connections, self.read) = (socket, past, connections, read)
    }

    /// Until a signal ends it. The processes of connections go on until their clients go.
    func run() throws(StartupError) {
        defer { socket.remove() }
        do throws(ClientError) { signals = try Signals() } catch { throw StartupError(.osError, "\(error)") }
        guard listen(socket.descriptor, Listener.backlog) == 0 else {
            throw StartupError(.osError, "listen: \(String(cString: strerror(errno)))")
        }
        ServiceManager { getenv($0).map { String(cString: $0) } }.ready("listening on \(socket.path)")
        while let wakeup = signals?.descriptor {
            pack()
            var waits = [
                pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
                pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            // Making a graph takes a while: those who wait already come first.
            var count = poll(&waits, 2, 0)
            if count == 0 {
                careForSpare()
                count = poll(&waits, 2, children.isEmpty && packer == nil ? Listener.packing : Listener.interval)
            }
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
        guard packer == nil, let last = Segment.all(in: past.folder).last?.number, last != newest else { return }
        newest = last
        packer = try? fork { [past] () throws(StartupError) in try Packer(past.folder).run() }
    }

    /// Makes the spare graph if somebody has connected, and again when a segment has begun.
    private func careForSpare() {
        guard PastConnection.realNow().monotonic - lastConnection < Listener.patience else {
            (spare, spareSegment) = (nil, nil)
            return
        }
        guard let last = Segment.all(in: past.folder).last?.number, last != spareSegment else { return }
        spareSegment = last
        spare = nil
        spare = try? PastGraph(past, at: nil) { PastConnection.realNow().monotonic }
        // With operators over time, each moment has a graph of its own.
        if spare?.runtime.hasOperators == true { spare = nil }
    }

    private func accept() {
        let connection = Glibc.accept(socket.descriptor, nil, nil)
        guard connection >= 0 else { return }
        defer { close(connection) }
        guard children.count < connections else {
            return refuse(connection, .limit, "agd-past has \(connections) connections already; try again later")
        }
        lastConnection = PastConnection.realNow().monotonic
        do throws(StartupError) {
            let past = try read()
            if past != self.past { (spare, spareSegment) = (nil, nil) }
            self.past = past
        } catch { return refuse(connection, .unavailable, error.description) }
        do throws(Failure) {
            let child = try fork { [past, spare] in PastConnection(connection, past, from: spare).run() }
            children.insert(child)
        } catch { refuse(connection, error.code, error.message) }
    }

    private func refuse(_ connection: Int32, _ code: ErrorCode, _ message: String) {
        let text = ByteBuffer()
        text.append("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":")
        text.appendJSONString(message)
        text.append(",\"data\":{\"code\":")
        text.appendJSONString(code.rawValue)
        text.append("}}}\n")
        text.withBytes { _ = send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) }
    }

    /// Does something in a process of its own.
    private func fork(_ body: () throws(StartupError) -> Void) throws(Failure) -> pid_t {
        let process = Glibc.fork()
        if process > 0 { return process }
        if process < 0 {
            throw Failure(.unavailable, "cannot start a process: \(String(cString: strerror(errno)))")
        }
        signals = nil
        socket.leave()
        do throws(StartupError) { try body() } catch {
            StandardError.write("agd-past: \(error.description)\n")
            _exit(error.status.rawValue)
        }
        _exit(0)
    }
}
