import AttributeValues
import Foundation
import TestSupport
import Testing

/// Alerts on the command line, and the receivers of their notices.
@Suite("Alerts")
struct AlertTests {
    private let folder: Folder
    private let daemon: Daemon

    private static let scene = """
        import: \(Project.file("Examples/alerts.yaml"))
        nodes:
          - id: freezer
            component: Maintained
            children:
              - { id: probe, state: { temperature: -18.0 } }
              - id: hot
                component: Alert
                let: { isOn: "=$/freezer/probe.temperature > -10.0", severity: critical, summary: "The freezer is warm: öffnen!" }

        """

    init() throws {
        folder = try Folder()
        daemon = try AlertTests.daemon(folder)
    }

    private static func daemon(_ folder: Folder) throws -> Daemon {
        try Daemon(scenes: [scene], configuration: "state-directory = \(folder.file("state"))\n", folder: folder)
    }

    private func warm(_ temperature: Double = 5, in daemon: Daemon? = nil) throws {
        try (daemon ?? self.daemon).client().call(
            "set", ["path": "/freezer/probe.temperature", "value": .double(temperature)])
    }

    private func alerts(_ arguments: String..., in daemon: Daemon? = nil) throws -> (code: Int32, text: String) {
        try (daemon ?? self.daemon).control(["alerts"] + arguments)
    }

    private func bridge(_ settings: String, in daemon: Daemon? = nil) throws -> Program {
        let file = try folder.write(settings, to: "bridge.conf")
        return try Program(
            "agd-bridge", ["--config", file, "--socket", (daemon ?? self.daemon).socket],
            environment: ["PATH": "\(folder.path):/usr/bin:/bin"], folder: folder)
    }

    /// Waits until a file has so many lines.
    private func lines(_ count: Int, of name: String, _ bridge: Program) throws -> [String] {
        let deadline = Deadline(Deadline.patience)
        while deadline.seconds > 0 {
            let text = (try? String(contentsOfFile: folder.file(name), encoding: .utf8)) ?? ""
            let lines = text.split(separator: "\n").map(String.init)
            if lines.count >= count { return lines }
            try #require(!bridge.isOver(within: 0.02), "\(bridge.text)")
        }
        throw Trouble("\(name) has not \(count) lines: \(bridge.text)")
    }

    @Test("agctl lists what is not quiet, says who has acknowledged it, and silences") func commands() throws {
        let quiet = try alerts()
        #expect(quiet.code == 0 && quiet.text.isEmpty)
        #expect(try alerts("--all").text.hasPrefix("/freezer/hot\tok\tcritical\t"))
        #expect(try alerts("--acknowledge").text.contains("nothing fires at or below /"))
        try warm()
        let firing = try alerts()
        #expect(firing.code == 1 && firing.text.hasPrefix("/freezer/hot\tfiring\tcritical\t"), "\(firing)")
        #expect(try alerts("/freezer/hot", "--acknowledge", "--comment", "the door is open").code == 0)
        let acknowledged = try alerts()
        #expect(acknowledged.code == 0 && acknowledged.text.contains("\tacknowledged\t"), "\(acknowledged)")
        #expect(acknowledged.text.hasSuffix("\(NSUserName()): the door is open\n"))
        #expect(try alerts("/freezer", "--silence", "2h").code == 0)
        #expect(try alerts().text.contains("\tsilenced\t"))
        #expect(try alerts("/freezer", "--unsilence").code == 0)
        let json = try JSONParser.parseOnce(try alerts("--json").text.utf8)
        #expect(json.list?.first?["path"] == "/freezer/hot" && json.list?.first?["phase"] == "acknowledged")
        let wrong = try alerts("/freezer", "--silence", "soon")
        #expect(wrong.code == 64 && wrong.text.contains("soon"), "\(wrong)")
        let none = try alerts("/freezer/probe")
        #expect(none.code == 66 && none.text.contains("there is no alert at or below /freezer/probe"), "\(none)")
    }

    @Test(
        "a notice is told until it has arrived, with one identifier, and so is the all-clear; each once, over restarts")
    func restarts() throws {
        // Fails twice, and keeps what it reads.
        let program = try Program.write(
            script: """
                cat >>"\(folder.file("tried"))"; echo >>"\(folder.file("tried"))"
                [ "$(grep -c . "\(folder.file("tried"))")" -gt 2 ] || exit 1
                tail -n 1 "\(folder.file("tried"))" >>"\(folder.file("told"))"

                """, to: "receive", in: folder)
        let settings = "alerts = /** to command \(program) x as pager\nmetrics = \(folder.file("bridge.prom"))\n"
        var bridge = try bridge(settings)
        try warm()
        let first = try lines(1, of: "told", bridge)
        let tried = try lines(3, of: "tried", bridge)
        #expect(Set(tried).count == 1, "the same notice, with the same identifier")
        let notice = try JSONParser.parseOnce(first[0].utf8)
        #expect(notice["status"] == "firing" && notice["path"] == "/freezer/hot" && notice["severity"] == "critical")
        #expect(notice["id"]?.string?.hasSuffix("/freezer/hot#1.firing.1") == true)
        #expect(bridge.text.contains("the program has ended with status 1"), "\(bridge.text)")
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/freezer/hot.sent"]])
        _ = try client.value(of: "/freezer/hot.sent") { $0["pager"]?["number"] == 1 }
        // It ends without a farewell.
        bridge.signal(SIGKILL)
        _ = try bridge.wait()
        bridge = try self.bridge(settings)
        #expect(try daemon.stop() == 0)
        let next = try AlertTests.daemon(folder)
        try warm(-20, in: next)
        let second = try lines(2, of: "told", bridge)
        let over = try JSONParser.parseOnce(second[1].utf8)
        #expect(over["status"] == "resolved" && over["alert"] == notice["alert"] && over["id"] != notice["id"])
        try warm(in: next)
        let third = try lines(3, of: "told", bridge)
        #expect(third.count == 3, "nothing was told twice")
        #expect(try JSONParser.parseOnce(third[2].utf8)["id"]?.string?.hasSuffix("#2.firing.1") == true)
        bridge.signal(SIGTERM)
        #expect(try bridge.wait() == 0, "\(bridge.text)")
    }

