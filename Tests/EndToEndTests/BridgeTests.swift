import AttributeValues
import Foundation
import TestSupport
import Testing

private func has(_ programs: String...) -> Bool {
    programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
}

/// agd-bridge with the programs whose values it brings.
@Suite("Bridge")
struct BridgeTests {
    private let folder: Folder
    private let daemon: Daemon

    private static let home = """
        nodes:
          - id: home
            state: { isOn: false, level: 0.5 }
            actions:
              toggle: { toggle: $isOn }
            children:
              - id: 'living room #1+50%'
                state: { name: Lamp }

        """

    init() throws {
        folder = try Folder()
        daemon = try Daemon(scenes: [BridgeTests.home], folder: folder)
    }

    private func bridge(_ settings: String, _ name: String = "bridge.conf") throws -> Program {
        let file = try folder.write(settings, to: name)
        return try Program("agd-bridge", ["--config", file, "--socket", daemon.socket], folder: folder)
    }

    /// Waits until an attribute has a value.
    @discardableResult
    private func until(
        _ path: String, _ bridge: Program, in daemon: Daemon? = nil, _ isRight: (Value) -> Bool
    ) throws -> Value {
        let client = try (daemon ?? self.daemon).client()
        let deadline = Deadline(Deadline.patience)
        var last: Value = .null
        while deadline.seconds > 0 {
            last = try client.reply("get", ["path": .string(path)])
            if let value = last["result"]?["value"], isRight(value) { return value }
            try #require(!bridge.isOver(within: 0.02), "\(bridge.text)")
        }
        throw Trouble("\(path) is \(last): \(bridge.text)")
    }

    private func value(_ path: String) throws -> Value { try daemon.client().get(path) ?? .null }

    @Test("a program's JSON, text and lines are values, and what it does wrong is an error") func run() throws {
        let json = try Program.write(script: "echo '{\"a\": {\"b\": 5}}'\n", to: "json", in: folder)
        let lines = try Program.write(script: "printf 'one\\n; rm -rf x\\n'\n", to: "lines", in: folder)
        let failing = try Program.write(script: "exit 3\n", to: "failing", in: folder)
        let bridge = try bridge(
            """
            run = \(json) every 100ms to /json.now with =body.a.b + 1
            run = \(lines) every 100ms to /lines.now
            run = /bin/echo "a  b" $HOME `id` ; every 100ms to /words.now
            run = \(failing) every 100ms to /failing.now
            run = /bin/sleep 60 every 100ms to /slow.now
            run = /missing/program every 100ms to /missing.now
            run = \(json) every 100ms to /fault.now with =body.nothing
            answer-time = 200ms

            """)
        try until("/json.now", bridge) { $0 == 6 }
        try until("/lines.now", bridge) { $0 == ["one", "; rm -rf x"] }
        try until("/words.now", bridge) { $0 == "a  b $HOME `id` ;" }
        #expect(try value("/json.isLive") == true && value("/json.error") == .null)
        #expect(try value("/json.seen") != .null)
        try until("/failing.error", bridge) { $0 == "the program has ended with status 3" }
        try until("/slow.error", bridge) { $0.string?.contains("answer-time") == true }
        try until("/missing.error", bridge) { $0 == "cannot run /missing/program: No such file or directory" }
        try until("/fault.error", bridge) { $0.string?.contains("the rule fails: ") == true }
        #expect(try value("/failing.isLive") == false)
        bridge.signal(SIGTERM)
        #expect(try bridge.wait() == 0, "\(bridge.text)")
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/json.isLive"]])
        #expect(try client.value(of: "/json.isLive") { $0 == false } == false)
    }

    @Test("a program that goes on gives a value with each line, and is started again when it ends") func goesOn() throws
    {
        let program = try Program.write(script: "echo 1; echo '{\"n\": 2}'; exec sleep 60\n", to: "goes-on", in: folder)
        let ending = try Program.write(script: "echo $$\n", to: "ending", in: folder)
        let bridge = try bridge("run = \(program) to /on.last\nrun = \(ending) to /again.last\n")
        try until("/on.last", bridge) { $0 == ["n": 2] }
        let first = try until("/again.last", bridge) { $0 != .null }
        try until("/again.last", bridge) { $0 != first && $0 != .null }
        bridge.signal(SIGTERM)
        #expect(try bridge.wait() == 0, "\(bridge.text)")
    }

