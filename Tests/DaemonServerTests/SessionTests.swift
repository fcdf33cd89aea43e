import AttributeValues
import Foundation
import GraphRuntime
import TestSupport
import Testing

@testable import DaemonServer

@Suite("Clients", .serialized)
struct SessionTests {
    private func ping(_ id: String) -> String { #"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"# }

    @Test("requests in any pieces are answered in order") func pieces() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let text = (1...50).map { ping("\($0)") }.joined(separator: "\n") + "\n"
        for byte in text.utf8 {
            client.send([byte])
            if byte % 7 == 0 { daemon.step() }
        }
        for number in 1...50 { #expect(try client.next()?.member("id") == .int(Int64(number))) }
    }

    @Test("a fault is answered in its place among the replies") func faultsInOrder() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        client.send(
            [ping("1"), "nonsense", ping("2"), "", ping("3"), #"{"jsonrpc":"2.0","id":4,"method":"no"}"#].joined(
                separator: "\n"))
        let replies = try (0..<5).map { _ in try client.next() }
        #expect(replies.map { $0?.member("id") } == [1, .null, 2, 3, 4])
        #expect(replies[1]?.member("error", "code") == -32700)
        #expect(replies[4]?.member("error", "data", "code") == "notFound")
    }

    @Test("a batch is one line: a list in order, without the notifications") func batches() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        client.send("[\(ping("1")),3,{\"jsonrpc\":\"2.0\",\"method\":\"ping\"},\(ping("2"))]")
        client.send(#"[{"jsonrpc":"2.0","method":"ping"}]"#)
        client.send(ping("9"))
        let list = try #require(try client.next()?.list)
        #expect(list.map { $0.member("id") } == [1, .null, 2])
        #expect(try client.next()?.member("id") == 9)
    }

