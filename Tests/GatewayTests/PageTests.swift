import AttributeValues
import Glibc
import TestSupport
import Testing
@testable import GatewayHandlers
@testable import GatewayHarness

/// The gateway's handlers with a fake machine and fake connections.
struct FakeGateway {
    let machine = FakeMachine()
    let door: FrontDoor

    init(isWritable: Bool = true, tokens: Tokens? = nil, budgets: Budgets = Budgets()) {
        let settings = Gateway.Settings(hosts: ["localhost"], isWritable: isWritable, socket: "/daemon")
        door = FrontDoor(settings: settings, tokens: tokens, budgets: budgets, machine)
        door.start()
        machine.daemon.answerAll()
    }

    var daemon: FakeDaemon { machine.daemon }

    var pages: Int { door.gateways.values.reduce(0) { $0 + $1.pages.count } }

    func ask(
        _ method: String, _ target: String, _ headers: [(String, String)] = [], _ body: String = ""
    ) -> FakeChannel {
        let channel = FakeChannel().ask(door, method, target, headers, body)
        // Requests that this turn has no time for.
        machine.advance(0)
        daemon.answerAll()
        return channel
    }

    func rpc(_ body: String) -> FakeChannel { ask("POST", "/rpc", [("Content-Type", "application/json")], body) }
}

@Suite("Pages and their connections")
struct PageTests {
    @Test(
        "there are as many pages as open streams, and each knows the graph, whatever comes when",
        arguments: freshSeeds(60))
    func anyOrder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let gateway = FakeGateway()
        let daemon = gateway.daemon
        let pages = (0..<4).map { _ in FakePage() }
        for _ in 0..<400 {
            let page = random.pick(pages)
            switch random.below(12) {
            case 0, 1:
                page.channel.leave()
                page.open(
                    gateway.door, isReading: random.chance(70), callsToLive: random.chance(40) ? random.below(6) : nil)
            case 2: page.channel.leave()
            case 3: page.channel.callsToLive = random.below(4)
            case 4: page.channel.isReading.toggle()
            case 5: page.channel.read()
            case 6, 7: daemon.set("/a/\(random.below(4)).x", random.chance(20) ? nil : Int64(random.below(100)))
            case 8, 9:
                if let line = daemon.lines.filter({ !$0.requests.isEmpty }).randomElement(using: &random) {
                    daemon.answer(line)
                }
            case 10: gateway.machine.advance(random.real(0...1))
            default:
                if random.chance(30) {
                    daemon.isThere ? daemon.stop(isNew: random.chance(50)) : (daemon.isThere = true)
                }
            }
            for page in pages where page.channel.isClosing { page.channel.leave() }
            let streams = pages.count { $0.channel.isOpenStream }
            #expect(gateway.pages == streams)
        }
        // When all is quiet, each page that is open or comes back knows everything.
        daemon.isThere = true
        for page in pages {
            page.channel.callsToLive = nil
            page.channel.isReading = true
            if page.channel.isClosed || !page.channel.isStream {
                page.channel.leave()
                page.open(gateway.door, isReading: true, callsToLive: nil)
            }
        }
        for _ in 0..<20 {
            daemon.answerAll()
            gateway.machine.advance(0.5)
            for page in pages { page.channel.read() }
        }
        for page in pages { #expect(page.values == daemon.values) }
        // And when all pages have gone, nothing is left of them.
        for page in pages { page.channel.leave() }
        for _ in 0..<200 {
            gateway.machine.advance(0.5)
            daemon.answerAll()
        }
        #expect(gateway.pages == 0 && gateway.door.budgets.streams.used == 0)
        #expect(gateway.door.budgets.memory.used == 0)
        let subscriptions = daemon.lines.reduce(0) { $0 + $1.subscriptions.count }
        #expect(subscriptions == 0)
    }

    @Test("a page that closes in the middle of its beginning leaves nothing", arguments: 0..<8)
    func closedInside(calls: Int) {
        let gateway = FakeGateway()
        let first = FakePage()
        first.open(gateway.door, isReading: true, callsToLive: nil)
        gateway.daemon.answerAll()
        for _ in 0..<50 {
            let page = FakePage()
            page.open(gateway.door, isReading: true, callsToLive: calls)
            gateway.daemon.answerAll()
            page.channel.leave()
        }
        #expect(gateway.pages == 1)
    }

