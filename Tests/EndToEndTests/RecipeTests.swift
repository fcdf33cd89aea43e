import AttributeValues
import Foundation
import TestSupport
import Testing

/// The recipes, with the programs that they are for. A recipe whose program is not installed is skipped.
@Suite("Recipes")
struct RecipeTests {
    private let folder: Folder
    private let daemon: Daemon

    init() throws {
        folder = try Folder()
        daemon = try Daemon(scenes: [Scenes.player], folder: folder)
    }

    private static func has(_ programs: String...) -> Bool {
        programs.allSatisfy { name in
            ["/usr/bin/", "/usr/sbin/", "/bin/"].contains { FileManager.default.isExecutableFile(atPath: $0 + name) }
        }
    }

    private func variables(_ more: [String: String] = [:]) -> [String: String] {
        [
            "AGD_SOCKET": daemon.socket,
            "PATH": Program.folder + ":/usr/sbin:" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"),
        ].merging(more) { $1 }
    }

    private func shell(_ line: String, _ more: [String: String] = [:]) throws -> (code: Int32, text: String) {
        try Program.run("/bin/bash", ["-c", line], environment: variables(more), folder: folder)
    }

    /// Commands of the page below a title.
    private func commands(below title: String) throws -> [String] {
        let page = try Project.text("Documentation/Recipes.md")
        let section = try #require(page.components(separatedBy: "\n## \(title)\n").dropFirst().first)
        let own = section.components(separatedBy: "\n## ")[0]
        return own.components(separatedBy: "```sh\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    @Test("jq", .enabled(if: has("jq"), "jq is not installed")) func jq() throws {
        let lines = try commands(below: "jq")
        #expect(try shell(lines[0]).text == "/player.volume\n")
        let halved = try shell(lines[1])
        #expect(halved.code == 0, "\(halved.text)")
        #expect(try daemon.client().get("/player.volume") == 0.25)
    }

    @Test("tmux takes its settings, and the status line's command prints a value", .enabled(if: has("tmux"), "no tmux"))
    func tmux() throws {
        let scene = try folder.write("nodes: [{ id: host, state: { status: ok } }]\n", to: "host.yaml")
        #expect(try daemon.control(["apply", "-f", scene]).code == 0)
        let file = Project.file("Examples/recipes/tmux.conf")
        let told = try shell(
            "tmux -S $PWD/tmux-socket -f \(file) start-server ';' source-file \(file) ';' show-options -gv status-right",
            ["TMUX_TMPDIR": folder.path, "TERM": "xterm"])
        let command = try #require(told.text.firstMatch(of: /#\((.*)\)/)).1
        #expect(try shell(String(command)).text == "ok\n", "\(told.text)")
    }

    @Test("waybar gets an object for each change", .enabled(if: has("jq"), "jq is not installed")) func waybar() throws
    {
        let (ours, theirs) = try Descriptor.pair()
        let script = try Program(
            "/bin/bash", [Project.file("Examples/recipes/waybar.sh"), "/player.volume"], environment: variables(),
            folder: folder, standardOutput: theirs)
        let output = Client(socket: ours)
        #expect(try output.line() == #"{"text":"0.5","tooltip":"/player.volume","class":"0.5"}"#)
        try daemon.client().set("/player.volume", 0.75)
        #expect(try output.line() == #"{"text":"0.75","tooltip":"/player.volume","class":"0.75"}"#)
        script.signalGroup(SIGTERM)
    }

    @Test("waybar gets errors, and texts that are no markup", .enabled(if: has("jq"), "jq is not installed"))
    func waybarTexts() throws {
        let scene = try folder.write(
            "nodes: [{ id: s, state: { x: { initial: 0, type: int }, t: <b>& }, computed: { y: '1 / x' } }]\n",
            to: "s.yaml")
        #expect(try daemon.control(["apply", "-f", scene]).code == 0)
        for (path, line) in [
            ("/s.y", #"{"text":"error","tooltip":"division by zero","class":"error"}"#),
            ("/s.t", #"{"text":"&lt;b&gt;&amp;","tooltip":"/s.t","class":"<b>&"}"#),
        ] {
            let (ours, theirs) = try Descriptor.pair()
            let script = try Program(
                "/bin/bash", [Project.file("Examples/recipes/waybar.sh"), path], environment: variables(),
                folder: folder, standardOutput: theirs)
            #expect(try Client(socket: ours).line() == line)
            script.signalGroup(SIGTERM)
        }
    }

    @Test(
        "Prometheus accepts the settings and the alerts", .enabled(if: has("promtool"), "prometheus is not installed"))
    func prometheus() throws {
        let told = try shell("promtool check config \(Project.file("Examples/recipes/prometheus.yml"))")
        #expect(told.code == 0 && told.text.contains("3 rules found"), "\(told.text)")
        // The alerts name counters that there are.
        let metrics = try metrics()
        for match in try Project.text("Examples/recipes/prometheus-alerts.yml").matches(of: /agd_[a-z0-9_]+/) {
            #expect(metrics.contains("\n\(match.output)"), "\(match.output)")
        }
    }

    @Test(
        "node-exporter's text collector gets all types, and never a part of the file",
        .enabled(if: has("promtool"), "prometheus is not installed"))
    func textCollector() throws {
        let file = folder.file("agd.prom")
        try folder.write("old", to: "agd.prom")
        let reader = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
        let line = try #require(try commands(below: "Prometheus and Grafana").first { $0.contains("agctl stats") })
        let ran = try shell(line.replacing("/var/lib/prometheus/node-exporter", with: folder.path))
        #expect(ran.code == 0, "\(ran.text)")
        #expect(try reader.readToEnd() == Data("old".utf8))
        let told = try shell("promtool check metrics <\(file)")
        #expect(told.code == 0, "\(told.text)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        // Each figure has a type under its own name, which the older format needs.
        let typed = Set(text.matches(of: /(?m)^# TYPE (\S+)/).map { String($0.1) })
        for name in text.matches(of: /(?m)^(agd_\w+)/).map({ String($0.1) }) {
            let base = name.replacing(/_(bucket|sum|count)$/, with: "")
            #expect(typed.contains(name) || typed.contains(base), "\(name)")
        }
        #expect(text.contains("# TYPE agd_requests_total counter\n") && !text.contains("# EOF"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.hasSuffix(".new") })
        let failed = try shell("agctl stats --prometheus --output /nowhere/agd.prom")
        #expect(failed.code == 74 && failed.text.contains("/nowhere/agd.prom: No such file"), "\(failed.text)")
        #expect(try shell("agctl stats --output \(file)").code == 64)
    }

    /// The metrics of a gateway, with an attribute.
    private func metrics() throws -> String {
        let (ours, theirs) = try Descriptor.pair()
        let gateway = try Program(
            "agd-gateway", ["--socket", daemon.socket, "--port", "0"], folder: folder, standardOutput: theirs)
        let line = try Client(socket: ours).line() ?? ""
        let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
        let connection = Client(socket: try TCP.connect(port: port))
        // The client ends what it sends with a line feed.
        try connection.send(
            "GET /metrics?path=/player.volume HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r")
        var text = ""
        while let line = try connection.line() { text += line + "\n" }
        gateway.signal(SIGTERM)
        return text
    }

    @Test(
        "Grafana's board has queries that Prometheus reads, over metrics that there are", .enabled(if: has("promtool")))
    func grafana() throws {
        let board = try JSONParser.parseOnce(try Project.text("Examples/recipes/grafana.json").utf8)
        let panels = try #require(board["panels"]?.list)
        let queries = panels.flatMap { $0["targets"]?.list ?? [] }.compactMap { $0["expr"]?.string }
        #expect(queries.count >= panels.count && panels.count >= 10)
        let metrics = try metrics()
        for query in queries {
            for name in query.matches(of: /agd_[a-z0-9_]+/) {
                #expect(metrics.contains("\n\(name.output)"), "\(name.output)")
            }
        }
        // Grafana puts values in place of its variables.
        let rules = queries.enumerated().map { number, query in
            let text = query.replacing("$__rate_interval", with: "5m").replacing("$instance", with: ".*")
            return "  - { record: query\(number), expr: '\(text)' }\n"
        }
        let file = try folder.write("groups:\n- name: board\n  rules:\n" + rules.joined(), to: "rules.yml")
        let told = try shell("promtool check rules \(file)")
        #expect(told.code == 0 && told.text.contains("\(queries.count) rules found"), "\(told.text)")
    }

    @Test("eww gets an object with the newest values for each change", .enabled(if: has("jq"), "jq is not installed"))
    func eww() throws {
        let scene = try folder.write(
            "nodes: [{ id: host, state: { status: ok }, children: [{ id: cpu, state: { percent: 5 } }] }]\n",
            to: "host.yaml")
        #expect(try daemon.control(["apply", "-f", scene]).code == 0)
        let bar = try Project.text("Examples/recipes/eww.yuck")
        let command = try #require(bar.firstMatch(of: /\n  `([^`]*)`\)/)).1
        let (ours, theirs) = try Descriptor.pair()
        let script = try Program(
            "/bin/sh", ["-c", String(command)], environment: variables(), folder: folder, standardOutput: theirs)
        let output = Client(socket: ours)
        while let line = try output.line(), line != #"{"/host.status":"ok","/host/cpu.percent":5}"# {}
        try daemon.client().set("/host/cpu.percent", 7)
        #expect(try output.line() == #"{"/host.status":"ok","/host/cpu.percent":7}"#)
        script.signalGroup(SIGTERM)
        // Each value that the bar shows is one that the command watches.
        for path in bar.matches(of: /host\["([^"]*)"\]/) {
            #expect(path.1 == "/host.status" || path.1.hasPrefix("/host/") && path.1.hasSuffix(".percent"))
        }
        #expect(bar.count { $0 == "(" } == bar.count { $0 == ")" })
    }

    @Test("systemd accepts the timer and its service", .enabled(if: has("systemd-analyze"), "no systemd")) func timer()
        throws
    {
        let told = try shell(
            "systemd-analyze verify --man=no \(Project.file("Examples/recipes/agd-export.timer")) \(Project.file("Examples/recipes/agd-export.service"))"
        )
        #expect(!told.text.contains("agd-export"), "\(told.text)")
        let run = try shell(
            "eval \"$(sed -n \"s/^ExecStart=.bin.sh -c '\\(.*\\)'$/\\1/p\" \(Project.file("Examples/recipes/agd-export.service")))\"",
            ["STATE_DIRECTORY": folder.path])
        #expect(run.code == 0, "\(run.text)")
        #expect(try String(contentsOfFile: folder.file("tree.yaml"), encoding: .utf8).contains("id: player"))
    }
}
