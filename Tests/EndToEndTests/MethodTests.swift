import AttributeValues
import Foundation
import Testing

/// Every method, over the socket, as the daemon documents it.
@Suite("Methods")
struct MethodTests {
    let daemon: Daemon
    let client: Client
    let schema: Schema

    init() throws {
        daemon = try Daemon(scenes: [Scenes.player])
        client = try daemon.client()
        schema = try Schema(client)
    }

    /// The result of a call, which must have the documented shape.
    @discardableResult
    private func call(_ method: String, _ parameters: Value = [:]) throws -> Value {
        let result = try client.call(method, parameters)
        #expect(schema.faults(in: result, of: method) == [])
        return result
    }

    /// The code of a refusal, which must be among the documented ones.
    private func refusal(_ method: String, _ parameters: Value) throws -> String? {
        let error = try client.refusal(method, parameters)
        let code = error["data"]?["code"]?.string
        #expect(error["message"]?.string?.isEmpty == false)
        #expect(schema.errors(of: method).contains(code ?? "none"))
        return code
    }

    private func event(_ method: String = "update") throws -> Value {
        let event = try client.event(method)
        #expect(schema.faults(in: event, ofEvent: method) == [])
        return event
    }

    @Test("all methods of the protocol are there and describe themselves")
    func allMethods() {
        let specified = [
            "answer", "apply", "board", "delegate", "describe", "do", "dump", "eval", "explain", "get", "hello",
            "history", "layers", "log", "move", "onDisconnect", "ping", "play", "prune", "remove", "restore", "seek",
            "series", "set", "stats", "subscribe", "trace", "transact", "unsubscribe",
        ]
        #expect(schema.methods.sorted() == specified)
    }

    @Test("hello tells the protocol, the epoch and how the two clocks stand to each other")
    func hello() throws {
        let hello = try call("hello", ["client": "a test"])
        #expect(hello["server"] == "agd")
        #expect(hello["protocol"] == 1)
        let wall = try #require(hello["time"]?["wall"]?.string.flatMap { Timestamp($0) })
        #expect(abs(Double(wall.seconds) - Date().timeIntervalSince1970) < 100)
        #expect(try call("ping") == ["pong": true])
    }

    @Test("get answers one path or several, each with its value or its own error")
    func get() throws {
        #expect(try call("get", ["path": "/player.isPlaying"])["value"] == false)
        #expect(try call("get", ["path": "/player.episode.title"])["value"] == "Some Episode")
        let several = try call("get", ["paths": ["/player.volume", "/player/playButton.symbol"]])
        #expect(several["values"]?["/player.volume"]?["value"] == 0.5)
        #expect(several["values"]?["/player/playButton.symbol"]?["value"] == "play.circle")
        #expect(try call("get", ["path": "/player.volume", "typed": true])["value"] == ["double": "0.5"])
        #expect(try call("get", ["path": "/player.volume", "presentation": true])["value"] == 0.5)
    }

    @Test("an attribute's own error is an answer, not a refusal")
    func attributeError() throws {
        try call("apply", ["document": "agd: 1\nnodes: [{ id: bad, state: { zero: 0 }, computed: { x: 1 / zero } }]"])
        let answer = try call("get", ["path": "/bad.x"])
        #expect(answer["value"] == nil)
        #expect(answer["error"]?["code"] == "ruleFailed")
        try client.set("/bad.zero", 2)
        #expect(try call("get", ["path": "/bad.x"])["value"] == 0)
    }

    @Test("set writes through bindings and key paths, and each change is a revision")
    func set() throws {
        let before = try #require(try call("hello")["revision"]?.int)
        let written = try call("set", ["path": "/player/playButton.isPlaying", "value": true, "label": "tap"])
        #expect(written["revision"]?.int == before + 1)
        #expect(try call("get", ["path": "/player.isPlaying"])["value"] == true)
        try call("set", ["path": "/player/favorite.isOn", "value": true])
        #expect(try call("get", ["path": "/player.episode"])["value"] == ["title": "Some Episode", "isFavorite": true])
        #expect(try call("set", ["path": "/player.isPlaying", "value": true])["revision"]?.int == before + 2)
    }

