import AttributeValues
import Foundation
import TestSupport
import Testing

/// The gateway while its daemon does not answer, or is not there.
@Suite("Gateway without an answering daemon")
struct GatewaySilenceTests: GatewayTest {
    private let daemon: Daemon
    private let gateway: Program
    let port: UInt16

    init() throws {
        daemon = try Daemon(scenes: [Scenes.counter], configuration: "forward-time = 3 s\n")
        (gateway, port) = try GatewaySilenceTests.start(daemon, ["--writable"])
    }

    private func rpc(_ method: String, _ parameters: String) throws -> Value {
        let body = #"{"id":1,"method":"\#(method)","params":\#(parameters)}"#
        let answer = try lines("/rpc", method: "POST", headers: ["Content-Type: application/json"], body: body)
        return try JSONParser.parseOnce((answer.last ?? "").utf8)
    }

    private func set(_ value: Int) throws -> Value {
        try rpc("set", #"{"path":"/counter.value","value":\#(value)}"#)
    }

    /// Reads a stream up to a line that contains the text, and answers the names of the events before it.
    @discardableResult
    private func read(_ stream: Client, to text: String) throws -> [String] {
        var names: [String] = []
        while let line = try stream.line() {
            if line.contains(text) { return names }
            if line.hasPrefix("event: ") { names.append(line.dropFirst(7).filter { $0 != "\r" }) }
        }
        throw Trouble("the stream ended before \(text)")
    }

    private func awaitReady() throws {
        let deadline = Deadline(Deadline.patience)
        while try lines("/readyz").first != "HTTP/1.1 200 OK" {
            if deadline.isOver { throw Trouble("the gateway did not get ready") }
        }
    }

    @Test("a daemon that hangs is not ready; streams are interrupted, and live with what changed when it goes on")
    func hanging() throws {
        try awaitReady()
        let stream = try ask("/watch?path=/counter.*")
        try read(stream, to: "\"initial\":true")
        daemon.program.signal(SIGSTOP)
        defer { daemon.program.signal(SIGCONT) }
        // It was sent before anybody could know, and is performed when the daemon goes on.
        let error = try set(5)["error"]
        #expect(error?["data"]?["code"] == "unavailable")
        let message = error?["message"]?.string ?? ""
        #expect(message.hasPrefix("outcome unknown: the daemon does not answer"), "\(message)")
        #expect(message.hasSuffix("may have happened, or may still happen"))
        try read(stream, to: "event: interrupted")
        let silence = try JSONParser.parseOnce(
            (try stream.line() ?? "").dropFirst("data: ".count).filter { $0 != "\r" }.utf8)
        #expect((silence["silence"]?.number).map { (1.5..<30).contains($0) } == true, "\(silence)")
        let ready = try lines("/readyz")
        #expect(ready.first == "HTTP/1.1 503 Service Unavailable")
        #expect(ready.last == #"{"ready":false,"reason":"the daemon does not answer"}"#)
        // Now everybody knows: nothing more is sent, and nothing waits.
        let start = MonotonicTime.now
        let refused = try set(9)["error"]
        #expect(refused?["data"]?["code"] == "unavailable" && refused?["message"] == "the daemon does not answer")
        #expect(try lines("/value?path=/counter.value").first == "HTTP/1.1 503 Service Unavailable")
        #expect(MonotonicTime.now - start < 1.5)
        let late = try ask("/watch?path=/counter.value")
        #expect(try late.line() == "HTTP/1.1 200 OK\r")
        #expect(try read(late, to: "event: interrupted") == ["hello"])

        daemon.program.signal(SIGCONT)
        #expect(try !read(stream, to: "event: live").contains("update"))
        try read(stream, to: #""path":"/counter.value","value":5"#)
        try read(late, to: "event: live")
        try read(late, to: #""path":"/counter.value","value":5"#)
        try awaitReady()
        #expect(try set(6)["result"] != nil)
        try read(stream, to: #""path":"/counter.value","value":6"#)
    }

    @Test("a reading request that a hanging daemon does not answer is refused, and promises nothing")
    func reading() throws {
        try awaitReady()
        daemon.program.signal(SIGSTOP)
        defer { daemon.program.signal(SIGCONT) }
        let error = try rpc("get", #"{"path":"/counter.value"}"#)["error"]
        #expect(error?["data"]?["code"] == "unavailable" && error?["message"] == "the daemon does not answer")
    }

    @Test("a write that was sent to a daemon that is killed has an unknown outcome")
    func killed() throws {
        try awaitReady()
        daemon.program.signal(SIGSTOP)
        let connection = try ask(
            "/rpc", method: "POST", headers: ["Content-Type: application/json"],
            body: #"{"id":1,"method":"transact","params":{"mutations":[]}}"#)
        // The gateway reads requests in order: this one is answered after the other one was sent.
        #expect(try lines("/healthz").first == "HTTP/1.1 200 OK")
        daemon.program.signal(SIGKILL)
        try read(connection, to: "outcome unknown: the daemon ")
    }

    @Test("a request that waits for another machine is no silence")
    func delegated() throws {
        try awaitReady()
        let owner = try daemon.client()
        _ = try owner.call("delegate", ["path": "/counter"])
        let stream = try ask("/watch?path=/counter.*")
        try read(stream, to: "\"initial\":true")
        #expect(try set(5)["error"]?["message"]?.string?.hasPrefix("outcome unknown: the owner") == true)
        #expect(try lines("/readyz").first == "HTTP/1.1 200 OK")
        _ = try owner.call("set", ["path": "/counter.value", "value": 8])
        #expect(try !read(stream, to: #""/counter.value","value":8"#).contains("interrupted"))
    }

    @Test("a stream that begins while the daemon is away is interrupted, and live with the snapshot when it returns")
    func away() throws {
        try daemon.stop()
        let deadline = Deadline(Deadline.patience)
        while try lines("/readyz").first == "HTTP/1.1 200 OK", !deadline.isOver {}
        #expect(try lines("/readyz").last?.contains(#""reason":"no daemon answers at \#(daemon.socket)""#) == true)
        let single = try ask("/watch?path=/counter.*")
        let missing = try ask("/watch?path=/nowhere.x")
        let several = try ask(
            "/watch", method: "POST", headers: ["Content-Type: application/json"],
            body: #"{"subscriptions":[{"paths":["/counter.value"]},{"paths":["/nowhere.x"]}]}"#)
        for stream in [single, several, missing] {
            #expect(try stream.line() == "HTTP/1.1 200 OK\r")
            #expect(try read(stream, to: "event: interrupted") == ["hello"])
        }
        let again = try Daemon(scenes: [Scenes.counter], folder: daemon.folder)
        #expect(try !read(single, to: "event: live").contains("update"))
        try read(single, to: "\"initial\":true")
        try read(several, to: "event: live")
        try read(several, to: "\"initial\":true")
        // What the daemon refuses on its return is told, like anything else.
        try read(missing, to: "event: refused")
        try read(missing, to: "\"code\":\"notFound\"")
        #expect(try again.stop() == 0)
    }

    @Test("with tokens, the streams of all principals are interrupted, and none waits for a silent daemon")
    func principals() throws {
        let daemon = try Daemon(
            scenes: [Scenes.counter], configuration: "access = read as:one /**\naccess = read as:two /**\n")
        let file = daemon.folder.file("tokens")
        let tokens = try ["one", "two", "three"].map { name in
            let made = try Program.run(
                "agd-gateway", ["--tokens", file, "--add-token", name], folder: daemon.folder)
            return "Authorization: Bearer \(made.text.dropLast())"
        }
        let (gateway, port) = try GatewaySilenceTests.start(daemon, ["--tokens", file])
        defer { gateway.signal(SIGTERM) }
        let other = Other(port: port)
        let streams = try tokens.dropLast().map { try other.ask("/watch?path=/counter.*", headers: [$0]) }
        for stream in streams { try read(stream, to: "\"initial\":true") }
        daemon.program.signal(SIGSTOP)
        defer { daemon.program.signal(SIGCONT) }
        for stream in streams { try read(stream, to: "event: interrupted") }
        #expect(try other.lines("/readyz").last == #"{"ready":false,"reason":"the daemon does not answer"}"#)
        // A principal without a connection yet.
        let late = try other.lines("/value?path=/counter.value", headers: [tokens[2]])
        #expect(late.first == "HTTP/1.1 503 Service Unavailable")
        daemon.program.signal(SIGCONT)
        for stream in streams { try read(stream, to: "event: live") }
    }

    private struct Other: GatewayTest { var port: UInt16 }
}
