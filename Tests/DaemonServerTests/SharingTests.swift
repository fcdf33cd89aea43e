import AttributeValues
import EventLoop
import Foundation
import GraphRuntime
import Testing
import WireProtocol

@testable import DaemonServer

/// How the turn, its input and its output are shared among clients.
@Suite("Sharing", .serialized)
struct SharingTests {
    private func set(_ value: Int) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/counter.value","value":\#(value)}}"# + "\n"
    }

    private let get = #"{"jsonrpc":"2.0","id":1,"method":"get","params":{"path":"/counter.text"}}"#

    /// Each client is a process of its own.
    private func separate(_ daemon: TestDaemon) {
        var next: Int32 = 1
        daemon.sessions.admission.identify = { _ in
            next += 1
            return Peer(pid: next, uid: 0, gid: 0)
        }
    }

    @Test("the process with the least processor time so far is served first") func order() throws {
        let daemon = try TestDaemon()
        separate(daemon)
        let (heavy, light) = (try daemon.connect(), try daemon.connect())
        daemon.run { daemon.sessions.count == 2 }
        daemon.sessions.all[0].debt.add(1, at: Loop.monotonicTime)
        #expect(heavy.sendSome(set(1)) > 0 && light.sendSome(set(2)) > 0)
        #expect(try heavy.next()?.member("result") != nil && light.next()?.member("result") != nil)
        #expect(try light.call("get", #"{"path":"/counter.value"}"#).member("result", "value") == 1)
    }

    @Test("connections of one process have one debt, which halves every second and is forgotten with the last of them")
    func debt() throws {
        let debt = Debt(at: 10)
        debt.add(1 - Debt.atFirst, at: 10)
        #expect(abs(debt.seconds(at: 12) - 0.25) < 1e-9)
        let daemon = try TestDaemon()
        let first = try daemon.connect()
        let second = try daemon.connect()
        daemon.run { daemon.sessions.count == 2 }
        let sessions = daemon.sessions.all
        #expect(sessions[0].debt === sessions[1].debt && sessions[0].debt.connections == 2)
        withExtendedLifetime((first, second)) {}
    }

    @Test("after the turn's budget for reading a client is read one small portion, and the rest in the next turn")
    func reading() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        _ = try client.call("ping")
        let session = try #require(daemon.sessions.all.first)
        daemon.sessions.inputAllowance.use(daemon.sessions.inputAllowance.left)
        #expect(daemon.sessions.inputAllowance.share(of: session, moving: 0) == 4096)
        #expect(daemon.sessions.inputAllowance.share(of: session, moving: 0) == 0)
        #expect(client.sendSome(set(1)) > 0)
        daemon.daemon.loop.runOnce()
        #expect(try client.next()?.member("result") != nil)
        #expect(daemon.sessions.inputAllowance.left > 0)
        #expect(daemon.sessions.inputAllowance.share(of: session, moving: 0) == .max)
    }

    @Test("long messages that grow together are moved into larger memory a few in each turn") func moving() throws {
        let daemon = try TestDaemon()
        var clients: [TestClient] = []
        var sessions: [Session] = []
        for number in 1...80 {
            let client = try daemon.connect()
            daemon.run { daemon.sessions.count == number }
            let session = try #require(daemon.sessions.all.first { one in !sessions.contains { $0 === one } })
            client.send(set(number).trimmingCharacters(in: .newlines), newline: false)
            client.send(String(repeating: " ", count: 200_000), newline: false)
            daemon.run { session.input.incompleteCount > 200_000 }
            while session.input.bytesToMove == 0 {
                let before = session.input.count
                #expect(client.sendSome(String(repeating: " ", count: 4096)) > 0)
                daemon.run { session.input.count > before }
            }
            clients.append(client)
            sessions.append(session)
        }
        let before = daemon.sessions.pool.total
        for client in clients { #expect(client.sendSome("\n") == 1) }
        daemon.step()
        #expect(daemon.sessions.pool.total - before < 9 << 20)
        for client in clients { #expect(try client.next()?.member("result") != nil) }
    }

    @Test("of large messages that end together, a turn performs only so many, and the next one the rest")
    func performing() throws {
        let daemon = try TestDaemon()
        separate(daemon)
        let text = String(repeating: "a", count: Sessions.performedPerTurn * 5 / 16)
        let begun = #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/counter.text","value":""# + text
        let clients = try (0..<5).map { _ in try daemon.connect() }
        for (index, client) in clients.enumerated() { client.send(begun + "\(index)", newline: false) }
        daemon.run { daemon.sessions.all.allSatisfy { $0.input.incompleteCount > text.utf8.count } }
        let before = daemon.daemon.runtime.revision
        for client in clients { #expect(client.sendSome("\"}}\n") > 0) }
        daemon.run { daemon.daemon.runtime.revision > before }
        #expect(daemon.daemon.runtime.revision == before + 4)
        daemon.step()
        #expect(daemon.daemon.runtime.revision == before + 5)
        withExtendedLifetime(clients) {}
    }

    @Test("a connection that comes after the turn's budget for reading is accepted in the next turn") func accepting()
        throws
    {
        let daemon = try TestDaemon()
        let first = try daemon.connect()
        _ = try first.call("ping")
        let memory = daemon.sessions.inputAllowance.left
        daemon.sessions.inputAllowance.use(memory)
        let second = try daemon.connect()
        #expect(!daemon.sessions.mayAccept && daemon.sessions.count == 1)
        #expect(try second.call("ping").member("result", "pong") == true)
        #expect(daemon.sessions.count == 2)
        // To take it counted as reading does.
        #expect(daemon.sessions.inputAllowance.left <= memory)
        withExtendedLifetime(first) {}
    }

    @Test("a message that comes in pieces is held in one block that grows with it") func growing() throws {
        let pool = InputPool()
        var input = InputBuffer(pool: pool, user: 0)
        var sent: [UInt8] = []
        while sent.count < 1_000_000 {
            let memory = input.freeMemory()
            let piece = (0..<min(memory.count, 30_000)).map { UInt8(truncatingIfNeeded: (sent.count + $0) % 251 &+ 11) }
            memory.copyBytes(from: piece)
            input.didFill(piece.count)
            sent += piece
            #expect(pool.total <= 2 * sent.count + InputBlock.smallest)
        }
        let memory = input.freeMemory()
        memory[0] = 10
        input.didFill(1)
        #expect(input.takeLine().map(Array.init) == Array(sent))
        input.releaseIfEmpty()
        #expect(pool.total == 0)
    }

    @Test("a client without any right may send short messages only, and gets long ones with its first right")
    func rightless() throws {
        let daemon = try TestDaemon { $0.access = [AccessRule(.read, [.user(7)], .everything)] }
        daemon.sessions.admission.identify = { _ in Peer(pid: 1, uid: 4242, gid: 4242) }
        let client = try daemon.connect()
        let long =
            #"{"jsonrpc":"2.0","id":1,"method":"get","params":{"paths":["\#(String(repeating: "a", count: 100_000))"]}}"#
        client.send(long)
        let refused = try #require(try client.next())
        #expect(refused.member("error", "data", "code") == "limit")
        #expect(refused.member("error", "data", "hint")?.string?.contains("without any right") == true)
        #expect(try client.call("ping").member("result", "pong") == true)
        daemon.sessions.change(AccessRules([AccessRule(.read, [.user(4242)], .everything)], owner: 7))
        client.send(long)
        #expect(try client.next()?.member("error", "data", "hint")?.string?.contains("without any right") != true)
    }

    private func long(_ daemon: TestDaemon, _ client: TestClient) throws {
        _ = try client.call(
            "set", "{\"path\":\"/counter.text\",\"value\":\"\(String(repeating: "x", count: 400_000))\"}")
    }

    @Test("a client that hoards output and reads nothing is closed when another needs the memory") func hoarder() throws
    {
        let daemon = try TestDaemon { $0.server.outputTotal = 1 << 20 }
        separate(daemon)
        let (hoarder, other) = (try daemon.connect(), try daemon.connect())
        try long(daemon, other)
        let session = try #require(daemon.sessions.all.first)
        let run = ByteBuffer()
        run.append(text: String(repeating: "x", count: 900_000))
        session.output.addEvents(ByteBuffer(), OutputRun(run, daemon.sessions.output))
        #expect(daemon.sessions.output.total >= 900_000)
        let refused = try other.call("get", #"{"path":"/counter.text"}"#)
        #expect(refused.member("error", "data", "hint")?.string?.contains("output-total") == true)
        session.lastProgress -= 2
        #expect(try other.call("get", #"{"path":"/counter.text"}"#).member("result") != nil)
        daemon.run { daemon.sessions.count == 1 }
        #expect(daemon.sessions.output.total < 100_000)
        withExtendedLifetime(hoarder) {}
    }

    @Test("answers that wait for the many clients of one user leave memory for another's, though all of them read")
    func outputShares() throws {
        let daemon = try TestDaemon { $0.server.outputTotal = 4 << 20 }
        func connect(_ user: UInt32) throws -> (TestClient, Session) {
            daemon.sessions.admission.identify = { _ in Peer(pid: 1, uid: user, gid: user) }
            let (count, client) = (daemon.sessions.count, try daemon.connect())
            daemon.run { daemon.sessions.count == count + 1 }
            return (client, try #require(daemon.sessions.all.last))
        }
        func fill(_ session: Session, _ count: Int) {
            let run = ByteBuffer()
            run.append(text: String(repeating: "x", count: count))
            session.output.addEvents(ByteBuffer(), OutputRun(run, daemon.sessions.output))
        }
        let greedy = try (0..<12).map { _ in try connect(1001) }
        let (other, modest) = try connect(1002)
        for (_, session) in greedy.dropLast() { fill(session, 270_000) }
        let last = try #require(greedy.last).1
        #expect(!daemon.sessions.admits(300_000, for: last.id))
        #expect(daemon.sessions.admits(300_000, for: modest.id))
        #expect(daemon.sessions.count == 13)
        // Events cannot be refused. Then the user with the most loses a client.
        fill(modest, 400_000)
        for (_, session) in greedy.suffix(3) { fill(session, 300_000) }
        daemon.sessions.flush(at: Loop.monotonicTime) { _ in true }
        daemon.run { daemon.sessions.count < 13 }
        #expect(daemon.sessions.all.contains { $0 === modest })
        withExtendedLifetime((greedy, other)) {}
    }

    @Test("a run that many queues hold counts once, until the last of them has dropped it") func shared() {
        let ledger = OutputLedger()
        var queues = (0..<5).map { _ in OutputQueue(ledger) }
        do {
            let bytes = ByteBuffer(capacity: 5000)
            bytes.append(text: String(repeating: "x", count: 5000))
            let run = OutputRun(bytes, ledger)
            for place in queues.indices { queues[place].append(run) }
        }
        #expect(ledger.total == 5000)
        for place in 0..<4 { queues[place].removeAll() }
        #expect(ledger.total == 5000)
        queues[4].removeAll()
        #expect(ledger.total == 0)
    }

    @Test("when the time to stop is over, requests that waited are dropped, and what clients left is done") func stop()
        throws
    {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        _ = try client.call("onDisconnect", #"{"mutations":[{"op":"set","path":"/counter.value","value":7}]}"#)
        let session = try #require(daemon.sessions.all.first)
        let mutation = Mutation(operation: .set, path: "/counter.text", value: "late")
        for _ in 0..<5 { session.postpone(.call(session.id, id: nil, .set(mutation, TransactionOptions()))) }
        let revision = daemon.daemon.runtime.revision
        daemon.sessions.closeAll()
        daemon.run { daemon.sessions.count == 0 && !daemon.sessions.hasNews }
        #expect(daemon.daemon.runtime.revision == revision + 1)
    }
}
