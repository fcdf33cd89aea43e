import AttributeValues
import Foundation
import TestSupport
import Testing

/// Backups, diagnosis and the log, with the real programs.
@Suite("Operation")
struct OperationTests {
    private func start(_ folder: Folder) throws -> Daemon {
        try Daemon(
            scenes: [Scenes.counter], configuration: "state-directory = \(folder.file("state"))\n", folder: folder)
    }

    @Test("a backup that was made during writes is a store to start from after kill -9")
    func backup() throws {
        let folder = try Folder()
        let daemon = try start(folder)
        for number in 1...50 { try daemon.client().set("/counter.value", .int(Int64(number))) }
        let revision = try #require(try daemon.client().call("get", ["path": "/counter.value"])["revision"]?.int)
        let file = folder.file("backup.db")
        let made = try daemon.control(["backup", file, "--state-directory", folder.file("state")])
        #expect(made.code == 0 && made.text.contains("backup.db: 1 row up to revision \(revision), "), "\(made.text)")
        try daemon.client().set("/counter.value", 99)
        daemon.program.signal(SIGKILL)
        try daemon.program.wait()

        try FileManager.default.removeItem(atPath: folder.file("state"))
        try FileManager.default.createDirectory(atPath: folder.file("state"), withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: file, toPath: folder.file("state/state.db"))
        let again = try start(folder)
        #expect(try again.client().get("/counter.value") == 50)
        #expect(try again.stop() == 0)
    }

    @Test("a backup of what is no store is refused, says which folder has none, and leaves nothing")
    func noStore() throws {
        let folder = try Folder()
        let made = try Program.run(
            "agctl", ["backup", folder.file("backup.db"), "--state-directory", folder.path], folder: folder)
        #expect(made.code == 66 && made.text.hasPrefix("agctl: there is no store in \(folder.path)\n"), "\(made.text)")
        #expect(made.text.contains("hint: --state-directory"))
        try folder.write("no store", to: "state.db")
        let foreign = try Program.run(
            "agctl", ["backup", folder.file("backup.db"), "--state-directory", folder.path], folder: folder)
        #expect(foreign.code != 0 && foreign.text.hasPrefix("agctl: "), "\(foreign.text)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.hasPrefix("backup") })
    }

    @Test("doctor finds nothing wrong with a sound daemon, and says how to mend one that is stopped or gone")
    func doctor() throws {
        let folder = try Folder()
        let daemon = try start(folder)
        let options = ["--state-directory", folder.file("state"), "--config", folder.file("agd.conf")]
        let sound = try daemon.control(["doctor", "--json"] + options)
        let checks = try #require(try JSONParser.parseOnce(sound.text.utf8)["checks"]?.list)
        #expect(sound.code == 0, "\(sound.text)")
        for subject in ["socket", "daemon", "counters", "settings", "store", "clock"] {
            #expect(checks.contains { $0["subject"] == .string(subject) && $0["state"] == "ok" }, "\(subject)")
        }
        daemon.program.signal(SIGSTOP)
        let stopped = try daemon.control(["doctor", "--timeout", "0.2"] + options)
        daemon.program.signal(SIGCONT)
        #expect(stopped.code == 1 && stopped.text.contains("did not answer within 0.2 s"), "\(stopped.text)")
        #expect(stopped.text.contains("hint: kill -CONT \(daemon.program.pid)"), "\(stopped.text)")
        #expect(try daemon.stop() == 0)
        let gone = try daemon.control(["doctor"] + options)
        #expect(
            gone.code == 1 && gone.text.contains("bad      socket") && gone.text.contains("hint: start the daemon"),
            "\(gone.text)")
    }

    @Test("doctor reads the store of a daemon that is down, says what it has found, and changes nothing")
    func storeOfNobody() throws {
        let folder = try Folder()
        let daemon = try start(folder)
        try daemon.client().set("/counter.value", 7)
        let revision = try #require(try daemon.client().call("get", ["path": "/counter.value"])["revision"]?.int)
        let options = ["doctor", "--state-directory", folder.file("state"), "--config", folder.file("agd.conf")]
        let database = folder.file("state/state.db")
        func files() throws -> [String: Data] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("state"))
            let contents = names.map { FileManager.default.contents(atPath: folder.file("state/\($0)")) ?? Data() }
            return Dictionary(uniqueKeysWithValues: zip(names, contents))
        }
        // A daemon that is stopped has the store open.
        daemon.program.signal(SIGSTOP)
        let told = try daemon.control(options + ["--timeout", "0.2"])
        daemon.program.signal(SIGCONT)
        #expect(told.text.contains("is sound: 1 row up to revision \(revision), "), "\(told.text)")
        daemon.program.signal(SIGKILL)
        try daemon.program.wait()
        let before = try files()
        #expect(try daemon.control(options).text.contains("is sound: 1 row up to revision \(revision), "))
        #expect(try files() == before && before.count > 1)

        let file = try FileHandle(forUpdating: URL(fileURLWithPath: database))
        try file.truncate(atOffset: 5000)
        try file.close()
        let damaged = try daemon.control(options)
        #expect(damaged.code == 1 && damaged.text.contains("bad      store     \(database) is damaged:"), "\(damaged)")
        #expect(damaged.text.contains("start agd with --recover"), "\(damaged)")
    }

    @Test("doctor reports settings that are wrong, and a store that was written in the future")
    func sick() throws {
        let folder = try Folder()
        let daemon = try start(folder)
        let config = try folder.write("clints = 5\n", to: "wrong.conf")
        let future = Date(timeIntervalSinceNow: 86_400)
        try FileManager.default.setAttributes(
            [.modificationDate: future], ofItemAtPath: folder.file("state/state.db"))
        let told = try daemon.control(["doctor", "--state-directory", folder.file("state"), "--config", config]).text
        #expect(told.contains("bad      settings") && told.contains("clints"), "\(told)")
        #expect(told.contains("bad      clock"), "\(told)")
    }

    @Test("the log as JSON has an object for each message")
    func log() throws {
        let folder = try Folder()
        let program = try Program(
            "agd", ["--socket", folder.file("agd.sock"), "--log-format", "json"], folder: folder)
        while !program.text.contains("ready") { #expect(!program.isOver(within: 0.05)) }
        program.signal(SIGTERM)
        #expect(try program.wait() == 0)
        for line in program.text.split(separator: "\n") {
            let entry = try JSONParser.parseOnce(line.utf8)
            #expect(entry["level"]?.string != nil && entry["message"]?.string != nil, "\(line)")
        }
    }
}
