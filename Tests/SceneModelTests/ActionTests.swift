import AttributeValues
import SceneModel
import Testing

/// Named writes of a node.
@Suite("Actions in documents")
struct ActionTests {
    private func document(_ action: String) -> String {
        """
        nodes:
          - id: a
            kind: container
            state: { volume: 1.5, name: x, isOn: true }
            computed: { twice: volume * 2.0 }
            children:
              - id: b
                let: { seen: $name }
                actions: { go: \(action) }
        """
    }

    @Test("an action has its steps in the order of writing, and is written back as it was read") func steps() throws {
        let text =
            "{ parameters: { by: { default: 0.5 } }, set: { $volume: =volume + by, /a.name: y }, toggle: [$isOn, '/x/*.y'], animation: bouncy }"
        let made = try scene(document(text))
        let attribute = try made.node("a", "b").attribute("go")
        guard case .action(let action) = attribute.role else { throw Failure(.invalid, "no action") }
        #expect(action.steps.map(\.operation) == [.set, .set, .toggle, .toggle])
        #expect(action.steps.allSatisfy { $0.animation == "bouncy" })
        #expect(action.parameters.map(\.name) == ["by"] && action.parameters.first?.standard == 0.5)
        let written = DefinitionWriter.attribute(attribute)
        #expect(written.group == "actions" && written.value.map?["toggle"] == ["$isOn", "/x/*.y"])
        let again = try scene(document(written.value.jsonText))
        #expect(DefinitionWriter.attribute(try again.node("a", "b").attribute("go")).value == written.value)
    }

    @Test(
        "a mistake in an action is told with the right form",
        arguments: [
            ("{ set: { volume: 1 } }", "'volume' is no target | write $volume"),
            ("{ set: { $volum: 1 } }", "no enclosing node has an attribute 'volum' | did you mean '$volume'?"),
            ("{ set: { $twice: 1 } }", "'$twice' cannot be written: 'twice' is computed"),
            ("{ set: { $seen: x } }", "'$seen' cannot be written: 'seen' is a let"),
            ("{ set: { $volume: loud } }", "'$volume' is a double, and takes no string"),
            ("{ set: { /a: 1 } }", "'/a' names no attribute | end it with an attribute's name, as /lamps/*.isOn"),
            ("{ set: { $volume: =volum * 2.0 } }", "undeclared reference to 'volum' | did you mean 'volume'?"),
            ("{ animation: smooth }", "the action does nothing | an action is {set: {$state: value}}"),
            ("{ sett: { $volume: 1 } }", "an action has no key 'sett' | did you mean 'set'?"),
            ("5", "an action is not the int 5 | an action is {set: {$state: value}}"),
            ("{ set: { $name: y }, parameters: { to: string } }", "a parameter is {default: …, type: …}, not the text"),
            ("{ set: { $to: y }, parameters: [to] }", "'$to' cannot be written: 'to' is a parameter"),
            ("{ set: { $name: y }, animation: boncy }", "there is no curve 'boncy'"),
            ("{ set: { $volume: =previous(volume) } }", "previous() needs the past of an attribute"),
            ("{ set: { $volume: =previous(z) }, parameters: [z] }", "previous() needs the past of an attribute"),
        ])
    func mistakes(_ action: String, _ message: String) {
        let told = onlyFault(document(action))
        #expect(told.drop { $0 != " " }.dropFirst().hasPrefix(message), "\(told)")
    }

    @Test("an action has a name that no other attribute of the node has, and cannot be given to a component's use")
    func names() {
        #expect(
            onlyFault("nodes: [{ id: a, state: { x: 1 }, actions: { x: { set: { $x: 2 } } } }]")
                .contains("the node has an attribute 'x' already, a state"))
        #expect(
            onlyFault(
                "components: { C: { state: { x: 1 } } }\nnodes: [{ id: a, component: C, actions: { go: { set: { /a.x: 2 } } } }]"
            ).contains("a use of the component C cannot have actions"))
    }

    @Test(
        "mistakes in what the daemon calls by itself are told with what to write",
        arguments: [
            (
                "onChange: { set: { $x: 1 } }",
                "onChange needs 'of', the value to watch, and 'perform', the action | onChange is {of: value"
            ),
            ("onChange: { of: 5, perform: { set: { $x: 1 } } }", "the int 5 never changes | write of: name"),
            ("onChange: { of: y, perform: { set: { $x: 1 } } }", "undeclared reference to 'y'"),
            (
                "onChange: { of: x, to: 1, perform: { set: { $x: 1 } } }",
                "an action that the daemon calls has no key 'to'"
            ),
            (
                "onChange: [{ of: x, initial: 1, perform: { set: { $x: 1 } } }]",
                "initial is true or false, not the int 1"
            ),
            (
                "onChange: { of: x, perform: { set: { $x: =oldvalue } } }",
                "undeclared reference to 'oldvalue' | did you mean 'oldValue'"
            ),
            ("onAppear: { set: { $x: =oldValue } }", "undeclared reference to 'oldValue'"),
            ("onAppear: { parameters: [by], set: { $x: 1 } }", "an action that the daemon calls has no parameters"),
            ("actions: { go: { on: now, perform: { set: { $x: 1 } } } }", "on is appear or disappear, not the text"),
            (
                "actions: { go: { on: appear, of: x, perform: { set: { $x: 1 } } } }",
                "of and on cannot be written together"
            ),
        ])
    func mistakesInReactions(_ written: String, _ message: String) {
        let told = onlyFault("nodes:\n  - id: a\n    state: { x: 1 }\n    \(written)\n")
        #expect(told.drop { $0 != " " }.dropFirst().hasPrefix(message), "\(told)")
    }
}
