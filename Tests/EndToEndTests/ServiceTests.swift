import AttributeValues
import Foundation
import TestSupport
import Testing

/// What `agd --help` says of its exit status.
private enum ExitStatus {
    static let scene: Int32 = 65
    static let fileMissing: Int32 = 66
    static let inUse: Int32 = 69
    static let store: Int32 = 72
    static let socket: Int32 = 73
    static let writing: Int32 = 74
    static let configuration: Int32 = 78
}

/// The daemon as a service: how it starts, takes its socket, tells that it is ready, and ends.
@Suite("Service")
struct ServiceTests {
    @Test("SIGTERM answers what was asked, tells the service manager, removes the socket and ends with 0")
    func terminate() throws {
        let daemon = try Daemon(scenes: [Scenes.counter])
        let client = try daemon.client()
        for number in Int64(1)...100 {
            try client.send(
                #"{"jsonrpc":"2.0","id":\#(number),"method":"set","params":{"path":"/counter.value","value":\#(number)}}"#
            )
        }
        // All requests have been read once the daemon answers the last one; its answers may not have been.
        #expect(try client.message()["id"] == 1)
        #expect(try daemon.stop() == 0)
        #expect(try daemon.awaitNotification("STOPPING=1").contains("STOPPING=1"))
        var last: Value?
        while let line = try client.line() { last = try JSONParser.parseOnce(line.utf8)["id"] }
        #expect(last == 100)
        #expect(!FileManager.default.fileExists(atPath: daemon.socket))
    }

    @Test("SIGINT, as Ctrl-C sends it, ends it as well")
    func interrupt() throws {
        let daemon = try Daemon()
        daemon.program.signal(SIGINT)
        #expect(try daemon.program.wait() == 0)
        #expect(!FileManager.default.fileExists(atPath: daemon.socket))
    }

    @Test("the socket file that a killed daemon left behind is recognised and replaced")
    func staleSocket() throws {
        let first = try Daemon(scenes: [Scenes.counter])
        first.program.signal(SIGKILL)
        #expect(try first.program.wait() == 128 + SIGKILL)
        #expect(FileManager.default.fileExists(atPath: first.socket))
        let second = try Daemon(scenes: [Scenes.counter], folder: first.folder)
        #expect(try second.client().get("/counter.value") == 0)
    }

    @Test("a second daemon on the same socket is refused with a clear error, and the first goes on")
    func secondDaemon() throws {
        let daemon = try Daemon(scenes: [Scenes.counter])
        let second = try Program.run("agd", ["--socket", daemon.socket], folder: daemon.folder)
        #expect(second.code == ExitStatus.inUse)
        #expect(second.text.contains("\(daemon.socket); end it, or start this one with another --socket"))
        #expect(try daemon.client().get("/counter.value") == 0)
    }

    @Test("a file that is no socket is never removed")
    func noSocket() throws {
        let folder = try Folder()
        let path = try folder.write("precious", to: "agd.sock")
        let daemon = try Program.run("agd", ["--socket", path], folder: folder)
        #expect(daemon.code == ExitStatus.socket)
        #expect(daemon.text.contains(path))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test("only its user and group may use the socket")
    func mode() throws {
        let daemon = try Daemon()
        let attributes = try FileManager.default.attributesOfItem(atPath: daemon.socket)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o660)
    }

