import AttributeValues
import EventLoop
import Foundation
import Glibc
import Logging
import TestSupport
import Testing

@testable import DaemonServer

/// A daemon on a temporary socket whose loop the test runs step by step, in its own thread: nothing waits for a clock.
final class TestDaemon {
    let daemon: Daemon
    let folder: Folder
    private var isEnded = false

    static let scene = """
        agd: 1
        nodes:
          - id: counter
            state: { value: 0, text: "" }
        """

    init(
        _ change: (inout Configuration) -> Void = { _ in }, inherited: Int32? = nil,
        reader: Daemon.ConfigurationReader? = nil
    ) throws {
        folder = try Folder()
        var configuration = Configuration()
        configuration.socket = folder.file("agd.sock")
        configuration.scenes = [try folder.write(TestDaemon.scene, to: "scene.yaml")]
        change(&configuration)
        let environment = ProcessEnvironment(["NOTIFY_SOCKET": folder.file("notify")])
        daemon = try TestDaemon.patiently {
            try Daemon(
                configuration, reader: reader, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                environment: environment
            ) { "epoch" }
        }
        if let inherited { daemon.entrance.inherited = [inherited] }
        try daemon.startServing()
    }

    /// The lock of a store that was closed just before may live on for a moment, in a process that another test is
    /// about to start.
    private static func patiently(_ make: () throws -> Daemon) throws -> Daemon {
        for _ in 0..<2000 {
            do { return try make() } catch let error as StartupError where error.status == .unavailable {
                poll(nil, 0, 1)
            }
        }
        return try make()
    }

    deinit {
        if !isEnded { end() }
    }

    var socket: String { folder.file("agd.sock") }
    var sessions: Sessions { daemon.sessions }

    func connect() throws -> TestClient { try TestClient(socket, self) }

    func step() { daemon.loop.runOnce() }

    /// Runs the loop until the condition holds.
    func run(until condition: () -> Bool, _ location: SourceLocation = #_sourceLocation) {
        for _ in 0..<20_000 {
            if condition() { return }
            step()
        }
        Issue.record("the daemon does not come to that", sourceLocation: location)
    }

    /// Told to stop twice: it does not wait.
    func end() {
        isEnded = true
        daemon.stop()
        daemon.stop()
        daemon.loop.run()
        do { try daemon.finish() } catch { Issue.record("\(error)") }
    }

    /// Told to stop once, with clients that take what is theirs.
    func drain() throws {
        isEnded = true
        daemon.stop()
        daemon.loop.run()
        try daemon.finish()
    }
}

/// A client in the daemon's own thread.
final class TestClient {
    let descriptor: Int32
    private let daemon: TestDaemon
    private var received: [UInt8] = []
    private(set) var hasEnded = false

    init(_ path: String, _ daemon: TestDaemon) throws {
        self.daemon = daemon
        descriptor = try UnixSocket.connect(path, flags: Int32(SOCK_NONBLOCK.rawValue))
    }

    deinit { Glibc.close(descriptor) }

    /// Sends all of it; the daemon runs while the socket is full.
    func send(_ text: String, newline: Bool = true) { send(Array(text.utf8) + (newline ? [0x0a] : [])) }

    func send(_ bytes: [UInt8]) {
        var at = 0
        daemon.run(until: {
            while at < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress.map { $0 + at }, bytes.count - at, Int32(MSG_NOSIGNAL))
                }
                if count < 0 { return false }
                at += count
            }
            return true
        })
    }

    /// As much as the kernel takes.
    func sendSome(_ text: String) -> Int { max(0, Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL))) }

    /// Reads so many bytes and forgets them.
    func take(_ count: Int) -> Int {
        var buffer = [UInt8](repeating: 0, count: count)
        return recv(descriptor, &buffer, count, 0)
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                received += buffer[..<count]
            } else {
                if count == 0 { hasEnded = true }
                return
            }
        }
    }

    /// The next line, read as JSON; nil at the end.
    func next(_ location: SourceLocation = #_sourceLocation) throws -> Value? {
        var newline: Int?
        daemon.run(
            until: {
                receive()
                newline = received.firstIndex(of: 0x0a)
                return newline != nil || hasEnded
            }, location)
        guard let newline else { return nil }
        defer { received.removeFirst(newline + 1) }
        return try JSONParser.parseOnce(received[..<newline])
    }

    /// The reply to one request.
    func call(_ method: String, _ parameters: String = "{}", _ location: SourceLocation = #_sourceLocation) throws
        -> Value
    {
        send(#"{"jsonrpc":"2.0","id":0,"method":"\#(method)","params":\#(parameters)}"#)
        while let message = try next(location) {
            if message.member("id") != nil { return message }
        }
        throw LoopError(call: "recv", number: ECONNRESET)
    }

    /// Whether the daemon has closed the connection.
    func isOver() -> Bool {
        receive()
        return hasEnded
    }
}

extension Value {
    func member(_ names: String...) -> Value? {
        names.reduce(Optional(self)) { $0?.map?[$1] }
    }
}
