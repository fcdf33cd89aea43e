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

        init(_ folder: Folder, access: String = "") throws {
            daemon = try Daemon(
                scenes: [ArchivedPastTests.scene],
                configuration:
                    "state-directory = \(folder.file("state"))\nsocket = \(folder.file("agd.sock"))\n\(access)",
                folder: folder)
            past = try Program("agd-past", ["--config", folder.file("agd.conf")], folder: folder)
            let deadline = Deadline(Deadline.patience)
            while !FileManager.default.fileExists(atPath: folder.file("past.sock")), !deadline.isOver { usleep(10_000) }
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
