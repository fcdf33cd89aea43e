import AttributeValues
import Foundation
import TestSupport
import Testing

/// The example of operators over time, as clients see it.
@Suite("The past")
struct PastTests {
    /// The freezer, with other windows.
    private func scene(_ windows: [String: String] = [:]) throws -> String {
        try windows.reduce(Project.text("Examples/freezer.yaml")) { text, window in
            let changed = text.replacingOccurrences(
                of: "duration('\(window.key)')", with: "duration('\(window.value)')")
            try #require(changed != text)
            return changed
        }
    }

    @Test("the last change, the extremes and the history are there for every client") func values() throws {
        let daemon = try Daemon(scenes: [scene()])
        let client = try daemon.client()
        #expect(try client.get("/freezer.trend") == "stays")
        try client.set("/freezer.temperature", -12.5)
        try client.set("/freezer.temperature", -20.0)
        #expect(try client.get("/freezer.trend") == "falls")
        #expect(try client.get("/freezer.warmest") == -12.5)
        #expect(try client.get("/freezer.coldest") == -20.0)
        // The first change is shown at once, the second one not yet.
        #expect(try client.get("/freezer.shown") == -12.5)
        for name in ["mean", "calm"] {
            let value = try #require(try client.get("/freezer.\(name)")?.number)
            #expect(value > -20 && value < -12.5, "\(name) is \(value)")
        }
        #expect(try client.get("/freezer.power") == 0.0)
        try client.set("/freezer.pulses", 1000)
        #expect(try client.get("/freezer.power") == 0.0)
        try client.set("/freezer.pulses", 1005)
        #expect(try #require(try client.get("/freezer.power")?.number) > 0)
        let recorded = try client.call("history", ["path": "/freezer.temperature"])
        #expect(recorded["span"] == 86400.0 && recorded["step"] == 144.0)
        #expect(recorded["least"]?.list?.last == -20.0)
        #expect(try daemon.stop() == 0)
    }

    @Test("an alarm comes by itself, and its deadline is kept over a restart") func alarm() throws {
        let folder = try Folder()
        let text = try scene(["5m": "3s"])
        let configuration = "state-directory = \(folder.file("state"))\n"
        var daemon = try Daemon(scenes: [text], configuration: configuration, folder: folder)
        var client = try daemon.client()
        try client.set("/freezer.isOpen", true)
        #expect(try client.get("/freezer.alarm") == false)
        let since = try client.get("/freezer.openedOrClosed")
        #expect(try daemon.stop() == 0)

        daemon = try Daemon(scenes: [text], configuration: configuration, folder: folder)
        client = try daemon.client()
        #expect(try client.get("/freezer.openedOrClosed") == since)
        try client.call("subscribe", ["paths": ["/freezer.alarm"]])
        #expect(try client.value(of: "/freezer.alarm") { $0 == true } == true)
        try client.set("/freezer.isOpen", false)
        #expect(try client.get("/freezer.alarm") == false)
        #expect(try daemon.stop() == 0)
    }
}
