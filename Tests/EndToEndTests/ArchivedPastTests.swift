import AttributeValues
import Foundation
import TestSupport
import Testing

/// The archive and its readers, with the real programs.
@Suite("The past, with the real programs")
struct ArchivedPastTests {
    private static let scene = """
        agd: 1
        nodes:
          - id: room
            kind: container
            state: { warmth: 20.0, door: closed, seen: { initial: 0, transient: true }, count: 0 }
            computed: { hot: warmth > 25.0 }
            onChange: [{ of: door, perform: { add: { $count: 1 } } }]

        """

    /// A daemon with an archive, and agd-past beside it.
    private final class Pair {
        let daemon: Daemon
        let past: Program

        /// - Parameter running: agd-past, if it runs already.
        init(_ folder: Folder, sceneFiles: [String] = [], beside running: Program? = nil) throws {
            daemon = try Daemon(
                scenes: sceneFiles.isEmpty ? [ArchivedPastTests.scene] : [], sceneFiles: sceneFiles,
                configuration:
                    "state-directory = \(folder.file("state"))\nsocket = \(folder.file("agd.sock"))\n",
                folder: folder)
            past = try running ?? Program("agd-past", ["--config", folder.file("agd.conf")], folder: folder)
            Pair.await(folder.file("past.sock"))
        }

        static func await(_ file: String) {
            let deadline = Deadline(Deadline.patience)
            while !FileManager.default.fileExists(atPath: file), !deadline.isOver { usleep(10_000) }
        }

        /// Asks until the archive has what was written: it is written once a second.
        func log(_ arguments: [String], until wanted: (String) -> Bool) throws -> String {
            let deadline = Deadline(Deadline.patience)
            while true {
                let told = try daemon.control(["log"] + arguments)
                if wanted(told.text) || deadline.isOver { return told.text }
                usleep(100_000)
            }
        }

        func stop() throws {
            past.signal(SIGTERM)
            #expect(try past.wait() == 0)
            #expect(try daemon.stop() == 0)
        }
    }

    @Test("log tells who wrote what, the tree is shown as it was, and a transaction is taken back")
    func incident() throws {
        let folder = try Folder()
        let pair = try Pair(folder)
        let daemon = pair.daemon
        #expect(try daemon.control(["set", "/room.warmth", "23.5", "--label", "morning"]).code == 0)
        #expect(try daemon.control(["set", "/room.door", "open"]).code == 0)
        #expect(try daemon.control(["set", "/room.warmth", "31.5", "--label", "mistake"]).code == 0)
        let all = try pair.log([]) { $0.contains("mistake") }
        #expect(all.contains("'morning'") && all.contains("/room.warmth  23.5 → 31.5"), "\(all)")
        #expect(all.contains("/room.count  → 1  reaction"), "\(all)")
        let found = try daemon.control(["log", "--label", "mistake", "--json"])
        let mistake = try JSONParser.parseOnce(found.text.utf8)
        let revision = try #require(mistake["revision"]?.int)
        #expect(mistake["writes"]?.list?.first?.map?["before"] == 23.5)

        let then = try daemon.control(["get", "/room.hot", "/room.warmth", "--time", "\(revision - 1)"])
        #expect(then.text == "/room.hot\tfalse\n/room.warmth\t23.5\n", "\(then.text)")
        let hot = try daemon.control(["explain", "/room.hot", "--time", "\(revision)"])
        #expect(hot.text.contains("'mistake'"), "\(hot.text)")
        let refused = try daemon.control(["set", "/room.warmth", "1", "--time", "\(revision)"])
        #expect(refused.code != 0 && refused.text.contains("nobody changes the past"), "\(refused.text)")

        let last = "\(revision - 1)"
        let differing = try daemon.control(["diff", "--from", last, "--to", "\(revision)", "/room"])
        let lines = differing.text.split(separator: "\n").map(String.init)
        #expect(differing.code == 1 && lines.count == 3, "\(differing.text)")
        #expect(lines.first.map { Transcript.matches($0, "revision \(revision)  …  'mistake'") } == true)
        #expect(lines.contains("    /room.warmth  23.5 → 31.5"), "\(lines)")
        #expect(lines.contains("    /room.hot     false → true  ← /room.warmth"), "\(lines)")
        #expect(try daemon.control(["diff", "--from", last, "--to", last, "/room"]) == (0, ""))
        // Before the state was written for the last time.
        let door = try daemon.control(["diff", "--from", "\(revision - 2)", "--to", last, "/room.hot"])
        #expect(door == (0, ""))
        let before = try daemon.control(["tree", "--time", "10h"])
        #expect(before.code == 66 && before.text.contains("the archive does not reach back so far"), "\(before.text)")

        let shown = try daemon.control(["undo", "\(revision)", "--dry-run"])
        #expect(shown.text == "/room.warmth  31.5 → 23.5\n", "\(shown.text)")
        #expect(try daemon.control(["undo", "\(revision)"]).code == 0)
        #expect(try daemon.client().get("/room.warmth") == 23.5)
        let again = try daemon.control(["undo", "\(revision)"])
        #expect(again.code == 75, "\(again.text)")
        try pair.stop()
    }

    @Test("the incident of the page goes as it says, from the red card to its undo")
    func page() throws {
        let pair = try Pair(Folder(), sceneFiles: ["dashboard/panels.yaml", "Examples/dashboards/home.yaml"])
        let page = try Project.text("Documentation/Past.md")
        let runner = TranscriptRunner(pair.daemon)
        try runner.run(Transcript.below("Make it happen", in: page))
        _ = try pair.log([]) { $0.contains("indoors.mode") }
        try runner.run(Transcript.below("Find out", in: page))
        try runner.run(Transcript.below("Take it back", in: page))
        try pair.stop()
    }

