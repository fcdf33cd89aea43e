import AttributeValues
import CommandArguments
import Testing
@testable import agctl

/// The words that shells offer.
@Suite("suggestions")
struct SuggestionTests {
    private static var nodes: [String: Value] {
        [
            "/": [
                "id": "", "path": "/",
                "children": [["path": "/player", "childCount": 2, "attributes": ["volume": [:]]], ["path": "/pause"]],
            ],
            "/player": [
                "id": "player", "path": "/player", "attributes": ["volume": [:], "a b": [:]],
                "children": [["path": "/player/button", "attributes": ["symbol": [:]]]],
            ],
        ]
    }

    @Test(
        "a path is continued by one name",
        arguments: [
            ("", ["/player", "/pause", "/."]), ("/p", ["/player", "/pause"]), ("/pa", ["/pause"]),
            ("/pl", ["/player", "/player.volume", "/player/"]), ("/player.v", ["/player.volume"]),
            ("/player.", ["/player.volume", "/player.\"a b\""]),
            ("/player/", ["/player/button", "/player/button.symbol"]), ("/nowhere/x", []), ("player", []),
        ])
    func places(prefix: String, offered: [String]) {
        #expect(Suggestions.suggestPaths(prefix, to: .places) { Self.nodes[$0] } == offered)
    }

    @Test(
        "no attributes are offered for the path of a node",
        arguments: [("/pl", ["/player", "/player/"]), ("/player.", [])])
    func nodes(prefix: String, offered: [String]) {
        #expect(Suggestions.suggestPaths(prefix, to: .nodes) { Self.nodes[$0] } == offered)
    }

    @Test("only actions are offered for an action's path, and then their parameters")
    func actions() {
        let lamp: Value = [
            "path": "/lamp", "childCount": 1,
            "attributes": ["isOn": ["kind": "state", "history": "600s"], "dim": ["kind": "action"]],
        ]
        func offered(_ prefix: String, _ wanted: Suggestions.Wanted) -> [String] {
            Suggestions.suggestPaths(prefix, to: wanted) { $0 == "/" ? ["children": [lamp]] : lamp }
        }
        #expect(offered("/l", .actions) == ["/lamp.dim", "/lamp/"])
        #expect(offered("/lamp.", .actions) == ["/lamp.dim"])
        #expect(offered("/lamp.", .recorded) == ["/lamp.isOn"])
        let action: Value = ["value": ["parameters": ["to": ["default": 0.1], "by": [:]]]]
        #expect(Suggestions.suggestArguments(of: action, prefix: "") == ["to=", "by="])
        #expect(Suggestions.suggestArguments(of: action, prefix: "t") == ["to="])
        #expect(Suggestions.suggestArguments(of: ["value": true], prefix: "") == [])
    }

    @Test("only curves with the typed beginning are offered")
    func curves() { #expect(Suggestions.curveNames(prefix: "bo") == ["bouncy"]) }

    @Test(
        "what can come next is offered",
        arguments: [
            ("tog", ["toggle"]), ("help di", ["diff"]), ("--json ex", ["export", "explain"]),
            ("tree / --dep", ["--depth"]), ("curve b", ["bouncy"]), ("curve smooth b", []),
            ("toggle /a.b --animation bo", ["bouncy"]), ("toggle /a.b --animation=bo", ["--animation=bouncy"]),
            ("apply -f ", [":files"]), ("doctor --state-directory ", [":folders"]), ("when x -- ", [":files"]),
            ("apply --mer", ["--merge"]), ("ping --he", ["--help"]), ("--sock", ["--socket"]),
            ("--socket ", [":files"]), ("call pi", ["ping"]),
            ("nosuchverb ", []), ("transact x -", ["--file"]),
        ])
    func next(line: String, offered: [String]) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        #expect(Array(Offer.lines(for: words, of: Agctl.self).map(\.word).prefix(offered.count)) == offered)
        if offered.isEmpty { #expect(Offer.lines(for: words, of: Agctl.self).isEmpty) }
    }
}

/// Sockets by name.
@Suite("contexts")
struct ContextTests {
    @Test("a name stands for a socket; comments and blank lines are skipped, and the first line of a name counts")
    func sockets() throws {
        let contexts = try Contexts(
            text: "# machines\n\nweb = /run/web.sock\n db=/run/db.sock \nweb = /x\n", of: "file")
        #expect(try contexts.socket(of: "web") == "/run/web.sock")
        #expect(try contexts.socket(of: "db") == "/run/db.sock")
        #expect { try contexts.socket(of: "wbe") } throws: { ($0 as? Complaint)?.hint == "did you mean 'web'?" }
    }

