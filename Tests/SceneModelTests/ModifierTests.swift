import AttributeValues
import SceneModel
import Testing

@Suite("Keys and modifiers as written")
struct ModifierTests {
    @Test("keys have a long and a short form")
    func keys() throws {
        let keys = try scene(
            "keys: { environment: { a: 1, b: { default: 1, type: double }, c: { x: 1 }, d: { default: { default: 1 } }, e: { type: 'int?' } }, container: { f: false } }"
        ).declarations
        #expect(
            keys.environment.mapValues { "\($0.type) \($0.defaultValue)" } == [
                "a": "int 1", "b": "double 1.0", "c": "map {\"x\":1}", "d": "map {\"default\":1}", "e": "int? null",
            ])
        #expect(keys.container["f"]?.type == .bool)
    }

    @Test("system values are keys of every scene, and can be declared again with their type only")
    func system() throws {
        let names = ["locale", "timeZone", "colorScheme", "reduceMotion", "scenePhase", "pixelLength", "calendar"]
        let node = try scene("nodes: [{ id: n, inherit: [\(names.joined(separator: ", "))] }]").node("n")
        #expect(
            node.attributes.map { "\($0.name) \($0.type)" }
                == zip(names, ["string", "string", "string", "bool", "string", "double", "string"]).map {
                    "\($0) \($1)"
                })
        _ = try scene("keys: { environment: { locale: { default: de_DE } } }")
        #expect(
            onlyFault("keys: { environment: { locale: 5 } }").contains(
                "'locale' is a system value of type string, not int"))
    }

    @Test("a grouped key is written by key path, each part with its own type")
    func keyPaths() throws {
        let keys = "keys: { container: { pin: { default: { rotation: 0.0, offset: { x: 0 } } }, plain: 1 } }\n"
        let node = try scene(keys + "nodes: [{ id: n, containerValues: { pin.rotation: 10, pin.offset.x: 3 } }]").node(
            "n")
        #expect(node.containerValues.map(\.steps) == [[.key("rotation")], [.key("offset"), .key("x")]])
        #expect(node.containerValues.map(\.expression.text) == ["10.0", "3"])
        #expect(
            onlyFault(keys + "nodes: [{ id: n, containerValues: { pin.rotatoin: 10 } }]").contains(
                "has no .rotatoin | did you mean '.rotation'?"))
        #expect(
            onlyFault(keys + "nodes: [{ id: n, containerValues: { pin.offset.x: left } }]").contains(
                "'pin.offset.x' is an int, not the text 'left'"))
        #expect(
            onlyFault(keys + "nodes: [{ id: n, containerValues: { plain.x: 1 } }]").contains(
                "'plain' is an int and has no .x"))
    }

    @Test(
        "a value of the wrong type is told, from a literal, a rule or a reference",
        arguments: [
            ("text", "not the text 'text'"), ("='a' + 'b'", "but this is a string"), ("$flag", "but this is a bool"),
        ])
    func types(_ written: String, _ message: String) {
        let text =
            "keys: { environment: { scale: 1.0 } }\nnodes: [{ id: n, state: { flag: true }, environment: { scale: \(written) } }]"
        #expect(onlyFault(text).contains("'scale' is a double, \(message)"))
    }

    @Test("ints stand for doubles, texts for colours and durations")
    func widening() throws {
        let keys =
            "keys: { environment: { scale: 1.0, tint: { default: red, type: color }, wait: { default: 1s, type: duration } } }\n"
        let node = try scene(
            keys + "nodes: [{ id: n, state: { count: 1 }, environment: { scale: $count, tint: =\"blue\", wait: 2m } }]"
        ).node("n")
        #expect(node.environment.map(\.expression.text) == ["$count", "=\"blue\"", "\"120s\""])
    }

    @Test("objects in the environment are referred to, one of a type")
    func objects() throws {
        let types = "types: { A: {}, B: {} }\n"
        let node = try scene(
            types + "nodes: [{ id: n, state: { a: { type: A }, b: { type: B } }, environment: { objects: [$a, $b] } }]"
        ).node("n")
        #expect(node.environmentObjects.map(\.reference) == [Reference(name: "a"), Reference(name: "b")])
        #expect(
            onlyFault(
                types
                    + "nodes: [{ id: n, state: { a: { type: A }, b: { type: A } }, environment: { objects: [$a, $b] } }]"
            ).contains("A is given twice"))
        #expect(
            onlyFault("nodes: [{ id: n, state: { a: 1 }, environment: { objects: [$a] } }]").contains(
                "'$a' is an int, not an object"))
        #expect(
            onlyFault("nodes: [{ id: n, state: { a: 1 }, environment: { objects: [a] } }]").contains(
                "objects takes references such as $a"))
    }

    @Test("an animation follows a value that can change, with any curve in either form")
    func animations() throws {
        let node = try scene(
            """
            nodes:
              - id: n
                state: { x: 1 }
                animation:
                  - { curve: "spring(duration: 0.3, bounce: 0.2).delay(0.1)", value: =x }
                  - { curve: { easeInOut: { duration: 1 } }, modifiers: [{ speed: 2 }], value: $x }
                  - { curve: { curve: linear, modifiers: [{ delay: 1 }] }, value: $x }
                  - { curve: null, value: =x > 1 }
            """
        ).node("n")
        #expect(
            node.animations.map(\.animation) == [
                "spring(duration: 0.3, bounce: 0.2).delay(0.1)", "easeInOut(duration: 1).speed(2)",
                "linear(duration: 0.35).delay(1)", nil,
            ])
        #expect(
            onlyFault("nodes: [{ id: n, state: { x: 1 }, animation: { curve: linear, value: x } }]").contains(
                "a literal never changes"))
        #expect(
            onlyFault("nodes: [{ id: n, state: { x: 1 }, animation: bouncy }]").contains("animation is {curve, value}"))
        #expect(
            onlyFault("nodes: [{ id: n, state: { x: 1 }, animation: { curve: \"linear(duratoin: 1)\", value: =x } }]")
                .hasPrefix("1:63 'linear' has no argument 'duratoin'"))
    }

    @Test("transforms see the inherited value and give its type")
    func transforms() throws {
        let node = try scene(
            "keys: { environment: { scale: 1.0 } }\nnodes: [{ id: n, state: { by: 2.0 }, transformEnvironment: { scale: value * by, locale: =value + env.calendar } }]"
        ).node("n")
        #expect(node.transformEnvironment.map(\.program.text) == ["value * by", "value + env.calendar"])
        #expect(
            onlyFault(
                "keys: { environment: { scale: 1.0 } }\nnodes: [{ id: n, transformEnvironment: { scale: string(value) } }]"
            ).contains("'scale' is a double, but the rule gives a string"))
    }

    @Test(
        "undeclared keys are told with the nearest, wherever they are used",
        arguments: [
            "environment: { lineLimt: 1 }", "transformEnvironment: { lineLimt: value }", "inherit: [lineLimt]",
            "computed: { x: env.lineLimt }",
            "containerValues: { lineLimt: 1 }", "preferences: { lineLimt: 1 }", "computed: { x: preferences.lineLimt }",
        ])
    func undeclared(_ part: String) {
        let keys = "{ lineLimit: 1 }"
        #expect(
            onlyFault(
                "keys: { environment: \(keys), container: \(keys), preference: \(keys) }\nnodes: [{ id: n, \(part) }]"
            )
            .contains("did you mean 'lineLimit'?"))
    }
}