    @Test(
        "an exporter's series are entries, of which only those that change are written",
        .enabled(if: has("/usr/bin/python3"), "python3 is not installed"))
    func scrape() throws {
        let port = try TCP.freePort()
        try folder.write("up 1\nload{cpu=\"0\"} 0.5\nnone NaN\n", to: "metrics")
        try folder.write("{\"now\": {\"t\": 21.5}}", to: "weather")
        let server = try Program(
            "/usr/bin/python3",
            ["-m", "http.server", "--bind", "127.0.0.1", "--directory", folder.path, "\(port)"], folder: folder)
        defer { server.signal(SIGTERM) }
        let address = "http://127.0.0.1:\(port)"
        let bridge = try bridge(
            """
            scrape = \(address)/metrics every 100ms to /node.metrics
            poll = \(address)/weather every 100ms to /weather.now with =body.now.t
            poll = \(address)/missing every 100ms to /missing.now
            poll = \(address)/metrics every 100ms to /text.now
            metrics = \(folder.file("bridge.prom"))
            entries = 4

            """)
        try until("/node.metrics", bridge) { $0 == ["up": 1.0, "load{cpu=\"0\"}": 0.5] }
        try until("/weather.now", bridge) { $0 == 21.5 }
        try until("/missing.error", bridge) { $0 == "the server answers with status 404" }
        try until("/text.error", bridge) { $0.string?.hasPrefix("the answer is no JSON") == true }
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/node.metrics.up"], "initial": false])
        try folder.write("up 1\nnew 3\nload{cpu=\"0\"} 0.25\n", to: "metrics")
        try until("/node.metrics", bridge) { $0 == ["up": 1.0, "new": 3.0, "load{cpu=\"0\"}": 0.25] }
        try folder.write("new 3\n", to: "metrics")
        try until("/node.metrics", bridge) { $0 == ["new": 3.0] }
        try folder.write("a 1\nb 1\nc 1\nd 1\ne 1\n", to: "metrics")
        try until("/node.error", bridge) { $0.string?.contains("'entries' is the limit") == true }
        #expect(try value("/node.isLive") == false)
        server.signal(SIGTERM)
        _ = try server.wait()
        try until("/weather.isLive", bridge) { $0 == false }
        #expect(try value("/weather.now") == 21.5, "the value stays")
        let text = try String(contentsOfFile: folder.file("bridge.prom"), encoding: .utf8)
        #expect(text.contains("# TYPE agd_bridge_reports_total counter\n"))
        #expect(text.contains("agd_bridge_live{line=\"poll /missing.now\"} 0\n"), "\(text)")
    }

    @Test("states of a scene are used as they are, and a value that does not fit them is an error") func ownStates()
        throws
    {
        let scene = try folder.write(
            """
            nodes:
              - id: own
                state: { now: { type: int, initial: 7 }, error: { type: string?, initial: null } }

            """, to: "own.yaml")
        #expect(try daemon.control(["apply", "-f", scene]).code == 0)
        let program = try Program.write(script: "cat \(folder.file("value"))\n", to: "value.sh", in: folder)
        try folder.write("text", to: "value")
        let bridge = try bridge("run = \(program) every 100ms to /own.now\n")
        try until("/own.error", bridge) { $0.string?.hasPrefix("agd refused it: ") == true }
        #expect(try value("/own.now") == 7)
        try folder.write("8", to: "value")
        try until("/own.now", bridge) { $0 == 8 }
        try until("/own.error", bridge) { $0 == .null }
        #expect(try daemon.client().call("describe", ["path": "/own.now"])["type"] == "int")
    }

    @Test("after a restart of the daemon, the bridge makes its states anew and fills them") func restart() throws {
        let bridge = try bridge("run = /bin/echo 5 every 100ms to /deep/est.now\n")
        try until("/deep/est.now", bridge) { $0 == 5 }
        #expect(try daemon.stop() == 0)
        let next = try Daemon(folder: folder)
        try until("/deep/est.now", bridge, in: next) { $0 == 5 }
        try until("/deep/est.isLive", bridge, in: next) { $0 == true }
        _ = try next.control(["remove", "/deep"])
        try until("/deep/est.now", bridge, in: next) { $0 == 5 }
    }

