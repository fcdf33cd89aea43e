import AttributeValues
import Foundation
import TestSupport
import Testing

/// The gateway with tokens: whoever asks has the rights of the token's principal.
@Suite("Gateway with tokens")
struct GatewayTokenTests: GatewayTest {
    private let daemon: Daemon
    private let gateway: Program
    let port: UInt16
    private let reader: String
    private let writer: String
    private let file: String

    init() throws {
        daemon = try Daemon(
            scenes: [Scenes.counter],
            configuration: "access = read as:reader /counter/**\naccess = write as:writer /**\n")
        file = daemon.folder.file("tokens")
        reader = try GatewayTokenTests.add("reader", file, daemon.folder)
        writer = try GatewayTokenTests.add("writer", file, daemon.folder)
        (gateway, port) = try GatewayTokenTests.start(
            daemon, ["--writable", "--tokens", file, "--allow-origin", "https://a.example"])
    }

    private static func add(_ name: String, _ file: String, _ folder: Folder) throws -> String {
        let made = try Program.run("agd-gateway", ["--tokens", file, "--add-token", name], folder: folder)
        #expect(made.code == 0, "\(made.text)")
        return String(made.text.dropLast())
    }

    private func status(
        _ target: String, method: String = "GET", headers: [String] = [], body: String = ""
    ) throws -> Int {
        let first = try lines(target, method: method, headers: headers, body: body).first ?? ""
        return first.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    private func bearer(_ token: String) -> String { "Authorization: Bearer \(token)" }

    private func set(_ value: Int, _ headers: [String]) throws -> Value {
        let body = #"{"id":1,"method":"set","params":{"path":"/counter.value","value":\#(value)}}"#
        let answer = try lines(
            "/rpc", method: "POST", headers: ["Content-Type: application/json"] + headers, body: body)
        return try JSONParser.parseOnce((answer.last ?? "").utf8)
    }

    @Test("without a token, or with a wrong one, nothing but the health and the form is answered") func missing() throws
    {
        for headers in [[], [bearer("wrong")], ["Authorization: Basic \(reader)"], ["Cookie: agd-token=wrong"]] {
            for target in ["/value?path=/counter.value", "/watch?path=/counter.*", "/metrics", "/board.js"] {
                #expect(try status(target, headers: headers) == 401, "\(target) \(headers)")
            }
            #expect(try status("/rpc", method: "POST", headers: headers, body: "{}") == 401)
        }
        #expect(try status("/healthz") == 200)
        #expect(try status("/readyz") == 200)
        #expect(try lines("/").contains("Location: /login"))
        let form = try lines("/login")
        #expect(form.contains { $0.hasPrefix("Content-Security-Policy: default-src 'none'") })
        #expect(form.contains { $0.contains("name=\"token\"") })
    }

    @Test("a token has the rights of its principal, and no more; explain names the principal") func rights() throws {
        #expect(try status("/value?path=/counter.value", headers: [bearer(reader)]) == 200)
        #expect(try status("/value?path=/**", headers: [bearer(reader)]) == 403)
        #expect(try status("/watch?path=/**", headers: [bearer(reader)]) == 403)
        #expect(try status("/metrics", headers: [bearer(reader)]) == 403)
        #expect(try set(3, [bearer(reader)])["error"]?["data"]?["code"] == "denied")
        #expect(try set(4, [bearer(writer)])["result"]?["revision"] != nil)
        let explained = try daemon.client().call("explain", ["path": "/counter.value"])
        #expect(explained["changed"]?["client"]?["as"] == "writer")
        #expect(try set(5, [bearer(writer), "Origin: https://a.example"])["result"] != nil)
    }

    @Test("a page cannot choose its principal") func fixed() throws {
        let body = #"{"id":1,"method":"hello","params":{"as":"writer"}}"#
        let answer = try lines(
            "/rpc", method: "POST", headers: ["Content-Type: application/json", bearer(reader)], body: body)
        #expect(answer.last?.contains("denied") == true)
        #expect(try set(3, [bearer(reader)])["error"]?["data"]?["code"] == "denied")
    }

    @Test("the form stores the token as a cookie, which only the gateway's own pages can use") func cookies() throws {
        let own = "Origin: http://localhost:\(port)"
        let form = ["Content-Type: application/x-www-form-urlencoded"]
        #expect(try status("/login", method: "POST", headers: form + [own], body: "token=wrong") == 401)
        #expect(try status("/login", method: "POST", headers: form, body: "token=\(reader)") == 401)
        let head = try lines("/login", method: "POST", headers: form + [own], body: "token=\(writer)")
        #expect(head.first == "HTTP/1.1 303 See Other")
        let cookie = try #require(head.first { $0.hasPrefix("Set-Cookie: ") }?.dropFirst(12))
        #expect(cookie.contains("; HttpOnly; SameSite=Strict"))
        let ours = "Cookie: other=1; \(cookie.prefix { $0 != ";" })"
        #expect(try status("/value?path=/counter.value", headers: [ours]) == 200)
        #expect(try set(6, [ours, own])["result"] != nil)
        #expect(try set(7, [ours])["error"]?["code"] == "denied")
        #expect(try set(7, [ours, "Origin: https://a.example"])["error"]?["code"] == "denied")
        #expect(try status("/value?path=/counter.value", headers: [ours, "Origin: https://a.example"]) == 401)
        #expect(try daemon.client().get("/counter.value") == 6)
    }

    @Test("pages of one principal share a connection and a subscription; another principal has its own")
    func shared() throws {
        let pages = try (0..<20).map { number in
            try ask("/watch?path=/counter.*", headers: [bearer(number < 10 ? reader : writer)])
        }
        for page in pages {
            while let line = try page.line(), !line.contains("initial") {}
        }
        let observer = try daemon.client()
        let stats = try observer.call("stats")
        #expect(stats["subscriptions"] == 2)
        // Over one more connection, the gateway asks whether the daemon answers.
        #expect(stats["clients"] == 4)
    }

    @Test("a token that is deleted from the file works no longer, and its streams end") func deleted() throws {
        let stream = try ask("/watch?path=/counter.*", headers: [bearer(reader)])
        while let line = try stream.line(), !line.contains("initial") {}
        let other = try ask("/watch?path=/counter.*", headers: [bearer(writer)])
        while let line = try other.line(), !line.contains("initial") {}
        let kept = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").filter {
            $0.hasPrefix("writer ")
        }
        try (kept.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        // The stream ends: `line` answers nil.
        while try stream.line() != nil {}
        #expect(try status("/value?path=/counter.value", headers: [bearer(reader)]) == 401)
        #expect(try status("/value?path=/counter.value", headers: [bearer(writer)]) == 200)
    }

    @Test("the file has hashes, not tokens; one that cannot be used is told at the start") func files() throws {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.contains("reader ") && !text.contains(reader))
        let broken = try daemon.folder.write("reader abc\n", to: "broken")
        let refused = try Program.run(
            "agd-gateway", ["--socket", daemon.socket, "--port", "0", "--tokens", broken], folder: daemon.folder)
        #expect(refused.code == 78)
        #expect(refused.text.contains("broken:1: a line is a principal and the SHA-256 of a token"))
        let name = try Program.run(
            "agd-gateway", ["--tokens", file, "--add-token", "no name"], folder: daemon.folder)
        #expect(name.code == 73 && name.text.contains("ASCII letters"))
    }

    @Test("the hash is SHA-256, so that other programs can make lines") func hashes() throws {
        // SHA-256 of "abc", from FIPS 180-4.
        let line = "reader ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n"
        try line.write(toFile: file, atomically: true, encoding: .utf8)
        let deadline = Deadline(Deadline.patience)
        while try status("/value?path=/counter.value", headers: [bearer("abc")]) != 200, !deadline.isOver {}
        #expect(try status("/value?path=/counter.value", headers: [bearer("abc")]) == 200)
    }
}
