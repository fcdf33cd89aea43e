import AGClient
import AttributeValues
import Synchronization
import Testing
import WireProtocol

@Suite("the client for tasks", .timeLimit(.minutes(5)))
struct ClientTests {
    @Test("values keep their types on the way")
    func types() async throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            while let (id, request) = peer.readRequest() {
                switch request {
                case .get(let get):
                    #expect(get.typed)
                    peer.reply(
                        id,
                        get.paths[0] == "/a.n"
                            ? #"{"value":{"uint":"5"},"revision":3}"# : #"{"value":{"double":"1"},"revision":3}"#)
                case .set(let mutation, let options):
                    #expect(options.typed && options.once == nil && mutation.value == ["double": "2.0"])
                    peer.reply(id, #"{"revision":4}"#)
                default: peer.refuse(id, "invalid", "unexpected")
                }
            }
        }
        let client = try Client(at: daemon.location)
        #expect(try await client.get("/a.n") == .uint(5))
        #expect(try await client.get("/a.n", as: Int.self) == 5)
        #expect(try await client.get("/a.x", as: Double.self) == 1)
        #expect(try await client.set("/a.x", to: 2.0) == 4)
        await #expect { try await client.get("/a.x", as: String.self) } throws: { error in
            if case ClientError.unexpectedType("/a.x", "String", "double") = error { true } else { false }
        }
    }

    @Test("an attribute's error and a refusal are different errors")
    func errors() async throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            if let (id, _) = peer.readRequest() {
                peer.reply(id, #"{"error":{"code":"cycle","message":"a → a"},"revision":3}"#)
            }
            if let (id, _) = peer.readRequest() { peer.refuse(id, "notFound", "no node x") }
        }
        let client = try Client(at: daemon.location)
        await #expect { try await client.get("/a.b") } throws: { error in
            if case ClientError.attribute(let failure) = error { failure.code == .cycle } else { false }
        }
        await #expect { try await client.get("/x.y") } throws: { error in
            if case ClientError.refused(let fault) = error { fault.failure.code == .notFound } else { false }
        }
    }

    @Test("many tasks share a connection, and each gets its own answer")
    func concurrency() async throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            while let (id, request) = peer.readRequest() {
                guard case .get(let get) = request else { return }
                let number = get.paths[0].dropFirst("/a.n".count)
                peer.reply(id, "{\"value\":{\"int\":\"\(number)\"},\"revision\":1}")
            }
        }
        let client = try Client(at: daemon.location)
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let value = try await client.get("/a.n\(number)", as: Int.self)
                    return value == number ? value : -1_000_000
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 199 * 200 / 2)
    }

    @Test("a request under way when the daemon goes is lost, and the next one finds the new daemon")
    func loss() async throws {
        let daemon = FakeDaemon { listener in
            do {
                let peer = listener.accept()
                _ = peer.readRequest()
            }
            let peer = listener.accept()
            if let (id, _) = peer.readRequest() { peer.reply(id, #"{"pong":true}"#) }
        }
        let client = try Client(at: daemon.location)
        await #expect { try await client.call(.ping) } throws: { error in
            if case ClientError.lost = error { true } else { false }
        }
        #expect(try await client.call(.ping) == ["pong": true])
    }

    @Test("a request with retry is sent again over the next connection, with the same identifier")
    func repetition() async throws {
        let seen = Mutex<[String]>([])
        let daemon = FakeDaemon { listener in
            for round in 0..<3 {
                let peer = listener.accept()
                guard let (id, request) = peer.readRequest() else { continue }
                guard case .do(_, let arguments, let options) = request else { return }
                #expect(arguments["by"] == ["int": "2"])
                seen.withLock { $0.append(options.once ?? "none") }
                if round == 2 { peer.reply(id, #"{"revision":4}"#) }
            }
        }
        let client = try Client(at: daemon.location, retry: 60)
        #expect(try await client.do("/a.louder", ["by": 2]) == 4)
        let identifiers = seen.withLock { $0 }
        #expect(identifiers.count == 3 && Set(identifiers).count == 1 && identifiers[0] != "none", "\(identifiers)")
    }

    @Test("a removal that may have been performed is not repeated, and one that was not sent is")
    func noRepetition() async throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            _ = peer.readRequest()
        }
        let client = try Client(at: daemon.location, retry: 60)
        await #expect { try await client.remove("/a") } throws: { error in
            if case ClientError.lost = error { true } else { false }
        }
        let away = try Client(at: SocketLocation(path: "/nonexistent/agd.sock"), retry: 3)
        await #expect { try await away.remove("/a") } throws: { error in
            guard case ClientError.gaveUp("remove /a", let seconds, let attempts, .unreachable, nil) = error else {
                return false
            }
            return seconds > 0 && attempts > 1
        }
    }

    @Test("a daemon that answers nothing times out, and the connection ends")
    func timeout() async throws {
        let daemon = FakeDaemon { listener in
            do {
                let peer = listener.accept()
                while peer.readRequest() != nil {}
            }
            let peer = listener.accept()
            if let (id, _) = peer.readRequest() { peer.reply(id, #"{"pong":true}"#) }
        }
        let client = try Client(at: daemon.location, timeout: 0.05)
        await #expect { try await client.call(.ping) } throws: { error in
            if case ClientError.timedOut(seconds: 0.05) = error { true } else { false }
        }
        #expect(try await client.call(.ping) == ["pong": true])
    }

    @Test("no request goes over a connection that may not act for its principal")
    func principal() async throws {
        let daemon = FakeDaemon { listener in
            for _ in 0..<2 {
                let peer = listener.accept()
                guard let (id, request) = peer.readRequest() else { return }
                guard case .hello(_, "web", _) = request else { return peer.reply(id, "{}") }
                peer.refuse(id, "denied", "you may not")
                #expect(peer.readRequest() == nil)
            }
        }
        let client = try Client(at: daemon.location, as: "web")
        for _ in 0..<2 {
            await #expect { try await client.call(.ping) } throws: { error in
                if case ClientError.refused(let fault) = error { fault.failure.code == .denied } else { false }
            }
        }
    }

    @Test("a subscription with retry waits for its first connection, and says so")
    func firstConnection() async throws {
        let daemon = FakeDaemon { listener in
            do { _ = listener.accept() }
            let peer = listener.accept()
            guard let (id, _) = peer.readRequest() else { return }
            peer.reply(id, #"{"subscription":1,"epoch":"e","revision":5}"#)
            peer.update(5, "/a.b", #"{"int":"1"}"#, initial: true)
            _ = peer.readLine()
        }
        let client = try Client(at: daemon.location, retry: 60)
        var heard: [String] = []
        for try await element in client.subscribe("/a.b") {
            switch element {
            case .event: heard.append("event")
            case .interrupted: heard.append("interrupted")
            case .resumed(let isSnapshot): heard.append(isSnapshot ? "anew" : "resumed")
            }
            if heard.last == "event" { break }
        }
        #expect(heard == ["interrupted", "anew", "event"])
    }

    @Test("the answer to a request that was given up is not taken for the next one's")
    func cancellation() async throws {
        let (arrived, mark) = AsyncStream.makeStream(of: Void.self)
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            guard let (first, _) = peer.readRequest() else { return }
            mark.yield()
            guard let (second, _) = peer.readRequest() else { return }
            peer.reply(first, "1")
            peer.reply(second, "2")
        }
        let client = try Client(at: daemon.location)
        let task = Task { try await client.call(.stats(format: .json)).jsonText }
        for await _ in arrived { break }
        task.cancel()
        await #expect { try await task.value } throws: { error in
            if case ClientError.cancelled = error { true } else { false }
        }
        #expect(try await client.call(.ping) == 2)
    }

    @Test("the client sends the document as it stands")
    func apply() async throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            guard let (id, request) = peer.readRequest() else { return }
            guard case .apply(let apply) = request else { return peer.refuse(id, "invalid", "unexpected") }
            #expect(apply.document == ["agd": 1, "nodes": [["id": "lamp", "state": ["isOn": false]]]])
            #expect(apply.at == "/room" && apply.mode == .merge && apply.dryRun)
            peer.reply(id, #"{"revision":4,"added":["/room/lamp"],"removed":[],"changed":[]}"#)
        }
        let document: Value = ["agd": 1, "nodes": [["id": "lamp", "state": ["isOn": false]]]]
        let request = Request.Apply(
            document: document, at: "/room", mode: .merge, dryRun: true, options: TransactionOptions())
        let applied = try await Client(at: daemon.location).apply(request)
        #expect(applied.added == ["/room/lamp"] && applied.revision == 4)
    }

    @Test("a subscription is a sequence that goes on over a restart")
    func subscription() async throws {
        let daemon = FakeDaemon { listener in
            do {
                let peer = listener.accept()
                guard let (id, _) = peer.readRequest() else { return }
                peer.reply(id, #"{"subscription":1,"epoch":"e","revision":5}"#)
                peer.update(5, "/a.b", #"{"int":"1"}"#, initial: true)
            }
            let peer = listener.accept()
            guard let (id, _) = peer.readRequest() else { return }
            peer.reply(id, #"{"subscription":1,"epoch":"e","revision":9,"resumed":true}"#)
            peer.update(9, "/a.b", #"{"int":"3"}"#)
            _ = peer.readLine()
        }
        let client = try Client(at: daemon.location)
        var heard: [String] = []
        for try await element in client.subscribe(.init(patterns: ["/a.b"]), backoff: Backoff(first: 0, longest: 0)) {
            switch element {
            case .event(.update(_, _, _, _, _, let changes, _)):
                heard.append(changes.map { "\($0.path) \($0.content.value ?? .null)" }.joined())
            case .event: heard.append("another event")
            case .interrupted: heard.append("interrupted")
            case .resumed(let isSnapshot): heard.append(isSnapshot ? "anew" : "resumed")
            }
            if heard.count == 4 { break }
        }
        #expect(heard == ["/a.b 1", "interrupted", "resumed", "/a.b 3"])
    }

    @Test("a reader slower than the daemon gets every event, in order")
    func slowReader() async throws {
        let count = 5000
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            guard let (id, _) = peer.readRequest() else { return }
            peer.reply(id, #"{"subscription":1,"epoch":"e","revision":0}"#)
            // Far more than the queue holds: the daemon's writing waits for the reader.
            let text = "{\"string\":\"\(String(repeating: "x", count: 2000))\"}"
            for revision in 1...count { peer.update(revision, "/a.b", text, initial: revision == 1) }
            _ = peer.readLine()
        }
        let client = try Client(at: daemon.location)
        var next = UInt64(1)
        for try await element in client.subscribe("/a.b") {
            guard case .event(.update(let revision, _, _, _, _, _, _)) = element else { break }
            guard revision == next else { break }
            next += 1
            if revision == UInt64(count) { break }
        }
        #expect(next == UInt64(count) + 1)
    }

    @Test("the sequence ends when its task is cancelled")
    func cancelledSequence() async throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            guard let (id, _) = peer.readRequest() else { return }
            peer.reply(id, #"{"subscription":1,"epoch":"e","revision":5}"#)
            peer.update(5, "/a.b", #"{"int":"1"}"#, initial: true)
            _ = peer.readLine()
        }
        let client = try Client(at: daemon.location)
        let (started, mark) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            var count = 0
            for try await _ in client.subscribe("/a.b") {
                count += 1
                mark.yield()
            }
            return count
        }
        for await _ in started { break }
        task.cancel()
        #expect(try await task.value == 1)
        daemon.join()
    }

    @Test("a first connection that cannot be made is thrown")
    func unreachable() async throws {
        let client = try Client(at: SocketLocation(path: "/nonexistent/agd.sock"))
        await #expect { try await client.call(.ping) } throws: { error in
            if case ClientError.unreachable = error { true } else { false }
        }
        await #expect { for try await _ in client.subscribe("/a.b") {} } throws: { error in
            if case ClientError.unreachable = error { true } else { false }
        }
    }
}
