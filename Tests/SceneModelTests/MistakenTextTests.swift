import AttributeValues
import SceneModel
import Testing

/// Mistakes that would else be read as texts or maps.
@Suite("Mistaken texts")
struct MistakenTextTests {
    private func document(_ line: String) -> String {
        """
        keys: { environment: { title: "", scale: 1.0 }, preference: { w: 0 } }
        components: { Row: { let: [text], binding: [value] } }
        nodes:
          - id: a
            state: { volume: 1.5, Hello: x, host: h, count: 1, list: [] }
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

    @Test(
        "a text that chooses or names something with $ inside is refused, with what works",
        arguments: [
            ("count > 1 ? $volume : $count", "=count > 1 ? $volume : $count"),
            ("count + $count", "=count + count"), ("$count + 1", "=count + 1"),
            ("$count > 1 ? $volume : $count", "=count > 1 ? $volume : $count"), ("${count}", "$count"),
            ("$ count", "$count"), ("list[id=count]", "$list[id=count]"),
        ])
    func references(_ text: String, _ right: String) throws {
        for key in ["let: { a: ", "environment: { title: ", "binding: { a: "] {
            let told = onlyFault(document("{ id: b, \(key)\"\(text)\" } }"))
            #expect(
                told.contains("write \(right) ") || told.hasSuffix("write \(right)") || key.hasPrefix("b"), "\(told)")
        }
        // What the hint says is accepted.
        _ = try scene(document("{ id: b, let: { a: '\(right)' } }"))
    }

    @Test(
        "a constant that was meant to be a target is refused, with what works",
        arguments: [
            ("count > 1 ? $volume : $count", "write =count > 1 ? $volume : $count to bind to the one"),
            (
                "count > 1 ? volume : count",
                "choose one with =cond ? $a : $b, write =count > 1 ? volume : count under let"
            ),
            ("count + 1", "write =count + 1 under let to read the rule's value"),
            ("list[id=count]", "write $list[id=count] to bind to it"), ("/a.count", "write $/a.count to bind to it"),
        ])
    func targets(_ text: String, _ hint: String) {
        for binding in ["\"\(text)\"", "{ to: \"\(text)\", animation: bouncy }"] {
            let told = onlyFault(document("{ id: b, binding: { x: \(binding) } }"))
            #expect(told.contains("| ") && told.contains(hint), "\(told)")
        }
    }

    @Test(
        "a rule or a reference inside a list or a map is refused wherever it would be a constant text",
        arguments: [
            "let: { m: @ }", "binding: { m: @ }", "environment: { title: @ }", "tag: @", "preferences: { w: @ }",
            "animation: { curve: linear, value: @ }", "forEach: { in: [@], node: {} }",
            "actions: { go: { set: { $volume: @ } } }", "binding: { v: { get: volume, set: { $volume: @ } } }",
            "component: Row, let: { text: @ }, binding: { value: 1 }",
        ])
    func inside(_ place: String) {
        for (value, rule) in [
            ("{ v: =count }", "{\"v\": count}"), ("[1, $volume]", "[1, volume]"),
            ("{ v: { w: [\"=count + 1\"] } }", "{\"v\": {\"w\": [count + 1]}}"),
        ] {
            let told = onlyFault(document("{ id: b, \(place.replacing("@", with: value)) }"))
            #expect(told.contains("only a whole value is a rule or a reference"), "\(told)")
            #expect(told.contains("'=\(place.contains("[@]") ? "[\(rule)]" : rule)'"), "\(told)")
        }
    }

    @Test(
        "lists and maps of ordinary texts are constants",
        arguments: [
            "{ price: $5, sum: =, formula: =A1 + B1, more: [\"==count\", $$count, $other] }", "[count, volume + 1]",
            "{ $typed: { list: [{ string: =count }] } }",
        ])
    func constants(_ text: String) throws {
        let made = try scene(document("{ id: b, let: { m: \(text) }, binding: { x: \(text) } }"))
        let written = DefinitionWriter.attribute(try made.node("a", "b").attribute("m")).value
        // The written form is read as the same value.
        let again = try scene(document("{ id: b, let: { m: \(written.jsonText) } }"))
        #expect("\(try made.node("a", "b").attribute("m").role)" == "\(try again.node("a", "b").attribute("m").role)")
    }

    @Test(
        "where a literal may be any text, a rule or a reference in it is a warning",
        arguments: [
            ("{ id: b, state: { x: count + 1 } }", "'count + 1' is a text here"),
            ("{ id: b, state: { x: { v: =count } } }", "'=count' is a text inside a map"),
            ("{ id: b, state: { x: { initial: [$volume] } } }", "'$volume' is a text inside a list"),
            ("{ id: b, let: { t: 'it is ${count} now' } }", "write '=\"it is \" + string(count) + \" now\"'"),
            ("{ id: b, let: { t: '{{ Hello }}' } }", "write '=string(Hello)'"),
            ("{ id: =Hello }", "the id '=Hello' is a"),
            ("{ switch: Hello, cases: { $host: [] } }", "a case is a literal"),
            ("{ switch: Hello, cases: { '\"x\"': [] } }", "write x"),
            ("{ id: b, forEach: { in: $list, id: element.key, node: {} } }", "write id: key"),
            (
                "{ id: b, actions: { go: { parameters: { p: { default: [=x] } }, add: { $count: 1 } } } }",
                "a default is"
            ),
        ])
    func warnings(_ node: String, _ told: String) throws {
        let warnings = try scene(document(node)).warnings?.lineByLine ?? []
        #expect(warnings.count == 1 && warnings[0].contains(told), "\(warnings)")
    }

    @Test("values and defaults of keys and types are literals, and a sign in them is a warning")
    func literals() throws {
        let text = """
            keys: { environment: { title: =name, other: { default: [$name] }, plain: { formula: = } } }
            types: { Library: { state: { books: { first: =x } } } }
            nodes: [{ id: a, state: { x: 1 } }]
            values: { /a.x: $y }
            """
        let warnings = try scene(text).warnings?.lineByLine ?? []
        #expect(warnings.count == 4 && warnings.allSatisfy { $0.contains("is a text here: ") }, "\(warnings)")
    }

    @Test(
        "data that is no list is told with what makes one",
        arguments: [
            (
                "$count",
                "write a reference to a list or a map, as in: $items, or a rule that makes one, as in: =[1, 2, 3]"
            ),
            ("=count", "lists and maps in scope are $list"), ("list", "write in: $list"),
            ("hello you", "lists and maps in scope are $list"), ("subviews", "write in: =subviews"),
        ])
    func data(_ text: String, _ hint: String) {
        let told = onlyFault(
            document("{ id: b, forEach: { in: \(text), node: {} } }"))
        #expect(told.contains("forEach needs a list") && told.contains(hint) && !told.contains("$$"), "\(told)")
    }

    @Test("an id of elements and an inherited key with a sign are told without it")
    func signs() {
        for id in ["$element.key", "=element.key", "$key"] {
            #expect(
                onlyFault(document("{ id: b, forEach: { in: [], id: \(id), node: {} } }")).hasSuffix("| write id: key"))
        }
        for key in ["$title", "=env.title", "env.title"] {
            #expect(onlyFault(document("{ id: b, inherit: { t: \(key) } }")).hasSuffix("| write title"))
        }
        #expect(
            onlyFault(document("{ id: b, environment: { scale: volume } }")).hasSuffix(
                "| write =volume or $volume for the value of the attribute"))
        for key in ["animation: { value: =count, curve: =Hello }", "transition: $Hello"] {
            #expect(onlyFault(document("{ id: b, \(key) }")).contains("neither a rule nor a reference"))
        }
    }

    @Test("stored texts are read as they were")
    func kept() throws {
        _ = try scene(
            document("{ id: b, let: { a: volume * 2, b: { v: =volume } }, binding: { x: volume } }"),
            context: SceneContext(isKept: true))
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
