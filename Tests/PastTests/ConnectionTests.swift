import AttributeValues
import Foundation
import GraphRuntime
import Replay
import TestSupport
import Testing
import WireProtocol
@testable import agd_past

/// A connection to the past, whose clock the test moves.
private final class Talk {
    private let connection: PastConnection
    private let clock = Clock()
    private let end: Int32
    private var input: [UInt8] = []
    private var nextID = 1

    /// The monotonic clock of the connection.
    final class Clock { var seconds = 500.0 }

    init(_ past: Past, _ user: UInt32 = 1000, from spare: PastGraph? = nil) throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        end = ends[1]
        let clock = self.clock
        connection = PastConnection(
            ends[0], past, from: spare, for: Peer(pid: 1, uid: user, gid: user),
            now: { Moment(monotonic: clock.seconds, wall: .epoch) })
    }

    deinit { close(end) }

    /// Lines of the connection since the last call, after it has done what was to be done.
    func lines() throws -> [Value] {
        // Once for what the client has sent, and once for what has come due meanwhile.
        for _ in 0..<2 { #expect(connection.step(atMost: 0)) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = recv(end, &bytes, bytes.count, Int32(MSG_DONTWAIT)), count > 0 {
            input += bytes[..<count]
        }
        let lines = input.split(separator: UInt8(ascii: "\n"))
        #expect(input.isEmpty || input.last == UInt8(ascii: "\n"))
        text += String(decoding: input, as: UTF8.self)
        input = []
        return try lines.map { try JSONParser.parseOnce($0) }
    }

    /// All that the connection has said.
    private(set) var text = ""

    /// The answer of a call, and the events that came with it.
    func call(_ method: String, _ parameters: Value = [:]) throws -> (answer: Value, events: [Value]) {
        let call: Value = [
            "jsonrpc": "2.0", "id": .int(Int64(nextID)), "method": .string(method), "params": parameters,
        ]
        nextID += 1
        let line = Array((call.jsonText + "\n").utf8)
        #expect(send(end, line, line.count, 0) == line.count)
        var lines = try lines()
        try #require(!lines.isEmpty)
        return (lines.removeFirst(), lines)
    }

    /// Lets time pass.
    func wait(_ seconds: Double) throws -> [Value] {
        clock.seconds += seconds
        return try lines()
    }
}

extension Value {
    fileprivate subscript(name: String) -> Value? { map?[name] }
}

/// The values of updates, each as `path value`; a snapshot begins with `all`.
private func told(_ events: [Value]) -> [String] {
    events.flatMap { event -> [String] in
        let parameters = event["params"]
        let changes = (parameters?["changes"]?.list ?? []).map {
            "\($0["path"]?.string ?? "") \($0["value"]?.jsonText ?? "error")"
        }
        return (parameters?["initial"] == true ? ["all"] : []) + changes.sorted()
    }
}

@Suite("A connection to the past")
struct ConnectionTests {
    private static let scene = """
        nodes:
          - id: room
            kind: container
            state: { warmth: 0, door: closed }
            computed: { twice: warmth * 2 }
          - id: other
            kind: container
            state: { n: 0 }

        """

    /// A life in which the room gets a degree warmer each second, for ten seconds.
    private func life(other: Int64 = 1) throws -> RecordedLife {
        let life = try RecordedLife(ConnectionTests.scene, size: 1 << 20)
        for number in 1...10 {
            life.wait(1_000_000_000)
            life.set("/room.warmth", .int(Int64(number)))
            life.set("/other.n", .int(other * Int64(number)))
        }
        life.flush()
        return life
    }

    /// The revision in which the room got so warm.
    private func revision(_ warmth: Int64, _ talk: Talk) throws -> Value {
        let log = try talk.call("log", ["paths": ["/room.warmth"]]).answer
        for transaction in log["result"]?["transactions"]?.list ?? [] {
            let write = transaction["writes"]?.list?.first
            if write?["after"] == .int(warmth), let revision = transaction["revision"] { return revision }
        }
        throw Trouble("a transaction that writes \(warmth)")
    }

    @Test("after seek, a subscription begins again with the values of that moment")
    func seek() throws {
        let life = try life()
        let talk = try Talk(life.past)
        let (three, seven) = (try revision(3, talk), try revision(7, talk))
        _ = try talk.call("seek", ["time": seven])
        let begun = try talk.call("subscribe", ["paths": ["/room.twice"]])
        #expect(told(begun.events) == ["all", "/room.twice 14"])
        let back = try talk.call("seek", ["time": three])
        #expect(back.answer["result"]?["revision"] == three)
        #expect(back.answer["result"]?["recordedBy"] == "1")
        #expect(told(back.events) == ["all", "/room.twice 6"])
        #expect(back.events.first?["params"]?["subscription"] == begun.answer["result"]?["subscription"])
        let forth = try talk.call("seek", ["time": seven])
        #expect(told(forth.events) == ["all", "/room.twice 14"])
    }

