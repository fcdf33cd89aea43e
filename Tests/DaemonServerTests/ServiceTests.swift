import AttributeValues
import EventLoop
import Foundation
import Glibc
import CommandArguments
import TestSupport
import Testing

@testable import DaemonServer

@Suite("Socket and service manager", .serialized)
struct ServiceTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test("the socket has the mode that was asked for, and goes with the daemon") func mode() throws {
        let daemon = try TestDaemon { $0.socketMode = 0o600 }
        #expect(try mode(daemon.socket) == 0o600)
        daemon.end()
        #expect(!FileManager.default.fileExists(atPath: daemon.socket))
    }

    @Test("a second daemon is refused and the first is untouched") func second() throws {
        let daemon = try TestDaemon()
        let error = #expect(throws: StartupError.self) {
            try ListeningSocket(path: daemon.socket, mode: 0o660, group: nil)
        }
        #expect(error?.status == .unavailable)
        #expect(error?.description.contains(daemon.socket) == true)
        #expect(try daemon.connect().call("ping").member("result", "pong") == true)
    }

    @Test("a socket that another program serves is not taken from it") func foreignServer() throws {
        let path = folder.file("x.sock")
        let server = try UnixSocket.listen(path)
        let error = #expect(throws: StartupError.self) { try ListeningSocket(path: path, mode: 0o660, group: nil) }
        #expect(error?.status == .unavailable)
        #expect(FileManager.default.fileExists(atPath: path))
        close(server)
    }

    @Test("a socket file that nobody serves is replaced") func stale() throws {
        let path = folder.file("x.sock")
        close(try UnixSocket.listen(path))
        let socket = try ListeningSocket(path: path, mode: 0o660, group: nil)
        #expect(try mode(path) == 0o660)
        socket.remove()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a socket that somebody else has put there meanwhile is left") func replaced() throws {
        let path = folder.file("x.sock")
        let socket = try ListeningSocket(path: path, mode: 0o660, group: nil)
        unlink(path)
        let other = try UnixSocket.listen(path)
        socket.remove()
        #expect(FileManager.default.fileExists(atPath: path))
        close(other)
    }

    @Test(
        "each obstacle at a start is reported with its exit status",
        arguments: [
            ("/nonexistent/folder/x.sock", nil, DaemonServer.ExitStatus.cannotCreate, "open"),
            ("relative.sock", nil, .configuration, "absolute"),
            ("/tmp/" + String(repeating: "x", count: 200), nil, .configuration, "at most 107 bytes"),
            (NSTemporaryDirectory() + "agd-no-group.sock", "no-such-group", .configuration, "no-such-group"),
        ] as [(String, String?, DaemonServer.ExitStatus, String)])
    func refused(path: String, group: String?, status: DaemonServer.ExitStatus, message: String) {
        let error = #expect(throws: StartupError.self) { try ListeningSocket(path: path, mode: 0o660, group: group) }
        #expect(error?.status == status)
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
        #expect(!FileManager.default.fileExists(atPath: path + ".lock"))
    }

    @Test("sockets are taken from the service manager only when they are meant for this process")
    func activationIsMeant() throws {
        #expect(try Activation.sockets(ProcessEnvironment([:])).isEmpty)
        #expect(try Activation.sockets(ProcessEnvironment(["LISTEN_FDS": "1"])).isEmpty)
        #expect(try Activation.sockets(ProcessEnvironment(["LISTEN_PID": "1", "LISTEN_FDS": "1"])).isEmpty)
        let error = #expect(throws: StartupError.self) {
            try Activation.sockets(ProcessEnvironment(["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "1000"]))
        }
        #expect(error?.status == .configuration)
    }

    @Test("only a listening Unix stream socket is taken") func activationKind() throws {
        let stream = try UnixSocket.listen(folder.file("s"))
        let datagram = try UnixSocket.receive(folder.file("d"))
        let file = open("/dev/null", O_RDONLY)
        #expect(try Activation.check([stream]) == [stream])
        for wrong in [datagram, file] {
            let error = #expect(throws: StartupError.self) { try Activation.check([stream, wrong]) }
            #expect(error?.status == .configuration)
        }
        for descriptor in [stream, datagram, file] { close(descriptor) }
    }

    @Test("the service manager hears of readiness, reload, life and end", arguments: [false, true])
    func notifications(isAbstract: Bool) throws {
        let path = isAbstract ? "@agd-test-\(UUID().uuidString.prefix(8))" : folder.file("notify")
        let receiver = try UnixSocket.receive(path)
        defer { close(receiver) }
        func told() -> String {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(receiver, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
        let variables = ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "\(getpid())"]
        let manager = ServiceManager { variables[$0] }
        #expect(manager.watchdogInterval == 1.5)
        manager.ready("412 attributes, 37 subscriptions, revision 91823")
        #expect(told() == "READY=1\nSTATUS=412 attributes, 37 subscriptions, revision 91823")
        manager.reloading(at: 12.5)
        #expect(told() == "RELOADING=1\nMONOTONIC_USEC=12500000\nSTATUS=reloading")
        manager.isAlive()
        #expect(told() == "WATCHDOG=1")
        manager.stopping()
        #expect(told() == "STOPPING=1\nSTATUS=stopping")
        #expect(told() == "")
    }

    @Test("without a service manager nothing is said, and another process's watchdog is not fed") func noManager() {
        let alone = ServiceManager { _ in nil }
        alone.ready("x")
        #expect(alone.watchdogInterval == nil)
        let variables = ["NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "5", "WATCHDOG_PID": "1"]
        let other = ServiceManager { variables[$0] }
        #expect(other.watchdogInterval == nil)
    }

    @Test("told to stop, the daemon answers what it has been sent, then ends") func drain() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        _ = try client.call("ping")
        // It lies with the kernel, unread, when the word comes.
        #expect(
            client.sendSome((1...100).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"ping"}"# + "\n" }.joined()) > 0)
        try daemon.drain()
        for number in 1...100 { #expect(try client.next()?.member("id") == .int(Int64(number))) }
        #expect(try client.next() == nil)
    }

    @Test("a reload with a fault keeps the old configuration") func reload() throws {
        let file = folder.file("agd.conf")
        try "clients = 5\n".write(toFile: file, atomically: true, encoding: .utf8)
        let daemon = try TestDaemon(reader: { () throws(ConfigurationFaults) in try Configuration(file: file) })
        daemon.daemon.reload()
        #expect(daemon.sessions.limits.clients == 5)
        try "clients = 6\nnonsense\n".write(toFile: file, atomically: true, encoding: .utf8)
        daemon.daemon.reload()
        #expect(daemon.sessions.limits.clients == 5)
    }

    @Test("the status names the fault of a reload until one goes well") func reloadStatus() throws {
        let file = folder.file("agd.conf")
        try "nonsense\n".write(toFile: file, atomically: true, encoding: .utf8)
        let daemon = try TestDaemon(reader: { () throws(ConfigurationFaults) in try Configuration(file: file) })
        let client = try daemon.connect()
        daemon.daemon.reload()
        _ = try client.call("set", #"{"path":"/counter.value","value":1}"#)
        #expect(
            daemon.daemon.status.hasSuffix(
                "; the configuration stays as it was: \(file):1: expected name = value, found \"nonsense\""))
        try "clients = 6\n".write(toFile: file, atomically: true, encoding: .utf8)
        daemon.daemon.reload()
        #expect(daemon.daemon.status == daemon.daemon.runtime.status)
    }

    @Test("a turn that comes too soon behind a line of status is told of a little later") func status() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        daemon.daemon.lastStatus = .infinity
        _ = try client.call("set", #"{"path":"/counter.value","value":1}"#)
        #expect(daemon.daemon.isStatusDue && daemon.daemon.isCaring)
        daemon.daemon.lastStatus = -.infinity
        daemon.daemon.care()
        #expect(!daemon.daemon.isStatusDue && daemon.daemon.lastStatus > 0)
    }

    @Test("acknowledged writes survive a restart, with the same epoch and a later revision") func restart() throws {
        let store = folder.file("store")
        var revision: Int64 = 0
        do {
            let daemon = try TestDaemon { $0.stateDirectory = store }
            let client = try daemon.connect()
            revision = try #require(
                try client.call("set", #"{"path":"/counter.value","value":41}"#).member("result", "revision")?.number
                    .map { Int64($0) })
            _ = client
            daemon.end()
        }
        let daemon = try TestDaemon { $0.stateDirectory = store }
        let client = try daemon.connect()
        #expect(try client.call("get", #"{"path":"/counter.value"}"#).member("result", "value") == 41)
        let next = try #require(
            try client.call("set", #"{"path":"/counter.value","value":42}"#).member("result", "revision")?.number)
        #expect(Int64(next) > revision)
        #expect(daemon.daemon.runtime.epoch == "epoch")
    }
}
