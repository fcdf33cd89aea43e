import AttributeValues
import Foundation
import Testing

/// A client that does not read must cost the others nothing, and the daemon no more than it said it would.
@Suite("Slow clients")
struct SlowClientTests {
    @Test(
        "a client that never reads is conflated: others are served, memory is bounded, and what it reads last is true")
    func neverReads() throws {
        let daemon = try Daemon(scenes: [Scenes.counter])
        let slow = try daemon.client()
        try slow.call("subscribe", ["paths": ["/counter.*"]])
        let writer = try daemon.client()
        let quick = try daemon.client()
        try quick.call("subscribe", ["paths": ["/counter.value"]])
        #expect(try quick.event()["initial"] == true)
        try writer.call("ping")
        let before = daemon.program.residentKilobytes

        // 40 MB of news for the one that does not read.
        let text = String(repeating: "x", count: 20_000)
        let count = Int64(2000)
        for number in 1...count {
            try writer.call(
                "transact",
                [
                    "mutations": [
                        ["op": "set", "path": "/counter.value", "value": .int(number)],
                        ["op": "set", "path": "/counter.text", "value": .string("\(number) \(text)")],
                    ]
                ])
            #expect(try quick.event()["changes"]?[0]?["value"] == .int(number))
        }
        #expect(daemon.program.residentKilobytes - before < 32 << 10)

        // It reads again: few events, the last of them with the last values and the revisions that it spans.
        var events = 0
        var spanned = false
        var values: [String: Value] = [:]
        var revision = Int64(0)
        while values["/counter.value"] != .int(count) || values["/counter.text"]?.string?.hasPrefix("\(count) ") != true
        {
            let update = try slow.event()
            events += 1
            let reached = try #require(update["revision"]?.int)
            #expect(reached > revision)
            revision = reached
            if let from = update["from"]?.int {
                spanned = true
                #expect(from <= reached)
            }
            for change in update["changes"]?.list ?? [] {
                values[change["path"]?.string ?? ""] = change["value"] ?? .null
            }
            // A transaction is never split: the double belongs to its number.
            #expect(values["/counter.twice"]?.int == values["/counter.value"]?.int.map { $0 * 2 })
        }
        #expect(spanned)
        #expect(events < Int(count))
        try writer.set("/counter.value", 17)
        #expect(try slow.value(of: "/counter.value") { $0 == 17 } == 17)
    }

    @Test("a client that asks for more than it reads waits for its answers, and gets every one of them")
    func manyRequests() throws {
        let daemon = try Daemon(scenes: [Scenes.counter])
        let text = String(repeating: "y", count: 100_000)
        let greedy = try daemon.client()
        try greedy.set("/counter.text", .string(text))
        let before = daemon.program.residentKilobytes
        // All in one piece, which the kernel holds until the daemon takes it.
        let requests = (1...1000).map {
            #"{"jsonrpc":"2.0","id":\#($0),"method":"get","params":{"path":"/counter.text"}}"#
        }
        try greedy.send(requests.joined(separator: "\n"))
        let other = try daemon.client()
        for _ in 0..<100 { #expect(try other.call("ping") == ["pong": true]) }
        #expect(daemon.program.residentKilobytes - before < 32 << 10)
        for id in Int64(1)...1000 {
            let reply = try greedy.message()
            #expect(reply["id"] == .int(id))
            #expect(reply["result"]?["value"]?.string?.utf8.count == text.utf8.count)
        }
    }

    @Test("maxRate gives the newest value at most so often, and always the last")
    func maxRate() throws {
        let daemon = try Daemon(scenes: [Scenes.counter])
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/counter.value"], "maxRate": 20])
        _ = try client.event()
        let writer = try daemon.client()
        for number in Int64(1)...500 { try writer.set("/counter.value", .int(number)) }
        var events = 0
        let last = try client.value(of: "/counter.value") {
            events += 1
            return $0 == 500
        }
        #expect(last == 500)
        #expect(events < 500)
    }
}
