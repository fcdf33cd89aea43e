import AttributeValues
import SceneModel
import Testing

@Suite("Attributes as written")
struct AttributeTests {
    private func node(_ text: String, _ here: SourceLocation = #_sourceLocation) throws -> NodeDefinition {
        try scene(
            "types: { Library: { state: { books: [], name: x }, computed: { n: books.size() } } }\nnodes:\n  - {id: n, \(text)}",
            here
        ).node("n")
    }

    private func scene(_ text: String, _ here: SourceLocation) throws -> SceneDefinition {
        try SceneModelTests.scene(text, here)
    }

    private func initial(_ node: NodeDefinition, _ name: String) throws -> Value {
        guard case .state(let value, _) = try node.attribute(name).role else { throw Failure(.invalid, "no state") }
        return value
    }

    @Test("a state takes its type from its literal")
    func inferred() throws {
        let node = try node(
            "state: { a: 1, b: 1.5, c: true, d: text, e: [1], f: { x: 1 }, g: null, h: '1', i: , j: 0x1F, k: yes, l: .inf }"
        )
        let types = node.attributes.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        #expect(
            types
                == "a int, b double, c bool, d string, e list, f map, g dyn, h string, i dyn, j int, k string, l double"
        )
    }

    @Test("a written type is the state's type, and its initial value is brought to it")
    func written() throws {
        let node = try node(
            "state: { a: { type: double, initial: 1 }, b: { type: 'int?' }, c: { type: color, initial: red }, d: { type: vector(2), initial: [1, 2] }, e: { initial: 5, transient: true }, f: { type: duration, initial: 3s }, g: { type: Library }, h: { type: Library, initial: { name: y } }, i: { type: dyn } }"
        )
        #expect(try initial(node, "a") == 1.0)
        #expect(try initial(node, "b") == .null)
        #expect(try initial(node, "c").typeName == "color")
        #expect(try initial(node, "d") == .opaque(VectorValue([1, 2])))
        guard case .state(_, isTransient: true) = try node.attribute("e").role else {
            Issue.record("e is not transient")
            return
        }
        #expect(try initial(node, "f") == .duration(TimeSpan(nanoseconds: 3_000_000_000)))
        #expect(try node.type("g") == .object("Library"))
        #expect(try initial(node, "g") == .map(ValueMap()))
        #expect(try initial(node, "h") == ["name": "y"])
        #expect(try initial(node, "i") == .null)
    }

    @Test("a map that holds other keys than initial, type and transient is a literal")
    func literalMaps() throws {
        let node = try node(
            "state: { a: { initial: 1, other: 2 }, b: { initial: { initial: 1 } }, c: { transient: true }, d: {} }")
        #expect(try initial(node, "a") == ["initial": 1, "other": 2])
        #expect(try initial(node, "b") == ["initial": 1])
        #expect(try initial(node, "c") == ["transient": true])
        #expect(try initial(node, "d") == .map(ValueMap()))
    }

    @Test("two signs begin a text with one")
    func escapes() throws {
        let node = try node("state: { a: ==x, b: $$x, c: ===, d: { y: =z } }, let: { e: ==1, f: $$price }")
        #expect(try initial(node, "a") == "=x")
        #expect(try initial(node, "b") == "$x")
        #expect(try initial(node, "c") == "==")
        #expect(try initial(node, "d") == ["y": "=z"])
        guard case .constant(.literal(let e)?) = try node.attribute("e").role else {
            Issue.record("e is no literal")
            return
        }
        #expect(e == "=1")
    }

    @Test(
        "an impossible type of a state is reported",
        arguments: [
            ("a: { type: int, initial: x }", "the initial value is the text 'x', not an int"),
            ("a: { type: int }", "a state of type int needs an initial value"),
            ("a: { type: Libary }", "there is no type 'Libary'"),
            ("a: { type: Library, initial: { bokks: [] } }", "Library has no stored property 'bokks'"),
            ("a: { type: Library, initial: { n: 1 } }", "'n' of Library is computed"),
            ("a: { type: Library, initial: { name: 1 } }", "'name' of Library is a string, not the int 1"),
            ("a: $b", "a state starts from a literal, not from a reference"),
            ("a: { initial: 1, transient: 2 }", "transient is true or false, not the int 2"),
            ("a: { initail: 1, type: int }", "a state has no key 'initail'"),
            ("a: { initial: 1, histroy: 10m }", "a state has no key 'histroy'"),
        ])
    func faultyStates(_ state: String, _ message: String) {
        let text =
            "types: { Library: { state: { books: [], name: x }, computed: { n: books.size() } } }\nnodes: [{id: n, state: { \(state) }}]"
        #expect(onlyFault(text).contains(message))
    }

    @Test("a computed has the type of its rule, whatever the order of writing")
    func computed() throws {
        let node = try node(
            "state: { x: 2 }, computed: { c: a + b, a: x * 2, b: =a + x, d: 'c > 3 ? \"many\" : \"few\"', e: { rule: x, type: double } }"
        )
        #expect(
            node.attributes.map { "\($0.name) \($0.type)" } == [
                "x int", "c int", "a int", "b int", "d string", "e double",
            ])
        #expect(
            onlyFault("nodes: [{ id: n, computed: { a: b + 'x', b: 1 + 1 } }]").contains("found no matching overload"))
        #expect(
            onlyFault("nodes: [{ id: n, computed: { a: { rule: 1.5, type: int } } }]").contains(
                "the rule gives a double, not an int"))
    }

    @Test("computed attributes that read each other in a circle are defined: their cycle is an error when they run")
    func circles() throws {
        let node = try node("computed: { a: b + 1, b: a + 1, c: c }")
        #expect(node.attributes.count == 3)
    }

    @Test("a binding has the type of its target, a key path inside unknown content is dyn")
    func bindings() throws {
        let scene = try SceneModelTests.scene(
            """
            types: { Library: { state: { books: { type: list(string), initial: [] } } } }
            nodes:
              - id: n
                state: { on: true, words: { type: list(string), initial: [] }, episode: { title: x }, library: { type: Library } }
                children:
                  - id: b
                    binding:
                      a: $on
                      b: "$words[0]"
                      c: $episode.title
                      d: $library.books
                      e: { to: $on, animation: bouncy }
                      f: { to: $on, animation: { curve: { easeInOut: { duration: 1 } }, modifiers: [{ delay: 0.2 }] } }
                      g: 5
                      h: "$words[id=\\"x\\"]"
            """)
        let node = try scene.node("n", "b")
        #expect(
            node.attributes.map { "\($0.name) \($0.type)" } == [
                "a bool", "b string", "c dyn", "d list(string)", "e bool", "f bool", "g int", "h string",
            ])
        guard case .binding(.reference(let target)?, animation: "bouncy") = try node.attribute("e").role else {
            Issue.record("e carries no animation")
            return
        }
        #expect(target == Reference(name: "on"))
        guard case .binding(_, animation: "easeInOut(duration: 1).delay(0.2)") = try node.attribute("f").role else {
            Issue.record("f carries \(try node.attribute("f").role)")
            return
        }
        guard case .binding(.constant(5)?, animation: nil) = try node.attribute("g").role else {
            Issue.record("g is not constant")
            return
        }
    }

    @Test(
        "a binding to what cannot be written is told",
        arguments: [
            ("$total", "'total' is computed"), ("$given", "'given' is a let"), ("$locale", "'locale' is inherited"),
            ("$now", "'now' is a clock"), ("$library.n", "'n' of Library is computed"),
        ])
    func readOnly(_ target: String, _ reason: String) {
        let text = """
            types: { Library: { state: { books: [] }, computed: { n: books.size() } } }
            nodes:
              - id: n
                state: { library: { type: Library } }
                let: { given: 1 }
                computed: { total: 1 + 1 }
                inherit: [locale]
                clock: { now: everyMinute }
                children: [{ id: b, binding: { x: \(target) } }]
            """
        #expect(onlyFault(text).contains("'\(target)' cannot be bound: \(reason)"))
    }

    @Test("objects handed down read-only still have properties that can be bound")
    func bindable() throws {
        let scene = try SceneModelTests.scene(
            """
            types: { Library: { state: { name: x } } }
            nodes:
              - id: n
                state: { library: { type: Library } }
                environment: { objects: [$library] }
                children:
                  - { id: a, inherit: { library: Library }, children: [{ id: field, binding: { text: $library.name } }] }
                  - { id: b, let: { library: $library }, children: [{ id: field, binding: { text: $library.name } }] }
            """)
        #expect(try scene.node("n", "a", "field").type("text") == .string)
        #expect(try scene.node("n", "b", "field").type("text") == .string)
    }

    @Test("inherit reads keys by name or under another, and objects by their type")
    func inherit() throws {
        let node = try node("inherit: { language: locale, library: Library, maybe: 'Library?' }")
        #expect(
            node.attributes.map { "\($0.name) \($0.type)" } == ["language string", "library Library", "maybe Library?"])
        guard case .inheritObject(type: "Library", isOptional: true) = try node.attribute("maybe").role else {
            Issue.record("maybe is required")
            return
        }
        #expect(
            onlyFault("nodes: [{ id: n, inherit: [pinPosition.rotation] }]").contains(
                "read env.pinPosition.rotation in a rule")
        )
        #expect(
            onlyFault("types: { Library: {} }\nnodes: [{ id: n, inherit: [Library] }]").contains(
                "write inherit: {library: Library}"))
    }

    @Test("clocks have all their forms")
    func clocks() throws {
        let node = try node(
            "clock: { a: every 1s, b: everyMinute, c: animation, d: [2026-01-01T00:00:00Z, 2026-01-02T00:00:00Z], e: { every: 500ms, start: 2026-01-01T00:00:00Z }, f: { animation: { minimumInterval: 0.1s } } }"
        )
        let schedules: [ClockSchedule] = node.attributes.compactMap {
            if case .clock(let schedule) = $0.role { schedule } else { nil }
        }
        let newYear = try #require(Timestamp("2026-01-01T00:00:00Z"))
        let next = try #require(Timestamp("2026-01-02T00:00:00Z"))
        #expect(
            schedules == [
                .every(TimeSpan(nanoseconds: 1_000_000_000), start: nil), .everyMinute,
                .animation(minimumInterval: nil),
                .dates([newYear, next]),
                .every(TimeSpan(nanoseconds: 500_000_000), start: newYear),
                .animation(minimumInterval: TimeSpan(nanoseconds: 100_000_000)),
            ])
        #expect(node.attributes.allSatisfy { $0.type == .timestamp })
        #expect(
            onlyFault("nodes: [{ id: n, clock: { a: every 1us } }]").contains(
                "the shortest time between ticks is 0.001s"))
        #expect(
            onlyFault("nodes: [{ id: n, clock: { a: [2026-01-02T00:00:00Z, 2026-01-01T00:00:00Z] } }]").contains(
                "the dates of a clock must be in order"))
        #expect(
            onlyFault("nodes: [{ id: n, clock: { a: { start: 2026-01-02T00:00:00Z } } }]").contains(
                "a clock is every 1s"))
    }

    @Test("an object that would contain itself without end is told with the way round, an optional one is fine")
    func containment() throws {
        let found = faults("types: { A: { state: { b: { type: B } } }, B: { state: { a: { type: A } } } }")
        #expect(
            found.map(\.message) == [
                "an object of type A would contain itself: A → B → A",
                "an object of type B would contain itself: B → A → B",
            ])
        let tree = try SceneModelTests.scene("types: { Tree: { state: { left: { type: 'Tree?' }, size: 0 } } }")
        #expect(tree.declarations.types["Tree"]?.properties.map(\.type) == [.nullable(.object("Tree")), .int])
    }

    @Test("an object that begins with one of its own type behind an optional or a list is told, too")
    func containmentBehindOptionals() throws {
        #expect(
            onlyFault("types: { N: { state: { next: { type: 'N?', initial: {} } } } }").contains(
                "an object of type N would contain itself: N → N"))
        let used =
            "types: { N: { state: { next: { type: 'N?', initial: {} } } } }\nnodes: [{ id: a, state: { x: { type: list(N), initial: [{}] } } }]"
        #expect(onlyFault(used).contains("an object of type N would contain itself: N → N"))
        let held = try SceneModelTests.scene("types: { N: { state: { a: 0 } }, M: { state: { n: { type: N } } } }")
        let context = SceneContext(declarations: held.declarations)
        #expect(
            onlyFault("types: { N: { state: { list: { type: list(M), initial: [{}] } } } }", context: context).contains(
                "an object of type N would contain itself: N → M → N"))
    }

    @Test("types that lead to a circle without being on it are not told")
    func waysIntoCircles() {
        let types =
            (0..<50).map { "T\($0): { state: { a: { type: T\($0 + 1) } } }" } + ["T50: { state: { a: { type: T50 } } }"]
        #expect(
            onlyFault("types: { \(types.joined(separator: ", ")) }").contains(
                "an object of type T50 would contain itself: T50 → T50"))
    }

    @Test("types hold each other to a depth, and begin with so many properties, and no more")
    func objectExtents() throws {
        func chain(_ count: Int, _ width: Int) -> String {
            let types = (1...count).map { place in
                let properties = (0..<width).map { place < count ? "p\($0): { type: T\(place + 1) }" : "p\($0): 0" }
                return "T\(place): { state: { \(properties.joined(separator: ", ")) } }"
            }
            return
                "types: { \(types.joined(separator: ", ")) }\nnodes: [{ id: a, state: { x: { type: list(T1), initial: [{}] } } }]"
        }
        _ = try SceneModelTests.scene(chain(64, 1))
        #expect(onlyFault(chain(65, 1)).contains("T1 would have objects nested 65 deep"))
        let deep = faults(chain(SceneLimits.declarations, 1))
        #expect(
            deep.allSatisfy { $0.code == .limit }
                && deep.contains { $0.message.contains("would have objects nested") })
        _ = try SceneModelTests.scene(chain(3, 9))
        #expect(onlyFault(chain(3, 10)).contains("an object of type T1 would have 1110 properties"))
        // As many as would never be counted one by one.
        #expect(faults(chain(40, 8)).allSatisfy { $0.code == .limit })
    }

    @Test("an initial value is as long as a value may be, with its objects completed, and no longer")
    func valueSize() throws {
        let context = SceneContext(valueSize: 1000)
        let type = "types: { T: { state: { name: some text that each of them has } } }\n"
        func state(_ text: String) -> String { type + "nodes: [{ id: a, state: { x: \(text) } }]" }
        let elements = Array(repeating: "{}", count: 100).joined(separator: ", ")
        for text in [
            String(repeating: "a", count: 1001),
            "{ initial: \(String(repeating: "a", count: 1001)), transient: true, type: string }",
            "{ type: list(T), initial: [\(elements)] }",
        ] {
            #expect(onlyFault(state(text), context: context).contains("the initial value has more than 1000 bytes"))
        }
        for text in [String(repeating: "a", count: 998), "{ type: list(T), initial: [{}, {}] }"] {
            _ = try SceneModelTests.scene(state(text), context: context)
        }
    }

    @Test(
        "mistakes in references that a rule chooses, and in bindings with rules",
        arguments: [
            (
                "'=isLeft ? $a : 5'",
                "the branches of '?:' have different types, 'reference' and 'int' | let each result be a $name"
            ),
            ("'=isleft ? $a : $b'", "undeclared reference to 'isleft' | did you mean 'isLeft'?"),
            ("'=isLeft ? $a : $c'", "cannot be bound: 'c' is computed | pass it as let"),
            ("'=isLeft ? $a : $d'", "no enclosing node has an attribute 'd'"),
            ("'$items[id='", "chooses no reference: a ] is missing"),
            ("'=isLeft ? $ : $b'", "chooses no reference: a name is missing after $"),
            ("'$items[$a]'", "chooses no reference: a reference cannot contain another reference"),
            ("{ get: a * 2, set: { $c: =newValue } }", "'$c' cannot be written: 'c' is computed"),
            ("{ get: a * 2, set: { a: =newValue } }", "'a' is no target | a target is $name"),
            (
                "{ get: a * 2, set: {} }",
                "a binding with get needs set | write set: {$state: =newValue}"
            ),
            ("{ get: a * 2 }", "a binding with get needs set"),
            ("'=a * 2'", "a binding needs something to write to, not a rule | bind to $name, choose one with"),
        ])
    func mistakesInSelections(_ written: String, _ message: String) {
        let told = onlyFault(
            """
            nodes:
              - id: top
                kind: container
                state: { isLeft: true, a: 1, b: 2, items: [{ id: a }] }
                computed: { c: a + 1 }
                children: [{ id: x, binding: { value: \(written) } }]
            """)
        #expect(told.contains(message), "\(told)")
    }
}
