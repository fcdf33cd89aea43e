import AttributeValues
import Foundation
import TestSupport
import Testing

/// The graph over HTTP.
@Suite("Gateway")
struct GatewayTests: GatewayTest {
    private let daemon: Daemon
    private let gateway: Program
    let port: UInt16

    init() throws {
        daemon = try Daemon(scenes: [Scenes.counter])
        (gateway, port) = try GatewayTests.start(daemon, ["--allow-origin", "https://a.example"])
    }

    @Test("a folder of pages that is not there is refused") func noPages() throws {
        let told = try Program.run("agd-gateway", ["--pages", "/nowhere"], folder: daemon.folder)
        #expect(told.code == 64 && told.text.contains("--pages: there is no folder /nowhere"), "\(told.text)")
    }

    @Test(
        "an origin and a host in a form that no browser sends are refused at the start",
        arguments: [
            ["--allow-origin", "board.example"], ["--allow-origin", "https://board.example/"],
            ["--host", "https://board.example"], ["--host", "board.example:443"],
        ])
    func uselessNames(_ options: [String]) throws {
        let told = try Program.run("agd-gateway", ["--port", "0"] + options, folder: daemon.folder)
        #expect(told.code == 64 && told.text.contains("board.example, not '\(options[1])'"), "\(told.text)")
    }

    private func rpc(_ body: String) throws -> Value {
        let answer = try lines("/rpc", method: "POST", headers: ["Content-Type: application/json"], body: body)
        return try JSONParser.parseOnce((answer.last ?? "").utf8)
    }

