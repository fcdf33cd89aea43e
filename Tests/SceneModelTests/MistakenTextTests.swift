import AttributeValues
import SceneModel
import Testing

/// Mistakes that would else be read as texts or maps.
@Suite("Mistaken texts")
struct MistakenTextTests {
    private func document(_ line: String) -> String {
        """
        keys: { environment: { title: "", scale: 1.0 } }
        components: { Row: { let: [text], binding: [value] } }
        nodes:
          - id: a
            state: { volume: 1.5, Hello: x, host: h, count: 1 }
            children:
              - \(line)
        """
    }

    @Test(
        "a text that computes something of names in scope is refused, with both ways to write it",
        arguments: [
            "volume * 2", "volume*2", "count + 1", "-volume", "volume > 1.0 ? 'loud' : 'low'", "string(count)",
            "env.scale * 2.0",
        ])
    func operations(_ text: String) {
        let message =
            "'\(text)' is a text here, but reads like a rule | write =\(text) for the rule, or { $typed: { string: \"\(text)\" } } for the text"
        #expect(onlyFault(document("{ id: b, let: { a: \"\(text)\" } }")) == "7:28 " + message)
        #expect(onlyFault(document("{ id: b, environment: { title: \"\(text)\" } }")).hasSuffix(message))
        #expect(
            onlyFault(document("{ id: b, component: Row, let: { text: \"\(text)\" }, binding: { value: $count } }"))
                .hasSuffix(message))
    }

    @Test(
        "ordinary texts stay texts",
        arguments: [
            "Hello world", "Hello", "volume", "a-b", "50 %", "1 + 1", "host: up", "(count)x", "load (avg)",
            "CPU/memory", "Hello, volume!", "a * b",
            "https://host/count", "count - total", "2024-01-01", "--verbose", "x = count", "==volume * 2",
        ])
    func texts(_ text: String) throws {
        let made = try scene(document("{ id: b, let: { a: \"\(text)\" }, environment: { title: \"\(text)\" } }"))
        guard case .constant(.literal(.string(let read))?) = try made.node("a", "b").attribute("a").role else {
            Issue.record("\(text) is no text")
            return
        }
        #expect(read == (text.hasPrefix("==") ? String(text.dropFirst()) : text))
    }

    @Test("a text in its typed form is that text, and a written definition says it so")
    func typedTexts() throws {
        let made = try scene(
            document(
                "{ id: b, let: { a: { $typed: { string: count + 1 } } }, binding: { v: { $typed: { string: count } } } }"
            ))
        for (name, text) in [("a", "count + 1"), ("v", "count")] {
            #expect(
                DefinitionWriter.attribute(try made.node("a", "b").attribute(name)).value == [
                    "$typed": ["string": .string(text)]
                ])
        }
    }

    @Test("a binding to a bare name is refused, and says how to bind to it")
    func bareNames() throws {
        #expect(
            onlyFault(document("{ id: b, binding: { x: volume } }"))
                == "7:32 'volume' is a text here, but names an attribute | write $volume to bind to it, or { $typed: { string: \"volume\" } } for the text"
        )
        #expect(
            onlyFault(document("{ id: b, binding: { x: { to: volume, animation: bouncy } } }")).contains(
                "write $volume"))
        _ = try scene(document("{ id: b, binding: { x: loud, y: 'Hello you', z: { to: other } } }"))
    }

    @Test("a binding with a mistyped key is refused, and a constant map is not")
    func bindingKeys() throws {
        #expect(
            onlyFault(document("{ id: b, binding: { isOn: { to: $volume, animaton: bouncy } } }"))
                == "7:50 a binding has no key 'animaton' | did you mean 'animation'?")
        #expect(
            onlyFault(document("{ id: b, binding: { isOn: { too: $volume, animation: bouncy } } }"))
                == "7:37 a binding has no key 'too' | did you mean 'to'?")
        let made = try scene(
            document("{ id: b, binding: { from: { to: Paris, from: Rome }, price: { amount: $5, unit: EUR } } }"))
        guard case .binding(.constant(let value)?, nil) = try made.node("a", "b").attribute("from").role else {
            Issue.record("no constant")
            return
        }
        #expect(value == ["to": "Paris", "from": "Rome"])
    }

    @Test("stored texts are read as they were")
    func kept() throws {
        _ = try scene(
            document("{ id: b, let: { a: volume * 2 }, binding: { x: volume } }"), context: SceneContext(isKept: true))
    }

    @Test("a transform takes a key path, whose type the rule has")
    func transforms() throws {
        let keys =
            "keys: { environment: { pin: { default: { rotation: 1.0, x: 1 } } } }\nnodes: [{ id: a, transformEnvironment: "
        let node = try scene(keys + "{ pin.rotation: value * 2.0 } }]").node("a")
        #expect(node.transformEnvironment.map(\.steps) == [[.key("rotation")]])
        var fields = ValueMap()
        DefinitionWriter.addModifiers(of: node, beyond: nil, into: &fields)
        #expect(fields["transformEnvironment"] == ["pin.rotation": "value * 2.0"])
        #expect(
            onlyFault(keys + "{ pin.rotation: \"string(value)\" } }]").contains(
                "'pin.rotation' is a double, but the rule gives a string"))
        #expect(onlyFault(keys + "{ pin.rotaton: value } }]").contains("did you mean '.rotation'?"))
    }
}