    @Test("a page that resumes over a daemon without a store gets a snapshot, not the promise that it missed nothing")
    func otherEpoch() {
        let gateway = FakeGateway()
        let page = FakePage()
        page.open(gateway.door, isReading: true, callsToLive: nil)
        gateway.daemon.answerAll()
        for number in 1...50 { gateway.daemon.set("/a/0.x", Int64(number)) }
        #expect(page.lastID == "e1:51")
        gateway.daemon.stop(isNew: true)
        gateway.daemon.isThere = true
        gateway.machine.advance(3)
        gateway.daemon.answerAll()
        #expect(page.lastID == "e2:1")
        page.channel.leave()
        gateway.daemon.set("/a/1.x", 77)
        page.open(gateway.door, isReading: true, callsToLive: nil)
        gateway.daemon.answerAll()
        #expect(page.values == gateway.daemon.values)
    }

    @Test("a page may call what is listed, and nothing else")
    func methods() {
        let gateway = FakeGateway()
        for method in ["hello", "subscribe", "unsubscribe", "delegate", "shutdown", "HELLO", "hello ", ""] {
            let channel = gateway.rpc(#"{"id":7,"method":"\#(method)","params":{"as":"nobody"}}"#)
            #expect(channel.json["error"] != nil && channel.json["id"] == 7, "\(method)")
        }
        // The connections' own hello is all that the daemon has seen.
        #expect(gateway.daemon.methods == ["hello", "hello"])
        #expect(gateway.rpc(#"{"id":1,"method":"get","params":{"path":"/a/0.x"}}"#).json["result"]?["value"] == 0)
    }

    @Test("a slow page gets the newest values when it reads again, however many have changed", arguments: [3, 1000])
    func slow(count: Int) {
        let gateway = FakeGateway()
        let page = FakePage()
        page.open(gateway.door, isReading: true, callsToLive: nil)
        gateway.daemon.answerAll()
        page.channel.isReading = false
        for number in 0..<count { gateway.daemon.set("/a/\(number).x", Int64(number)) }
        gateway.daemon.set("/a/1.x", nil)
        #expect(page.values != gateway.daemon.values)
        page.channel.isReading = true
        page.channel.read()
        #expect(page.values == gateway.daemon.values)
    }
}

@Suite("The gateway's limits")
struct LimitTests {
    private let gateway = FakeGateway()
    private static let share = 6 << 20
    private let small = FakeGateway(budgets: Budgets(memory: 8 << 20, share: LimitTests.share))

