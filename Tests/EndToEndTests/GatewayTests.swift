import AttributeValues
import Foundation
import Testing

/// The graph over HTTP.
@Suite("Gateway")
struct GatewayTests {
    private let daemon: Daemon
    private let gateway: Program
    private let port: UInt16

    init() throws {
        daemon = try Daemon(scenes: [Scenes.counter])
        let (ours, theirs) = try Descriptor.pair()
        gateway = try Program(
            "agd-gateway", ["--socket", daemon.socket, "--port", "0"], folder: daemon.folder, standardOutput: theirs)
        let line = try Client(socket: ours).line() ?? ""
        port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
    }

    private func ask(_ target: String, method: String = "GET", host: String = "localhost") throws -> Client {
        let connection = Client(socket: try TCP.connect(port: port))
        try connection.send("\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r")
        return connection
    }

    /// Status and body of an answer that ends.
    private func answer(_ target: String, method: String = "GET", host: String = "localhost") throws -> (status: Int, body: String) {
        let connection = try ask(target, method: method, host: host)
        var lines: [String] = []
        while let line = try connection.line() { lines.append(line.filter { $0 != "\r" && $0 != "\r\n" }) }
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        let end = lines.firstIndex(of: "") ?? lines.endIndex
        return (status ?? 0, lines[end...].dropFirst().joined(separator: "\n"))
    }

    @Test("a value is answered as the protocol's get answers it, a refusal with its code")
    func value() throws {
        let answer = try answer("/value?path=/counter.twice")
        #expect(answer.status == 200)
        #expect(try JSONParser.parseOnce(answer.body.utf8)["value"] == 0)
        let missing = try self.answer("/value?path=/nowhere.value")
        #expect(missing.status == 404)
        #expect(try JSONParser.parseOnce(missing.body.utf8)["error"]?["code"] == "notFound")
        #expect(try self.answer("/value").status == 400)
        #expect(try self.answer("/else").status == 404)
        #expect(try self.answer("/metrics").body.contains("agd_requests_total"))
    }

    @Test("it only reads, and only for those who call this machine by its name")
    func guarded() throws {
        #expect(try answer("/value?path=/counter.value", method: "POST").status == 405)
        #expect(try answer("/value?path=/counter.value", host: "evil.example").status == 421)
        #expect(try answer("/value?path=/counter.value", host: "LocalHost:\(port)").status == 200)
    }

    @Test("a watch is a stream of events: the snapshot, then every change")
    func watch() throws {
        let stream = try ask("/watch?path=/counter.*")
        func data() throws -> Value {
            while let line = try stream.line() {
                if line.hasPrefix("data: ") { return try JSONParser.parseOnce(line.dropFirst(6).filter { $0 != "\r" }.utf8) }
            }
            throw Trouble("the stream ended")
        }
        let snapshot = try data()
        #expect(snapshot["initial"] == true)
        #expect(snapshot["changes"]?.list?.count == 3)
        try daemon.client().set("/counter.value", 21)
        let changes = try data()["changes"]?.list ?? []
        #expect(changes.contains(["path": "/counter.twice", "value": 42]))
    }

    @Test("a watch that the daemon refuses is refused with a status, which a browser does not come back to")
    func refusedWatch() throws {
        let missing = try answer("/watch?path=/nowhere.value")
        #expect(missing.status == 404)
        #expect(try JSONParser.parseOnce(missing.body.utf8)["error"]?["code"] == "notFound")
        #expect(try answer("/watch?path=[").status == 400)
    }

    @Test("options that cannot be read are refused with what is allowed", arguments: [
        ("/watch?path=/counter.*&maxRate=abc", "number above 0"), ("/watch?path=/counter.*&maxRate=inf", "number above 0"),
        ("/watch?path=/counter.*&maxRate=0", "number above 0"), ("/watch?path=/counter.*&css=yes", "true or false"),
        ("/value?path=/counter.value&typed=1", "true or false"), ("/value?path=/counter.value&presentation=", "true or false"),
    ])
    func unreadableOptions(_ target: String, _ allowed: String) throws {
        let answer = try answer(target)
        #expect(answer.status == 400)
        #expect(try JSONParser.parseOnce(answer.body.utf8)["error"]?["message"]?.string?.contains(allowed) == true, "\(answer.body)")
    }

    @Test("options are read")
    func readableOptions() throws {
        let body = try answer("/value?path=/counter.value&typed=true&presentation=false").body
        #expect(try JSONParser.parseOnce(body.utf8)["value"] == ["int": "0"])
        #expect(try answer("/value?path=/counter.value&typed=false").status == 200)
    }

    @Test("a port that is taken is told at once")
    func takenPort() throws {
        let second = try Program.run(
            "agd-gateway", ["--socket", daemon.socket, "--port", "\(port)"], folder: daemon.folder)
        #expect(second.code == 69)
        #expect(second.text == "agd-gateway: port \(port) of 127.0.0.1 is taken by another program\n")
    }

    @Test("it outlives its daemon, and says so meanwhile")
    func daemonGone() throws {
        try daemon.stop()
        #expect(try answer("/value?path=/counter.value").status == 503)
        let again = try Daemon(scenes: [Scenes.counter], folder: daemon.folder)
        #expect(try answer("/value?path=/counter.value").status == 200)
        #expect(try again.stop() == 0)
    }
}