    @Test("events of a batch come before the list that answers it") func eventsBeforeBatch() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        #expect(try client.call("subscribe", #"{"paths":["/counter.value"]}"#).member("result", "subscription") == 1)
        #expect(try client.next()?.member("params", "initial") == true)
        func set(_ value: Int) -> String {
            #"{"jsonrpc":"2.0","id":\#(value),"method":"set","params":{"path":"/counter.value","value":\#(value)}}"#
        }
        client.send("[\(set(1)),\(set(2))]")
        #expect(try client.next()?.member("method") == "update")
        #expect(try client.next()?.member("method") == "update")
        #expect(try client.next()?.list?.count == 2)
    }

    @Test("the events of a subscription that a batch makes come behind the list that answers it, others before")
    func subscribingBatch() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        #expect(try client.call("subscribe", #"{"paths":["/counter.value"]}"#).member("result", "subscription") == 1)
        #expect(try client.next()?.member("params", "initial") == true)
        let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"paths":["/counter.value"]}}"#
        let set = #"{"jsonrpc":"2.0","id":2,"method":"set","params":{"path":"/counter.value","value":1}}"#
        client.send("[\(subscribe),\(set)]\n\(ping("3"))")
        #expect(try client.next()?.member("params", "subscription") == 1)
        #expect(try client.next()?.list?.map { $0.member("id") } == [1, 2])
        for isInitial: Value? in [true, nil] {
            let event = try client.next()
            #expect(event?.member("params", "subscription") == 2)
            #expect(event?.member("params", "initial") == isInitial)
        }
        #expect(try client.next()?.member("id") == 3)
    }

    @Test("a subscription that a batch makes and ends is told nothing behind the list that answers the batch")
    func endedInBatch() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"paths":["/counter.value"]}}"#
        let set = #"{"jsonrpc":"2.0","id":2,"method":"set","params":{"path":"/counter.value","value":1}}"#
        let unsubscribe = #"{"jsonrpc":"2.0","id":3,"method":"unsubscribe","params":{"subscription":1}}"#
        client.send("[\(subscribe),\(set),\(unsubscribe)]\n\(ping("4"))")
        #expect(try client.next()?.list?.map { $0.member("id") } == [1, 2, 3])
        #expect(try client.next()?.member("id") == 4)
    }

    @Test("a watcher gets its own answers between the updates, long and short, and other watchers get these alone")
    func eventsAmongAnswers() throws {
        let daemon = try TestDaemon()
        let (writer, watcher) = (try daemon.connect(), try daemon.connect())
        for client in [writer, watcher] {
            let paths = #"{"paths":["/counter.*"],"initial":false}"#
            #expect(try client.call("subscribe", paths).member("result", "revision") != nil)
        }
        let long = String(repeating: "x", count: 5000)
        let values = ["1", "\"\(long)\"", "2", "3"]
        let lines = values.enumerated().map { number, value in
            let name = value.count > 1 ? "text" : "value"
            return
                #"{"jsonrpc":"2.0","id":\#(number),"method":"set","params":{"path":"/counter.\#(name)","value":\#(value)}}"#
        }
        let unsubscribe = #"{"jsonrpc":"2.0","id":4,"method":"unsubscribe","params":{"subscription":1}}"#
        writer.send((lines + [unsubscribe, lines[0], ping("5")]).joined(separator: "\n"))
        let expected: [Value] = [1, .string(long), 2, 3]
        func isUpdate(_ line: Value?, _ value: Value) throws -> Bool {
            try #require(line?.member("params", "changes")?.list).first?.member("value") == value
        }
        for (number, value) in expected.enumerated() {
            #expect(try isUpdate(writer.next(), value))
            #expect(try writer.next()?.member("id") == .int(Int64(number)))
        }
        for id: Value in [4, 0, 5] { #expect(try writer.next()?.member("id") == id) }
        for value in expected + [1] { #expect(try isUpdate(watcher.next(), value)) }
    }

    @Test("each of many subscriptions to the same paths gets the update, under its number and in order")
    func manySubscriptions() throws {
        let daemon = try TestDaemon()
        let clients = [try daemon.connect(), try daemon.connect(), try daemon.connect()]
        let parameters = #"{"paths":["/counter.value"],"initial":false}"#
        for number in 0..<12 {
            let reply = try clients[number < 10 ? number % 2 : 2].call("subscribe", parameters)
            #expect(reply.member("result", "subscription") == .int(Int64(number + 1)))
        }
        for value: Value in [1, 2] {
            let parameters = #"{"path":"/counter.value","value":\#(value)}"#
            clients[0].send(#"{"jsonrpc":"2.0","method":"set","params":\#(parameters)}"#)
            for (client, numbers) in zip(clients, [[1, 3, 5, 7, 9], [2, 4, 6, 8, 10], [11, 12]]) {
                for number in numbers {
                    let event = try client.next()
                    #expect(event?.member("params", "subscription") == .int(Int64(number)))
                    #expect(event?.member("params", "changes")?.list?.first?.member("value") == value)
                }
            }
        }
    }

    @Test("a client that ends its side is answered to the last line, then let go") func halfClosed() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        client.send(ping("1") + "\n" + ping("2") + "\n" + #"{"jsonrpc":"2.0","id":3,"me"#, newline: false)
        client.endSending()
        #expect(try client.next()?.member("id") == 1)
        #expect(try client.next()?.member("id") == 2)
        #expect(try client.next() == nil)
        daemon.run { daemon.sessions.count == 0 }
    }

    @Test("a subscriber that ends its side is served until it hangs up") func halfClosedSubscriber() throws {
        let daemon = try TestDaemon()
        let writer = try daemon.connect()
        do {
            let watcher = try daemon.connect()
            watcher.send(#"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"paths":["/counter.value"]}}"#)
            watcher.endSending()
            #expect(try watcher.next()?.member("id") == 1)
            #expect(try watcher.next()?.member("params", "initial") == true)
            _ = try writer.call("set", #"{"path":"/counter.value","value":5}"#)
            #expect(try watcher.next()?.member("method") == "update")
            daemon.sessions.care(at: 0)
            #expect(daemon.sessions.count == 2)
        }
        daemon.sessions.care(at: 0)
        daemon.run { daemon.sessions.count == 1 }
    }

    @Test("a client that has ended its subscriptions and its side is let go") func halfClosedReader() throws {
        let daemon = try TestDaemon()
        let ended = try daemon.connect()
        ended.send(
            #"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"paths":["/counter.value"],"initial":false}}"#)
        #expect(try ended.next()?.member("result", "subscription") == 1)
        ended.send(#"{"jsonrpc":"2.0","id":2,"method":"unsubscribe","params":{"subscription":1}}"#)
        ended.endSending()
        #expect(try ended.next()?.member("id") == 2)
        #expect(try ended.next() == nil)
        daemon.run { daemon.sessions.count == 0 }
    }

    @Test("complete requests of a client that left are performed, its incomplete one is not") func dying() throws {
        let daemon = try TestDaemon()
        do {
            let client = try daemon.connect()
            client.send(#"{"jsonrpc":"2.0","method":"set","params":{"path":"/counter.value","value":7}}"#)
            client.send(
                #"{"jsonrpc":"2.0","method":"set","params":{"path":"/counter.value","value":8}}"#, newline: false)
        }
        let other = try daemon.connect()
        daemon.run { daemon.sessions.count == 1 }
        #expect(try other.call("get", #"{"path":"/counter.value"}"#).member("result", "value") == 7)
    }

    @Test("a line that is too long is refused in its place, in bounded memory, and the next is served") func longLine()
        throws
    {
        let daemon = try TestDaemon { $0.server.messageSize = 100_000 }
        let client = try daemon.connect()
        client.send(ping("1"))
        let piece = [UInt8](repeating: 120, count: 50_000)
        for _ in 0..<100 {
            client.send(piece)
            #expect(daemon.sessions.pool.total < 500_000)
        }
        client.send("\n" + ping("2"))
        #expect(try client.next()?.member("id") == 1)
        #expect(try client.next()?.member("error", "data", "code") == "limit")
        #expect(try client.next()?.member("id") == 2)
        // One byte over, come in whole.
        client.send(ping("3").dropLast() + String(repeating: " ", count: 100_000) + "}")
        #expect(try client.next()?.member("error", "data", "code") == "limit")
        #expect(try client.call("ping").member("result", "pong") == true)
    }

    @Test("large messages of many clients share a limit") func inputTotal() throws {
        let daemon = try TestDaemon { $0.server.inputTotal = 1 << 20 }
        let clients = try (0..<8).map { _ in try daemon.connect() }
        let piece = [UInt8](repeating: 120, count: 400_000)
        for client in clients {
            client.send(piece)
            for _ in 0..<50 { daemon.step() }
        }
        #expect(daemon.sessions.pool.total < 4 << 20)
        for client in clients { client.send("") }
        let refusals = try clients.map { try $0.next()?.member("error", "code") }
        #expect(refusals.contains(-32600))
        #expect(refusals.contains(-32700))
    }

    @Test("a user's unfinished messages leave room for another user's") func inputShares() throws {
        let daemon = try TestDaemon { $0.server.inputTotal = 16 << 20 }
        func connect(_ user: UInt32) throws -> TestClient {
            daemon.sessions.admission.identify = { _ in Peer(pid: 1, uid: user, gid: user) }
            let (count, client) = (daemon.sessions.count, try daemon.connect())
            daemon.run { daemon.sessions.count == count + 1 }
            return client
        }
        let piece = [UInt8](repeating: 120, count: 900_000)
        let greedy = try (0..<30).map { _ in try connect(1001) }
        for client in greedy {
            client.send(piece)
            for _ in 0..<50 { daemon.step() }
        }
        #expect(daemon.sessions.pool.total < 14 << 20)
        let modest = try connect(1002)
        let text = String(repeating: "x", count: 900_000)
        #expect(try modest.call("set", #"{"path":"/counter.text","value":"\#(text)"}"#).member("result") != nil)
        // Each client can send short messages, whatever others of its user do.
        let refused = try #require(greedy.last)
        refused.send("")
        let fault = try refused.next()
        #expect(fault?.member("error", "data", "code") == "limit")
        #expect(fault?.member("error", "data", "hint")?.string?.contains("other users") == true)
        #expect(try refused.call("ping").member("result") != nil)
    }

    @Test("one client too many is told why and closed, and the others stay") func tooMany() throws {
        let daemon = try TestDaemon { $0.server.clients = 2 }
        let first = try daemon.connect()
        let second = try daemon.connect()
        _ = try first.call("ping")
        _ = try second.call("ping")
        let third = try daemon.connect()
        #expect(try third.next()?.member("error", "data", "code") == "limit")
        #expect(try third.next() == nil)
        #expect(try first.call("ping").member("result") != nil)
        _ = second
    }

    @Test("no user takes all places, whoever has no right takes few, and root always gets one") func shares() throws {
        let daemon = try TestDaemon { $0.server.clients = 128 }
        daemon.sessions.admission.access = AccessRules(
            [AccessRule(.read, [.user(1001), .user(1002)], try PathPattern("/**"))], owner: 7)
        var clients: [TestClient] = []
        func isServed(_ user: UInt32) throws -> Bool {
            daemon.sessions.admission.identify = { _ in Peer(pid: 1, uid: user, gid: user) }
            let client = try daemon.connect()
            client.send(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n")
            guard try client.next()?.member("result") != nil else { return false }
            clients.append(client)
            return true
        }
        func take(_ user: UInt32) throws -> Int {
            var count = 0
            while try isServed(user) { count += 1 }
            return count
        }
        // Two places are reserved.
        #expect(try take(1000) == 31)
        #expect(try take(1001) == 71)
        #expect(try take(1002) > 10)
        #expect(try isServed(1003))
        #expect(try take(0) >= 2)
        #expect(daemon.sessions.count == 128)
    }

    @Test("a client that sends without pause does not keep another waiting") func fairness() throws {
        let daemon = try TestDaemon { $0.server.requestsPerTurn = 10 }
        let busy = try daemon.connect()
        let other = try daemon.connect()
        let many = (1...1000).map { ping("\($0)") }.joined(separator: "\n") + "\n"
        #expect(busy.sendSome(many) == many.utf8.count)
        other.send(ping("1"))
        #expect(try other.next()?.member("id") == 1)
        let session = try #require(daemon.sessions.all.first)
        #expect(session.input.hasLine)
        for number in 1...1000 { #expect(try busy.next()?.member("id") == .int(Int64(number))) }
    }

    @Test(
        "a client has 32 answers while its next requests wait, and more if a turn waits for the disk",
        arguments: [false, true])
    func portions(_ waitsForDisk: Bool) throws {
        let folder = try Folder()
        let daemon = try TestDaemon { if waitsForDisk { $0.stateDirectory = folder.path } }
        let client = try daemon.connect()
        // Until the daemon knows how short the answers are.
        for _ in 1...5 { _ = try client.call("ping") }
        let many = (1...64).map { ping("\($0)") }.joined(separator: "\n") + "\n"
        #expect(client.sendSome(many) == many.utf8.count)
        #expect(try client.next()?.member("id") == 1)
        let session = try #require(daemon.sessions.all.first)
        #expect(session.input.hasLine == !waitsForDisk)
        for number in 2...64 { #expect(try client.next()?.member("id") == .int(Int64(number))) }
    }
}

@Suite("Clients that do not keep up", .serialized)
struct SlowSessionTests {
    private let text = String(repeating: "y", count: 10_000)

    @Test("no reply overtakes the updates that a client is owed that has fallen behind") func owed() throws {
        let daemon = try TestDaemon()
        let watcher = try daemon.connect()
        _ = try watcher.call("subscribe", #"{"paths":["/counter.*"]}"#)
        let session = try #require(daemon.sessions.all.first)
        let writer = try daemon.connect()
        var number = 0
        while !session.isBehind {
            number += 1
            let text = "\(number) " + String(repeating: "x", count: 100_000)
            _ = try writer.call("set", "{\"path\":\"/counter.text\",\"value\":\"\(text)\"}")
        }
        #expect(daemon.sessions.statistics.fallenBehind == 1)
        _ = try writer.call("set", #"{"path":"/counter.value","value":7}"#)
        watcher.send(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
        var isTold = false
        while let message = try watcher.next(), message.member("id") == nil {
            for change in message.member("params", "changes")?.list ?? []
            where change.member("path") == "/counter.value" {
                isTold = change.member("value") == 7
            }
        }
        #expect(isTold)
    }

    @Test("the requests of a client that does not read wait, and all are answered in the end") func backpressure()
        throws
    {
        let daemon = try TestDaemon { $0.server.outputQueue = 50_000 }
        let client = try daemon.connect()
        _ = try client.call("set", "{\"path\":\"/counter.text\",\"value\":\"\(text)\"}")
        let request = #"{"jsonrpc":"2.0","id":1,"method":"get","params":{"path":"/counter.text"}}"# + "\n"
        var sent = 0
        for _ in 0..<300 {
            if client.sendSome(request) == request.utf8.count { sent += 1 }
            daemon.step()
        }
        let session = try #require(daemon.sessions.all.first)
        #expect(session.isBehind)
        #expect(session.waiting < 150_000)
        #expect(daemon.sessions.statistics.fallenBehind == 0, "it has no updates that could be late")
        for _ in 0..<sent { #expect(try client.next()?.member("id") == 1) }
        daemon.run { !session.isBehind }
        #expect(try client.call("ping").member("result", "pong") == true)
    }

    @Test("only the client that reads nothing for the stall time is disconnected") func stalled() throws {
        let daemon = try TestDaemon { $0.server.outputQueue = 50_000 }
        let client = try daemon.connect()
        let other = try daemon.connect()
        _ = try client.call("set", "{\"path\":\"/counter.text\",\"value\":\"\(text)\"}")
        for _ in 0..<300 {
            _ = client.sendSome(#"{"jsonrpc":"2.0","id":1,"method":"get","params":{"path":"/counter.text"}}"# + "\n")
            daemon.step()
        }
        _ = try other.call("ping")
        let session = try #require(daemon.sessions.all.first)
        #expect(session.isBehind)
        daemon.sessions.care(at: session.lastProgress)
        daemon.sessions.care(at: session.lastProgress + 29)
        #expect(daemon.sessions.count == 2)
        daemon.sessions.care(at: session.lastProgress + 31)
        daemon.run { daemon.sessions.count == 1 }
        #expect(daemon.sessions.statistics.disconnected == 1)
        #expect(try other.call("ping").member("result", "pong") == true)
    }

    @Test("a client that keeps up or reads a little now and then is not disconnected") func slow() throws {
        let daemon = try TestDaemon { $0.server.outputQueue = 400_000 }
        let client = try daemon.connect()
        _ = try client.call("set", "{\"path\":\"/counter.text\",\"value\":\"\(text)\"}")
        let request = #"{"jsonrpc":"2.0","id":1,"method":"get","params":{"path":"/counter.text"}}"# + "\n"
        let session = try #require(daemon.sessions.all.first)
        while session.connection.pendingBytes == 0 {
            _ = client.sendSome(request)
            daemon.step()
        }
        var now = session.lastProgress
        func wait() {
            now += 29
            daemon.sessions.care(at: now)
        }
        for _ in 0..<3 { wait() }
        #expect(!session.isBehind && !session.isClosing)
        while !session.isBehind {
            _ = client.sendSome(request)
            daemon.step()
        }
        wait()
        for _ in 0..<3 {
            // A block of the kernel's: too little for it to take more.
            #expect(client.take(40_000) == 40_000)
            wait()
            #expect(session.isBehind && !session.isClosing)
        }
        wait()
        wait()
        #expect(session.isClosing)
    }

    @Test("calls of a batch are refused once its answers exceed the output limit")
    func batch() throws {
        let daemon = try TestDaemon { $0.server.outputMaximum = 100_000 }
        let client = try daemon.connect()
        let set =
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"set\",\"params\":{\"path\":\"/counter.text\",\"value\":\"\(text)\"}}"
        let get = #"{"jsonrpc":"2.0","id":1,"method":"get","params":{"path":"/counter.text"}}"#
        let ping = #"{"jsonrpc":"2.0","id":3,"method":"ping"}"#
        client.send("[" + ([set] + Array(repeating: get, count: 50) + [set, ping]).joined(separator: ",") + "]")
        let answers = try #require(try client.next()?.list)
        #expect(answers.count == 53)
        #expect(answers[1...9].allSatisfy { $0.member("result", "value")?.string?.utf8.count == 10_000 })
        #expect(answers[10...50].allSatisfy { $0.member("error", "data", "code") == "limit" && $0.member("id") == 1 })
        #expect(answers[51].member("result", "revision") != nil && answers[52].member("result", "pong") == true)
        #expect(try client.call("ping").member("result", "pong") == true)
        #expect(daemon.sessions.statistics.disconnected == 0)
    }

    @Test("a client that asks for long snapshots without waiting gets all of them and is not disconnected")
    func snapshots() throws {
        let daemon = try TestDaemon { $0.server.outputMaximum = 100_000 }
        let client = try daemon.connect()
        let text = String(repeating: "x", count: 60_000)
        _ = try client.call("set", "{\"path\":\"/counter.text\",\"value\":\"\(text)\"}")
        let paths = [
            "\"/counter.text\"", "\"/counter.*\"", "\"/counter.text\",\"/counter.value\"", "\"/*.text\"",
            "\"/**.text\"",
        ]
        let requests = paths.enumerated().map {
            #"{"jsonrpc":"2.0","id":\#($0),"method":"subscribe","params":{"paths":[\#($1)]}}"#
        }
        client.send(requests.joined(separator: "\n"))
        for number in paths.indices {
            #expect(try client.next()?.member("id") == .int(Int64(number)))
            #expect(try client.next()?.member("params", "initial") == true)
        }
        #expect(daemon.sessions.statistics.disconnected == 0)
    }

    @Test("a client whose output exceeds the limit is disconnected") func overflow() throws {
        let daemon = try TestDaemon {
            $0.server.outputQueue = 20_000
            $0.server.outputMaximum = 100_000
        }
        let watcher = try daemon.connect()
        let writer = try daemon.connect()
        _ = try watcher.call("subscribe", #"{"paths":["/counter.value"]}"#)
        let session = try #require(daemon.sessions.all.first)
        // What cannot be conflated: an answer as long as it is.
        let long = ByteBuffer()
        for _ in 0..<100_000 { long.append("0123456789") }
        session.output.addEvents(long, nil)
        session.isBehind = true
        writer.send(#"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/counter.value","value":1}}"#)
        #expect(try writer.next()?.member("result") != nil)
        daemon.run { daemon.sessions.count == 1 }
        #expect(daemon.sessions.statistics.disconnected == 1)
    }

    @Test("a client for whom there is no file descriptor is told so and counted, and the others are served")
    func descriptors() throws {
        let daemon = try TestDaemon()
        let first = try daemon.connect()
        #expect(try first.call("ping").member("result", "pong") == true)
        daemon.sessions.admission.descriptors = DescriptorLimit(
            soft: DescriptorLimit.spare, hard: DescriptorLimit.spare)
        let second = try daemon.connect()
        let refused = try second.next()
        #expect(
            refused?.member("error", "data", "hint") == "LimitNOFILE of the systemd unit is the limit",
            "\(String(describing: refused))")
        daemon.run { second.isOver() }
        #expect(try first.call("stats").member("result", "refused_clients") == 1)
    }

    @Test("the limit of file descriptors is raised as far as clients need and it goes, and no further")
    func descriptorLimit() {
        func limit(_ soft: Int, _ hard: Int) -> DescriptorLimit { DescriptorLimit(soft: soft, hard: hard) }
        #expect(limit(1024, 4096).raised(for: 1000) == limit(1032, 4096))
        #expect(limit(1024, 4096).raised(for: 100) == limit(1024, 4096))
        #expect(limit(1024, 4096).raised(for: 5000) == limit(4096, 4096))
        #expect(limit(1032, 1032).fits(1000) && !limit(1031, 1031).fits(1000))
        #expect(limit(40, 40).admits(31) && !limit(40, 40).admits(32))
    }

    @Test("clients that came, were refused, let go or fell behind are counted in stats") func statistics() throws {
        let daemon = try TestDaemon { $0.server.clients = 1 }
        let client = try daemon.connect()
        _ = try client.call("ping")
        let refused = try daemon.connect()
        daemon.run { refused.isOver() }
        let stats = try client.call("stats").member("result")
        #expect(stats?.member("accepted_clients") == 1 && stats?.member("refused_clients") == 1)
        #expect(stats?.member("disconnected_clients") == 0 && stats?.member("slow_clients") == 0)
        let text = try client.call("stats", #"{"format":"openmetrics"}"#).member("result", "text")?.string
        #expect(text?.contains("# TYPE agd_refused_clients counter\nagd_refused_clients_total 1\n") == true)
        #expect(text?.hasSuffix("# EOF\n") == true)
    }
}