    @Test("two headers Host, two lengths, or a length and chunks are refused")
    func twice() {
        for headers in [
            [("host", "localhost")], [("Content-Length", "1"), ("Content-Length", "2")],
            [("Content-Length", "1"), ("Transfer-Encoding", "chunked")],
        ] { #expect(gateway.ask("GET", "/healthz", headers).status == 400) }
    }

    @Test("bodies count before they are complete: beyond the share they are refused, and health is answered")
    func bodies() {
        let gateway = small
        let part = String(repeating: "x", count: 64 << 10)
        let channels = (0..<40).map { _ in
            let channel = FakeChannel()
            channel.ask(
                gateway.door, "POST", "/rpc", [("Content-Type", "application/json")], isFinished: false)
            for _ in 0..<4 { channel.send(part) }
            return channel
        }
        #expect(gateway.door.budgets.memory.used <= LimitTests.share)
        let statuses = Set(channels.map { $0.status ?? 0 })
        #expect(statuses == [0, 503])
        #expect(gateway.ask("GET", "/healthz").status == 200)
        for channel in channels { channel.leave() }
        #expect(gateway.door.budgets.memory.used == 0)
    }

    @Test("a body that is too long is refused at its head, and a body without a token has few bytes")
    func longBody() {
        let channel = FakeChannel()
        channel.ask(gateway.door, "POST", "/rpc", [("Content-Length", "\(Limits.body + 1)")], isFinished: false)
        #expect(channel.status == 413)
    }

    @Test("a body with too many values is refused")
    func values() {
        let body = "[" + String(repeating: "1,", count: Limits.bodyValues + 10) + "1]"
        #expect(gateway.rpc(body).status == 413)
    }

    @Test("a body that grows past the daemon's message size is refused, with the reason")
    func growing() {
        let text = String(repeating: "x", count: 15 << 20)
        let numbers = String(repeating: "1e15,", count: 90_000)
        let error = gateway.rpc(#"{"id":1,"method":"eval","params":{"text":"\#(text)","numbers":[\#(numbers)1]}}"#)
            .json["error"]
        #expect(error?["data"]?["code"] == "limit" && error?["message"]?.string?.contains("the daemon takes") == true)
    }

    @Test("a request that is too long for the daemon is answered, although the daemon does not know its id")
    func unread() throws {
        let long = FakeChannel().ask(
            gateway.door, "POST", "/rpc", [("Content-Type", "application/json")],
            #"{"id":1,"method":"eval","params":{"text":"\#(String(repeating: "x", count: 1000))"}}"#)
        let short = FakeChannel().ask(gateway.door, "GET", "/value?path=/a/0.x")
        let line = try #require(gateway.daemon.lines.first { $0.requests.count == 2 })
        line.requests.removeFirst()
        line.write(
            #"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message of more than 900 bytes","data":{"code":"limit"}}}"#
        )
        #expect(long.json["error"]?["data"]?["code"] == "limit")
        gateway.daemon.answerAll()
        #expect(short.status == 200)
    }

    @Test("answers that nobody reads are paid for; what does not fit is refused")
    func answers() throws {
        let gateway = small
        let big = String(repeating: "x", count: 1 << 20)
        var statuses: [Int?] = []
        var channels: [FakeChannel] = []
        for _ in 0..<12 {
            let channel = FakeChannel().ask(
                gateway.door, "POST", "/rpc", [("Content-Type", "application/json")], #"{"id":1,"method":"dump"}"#)
            let line = try #require(gateway.daemon.lines.first { $0.requests.contains { $0["method"] == "dump" } })
            let request = line.requests.removeFirst()
            gateway.daemon.write(["result": .string(big)], to: request, on: line)
            channels.append(channel)
            statuses.append(channel.body.count >= 1 << 20 ? 200 : nil)
        }
        #expect(statuses.first == 200 && statuses.last == .some(nil))
        #expect(gateway.door.budgets.memory.used <= LimitTests.share)
        #expect(channels.last?.json["error"]?["data"]?["code"] == "limit")
        for channel in channels { channel.leave() }
        #expect(gateway.door.budgets.memory.used == 0)
    }

    @Test("equal subscriptions of one page begin one after the other, as the page reads")
    func equalSubscriptions() {
        for number in 0..<500 { gateway.daemon.set("/a/\(number).x", 1) }
        let one = #"{"paths":["/a/*.x"]}"#
        let body =
            #"{"subscriptions":[\#(Array(repeating: one, count: Limits.subscriptionsOfPage).joined(separator: ","))]}"#
        let channel = FakeChannel()
        channel.isReading = false
        var begun = 0
        channel.onData = { text in if text.contains("initial") { begun += 1 } }
        channel.ask(gateway.door, "POST", "/watch", [], body)
        gateway.daemon.answerAll()
        #expect(channel.isOpenStream && begun == 0 && channel.waiting < 1 << 20)
        while channel.waiting > 0 {
            channel.read()
            gateway.machine.advance(0)
        }
        #expect(begun == Limits.subscriptionsOfPage)
    }

    @Test("a large event is compressed in slices, each when the page reads")
    func slices() {
        let gateway = FakeGateway()
        for number in 0..<20_000 {
            gateway.daemon.set("/a/\(number * 7919 % 100_003).x", Int64(number * 2_654_435_761 % 1_000_000_007))
        }
        let channel = FakeChannel()
        channel.isReading = false
        var sizes: [Int] = []
        channel.onBytes = { sizes.append($0.count) }
        channel.ask(gateway.door, "GET", "/watch?path=/a/*.x", [("Accept-Encoding", "gzip")])
        gateway.daemon.answerAll()
        let beginning = sizes.reduce(0, +)
        while channel.waiting > 0 {
            channel.read()
            gateway.machine.advance(0)
        }
        #expect(beginning < 64 << 10 && sizes.reduce(0, +) > 64 << 10)
        #expect(sizes.allSatisfy { $0 < 48 << 10 })
    }

    @Test("streams of one peer and principal have a share; another peer still gets one")
    func streams() {
        var channels: [FakeChannel] = []
        while channels.last?.status != 503, channels.count < Limits.streams + 1 {
            channels.append(gateway.ask("GET", "/watch?path=/a/*.x"))
        }
        #expect(channels.count == Limits.streamShare + 1)
        #expect(gateway.pages == Limits.streamShare)
        channels[0].leave()
        #expect(gateway.ask("GET", "/watch?path=/a/*.x").isOpenStream)
    }

    @Test("subscriptions that nobody watches make room for others, and one peer cannot take all")
    func subscriptions() {
        for number in 0..<(Limits.subscriptionsOfPeer + 50) {
            let channel = gateway.ask("GET", "/watch?path=/a/\(number).x")
            #expect(channel.isOpenStream, "\(number)")
            channel.leave()
        }
        let kept = (0..<(Limits.subscriptionsOfPeer + 5)).map { gateway.ask("GET", "/watch?path=/b/\($0).x") }
        let open = kept.count { $0.isOpenStream }
        #expect(open == Limits.subscriptionsOfPeer)
        let other = FakeChannel(peer: "user 33").ask(gateway.door, "GET", "/watch?path=/c/0.x")
        gateway.daemon.answerAll()
        #expect(other.isOpenStream)
    }

    @Test("bodies that end together, and packed beginnings of many pages, are done in portions, and health is answered")
    func portions() {
        let body = "[" + String(repeating: "[],", count: 200_000) + "[]]"
        let channels = (0..<8).map { _ in
            let channel = FakeChannel()
            channel.ask(
                gateway.door, "POST", "/rpc", [("Content-Type", "application/json")], body, isFinished: false)
            return channel
        }
        for channel in channels { channel.finish() }
        #expect(channels.count { $0.status != nil } == 1)
        #expect(FakeChannel().ask(gateway.door, "GET", "/healthz").status == 200)
        for done in 2...8 {
            gateway.machine.advance(0)
            #expect(channels.count { $0.status != nil } >= done - 1)
        }
        gateway.machine.advance(0.001)
        #expect(channels.allSatisfy { $0.status != nil })

        for number in 0..<20_000 { gateway.daemon.set("/a/\(number).x", 1) }
        let pages = (0..<20).map { _ in FakeChannel() }
        var begun = 0
        for page in pages {
            page.onData = { _ in begun += 1 }
            page.ask(gateway.door, "GET", "/watch?path=/a/*.x", [("Accept-Encoding", "gzip")])
        }
        gateway.daemon.answerAll()
        let first = begun
        gateway.machine.advance(0.01)
        #expect(first < begun && pages.allSatisfy(\.isOpenStream))
    }

    @Test("what is long is written to all pages without a copy for each") func shared() {
        let text = PageStream.Encoded(ValueMap([("changes", .string(String(repeating: "x", count: 100_000)))]))
        let address = text.fields.withUnsafeBytes { $0.baseAddress }
        var found = 0
        for _ in 0..<3 {
            let channel = FakeChannel()
            channel.onBytes = { bytes in if bytes.withUnsafeBytes({ $0.baseAddress }) == address { found += 1 } }
            let account = { Account(self.gateway.door.budgets.memory, ["x"]) }
            let page = PageStream(
                channel: channel, isPacked: false, token: nil, memory: account(), place: account(),
                Pace(gateway.machine), gateway.machine)
            channel.begin([])
            page.begin([(.failure(.unavailable("test")), nil)], hello: ValueMap())
            _ = page.put("update", 0, text)
        }
        #expect(found == 3)
    }

    @Test("a subscription whose values take too much memory is refused, and others live")
    func hugeWatch() throws {
        let gateway = small
        let page = FakeChannel()
        var text = ""
        page.onData = { text += $0 }
        page.ask(gateway.door, "GET", "/watch?path=/huge.x")
        let line = try #require(gateway.daemon.lines.first { $0.requests.contains { $0["method"] == "subscribe" } })
        let request = line.requests.removeFirst()
        gateway.daemon.write(["result": ["subscription": 99, "epoch": "e1", "revision": 1]], to: request, on: line)
        for number in 0..<7 {
            let value = String(repeating: "y", count: 512 << 10)
            line.write(
                #"{"jsonrpc":"2.0","method":"update","params":{"subscription":99,"revision":1,\#(number == 0 ? "\"initial\":true," : "")"changes":[{"path":"/huge\#(number).x","value":"\#(value)"}]}}"#
            )
        }
        gateway.machine.advance(0)
        #expect(text.contains("event: refused") && text.contains(#""code":"limit""#))
        #expect(gateway.door.budgets.memory.used < 1 << 20)
        let methods = line.requests.map { $0["method"] }
        #expect(methods.contains("unsubscribe"))
        #expect(gateway.ask("GET", "/watch?path=/a/*.x").isOpenStream)
    }
}

@Suite("Tokens of pages")
struct TokenTests {
    @Test("a withdrawn token loses its streams, also if its principal has another; a change of the mode is noticed")
    func withdrawn() throws {
        let folder = try Folder()
        let file = folder.file("tokens")
        let tokens = try (0..<2).map { _ in try Tokens.add("wall", to: file) }
        let gateway = FakeGateway(tokens: try Tokens(file: file))
        let streams = tokens.map { token in
            gateway.daemon.answerAll()
            return gateway.ask("GET", "/watch?path=/a/*.x", [("Authorization", "Bearer \(token)")])
        }
        let open = streams.filter(\.isOpenStream)
        #expect(open.count == 2)
        let line = "wall \(SHA256.hex(tokens[1]))\n"
        try folder.write(line, to: "tokens")
        gateway.machine.advance(1.1)
        #expect(streams[0].isClosing && !streams[1].isClosing)
        chmod(file, 0o600)
        let before = try Tokens(file: file)
        #expect(!before.hasChanged)
        chmod(file, 0o640)
        #expect(before.hasChanged)
    }
}
