import AGClient
import AttributeValues
import Testing
import WireProtocol

@Suite("watching over restarts", .timeLimit(.minutes(5)))
struct WatcherTests {
    static var request: Request.Subscribe {
        Request.Subscribe(patterns: ["/a.b"])
    }

    private func watcher(_ daemon: FakeDaemon) -> Watcher {
        Watcher(Self.request, at: daemon.location, backoff: Backoff(first: 0, longest: 0))
    }

    private func told(_ news: Watcher.News?) throws -> String {
        switch news {
        case nil: return "nothing"
        case .interrupted?: return "interrupted"
        case .resumed(let isSnapshot)?: return isSnapshot ? "anew" : "resumed"
        case .event(let message)?:
            guard
                case .event(_, .update(let revision, _, _, _, let isInitial, _, _)) = try MessageDecoder().decode(
                    message)
            else { return "?" }
            return isInitial ? "snapshot \(revision)" : "update \(revision)"
        }
    }

    @Test("a lost connection is made again and continued from the last revision that arrived")
    func resume() throws {
        let daemon = FakeDaemon { listener in
            listener.acceptWatcher().update(6, "/a.b", "2")
            let peer = listener.accept()
            guard let (id, call) = peer.readRequest(), case .subscribe(let request) = call else { return }
            #expect(request.since?.epoch == "e" && request.since?.revision == 6)
            peer.reply(id, #"{"subscription":1,"epoch":"e","revision":9,"resumed":true}"#)
            peer.update(9, "/a.b", "3")
            _ = peer.readLine()
        }
        let watcher = watcher(daemon)
        let heard = try (0..<5).map { _ in try told(watcher.next()) }
        #expect(heard == ["snapshot 5", "update 6", "interrupted", "resumed", "update 9"])
        #expect(watcher.position?.revision == 9)
    }

    @Test("a subscription with frames gets all values anew, because its motions may have ended")
    func frames() throws {
        let daemon = FakeDaemon { listener in
            _ = listener.acceptWatcher()
            let peer = listener.accept()
            guard let (id, call) = peer.readRequest(), case .subscribe(let request) = call else { return }
            #expect(request.since?.epoch == "")
            peer.reply(id, #"{"subscription":1,"epoch":"e","revision":5,"resumed":false}"#)
            peer.update(5, "/a.b", "1", initial: true)
            _ = peer.readLine()
        }
        let watcher = Watcher(
            Request.Subscribe(patterns: ["/a.b"], frameRate: 30), at: daemon.location,
            backoff: Backoff(first: 0, longest: 0))
        let heard = try (0..<4).map { _ in try told(watcher.next()) }
        #expect(heard == ["snapshot 5", "interrupted", "anew", "snapshot 5"])
    }

    @Test("a daemon with another epoch is told as a new beginning")
    func newEpoch() throws {
        let daemon = FakeDaemon { listener in
            for epoch in ["e", "f"] {
                let peer = listener.accept()
                guard let (id, call) = peer.readRequest(), case .subscribe(let request) = call else { return }
                let resumed = request.since == nil ? "" : ",\"resumed\":false"
                peer.reply(id, "{\"subscription\":1,\"epoch\":\"\(epoch)\",\"revision\":5\(resumed)}")
                peer.update(5, "/a.b", "1", initial: true)
                if epoch == "f" { _ = peer.readLine() }
            }
        }
        let watcher = watcher(daemon)
        let heard = try (0..<4).map { _ in try told(watcher.next()) }
        #expect(heard == ["snapshot 5", "interrupted", "anew", "snapshot 5"])
        #expect(watcher.position?.epoch == "f")
    }

    @Test("events that come before the reply to their subscription are kept")
    func early() throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            guard let (id, _) = peer.readRequest() else { return }
            peer.update(4, "/a.b", "0")
            peer.reply(id, #"{"subscription":1,"epoch":"e","revision":5}"#)
            peer.update(5, "/a.b", "1", initial: true)
            _ = peer.readLine()
        }
        let watcher = watcher(daemon)
        #expect(try [told(watcher.next()), told(watcher.next())] == ["update 4", "snapshot 5"])
    }

    @Test(
        "while the scene is not there yet after a restart, or the daemon takes no more clients, the watcher waits",
        arguments: ["notFound", "limit", "unavailable"])
    func later(_ code: String) throws {
        let daemon = FakeDaemon { listener in
            for turn in 0..<3 {
                let peer = listener.accept()
                if turn == 1, code == "limit" {
                    // As the daemon refuses a client too many: before it has read anything.
                    peer.write(
                        #"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"full","data":{"code":"limit"}}}"#
                            + "\n")
                    continue
                }
                guard let (id, _) = peer.readRequest() else { return }
                if turn == 1 {
                    peer.refuse(id, code, "not now")
                    continue
                }
                peer.reply(id, #"{"subscription":1,"epoch":"e","revision":5,"resumed":true}"#)
                peer.update(5, "/a.b", "1", initial: turn == 0)
                if turn == 2 { _ = peer.readLine() }
            }
        }
        let watcher = watcher(daemon)
        let heard = try (0..<4).map { _ in try told(watcher.next()) }
        #expect(heard == ["snapshot 5", "interrupted", "resumed", "update 5"])
    }

    @Test("a refusal that no waiting mends ends it also after a restart")
    func deniedLater() throws {
        let daemon = FakeDaemon { listener in
            _ = listener.acceptWatcher()
            let peer = listener.accept()
            if let (id, _) = peer.readRequest() { peer.refuse(id, "denied", "no") }
        }
        let watcher = watcher(daemon)
        #expect(try [told(watcher.next()), told(watcher.next())] == ["snapshot 5", "interrupted"])
        #expect { try watcher.next() } throws: { ($0 as? ClientError)?.failure?.code == .denied }
    }

    @Test("the first subscription's refusal is thrown, not tried again")
    func refusal() throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            if let (id, _) = peer.readRequest() { peer.refuse(id, "notFound", "no node a in /") }
        }
        #expect { try watcher(daemon).next() } throws: { ($0 as? ClientError)?.failure?.code == .notFound }
    }

    @Test("it ends when all that was watched is gone")
    func ended() throws {
        let daemon = FakeDaemon { listener in
            let peer = listener.accept()
            guard let (id, _) = peer.readRequest() else { return }
            peer.reply(id, #"{"subscription":1,"epoch":"e","revision":5}"#)
            peer.write(#"{"jsonrpc":"2.0","method":"ended","params":{"subscription":1,"reason":"removed"}}"# + "\n")
            _ = peer.readLine()
        }
        #expect { try watcher(daemon).next() } throws: { error in
            if case ClientError.ended("removed") = error { true } else { false }
        }
    }
}

extension FakeDaemon.Listener {
    /// Accepts a client and its subscription, and sends it the values of revision 5.
    fileprivate func acceptWatcher() -> FakeDaemon.Peer {
        let peer = accept()
        if let (id, _) = peer.readRequest() {
            peer.reply(id, #"{"subscription":1,"epoch":"e","revision":5}"#)
            peer.update(5, "/a.b", "1", initial: true)
        }
        return peer
    }
}
