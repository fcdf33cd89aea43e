import AGScenes
import AttributeValues
import Testing

/// Every form that the format has, as the builder writes it.
@Suite("scenes in Swift")
struct SceneTests {
    /// The document of a scene of one node, without what is around it.
    private func node(@SceneBuilder _ content: () -> [ScenePart]) throws -> Value? {
        let scene = try Scene(content)
        #expect(scene.document.map?["agd"] == 1)
        return scene.document.map?["nodes"]?.list?.first
    }

    /// The messages with which a scene is refused.
    private func mistakes(@SceneBuilder _ content: () -> [ScenePart]) -> [String] {
        do throws(SceneMistakes) {
            _ = try Scene(content)
            return []
        } catch {
            return error.mistakes.map(\.description)
        }
    }

    @Test("states are literals, or say their type and whether they are transient")
    func states() throws {
        let load = 0.5
        let date = Value.timestamp(try #require(Timestamp(seconds: 0)))
        let made = try node {
            View("a") {
                State("isOn", false)
                State("load", load)
                State("items", [["id": "x", "done": false]])
                State("limit", type: "int?")
                State("speed", 1, type: "double", isTransient: true)
                State("form", ["initial": 5])
                State("rule", "=x")
                State("price", "$5")
                State("date", date)
            }
        }
        #expect(
            made?.map?["state"] == [
                "isOn": false, "load": 0.5, "items": [["id": "x", "done": false]], "limit": ["type": "int?"],
                "speed": ["initial": 1, "type": "double", "transient": true], "form": ["initial": ["initial": 5]],
                "rule": "==x",
                "price": "$$5", "date": ["initial": date, "type": "timestamp"],
            ])
    }