    @Test("diff between two moments names the edits that made nodes, rules and declarations differ")
    func edits() throws {
        let folder = try Folder()
        let pair = try Pair(folder)
        let daemon = pair.daemon
        let scene = """
            agd: 1
            types: { Door: { state: { isOpen: false } } }
            nodes: [{ id: new, kind: container }, { id: room, computed: { hot: warmth > 15.0 } }]
            """
        let file = try folder.write(scene, to: "edit.yaml")
        #expect(try daemon.control(["apply", file, "--merge", "--label", "more"]).code == 0)
        #expect(try daemon.control(["set", "/room.seen", "1"]).code == 0)
        _ = try pair.log([]) { $0.contains("/room.seen") }
        let edits = try daemon.control(["log", "--structure"]).text
        #expect(edits.contains("'more'") && !edits.contains("→"), "\(edits)")
        let found = try daemon.control(["diff", "--from", "1", "--json"])
        let all = try found.text.split(separator: "\n").map { try JSONParser.parseOnce($0.utf8) }
        let edit = try #require(all.first { $0["label"] == "more" }, "\(found.text)")
        let differences = edit["differences"]?.list ?? []
        #expect(differences.contains(["path": "/new", "came": true]), "\(edit)")
        #expect(
            differences.contains([
                "path": "/room.hot", "definition": "rule", "before": "warmth > 25.0", "after": "warmth > 15.0",
            ]), "\(edit)")
        #expect(differences.contains { $0["path"] == "@types.Door" && $0["came"] == true }, "\(edit)")
        #expect(all.contains { $0["differences"]?.list?.first?["path"] == "/room.seen" }, "\(all)")
        try pair.stop()
    }

    @Test("after kill -9, log and series have a gap from the last record to the next start")
    func killed() throws {
        let folder = try Folder()
        let pair = try Pair(folder)
        #expect(try pair.daemon.control(["set", "/room.warmth", "23.5"]).code == 0)
        _ = try pair.log([]) { $0.contains("23.5") }
        pair.daemon.program.signal(SIGKILL)
        _ = try pair.daemon.program.wait()
        let next = try Pair(folder, beside: pair.past)
        #expect(try next.daemon.control(["set", "/room.warmth", "24.5"]).code == 0)
        let log = try next.log([]) { $0.contains("24.5") }
        let lines = log.split(separator: "\n").map { $0.drop { $0 == " " } }
        let before = try #require(lines.firstIndex { $0.hasSuffix("→ 23.5") })
        #expect(lines[before - 2].hasPrefix("nothing was recorded from "), "\(log)")
        #expect(lines[..<(before - 2)].contains { $0.hasSuffix("→ 24.5") }, "\(log)")
        let series = try next.daemon.control(["eval", "warmth", "--at", "/room", "--over", "10m", "--json"])
        // Before the archive begins nothing is known, too.
        #expect(try JSONParser.parseOnce(series.text.utf8)["gaps"]?.list?.count == 2, "\(series.text)")
        try next.stop()
    }

    @Test("a copy of the archive of a running agd can be asked, as the page says")
    func copy() throws {
        let folder = try Folder()
        let pair = try Pair(folder)
        #expect(try pair.daemon.control(["set", "/room.warmth", "23.5"]).code == 0)
        _ = try pair.log([]) { $0.contains("23.5") }
        let copy = try Folder()
        let copied = try Program.run("/bin/cp", ["-a", folder.file("state/archive"), copy.path], folder: folder)
        #expect(copied.code == 0, "\(copied.text)")
        #expect(try pair.daemon.control(["set", "/room.warmth", "31.5"]).code == 0)
        _ = try pair.log([]) { $0.contains("31.5") }
        let past = try Program(
            "agd-past", ["--state-directory", copy.path, "--socket", copy.file("past.sock")], folder: copy)
        Pair.await(copy.file("past.sock"))
        func ask(_ arguments: [String]) throws -> String {
            try Program.run("agctl", arguments + ["--socket", copy.file("agd.sock")], folder: copy).text
        }
        let log = try ask(["log"])
        #expect(log.contains("/room.warmth  → 23.5") && !log.contains("31.5"), "\(log)")
        #expect(try ask(["get", "/room.warmth", "--time", "0s"]) == "23.5\n")
        past.signal(SIGTERM)
        #expect(try past.wait() == 0)
        try pair.stop()
    }

    @Test("a full disk stops the archive, is told, and stops nothing else")
    func full() throws {
        let folder = try Folder()
        // Files of more than 64 kB cannot be written.
        let daemon = try Daemon(
            scenes: [ArchivedPastTests.scene], configuration: "archive-directory = \(folder.file("archive"))\n",
            folder: folder, limits: "-f 64")
        let client = try daemon.client()
        let deadline = Deadline(Deadline.patience)
        var number: Int64 = 0
        while try client.call("stats", [:])["archive_stopped"] != 1, !deadline.isOver {
            number += 1
            try client.set("/room.door", .string("\(number)" + String(repeating: "x", count: 9000)))
            usleep(130_000)
        }
        #expect(try client.call("stats", [:])["archive_stopped"] == 1)
        try client.set("/room.seen", 7)
        #expect(try client.get("/room.seen") == 7)
        let found = try daemon.control(["doctor"])
        #expect(found.text.contains("the archive cannot be written"), "\(found.text)")
        #expect(daemon.program.text.contains("the archive has stopped"), "\(daemon.program.text)")
        #expect(try daemon.stop() == 0)
    }
}
