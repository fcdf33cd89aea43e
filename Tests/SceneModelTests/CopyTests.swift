import AttributeValues
import RuleLanguage
import Testing

@testable import SceneModel

@Suite("Nodes that say the same")
struct CopyTests {
    @Test("siblings that say the same share what they say, and others do not")
    func copies() throws {
        let made = try scene(
            """
            nodes:
              - { id: a, state: { v: 1 }, computed: { w: v + 1 } }
              - { id: b, state: { v: 1 }, computed: { w: v + 1 } }
              - { id: c, state: { v: 2 }, computed: { w: v + 1 } }
              - { id: d, state: { v: 1 }, computed: { w: v + 10 } }
              - { id: e, state: { v: 1 }, computed: { w: v + 1 }, tag: 5 }
            """)
        let (a, b, c) = (try made.node("a"), try made.node("b"), try made.node("c"))
        #expect(b.isCopy(of: a) && b.id == "b" && !c.isCopy(of: a))
        #expect(a.attributes[0] === b.attributes[0] && c.attributes[0] !== a.attributes[0])
        #expect(try made.node("d").attribute("w").role.program?.text == "v + 10")
        #expect(try made.node("e").tag != nil && b.tag == nil)
    }

    @Test("the document of a value has that value, however siblings differ")
    func documentsOfValues() throws {
        func sibling(_ id: String, _ text: Value, _ inner: String = "x") -> Value {
            ["id": .string(id), "text": text, "state": ["v": .string(inner), "w": 1]]
        }
        let value: Value = [
            sibling("a", "t"), sibling("b", "t"), sibling("b", "t"), sibling("c", "u"), sibling("c", "v"),
            sibling("d", 5), sibling("d", "t", "y"), sibling("e", "t", "y"), ["id": "f"], ["id": "g"], ["id": ["a"]],
        ]
        let document = DocumentNode(value)
        #expect(document.value == value)
        let nodes = try #require(document.list)
        #expect(nodes.map(\.isVariant).prefix(4) == [false, true, true, false])
        #expect(nodes[1]["id"]?.string == "b" && nodes[1]["text"]?.string == "t" && nodes[1].count == 3)
        #expect(nodes[1].saysSame(as: nodes[2]) && !nodes[1].saysSame(as: nodes[0]))
    }

    @Test("a fault of a node that says the same as another one has its own place")
    func faultsOfCopies() throws {
        let found = faults(
            """
            nodes:
              - { id: a, computed: { w: nothing } }
              - { id: b, computed: { w: nothing } }
            """)
        #expect(found.map(\.position.line) == [2, 3])
    }

    @Test("rules that differ in numbers are compiled once, unless something else follows from a number")
    func shapes() throws {
        let made = try scene(
            """
            nodes:
              - { id: a, state: { v: 1.5, l: [1, 2] }, computed: { w: 'v * -2.0', x: 'l[0]', y: 'v > 60.0 * 2.0' } }
              - { id: b, state: { v: 1.5, l: [1, 2] }, computed: { w: 'v * -30.5', x: 'l[1]', y: 'v > 60.0 * 9.0' } }
              - { id: c, state: { v: 1.5 }, computed: { w: 'v * -30.5' } }
              - { id: d, state: { v: 2.5 }, computed: { w: 'v * -0.5' } }
            """)
        let evaluator = Evaluator()
        func value(_ node: String, _ name: String) throws -> Value? {
            let program = try #require(try made.node(node).attribute(name).role.program)
            return evaluator.evaluate(
                program, bindings: ValueMap([(.string("v"), 1000.0), (.string("l"), .list([7, 8]))])
            )
            .value
        }
        #expect(try value("a", "w") == -2000.0 && value("b", "w") == -30500.0 && value("d", "w") == -500.0)
        #expect(try value("a", "x") == 7 && value("b", "x") == 8)
        #expect(try value("a", "y") == true && value("b", "y") == true)
        let programs = try ["c", "d"].map { try #require(try made.node($0).attribute("w").role.program) }
        #expect(programs[0].isAdaptable && programs[1].text == "v * -0.5")
    }
}

extension AttributeRole {
    fileprivate var program: Program? { if case .computed(let program) = self { program } else { nil } }
}