    @Test("play tells what was written at the given speed, and stops where the records end")
    func play() throws {
        let life = try life()
        let talk = try Talk(life.past)
        _ = try talk.call("seek", ["time": try revision(7, talk)])
        _ = try talk.call("subscribe", ["paths": ["/room.warmth"]])
        let begun = try talk.call("play", ["speed": 10])
        #expect(told(begun.events) == [])
        // A second of the records is a tenth here.
        #expect(told(try talk.wait(0.099)) == [])
        #expect(told(try talk.wait(0.002)) == ["/room.warmth 8"])
        #expect(told(try talk.wait(0.098)) == [])
        #expect(told(try talk.wait(0.001)) == ["/room.warmth 9"])
        #expect(told(try talk.wait(5)) == ["/room.warmth 10"])
        #expect(told(try talk.wait(100)) == [])
        // The records go on.
        life.wait(1_000_000_000)
        life.set("/room.warmth", 11)
        life.flush()
        #expect(told(try talk.wait(1)) == ["/room.warmth 11"])
        _ = try talk.call("play", ["speed": 0])
        life.wait(1_000_000_000)
        life.set("/room.warmth", 12)
        life.flush()
        #expect(told(try talk.wait(10)) == [])
    }

    @Test("a client with rights to a part gets the same bytes whatever has happened elsewhere")
    func rights() throws {
        let access = AccessRules([AccessRule(.read, [.user(1000)], try PathPattern("/room/**"))], owner: 1)
        func said(_ life: RecordedLife, hasSpare: Bool) throws -> String {
            let past = Past(folder: life.folder, access: access, limits: RuntimeLimits())
            let talk = try Talk(past, from: hasSpare ? PastGraph(past, at: nil) { 500 } : nil)
            #expect(try talk.call("hello", ["time": 5]).answer["result"]?["recordedBy"] == "1")
            _ = try talk.call("subscribe", ["paths": ["/**"]])
            _ = try talk.call("get", ["path": "/other.n"])
            _ = try talk.call("describe", ["path": "/room"])
            _ = try talk.call("explain", ["path": "/room.twice"])
            _ = try talk.call("log", [:])
            _ = try talk.call("log", ["paths": ["/other.n"]])
            _ = try talk.call("seek", ["time": 9])
            _ = try talk.call("play", ["speed": 100])
            _ = try talk.wait(10)
            return talk.text
        }
        let one = try said(try life(), hasSpare: false)
        #expect(try said(try life(other: 1000), hasSpare: false) == one)
        // Neither does it matter from which graph the connection began.
        #expect(try said(try life(other: 1000), hasSpare: true) == one)
        #expect(one.contains("/room.warmth") && !one.contains("\"/other.n\",\"value\""))
    }

    @Test("nobody changes the past")
    func readOnly() throws {
        let life = try life()
        let talk = try Talk(life.past, 0)
        let document = "agd: 1\nnodes: [{ id: new }]"
        let writes: [(String, Value)] = [
            ("set", ["path": "/room.warmth", "value": 1]),
            ("transact", ["mutations": [["op": "set", "path": "/room.warmth", "value": 1]]]),
            ("do", ["path": "/room.press"]), ("apply", ["document": .string(document)]),
            ("remove", ["path": "/room"]), ("move", ["path": "/room", "to": "/other"]),
            ("restore", ["path": "/room"]), ("prune", [:]), ("delegate", ["path": "/room"]),
            ("onDisconnect", ["mutations": [["op": "set", "path": "/room.warmth", "value": 1]]]),
        ]
        for (method, parameters) in writes {
            let answer = try talk.call(method, parameters).answer
            #expect(answer["error"]?["data"]?["code"] == "readOnly", "\(method): \(answer)")
        }
        #expect(try talk.call("get", ["path": "/room.warmth"]).answer["result"]?["value"] == 10)
    }

    @Test("before the first record nothing is known, and the connection goes on")
    func early() throws {
        let life = try life()
        let talk = try Talk(life.past)
        let early = try talk.call("hello", ["time": "2020-01-01T00:00:00Z"]).answer
        #expect(early["error"]?["data"]?["code"] == "notFound", "\(early)")
        #expect(early["error"]?["message"]?.string?.contains("does not reach back so far") == true, "\(early)")
        let now = try talk.call("hello", [:]).answer["result"]
        #expect(now?["protocol"] == 1 && now?["recordedBy"] == nil)
    }
}