    @Test("settings with faults end it with 78, and say what to write") func faults() throws {
        let file = try folder.write("scrape = nowhere\nmqtt = x\n", to: "bad.conf")
        let told = try Program.run("agd-bridge", ["--config", file, "--check-config"], folder: folder)
        #expect(told.code == 78)
        #expect(told.text.contains("bad.conf:1: write 'scrape = http://") && told.text.contains("bad.conf:2: "))
        let missing = try Program.run("agd-bridge", ["--config", folder.file("none")], folder: folder)
        #expect(missing.code == 78 && missing.text.contains("cannot read"))
        #expect(try Program.run("agd-bridge", [], folder: folder).code == 64)
        let manual = try Program.run(
            "agd-bridge", ["--config", Project.file("config/bridge.conf"), "--check-config"], folder: folder)
        #expect(manual.code == 78 && manual.text.contains("nothing to do"), "\(manual.text)")
    }

    @Test("each setting of the manual is one, and has the default that stands there") func manual() throws {
        let lines = try Project.text("config/bridge.conf").split(separator: "\n").filter {
            $0.firstMatch(of: #/^#[a-z-]+ = /#) != nil
        }
        #expect(lines.count > 12)
        // Examples that exclude each other.
        let used = lines.filter { !$0.contains("writable") && !$0.contains("journalctl") }
        let file = try folder.write(used.map { $0.dropFirst() }.joined(separator: "\n"), to: "all.conf")
        let told = try Program.run("agd-bridge", ["--config", file, "--check-config"], folder: folder)
        #expect(told.code == 0, "\(told.text)")
    }

    // MARK: MQTT

    /// A broker on a Unix socket.
    private func broker() throws -> (program: Program, socket: String) {
        let socket = folder.file("mqtt.sock")
        let settings = try folder.write(
            "user \(NSUserName())\nlistener 0 \(socket)\nallow_anonymous true\n", to: "mosquitto.conf")
        let broker = try Program("/usr/sbin/mosquitto", ["-c", settings], folder: folder)
        while !FileManager.default.fileExists(atPath: socket) {
            try #require(!broker.isOver(within: 0.02), "\(broker.text)")
        }
        return (broker, socket)
    }

    /// - Parameter message: nil for an empty one.
    private func send(_ socket: String, _ topic: String, _ message: String?, _ options: [String] = []) throws {
        let told = try Program.run(
            "/usr/bin/mosquitto_pub",
            ["--unix", socket, "-t", topic] + (message.map { ["-m", $0] } ?? ["-n"]) + options, folder: folder)
        #expect(told.code == 0, "\(told.text)")
    }

    /// Waits for a message that is retained or comes later.
    private func message(_ socket: String, _ topic: String, _ count: Int = 1) throws -> String {
        try Program.run(
            "/usr/bin/mosquitto_sub", ["--unix", socket, "-C", "\(count)", "-W", "30", "-t", topic], folder: folder
        ).text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(
        "topics are entries, JSON is merged into them, and none is a command",
        .enabled(if: has("/usr/sbin/mosquitto", "/usr/bin/mosquitto_pub"), "mosquitto is not installed"))
    func fromMQTT() throws {
        let (broker, socket) = try broker()
        try send(socket, "zigbee2mqtt/lamp", #"{"state": "ON", "level": 5}"#, ["-r"])
        let bridge = try bridge(
            """
            mqtt = unix://\(socket)
            from-mqtt = zigbee2mqtt/+ to /devices.all
            from-mqtt = site/temperature to /devices.temperature

            """)
        try until("/devices.all.lamp.state", bridge) { $0 == "ON" }
        try send(socket, "zigbee2mqtt/lamp", #"{"state": "OFF"}"#)
        try send(socket, "zigbee2mqtt/; rm -rf $HOME\"]", #"{"op": "set"}"#)
        try send(socket, "zigbee2mqtt/plain", "no JSON")
        try send(socket, "site/temperature", "21.5")
        try until("/devices.temperature", bridge) { $0 == 21.5 }
        try until("/devices.all", bridge) {
            $0 == [
                "lamp": ["state": "OFF", "level": 5], "; rm -rf $HOME\"]": ["op": "set"], "plain": "no JSON",
            ]
        }
        try send(socket, "zigbee2mqtt/plain", nil)
        try until("/devices.all", bridge) { $0["plain"] == nil }
        try until("/devices.isLive", bridge) { $0 == true }
        broker.signal(SIGTERM)
        _ = try broker.wait()
        try until("/devices.isLive", bridge) { $0 == false }
        try until("/devices.error", bridge) { $0.string?.contains(socket) == true }
    }

    @Test(
        "attributes are retained topics with availability, commands come back, and Home Assistant finds them",
        .enabled(if: has("/usr/sbin/mosquitto", "/usr/bin/mosquitto_pub"), "mosquitto is not installed"))
    func toMQTT() throws {
        let (broker, socket) = try broker()
        defer { broker.signal(SIGTERM) }
        let bridge = try bridge(
            "mqtt = unix://\(socket)\nto-mqtt = /home/** as agd writable\ndiscovery = homeassistant\n")
        #expect(try message(socket, "agd/availability") == "online")
        #expect(try message(socket, "agd/home.level") == "0.5")
        #expect(try message(socket, "agd/home/\"living room %231%2B50%25\".name") == "Lamp")
        let device = try JSONParser.parseOnce(try message(socket, "homeassistant/switch/agd_home__isOn/config").utf8)
        #expect(device["command_topic"] == "agd/set/home.isOn" && device["state_topic"] == "agd/home.isOn")
        #expect(device["availability_topic"] == "agd/availability")
        let button = try JSONParser.parseOnce(try message(socket, "homeassistant/button/agd_home__toggle/config").utf8)
        #expect(button["command_topic"] == "agd/do/home.toggle")
        try send(socket, "agd/set/home.level", "0.75")
        try until("/home.level", bridge) { $0 == 0.75 }
        try send(socket, "agd/set/home/\"living room %231%2B50%25\".name", "12")
        try until("/home/\"living room #1+50%\".name", bridge) { $0 == "12" }
        try send(
            socket, "agd/set/home/\"living room %231%2B50%25\".name", "one\nset /home.isOn true\n\ntoggle /home.isOn")
        try until("/home/\"living room #1+50%\".name", bridge) { $0 == "one\nset /home.isOn true\n\ntoggle /home.isOn" }
        #expect(try value("/home.isOn") == false)
        try send(socket, "agd/do/home.toggle", "{}")
        try until("/home.isOn", bridge) { $0 == true }
        // It names nothing that the line publishes.
        try send(socket, "agd/set/other.x", "1")
        try send(socket, "agd/set/home.level", "1", ["-r"])
        try until("/home.level", bridge) { $0 == 1.0 }
        bridge.signal(SIGKILL)
        _ = try bridge.wait()
        #expect(try message(socket, "agd/availability") == "offline")
        #expect(bridge.text.contains("agd/set/other.x names nothing that this line publishes"), "\(bridge.text)")
    }

    // MARK: Real programs

    @Test(
        "it reads node-exporter",
        .enabled(if: has("/usr/bin/prometheus-node-exporter"), "prometheus-node-exporter is not installed"))
    func nodeExporter() throws {
        let port = try TCP.freePort()
        let exporter = try Program(
            "/usr/bin/prometheus-node-exporter", ["--web.listen-address=127.0.0.1:\(port)"], folder: folder)
        defer { exporter.signal(SIGTERM) }
        let bridge = try bridge("scrape = http://127.0.0.1:\(port)/metrics every 200ms to /node.metrics\n")
        try until("/node.metrics.node_load1", bridge) { if case .double(let load) = $0 { load >= 0 } else { false } }
        let all = try value("/node.metrics")
        #expect(all.map?.contains { $0.key.string?.hasPrefix("node_cpu_seconds_total{cpu=\"0\"") == true } == true)
    }

    @Test("it reads collectd", .enabled(if: has("/usr/sbin/collectd"), "collectd is not installed"))
    func collectd() throws {
        let port = try TCP.freePort()
        let settings = try folder.write(
            """
            Hostname "here"
            BaseDir "\(folder.path)"
            PIDFile "\(folder.file("collectd.pid"))"
            PluginDir "/usr/lib/collectd"
            TypesDB "/usr/share/collectd/types.db"
            Interval 1
            LoadPlugin load
            LoadPlugin write_prometheus
            <Plugin write_prometheus>
              Host "127.0.0.1"
              Port "\(port)"
            </Plugin>

            """, to: "collectd.conf")
        let collectd = try Program("/usr/sbin/collectd", ["-f", "-C", settings], folder: folder)
        defer { collectd.signal(SIGTERM) }
        let bridge = try bridge("scrape = http://127.0.0.1:\(port)/metrics every 200ms to /collectd.metrics\n")
        try until("/collectd.metrics", bridge) { value in
            value.map?.contains { $0.key.string?.hasPrefix("collectd_load_shortterm{") == true } == true
        }
    }
}