    @Test(
        "each kind of receiver gets the form that it knows",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "python3 is not installed"))
    func forms() throws {
        let port = try TCP.freePort()
        try folder.write(
            """
            import http.server
            class Receiver(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    body = self.rfile.read(int(self.headers['Content-Length']))
                    with open('\(folder.file("posts"))', 'ab') as file:
                        file.write(self.path.encode() + b' ' + self.headers['Content-Type'].encode() + b' ' + body + b'\\n')
                    self.send_response(200)
                    self.end_headers()
            http.server.HTTPServer(('127.0.0.1', \(port)), Receiver).serve_forever()

            """, to: "receiver.py")
        let server = try Program("/usr/bin/python3", [folder.file("receiver.py")], folder: folder)
        defer { server.signal(SIGTERM) }
        _ = try Program.write(
            script: "echo \"$*\" >\"\(folder.file("mail"))\"; cat >>\"\(folder.file("mail"))\"\n", to: "sendmail",
            in: folder)
        let address = "http://127.0.0.1:\(port)"
        let bridge = try bridge(
            """
            alerts = /freezer/** to webhook \(address)/hook
            alerts = /** to ntfy \(address)/my-topic
            alerts = /** to alertmanager \(address)
            alerts = /** to mail ops@example.net

            """)
        try warm()
        let posts = try lines(3, of: "posts", bridge).sorted()
        let forms = try posts.map { post in
            let words = post.split(separator: " ", maxSplits: 2).map(String.init)
            #expect(words[1] == "application/json")
            return (words[0], try JSONParser.parseOnce(words[2].utf8))
        }
        #expect(forms.map(\.0) == ["/", "/api/v2/alerts", "/hook"])
        #expect(forms[0].1["topic"] == "my-topic" && forms[0].1["priority"] == 5)
        #expect(forms[0].1["message"] == "The freezer is warm: öffnen!")
        let alert = try #require(forms[1].1.list?.first)
        #expect(alert["labels"]?["path"] == "/freezer/hot" && alert["startsAt"]?.string != nil)
        #expect(alert["endsAt"]?.string != nil)
        #expect(forms[2].1["summary"] == "The freezer is warm: öffnen!" && forms[2].1["count"] == 1)
        let mail = try lines(13, of: "mail", bridge)
        #expect(mail[0] == "-i -t" && mail[1] == "To: ops@example.net")
        #expect(mail[2].hasPrefix("Subject: =?UTF-8?B?") && mail[3].hasPrefix("Message-ID: <"))
        #expect(mail.contains("The freezer is warm: öffnen!"))
    }

    @Test(
        "Alertmanager is told what fires and that it is over",
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/prometheus-alertmanager"),
            "prometheus-alertmanager is not installed"))
    func alertmanager() throws {
        let settings = try folder.write(
            "{ route: { receiver: nobody }, receivers: [{ name: nobody }] }\n", to: "am.yml")
        let address = "127.0.0.1:\(try TCP.freePort())"
        let manager = try Program(
            "/usr/bin/prometheus-alertmanager",
            [
                "--config.file=\(settings)", "--storage.path=\(folder.file("am"))", "--cluster.listen-address=",
                "--web.listen-address=\(address)",
            ], folder: folder)
        defer { manager.signal(SIGTERM) }
        // It is asked before it listens: a notice that finds nobody is told again.
        let bridge = try bridge("alerts = /** to alertmanager http://\(address)\n")
        func active(_ isRight: (ValueList) -> Bool) throws -> ValueList {
            let deadline = Deadline(Deadline.patience)
            var told = ""
            while deadline.seconds > 0 {
                told = try Program.run(
                    "/usr/bin/curl", ["-s", "http://\(address)/api/v2/alerts?active=true"], folder: folder
                ).text
                if let alerts = try? JSONParser.parseOnce(told.utf8).list, isRight(alerts) { return alerts }
                try #require(!bridge.isOver(within: 0.05), "\(bridge.text)")
            }
            throw Trouble("\(told): \(bridge.text)")
        }
        try warm()
        let alert = try #require(active { !$0.isEmpty }.first)
        #expect(alert["labels"]?["path"] == "/freezer/hot" && alert["labels"]?["severity"] == "critical")
        #expect(alert["labels"]?["alertname"] == "The freezer is warm: öffnen!")
        try warm(-20)
        _ = try active(\.isEmpty)
    }
}
