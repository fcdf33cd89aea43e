import CommandArguments
import Foundation
import Logging
import TestSupport
import Testing

@testable import DaemonServer

@Suite("Configuration")
struct ConfigurationTests {
    private func read(_ text: String) throws -> Configuration { try Configuration(text: text, file: "agd.conf") }

    /// The configuration file that ships, as lines.
    private func manual() throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent("config/agd.conf"), encoding: .utf8).components(
            separatedBy: "\n")
    }

    @Test("every setting stands in the configuration file, in order, with its default") func manualIsComplete() throws {
        let settings = Setting.table()
        let shown = try manual().compactMap { line -> (String, String)? in
            guard line.hasPrefix("#"), !line.hasPrefix("# "), let equals = line.range(of: " = ") else { return nil }
            return (
                String(line[line.index(after: line.startIndex)..<equals.lowerBound]), String(line[equals.upperBound...])
            )
        }
        #expect(shown.map(\.0) == settings.map(\.name))
        let defaults = Configuration()
        for (name, value) in shown {
            let setting = try #require(settings.first { $0.name == name })
            guard let standard = setting.text(defaults) else { continue }
            var assigned = Configuration()
            try setting.assign(value, &assigned)
            #expect(setting.text(assigned) == standard, "\(name)")
        }
    }

    @Test("the file says of each setting whether it can be changed at run time") func manualSaysReload() throws {
        var comment = ""
        for line in try manual() {
            if line.hasPrefix("# ") { comment += line }
            if line.isEmpty { comment = "" }
            guard line.hasPrefix("#"), !line.hasPrefix("# "),
                let name = line.dropFirst().components(separatedBy: " = ").first,
                let setting = Setting.table().first(where: { $0.name == name })
            else { continue }
            #expect(comment.contains("[reload]") == setting.isReloadable, "\(name)")
        }
    }

    @Test("settings are read with their units") func units() throws {
        let configuration = try read(
            """
            # a comment
            socket = /tmp/x = y.sock
              socket-mode=0600
            scene = one.yaml
            scene = two.yaml
            durability = normal
            log-level = debug
            message-size = 2 MiB
            output-queue = 64KiB
            input-total = 1 GiB
            stall-time = 1500 ms
            shutdown-time = 2 min
            clients = 7
            frame-rate = 59.94
            nodes = 10
            """)
        #expect(configuration.socket == "/tmp/x = y.sock")
        #expect(configuration.socketMode == 0o600)
        #expect(configuration.scenes == ["one.yaml", "two.yaml"])
        #expect(configuration.durability == .normal)
        #expect(configuration.logLevel == .debug)
        #expect(configuration.server.messageSize == 2 << 20)
        #expect(configuration.server.outputQueue == 65_536)
        #expect(configuration.server.inputTotal == 1 << 30)
        #expect(configuration.server.stallTime == 1.5)
        #expect(configuration.server.shutdownTime == 120)
        #expect(configuration.server.clients == 7)
        #expect(configuration.runtime.frameRate == 59.94)
        #expect(configuration.runtime.graph.nodes == 10)
    }

    @Test("lines may end in CR LF, and a byte order mark may stand before the first") func otherEditors() throws {
        let text = "\u{FEFF}clients = 7\r\n# a comment\r\nscene = one.yaml\r\n"
        let folder = try Folder()
        let configuration = try Configuration(file: folder.write(text, to: "agd.conf"))
        #expect(configuration.server.clients == 7)
        #expect(configuration.scenes == ["one.yaml"])
        let faults = #expect(throws: ConfigurationFaults.self) { try read("clients = 7\r\n\r\nnonsense\r\n") }
        #expect(faults?.description == "agd.conf:3: expected name = value, found \"nonsense\"")
    }

    @Test("all faults are told, each with its line and a hint") func faults() throws {
        let faults = #expect(throws: ConfigurationFaults.self) {
            try read(
                """
                sokcet = /x
                nonsense
                clients = many
                clients = 5
                message-size = 16 MB
                message-size = 1 B
                durability = ful
                stall-time = 30
                socket-mode = 999
                scene =
                """)
        }
        #expect(
            faults?.description == """
                agd.conf:1: unknown setting "sokcet" (did you mean 'socket'?)
                agd.conf:2: expected name = value, found "nonsense"
                agd.conf:3: clients takes a number from 1 to 1000000, not "many"
                agd.conf:4: clients is set in line 3 already
                agd.conf:5: message-size takes a size of at least 1 KiB, as 16 MiB or 4096, not "16 MB"
                agd.conf:6: message-size is set in line 5 already
                agd.conf:7: durability takes one of full, normal, off, not "ful" (did you mean 'full'?)
                agd.conf:8: stall-time takes a time, as 30 s or 500 ms, not "30"
                agd.conf:9: socket-mode takes an octal mode, as 0660, not "999"
                agd.conf:10: scene has no value
                """)
    }

    @Test("limits that contradict each other are a fault") func contradiction() {
        #expect(throws: ConfigurationFaults.self) { try read("output-queue = 2 MiB\noutput-maximum = 1 MiB") }
        #expect(throws: ConfigurationFaults.self) { try read("nesting = 100000") }
    }

    @Test("a reload takes over what may change, and names what has to wait") func reload() throws {
        var running = try read("clients = 5\nsocket = /a")
        let waiting = running.reload(from: try read("clients = 9\nsocket = /b\nlog-level = debug\nnodes = 5"))
        #expect(running.server.clients == 9 && running.logLevel == .debug)
        #expect(running.socket == "/a")
        #expect(waiting == ["socket", "nodes"])
    }

    @Test("a check tells all that a start would be refused for, and makes nothing") func check() throws {
        let folder = try Folder()
        var configuration = Configuration()
        configuration.socket = "relative.sock"
        configuration.socketGroup = "no-such-group"
        configuration.stateDirectory = folder.file("none/store")
        for name in ["one", "two"] {
            configuration.scenes.append(
                try folder.write("agd: 1\nnodes: [{ id: \(name), computed: { a: 1 + } }]\n", to: "\(name).yaml"))
        }
        let faults = Daemon.check(configuration)
        #expect(faults.map(\.status) == [.configuration, .configuration, .configuration, .dataError, .dataError])
        for (fault, part) in zip(
            faults, ["relative.sock", "no-such-group", folder.file("none"), "one.yaml", "two.yaml"])
        {
            #expect(fault.description.contains(part), "\(fault)")
        }
        configuration = Configuration()
        configuration.socket = "/" + String(repeating: "x", count: 200)
        #expect(Daemon.check(configuration).map(\.status) == [.configuration])
        configuration.socket = folder.file("made/agd.sock")
        configuration.stateDirectory = folder.file("store")
        #expect(Daemon.check(configuration).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["one.yaml", "two.yaml"])
    }

    @Test("a file that is not there is a fault that names it once") func missing() {
        let faults = #expect(throws: ConfigurationFaults.self) { try Configuration(file: "/nonexistent/agd.conf") }
        #expect(faults?.description == "/nonexistent/agd.conf: open: no such file or directory (ENOENT)")
    }

    @Test(
        "a check names the line that leads to a fault, looks at what can be read of a faulty file, and at $AGD_SOCKET")
    func checkPlaces() throws {
        let folder = try Folder()
        let file = folder.file("agd.conf")
        try """
        nonsense
        socket = \(folder.path)
        socket-group = no-such-group
        scene = \(folder.path)/none.yaml
        state-directory = \(file)
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let read = Configuration.reading(file: file)
        #expect(read.faults.map(\.line) == [1])
        let nowhere = ProcessEnvironment([:])
        var faults = Daemon.check(read.configuration, environment: nowhere)
        #expect(faults.map(\.status) == [.cannotCreate, .configuration, .configuration, .noInput])
        for (fault, line) in zip(faults, [2, 3, 5, 4]) {
            #expect(fault.description.hasPrefix("\(file):\(line): "), "\(fault)")
        }
        // What the command line says stands in no line.
        var overridden = read.configuration
        overridden.override(socket: nil, stateDirectory: "", scenes: [folder.file("two.yaml")])
        faults = Daemon.check(overridden, environment: nowhere)
        #expect(faults.map(\.description).dropFirst(2).first == "state-directory: the path is empty")
        #expect(faults.last?.description.hasPrefix("scene: ") == true)
        #expect(
            Daemon.check(Configuration(), environment: ProcessEnvironment(["AGD_SOCKET": "rel"])).map(\.status) == [
                .configuration
            ])
        #expect(Daemon.check(Configuration(), environment: nowhere).isEmpty)
    }

    @Test("a check refuses folders in which this user may make nothing", .enabled(if: geteuid() != 0))
    func checkRights() throws {
        var configuration = Configuration()
        configuration.socket = "/agd.sock"
        configuration.stateDirectory = "/agd-store"
        #expect(Daemon.check(configuration).map(\.status) == [.noPermission, .noPermission])
    }

    @Test("scenes and configurations that are not UTF-8 are refused") func encoding() throws {
        let file = NSTemporaryDirectory() + "agd-" + UUID().uuidString.prefix(8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        try Data(Array("agd: 1\nnodes: [{ id: a, state: { t: \"".utf8) + [0xE9] + Array("\" } }]\n".utf8)).write(
            to: URL(fileURLWithPath: file))
        var configuration = Configuration()
        configuration.scenes = [file]
        let faults = Daemon.check(configuration)
        #expect(faults.map(\.status) == [.dataError])
        #expect(faults.first?.description == "scene: \(file):2:31: not UTF-8")
        let refusal = #expect(throws: ConfigurationFaults.self) { try Configuration(file: file) }
        #expect(refusal?.description == "\(file):2:31: not UTF-8")
    }

    @Test("without a setting the socket stands where agctl looks") func standardPath() {
        func path(_ environment: [String: String]) -> String { SocketPath.standard(ProcessEnvironment(environment)) }
        #expect(path(["AGD_SOCKET": "/tmp/s", "XDG_RUNTIME_DIR": "/run/user/7"]) == "/tmp/s")
        #expect(path(["AGD_SOCKET": "", "XDG_RUNTIME_DIR": "/run/user/7"]) == "/run/user/7/agd/agd.sock")
        #expect(path([:]) == "/run/agd/agd.sock")
        #expect(path(["XDG_RUNTIME_DIR": ""]) == "/run/agd/agd.sock")
    }
}
