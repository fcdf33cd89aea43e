import AttributeValues
import Foundation
import TestSupport
import Testing

/// `agctl` where it runs until it is told to end: what it goes on with, and how it ends.
@Suite("agctl, running")
struct RunningControlTests {
    let daemon: Daemon

    init() throws { daemon = try Daemon(scenes: [Scenes.player]) }

    /// Asks the daemon again until the answer is the one that is waited for.
    private func wait(_ client: Client, for method: String, where isWanted: (Value) -> Bool) throws {
        let deadline = Deadline(Deadline.patience)
        while !isWanted(try client.call(method)) {
            guard !deadline.isOver else { throw Trouble("\(method) never answers what is waited for") }
        }
    }

    @Test("a watch of invalidations goes on telling them", arguments: [[], ["--json"]])
    func invalidations(_ form: [String]) throws {
        let (watch, output) = try daemon.startControl(["watch", "/player/playButton.symbol", "--invalidate"] + form)
        let client = try daemon.client()
        try wait(client, for: "stats") { $0["subscriptions"] == 1 }
        for count in 0..<4 {
            // What changes before the value has been read again belongs to the invalidation before.
            let deadline = Deadline(Deadline.patience)
            repeat {
                try #require(!deadline.isOver, "\(count) invalidations were told")
                try client.call("transact", ["mutations": [["op": "toggle", "path": "/player.isPlaying"]]])
            } while !output.socket.isReadable(within: 0.05)
            #expect(try output.line()?.contains("/player/playButton.symbol") == true)
        }
        watch.signal(SIGTERM)
        try watch.wait()
    }

