import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel
import Testing

@testable import ViewGraph

/// Nodes that are made by hand, without lists, transactions or a store.
@Suite("the wiring alone")
struct WiringTests {
    private let wiring = Wiring(wallTime: .epoch)

    private func attribute(_ name: String, _ role: AttributeRole) -> AttributeDefinition {
        AttributeDefinition(name: name, role: role, type: .dyn, position: .none)
    }

    private func state(_ name: String, _ value: Value) -> AttributeDefinition {
        attribute(name, .state(initial: value, isTransient: false))
    }

    private func rule(_ text: String, over names: String...) throws -> Program {
        let scope = RuleScope()
        for name in names { scope.declare(name, ValueType.dyn) }
        return try Rule.compile(text, in: scope)
    }

    private func add(
        _ id: String, _ attributes: [AttributeDefinition], under parent: NodeRow = 0,
        _ complete: (NodeDefinition) -> Void = { _ in }
    ) -> NodeRow {
        let definition = NodeDefinition()
        definition.kind = .group
        definition.attributes = attributes
        complete(definition)
        let row = wiring.createNode(definition, Name(id), under: parent, .content)
        wiring.nodes.attach(row, to: parent)
        for attribute in attributes { wiring.createAttribute(attribute, of: row) }
        wiring.createModifiers(of: row)
        wiring.connectReferences(of: row)
        #expect(wiring.connectExpressions(of: row) == [])
        return row
    }

    private func vertex(_ path: String) throws -> AttributeID {
        try wiring.locate(AttributePath(path)).attribute
    }

    private func value(_ path: String) throws -> Value? { wiring.content(of: try vertex(path)).value }

    @Test("a binding shows the state of a node around it, and a rule what the binding shows") func binding() throws {
        let outer = add("outer", [state("count", 1)])
        let reference = BindingTarget.reference(Reference(name: "count"))
        let inner = [
            attribute("mine", .binding(reference, animation: nil)),
            attribute("twice", .computed(try rule("mine * 2", over: "mine"))),
        ]
        _ = add("inner", inner, under: outer)
        #expect(try value("/outer/inner.twice") == 2)
        wiring.setInput(try vertex("/outer.count"), .value(4))
        #expect(try value("/outer/inner.mine") == 4 && value("/outer/inner.twice") == 8)
        #expect(try wiring.follow(Place(vertex("/outer/inner.mine"))).attribute == vertex("/outer.count"))
    }

    @Test("a change of one place in a value does not mark what reads another one") func places() throws {
        _ = add("a", [state("map", ["x": 1, "y": 2])])
        let map = try vertex("/a.map")
        let (x, y) = (wiring.vertex(for: Place(map, [.key("x")])), wiring.vertex(for: Place(map, [.key("y")])))
        let before = wiring.lastChange(of: y)
        wiring.engine.advanceRevision()
        wiring.setInput(map, .value(["x": 5, "y": 2]))
        #expect(wiring.content(of: x) == .value(5) && wiring.lastChange(of: x) > before)
        #expect(wiring.lastChange(of: y) == before)
    }

    @Test("a place that nobody uses any more is freed by the sweep, and a watched one when it is not watched")
    func sharing() throws {
        _ = add("a", [state("map", ["x": 1])])
        let map = try vertex("/a.map")
        let x = wiring.vertex(for: Place(map, [.key("x")]))
        wiring.beginWatch(of: x)
        wiring.sweepVertices()
        #expect(wiring.isAlive(x) && wiring.wholeAttribute(of: x) == map)
        wiring.endWatch(of: x)
        wiring.sweepVertices()
        #expect(!wiring.isAlive(x) && wiring.existingVertex(for: Place(map, [.key("x")])) == nil)
    }

    @Test("a reader of the environment has the nearest override around it, else the default") func environment() throws
    {
        wiring.declarations.environment["size"] = KeyDefinition(name: "size", type: .int, defaultValue: 1)
        let outer = add("outer", []) {
            $0.environment = [
                KeyedExpression(key: "size", steps: [], type: .int, expression: .literal(2), position: .none)
            ]
        }
        _ = add("inner", [attribute("size", .inherit(key: "size"))], under: outer)
        _ = add("other", [attribute("size", .inherit(key: "size"))])
        #expect(try value("/outer/inner.size") == 2 && value("/other.size") == 1)
    }

    @Test("a path from the root means whatever attribute comes to stand there") func rootReferences() throws {
        _ = add("reader", [attribute("high", .constant(.reference(Reference(name: "$/limits.high"))))])
        #expect(try wiring.content(of: vertex("/reader.high")).failure?.code == .notFound)
        _ = add("limits", [state("high", 9)])
        wiring.followReferences()
        #expect(try value("/reader.high") == 9)
    }

    @Test("rules that read each other in a circle have an error that names them") func cycles() throws {
        _ = add(
            "a",
            [
                attribute("x", .computed(try rule("y + 1", over: "y"))),
                attribute("y", .computed(try rule("x + 1", over: "x"))),
            ])
        let failure = try wiring.content(of: vertex("/a.x")).failure
        #expect(failure?.code == .cycle && failure?.message.contains("/a.x → /a.y → /a.x") == true)
    }
}
