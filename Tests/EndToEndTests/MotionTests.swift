import AttributeValues
import Foundation
import Testing

/// Motion as a user sees it: the daemon's own clock, its socket, and agctl.
@Suite("Motion through the daemon")
struct MotionTests {
    /// The number at the end of a line of `agctl watch`, and whether it was displayed on the way.
    private func reading(_ line: String) -> (path: String, isMoving: Bool, value: Double)? {
        let parts = line.split(separator: "\t")
        guard parts.count == 2, let value = Double(parts[1].drop { $0 == "~" }) else { return nil }
        return (String(parts[0]), parts[1].hasPrefix("~"), value)
    }

    @Test("agctl watch --frames shows the podcast's button swell, to the last frame")
    func watch() throws {
        let daemon = try Daemon(sceneFiles: ["Examples/podcast.yaml"])
        let scale = "/podcaster/player/playButton.scale"
        let (watch, output) = try daemon.startControl(["watch", scale, "--frames", "60"])
        #expect(try output.line() == "\(scale)\t1.5")
        let set = try daemon.control([
            "toggle", "/podcaster/player/playButton.isPlaying", "--animation", "easeInOut(duration: 1)",
        ])
        #expect(set.code == 0, "\(set.text)")
        #expect(try output.line() == "\(scale)\t1.0", "the model changes at once")
        var shown: [Double] = []
        while shown.last != 1 {
            let line = try #require(try output.line())
            let (path, isMoving, value) = try #require(reading(line), "\(line)")
            #expect(path == scale && isMoving)
            shown.append(value)
        }
        #expect(shown.count >= 2 && shown.allSatisfy { $0 >= 1 && $0 <= 1.5 })
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 >= $1 }, "\(shown)")
        watch.signal(SIGINT)
        #expect([0, 130].contains(try watch.wait()))
    }

    @Test("a timeline is complete: by its formula a client draws what the daemon displays, frame by frame")
    func formula() throws {
        let daemon = try Daemon(scenes: [Scenes.player])
        let client = try daemon.client()
        try client.call(
            "subscribe", ["paths": ["/player.volume"], "events": ["update", "frames"], "frames": ["rate": 120]])
        _ = try client.event()
        try client.call(
            "set", ["path": "/player.volume", "value": 20, "animation": "spring(duration: 1, bounce: 0.3)"])
        let timeline = try #require(try client.event()["changes"]?[0]?["timeline"])
        func number(_ name: String, of value: Value) throws -> Double {
            try #require(value[name]?.number, "\(name) of \(value)")
        }
        let spring = try #require(timeline["curve"]?["spring"])
        let (from, to) = (try number("from", of: timeline), try number("to", of: timeline))
        let (start, settle) = (try number("start", of: timeline), try number("settle", of: timeline))
        let (m, k, c) = (
            try number("mass", of: spring), try number("stiffness", of: spring), try number("damping", of: spring)
        )
        let decay = c / (2 * m)
        let frequency = sqrt(k / m - decay * decay)
        var compared = 0
        while true {
            let frame = try client.event("frames")
            let time = try number("time", of: frame) - start
            let value = try number("/player.volume", of: try #require(frame["values"]))
            guard time < settle else {
                #expect(value == to)
                break
            }
            let swing = cos(frequency * time) + decay / frequency * sin(frequency * time)
            let expected = to + (from - to) * exp(-decay * time) * swing
            #expect(abs(value - expected) <= 1e-10, "at \(time)")
            compared += 1
        }
        #expect(compared >= 2)
    }

    @Test("a thousand running timelines that nobody samples give the daemon nothing to do")
    func rest() throws {
        let states = (0..<1000).map { "a\($0): 0.0" }.joined(separator: ", ")
        let daemon = try Daemon(scenes: ["agd: 1\nnodes:\n  - { id: n, state: { \(states) } }"])
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/n/**"], "initial": false])
        let mutations = (0..<1000).map { ["op": "set", "path": .string("/n.a\($0)"), "value": 1] as Value }
        try client.call("transact", ["mutations": .list(mutations), "animation": "spring(duration: 3600)"])
        #expect(try #require(try client.event()["changes"]?.list).count == 1000)
        let before = try client.call("stats")
        #expect(before["running_timelines"] == 1000)
        // Something that takes its time, with the daemon left alone: another program starts and ends.
        for _ in 0..<5 {
            #expect(
                try Program.run("agctl", ["curve", "bouncy", "--plot"], environment: [:], folder: daemon.folder).code
                    == 0)
        }
        let after = try client.call("stats")
        let turns = try #require(after["turns"]?.int) - #require(before["turns"]?.int)
        #expect(turns == 1, "the request itself")
        #expect(after["uptime_seconds"]?.number ?? 0 > before["uptime_seconds"]?.number ?? 0)
    }

    @Test("completion is told once each way under the path that moved, and what repeats forever stops with its node")
    func completion() throws {
        let daemon = try Daemon(scenes: [Scenes.player])
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/player.volume"], "events": ["completion"]])
        let revision = try client.call(
            "set", ["path": "/player.volume", "value": 1, "animation": "linear(duration: 0.05)"])["revision"]
        for phase in ["logical", "removed"] as [Value] {
            let event = try client.event("completion")
            #expect(event["phase"] == phase && event["transaction"] == revision && event["paths"] == ["/player.volume"])
        }
        try client.call(
            "set", ["path": "/player.volume", "value": 2, "animation": "linear(duration: 0.05).repeatForever"])
        #expect(try client.call("stats")["running_timelines"] == 1)
        try client.call("remove", ["path": "/player"])
        #expect(try client.event("completion")["phase"] == "logical")
        #expect(try client.event("completion")["phase"] == "removed")
        #expect(try client.call("stats")["running_timelines"] == 0)
    }
}
