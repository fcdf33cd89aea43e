import AttributeValues
import Foundation
import TestSupport
import Testing

/// JSON-RPC as the daemon speaks it, and what it makes of those who do not.
@Suite("Protocol")
struct ProtocolTests {
    let daemon: Daemon
    let client: Client

    init() throws {
        daemon = try Daemon(scenes: [Scenes.counter])
        client = try daemon.client()
    }

    /// Another client is served as ever.
    private func expectService() throws { #expect(try daemon.client().call("ping") == ["pong": true]) }

    @Test("requests may be sent without waiting, in any pieces; replies come in order")
    func pipelining() throws {
        let lines = (1...500).map { id in
            id % 2 == 0
                ? #"{"jsonrpc":"2.0","id":\#(id),"method":"get","params":{"path":"/counter.value"}}"#
                : #"{"jsonrpc":"2.0","id":\#(id),"method":"transact","params":{"mutations":[{"op":"add","path":"/counter.value","value":1}]}}"#
        }
        let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
        for start in stride(from: 0, to: bytes.count, by: 1013) {
            try client.send(bytes: Array(bytes[start..<min(start + 1013, bytes.count)]))
        }
        for id in Int64(1)...500 {
            let reply = try client.message()
            #expect(reply["id"] == .int(id))
            if id % 2 == 0 { #expect(reply["result"]?["value"] == .int(id / 2)) }
        }
    }

    @Test("a batch is answered as one list, in order, without its notifications")
    func batch() throws {
        try client.send(
            #"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"set","params":{"path":"/counter.value","value":7}},{"jsonrpc":"2.0","id":"two","method":"get","params":{"path":"/counter.twice"}},{"jsonrpc":"2.0","id":3,"method":"nonsense"}]"#
        )
        let replies = try client.message()
        #expect(replies.list?.count == 3)
        #expect(replies[0]?["id"] == 1)
        #expect(replies[1]?["id"] == "two")
        #expect(replies[1]?["result"]?["value"] == 14)
        #expect(replies[2]?["error"]?["code"] == -32601)
    }

    @Test("a notification is performed and not answered, not even when it is refused")
    func notification() throws {
        try client.send(#"{"jsonrpc":"2.0","method":"set","params":{"path":"/counter.value","value":5}}"#)
        try client.send(#"{"jsonrpc":"2.0","method":"set","params":{"path":"/nowhere.value","value":5}}"#)
        try client.send("")
        #expect(try client.get("/counter.value") == 5)
    }

    @Test("positional parameters are taken in the documented order")
    func positional() throws {
        try client.send(#"{"jsonrpc":"2.0","id":1,"method":"set","params":["/counter.value",9]}"#)
        #expect(try client.message()["result"]?["revision"] != nil)
        #expect(try client.get("/counter.value") == 9)
    }

    @Test(
        "a faulty request is answered with JSON-RPC's code, and the next request is served",
        arguments: [
            (#"{"jsonrpc":"2.0","id":1,"method":"#, -32700), ("nonsense", -32700), ("\u{7f}", -32700),
            (#"{"jsonrpc":"2.0","id":1,"method":"ping"} trailing"#, -32700), (#"{"a":"\ud800"}"#, -32700),
            ("[]", -32600), ("17", -32600), ("null", -32600), (#""ping""#, -32600),
            (#"{"id":1,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600), (#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
            (#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1,"method":"pong"}"#, -32601),
            (#"{"jsonrpc":"2.0","id":1,"method":"get"}"#, -32602),
            (#"{"jsonrpc":"2.0","id":1,"method":"get","params":{"path":17}}"#, -32602),
            (#"{"jsonrpc":"2.0","id":1,"method":"get","params":{"paht":"/counter.value"}}"#, -32602),
            (#"{"jsonrpc":"2.0","id":1,"method":"get","params":"x"}"#, -32602),
            (#"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/counter.value"}}"#, -32602),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"transact","params":{"mutations":[{"op":"explode","path":"/counter.value"}]}}"#,
                -32602
            ),
            (#"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"paths":["/**"],"maxRate":0}}"#, -32602),
        ] as [(String, Int64)])
    func malformed(line: String, code: Int64) throws {
        try client.send(line)
        let reply = try client.message()
        #expect(reply["error"]?["code"] == .int(code))
        #expect(reply["error"]?["message"]?.string?.isEmpty == false)
        #expect(reply["error"]?["data"]?["code"]?.string?.isEmpty == false)
        #expect(try client.call("ping") == ["pong": true])
    }

    @Test("bytes that are no UTF-8 and a hundred thousand open brackets are errors of one line")
    func hostileLines() throws {
        try client.send(bytes: [0x22, 0xff, 0xfe, 0x22, 0x0a])
        #expect(try client.message()["error"]?["code"] == -32700)
        try client.send(String(repeating: "[", count: 100_000))
        #expect(try client.message()["error"]?["code"] == -32700)
        try client.send(
            #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/counter.value","value":"#
                + String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000) + "}}")
        #expect(try client.message()["error"] != nil)
        try expectService()
    }

    @Test("unknown paths and wrong types are refused by name, in long paths and patterns, too")
    func wrongNames() throws {
        #expect(try client.refusal("get", ["path": "/nowhere.value"])["data"]?["code"] == "notFound")
        #expect(
            try client.refusal("get", ["path": "/counter.valeu"])["data"]?["hint"]?.string?.contains("value") == true)
        #expect(try client.refusal("subscribe", ["paths": ["/nowhere.value"]])["data"]?["code"] == "notFound")
        #expect(try client.refusal("set", ["path": "/counter.value", "value": "x"])["data"]?["code"] == "typeMismatch")
        let deep = String(repeating: "/a", count: 100_000) + ".b"
        let error = try client.refusal("get", ["path": .string(deep)])
        #expect(["limit", "invalid", "notFound"].contains(error["data"]?["code"]?.string))
        #expect(error.jsonText.utf8.count < 10_000)
        try expectService()
    }

    @Test(
        "a line of 100 MB is refused while it passes by, without being kept; the requests around it are answered in order"
    )
    func hugeLine() throws {
        #expect(try client.call("ping") == ["pong": true])
        let before = daemon.program.residentKilobytes
        try client.send(#"{"jsonrpc":"2.0","id":"before","method":"ping"}"#)
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        try client.send(bytes: Array(#"{"jsonrpc":"2.0","id":1,"method":""#.utf8))
        for _ in 0..<100 { try client.send(bytes: piece) }
        #expect(daemon.program.residentKilobytes - before < 64 << 10)
        try client.send(#""}"#)
        try client.send(#"{"jsonrpc":"2.0","id":"after","method":"ping"}"#)
        #expect(try client.message()["id"] == "before")
        let refusal = try client.message()
        #expect(refusal["error"]?["data"]?["code"] == "limit")
        #expect(refusal["error"]?["data"]?["hint"]?.string?.contains("message-size") == true)
        #expect(try client.message()["id"] == "after")
        try expectService()
    }

    @Test("a client that dies in mid-line leaves nothing behind")
    func dyingClient() throws {
        let idle = try client.call("stats")["clients"]
        for length in [1, 20, 60] {
            let dying = try daemon.client()
            let request = #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/counter.value","value":666}}"#
            try dying.send(bytes: Array(request.utf8.prefix(length)))
        }
        do {
            let last = try daemon.client()
            try last.send(
                bytes: Array(
                    #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/counter.value","value":667}}"#.utf8))
        }
        let deadline = Deadline(Deadline.patience)
        while try client.call("stats")["clients"] != idle {
            guard !deadline.isOver else { throw Trouble("the daemon keeps clients that have gone") }
        }
        #expect(try client.get("/counter.value") == 0)
    }

    @Test("a client that hangs up its side is still answered, as socat does it")
    func halfClosed() throws {
        let other = try daemon.client()
        try other.send(#"{"jsonrpc":"2.0","id":1,"method":"get","params":{"path":"/counter.value"}}"#)
        other.socket.shutDownWriting()
        #expect(try other.message()["result"]?["value"] == 0)
        #expect(try other.line() == nil)
    }
}

extension Descriptor {
    func shutDownWriting() { shutdown(number, Int32(SHUT_WR)) }
}
