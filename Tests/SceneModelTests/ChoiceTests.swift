import SceneModel
import Testing

@Suite("if and switch in documents")
struct ChoiceTests {
    private static func scene(_ children: String) -> String {
        """
        nodes:
          - id: a
            state: { isOn: true, n: 1, mode: list, words: [x] }
            children:
              \(children)
        """
    }

    @Test("ids that are given automatically count places in the document, all branches included") func numbers() throws
    {
        let text = ChoiceTests.scene(
            "[{ kind: view }, { if: isOn, then: [{ kind: view }, { kind: group }], else: [{ kind: view }] }, { kind: view }]"
        )
        let a = try SceneModelTests.scene(text).node("a")
        #expect(a.children.map(\.id) == ["view0", "if1", "view5"])
        let branches = try #require(a.children[1].forEach?.templates)
        #expect(branches.map(\.id) == ["then", "else"])
        #expect(branches.map { $0.children.map(\.id) } == [["view2", "group3"], ["view4"]])
    }

    @Test(
        "a mistake in a choice is told where it is",
        arguments: [
            (
                "[{ if: isOn }]",
                "5:8 if needs the nodes that exist while its condition is true | write then: and a list of nodes"
            ),
            ("[{ if: isOn, then: [], esle: [] }]", "5:30 if has no key 'esle' | did you mean 'else'?"),
            (
                "[{ if: n, then: [] }]",
                "5:14 if needs a bool, but this is an int | compare it with something, as in n > 0"
            ),
            (
                "[{ if: $n, then: [] }]",
                "5:14 if needs a bool, but this is an int | compare it with something, as in n > 0"
            ),
            ("[{ if: isOff, then: [] }]", "5:14 undeclared reference to 'isOff'"),
            (
                "[{ if: isOn, then: { id: x } }]",
                "5:26 then is a list of nodes, not a map | write a '-' before each node"
            ),
            ("[{ switch: mode }]", "5:8 switch needs its cases | write cases: and below it a list of nodes for each"),
            (
                "[{ switch: words, cases: { x: [] } }]",
                "5:18 switch needs a text, a number or a bool, but this is a list"
            ),
            (
                "[{ switch: mode, cases: { x: { id: y } } }]",
                "5:36 a case is a list of nodes, not a map | write a '-' before each node"
            ),
            ("[{ switch: mode, cases: [x] }]", "5:31 cases is a map, not a list | write value: and a list of nodes"),
            ("[{ id: x }, { if: isOn, then: [{ id: x }] }]", "5:44 two siblings have the id 'x'"),
            (
                "[{ if: isOn, then: [{ id: x }], else: [{ id: x }] }, { id: x }]",
                "5:66 two siblings have the id 'x'"
            ),
            (
                "[{ if: isOn, then: [{ id: x }, { if: n > 0, then: [{ id: x }] }] }]",
                "5:64 two siblings have the id 'x'"
            ),
            (
                "[{ kind: choice }]",
                "5:16 the text 'choice' is not a kind of node | the kinds are view, container, group, section, forEach"
            ),
        ])
    func mistakes(_ children: String, _ fault: String) { #expect(onlyFault(ChoiceTests.scene(children)) == fault) }

    @Test("branches of one choice may use the same ids, also in branches below them") func sameIDs() throws {
        let text = ChoiceTests.scene(
            """
            [{ switch: mode, cases: { list: [{ id: x }], grid: [{ if: isOn, then: [{ id: x }], else: [{ id: x }] }] }, default: [{ id: x }] }]
            """)
        _ = try SceneModelTests.scene(text)
    }

    @Test("a component may contain itself in a branch") func repeated() throws {
        let text = """
            components:
              Item: { kind: container, let: { n: { type: int } }, children: [{ if: n > 0, then: [{ id: in, component: Item, let: { n: =n - 1 } }] }] }
            nodes: [{ id: top, component: Item, let: { n: 3 } }]
            """
        _ = try SceneModelTests.scene(text)
    }
}
