import AttributeValues
import Foundation
import TestSupport
import Testing

@Suite("Rules on the past, with the real programs")
struct SeriesCommandTests {
    @Test("eval and when say what a rule was, and run nothing") func commands() throws {
        let folder = try Folder()
        let daemon = try Daemon(
            scenes: ["agd: 1\nnodes: [{ id: room, state: { warmth: 20.0, door: closed } }]\n"],
            configuration: "state-directory = \(folder.file("state"))\nsocket = \(folder.file("agd.sock"))\n",
            folder: folder)
        #expect(try daemon.control(["set", "/room.warmth", "31.5"]).code == 0)
        #expect(try daemon.control(["set", "/room.warmth", "21.0"]).code == 0)
        // Its end writes what waits.
        #expect(try daemon.stop() == 0)
        let past = try Program("agd-past", ["--config", folder.file("agd.conf")], folder: folder)
        let deadline = Deadline(Deadline.patience)
        while !FileManager.default.fileExists(atPath: folder.file("past.sock")), !deadline.isOver { usleep(10_000) }

        let series = try daemon.control(["eval", "warmth", "--at", "/room", "--over", "1h", "--json", "--points", "1"])
        #expect(series.code == 0)
        let answer = try JSONParser.parseOnce(series.text.utf8)
        #expect(answer.map?["series"]?.list?.first?.map?["greatest"] == [31.5])
        let lines = try daemon.control(["eval", "warmth", "--at", "/room", "--over", "1h", "--points", "1"])
            .text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last?.hasSuffix("31.5  21.0") == true)

        let never = folder.file("ran")
        let when = try daemon.control(
            ["when", "warmth > 30.0", "--at", "/room", "--over", "1h", "--", "touch", never])
        #expect(when.code == 0)
        #expect(when.text.contains("it would have fired once in 1h"))
        #expect(!FileManager.default.fileExists(atPath: never))
        #expect(try daemon.control(["when", "warmth", "--at", "/room", "--over", "1h"]).code == 65)
        #expect(try daemon.control(["eval", "warmth", "--at", "/rom", "--over", "1h"]).code == 66)
        #expect(try daemon.control(["eval", "warmth", "--over", "long"]).code == 64)
        past.signal(SIGTERM)
        #expect(try past.wait() == 0)
    }
}
