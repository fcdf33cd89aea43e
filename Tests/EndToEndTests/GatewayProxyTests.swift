import AttributeValues
import Foundation
import TestSupport
import Testing

private func has(_ programs: String...) -> Bool {
    programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
}

/// The configurations of nginx and Caddy in Documentation/Dashboard.md, with the real programs.
@Suite(
    "Gateway behind TLS",
    .enabled(if: has("/usr/bin/curl", "/usr/bin/openssl"), "curl or openssl is not installed"))
struct GatewayProxyTests {
    private let daemon: Daemon
    private let folder: Folder
    private let certificate: String
    private let key: String
    private let port: UInt16

    init() throws {
        daemon = try Daemon(scenes: [Scenes.counter])
        folder = daemon.folder
        certificate = folder.file("board.pem")
        key = folder.file("board.key")
        port = try TCP.freePort()
        let made = try Program.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                "-subj", "/CN=board.example", "-addext", "subjectAltName=DNS:board.example", "-keyout", key, "-out",
                certificate,
            ], folder: folder)
        #expect(made.code == 0, "\(made.text)")
    }

    /// The block of the documentation that contains a text.
    private func block(with text: String) throws -> String {
        let blocks = try Project.text("Documentation/Dashboard.md").components(separatedBy: "\n```")
        let found = try #require(blocks.first { $0.contains(text) && $0.contains("{") })
        // The first line has the name of the language.
        return String(found.drop { $0 != "\n" })
    }

    /// Replaces a text that the documentation must contain.
    private func put(_ new: String, for old: String, in text: inout String) {
        #expect(text.contains(old), "\(old) is not in the documentation")
        text = text.replacingOccurrences(of: old, with: new)
    }

    /// Starts a gateway.
    /// - Returns: also its port, or the path of its socket.
    private func gateway(isUnix: Bool) throws -> (program: Program, address: String) {
        let (ours, theirs) = try Descriptor.pair()
        let place = isUnix ? ["--listen", "unix:" + folder.file("http.sock")] : ["--port", "0"]
        let program = try Program(
            "agd-gateway",
            ["--socket", daemon.socket, "--host", "board.example", "--pages", Project.file("dashboard")] + place,
            folder: folder, standardOutput: theirs)
        let line = try #require(try Client(socket: ours).line())
        return (program, String(line.split(separator: ":").last ?? ""))
    }

    private func curl(_ arguments: [String], _ target: String) -> [String] {
        ["-sS", "--cacert", certificate, "--resolve", "board.example:\(port):127.0.0.1"] + arguments + [
            "https://board.example:\(port)\(target)"
        ]
    }

    /// A stream of events, and the program that prints it.
    private func watch(_ arguments: [String]) throws -> (program: Program, lines: Client) {
        let (ours, theirs) = try Descriptor.pair()
        let program = try Program(
            "/usr/bin/curl", curl(["-N", "--compressed"] + arguments, "/watch?path=/counter.value"), folder: folder,
            standardOutput: theirs)
        return (program, Client(socket: ours))
    }

    private func line(of stream: Client, where isWanted: (String) -> Bool) throws -> String {
        while let line = try stream.line() {
            if isWanted(line) { return line }
        }
        throw Trouble("the stream ended")
    }

    /// A page, a stream over TLS with each event at once, and a stream that continues.
    private func check(_ proxy: Program) throws {
        // The proxy may not listen yet.
        let patient = ["--retry", "60", "--retry-connrefused", "--retry-delay", "1", "-o", "/dev/null"]
        let begin = try Program.run("/usr/bin/curl", curl(patient, "/healthz"), folder: folder)
        #expect(begin.code == 0, "\(begin.text) \(proxy.text)")
        let told = ["--compressed", "-o", "/dev/null", "-w", "%{http_code} %header{content-encoding}"]
        let page = try Program.run("/usr/bin/curl", curl(told, "/board.js"), folder: folder)
        #expect(page.text == "200 gzip", "\(page.text) \(proxy.text)")
        // The browser's origin is that of the proxy.
        let origin = "Origin: https://board.example:\(port)"
        let own = try Program.run("/usr/bin/curl", curl(["-H", origin], "/value?path=/counter.value"), folder: folder)
        #expect(own.text.contains("\"value\":0"), "\(own.text)")

        let first = try watch([])
        var position = ""
        for number in 1...5 {
            try daemon.client().set("/counter.value", .int(Int64(number)))
            _ = try line(of: first.lines) { $0.contains("\"value\":\(number)") }
            position = try String(line(of: first.lines) { $0.hasPrefix("id: ") }.dropFirst(4))
        }
        first.program.signal(SIGTERM)
        try first.program.wait()
        try daemon.client().set("/counter.value", 42)
        let second = try watch(["-H", "Last-Event-ID: \(position)"])
        _ = try line(of: second.lines) { $0 == "event: resumed" }
        let update = try line(of: second.lines) { $0.contains("changes") }
        #expect(update.contains("\"value\":42") && !update.contains("initial"), "\(update)")
    }

    @Test(
        "nginx carries pages and streams over TLS", .enabled(if: has("/usr/sbin/nginx"), "nginx is not installed"),
        arguments: [false, true])
    func nginx(isUnix: Bool) throws {
        let (gateway, address) = try gateway(isUnix: isUnix)
        var server = try block(with: "proxy_pass")
        put("listen 127.0.0.1:\(port) ssl", for: "listen 443 ssl", in: &server)
        put(certificate, for: "/etc/ssl/board.pem", in: &server)
        put(key, for: "/etc/ssl/board.key", in: &server)
        put(isUnix ? "unix:\(address):" : "127.0.0.1:\(address)", for: "127.0.0.1:7210", in: &server)
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder.file("nginx-" + $0));" }.joined(separator: "\n")
        let file = try folder.write(
            """
            daemon off; pid \(folder.file("nginx.pid")); error_log stderr; user \(NSUserName());
            events {}
            http { access_log off; \(temporary)
            \(server)
            }
            """, to: "nginx.conf")
        let proxy = try Program("/usr/sbin/nginx", ["-e", "stderr", "-c", file], folder: folder)
        try check(proxy)
        #expect(!gateway.isOver(within: 0))
        proxy.signal(SIGTERM)
        try proxy.wait()
    }

    @Test(
        "Caddy carries pages and streams over TLS", .enabled(if: has("/usr/bin/caddy"), "Caddy is not installed"),
        arguments: [false, true])
    func caddy(isUnix: Bool) throws {
        let (gateway, address) = try gateway(isUnix: isUnix)
        var site = try block(with: "reverse_proxy")
        put("https://board.example:\(port) {\ntls \(certificate) \(key)", for: "board.example {", in: &site)
        put(isUnix ? "unix/\(address)" : "127.0.0.1:\(address)", for: "127.0.0.1:7210", in: &site)
        let file = try folder.write("{\nadmin off\nauto_https disable_redirects\n}\n\(site)", to: "Caddyfile")
        let proxy = try Program(
            "/usr/bin/caddy", ["run", "--adapter", "caddyfile", "--config", file],
            environment: ["HOME": folder.path, "XDG_DATA_HOME": folder.path, "XDG_CONFIG_HOME": folder.path],
            folder: folder)
        try check(proxy)
        #expect(!gateway.isOver(within: 0))
        proxy.signal(SIGTERM)
        try proxy.wait()
    }
}
