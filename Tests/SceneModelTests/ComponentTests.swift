import AttributeValues
import SceneModel
import Testing

@Suite("Components and forEach as written")
struct ComponentTests {
    @Test("parameters have types and defaults, and a use may leave out those with a default")
    func parameters() throws {
        let scene = try scene(
            """
            components:
              Gauge:
                let: { title: Untitled, limit: { default: 10, type: double }, unit: { type: string } }
                binding: { value: { type: double }, isOn: true }
                computed: { share: value / limit }
            nodes:
              - id: app
                state: { load: 0.5 }
                children:
                  - { id: a, component: Gauge, binding: { value: $load }, let: { unit: "%" } }
                  - { id: b, component: Gauge, binding: { value: $load, isOn: false }, let: { unit: "%", title: Load, limit: 20 } }
            """)
        let a = try scene.node("app", "a")
        let b = try scene.node("app", "b")
        #expect(a.attributes.map { "\($0.name) \($0.type)" } == b.attributes.map { "\($0.name) \($0.type)" })
        func constant(_ node: NodeDefinition, _ name: String) throws -> String {
            guard case .constant(let expression?) = try node.attribute(name).role else { return "none" }
            return expression.text
        }
        #expect(try constant(a, "title") == "\"Untitled\"")
        #expect(try constant(a, "limit") == "10.0")
        #expect(try constant(b, "limit") == "20.0")
        #expect(try a.type("share") == .double)
    }