    @Test("watch --wait waits for a daemon and for a path that are not there yet")
    func waitingWatch() throws {
        let folder = try Folder()
        let (ours, theirs) = try Descriptor.pair()
        let watch = try Program(
            "agctl", ["watch", "--wait", "/box.x", "--count", "2"],
            environment: ["AGD_SOCKET": folder.file("agd.sock")], folder: folder, standardOutput: theirs)
        let output = Client(socket: ours)
        func until(_ text: String) throws {
            let deadline = Deadline(Deadline.patience)
            while !watch.text.contains(text) {
                guard !deadline.isOver, !watch.isOver(within: 0.01) else { throw Trouble("no \(text): \(watch.text)") }
            }
        }
        try until("agd does not run there; waiting for agd")
        let late = try Daemon(folder: folder)
        try until("no node box in /; waiting for it")
        let client = try late.client()
        try client.call("apply", ["document": ["nodes": [["id": "box", "state": ["x": 1]]]]])
        #expect(try output.line() == "/box.x\t1")
        try client.call("set", ["path": "/box.x", "value": 2])
        #expect(try output.line() == "/box.x\t2")
        #expect(try watch.wait() == 0)
        #expect(watch.text.contains("agctl: agd is there\n"), "\(watch.text)")
        // Without --wait, nothing has changed.
        #expect(
            try Program.run("agctl", ["watch", "/box.y", "--once", "--socket", late.socket], folder: folder).code == 66)
        let nowhere = ["watch", "/box.x", "--socket", folder.file("nowhere.sock")]
        #expect(try Program.run("agctl", nowhere, folder: folder).code == 69)
    }

    @Test("when runs its command once each time the rule becomes true, with the node's attributes") func when() throws {
        let (when, output) = try daemon.startControl([
            "when", "isPlaying", "--at", "/player", "--", "sh", "-c",
            "echo \"$AGD_AT $AGD_VALUE_isPlaying $AGD_VALUE_volume\"",
        ])
        let client = try daemon.client()
        try wait(client, for: "stats") { $0["subscriptions"] == 1 }
        func set(_ path: String, _ value: Value) throws {
            try client.call("set", ["path": .string(path), "value": value])
        }
        try set("/player.isPlaying", true)
        #expect(try output.line() == "/player true 0.5")
        try set("/player.volume", 0.75)
        try set("/player.isPlaying", false)
        try set("/player.isPlaying", true)
        #expect(try output.line() == "/player true 0.75")
        when.signal(SIGTERM)
        #expect(try when.wait() == 143)
        #expect(
            try daemon.control(["when", "isPlaying", "--at", "/player", "--once", "--", "sh", "-c", "exit 3"]).code
                == 3)
        #expect(try daemon.control(["when", "isPlayin", "--at", "/player", "--once"]).code == 65)
        let elsewhere = try daemon.control(["when", "isPlaying", "--once"])
        #expect(elsewhere.code == 65 && elsewhere.text.contains("--at names another node"), "\(elsewhere.text)")
        let pattern = try daemon.control(["set", "/player.*", "1"])
        #expect(pattern.code == 65 && pattern.text.contains("only patterns have *"), "\(pattern.text)")
    }

    @Test(
        "when does not run its command again after an error in between, and may leave out a rule that is true at first")
    func whenErrors() throws {
        let client = try daemon.client()
        try client.call("apply", ["document": "nodes: [{ id: r, state: { x: 1, n: 0 } }]"])
        let rule = ["when", "10 / x > 2", "--at", "/r", "--", "sh", "-c", "echo \"$AGD_VALUE_n\""]
        let (when, output) = try daemon.startControl(rule)
        #expect(try output.line() == "0")
        let (later, laterOutput) = try daemon.startControl(Array(rule[..<4] + ["--no-initial"] + rule[4...]))
        try wait(client, for: "stats") { $0["subscriptions"] == 2 }
        // n tells which change the command has seen.
        for (n, x) in [(1, 0), (2, 1), (3, 0), (4, 5), (5, 0), (6, 2)] as [(Int64, Int64)] {
            try client.call(
                "transact",
                [
                    "mutations": [
                        ["op": "set", "path": "/r.x", "value": .int(x)],
                        ["op": "set", "path": "/r.n", "value": .int(n)],
                    ]
                ])
        }
        for output in [output, laterOutput] { #expect(try output.line() == "6") }
        for program in [when, later] {
            program.signal(SIGTERM)
            try program.wait()
        }
    }

    @Test(
        "when refuses a rule that gives no bool",
        arguments: [
            ("volume", "the rule gives no bool, but 0.5"), ("1 / 0", "the rule gives no bool"),
            ("queue", "the rule gives no bool, but []"),
            ("volume > 0.4 ? 'loud' : 'low' // why", "the rule gives no bool, but \"loud\""),
        ])
    func whenTypes(_ rule: String, _ message: String) throws {
        let (code, text) = try daemon.control(["when", rule, "--at", "/player", "--once"])
        #expect(code == 65 && text.hasPrefix("agctl: \(message)\n") && text.contains("hint:"), "\(text)")
    }

    @Test("a watch of a path in a branch waits while another branch is shown, and ends with the choice")
    func watchedBranch() throws {
        let client = try daemon.client()
        try client.call(
            "apply",
            [
                "document":
                    "nodes: [{ id: b, state: { on: true }, children: [{ if: on, then: [{ id: x, state: { n: 1 } }] }] }]"
            ])
        let (watch, output) = try daemon.startControl(["watch", "/b/x.n"])
        #expect(try output.line() == "/b/x.n\t1")
        for _ in 0..<2 {
            try client.call("set", ["path": "/b.on", "value": false])
            #expect(try output.line()?.hasPrefix("/b/x.n\terror: ") == true)
            try client.call("set", ["path": "/b.on", "value": true])
            #expect(try output.line() == "/b/x.n\t1")
        }
        try client.call("remove", ["path": "/b"])
        #expect(try watch.wait() == 66)
    }

    @Test("a watch of a path in a list waits while its element is gone") func watchedElement() throws {
        let client = try daemon.client()
        try client.call(
            "apply",
            [
                "document":
                    "nodes: [{ id: l, state: { items: [a] }, children: [{ id: rows, forEach: { in: $items, id: self, node: { state: { n: 1 } } } }] }]"
            ])
        let (watch, output) = try daemon.startControl(["watch", "/l/rows/a.n"])
        #expect(try output.line() == "/l/rows/a.n\t1")
        try client.call("set", ["path": "/l.items", "value": []])
        #expect(try output.line()?.hasPrefix("/l/rows/a.n\terror: ") == true)
        try client.call("set", ["path": "/l.items", "value": ["a"]])
        #expect(try output.line() == "/l/rows/a.n\t1")
        try client.call("remove", ["path": "/l"])
        #expect(try watch.wait() == 66)
    }

    @Test("when says why its command has not started") func missingCommand() throws {
        let (code, text) = try daemon.control(["when", "true", "--once", "--", "/nowhere/command"])
        #expect(code == 127 && text == "agctl: cannot start /nowhere/command: No such file or directory\n")
    }

    @Test("the command of when gets no value that an attribute no longer has") func staleVariable() throws {
        let client = try daemon.client()
        try client.call("apply", ["document": .string(RunningControlTests.quotient)])
        let (when, output) = try daemon.startControl([
            "when", "isOn", "--at", "/q", "--", "sh", "-c", "echo \"$AGD_VALUE_x ${AGD_VALUE_r-none}\"",
        ])
        #expect(try output.line() == "1 1")
        for (x, told) in [(0, "0 none"), (2, "2 0")] as [(Int64, String)] {
            try client.call("set", ["path": "/q.isOn", "value": false])
            try client.call(
                "transact",
                [
                    "mutations": [
                        ["op": "set", "path": "/q.x", "value": .int(x)],
                        ["op": "set", "path": "/q.isOn", "value": true],
                    ]
                ])
            #expect(try output.line() == told)
        }
        when.signal(SIGTERM)
        try when.wait()
    }

    private static let quotient = "nodes: [{ id: q, state: { x: 1, isOn: true }, computed: { r: 1 / x } }]"

    @Test(
        "it ends with 128 and the number of the signal that it is ended by",
        arguments: [
            (SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129),
        ] as [(Int32, Int32)])
    func ended(by signal: Int32, status: Int32) throws {
        for arguments in [["top", "--json", "--interval", "0.05"], ["watch", "/player.volume"]] {
            let (program, output) = try daemon.startControl(arguments)
            _ = try output.line()
            program.signal(signal)
            #expect(try program.wait() == status)
        }
    }

    @Test("a signal that its caller has it ignore is ignored, as nohup does with SIGHUP")
    func ignored() throws {
        let (ours, theirs) = try Descriptor.pair()
        let top = try Program(
            "/bin/sh", ["-c", "trap '' HUP; exec \"$0\" top --json --interval 0.05", Program.built("agctl")],
            environment: ["AGD_SOCKET": daemon.socket], folder: daemon.folder, standardOutput: theirs)
        let output = Client(socket: ours)
        _ = try output.line()
        top.signal(SIGHUP)
        // More pictures than were under way when the signal came.
        for _ in 0..<5 { #expect(try output.line() != nil) }
        top.signal(SIGTERM)
        #expect(try top.wait() == 143)
    }

    @Test("a recording that is interrupted ends, with what there is of it")
    func interruptedRecording() throws {
        let (trace, output) = try daemon.startControl(["trace", "--seconds", "3600"])
        let client = try daemon.client()
        try wait(client, for: "trace") { $0["enabled"] == true }
        trace.signal(SIGINT)
        #expect(try output.message()["traceEvents"]?.list?.isEmpty == false)
        #expect(try trace.wait() == 130)
        #expect(try client.call("trace")["enabled"] == false)
    }

    @Test("a watch with --json reports the loss and return of its daemon as JSON")
    func notices() throws {
        let (watch, output) = try daemon.startControl(["watch", "/player.volume", "--json"])
        #expect(try output.line()?.contains("0.5") == true)
        #expect(try daemon.stop() == 0)
        let again = try Daemon(
            scenes: [Scenes.player.replacingOccurrences(of: "volume: 0.5", with: "volume: 0.25")], folder: daemon.folder
        )
        #expect(try output.line()?.contains("0.25") == true)
        watch.signal(SIGTERM)
        try watch.wait()
        let notices = try watch.text.split(separator: "\n").map {
            try JSONParser.parseOnce($0.utf8)["notice"]?["message"]?.string
        }
        #expect(
            notices.count == 2 && notices[0]?.contains("waiting for agd") == true
                && notices[1]?.contains("agd is back") == true)
        #expect(try again.stop() == 0)
    }

    /// A daemon with a store in the folder of the test.
    private func startDurable(_ scene: String = Scenes.player, in folder: Folder) throws -> Daemon {
        try Daemon(
            scenes: [scene], configuration: "state-directory = \(folder.file("state"))\n", folder: folder)
    }

    @Test("a settled watch with frames ends with the end value, if the daemon ended during the motion")
    func settledFrames() throws {
        let folder = try Folder()
        let first = try startDurable(in: folder)
        let (watch, output) = try first.startControl(["watch", "/player.volume", "--settled", "--frames", "30"])
        #expect(try output.line() == "/player.volume\t0.5")
        try first.client().call(
            "set", ["path": "/player.volume", "value": 0.75, "animation": "linear(duration: 1000)"])
        var last = ""
        while !last.contains("~") { last = try #require(try output.line()) }
        #expect(try first.stop() == 0)
        let again = try startDurable(in: folder)
        while let line = try output.line() { last = line }
        #expect(last == "/player.volume\t0.75")
        #expect(try watch.wait() == 0)
        #expect(try again.stop() == 0)
    }

    @Test("top goes on when its daemon is back") func topOverRestart() throws {
        let (top, output) = try daemon.startControl(["top", "/player.*", "--json", "--interval", "0.05"])
        _ = try output.line()
        #expect(try daemon.stop() == 0)
        let again = try Daemon(scenes: [Scenes.player], folder: daemon.folder)
        let deadline = Deadline(Deadline.patience)
        while !top.text.contains("agd is back"), !deadline.isOver { _ = try output.line() }
        try again.client().set("/player.isPlaying", true)
        var line = ""
        while !line.contains("/player.isPlaying"), !deadline.isOver { line = try #require(try output.line()) }
        // Counters that began anew have not fallen.
        #expect(!line.contains(":-"), "\(line)")
        top.signal(SIGTERM)
        #expect(try top.wait() == 143)
        #expect(top.text.contains("agd closed it; waiting for agd"), "\(top.text)")
        #expect(try again.stop() == 0)
    }

    @Test("a feed whose lines are answered goes on when its daemon is back, and performs each line once")
    func feedOverRestart() throws {
        let folder = try Folder()
        var daemon = try startDurable(in: folder)
        let (ours, theirs) = try Descriptor.pair()
        let feed = try Program(
            "agctl", ["feed"], environment: ["AGD_SOCKET": daemon.socket], folder: folder, input: theirs)
        let input = Client(socket: ours)
        for number in 1...3 as ClosedRange<Int64> {
            try input.send("append /player.queue \(number)")
            let deadline = Deadline(Deadline.patience)
            while try daemon.client().get("/player.queue") != .list((1...number).map { .int($0) }), !deadline.isOver {}
            daemon.program.signal(number == 1 ? SIGTERM : SIGKILL)
            try daemon.program.wait()
            daemon = try startDurable(in: folder)
        }
        #expect(try daemon.client().get("/player.queue") == [1, 2, 3])
        shutdown(ours.number, Int32(SHUT_WR))
        #expect(try feed.wait() == 0)
        let loss = "agctl: the connection to agd was lost: agd closed it; waiting for agd\n"
        let back = "agctl: agd is back; continued where it was\n"
        #expect(feed.text.hasPrefix(loss + back + loss + back), "\(feed.text)")
        #expect(try daemon.stop() == 0)
    }

    @Test("a feed whose last lines are not answered ends, and names the line behind which it can continue")
    func feedInDoubt() throws {
        let folder = try Folder()
        let listener = try Descriptor(UnixSocket.listen(folder.file("agd.sock")), "listen")
        let (ours, theirs) = try Descriptor.pair()
        let feed = try Program(
            "agctl", ["feed", "/a.b"], environment: ["AGD_SOCKET": folder.file("agd.sock")], folder: folder,
            input: theirs)
        try Client(socket: ours).send("1\n\n3\n4")
        do {
            let peer = Client(socket: try Descriptor(accept(listener.number, nil, nil), "accept"))
            let hello = try peer.message()
            let requests = try (0..<4).map { _ in try peer.message() }
            #expect(hello["method"] == "hello" && requests.last?["params"]?["value"] == 4)
            for request in requests.prefix(2) {
                let reply: Value = ["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": ["revision": 1]]
                try peer.send(reply.jsonText)
            }
        }
        #expect(try feed.wait() == 69)
        #expect(
            feed.text.contains("line 2 was the last to be answered, and lines 3 to 4 may have been performed"),
            "\(feed.text)")
    }
}