    @Test("places are key paths: fields, positions, ids, other fields, keys that are no names")
    func places() throws {
        let made = try node {
            View {
                Binding("a", to: \.episode.isFavorite)
                Binding("b", to: \.items[0].done, animation: "bouncy")
                Binding("c", to: \.items[id: "x"].done)
                Binding("d", to: \.items[id: 7].done)
                Binding("e", to: \.people["name", is: "Ada"].age)
                Binding("f", to: \.headers["content type"])
                Binding("g", constant: true)
                Binding("h", constant: ["to": "x"])
            }
        }
        #expect(
            made?.map?["binding"] == [
                "a": "$episode.isFavorite", "b": ["to": "$items[0].done", "animation": "bouncy"],
                "c": #"$items[id="x"].done"#,
                "d": "$items[id=7].done", "e": #"$people[name="Ada"].age"#, "f": #"$headers["content type"]"#,
                "g": true,
                "h": ["to": ["to": "x"]],
            ])
    }

    @Test("lets are literals, rules or places; a literal is never taken for a rule")
    func lets() throws {
        let count = 3
        let made = try node {
            View {
                Let("a", "=text")
                Let("b", .rule("x + 1"))
                Let("c", \.x.y)
                Let("d", count)
                Let("e", ["default": 1])
                Let("f", nil)
                Let("g", .literal(Value.uint(5)))
                Let("h", .literal(Value.duration(TimeSpan(nanoseconds: 1_500_000_000))))
            }
        }
        #expect(
            made?.map?["let"] == [
                "a": "==text", "b": "=x + 1", "c": "$x.y", "d": 3, "e": ["default": 1], "f": .null, "g": "=5u",
                "h": #"=duration("1.5s")"#,
            ])
    }

    @Test("actions name what they write, with values, rules and animations") func actions() throws {
        let made = try node {
            View {
                State("volume", 1.0)
                Action("louder", parameters: ["by": 0.5], .set(\.volume, to: .rule("volume + by")).animation("smooth"))
                Action("allOff", .set("/home/*.isOn", to: false), .toggle(\.flag), .add(1, to: "/home.count"))
            }
        }
        #expect(
            made?.map?["actions"] == [
                "louder": [
                    "parameters": ["by": ["default": 0.5]],
                    "set": ["$volume": "=volume + by"], "animation": "smooth",
                ],
                "allOff": [
                    "steps": [
                        ["set": ["/home/*.isOn": false]], ["toggle": "$flag"], ["add": ["/home.count": 1]],
                    ]
                ],
            ])
    }

    @Test("parameters are names, or say their type and default")
    func parameters() throws {
        let scene = try Scene {
            Component("Plain") {
                Let("a")
                Let("b")
                Binding("c")
            }
            Component("Mixed") {
                Let("a")
                Let("b", type: "string")
                Let("c", type: "double", default: 10)
                Let("d", default: ["type": 1])
                Let("f", type: "string", defaultRule: "env.locale")
                State("g", startingWith: .rule("b"), isTransient: true)
                Binding("e", default: "$")
            }
        }
        #expect(
            scene.document.map?["components"] == [
                "Plain": ["binding": ["c"], "let": ["a", "b"]],
                "Mixed": [
                    "binding": ["e": ["default": "$$"]],
                    "let": [
                        "a": ["type": "dyn"], "b": ["type": "string"], "c": ["default": 10, "type": "double"],
                        "d": ["default": ["type": 1]], "f": ["default": "=env.locale", "type": "string"],
                    ],
                    "state": ["g": ["initial": "=b", "transient": true]],
                ],
            ])
    }

    @Test("computeds, inherited values and clocks take every form that documents have")
    func otherAttributes() throws {
        let start = try #require(Timestamp(seconds: 86_400))
        let made = try node {
            View {
                Computed("a", "b + 1")
                Computed("b", #"isOn ? "red" : "green""#, type: "color")
                Environment(\.locale)
                Environment("language", \.locale)
                Environment("library", object: "Library?")
                Clock("c", .every("1s"))
                Clock("d", .every("1s", from: start))
                Clock("e", .everyMinute)
                Clock("f", .animation())
                Clock("g", .animation(minimumInterval: "100ms"))
                Clock("h", .dates([start]))
            }
        }
        #expect(made?.map?["computed"] == ["a": "b + 1", "b": ["rule": #"isOn ? "red" : "green""#, "type": "color"]])
        #expect(made?.map?["inherit"] == ["locale": "locale", "language": "locale", "library": "Library?"])
        #expect(
            made?.map?["clock"] == [
                "c": "every 1s", "d": ["every": "1s", "start": "1970-01-02T00:00:00Z"], "e": "everyMinute",
                "f": "animation",
                "g": ["animation": ["minimumInterval": "100ms"]], "h": ["1970-01-02T00:00:00Z"],
            ])
    }

    @Test("nodes write their kind where a document would infer another")
    func kinds() throws {
        let made = try node {
            Container {
                View()
                Container()
                Group("g") { View("a") }
                Section()
                Section("s") {
                    View("a")
                } header: {
                    View("b")
                } footer: {
                    View("c")
                }
                Instance("i", of: "Card") {
                    View("a")
                } header: {
                    View("b")
                }
            }
        }
        #expect(
            made == [
                "children": [
                    [:], ["kind": "container"], ["id": "g", "kind": "group", "children": [["id": "a"]]],
                    ["kind": "section"],
                    ["id": "s", "header": [["id": "b"]], "content": [["id": "a"]], "footer": [["id": "c"]]],
                    ["id": "i", "component": "Card", "header": [["id": "b"]], "children": [["id": "a"]]],
                ]
            ])
    }

    @Test("a ForEach has data, an id, names and one node; its own attributes stand beside")
    func forEach() throws {
        let made = try node {
            ForEach("rows", in: \.list.items, id: \.key, as: "item", index: "place") {
                State("limit", 5)
                Instance(of: "Row") { Binding("isDone", to: \.item.done) }
            }
        }
        #expect(
            made == [
                "id": "rows", "state": ["limit": 5],
                "forEach": [
                    "in": "$list.items", "id": "key", "as": "item", "index": "place",
                    "node": ["component": "Row", "binding": ["isDone": "$item.done"]],
                ],
            ])
        let literal = try node { ForEach(in: ["a", "b"], id: \.self) { View() } }
        #expect(
            literal?.map?["forEach"] == [
                "in": ["a", "b"], "id": "self", "as": "element", "index": "index", "node": [:],
            ])
    }

    @Test("If and Switch are choices of the document") func choices() throws {
        let made = try node {
            Container("player") {
                State("isPlaying", false)
                If("isPlaying") {
                    View("pause")
                    If("n > 1", id: "inner") { View("more") }
                } else: {
                    View("play")
                }
                Switch("mode") {
                    Case("list") { View("rows") }
                    Case("grid") { View("cells") }
                    Case.default { View("none") }
                }
            }
        }
        #expect(
            made?.map?["children"] == [
                [
                    "if": "isPlaying",
                    "then": [["id": "pause"], ["id": "inner", "if": "n > 1", "then": [["id": "more"]]]],
                    "else": [["id": "play"]],
                ],
                [
                    "switch": "mode", "cases": ["list": [["id": "rows"]], "grid": [["id": "cells"]]],
                    "default": [["id": "none"]],
                ],
            ])
        let mistakes = #expect(throws: SceneMistakes.self) {
            try node {
                Container {
                    If("a") { View("") }
                    Switch("b") {
                        Case("x") {}
                        Case("x") {}
                    }
                }
            }
        }
        #expect(
            mistakes?.mistakes.map(\.place) == [
                "nodes[0].children[0].then[0].id", "nodes[0].children[1].cases",
            ])
    }

    @Test("every modifier is written")
    func modifiers() throws {
        let width = 3
        let made = try node {
            View {
                State("isOn", false)
            }
            .environment(\.locale, "en_GB").environment(\.lineLimit, nil).environment(\.width, width).environment(
                \.x, \.isOn
            )
            .environment(object: \.library)
            .transformEnvironment(\.fontScale, "value * 2.0")
            .containerValue(\.isFeatured, true)
            .tag("=1")
            .preference(\.widest, .rule("width"))
            .animation("bouncy", value: \.isOn)
        }
        #expect(
            made == [
                "state": ["isOn": false],
                "environment": [
                    "locale": "en_GB", "lineLimit": .null, "width": 3, "x": "$isOn", "objects": ["$library"],
                ],
                "transformEnvironment": ["fontScale": "value * 2.0"], "containerValues": ["isFeatured": true],
                "tag": "==1",
                "preferences": ["widest": "=width"], "animation": [["curve": "bouncy", "value": "$isOn"]],
            ])
    }

    @Test("a modifier stands outside those before it: where the nearest wins, the first does")
    func order() throws {
        let made = try node {
            View()
                .environment(\.pin.x, 1).environment(\.pin, ["x": 0, "y": 0]).environment(\.pin.x, 2)
                .containerValue(\.pin, ["x": 0]).containerValue(\.pin.x, 1)
                .tag(1).tag(2)
                .preference(\.widest, 1).preference(\.widest, 2)
                .animation("bouncy", value: \.a).animation(nil, value: \.b)
        }
        // The whole is set first, the nearer part upon it.
        #expect(made?.map?["environment"]?.map?.keys == ["pin", "pin.x"])
        #expect(made?.map?["environment"] == ["pin": ["x": 0, "y": 0], "pin.x": 1])
        #expect(made?.map?["containerValues"] == ["pin": ["x": 0]])
        #expect(made?.map?["tag"] == 1)
        #expect(made?.map?["preferences"] == ["widest": 2])
        // In a document the last is the nearest.
        #expect(made?.map?["animation"] == [["curve": .null, "value": "$b"], ["curve": "bouncy", "value": "$a"]])
    }

    @Test("functions, and the conditions, insertions and calls of actions") func functions() throws {
        let scene = try Scene {
            Function("isLate", ["t"], rule: "t.delay >= 5")
            View("a") {
                State("log", [])
                Action("note", parameters: ["text": .null], .insert(.rule("text"), before: \.log[0]).when("text != ''"))
                Action("both", .call(\.note), .call("/a.note"))
            }
        }
        #expect(scene.document.map?["functions"] == ["isLate(t)": "t.delay >= 5"])
        let actions = scene.document.map?["nodes"]?.list?.first?.map?["actions"]?.map
        #expect(
            actions?["note"]
                == ["parameters": ["text": ["type": "dyn"]], "insert": ["$log[0]": "=text"], "when": "text != ''"])
        #expect(actions?["both"] == ["steps": [["do": "$note"], ["do": "/a.note"]]])
        #expect(throws: (any Error).self) { try Scene { Function("is late", ["t"], rule: "t.delay >= 5") } }
    }

    @Test("keys, types and components stand in their sections; a component may be a variant, and may repeat")
    func declarations() throws {
        let scene = try Scene {
            EnvironmentKey("fontScale", default: 1.0)
            EnvironmentKey("lineLimit", type: "int?")
            ContainerValueKey("isFeatured", default: false)
            PreferenceKey("widest", default: 0, reduce: "math.greatest(value, next)")
            ObjectType("Library") {
                State("books", [])
                Computed("count", "books.size()")
                Action("clear", .set(\.books, to: []))
            }
            Component("Wide", of: "Gauge") { Let("width", default: 2) }.environment(\.fontScale, 2.0)
            Component("Rows", ForEach(in: \.items) { View() })
        }
        #expect(
            scene.document == [
                "agd": 1,
                "keys": [
                    "environment": ["fontScale": ["default": 1.0], "lineLimit": ["default": .null, "type": "int?"]],
                    "container": ["isFeatured": ["default": false]],
                    "preference": ["widest": ["default": 0, "reduce": "math.greatest(value, next)"]],
                ],
                "types": [
                    "Library": [
                        "state": ["books": []], "computed": ["count": "books.size()"],
                        "actions": ["clear": ["set": ["$books": []]]],
                    ]
                ],
                "components": [
                    "Wide": [
                        "component": "Gauge", "let": ["width": ["default": 2]], "environment": ["fontScale": 2.0],
                    ],
                    "Rows": ["forEach": ["in": "$items", "id": "id", "as": "element", "index": "index", "node": [:]]],
                ],
            ])
        #expect(try JSONParser.parseOnce(scene.text.utf8) == scene.document)
    }

    @Test("a node tells where it was") func formerPlace() throws {
        let made = try node { View("lamp").was("../light") }
        #expect(made?.map?["was"] == "../light")
    }

    @Test("if, switch and for make nodes and attributes")
    func control() throws {
        func scene(_ count: Int, _ isLarge: Bool) throws -> Value? {
            try node {
                Container {
                    for number in 0..<count {
                        View("row\(number)") {
                            if isLarge { State("size", 2) } else { State("size", 1) }
                            if number == 0 { State("isFirst", true) }
                        }
                    }
                }
            }
        }
        #expect(
            try scene(2, true) == [
                "children": [
                    ["id": "row0", "state": ["size": 2, "isFirst": true]], ["id": "row1", "state": ["size": 2]],
                ]
            ])
        #expect(try scene(1, false)?.map?["children"] == [["id": "row0", "state": ["size": 1, "isFirst": true]]])
    }

    @Test("a scene that no document can express is refused with all faults and their places")
    func mistakes() {
        let found = mistakes {
            Container("a") {
                State("two words", 1)
                State("x", 1)
                Let("x", 2)
                View("") { State("bytes", .bytes([1])) }
                View("b") { Let("nan", [.double(.nan)]) }
                View("b").tag(\.self)
                ForEach(in: \.items) { View("named") }
            }
            .transformEnvironment(\.scale, "value").transformEnvironment(\.scale, "value")
            EnvironmentKey("my-key", default: 1)
            Component("Card") { State("x", 1) }
            Component("Card")
        }
        #expect(
            found == [
                "keys.environment.my-key: a key has a name of letters, digits and _, not 'my-key'",
                "components.Card: declared twice",
                "nodes[0].state.two words: an attribute has a name of letters, digits and _, not 'two words'",
                "nodes[0].let.x: the node has an attribute 'x' already",
                "nodes[0].children[0].id: an id cannot be empty",
                "nodes[0].children[0].state.bytes: a document cannot contain the bytes \(Value.bytes([1])); write it as a rule",
                "nodes[0].children[1].let.nan: a document cannot contain the double \(Value.double(.nan)); write it as a rule",
                "nodes[0].children[2].tag: a reference names an attribute, as \\.name",
                "nodes[0].children[2]: two siblings have the id 'b'",
                "nodes[0].children[3].forEach.node.id: the node of a ForEach has no id; each instance gets its id from its element",
                "nodes[0].transformEnvironment.scale: the node transforms 'scale' already; put the second transform on a Group around it",
            ])
    }

    @Test("siblings whose ids look the same and have other bytes are two") func canonicalNames() throws {
        let ids = ["K\u{FC}che", "Ku\u{308}che"]
        #expect(
            try node { Container("c") { for id in ids { View(id) } } }?.map?["children"]
                == .list(ids.map { ["id": .string($0)] }))
    }

    @Test(
        "ids that patterns or lines cannot hold are refused; a slash is an id's own character",
        arguments: ["*", "**", "a\nb"])
    func ids(_ id: String) throws {
        #expect(mistakes { View(id) }.count == 1)
        #expect(mistakes { View(String(repeating: "x", count: 256)) } == ["nodes[0].id: an id has at most 255 bytes"])
        #expect(try node { View("a/b") } == ["id": "a/b"])
    }
}