    @Test(
        "a faulty use names both places",
        arguments: [
            ("{ component: Button }", "7:18 Button needs its let 'title'", 3),
            ("{ component: Button, let: { title: 1 } }", "7:40 'title' is a string, not the int 1", nil),
            (
                "{ component: Button, let: { title: x, tittle: y } }",
                "7:43 Button has no parameter 'tittle' | did you mean 'title'?", 2
            ),
            (
                "{ component: Button, let: { title: x, isOn: true } }",
                "7:43 'isOn' of Button is a binding, not a let | write binding: {isOn: …}", 4
            ),
            (
                "{ component: Button, let: { title: x }, binding: { isOn: $name } }",
                "7:62 'isOn' of Button is a bool, but is bound to a string", 4
            ),
            (
                "{ component: Button, let: { title: x, count: 5 } }",
                "7:43 'count' of Button is a state, not a let | a use gives values only to bindings and lets", 5
            ),
            (
                "{ component: Button, let: { title: x }, state: { y: 1 } }",
                "7:52 a use of the component Button cannot have state | write it in the component, or give the component a parameter",
                2
            ),
            (
                "{ component: Button, let: { title: x }, kind: group }",
                "7:51 Button is a view; a use cannot change that", 2
            ),
        ] as [(String, String, Int?)])
    func uses(_ use: String, _ expected: String, _ noteLine: Int?) throws {
        let text = """
            components:
              Button:
                let: { title: { type: string } }
                binding: { isOn: { default: true, type: bool } }
                state: { count: 1 }
            nodes:
              - \(use)
            """
        let context = SceneContext(enclosing: [[("name", .string)]])
        let fault = try #require(faults(text, context: context).first)
        let told =
            "\(fault.position.line):\(fault.position.column) \(fault.message)"
            + (fault.hint.map { expected.contains(" | ") ? " | \($0)" : "" } ?? "")
        #expect(told == expected)
        if let noteLine { #expect(fault.note?.position.line == noteLine) }
    }

    @Test("the modifiers of a use stand outside those of the body")
    func modifiers() throws {
        let scene = try scene(
            """
            keys: { environment: { scale: 1.0, tint: red }, container: { weight: 0 }, preference: { title: "" } }
            components:
              Card:
                environment: { scale: 2.0 }
                transformEnvironment: { tint: value + "ish" }
                containerValues: { weight: 1 }
                preferences: { title: inner }
                tag: inner
            nodes:
              - id: card
                component: Card
                environment: { scale: 3.0, tint: blue }
                transformEnvironment: { scale: value * 2.0 }
                containerValues: { weight: 2 }
                preferences: { title: outer }
                tag: outer
            """)
        let card = try scene.node("card")
        // Nearest wins: the last override of a key is the innermost.
        #expect(
            card.environment.map { "\($0.key) \($0.expression.text)" } == ["scale 3.0", "tint \"blue\"", "scale 2.0"])
        // The body overrides the scale afterwards, and transforms last.
        #expect(
            card.transformEnvironment.map { "\($0.program.text) \($0.place)" } == [
                "value * 2.0 2", "value + \"ish\" 3",
            ])
        #expect(card.containerValues.map(\.expression.text) == ["2", "1"])
        #expect(card.tag?.text == "\"inner\"")
        // Preferences flow up: the outer write replaces the inner one.
        #expect(card.preferences.map(\.expression.text) == ["\"inner\"", "\"outer\""])
    }

    @Test("a body is read once: all uses share its rules and children")
    func sharing() throws {
        let scene = try scene(
            """
            components: { Card: { let: [x], computed: { y: x }, children: [{ id: inner }] } }
            nodes: [{ id: a, component: Card, let: { x: 1 } }, { id: b, component: Card, let: { x: 2 } }]
            """)
        let a = try scene.node("a")
        let b = try scene.node("b")
        #expect(a.children.first === b.children.first)
        guard case .computed(let first) = try a.attribute("y").role,
            case .computed(let second) = try b.attribute("y").role
        else {
            Issue.record("y is not computed")
            return
        }
        #expect(first === second)
    }

    @Test("a component made from another keeps its open parameters, fills others and adds its own")
    func derived() throws {
        let scene = try scene(
            """
            components:
              Button: { let: { title: { type: string }, size: { default: 1 } }, binding: [isOn], computed: { label: title } }
              BigButton: { component: Button, let: { size: 10, color: red }, binding: [isOn], computed: { big: label + color } }
            nodes:
              - { id: a, component: BigButton, let: { title: x }, binding: { isOn: false } }
            """)
        let a = try scene.node("a")
        #expect(a.component == "BigButton")
        #expect(a.attributes.map(\.name) == ["isOn", "title", "size", "label", "color", "big"])
        guard case .constant(.literal(10)?) = try a.attribute("size").role else {
            Issue.record("size is not 10")
            return
        }
    }

    @Test("a component that contains itself is refused with the way round")
    func endless() {
        #expect(
            onlyFault("components: { A: { children: [{ component: A }] } }").contains(
                "A contains itself without end: A → A"))
        let round =
            "components:\n  A: { children: [{ component: B }] }\n  B: { header: [{ component: C }] }\n  C: { forEach: { in: [1], id: self, component: A } }\n"
        #expect(onlyFault(round).contains("A contains itself without end: A → B → C → A"))
    }

    @Test("a component may repeat itself for the elements of a list, as an outline does")
    func outline() throws {
        let scene = try scene(
            """
            components:
              Outline:
                let: [item]
                state: { isExpanded: true }
                children:
                  - { id: title, let: { text: =item.title } }
                  - { id: rows, forEach: { in: =item.children, id: title, component: Outline, let: { item: =element } } }
            nodes:
              - { id: outline, component: Outline, let: { item: { title: a, children: [] } } }
            """)
        var node = try scene.node("outline")
        for _ in 0..<5 {
            let rows = try #require(node.children.last)
            node = try #require(rows.forEach?.templates.first)
            #expect(node.component == "Outline")
            #expect(node.children.map(\.id) == ["title", "rows"])
            #expect(node.attributes.map(\.name) == ["isExpanded", "item"])
        }
    }

    @Test("forEach takes its data from a reference, a rule or a literal, and names element and index")
    func forEach() throws {
        let scene = try scene(
            """
            components: { Row: { let: [title], binding: [isDone] } }
            nodes:
              - id: app
                state: { items: [] }
                children:
                  - { id: a, forEach: { in: $items, component: Row, let: { title: "=element.title + string(index)" }, binding: { isDone: $element.done } } }
                  - { id: b, forEach: { in: "=items.filter(i, i.done)", id: key, as: item, index: place, node: { computed: { x: "item.title + string(place)" }, children: [{ id: c, let: { y: $item } }] } } }
                  - { id: d, forEach: { in: [x, y], id: self, node: { let: { t: $element } } } }
            """)
        let a = try #require(try scene.node("app", "a").forEach)
        #expect(a.data.text == "$items")
        #expect(a.idField == "id")
        #expect(a.elementName == "element" && a.indexName == "index")
        #expect(a.templates.first?.component == "Row")
        #expect(a.templates.first?.id == "")
        let b = try #require(try scene.node("app", "b").forEach)
        #expect(b.idField == "key" && b.elementName == "item" && b.indexName == "place")
        let d = try #require(try scene.node("app", "d").forEach)
        #expect(d.idField == "")
        #expect(try d.templates.first?.type("t") == .string)
        #expect(try scene.node("app", "a").kind == .forEach)
    }

    @Test(
        "a faulty forEach is reported",
        arguments: [
            ("in: $on, node: {}", "forEach needs a list or a map, but this is a bool"),
            ("node: {}", "forEach needs its data"),
            ("in: $items", "forEach needs the node that it makes for each element"),
            ("in: [{ id: 1 }, { id: 1 }], node: {}", "two elements have the id 1"),
            ("in: [1], node: {}", "the element has no usable 'id'"),
            (
                "in: $items, node: { id: x }",
                "the node of a forEach has no id; each instance gets its id from its element"
            ),
            ("in: $items, as: x, index: x, node: {}", "element and index have the same name 'x'"),
            ("data: $items, in: $items, node: {}", "forEach has no key 'data'"),
            ("in: =items, node: { binding: { x: $element.done } }", "'$element.done' cannot be bound"),
            ("in: $items, node: { binding: { x: $index } }", "'$index' cannot be bound: 'index' is an index"),
            ("in: $items, node: {}, let: { x: 1 }", "forEach has node already: let belongs inside it"),
        ])
    func faultyForEach(_ forEach: String, _ message: String) {
        let text =
            "nodes: [{ id: app, state: { items: [], on: true }, children: [{ id: list, forEach: { \(forEach) } }] }]"
        #expect(onlyFault(text).contains(message))
    }

    @Test("nodes without id are named by what they are and where they stand")
    func automaticIDs() throws {
        let scene = try scene(
            """
            components: { PlayButton: {} }
            nodes:
              - {}
              - { component: PlayButton }
              - { children: [{ kind: group }, {}] }
              - { header: [{}], content: [{}, {}], footer: [{}] }
              - { forEach: { in: [], node: {} } }
            """)
        #expect(scene.nodes.map(\.id) == ["view0", "playButton1", "container2", "section3", "forEach4"])
        #expect(scene.nodes[2].children.map(\.id) == ["group0", "view1"])
        #expect(
            (scene.nodes[3].header + scene.nodes[3].children + scene.nodes[3].footer).map(\.id) == [
                "header0", "view0", "view1", "footer0",
            ])
        #expect(
            onlyFault("nodes: [{ id: view1 }, {}]").contains(
                "two siblings have the id 'view1' | the node got this id from its position"))
    }

    @Test("a section has header, content and footer; its children are its content")
    func sections() throws {
        let scene = try scene(
            "nodes: [{ id: s, kind: section, header: [{ id: h }], children: [{ id: c }], footer: [{ id: f }] }]")
        let section = try scene.node("s")
        #expect(
            section.header.map(\.id) == ["h"] && section.children.map(\.id) == ["c"]
                && section.footer.map(\.id) == ["f"])
        #expect(
            onlyFault("nodes: [{ id: s, header: [{ id: x }], content: [{ id: x }] }]").contains(
                "two siblings have the id 'x'"))
        #expect(onlyFault("nodes: [{ id: s, content: [], children: [] }]").contains("content and children"))
        #expect(onlyFault("nodes: [{ id: s, kind: container, header: [] }]").contains("only a section has header"))
    }
}
