import AttributeGraph
import AttributeValues
import SceneModel
import Testing

@testable import ViewGraph

/// Nodes with attributes that no engine knows.
private struct Names {
    let tree = Tree<NodeRecord>()
    private var count: UInt32 = 0

    init() { _ = insert("", 0) }

    private func insert(_ id: String, _ parent: NodeRow) -> NodeRow {
        tree.insert {
            NodeRecord(
                id: Name(id), kind: .group, slot: .content, generation: $0, parent: parent,
                definition: NodeDefinition(),
                isScopeBoundary: false)
        }
    }

    mutating func node(_ id: String, under parent: NodeRow = 0) -> NodeRow {
        let row = insert(id, parent)
        tree.attach(row, to: parent)
        return row
    }

    mutating func attribute() -> AttributeID {
        count += 1
        return AttributeID(index: count, generation: 1)
    }

    mutating func attribute(_ name: String, of row: NodeRow) -> Meaning {
        let attribute = attribute()
        tree[row].attributes.add(name, attribute)
        return .attribute(attribute)
    }
}

@Suite("names")
struct NamesTests {
    @Test("a name means the nearest attribute of that name, within what its scope sees") func nearest() {
        var names = Names()
        let outer = names.node("outer")
        let inner = names.node("inner", under: outer)
        let far = names.attribute("x", of: outer)
        let near = names.attribute("x", of: inner)
        let other = names.attribute("y", of: outer)
        let tree = names.tree
        #expect(tree.meaning(of: "x", at: inner, .modifier) == near && tree.meaning(of: "x", at: inner, .own) == near)
        #expect(tree.meaning(of: "x", at: inner, .enclosing) == far, "a let does not see its own node")
        #expect(tree.meaning(of: "y", at: inner, .modifier) == other && tree.meaning(of: "y", at: inner, .own) == nil)
    }

    @Test("the body of a component sees its root and no further") func boundary() {
        var names = Names()
        let outer = names.node("outer")
        let root = names.node("root", under: outer)
        let body = names.node("body", under: root)
        names.tree[root].isScopeBoundary = true
        let inside = names.attribute("x", of: root)
        _ = names.attribute("y", of: outer)
        #expect(names.tree.meaning(of: "x", at: body, .enclosing) == inside)
        #expect(names.tree.meaning(of: "y", at: body, .enclosing) == nil)
    }

    @Test("content that is given to a component sees what stands around the use, not what the component has")
    func content() {
        var names = Names()
        let outer = names.node("outer")
        let root = names.node("root", under: outer)
        let given = names.node("given", under: root)
        names.tree[root].isScopeBoundary = true
        names.tree[given].isContent = true
        _ = names.attribute("x", of: root)
        let around = names.attribute("x", of: outer)
        #expect(names.tree.meaning(of: "x", at: given, .enclosing) == around)
    }

    @Test("an instance has its element and its index, which its own attributes hide") func instances() {
        var names = Names()
        let instance = names.node("instance")
        let element = names.attribute()
        let item = AttributeRecord(
            node: instance, name: "item", kind: .let, type: .dyn, isHidden: false, source: .system)
        names.tree[instance].instance = InstanceScope(
            element, InstanceScope.Kind(element: item, indexName: "index"))
        #expect(names.tree.meaning(of: "item", at: instance, .enclosing) == .attribute(element))
        #expect(names.tree.own("index", of: instance) == .index(of: instance))
        let own = names.attribute("item", of: instance)
        #expect(names.tree.own("item", of: instance) == own)
    }

    @Test("a node that is gone has no names") func gone() {
        var names = Names()
        let node = names.node("node")
        _ = names.attribute("x", of: node)
        names.tree.detach(node)
        names.tree.remove(node)
        #expect(names.tree.own("x", of: node) == nil)
    }

    @Test("the nearest override decides a key; the node's own count only up to a position") func overrides() {
        var names = Names()
        let outer = names.node("outer")
        let inner = names.node("inner", under: outer)
        let (a, b, c) = (names.attribute(), names.attribute(), names.attribute())
        names.tree[outer].environment = [("k", a)]
        names.tree[inner].environment = [("k", b), ("k", c)]
        #expect(names.tree.nearestOverride(of: "k", at: inner) == c)
        #expect(names.tree.nearestOverride(of: "k", at: inner, before: 1) == b)
        #expect(names.tree.nearestOverride(of: "k", at: inner, before: 0) == a)
        #expect(names.tree.nearestOverride(of: "other", at: inner) == nil)
    }
}
