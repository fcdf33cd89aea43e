import AttributeValues
import SceneModel
import Testing

@Suite("Names")
struct ScopeTests {
    @Test("of let, binding and forEach are those of the enclosing nodes, looked up through plain layout")
    func lexical() throws {
        let scene = try scene(
            """
            nodes:
              - id: app
                state: { volume: 0.5, items: [{ id: a, done: false }] }
                children:
                  - id: stack
                    children:
                      - id: inner
                        state: { other: 1 }
                        children:
                          - { id: knob, binding: { value: $volume }, let: { doubled: =volume * 2.0 } }
                          - { id: list, forEach: { in: $items, node: { binding: { isOn: $element.done } } } }
            """)
        #expect(try scene.node("app", "stack", "inner", "knob").type("value") == .double)
        #expect(try scene.node("app", "stack", "inner", "knob").type("doubled") == .double)
    }

    @Test("the nearest declaration wins")
    func nearest() throws {
        let scene = try scene(
            """
            nodes:
              - id: outer
                state: { x: 1 }
                children: [{ id: inner, state: { x: text }, children: [{ id: leaf, let: { y: =x } }] }]
            """)
        #expect(try scene.node("outer", "inner", "leaf").type("y") == .string)
    }

    @Test("a let does not see the node's own attributes, a computed sees nothing else")
    func own() {
        #expect(
            onlyFault("nodes: [{ id: a, state: { x: 1 }, let: { y: $x } }]").contains(
                "no enclosing node has an attribute 'x'"))
        #expect(
            onlyFault("nodes: [{ id: a, state: { x: 1 }, children: [{ id: b, computed: { y: x } }] }]").contains(
                "undeclared reference to 'x'"))
    }

    @Test("modifiers see the node's own attributes first, then the enclosing ones")
    func modifiers() throws {
        let scene = try scene(
            """
            keys: { environment: { theme: "" }, container: { weight: 0 }, preference: { title: "" } }
            nodes:
              - id: outer
                state: { shade: dark, weight: 3 }
                children:
                  - id: inner
                    state: { weight: 5 }
                    environment: { theme: $shade }
                    containerValues: { weight: =weight + 1 }
                    preferences: { title: =shade }
                    tag: =weight
                    animation: [{ curve: bouncy, value: $weight }, { curve: null, value: =shade }]
            """)
        let node = try scene.node("outer", "inner")
        #expect(node.environment.map(\.expression.text) == ["$shade"])
        #expect(node.containerValues.map(\.expression.text) == ["=weight + 1"])
        #expect(node.preferences.map(\.expression.text) == ["=shade"])
        #expect(node.tag?.text == "=weight")
        #expect(node.animations.map(\.animation) == ["bouncy", nil])
    }

    @Test("a component sees its parameters and nothing of where it is used")
    func components() {
        let fault = onlyFault(
            """
            components: { Button: { children: [{ id: label, let: { text: $title } }] } }
            nodes: [{ id: app, state: { title: x }, children: [{ component: Button }] }]
            """)
        #expect(
            fault
                == "1:62 no enclosing node has an attribute 'title' | a component sees nothing from outside: declare a parameter, as binding: [title] or let: [title]"
        )
    }

    @Test("children given to a component mean by a name what it means where they are written")
    func content() throws {
        let text = """
            components:
              Card: { state: { secret: 1 }, children: [{ id: frame }] }
            nodes:
              - id: app
                state: { title: Hello }
                children:
                  - { id: card, component: Card, children: [{ id: text, let: { string: $title } }] }
            """
        let card = try scene(text).node("app", "card")
        #expect(card.kind == .container)
        #expect(card.children.map(\.id) == ["frame", "text"])
        #expect(card.children.map(\.isContent) == [false, true])
        #expect(
            onlyFault(text.replacing("$title", with: "$secret")).contains("no enclosing node has an attribute 'secret'")
        )
    }

    @Test("subviews and sections are in scope on containers, value in transforms, env and self everywhere")
    func roots() throws {
        _ = try scene(
            """
            keys: { environment: { scale: 1.0 } }
            nodes:
              - id: a
                kind: container
                computed: { n: subviews.size() + sections.size(), me: self.id + self.path + string(self.index), l: env.locale }
                transformEnvironment: { scale: value * 2.0 * double(subviews.size()) }
            """)
        #expect(
            onlyFault("nodes: [{ id: a, computed: { n: subviews.size() } }]")
                == "1:33 undeclared reference to 'subviews' | subviews and sections are in scope on containers: write kind: container"
        )
        #expect(onlyFault("nodes: [{ id: a, computed: { n: value } }]").contains("undeclared reference to 'value'"))
        #expect(
            onlyFault("nodes: [{ id: a, kind: container, computed: { n: 'subviews[0].containerValues.weight' } }]")
                .contains(
                    "'containerValues' has no property 'weight'"))
    }

    @Test("that have a meaning in rules cannot be attributes'", arguments: ["env", "self", "subviews", "in", "true"])
    func reserved(_ name: String) {
        #expect(onlyFault("nodes: [{ id: a, state: { \"\(name)\": 1 } }]").contains("an attribute cannot be '\(name)'"))
    }

    @Test("at the place of application are in scope, nearest first")
    func context() throws {
        let context = SceneContext(enclosing: [[("volume", .double)], [("volume", .string), ("title", .string)]])
        let scene = try scene("nodes: [{ id: a, let: { v: $volume, t: $title } }]", context: context)
        #expect(try scene.node("a").type("v") == .double)
        #expect(try scene.node("a").type("t") == .string)
    }

    @Test("of live nodes are in scope of a document that is merged into them")
    func existing() throws {
        let live = ExistingNode(kind: .container, attributes: [("isPlaying", .bool)])
        let context = SceneContext(existing: { $0 == ["player"] ? live : nil })
        let text =
            "nodes: [{ id: player, computed: { n: 'isPlaying ? subviews.size() : 0' }, children: [{ id: b, binding: { x: $isPlaying } }] }]"
        #expect(try scene(text, context: context).node("player", "b").type("x") == .bool)
        #expect(faults(text).count == 2)
    }

    @Test("declared earlier in the graph are known to later documents")
    func declarations() throws {
        let first = try scene(specificationScene)
        let context = SceneContext(declarations: first.declarations)
        let second = try scene(
            "nodes: [{ id: a, state: { on: true, l: { type: Library } }, inherit: [lineLimit], environment: { objects: [$l] }, children: [{ component: PlayButton, binding: { isPlaying: $on } }] }]",
            context: context)
        #expect(second.declarations.components.isEmpty)
        #expect(try second.node("a", "playButton0").type("symbol") == .string)
        #expect(try second.node("a").type("lineLimit") == .nullable(.int))
    }

    @Test(
        "a modifier at a use of a component cannot name what the component keeps to itself",
        arguments: [
            "environment: { locale: =own }", "transformEnvironment: { locale: value + own }", "tag: =own",
            "animation: { curve: bouncy, value: =own }", "environment: { locale: $own }",
            "onChange: { of: own, perform: { toggle: $isOn } }", "onAppear: { set: { $own: x } }",
        ])
    func privateNames(_ modifier: String) {
        let fault = onlyFault(
            """
            components: { Card: { let: [title], state: { own: x } } }
            nodes:
              - id: app
                state: { isOn: true }
                children: [{ id: card, component: Card, let: { title: x }, \(modifier) }]
            """)
        #expect(
            fault.contains("own") && fault.contains("Card's own: a use can name the component's parameters"), "\(fault)"
        )
    }
}