    /// Status and body of an answer that ends.
    private func answer(_ target: String, method: String = "GET", host: String? = nil) throws -> (
        status: Int, body: String
    ) {
        let lines = try lines(target, method: method, host: host)
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

    @Test("metrics are counters of daemon and gateway, with attributes as gauges, in the format that is accepted")
    func metrics() throws {
        _ = try rpc(#"{"id":1,"method":"ping"}"#)
        let classic = try lines("/metrics?path=/counter.*")
        #expect(classic.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"))
        #expect(classic.contains("# TYPE agd_requests_total counter") && !classic.contains("# EOF"))
        #expect(classic.contains(#"agd_gateway_calls_total{method="ping"} 1"#))
        #expect(classic.contains(#"agd_gateway_answer_seconds_count{path="/rpc"} 1"#))
        #expect(classic.contains(#"agd_attribute{path="/counter.twice"} 0"#))
        #expect(!classic.contains { $0.hasPrefix(#"agd_attribute{path="/counter.text"#) })
        let open = try lines("/metrics", headers: ["Accept: application/openmetrics-text; version=1.0.0"])
        #expect(open.last == "# EOF" && open.contains("# TYPE agd_requests counter"))
        // A scrape does not fail because one attribute is missing.
        let missing = try answer("/metrics?path=/no.thing&path=/counter.value")
        #expect(missing.status == 200 && missing.body.contains("agd_attribute{path=\"/counter.value\"} 0"))
        #expect(try answer("/metrics?pat=/counter.*").status == 400)
    }

    @Test(
        "promtool accepts the metrics", .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool")))
    func promtool() throws {
        let body = try answer("/metrics?path=/counter.*").body
        let file = try daemon.folder.write(body + "\n", to: "metrics")
        let checked = try Program.run(
            "/bin/sh", ["-c", "exec /usr/bin/promtool check metrics <\"$0\"", file], folder: daemon.folder)
        #expect(checked.code == 0, "\(checked.text)")
    }

    @Test(
        "Prometheus scrapes attributes as numbers and texts",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/prometheus"), "prometheus is not installed")
    )
    func prometheus() throws {
        let folder = daemon.folder
        let settings = try folder.write(
            """
            global: { scrape_interval: 200ms, scrape_timeout: 200ms }
            scrape_configs:
              - job_name: agd
                params: { path: [/counter.value] }
                static_configs: [{ targets: ['localhost:\(port)'] }]

            """, to: "prometheus.yml")
        let its = try TCP.freePort()
        let server = try Program(
            "/usr/bin/prometheus",
            [
                "--config.file=\(settings)", "--storage.tsdb.path=\(folder.file("prometheus"))",
                "--web.listen-address=127.0.0.1:\(its)",
            ], folder: folder)
        defer { server.signal(SIGTERM) }
        try daemon.client().set("/counter.value", 7)
        let deadline = Deadline(Deadline.patience)
        var told = ""
        while deadline.seconds > 0, !told.contains("\"7\"") {
            try #require(!server.isOver(within: 0.05), "\(server.text)")
            told = try Program.run(
                "/usr/bin/curl", ["-sS", "http://127.0.0.1:\(its)/api/v1/query?query=agd_attribute"], folder: folder
            ).text
        }
        let metric = try JSONParser.parseOnce(told.utf8)["data"]?["result"]?.list?.first
        #expect(metric?["metric"]?["path"] == "/counter.value" && metric?["value"]?.list?.last == "7", "\(told)")
    }

    @Test("any reading method is answered as the daemon answers it, alone and in a batch")
    func methods() throws {
        let single = try rpc(#"{"jsonrpc":"2.0","id":"a","method":"get","params":{"path":"/counter.twice"}}"#)
        #expect(single["id"] == "a" && single["result"]?["value"] == 0)
        let batch = try rpc(
            #"[{"id":1,"method":"ping"},{"id":2,"method":"get","params":{"path":"/no.thing"}},{"id":3,"method":"subscribe"}]"#
        )
        #expect(batch.list?[0]["result"]?["pong"] == true)
        #expect(batch.list?[1]["error"]?["data"]?["code"] == "notFound")
        #expect(batch.list?[2]["error"]?["code"] == -32601)
        #expect(try rpc("{")["error"]?["code"] == -32700)
    }

    @Test("it changes nothing unless it was started with --writable")
    func readOnly() throws {
        let refused = try rpc(#"{"id":1,"method":"set","params":{"path":"/counter.value","value":5}}"#)
        #expect(refused["error"]?["data"]?["code"] == "denied")
        #expect(try daemon.client().get("/counter.value") == 0)
    }

    @Test("one stream carries several subscriptions, each with its number")
    func manyWatches() throws {
        let body = #"{"subscriptions":[{"paths":["/counter.value"]},{"paths":["/counter.twice"]}]}"#
        let stream = try ask("/watch", method: "POST", headers: ["Content-Type: application/json"], body: body)
        var seen: [Value: Value] = [:]
        while seen.count < 2, let line = try stream.line() {
            guard line.hasPrefix("data: "),
                let data = try? JSONParser.parseOnce(line.dropFirst(6).filter({ $0 != "\r" }).utf8),
                let number = data["subscription"], data["initial"] == true
            else { continue }
            seen[number] = data["changes"]?.list?.first?["path"]
        }
        #expect(seen == [0: "/counter.value", 1: "/counter.twice"])
    }

    @Test("a subscription that is refused does not cost a page the others")
    func oneRefused() throws {
        let body = #"{"subscriptions":[{"paths":["/nowhere.x"]},{"paths":["/counter.value"]}]}"#
        let stream = try ask("/watch", method: "POST", headers: ["Content-Type: application/json"], body: body)
        var events: [String: Value] = [:]
        var event = ""
        while events["bookmark"] == nil, let line = try stream.line() {
            if line.hasPrefix("event: ") { event = line.dropFirst(7).filter { $0 != "\r" } }
            guard line.hasPrefix("data: ") else { continue }
            events[event] = try JSONParser.parseOnce(line.dropFirst(6).filter { $0 != "\r" }.utf8)
        }
        #expect(events["refused"]?["subscription"] == 0 && events["refused"]?["error"]?["code"] == "notFound")
        #expect(events["update"]?["subscription"] == 1)
        try daemon.client().set("/counter.value", 21)
        while let line = try stream.line(), !line.contains("\"value\":21") {}
    }

    @Test("nodes whose ids look the same and have other bytes are two in a stream") func canonicalIDs() throws {
        let ids = ["K\u{FC}che", "Ku\u{308}che"]
        let nodes = ids.map { id -> Value in ["id": .string(id), "state": ["x": 1]] }
        try daemon.client().call("apply", ["document": ["nodes": .list(ValueList(nodes))]])
        // The second page gets the snapshot that the gateway has.
        for _ in 0..<2 {
            let stream = try ask("/watch?path=/*.x")
            var seen: Set<Name> = []
            while seen.isEmpty, let line = try stream.line() {
                guard line.hasPrefix("data: "), line.contains("initial"),
                    let data = try? JSONParser.parseOnce(line.dropFirst(6).filter({ $0 != "\r" }).utf8)
                else { continue }
                seen = Set(texts: (data["changes"]?.list ?? []).compactMap { $0["path"]?.string })
            }
            #expect(seen == Set(texts: ids.map { "/\($0).x" }))
        }
    }

    @Test("pages that watch the same share one subscription of the daemon")
    func sharedWatches() throws {
        let pages = try (0..<20).map { _ in try ask("/watch?path=/counter.*") }
        for page in pages {
            while let line = try page.line(), !line.contains("initial") {}
        }
        #expect(try daemon.client().call("stats")["subscriptions"] == 1)
    }

    @Test("pages that close at once are forgotten while another watches the same")
    func closedPages() throws {
        let first = try ask("/watch?path=/counter.*")
        while let line = try first.line(), !line.contains("initial") {}
        for _ in 0..<100 { _ = try ask("/watch?path=/counter.*") }
        let deadline = Deadline(Deadline.patience)
        var text = ""
        repeat { text = try answer("/metrics").body } while !text.contains("agd_gateway_pages 1\n") && !deadline.isOver
        #expect(text.contains("agd_gateway_pages 1\n"))
        try daemon.client().set("/counter.value", 3)
        while let line = try first.line(), !line.contains("\"value\":3") {}
    }

    @Test("a client that asks whether it may send a body is answered; two headers Host are refused")
    func heads() throws {
        let connection = Client(socket: try TCP.connect(port: port))
        let head = "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        try connection.send(head + "Expect: 100-continue\r\nContent-Length: 17\r\n\r")
        #expect(try connection.line() == "HTTP/1.1 100 Continue\r")
        #expect(try connection.line() == "\r")
        try connection.send(#"{"method":"ping"}"#)
        #expect(try connection.line() == "HTTP/1.1 200 OK\r")
        #expect(try lines("/healthz", headers: ["Host: localhost"]).first == "HTTP/1.1 400 Bad Request")
    }

    @Test("the pages are served with a policy and a tag, and not sent again to who has them")
    func pages() throws {
        let head = try lines("/")
        #expect(head.first == "HTTP/1.1 200 OK")
        #expect(head.contains(where: { $0.hasPrefix("Content-Security-Policy: default-src 'none'") }))
        let tag = try #require(head.first(where: { $0.hasPrefix("ETag: ") })?.dropFirst(6))
        #expect(try lines("/", headers: ["If-None-Match: \(tag)"]).first == "HTTP/1.1 304 Not Modified")
        #expect(try lines("/board.js", method: "HEAD").last == "")
        // The page inspect.html.
        #expect(try lines("/inspect").contains(where: { $0.hasPrefix("Content-Security-Policy: ") }))
        #expect(try lines("/../Package.swift").first == "HTTP/1.1 404 Not Found")
    }

    @Test("a value has a tag, and is not sent again while it is the same")
    func tags() throws {
        let target = "/value?path=/counter.value"
        let tag = try #require(try lines(target).first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
        let same = try lines(target, headers: ["If-None-Match: \"other\", \(tag)"])
        #expect(same.first == "HTTP/1.1 304 Not Modified" && same.last == "")
        let head = try lines(target, method: "HEAD")
        #expect(head.contains("ETag: \(tag)") && head.contains { $0.hasPrefix("Content-Length: ") } && head.last == "")
        try daemon.client().set("/counter.value", 5)
        #expect(try lines(target, headers: ["If-None-Match: \(tag)"]).first == "HTTP/1.1 200 OK")
    }

    /// What curl prints for an address of the gateway, and what it says about the answer.
    private func curl(_ arguments: [String], _ target: String) throws -> (code: Int32, text: String) {
        try Program.run(
            "/usr/bin/curl", ["-sS", "--max-time", "30"] + arguments + ["http://localhost:\(port)\(target)"],
            folder: daemon.folder)
    }

    private static let hasCurl = FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")

    @Test("answers are compressed for those who accept it", .enabled(if: hasCurl, "curl is not installed"))
    func compression() throws {
        for target in ["/board.js", "/metrics"] {
            let told = ["-o", "/dev/null", "-w", "%{size_download} %header{content-encoding} %header{vary}"]
            let plain = try curl(told, target).text.split(separator: " ", omittingEmptySubsequences: false)
            let packed = try curl(told + ["--compressed"], target).text.split(separator: " ")
            #expect(plain[1] == "" && plain[2] == "Accept-Encoding")
            #expect(packed[1] == "gzip" && packed[2] == "Accept-Encoding")
            #expect(try #require(Int(packed[0])) * 2 < (try #require(Int(plain[0]))), "\(plain) \(packed)")
        }
        let text = try curl(["--compressed"], "/board.js").text
        #expect(text == (try Project.text("dashboard/board.js")))
        #expect(
            try curl(["-I", "-H", "Accept-Encoding: gzip;q=0, *"], "/board.js").text.contains("ontent-Encoding")
                == false)
        // A short answer is sent as it is.
        #expect(try curl(["-i", "--compressed"], "/healthz").text.contains("ontent-Encoding") == false)
    }

    @Test("a compressed stream has each event at once", .enabled(if: hasCurl, "curl is not installed"))
    func compressedStream() throws {
        let (ours, theirs) = try Descriptor.pair()
        let program = try Program(
            "/usr/bin/curl", ["-sSN", "--compressed", "http://localhost:\(port)/watch?path=/counter.*"],
            folder: daemon.folder, standardOutput: theirs)
        let stream = Client(socket: ours)
        for number in 1...20 {
            try daemon.client().set("/counter.value", .int(Int64(number)))
            // The stream of zlib would keep so little for itself.
            while let line = try stream.line(), !line.contains(#""/counter.value","value":\#(number)"#) {}
        }
        program.signal(SIGTERM)
        let plain = try ask("/watch?path=/counter.*", headers: ["Accept-Encoding: gzip"])
        #expect(try plain.line() == "HTTP/1.1 200 OK\r")
        var head: [String] = []
        while let line = try plain.line(), line != "\r" { head.append(line) }
        #expect(head.contains("Content-Encoding: gzip\r"))
    }

    @Test("it listens on a Unix socket for its owner and group, and takes over a socket that was left behind")
    func unixSocket() throws {
        let path = daemon.folder.file("http.sock")
        let arguments = ["--socket", daemon.socket, "--listen", "unix:\(path)"]
        func start() throws -> Program {
            let (ours, theirs) = try Descriptor.pair()
            let program = try Program("agd-gateway", arguments, folder: daemon.folder, standardOutput: theirs)
            #expect(try Client(socket: ours).line() == "unix:\(path)")
            return program
        }
        let first = try start()
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o660)
        let connection = try Client(path)
        try connection.send("GET /value?path=/counter.value HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r")
        #expect(try connection.line() == "HTTP/1.1 200 OK\r")
        let taken = try Program.run("agd-gateway", arguments, folder: daemon.folder)
        #expect(taken.code == 69 && taken.text == "agd-gateway: \(path) is taken by another program\n")
        first.signal(SIGKILL)
        try first.wait()
        _ = try start()
        let file = try daemon.folder.write("", to: "file")
        let refused = try Program.run(
            "agd-gateway", ["--socket", daemon.socket, "--listen", "unix:\(file)"], folder: daemon.folder)
        #expect(refused.code == 71 && refused.text == "agd-gateway: \(file): File exists\n")
        #expect(try Program.run("agd-gateway", ["--listen", "tcp:1"], folder: daemon.folder).code == 64)
    }

    @Test("pages of another origin may ask only where they are allowed")
    func origins() throws {
        #expect(
            try lines("/value?path=/counter.value", headers: ["Origin: https://evil.example"]).first
                == "HTTP/1.1 403 Forbidden")
        let allowed = try lines("/value?path=/counter.value", headers: ["Origin: https://a.example"])
        #expect(allowed.contains("Access-Control-Allow-Origin: https://a.example"))
        let preflight = try lines("/rpc", method: "OPTIONS", headers: ["Origin: https://a.example"])
        #expect(preflight.first == "HTTP/1.1 204 No Content")
        #expect(
            try lines("/rpc", method: "POST", headers: ["Content-Type: text/plain"], body: "{}").first?.contains("415")
                == true)
    }

    @Test("it only reads, and only for those who call this machine by its name")
    func guarded() throws {
        for (path, method, allowed) in [
            ("/rpc", "GET", "POST"), ("/rpc", "PUT", "POST"), ("/watch?path=/counter.value", "PUT", "GET, POST"),
            ("/value?path=/counter.value", "POST", "GET, HEAD"), ("/metrics", "POST", "GET, HEAD"),
            ("/healthz", "POST", "GET, HEAD"), ("/", "POST", "GET, HEAD"),
        ] {
            let told = try lines(path, method: method)
            #expect(told[0].contains(" 405 ") && told.contains("Allow: \(allowed)"), "\(method) \(path): \(told)")
            let words = allowed.replacing(", ", with: " and ")
            #expect(told.last?.contains("takes \(words), not \(method)") == true, "\(told)")
        }
        #expect(try answer("/nowhere", method: "POST").status == 404)
        #expect(try answer("/value?path=/counter.value", host: "evil.example").status == 421)
        #expect(try answer("/value?path=/counter.value", host: "LocalHost:\(port)").status == 200)
    }

    @Test("a watch is a stream of events: the snapshot, then every change")
    func watch() throws {
        let stream = try ask("/watch?path=/counter.*")
        func data() throws -> Value {
            while let line = try stream.line() {
                if line.hasPrefix("data: "), line.contains("changes") {
                    return try JSONParser.parseOnce(line.dropFirst(6).filter { $0 != "\r" }.utf8)
                }
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

    @Test(
        "options that cannot be read are refused with what is allowed",
        arguments: [
            ("/watch?path=/counter.*&maxRate=abc", "number above 0"),
            ("/watch?path=/counter.*&maxRate=inf", "number above 0"),
            ("/watch?path=/counter.*&maxRate=0", "number above 0"), ("/watch?path=/counter.*&css=yes", "true or false"),
            ("/value?path=/counter.value&typed=1", "true or false"),
            ("/value?path=/counter.value&presentation=", "true or false"),
        ])
    func unreadableOptions(_ target: String, _ allowed: String) throws {
        let answer = try answer(target)
        #expect(answer.status == 400)
        #expect(
            try JSONParser.parseOnce(answer.body.utf8)["error"]?["message"]?.string?.contains(allowed) == true,
            "\(answer.body)")
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
