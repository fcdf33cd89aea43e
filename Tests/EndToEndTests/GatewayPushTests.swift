import AttributeValues
import Foundation
import TestSupport
import Testing

/// Values that other programs push into the gateway.
@Suite("Gateway with pushes")
struct GatewayPushTests: GatewayTest {
    private let daemon: Daemon
    private let gateway: Program
    let port: UInt16
    private let token: String
    private let reader: String

    private static let scene = """
        nodes:
          - id: telegraf
            state: { points: { type: map, transient: true, entries: { expires: 90s, limit: 3 } } }
          - id: hooks
            state: { received: { type: map, entries: { limit: 50 } } }
            computed:
              lastPush: "has(received.github) ? received.github.head_commit.message : ''"

        """

    init() throws {
        daemon = try Daemon(
            scenes: [GatewayPushTests.scene],
            configuration: "access = write as:sender /**\naccess = read as:reader /**\n")
        let file = daemon.folder.file("tokens")
        func add(_ name: String) throws -> String {
            let made = try Program.run(
                "agd-gateway", ["--tokens", file, "--add-token", name], folder: try Folder())
            #expect(made.code == 0, "\(made.text)")
            return String(made.text.dropLast())
        }
        token = try add("sender")
        reader = try add("reader")
        (gateway, port) = try GatewayPushTests.start(
            daemon,
            ["--writable", "--tokens", file, "--points", "/telegraf.points", "--hooks", "/hooks.received"])
    }

    private func push(_ target: String, _ body: String, _ authorization: String?) throws -> [String] {
        let headers = authorization.map { ["Authorization: \($0)"] } ?? []
        return try lines(target, method: "POST", headers: headers, body: body)
    }

    private func status(_ lines: [String]) -> String {
        String(lines.first?.split(separator: " ").dropFirst().first ?? "")
    }

    @Test("a request of points is one transaction, for each form of the token that clients use") func points() throws {
        let basic = "Basic " + Base64.encode(Array("anybody:\(token)".utf8))
        for (number, form) in ["Bearer \(token)", "Token \(token)", basic].enumerated() {
            let told = try push(
                "/api/v2/write?org=a&bucket=b&precision=ns", "cpu,host=a idle=\(number).5,n=2i\nmem used=1", form)
            #expect(status(told) == "204", "\(told)")
            #expect(
                try daemon.client().get("/telegraf.points") == [
                    "cpu,host=a": ["idle": .double(Double(number) + 0.5), "n": 2], "mem": ["used": 1.0],
                ])
        }
        #expect(status(try push("/write?db=x", "mem free=2", "Bearer \(token)")) == "204")
        #expect(try daemon.client().get("/telegraf.points.mem") == ["used": 1.0, "free": 2.0])
    }

    @Test("what is wrong changes nothing, and says why") func refusals() throws {
        let bearer = "Bearer \(token)"
        #expect(status(try push("/write", "mem used=1", nil)) == "401")
        #expect(status(try push("/write", "mem used=1", "Bearer wrong")) == "401")
        #expect(status(try push("/write", "mem used=1", "Bearer \(reader)")) == "403")
        let fault = try push("/write", "good x=1\nbad", bearer)
        #expect(status(fault) == "400" && fault.last?.contains("line 2: ") == true, "\(fault)")
        #expect(status(try push("/write", "a x=1\nb x=1\nc x=1\nd x=1", bearer)) == "503")
        #expect(status(try push("/hook/x", "no JSON", bearer)) == "400")
        #expect(status(try push("/hook/", "{}", bearer)) == "400")
        #expect(status(try lines("/write", headers: ["Authorization: \(bearer)"])) == "405")
        // Only pushes take these forms: a browser adds them by itself.
        let basic = "Basic " + Base64.encode(Array("x:\(token)".utf8))
        #expect(status(try lines("/value?path=/hooks.received", headers: ["Authorization: \(basic)"])) == "401")
        #expect(try daemon.client().get("/telegraf.points") == [:])
        #expect(try daemon.client().get("/hooks.received") == [:])
    }

    @Test("the JSON of a hook replaces the entry of its name, and a rule takes out what it needs") func hooks() throws {
        let bearer = "Bearer \(token)"
        let body = #"{"ref": "main", "head_commit": {"message": "graph: mend"}}"#
        #expect(status(try push("/hook/github", body, bearer)) == "204")
        #expect(try daemon.client().get("/hooks.lastPush") == "graph: mend")
        #expect(status(try push("/hook/github", #"{"head_commit": {"message": "2"}}"#, bearer)) == "204")
        #expect(try daemon.client().get("/hooks.received.github") == ["head_commit": ["message": "2"]])
        #expect(status(try push("/hook/a%20%22b%22%5D.c", "[1]", bearer)) == "204")
        #expect(try daemon.client().get("/hooks.received")?["a \"b\"].c"] == [1])
    }

    @Test(
        "a packed body is unpacked",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "no curl"))
    func gzip() throws {
        let script = """
            printf 'mem used=7' | gzip | curl -sS -o /dev/null -w '%{http_code}' --data-binary @- \
            -H 'Content-Encoding: gzip' -H 'Authorization: Token \(token)' http://localhost:\(port)/api/v2/write
            """
        let told = try Program.run("/bin/sh", ["-c", script], folder: daemon.folder)
        #expect(told.text == "204", "\(told.text)")
        #expect(try daemon.client().get("/telegraf.points.mem.used") == 7.0)
    }

    @Test("an address of the network, and pushes, need tokens") func needsTokens() throws {
        func run(_ options: [String]) throws -> (code: Int32, text: String) {
            try Program.run("agd-gateway", ["--socket", daemon.socket] + options, folder: daemon.folder)
        }
        for options in [
            ["--listen", "tcp:127.0.0.1:0"], ["--points", "/telegraf.points", "--writable"],
            ["--listen", "tcp:nowhere:1", "--tokens", "x"], ["--points", "nonsense", "--writable", "--tokens", "x"],
        ] {
            let told = try run(options)
            #expect(told.code == 64, "\(options) \(told.text)")
        }
        let (ours, theirs) = try Descriptor.pair()
        let other = try Program(
            "agd-gateway",
            [
                "--socket", daemon.socket, "--listen", "tcp:127.0.0.2:0", "--host", "127.0.0.2", "--tokens",
                daemon.folder.file("tokens"),
            ], folder: daemon.folder, standardOutput: theirs)
        defer { other.signal(SIGTERM) }
        let line = try Client(socket: ours).line() ?? ""
        #expect(line.hasPrefix("http://127.0.0.2:"), "\(line)")
    }
}