    @Test("a socket handed over by the service manager is served, and left to it at the end")
    func socketActivation() throws {
        let folder = try Folder()
        let path = folder.file("agd.sock")
        let listening = try Descriptor(UnixSocket.listen(path), "listen")
        // A client may connect before there is a daemon; the kernel keeps it waiting.
        let early = try Client(path)
        try early.send(#"{"jsonrpc":"2.0","id":1,"method":"get","params":{"path":"/counter.value"}}"#)
        let daemon = try Daemon(
            starting: [Scenes.counter], [], nil, in: folder, listening: [listening], environment: ["LISTEN_FDS": "1"])
        #expect(try early.message()["result"]?["value"] == 0)
        #expect(try daemon.stop() == 0)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("it is ready only after its scenes are loaded, and says in one line how it is")
    func readiness() throws {
        let daemon = try Daemon(scenes: [Scenes.counter])
        // `init` returned with READY=1; had it come before the scene, this would be refused.
        #expect(try daemon.client().get("/counter.twice") == 0)
    }

    @Test("a scene with a mistake keeps it from starting; it says where the mistake is")
    func badScene() throws {
        let folder = try Folder()
        let scene = try folder.write(
            "agd: 1\nnodes:\n  - id: x\n    state: { a: 1 }\n    computed: { b: a + }\n", to: "bad.yaml")
        let daemon = try Program.run("agd", ["--socket", folder.file("agd.sock"), "--scene", scene], folder: folder)
        #expect(daemon.code == ExitStatus.scene)
        #expect(daemon.text.contains("bad.yaml:5:"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("agd.sock")))
        let missing = try Program.run(
            "agd", ["--socket", folder.file("agd.sock"), "--scene", folder.file("none.yaml")], folder: folder)
        #expect(missing.code == ExitStatus.fileMissing)
        #expect(missing.text.contains("none.yaml"))
    }

    @Test("a damaged store ends it with a status after which the unit does not start it again") func damagedStore()
        throws
    {
        let folder = try Folder()
        _ = try folder.write("this is no database, it is a letter", to: "state.db")
        let ended = try Program.run(
            "agd", ["--socket", folder.file("agd.sock"), "--state-directory", folder.file("")], folder: folder)
        #expect(ended.code == ExitStatus.store && ended.text.contains("--recover"), "\(ended.text)")
        let unit = try Project.text("systemd/agd.service").split(separator: "\n")
        let prevented = try #require(unit.first { $0.hasPrefix("RestartPreventExitStatus=") })
        #expect(prevented.split(whereSeparator: { " =".contains($0) }).contains("\(ExitStatus.store)"))
    }

    @Test("a store that reaches the limit of a file's size ends it with a status and a word of why") func fileSize()
        throws
    {
        let folder = try Folder()
        let daemon = try Daemon(
            scenes: [Scenes.counter, "agd: 1\nnodes: [{ id: a, state: { text: '' } }]\n"],
            configuration: "state-directory = \(folder.file("store"))\n", folder: folder, limits: "-f 200")
        // Blocks of 512 bytes; the empty store takes about half of that.
        let text = String(repeating: "x", count: 200_000)
        try daemon.client().send(
            #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/a.text","value":"\#(text)"}}"#)
        #expect(try daemon.program.wait() == ExitStatus.writing, "\(daemon.program.text)")
        #expect(daemon.program.text.contains("state.db"), "\(daemon.program.text)")
    }

    @Test("the daemon reports that file descriptors are scarcer than clients, and tells refused clients why")
    func descriptors() throws {
        let daemon = try Daemon(scenes: [Scenes.counter], configuration: "clients = 100\n", limits: "-n 40")
        #expect(daemon.program.text.contains("file descriptors"), "\(daemon.program.text)")
        let clients = try (0..<60).map { _ in try daemon.client() }
        let refused = try #require(clients.last).message()
        #expect(refused["error"]?["data"]?["code"] == "limit" && refused["id"] == .null)
        #expect(try clients[0].get("/counter.value") == 0)
    }

    @Test("--check-config accepts what ships, and names line and near name of what is wrong")
    func checkConfiguration() throws {
        let folder = try Folder()
        let shipped = try Program.run(
            "agd", ["--check-config", "--config", Project.file("config/agd.conf")], folder: folder)
        #expect(shipped.code == 0 && shipped.text.contains("agd.conf: valid"), "\(shipped.text)")
        let wrong = try folder.write("\n\nclinets = 5\n", to: "wrong.conf")
        let refused = try Program.run("agd", ["--check-config", "--config", wrong], folder: folder)
        #expect(refused.code == ExitStatus.configuration)
        #expect(refused.text.contains("wrong.conf:3") && refused.text.contains("clients"))
    }

    @Test("reading the same file again leaves nothing to wait for, whatever the command line says besides")
    func reload() throws {
        let daemon = try Daemon(configuration: "clients = 10\n")
        daemon.program.signal(SIGHUP)
        try daemon.awaitNotification("READY=1")
        #expect(daemon.program.text.contains("read again"))
        #expect(!daemon.program.text.contains("wait for a restart"), "\(daemon.program.text)")
    }

    @Test("--reload asks a daemon to read its configuration again; a fault is in its status until one goes well")
    func reloadByProgram() throws {
        let folder = try Folder()
        let daemon = try Daemon(configuration: "clients = 10\n", folder: folder)
        func reload() throws -> Int32 {
            try Program.run("agd", ["--reload", "\(daemon.program.pid)"], folder: folder).code
        }
        let good = try String(contentsOfFile: folder.file("agd.conf"), encoding: .utf8)
        _ = try folder.write(good + "clinets = 5\n", to: "agd.conf")
        #expect(try reload() == 0)
        let told = try daemon.awaitNotification("READY=1")
        #expect(told.contains { $0.contains("the configuration stays as it was") }, "\(told)")
        _ = try folder.write(good, to: "agd.conf")
        #expect(try reload() == 0)
        try daemon.awaitNotification("READY=1")
        #expect(try Program.run("agd", ["--reload", "1"], folder: folder).code == 64)
    }

    @Test("the unit reloads with programs that are always there, and its memory holds what the settings let wait")
    func unit() throws {
        let unit = try Project.text("systemd/agd.service").split(separator: "\n")
        let reloads = unit.filter { $0.hasPrefix("ExecReload=") }
        #expect(reloads.count == 2 && reloads.allSatisfy { $0.hasPrefix("ExecReload=/usr/bin/agd ") })
        #expect(reloads[0].hasSuffix("--reload $MAINPID") && reloads[1].hasSuffix("--check-config"))
        #expect(unit.contains("MemoryMax=4G"))
    }

    @Test("path-length holds for paths in requests") func pathLength() throws {
        let daemon = try Daemon(scenes: [Scenes.counter], configuration: "path-length = 64\n")
        let client = try daemon.client()
        #expect(try client.get("/counter.value") == 0)
        try client.send(
            #"{"jsonrpc":"2.0","id":1,"method":"get","params":{"path":"/\#(String(repeating: "x", count: 64)).a"}}"#)
        #expect(try client.message()["error"]?["data"]?["code"] == "limit")
    }

    @Test("all programs are of one version") func versions() throws {
        let folder = try Folder()
        let told = try ["agd", "agctl", "agd-host-feeder", "agd-gateway"].map {
            try Program.run($0, ["--version"], folder: folder).text
        }
        #expect(Set(told.map { $0.prefix { $0 != "\n" } }).count == 1 && told[0].first?.isNumber == true, "\(told)")
    }

    @Test("agd names its commit and the formats that it reads") func formats() throws {
        let folder = try Folder()
        let told = try Program.run("agd", ["--version"], folder: folder).text
        #expect(
            told.wholeMatch(of: /[0-9.]+\ncommit .+\nprotocol 1, scenes 1, store [0-9]+, archive [0-9]+\n/) != nil,
            "\(told)")
        let formats = try #require(told.split(separator: "\n").last)
        #expect(try Project.text("Documentation/Compatibility.md").contains("```\n\(formats)\n```"), "\(formats)")
    }

    @Test(
        "a program that cannot do what its options ask for does not start, and names the option",
        arguments: [
            (["agd", "--recover"], "--state-directory"), (["agd-host-feeder", "--proc", "/nowhere"], "--proc"),
            (["agd-host-feeder", "--sys", "/nowhere"], "--sys"), (["agd-host-feeder", "--root", "/nowhere"], "--root"),
            (["agd-gateway", "--pages", "/nowhere"], "--pages"),
        ])
    func options(line: [String], option: String) throws {
        let folder = try Folder()
        let socket = ["--socket", folder.file("agd.sock")]
        let told = try Program.run(line[0], Array(line.dropFirst()) + socket, folder: folder)
        #expect(told.code == 64 && told.text.contains(option), "\(told.text)")
    }

    @Test("examples that agd --help names are there") func help() throws {
        let text = try Program.run("agd", ["--help"], folder: Folder()).text
        let names = text.matches(of: /Examples\/[a-z.-]+/).map { String($0.output) }
        #expect(!names.isEmpty)
        for name in names { #expect(FileManager.default.fileExists(atPath: Project.file(name)), "\(name)") }
    }

    @Test("an installation is readable for all and names its own folders, whatever the umask") func install() throws {
        let folder = try Folder()
        let programs = folder.file("programs")
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        let all = [
            "agd", "agctl", "agctl-scene", "agd-past", "agd-host-feeder", "agd-gateway", "agd-link", "agd-bridge",
        ]
        for name in all {
            // Linked: a copy that another test's new process still holds open for writing could not be run.
            try FileManager.default.createSymbolicLink(atPath: programs + "/" + name, withDestinationPath: "/bin/true")
        }
        let installed = try Program.run(
            "/bin/bash", ["-c", "umask 077 && exec \"$0\"", Project.file("Scripts/install")],
            environment: [
                "AGD_PROGRAMS": programs, "AGD_HELP": Program.folder, "DESTDIR": folder.file("root"),
                "PREFIX": "/opt/agd",
                "SYSCONFDIR": "/opt/etc",
            ],
            folder: folder)
        #expect(installed.code == 0, "\(installed.text)")
        func mode(_ path: String) throws -> Int? {
            (try FileManager.default.attributesOfItem(atPath: folder.file("root") + path)[.posixPermissions]
                as? NSNumber)?.intValue
        }
        let unit = "/opt/agd/lib/systemd/system/agd.service"
        let text = try String(contentsOfFile: folder.file("root") + unit, encoding: .utf8)
        #expect(text.contains("ExecStart=/opt/agd/bin/agd --config /opt/etc/agd/agd.conf"))
        let documents =
            text.split(separator: "\n").first { $0.hasPrefix("Documentation=") }?.dropFirst(14).split(separator: " ")
            ?? []
        #expect(documents.count == 2)
        for document in documents {
            #expect(FileManager.default.fileExists(atPath: folder.file("root") + document.dropFirst(5)), "\(document)")
        }
        #expect(try mode("/opt/etc/agd/agd.conf") == 0o644 && mode("/opt/agd/share/doc/agd") == 0o755)
        #expect(try mode("/opt/agd/share/bash-completion/completions/agctl") == 0o644)
    }

    @Test("the units are clean under systemd-analyze verify")
    func units() throws {
        let analyze = "/usr/bin/systemd-analyze"
        guard FileManager.default.isExecutableFile(atPath: analyze) else {
            print("systemd-analyze is not installed; the units are not verified")
            return
        }
        let folder = try Folder()
        // The units name programs where they are installed; here they stand where they were built.
        var units: [String] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: Project.file("systemd")).sorted()
        where name.hasSuffix(".service") || name.hasSuffix(".socket") {
            let text = try Project.text("systemd/" + name)
                .replacingOccurrences(of: "/usr/bin/", with: Program.folder + "/")
                .replacingOccurrences(of: "/usr/local/bin/", with: Program.folder + "/")
            units.append(try folder.write(text, to: name))
        }
        #expect(units.count >= 2)
        let verified = try Program.run(analyze, ["verify", "--man=no"] + units, folder: folder)
        #expect(verified.code == 0 && verified.text.isEmpty, "\(verified.text)")
    }
}