    @Test("a refused write names both types, and changes nothing")
    func refusedWrites() throws {
        let error = try client.refusal("set", ["path": "/player.isPlaying", "value": "yes"])
        #expect(error["data"]?["code"] == "typeMismatch")
        let message = try #require(error["message"]?.string)
        #expect(message.contains("bool") && message.contains("string"))
        #expect(error["data"]?["path"] == "/player.isPlaying")
        #expect(try refusal("set", ["path": "/player/playButton.symbol", "value": "x"]) == "readOnly")
        #expect(try refusal("set", ["path": "/player.isPlayin", "value": true]) == "notFound")
        #expect(
            try client.refusal("set", ["path": "/player.isPlayin", "value": true])["data"]?["hint"]?.string?.contains(
                "isPlaying") == true)
        #expect(try refusal("set", ["path": "player..", "value": true]) == "invalid")
        #expect(try client.get("/player.isPlaying") == false)
    }

    @Test("transact does every kind of mutation, all or none")
    func transact() throws {
        let revision = try call("hello")["revision"]?.int
        try call(
            "transact",
            [
                "mutations": [
                    ["op": "test", "path": "/player.isPlaying", "value": false],
                    ["op": "toggle", "path": "/player.isPlaying"],
                    ["op": "add", "path": "/player.volume", "value": 0.25],
                    ["op": "append", "path": "/player.queue", "value": "b"],
                    ["op": "insert", "path": "/player.queue", "value": "a", "index": 0],
                    ["op": "append", "path": "/player.queue", "value": "c"],
                    ["op": "remove", "path": "/player.queue[1]"],
                    ["op": "merge", "path": "/player.episode", "value": ["isFavorite": true, "length": 60]],
                    ["op": "set", "path": "/player.episode.title", "value": "Another"],
                ], "label": "everything",
            ])
        #expect(try call("hello")["revision"]?.int == revision.map { $0 + 1 })
        #expect(try client.get("/player.isPlaying") == true)
        #expect(try client.get("/player.volume") == 0.75)
        #expect(try client.get("/player.queue") == ["a", "c"])
        #expect(try client.get("/player.episode") == ["title": "Another", "isFavorite": true, "length": 60])

        let code = try refusal(
            "transact",
            [
                "mutations": [
                    ["op": "set", "path": "/player.volume", "value": 0.1],
                    ["op": "test", "path": "/player.isPlaying", "value": false],
                ]
            ])
        #expect(code == "conflict")
        #expect(try client.get("/player.volume") == 0.75)
        #expect(try call("hello")["revision"]?.int == revision.map { $0 + 1 })
    }

    @Test("a subscription begins with a snapshot; then each transaction is one event, before the writer's reply")
    func subscribe() throws {
        let subscribed = try call("subscribe", ["paths": ["/player/**"]])
        let snapshot = try event()
        #expect(snapshot["initial"] == true)
        #expect(snapshot["subscription"] == subscribed["subscription"])
        let paths = snapshot["changes"]?.list?.compactMap { $0["path"]?.string } ?? []
        #expect(Set(paths).isSuperset(of: ["/player.isPlaying", "/player/playButton.symbol", "/player/favorite.isOn"]))

        try client.send(
            #"{"jsonrpc":"2.0","id":"w","method":"transact","params":{"label":"tap","mutations":[{"op":"toggle","path":"/player.isPlaying"},{"op":"set","path":"/player.volume","value":1}]}}"#
        )
        let update = try client.message()
        #expect(schema.faults(in: update["params"] ?? .null, ofEvent: "update") == [])
        #expect(update["params"]?["label"] == "tap")
        let changes = update["params"]?["changes"]?.list ?? []
        let values = Dictionary(changes.map { ($0["path"]?.string ?? "", $0["value"]) }) { $1 }
        #expect(
            values == [
                "/player.isPlaying": true, "/player.volume": 1.0, "/player/playButton.isPlaying": true,
                "/player/playButton.symbol": "pause.circle", "/player/playButton.scale": 1.0,
            ])
        #expect(try client.message()["id"] == "w")

        try call("unsubscribe", ["subscription": subscribed["subscription"] ?? .null])
        try call("set", ["path": "/player.volume", "value": 0.2])
        #expect(try call("ping") == ["pong": true])
        #expect(try refusal("unsubscribe", ["subscription": 4711]) == "notFound")
    }

    @Test("a write of an equal value wakes nobody")
    func equalWrite() throws {
        try call("subscribe", ["paths": ["/player.volume"]])
        _ = try event()
        try call("set", ["path": "/player.volume", "value": 0.5])
        try call("set", ["path": "/player.volume", "value": 0.6])
        #expect(try event()["changes"]?[0]?["value"] == 0.6)
    }

    @Test("invalidations say what may have changed, once until it is read, and evaluate nothing")
    func invalidate() throws {
        try call("subscribe", ["paths": ["/player/playButton.symbol"], "events": ["invalidate"]])
        let before = try call("stats")["evaluations"]
        try call("set", ["path": "/player.isPlaying", "value": true])
        #expect(try event("invalidate")["paths"] == ["/player/playButton.symbol"])
        try call("set", ["path": "/player.isPlaying", "value": false])
        #expect(try call("stats")["evaluations"] == before)
        #expect(try client.get("/player/playButton.symbol") == "play.circle")
        try call("set", ["path": "/player.isPlaying", "value": true])
        #expect(try event("invalidate")["paths"] == ["/player/playButton.symbol"])
    }

    @Test("an animated change carries its timeline; the model jumps, what is displayed moves")
    func animation() throws {
        try call("subscribe", ["paths": ["/player/playButton.scale", "/player/playButton.symbol"], "css": true])
        _ = try event()
        try call(
            "transact",
            [
                "mutations": [["op": "toggle", "path": "/player.isPlaying"]], "animation": "easeInOut(duration: 30)",
            ])
        let update = try event()
        let changes = update["changes"]?.list ?? []
        let scale = try #require(changes.first { $0["path"] == "/player/playButton.scale" })
        #expect(scale["value"] == 1.0)
        let timeline = try #require(scale["timeline"])
        #expect(timeline["from"]?.number == 1.5)
        #expect(timeline["to"]?.number == 1)
        #expect(timeline["css"] == ["duration": "30000ms", "easing": "cubic-bezier(0.42, 0, 0.58, 1)"])
        let symbol = try #require(changes.first { $0["path"] == "/player/playButton.symbol" })
        #expect(symbol["value"] == "pause.circle" && symbol["timeline"] == nil)
        // Half a minute is long enough that the displayed value is still on its way.
        let displayed = try #require(
            try call("get", ["path": "/player/playButton.scale", "presentation": true])["value"]?.number)
        #expect(displayed > 1.0 && displayed <= 1.5)
        #expect(try client.get("/player/playButton.scale") == 1.0)
    }

    @Test("the daemon samples moving values for clients that want frames, and tells the end")
    func frames() throws {
        try call(
            "subscribe",
            [
                "paths": ["/player/playButton.scale"], "events": ["frames", "completion"], "frames": ["rate": 60],
            ])
        try call(
            "transact",
            [
                "mutations": [["op": "toggle", "path": "/player.isPlaying"]], "animation": "linear(duration: 0.2)",
            ])
        let frame = try event("frames")
        let value = try #require(frame["values"]?["/player/playButton.scale"]?.number)
        #expect(value >= 1.0 && value <= 1.5)
        #expect(try event("completion")["phase"] == "logical")
        #expect(try event("completion")["phase"] == "removed")
    }

    @Test("apply adds nodes, remove takes them away, and both are told to those who watch the structure")
    func structure() throws {
        try call("subscribe", ["paths": ["/**"], "events": ["structure"]])
        let document: Value = ["agd": 1, "nodes": [["id": "lamp", "state": ["isOn": false]]]]
        let dry = try call("apply", ["document": document, "dryRun": true])
        #expect(dry["added"] == ["/lamp"])
        #expect(try refusal("get", ["path": "/lamp.isOn"]) == "notFound")
        #expect(try call("apply", ["document": document])["added"] == ["/lamp"])
        #expect(try event("structure")["added"]?.list?.contains("/lamp") == true)
        #expect(try refusal("apply", ["document": document]) == "conflict")
        #expect(try call("apply", ["document": document, "mode": "merge"])["added"] == [])

        try call("subscribe", ["paths": ["/lamp.isOn"]])
        _ = try event()
        try call("remove", ["path": "/lamp"])
        #expect(try event()["changes"]?[0]?["error"]?["code"] == "removed")
        #expect(try event("ended")["reason"]?.string?.isEmpty == false)
        #expect(try event("structure")["removed"]?.list?.contains("/lamp") == true)
        #expect(try refusal("get", ["path": "/lamp.isOn"]) == "notFound")
    }

    @Test("move changes a node's place among its siblings")
    func move() throws {
        try call("move", ["path": "/player/favorite", "index": 0])
        let children = try call("describe", ["path": "/player"])["children"]?.list ?? []
        #expect(children.first?["id"] == "favorite")
        #expect(try client.get("/player/favorite.isOn") == false)
    }

    @Test("the mutations that a client leaves for its disconnect are committed")
    func onDisconnect() throws {
        try call("subscribe", ["paths": ["/player.isPlaying"]])
        _ = try event()
        try client.set("/player.isPlaying", true)
        _ = try event()
        do {
            let other = try daemon.client()
            try other.call(
                "onDisconnect",
                [
                    "mutations": [["op": "set", "path": "/player.isPlaying", "value": false]], "label": "gone",
                ])
        }
        let update = try event()
        #expect(update["label"] == "gone")
        #expect(update["changes"]?[0]?["value"] == false)
    }

    @Test("describe, explain and dump show the tree, the reasons and the graph")
    func seeing() throws {
        let tree = try call("describe", ["path": "/player"])
        #expect(tree["id"] == "player")
        #expect(tree["children"]?.list?.count == 2)
        try client.call("set", ["path": "/player.isPlaying", "value": true, "label": "tap"])
        let reasons = try call("explain", ["path": "/player/playButton.symbol"])
        #expect(reasons["chain"] == ["/player/playButton.symbol", "/player/playButton.isPlaying", "/player.isPlaying"])
        #expect(reasons["changed"]?["label"] == "tap")
        #expect(try call("dump").jsonText.contains("/player/playButton.symbol"))
        #expect(try call("dump", ["format": "dot"])["dot"]?.string?.hasPrefix("digraph") == true)
    }

    @Test("prune says how many rows of the store had no node") func prune() throws {
        #expect(try call("prune") == ["pruned": 0])
    }

    @Test("stats count, also as OpenMetrics; trace records when asked to")
    func stats() throws {
        let first = try #require(try call("stats")["requests"]?.int)
        try call("ping")
        #expect(try #require(try call("stats")["requests"]?.int) == first + 2)
        let text = try #require(try call("stats", ["format": "openmetrics"])["text"]?.string)
        #expect(text.contains("agd_requests_total") && text.hasSuffix("# EOF\n"))
        try call("trace", ["enable": true])
        try call("set", ["path": "/player.volume", "value": 0.9])
        let trace = try call("trace", ["enable": false])
        let events = try #require(trace["traceEvents"]?.list)
        #expect(!events.isEmpty && events.allSatisfy { $0["ph"] == "X" && ($0["dur"]?.number ?? -1) >= 0 })
        #expect(trace["rules"]?.list != nil)
    }

    @Test("eval runs a rule without touching the graph, and points at mistakes")
    func eval() throws {
        #expect(try call("eval", ["expression": "a + 1", "bindings": ["a": 41]])["value"] == 42)
        #expect(try call("eval", ["expression": "volume * 2.0", "at": "/player"])["value"] == 1.0)
        #expect(try refusal("eval", ["expression": "1 +"]) == "ruleSyntax")
        let error = try client.refusal("eval", ["expression": "volum + 1.0", "at": "/player"])
        #expect(error["data"]?["code"] == "ruleType")
        #expect(error["data"]?["column"] == 1)
        #expect(error["data"]?["hint"]?.string?.contains("volume") == true)
    }
}
