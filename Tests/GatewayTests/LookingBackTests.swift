import AttributeValues
import TestSupport
import Testing
@testable import GatewayHandlers
@testable import GatewayHarness

@Suite("Pages that look back")
struct LookingBackTests {
    private let gateway = FakeGateway()
    private var past: FakeDaemon { gateway.machine.past }
    /// Connections to agd-past that are open.
    private var open: Int { past.lines.count { !$0.isClosed } }

    private static let call = #"{"id":1,"method":"get","params":{"path":"/a/0.x"}}"#

    /// - Parameter isAnswered: false: agd-past does not answer yet.
    @discardableResult
    private func ask(
        _ page: String, _ body: String = LookingBackTests.call, isAnswered: Bool = true
    ) -> FakeChannel {
        let channel = FakeChannel().ask(
            gateway.door, "POST", "/past?page=\(page)", [("Content-Type", "application/json")], body)
        gateway.machine.advance(0)
        if isAnswered { past.answerAll() }
        return channel
    }

    private func code(_ channel: FakeChannel) -> String? { channel.json["error"]?["data"]?["code"]?.string }

    @Test("each page has a connection of its own, whose requests are performed in their order")
    func sessions() {
        #expect(ask("one").json["result"]?["value"] == 0)
        let batch = ask("one", #"[{"id":1,"method":"seek","params":{"time":7}},{"id":2,"method":"board"}]"#)
        #expect(batch.json.list?.count == 2)
        #expect(open == 1)
        ask("two")
        #expect(open == 2)
        #expect(past.methods == ["hello", "get", "seek", "board", "hello", "get"])
        #expect(gateway.daemon.methods == ["hello", "hello"], "the daemon has nothing to do with it")
    }

    @Test("nobody changes the past, and the present has no log")
    func methods() {
        for method in ["set", "transact", "do", "apply", "remove", "move", "restore", "trace"] {
            #expect(code(ask("one", #"{"id":1,"method":"\#(method)"}"#)) == "readOnly", "\(method)")
        }
        for method in ["hello", "subscribe", "play", "delegate"] {
            #expect(ask("one", #"{"id":1,"method":"\#(method)"}"#).json["error"] != nil, "\(method)")
        }
        #expect(past.methods.isEmpty)
        let refused = gateway.rpc(#"{"id":1,"method":"log"}"#)
        #expect(code(refused) == "notFound" && refused.json["error"]?["data"]?["hint"] == "/past answers it")
    }

    @Test("a connection that is asked nothing ends after a minute, and the next request makes another one")
    func silence() {
        ask("one")
        gateway.machine.advance(50)
        ask("one")
        gateway.machine.advance(50)
        #expect(open == 1)
        gateway.machine.advance(12)
        #expect(open == 0 && gateway.door.budgets.pasts.used == 0)
        #expect(ask("one").json["result"] != nil)
        #expect(open == 1)
    }

    @Test(
        "the page that has been quiet longest gives its place to another one, and one that waits for an answer does not"
    )
    func places() {
        for number in 0..<Limits.pastShare {
            ask("\(number)")
            gateway.machine.advance(1)
        }
        ask("new")
        #expect(open == Limits.pastShare && past.lines.first?.isClosed == true)
        let busy = (0..<Limits.pastShare).map { ask("busy\($0)", isAnswered: false) }
        #expect(busy.allSatisfy { $0.status == nil })
        #expect(code(ask("another", isAnswered: false)) == "limit")
        past.answerAll()
        #expect(busy.allSatisfy { $0.json["result"] != nil })
    }

    @Test("without agd-past, and when it ends, requests are refused in words, and pages learn whether it is there")
    func away() {
        var text = ""
        let page = FakeChannel()
        page.onData = { text += $0 }
        page.ask(gateway.door, "GET", "/watch?path=/a/*.x")
        gateway.daemon.answerAll()
        #expect(text.contains(#""hasPast":true"#))
        ask("one", isAnswered: false)
        let waiting = ask("two", isAnswered: false)
        past.stop(isNew: false)
        #expect(code(waiting) == "unavailable")
        gateway.machine.advance(0.1)
        let refused = ask("two")
        #expect(code(refused) == "unavailable")
        #expect(refused.json["error"]?["message"]?.string?.hasPrefix("no agd-past answers at ") == true)
        text = ""
        gateway.machine.advance(3)
        #expect(text.contains(#""hasPast":false"#))
        #expect(gateway.door.budgets.pasts.used == 0)
    }

    @Test("an agd-past that lets nobody in says why") func full() {
        let channel = ask("one", isAnswered: false)
        past.lines.first?.write(
            #"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"agd-past has 16 connections already"}}"#)
        past.lines.first.map { $0.delegate?.lineDidClose($0) }
        #expect(channel.json["error"]?["message"]?.string?.contains("16 connections already") == true)
    }

    @Test("a page without a name is told to have one") func name() {
        for target in ["/past", "/past?page=", "/past?page=\(String(repeating: "x", count: Limits.pageName + 1))"] {
            let channel = gateway.ask("POST", target, [("Content-Type", "application/json")], LookingBackTests.call)
            #expect(channel.status == 400 && channel.json["error"]?["message"]?.string?.contains("page") == true)
        }
    }

    @Test("a connection acts for the principal of the token, and ends with it") func principal() throws {
        let folder = try Folder()
        let file = folder.file("tokens")
        let token = try Tokens.add("wall", to: file)
        let gateway = FakeGateway(tokens: try Tokens(file: file))
        let channel = FakeChannel().ask(
            gateway.door, "POST", "/past?page=one",
            [("Content-Type", "application/json"), ("Authorization", "Bearer \(token)")], LookingBackTests.call)
        gateway.machine.advance(0)
        let line = try #require(gateway.machine.past.lines.first)
        #expect(line.requests.first?["params"]?["as"] == "wall")
        gateway.machine.past.answerAll()
        #expect(channel.json["result"] != nil && !line.isClosed)
        try folder.write("", to: "tokens")
        gateway.machine.advance(1.1)
        #expect(line.isClosed)
    }
}
