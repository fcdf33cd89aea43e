import AttributeValues
import Foundation
import Testing

/// `agctl` against the real daemon: what it prints in a pipe, and what it ends with.
@Suite("agctl")
struct ControlTests {
    let daemon: Daemon

    init() throws { daemon = try Daemon(scenes: [Scenes.player]) }

    private func lines(_ arguments: String...) throws -> [String] {
        let (code, text) = try daemon.control(arguments)
        #expect(code == 0, "agctl \(arguments.joined(separator: " ")): \(text)")
        return text.split(separator: "\n").map(String.init)
    }

    private func json(_ arguments: String...) throws -> Value {
        let (code, text) = try daemon.control(arguments + ["--json"])
        #expect(code == 0, "agctl \(arguments.joined(separator: " ")): \(text)")
        return try JSONParser.parseOnce(text.utf8)
    }

    @Test("values are read and written, one by one and together")
    func values() throws {
        #expect(try lines("get", "/player/playButton.symbol") == ["play.circle"])
        #expect(try lines("set", "/player.isPlaying", "true") == [])
        #expect(try lines("toggle", "/player.isPlaying") == [])
        #expect(try lines("add", "/player.volume", "0.25") == [])
        #expect(try lines("transact", "append /player.queue \"a\"", "set /player.episode.title Another") == [])
        #expect(
            try lines("get", "/player.volume", "/player.queue", "/player.episode.title") == [
                "/player.volume\t0.75", "/player.queue\t[\"a\"]", "/player.episode.title\t\"Another\"",
            ])
        #expect(try json("get", "/player.volume")["value"] == 0.75)
        #expect(try json("set", "/player.volume", "1")["revision"]?.int != nil)
    }

    @Test("a watch in a pipe prints a line for every change, and goes on until it is interrupted")
    func watch() throws {
        let (watch, output) = try daemon.startControl(["watch", "/player.volume"])
        #expect(try output.line() == "/player.volume\t0.5")
        try daemon.client().set("/player.volume", 0.75)
        #expect(try output.line() == "/player.volume\t0.75")
        watch.signal(SIGINT)
        #expect([0, 130].contains(try watch.wait()))
    }

    @Test("a watch ends when its reader has closed the pipe, although nothing changes")
    func watchClosed() throws {
        let pipeline = try Program.run(
            "/bin/bash", ["-c", "agctl watch /player.volume | head -n 1; echo ${PIPESTATUS[0]}"],
            environment: [
                "AGD_SOCKET": daemon.socket,
                "PATH": Program.folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? ""),
            ], folder: daemon.folder)
        #expect(pipeline.text == "/player.volume\t0.5\n141\n")
    }

    @Test("a settled watch ends with the change that has taken a motion over")
    func watchSettled() throws {
        let (watch, output) = try daemon.startControl(["watch", "/player.volume", "--settled"])
        _ = try output.line()
        let client = try daemon.client()
        for value in [0.75, 1] {
            try client.call(
                "set", ["path": "/player.volume", "value": .double(value), "animation": "linear(duration: 0.1)"])
        }
        #expect(try watch.wait() == 0)
        var told: [String] = []
        while let line = try output.line() { told.append(line) }
        #expect(told.filter { $0.contains("completed removed") }.count == 2)
        #expect(told.last?.contains("completed removed") == true)
    }

    @Test("a settled watch ends when its daemon is back, if the daemon ended during the motion")
    func watchSettledOverRestart() throws {
        let (watch, output) = try daemon.startControl(["watch", "/player.volume", "--settled"])
        #expect(try output.line() == "/player.volume\t0.5")
        try daemon.client().call(
            "set", ["path": "/player.volume", "value": 0.75, "animation": "linear(duration: 1000)"])
        #expect(try output.line() == "/player.volume\t0.75")
        #expect(try daemon.stop() == 0)
        let again = try Daemon(scenes: [Scenes.player], folder: daemon.folder)
        #expect(try watch.wait() == 0)
        #expect(try again.stop() == 0)
    }

    @Test("a watch of everything tells what comes at the root, as its help shows")
    func watchStructure() throws {
        let (watch, output) = try daemon.startControl(["watch", "/**", "--structure", "--completion"])
        // The first value says that it watches.
        _ = try output.line()
        #expect(
            try lines("apply", "-f", try daemon.folder.write(Scenes.counter, to: "counter.yaml")) == ["added\t/counter"]
        )
        var told: [String] = []
        while told.last != "/counter.value\t0", let line = try output.line() { told.append(line) }
        #expect(told.contains("/counter\tadded"))
        watch.signal(SIGTERM)
        try watch.wait()
    }

    @Test("a watch survives its daemon, and tells what is true when it is back")
    func watchOverRestart() throws {
        let (watch, output) = try daemon.startControl(["watch", "/player.volume"])
        #expect(try output.line() == "/player.volume\t0.5")
        #expect(try daemon.stop() == 0)
        let again = try Daemon(
            scenes: [Scenes.player.replacingOccurrences(of: "volume: 0.5", with: "volume: 0.25")], folder: daemon.folder
        )
        #expect(try output.line() == "/player.volume\t0.25")
        watch.signal(SIGTERM)
        try watch.wait()
        #expect(try again.stop() == 0)
    }

    @Test("scenes come and go")
    func scenes() throws {
        let file = try daemon.folder.write(Scenes.counter, to: "counter.yaml")
        #expect(try lines("apply", "-f", file, "--dry-run") == ["added\t/counter"])
        #expect(try lines("apply", "-f", file) == ["added\t/counter"])
        let twice = try daemon.control(["apply", "-f", file])
        #expect(twice.code == 65 && twice.text.contains("hint: --merge updates nodes that exist"), "\(twice.text)")
        #expect(try lines("get", "/counter.twice") == ["0"])
        #expect(try lines("remove", "/counter") == [])
        #expect(try daemon.control(["get", "/counter.twice"]).code == 66)
        let wrong = try daemon.folder.write("agd: 1\nnodes:\n  - id: x\n    computed: { a: 1 + }\n", to: "wrong.yaml")
        let refused = try daemon.control(["apply", "-f", wrong])
        #expect(refused.code == 65)
        #expect(refused.text.contains("wrong.yaml:4:"))
    }

    @Test("a part that was exported goes back to its place as export's help says, and what stands beside it stays")
    func export() throws {
        let panels = try daemon.folder.write(
            "nodes: [{ id: panels, children: [{ id: cpu, state: { n: 1 } }, { id: disk, state: { n: 2 } }] }]\n",
            to: "panels.yaml")
        #expect(try lines("apply", "-f", panels) == ["added\t/panels"])
        let part = try daemon.folder.write(try lines("export", "/panels/cpu").joined(separator: "\n"), to: "cpu.yaml")
        #expect(try lines("apply", "-f", part, "--at", "/panels", "--merge") == [])
        #expect(try lines("set", "/panels/cpu.n", "7") == [])
        #expect(try lines("remove", "/panels/cpu") == [])
        #expect(try lines("apply", "-f", part, "--at", "/panels") == ["added\t/panels/cpu"])
        #expect(try lines("get", "/panels/cpu.n", "/panels/disk.n", "/player.volume").count == 3)
        #expect(try lines("get", "/panels/cpu.n") == ["1"])

        let player = try daemon.folder.write(try lines("export", "/player").joined(separator: "\n"), to: "player.yaml")
        #expect(try lines("remove", "/player") == [])
        #expect(try lines("apply", "-f", player) == ["added\t/player"])
        #expect(try lines("get", "/panels/cpu.n", "/player.volume").count == 2)
    }

    @Test("a value that is refused because it is no text is reported with its form as text")
    func textHint() throws {
        let hint = "use --string"
        #expect(
            try lines("apply", "-f", try daemon.folder.write(Scenes.counter, to: "counter.yaml")) == ["added\t/counter"]
        )
        for value in ["5", "true", "null", "-5", "[1]"] {
            let ended = try daemon.control(["set", "/counter.text", value])
            #expect(ended.code == 65 && ended.text.contains("to write the text \(value), \(hint)"), "\(ended.text)")
        }
        #expect(try lines("set", "/counter.text", "5", "--string") == [])
        #expect(try !daemon.control(["set", "/player.volume", "true"]).text.contains(hint))
    }

    @Test("the graph can be looked into")
    func seeing() throws {
        #expect(try lines("tree", "/player").first == "/player")
        #expect(try json("tree", "/player")["id"] == "player")
        #expect(try lines("explain", "/player/playButton.symbol").contains { $0.contains("/player.isPlaying") })
        #expect(try lines("dump", "--format", "dot").first == "digraph agd {")
        #expect(try lines("stats").contains { $0.hasPrefix("requests") })
        #expect(try json("stats")["nodes"]?.int == 4)
        #expect(try lines("ping").first?.hasPrefix("agd answers") == true)
        #expect(try json("describe", "/player.volume")["type"] == "double")
    }

    /// Runs a line of the shell, in which `agctl` is the program under test.
    private func shell(_ line: String) throws -> (code: Int32, text: String) {
        try Program.run(
            "/bin/sh", ["-c", "agctl() { \"$0\" \"$@\"; }; \(line)", Program.built("agctl")],
            environment: ["AGD_SOCKET": daemon.socket], folder: daemon.folder)
    }

    @Test(
        "a closed standard input or output never leads to text being sent to the daemon",
        arguments: [
            "agctl get /player.episode.title >&-", "agctl get /player.volume --json >&-",
            "agctl feed /player.volume <&-",
            "agctl transact <&-", "agctl eval --cases - <&-", "agctl apply -f - <&- >&-",
        ])
    func closedDescriptors(_ line: String) throws {
        let request = #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/player.volume","value":42}}"#
        try daemon.client().set("/player.episode.title", .string(request))
        let ended = try shell(line)
        #expect(ended.code == 74, "\(ended.text)")
        #expect(ended.text.contains("standard "))
        #expect(try daemon.client().get("/player.volume") == 0.5)
    }

    @Test(
        "get ends with 65 for what is no path, 66 where something is missing, 2 where something holds an error, however many it reads",
        arguments: [
            (["/faulty.bad"], 2), (["/faulty.bad", "/faulty.list"], 2), (["/faulty.*"], 2), (["/faulty.list"], 0),
            (["/faulty.list[9]"], 66), (["/faulty.list[9]", "/faulty.bad"], 66),
            (["/nowhere.value", "/faulty.list"], 66), (["/nowhere.*"], 66),
            (["bad"], 65), (["/faulty.list", "bad"], 65), (["bad", "/nowhere.value"], 65), (["/faulty.*y"], 65),
            (["/faulty", "/faulty.list"], 65),
        ] as [([String], Int32)])
    func readingStatus(paths: [String], code: Int32) throws {
        let scene = try daemon.folder.write(
            "nodes: [{ id: faulty, state: { list: [1] }, computed: { bad: \"1 / (list[0] - 1)\" } }]\n",
            to: "faulty.yaml")
        #expect(try lines("apply", "-f", scene) == ["added\t/faulty"])
        for json in [[], ["--json"]] { #expect(try daemon.control(["get"] + paths + json).code == code, "\(json)") }
    }

    @Test("control characters that users have written reach no terminal, neither in lines nor as JSON")
    func controlCharacters() throws {
        let scene = try daemon.folder.write(
            #"{"nodes": [{"id": "x\u009b", "state": {"t": "a\u009b\u007f\u001b"}}]}"#, to: "control.json")
        #expect(try daemon.control(["apply", scene]).code == 0)
        for words in [
            ["get", "/**.t", "--json"], ["get", "/**.t"], ["dump", "--format", "dot"], ["dump"],
            ["tree", "/"], ["watch", "/**.t", "--once", "--json"], ["watch", "/**.t", "--once"],
            ["call", "get", #"{"paths":["/**.t"]}"#], ["describe", "/", "--json"], ["export", "--json"],
        ] {
            let told = try daemon.control(words)
            #expect(told.code == 0, "\(told.text)")
            let isSafe = told.text.unicodeScalars.allSatisfy {
                $0 == "\n" || $0 == "\t" || $0.value >= 0x20 && !(0x7f..<0xa0).contains($0.value)
            }
            #expect(isSafe && told.text.contains("\\u009b"), "\(words): \(told.text.debugDescription)")
        }
    }

    @Test("apply takes the scene as an argument or an option, and one of them") func applyFile() throws {
        let scene = try daemon.folder.write(Scenes.counter, to: "counter.yaml")
        #expect(try lines("apply", scene) == ["added\t/counter"])
        #expect(try daemon.control(["apply", scene, "-f", scene]).code == 64)
        let missing = try daemon.control(["apply"])
        #expect(missing.code == 64 && missing.text.contains("hint: agctl apply scene.yaml"), "\(missing.text)")
    }

    @Test("a write to a pattern is refused with the option that writes all that match, in one transaction")
    func patterns() throws {
        let scene = """
            nodes:
              - { id: lamps, kind: container, children: [
                  { id: a, state: { isOn: true, level: 1.5 } }, { id: 'b c', state: { isOn: true, level: 2.5 } } ] }
            """
        _ = try lines("apply", try daemon.folder.write(scene, to: "lamps.yaml"))
        for words in [
            ["set", "/lamps/*.isOn", "false"], ["add", "/lamps/*.level", "1"], ["toggle", "/lamps/*.isOn"],
        ] {
            let told = try daemon.control(words)
            #expect(told.code == 65 && told.text.contains("only patterns have *"), "\(told.text)")
            #expect(told.text.contains("--all changes all attributes that match"), "\(told.text)")
        }
        let client = try daemon.client()
        func revision() throws -> Double? { try client.call("get", ["path": "/lamps/a.isOn"])["revision"]?.number }
        let before = try #require(try revision())
        #expect(try daemon.control(["set", "--all", "/lamps/*.isOn", "false", "--label", "night"]).code == 0)
        #expect(try client.get("/lamps/a.isOn") == .bool(false) && client.get("/lamps/\"b c\".isOn") == .bool(false))
        #expect(try revision() == before + 1)
        #expect(try daemon.control(["add", "/lamps/*.level", "1", "--all", "--once", "x"]).code == 0)
        #expect(try daemon.control(["add", "/lamps/*.level", "1", "--all", "--once", "x"]).code == 0)
        #expect(try client.get("/lamps/a.level") == .double(2.5) && client.get("/lamps/\"b c\".level") == .double(3.5))
        #expect(try daemon.control(["toggle", "--all", "/lamps/**.isOn"]).code == 0)
        #expect(try client.get("/lamps/a.isOn") == .bool(true) && client.get("/lamps/\"b c\".isOn") == .bool(true))
        let none = try daemon.control(["set", "--all", "/lamps/*.colour", "1"])
        #expect(none.code == 66 && none.text.contains("nothing matches /lamps/*.colour"), "\(none.text)")
        // One attribute that cannot be written: none is.
        let mixed = try daemon.control(["set", "--all", "/lamps/a.*", "false"])
        #expect(mixed.code == 65 && mixed.text.contains("level"), "\(mixed.text)")
        #expect(try client.get("/lamps/a.isOn") == .bool(true))
    }

    @Test("nodes before one that cannot be removed are removed")
    func removal() throws {
        let scene = try daemon.folder.write("nodes: [{ id: a }, { id: b }]\n", to: "two.yaml")
        #expect(try lines("apply", "-f", scene).count == 2)
        let ended = try daemon.control(["remove", "/a", "/nowhere", "/b"])
        #expect(ended.code == 66 && ended.text.contains("nowhere"))
        #expect(
            try lines("tree", "--nodes", "/").map { $0.filter(\.isLetter) }.filter { ["a", "b"].contains($0) } == ["b"])
    }

    @Test("what takes no pattern says what does, and remove how to remove all nodes in one") func noPatterns() throws {
        let scene = try daemon.folder.write(
            "nodes: [{ id: box, kind: container, children: [{ id: a }, { id: 'b c' }] }]\n", to: "box.yaml")
        #expect(try lines("apply", "-f", scene).contains("added\t/box"))
        for words in [["describe", "/box/*"], ["move", "/box/*", "--index", "0"], ["do", "/box/*.x"]] {
            let told = try daemon.control(words)
            #expect(told.code == 65 && told.text.contains("only get and subscribe"), "\(told.text)")
        }
        let fed = try shell("echo 'set /box/*.x 1' | agctl feed")
        #expect(fed.code == 65 && fed.text.contains("only get and subscribe"), "\(fed.text)")
        let told = try daemon.control(["remove", "/box/*"])
        #expect(told.code == 65, "\(told.text)")
        let hint = try #require(told.text.firstMatch(of: /to remove all nodes in \/box: (.*)\n/)).1
        // Only this shell knows the program by its name.
        let command = String(hint).replacing("xargs -d '\\n' agctl", with: "xargs -d '\\n' \"$0\"")
        let done = try shell(command)
        #expect(done.code == 0, "\(command): \(done.text)")
        #expect(try lines("list", "--nodes", "/box") == [])
    }

    /// The objects that a command ended with, one a line.
    private func errors(_ text: String) throws -> [Value] {
        try text.split(separator: "\n").map { try #require(try JSONParser.parseOnce($0.utf8)["error"], "\($0)") }
    }

    @Test("all errors are JSON with --json")
    func errorsAsJSON() throws {
        #expect(try errors(try daemon.control(["get", "--json"]).text).map { $0["status"] } == [64])
        #expect(
            try errors(try daemon.control(["set", "/player.volume", "--depth", "1", "--json"]).text).map {
                $0["status"]
            } == [64])
        #expect(try errors(try daemon.control(["bogus", "--json"]).text).map { $0["status"] } == [64])
        let fed = try shell("printf '1\\n\"x\"\\nx\\n' | agctl feed /player.volume --json --keep-going")
        let refused = try errors(fed.text)
        #expect(
            fed.code == 65 && refused.count == 2 && refused.contains { $0["code"] == "typeMismatch" }, "\(fed.text)")
        let wrong = try daemon.folder.write("nodes:\n  - id: x\n    computed: { a: 1 +, b: y }\n", to: "wrong.yaml")
        let applied = try errors(try daemon.control(["apply", "-f", wrong, "--json"]).text)
        let checked = try JSONParser.parseOnce(try daemon.control(["check", wrong, "--json"]).text.utf8)
        #expect(applied.count == 1 && applied[0]["faults"] == checked && checked.list?.count == 2)
    }

    @Test("files that begin with a byte order mark are read without it")
    func byteOrderMark() throws {
        let scene = try daemon.folder.write("\u{feff}" + Scenes.counter, to: "counter.yaml")
        #expect(try lines("apply", "-f", scene) == ["added\t/counter"])
        let changes = try daemon.folder.write("\u{feff}set /counter.value 5\r\n", to: "changes.txt")
        #expect(try lines("transact", "--file", changes) == [] && lines("get", "/counter.twice") == ["10"])
    }

    @Test(
        "bytes that are not UTF-8 are refused, not replaced",
        arguments: [
            "agctl set /counter.text \"$(printf 'caf\\351')\"", "printf 'caf\\351\\n' | agctl feed /counter.text --raw",
            "printf 'caf\\351\\n' | agctl feed /counter.text --keep-going",
            "printf 'set /counter.text caf\\351\\n' | agctl transact",
            "agctl transact \"$(printf 'set /counter.text caf\\351')\"",
        ])
    func notUTF8(_ line: String) throws {
        #expect(
            try lines("apply", "-f", try daemon.folder.write(Scenes.counter, to: "counter.yaml")) == ["added\t/counter"]
        )
        let ended = try shell(line)
        #expect(ended.code == 65 && ended.text.contains("not UTF-8"), "\(ended.text)")
        #expect(try daemon.client().get("/counter.text") == "")
    }

    @Test(
        "output that cannot be written is an error",
        arguments: [
            "eval '1 + 1'", "eval --cases -", "get /player.volume", "curve bouncy", "--help", "check - --json",
        ])
    func fullDisk(_ command: String) throws {
        let ended = try shell("echo '{\"expr\": \"1\"}' | agctl \(command) >/dev/full")
        #expect(ended.code == 74, "\(ended.text)")
    }

    @Test("negative numbers and durations need no -- before them")
    func negative() throws {
        #expect(try lines("eval", "-5 + 3") == ["-2"])
        #expect(try lines("eval", "-5") == ["-5"])
        #expect(try lines("set", "/player.volume", "-0.5", "--label", "-3") == [])
        #expect(try lines("get", "/player.volume") == ["-0.5"])
        #expect(try lines("explain", "/player.volume").contains { $0.contains("'-3'") })
        let scene = try daemon.folder.write(
            "nodes: [{ id: alarm, state: { time: { initial: 1h, type: duration } } }]\n", to: "alarm.yaml")
        #expect(try lines("apply", "-f", scene) == ["added\t/alarm"])
        #expect(try lines("add", "/alarm.time", "-10m") == [])
        #expect(try lines("add", "/alarm.time", "-5s", "--label", "x") == [])
        #expect(try lines("get", "/alarm.time") == ["2995s"])
    }

    @Test(
        "colours of complaints are as --color says, behind the verb as before it",
        arguments: [
            "get /nowhere.value", "feed /nowhere.value", "set /player.volume loud", "bogus", "eval '1 +'",
            "curve bogus",
        ])
    func complaintColors(_ command: String) throws {
        for (choice, isColored) in [("always", true), ("never", false), ("auto", false)] {
            for line in ["agctl --color \(choice) \(command)", "agctl \(command) --color=\(choice)"] {
                let ended = try shell("echo 1 | \(line)")
                #expect(ended.code != 0 && ended.text.contains("\u{1b}[") == isColored, "\(line): \(ended.text)")
            }
        }
    }

    @Test("events are described as methods are")
    func events() throws {
        #expect(try lines("describe", "update").contains { $0.contains("timeline") || $0.contains("changes") })
        #expect(try json("describe", "update")["name"] == "update")
        #expect(try lines("describe").contains { $0.contains("bookmark") })
        #expect(try daemon.control(["describe", "updaet"]).text.contains("did you mean 'update'?"))
    }

    @Test("agctl and the daemon name a faulty mutation with the same number")
    func mutationNumbers() throws {
        let valid = "set /player.volume 1"
        #expect(try daemon.control(["transact", valid, "sett /player.volume 2"]).text.contains("mutations[1]: "))
        #expect(try daemon.control(["transact", valid, "set /player.volume loud"]).text.contains("mutations[1]: "))
        let list = #"[{"op":"set","path":"/player.volume","value":1},{"op":"set","path":"/player.volume","value":2}]"#
        #expect(try daemon.control(["transact", list, "set /player.volume loud"]).text.contains("mutations[2]: "))
        #expect(try daemon.control(["transact", list, #"{"op":"toggle"}"#]).text.contains("mutations[2] lacks "))
    }

    @Test("a binding without a name or type is refused", arguments: ["=5", ":=5", ":int=5", "x:=5", "x"])
    func unnamedBinding(_ binding: String) throws {
        let ended = try daemon.control(["eval", "1", "--bind", binding])
        #expect(ended.code == 64 && ended.text.contains("--bind \(binding): "), "\(ended.text)")
    }

    @Test(
        "a daemon that is stopped does not hang a command that has a timeout",
        arguments: [
            ["ping"], ["get", "/player.volume"], ["watch", "/player.volume"], ["call", "ping"], ["on", "disconnect"],
        ])
    func timeout(_ arguments: [String]) throws {
        daemon.program.signal(SIGSTOP)
        defer { daemon.program.signal(SIGCONT) }
        let ended =
            arguments[0] == "on"
            ? try shell("echo 1 | agctl feed /player.volume --timeout 0.2")
            : try daemon.control(arguments + ["--timeout", "0.2"])
        #expect(ended.code == 69 && ended.text.contains("agd did not answer within 0.2 s"), "\(ended.text)")
    }

    @Test("a path with a slash in place of a dot, or a dot in place of a slash, is told how it is written")
    func separators() throws {
        for path in ["/player/volume", "/player/volume/x"] {
            #expect(try daemon.control(["get", path]).text.contains("did you mean '/player.volume'?"))
        }
        #expect(
            try daemon.control(["get", "/player.playButton.symbol"]).text.contains(
                "did you mean '/player/playButton.symbol'?"))
    }

    @Test("a text where a bool belongs is told how the bool is written", arguments: ["True", "yes", "1"])
    func bools(_ text: String) throws {
        #expect(try daemon.control(["set", "/player.isPlaying", text]).text.contains("hint: write true; "))
    }

    @Test("faulty JSON is told with the position of the fault")
    func faultyJSON() throws {
        #expect(try daemon.control(["call", "get", #"{"path": "/a.b",}"#]).text.contains("not JSON at column 16: "))
        for written in [["set", "/player.volume", "[1,]"], ["transact", "set /player.volume [1,]"]] {
            #expect(try daemon.control(written).text.contains("not JSON at column 3: a comma before ]"), "\(written)")
        }
        let file = try daemon.folder.write("[{\"op\": \"set\",\n \"path\" 5}]\n", to: "changes.json")
        let ended = try daemon.control(["transact", "--file", file])
        #expect(
            ended.text.contains("changes.json: not JSON at line 2, column 9: expected : after the key"), "\(ended.text)"
        )
    }

    @Test("a watch says which of its patterns match nothing, and waits")
    func unmatched() throws {
        let ended = try daemon.control(["watch", "/hots/**", "/player.*", "/**.volume", "--once"])
        let told = ended.text.split(separator: "\n").filter { $0.hasPrefix("agctl: ") }
        #expect(ended.code == 0 && told.first == "agctl: nothing matches /hots/** yet", "\(ended.text)")
        #expect(!ended.text.contains("/**.volume yet"))
    }

    @Test("list prints paths, one a line, and refuses an attribute")
    func list() throws {
        #expect(try lines("ls", "/player", "--nodes") == ["/player/playButton", "/player/favorite"])
        #expect(try lines("list", "/player").contains("/player.volume"))
        #expect(try daemon.control(["ls", "/player.volume"]).code == 65)
    }

    @Test("a layer is applied, listed, drawn, applied again and withdrawn")
    func layers() throws {
        let text = "nodes: [{ id: playButton, state: { size: 2 } }, { id: lamp, state: { on: false } }]\n"
        let scene = try daemon.folder.write(text, to: "lamp.yaml")
        func apply() throws -> [String] { try lines("apply", scene, "--at", "/player", "--layer", "lamp") }
        #expect(try apply() == ["added\t/player/lamp", "changed\t/player/playButton"])
        #expect(try apply() == [])
        let listed: [String] = try lines("layers").joined(separator: "\t").components(separatedBy: "\t")
        #expect(listed.count == 5 && listed[..<2] + listed[3...] == ["lamp", "/player", "2", "0"], "\(listed)")
        #expect(try lines("tree", "/player", "--layers", "--nodes").contains { $0.contains("lamp (lamp at /player)") })
        #expect(try lines("tree", "/player", "--nodes").contains { $0.hasSuffix("─ lamp") })
        #expect(try lines("set", "/player/lamp.on", "true") == [])
        _ = try daemon.folder.write(text.replacingOccurrences(of: "size: 2", with: "size: 3"), to: "lamp.yaml")
        #expect(try apply() == ["changed\t/player/playButton"])
        #expect(try lines("get", "/player/lamp.on") == ["true"])
        #expect(try daemon.control(["apply", scene, "--layer", "lamp", "--merge"]).code == 64)
        #expect(try lines("remove", "--layer", "lamp", "/player") == [])
        #expect(try lines("layers") == [])
        #expect(try daemon.control(["get", "/player/lamp.on"]).code == 66)
        #expect(try daemon.control(["remove", "--layer", "lamp", "/player"]).code == 66)
    }

    @Test("a diff shows the definitions that differ, not values and not other nodes")
    func diff() throws {
        #expect(try lines("set", "/player.volume", "0.75") == [])
        let same = try daemon.folder.write(Scenes.player, to: "same.yaml")
        #expect(try lines("diff", same) == [])
        let counter = try daemon.folder.write(Scenes.counter, to: "counter.yaml")
        #expect(try lines("apply", "-f", counter).count == 1)
        #expect(try lines("diff", same) == [])
        let other = try daemon.folder.write(
            Scenes.counter.replacingOccurrences(of: "value * 2", with: "value * 3"), to: "other.yaml")
        let ended = try daemon.control(["diff", other])
        #expect(ended.code == 1 && ended.text.contains("/counter.twice"), "\(ended.text)")
        #expect(try lines("set", "/counter.value", "2") == [] && lines("get", "/counter.twice") == ["4"])
    }

    /// Runs `agctl edit` with a sed script as the editor.
    private func edit(_ path: String, _ script: String) throws -> (code: Int32, text: String) {
        try Program.run(
            "agctl", ["edit", path],
            environment: [
                "AGD_SOCKET": daemon.socket, "EDITOR": "sed -i '\(script)'", "TMPDIR": daemon.folder.path,
            ], folder: daemon.folder)
    }

    @Test("an edit changes definitions and values, and removes what was deleted")
    func edit() throws {
        let scene =
            "nodes: [{ id: e, state: { n: 1 }, computed: { m: n + 1 }, children: [{ id: gone }, { id: kept }] }]\n"
        #expect(try lines("apply", "-f", try daemon.folder.write(scene, to: "e.yaml")).count == 1)
        #expect(try lines("set", "/e.n", "5") == [])
        let ended = try edit("/e", "s/n + 1/n + 2/; s/n: 5/n: 7/; s/{ id: gone, kind: view }, //")
        #expect(ended.code == 0, "\(ended.text)")
        #expect(try lines("get", "/e.n", "/e.m") == ["/e.n\t7", "/e.m\t9"])
        #expect(try lines("ls", "/e", "--nodes") == ["/e/kept"])
        #expect(try edit("/e", "").text == "")
    }

    @Test("an edit that is refused changes nothing, and its text is kept")
    func refusedEdit() throws {
        let ended = try edit("/player", "s/volume: 0.5/volume: 1/; s/computed:/compute:/")
        #expect(ended.code == 65, "\(ended.text)")
        #expect(try lines("get", "/player.volume") == ["0.5"])
        let name = try #require(ended.text.firstMatch(of: /the text is in ([^;]+);/)).1
        #expect(try String(contentsOfFile: String(name), encoding: .utf8).contains("compute:"))
    }

    @Test("a context is a name for a socket")
    func contexts() throws {
        let config = daemon.folder.file("config")
        try FileManager.default.createDirectory(atPath: config + "/agd", withIntermediateDirectories: true)
        try "web = \(daemon.socket)\n".write(toFile: config + "/agd/contexts", atomically: true, encoding: .utf8)
        func run(_ arguments: [String], _ more: [String: String] = [:]) throws -> (code: Int32, text: String) {
            let variables = ["XDG_CONFIG_HOME": config].merging(more) { $1 }
            return try Program.run("agctl", arguments, environment: variables, folder: daemon.folder)
        }
        #expect(try run(["--context", "web", "get", "/player.volume"]).text == "0.5\n")
        #expect(try run(["get", "/player.volume"], ["AGD_CONTEXT": "web"]).text == "0.5\n")
        #expect(try run(["contexts"]).text == "web\t\(daemon.socket)\n")
        #expect(try run(["get", "/player.volume", "--context", "db"]).code == 66)
        #expect(try run(["get", "/player.volume"], ["AGD_CONTEXT": "db", "AGD_SOCKET": daemon.socket]).code == 0)
    }

    @Test(
        "each exit status is the one in the help",
        arguments: [
            (["get", "/player.volume"], 0), (["get", "/nowhere.value"], 66), (["set", "/player.volume", "loud"], 65),
            (["transact", "test /player.volume 7"], 75), (["get"], 64), (["bogus"], 64),
            (["get", "/player.volume", "--socket", "/nonexistent/agd.sock"], 69), (["eval", "1 / 0"], 2),
            (["--help"], 0),
            (["set", "--help"], 0), (["help"], 0), (["help", "set"], 0), (["help", "bogus"], 64),
            (["describe", "nothing"], 66),
        ] as [([String], Int32)])
    func status(arguments: [String], code: Int32) throws {
        let ended = try daemon.control(arguments)
        #expect(ended.code == code, "\(ended.text)")
        #expect(!ended.text.isEmpty)
    }
}