    @Test("a faulty line is refused with its number", arguments: ["web", "web = run/web.sock", "= /run/web.sock"])
    func faults(line: String) {
        #expect { try Contexts(text: "ok = /s\n\(line)\n", of: "file") } throws: {
            ($0 as? Complaint)?.message.hasPrefix("file:2: ") == true
        }
    }

    @Test("the user's file comes before the machine's")
    func files() {
        #expect(Contexts.files { ["HOME": "/home/me"][$0] } == ["/home/me/.config/agd/contexts", "/etc/agd/contexts"])
        #expect(
            Contexts.files { ["HOME": "/home/me", "XDG_CONFIG_HOME": "/cfg"][$0] } == [
                "/cfg/agd/contexts", "/etc/agd/contexts",
            ])
        #expect(Contexts.files { _ in nil } == ["/etc/agd/contexts"])
    }
}

@Suite("faults in JSON")
struct JSONFaultTests {
    @Test(
        "a fault is told with its position",
        arguments: [
            (#"{"a": 1,, }"#, "column 9: expected a key in double quotes, found ,"),
            (#"{"a": 1,}"#, "column 8: a comma before }"), ("[1 2]", "column 4: expected , or ], found 2"),
            (#"{"a" 1}"#, "column 6: expected : after the key, found 1"),
            ("{a: 1}", "column 2: expected a key in double quotes, found a"),
            ("[True]", "column 2: expected a value, found True"), ("[1,\n 2", "column 1: this [ is not closed"),
            ("{\n\"a\": [1,\n  x]}", "line 3, column 3: expected a value, found x"),
            ("\"abc", "column 1: this text is not closed"),
            ("1 2", "column 3: expected the end after the value, found 2"),
            ("", "column 1: expected a value, found nothing"),
            ("01", "column 1: expected a value, found 01"),
            (#""\q""#, #"column 2: there is no escape \q; a backslash is \\"#),
            (#""\u12""#, #"column 2: \u needs four hexadecimal digits"#),
            ("[1.]", "column 2: expected a value, found 1."),
        ])
    func positions(text: String, told: String) throws {
        let fault = try #require(JSONFault.find(in: text))
        #expect("\(fault.place): \(fault.message)" == told)
    }

    @Test(
        "the parser and the list of faults agree on every line",
        arguments: [
            "1", "-0.5e+3", "[]", "{}", "[[],{}]", #"{"a":[1,{"b":null}],"c":"x\n\u00e9"}"#, " [ 1 , 2 ] ", "1.", "-",
            "+1", "[,]", "{,}",
            "]", "[1]]", "nul", "1e", ".5", "[\"a\nb\"]", "tru", #"{"a":1 "b":2}"#,
        ])
    func agreement(text: String) {
        let isAccepted = (try? JSONParser.parseOnce(text.utf8)) != nil
        #expect((JSONFault.find(in: text) == nil) == isAccepted)
    }

    @Test("a deep text needs no stack")
    func depth() { #expect(JSONFault.find(in: String(repeating: "[", count: 1_000_000))?.column == 1_000_000) }
}

@Suite("scenes' own nodes and states")
struct SceneContentsTests {
    @Test("nodes and states are named by path, and values inside components too")
    func contents() throws {
        let text = """
            nodes:
              - id: a
                state: { n: 1, time: { initial: 1h, type: duration }, map: { x: 1 } }
                children: [{ id: b c, state: { m: 2 } }]
            values: { /x/a/use.k: 3 }
            """
        let contents = SceneContents(try SceneText(text: text, name: "file").document(), below: "/x")
        #expect(contents.nodes == ["/x/a", "/x/a/\"b c\""])
        #expect(
            contents.states == [
                "/x/a.n": 1, "/x/a.time": "1h", "/x/a.map": ["x": 1], "/x/a/\"b c\".m": 2, "/x/a/use.k": 3,
            ])
    }
}
