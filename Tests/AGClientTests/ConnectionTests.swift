import AGClient
import AttributeValues
import Glibc
import Testing
import WireProtocol

@Suite("a connection", .timeLimit(.minutes(5)))
struct ConnectionTests {
    private func get(_ path: String) -> Request {
        .get(.init(paths: [path], isSingle: true))
    }

    @Test("a path without a socket and a path too long are told apart")
    func unreachable() {
        #expect { try Connection(to: SocketLocation(path: "/nonexistent/agd.sock")) } throws: { error in
            if case ClientError.unreachable(_, ENOENT) = error { true } else { false }
        }
        #expect { try Connection(to: SocketLocation(path: "/" + String(repeating: "x", count: 107))) } throws: {
            error in
            if case ClientError.socketPathTooLong = error { true } else { false }
        }
    }

    @Test("a socket that nobody listens at says so")
    func refusedConnection() throws {
        let daemon = FakeDaemon { _ in }
        daemon.join()
        #expect { try Connection(to: daemon.location) } throws: { error in
            guard case ClientError.unreachable(_, ECONNREFUSED) = error, let error = error as? ClientError else {
                return false
            }
            return error.hint?.contains("has ended") == true
        }
    }

    @Test("a file that is no socket is told as that")
    func noSocket() {
        #expect { try Connection(to: SocketLocation(path: "/etc/passwd")) } throws: { error in
            guard let error = error as? ClientError else { return false }
            return "\(error)" == "/etc/passwd is no socket" && error.hint?.contains("has ended") != true
        }
    }

    @Test("the client's name goes out with the first request")
    func hello() throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            #expect(peer.readLine()?.contains(#""method":"hello","params":{"client":"me"}"#) == true)
            guard let (id, _) = peer.readRequest() else { return }
            peer.reply(id, #"{"pong":true}"#)
        }
        #expect(try Connection(to: daemon.location, name: "me").call(.ping) == ["pong": true])
        daemon.join()
    }

    @Test("pipelined requests are answered in order")
    func pipelining() throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            while let (id, _) = peer.readRequest() { peer.reply(id, "{\"value\":\(id),\"revision\":1}") }
        }
        let connection = try Connection(to: daemon.location)
        let ids = (0..<1000).map { _ in connection.send(get("/a.b")) }
        for id in ids {
            guard case .reply(id, .result(let result))? = try connection.receive() else {
                return #expect(Bool(false), "no reply to \(id)")
            }
            #expect(try Content(result: result) == .value(.int(id)))
        }
    }

    @Test("a call waits as long as it is told to, and its answer counts then")
    func waiting() throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            guard let (id, _) = peer.readRequest() else { return }
            // Another connection tells when.
            _ = listener.accept().readLine()
            peer.reply(id, "{}")
            // The next request gets no answer.
            while peer.readRequest() != nil {}
        }
        let connection = try Connection(to: daemon.location, timeout: 0.01)
        var waits: [Double] = []
        connection.goesOnWaiting = { waited in
            waits.append(waited)
            // The daemon reads from a connection that is closed at once.
            if waits.count == 3 { _ = try? Connection(to: daemon.location) }
            return waits.count < 1000
        }
        #expect(try connection.call(.ping) == [:])
        #expect(waits.count >= 3 && waits.first == 0.01, "\(waits)")
        connection.goesOnWaiting = { $0 < 0.02 }
        #expect { try connection.call(.ping) } throws: { error in
            if case ClientError.timedOut(seconds: 0.02) = error { true } else { false }
        }
    }

    @Test("a refusal keeps its code, and the connection goes on")
    func refusal() throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            if let (id, _) = peer.readRequest() { peer.refuse(id, "notFound", "no node x in /") }
            if let (id, _) = peer.readRequest() { peer.reply(id, "{}") }
        }
        let connection = try Connection(to: daemon.location)
        #expect { try connection.call(get("/x.y")) } throws: { ($0 as? ClientError)?.failure?.code == .notFound }
        #expect(try connection.call(.ping) == [:])
    }

    @Test("events that come before a reply are kept for whoever receives")
    func events() throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            guard let (id, _) = peer.readRequest() else { return }
            peer.update(4, "/a.b", "1")
            peer.update(5, "/a.b", "2")
            peer.reply(id, "{}")
        }
        let connection = try Connection(to: daemon.location)
        _ = try connection.call(.ping)
        for expected in [UInt64(4), 5] {
            guard case .event(1, .update(expected, _, _, _, false, _, _))? = try connection.receive() else {
                return #expect(Bool(false), "no update \(expected)")
            }
        }
    }

    @Test("a daemon that goes in mid-line is a lost connection, not a half message")
    func lost() throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            _ = peer.readRequest()
            peer.write(#"{"jsonrpc":"2.0","id":1,"res"#)
        }
        let connection = try Connection(to: daemon.location)
        #expect { try connection.call(.ping) } throws: { error in
            if case ClientError.lost = error { true } else { false }
        }
        daemon.join()
        #expect { try connection.call(.ping) } throws: { error in
            if case ClientError.lost = error { true } else { false }
        }
    }

    @Test("a client reads the daemon's last words even if its request could not be sent whole")
    func lastWords() throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            peer.write(
                #"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too long","data":{"code":"limit"}}}"#
                    + "\n")
        }
        let connection = try Connection(to: daemon.location)
        daemon.join()
        let long = Mutation(operation: .set, path: "/a.b", value: .string(String(repeating: "x", count: 4 << 20)))
        #expect { try connection.call(.set(long, TransactionOptions())) } throws: {
            ($0 as? ClientError)?.failure?.code == .limit
        }
    }

    @Test("both sides may write more than the socket holds without reading first")
    func bothWrite() throws {
        let size = 1 << 20
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            peer.update(1, "/a.b", "\"\(String(repeating: "y", count: size))\"")
            guard let (id, _) = peer.readRequest() else { return }
            peer.reply(id, "{}")
        }
        let connection = try Connection(to: daemon.location)
        let long = Mutation(operation: .set, path: "/a.b", value: .string(String(repeating: "x", count: size)))
        #expect(try connection.call(.set(long, TransactionOptions())) == [:])
        guard case .event(_, .update(_, _, _, _, _, let changes, _))? = try connection.receive() else {
            return #expect(Bool(false), "no update")
        }
        #expect(changes.first?.content.value?.string?.utf8.count == size)
    }

    @Test("a wait may be as long as it likes", arguments: [Double.infinity, .greatestFiniteMagnitude, 1e300, 3e9])
    func longWait(_ seconds: Double) throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            peer.update(1, "/a.b", "1")
            _ = peer.readLine()
        }
        #expect(try Connection(to: daemon.location).receive(timeout: seconds) != nil)
    }

    @Test("a wait ends when its time is over or its interrupt is signalled, and loses nothing")
    func interruption() throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            if let (id, _) = peer.readRequest() { peer.reply(id, "{}") }
            _ = peer.readLine()
        }
        let connection = try Connection(to: daemon.location)
        if try connection.receive(timeout: 0) != nil { Issue.record("a message out of nowhere") }
        let wakeup = try Wakeup()
        wakeup.signal()
        if try connection.receive(interrupt: wakeup.descriptor) != nil { Issue.record("a message out of nowhere") }
        #expect(wakeup.clear().count == 1)
        #expect(try connection.call(.ping) == [:])
    }
}
