import AttributeValues
import SceneModel
import Testing

@testable import ViewGraph

@Suite("Rows for the store")
struct PersistenceTests {
    /// `/a` with the children `c` and `d`, and `/b`, as a scene has made them.
    private let grove = Grove()
    private let persistence: Persistence
    private let (a, b, c): (UInt32, UInt32, UInt32)

    private var tree: Tree<NodeRecord> { grove.tree }

    init() {
        a = grove.add("a")
        b = grove.add("b")
        c = grove.add("c", under: a)
        let d = grove.add("d", under: a)
        let tree = grove.tree
        for row in [a, b, c, d] { tree[Int(row)].definition.id = tree[Int(row)].id }
        tree[Int(a)].definition.children = [tree[Int(c)].definition, tree[Int(d)].definition]
        tree[Int(0)].definition.children = [tree[Int(a)].definition, tree[Int(b)].definition]
        persistence = Persistence(of: tree)
        persistence.noteScenePlaces()
    }

    private func move(_ row: UInt32, to parent: UInt32) -> [UInt32] {
        let leaving = persistence.noteMove(of: row, to: parent)
        tree.move(row, to: parent, at: nil)
        return persistence.noteMoved(row, leaving)
    }

    @Test("a value stands under the key of its node, and is told once") func values() {
        persistence.note(7, as: "count", of: c)
        #expect(persistence.takeChanges() == [StoreChange(key: "/a/c", name: "count", value: 7)])
        #expect(persistence.takeChanges() == [])
        persistence.note(nil, as: "count", of: c)
        #expect(persistence.takeChanges() == [StoreChange(key: "/a/c", name: "count", value: nil)])
    }

    @Test(
        "a node's own key is the text that was given, and siblings share what they can",
        arguments: ["/a/x#7", "/x#7", "/a/x#07", "/a/y#7", "/a#7", "/a/x", "/b/x#0", "x#7"])
    func ownKeys(text: String) {
        let row = grove.add("x", under: a)
        tree.setKey(text, of: row)
        #expect(tree.ownKey(of: row) == text && tree.key(of: row) == text)
        tree.withKey(of: row) { #expect(String(decoding: $0, as: UTF8.self) == text) }
        let below = grove.add("below", under: row)
        #expect(tree.key(of: below) == text + "/below")
        tree.withKey(of: below) { #expect(String(decoding: $0, as: UTF8.self) == text + "/below") }
    }

    @Test("an id with signs that have a meaning in keys is escaped in the node's own key") func escapedKeys() {
        let row = grove.add("x/y#1", under: a)
        let text = "/a/\(StoredKey.escape("x/y#1"))#3"
        tree.setKey(text, of: row)
        #expect(tree.ownKey(of: row) == text)
        tree.withKey(of: row) { #expect(String(decoding: $0, as: UTF8.self) == text) }
    }

    @Test("a node of a scene keeps its key wherever it moves, and has no row when it is home again") func moving() {
        #expect(move(c, to: b) == [])
        let moved = persistence.takeChanges()
        #expect(tree.key(of: c) == "/a/c" && moved.map(\.key) == ["/a/c"] && moved.map(\.name) == [""])
        #expect(moved.first?.value?.map?["parent"] == "/b" && moved.first?.value?.map?["own"] == nil)
        _ = move(c, to: a)
        tree.move(c, to: a, at: 0)
        persistence.notePlace(of: c)
        #expect(persistence.takeChanges() == [StoreChange(key: "/a/c", name: "", value: nil)])
    }

    @Test("an instance that leaves its list becomes a client's node, whose values are to be noted again")
    func leaving() {
        let list = grove.add("list", .forEach)
        let instance = grove.add("1", under: list)
        let inner = grove.add("x", under: instance)
        persistence.note(7, as: "count", of: inner)
        #expect(persistence.takeChanges().map(\.key) == ["/list/1/x"])
        #expect(move(instance, to: b) == [instance, inner])
        #expect(tree.key(of: instance) == "/b/1#1")
        let changes = persistence.takeChanges()
        #expect(changes.first == StoreChange(key: "/list/1/x", name: nil, value: nil))
        #expect(changes.filter { $0.name == "" }.map(\.key) == ["/b/1#1", "/b/1/x#2"])
    }

    @Test("a client's node has a number in its key and a row that says all of it") func own() {
        let made = grove.add("e", under: a)
        persistence.noteNew(made)
        let changes = persistence.takeChanges()
        #expect(changes.map(\.key) == ["/a/e#1"] && tree.isOwn(made))
        let row = changes.first?.value?.map
        #expect(row?["id"] == "e" && row?["parent"] == "/a" && row?["own"] == ["kind": "view"])
        persistence.noteGone([made])
        #expect(persistence.takeChanges() == [StoreChange(key: "/a/e#1", name: nil, value: nil)])
    }

    @Test("a node of a scene leaves a tombstone, with which its rows go") func tombstones() {
        persistence.note(7, as: "count", of: c)
        tree.detach(c)
        persistence.noteGone([c])
        #expect(
            persistence.takeChanges().dropFirst() == [
                StoreChange(key: "/a/c", name: nil, value: nil), StoreChange(key: "/a/c", name: nil, value: nil),
                StoreChange(key: "/a/c", name: "", value: ["removed": true]),
            ])
    }

    @Test("changes by scenes and stores are not stored") func authors() {
        for author in [Persistence.Author.scenes, .store] {
            persistence.author = author
            persistence.noteNew(grove.add("e\(author)"))
            persistence.noteRow(of: a)
            persistence.noteOrder(below: a)
            tree.detach(c)
            persistence.noteGone([c])
            tree.attach(c, to: a)
            #expect(persistence.takeChanges() == [])
        }
    }

    @Test("only nodes that changed places get keys of their own") func order() {
        tree.order(tree[Int(0)].children.reversed(), below: 0)
        persistence.noteOrder(below: 0)
        let changes = persistence.takeChanges()
        #expect(changes.count == 1 && changes.first?.value?.map?["order"] != nil)
        #expect([a, b].count { tree[Int($0)].kept?.order != nil } == 1)
    }

    @Test("rows without a node are given to it once, and deleted with the node around them") func absent() {
        persistence.begin(with: [
            StoredRow(key: "/a/x#7", name: "", revision: 1, value: ["parent": "/a/c"]),
            StoredRow(key: "/a/c/later", name: "count", revision: 1, value: 3),
        ])
        persistence.makeKey(of: b)
        #expect(tree.key(of: b) == "/b#8", "numbers in keys are never used again")
        persistence.noteMade(b)
        #expect(persistence.takeMade() == [b] && persistence.takeMade() == [])
        persistence.forgetAbsentRows(below: [a])
        #expect(persistence.absentRows.isEmpty && persistence.takeChanges().map(\.key) == ["/a/c/later", "/a/x#7"])
    }
}

@Suite("Components that are current")
struct CurrentComponentsTests {
    private func component(_ text: String) -> NodeDefinition {
        let (body, child) = (NodeDefinition(), NodeDefinition())
        (body.component, child.id) = ("Card", Name(text))
        body.children = [child]
        return body
    }

    @Test("a component is current as long as the declared one makes the same") func current() {
        let (old, same, other) = (component("a"), component("a"), component("b"))
        var components = CurrentComponents(["Card": same])
        #expect([old, same, other].map { components.isCurrent($0) } == [true, true, false])
        components = CurrentComponents(["Card": other])
        #expect([old, other].map { components.isCurrent($0) } == [false, true])
    }

    @Test("a component around one that was declared anew is another one, too") func nested() {
        let (inner, outer, use) = (component("a"), NodeDefinition(), NodeDefinition())
        (outer.component, use.component, use.body) = ("Page", "Card", inner)
        outer.children = [use]
        var components = CurrentComponents(["Page": outer, "Card": component("b")])
        let isCurrent = components.isCurrent(outer)
        #expect(!isCurrent)
    }
}

@Suite("the names in a definition")
struct ReferredNamesTests {
    private func reference(_ name: String) -> Expression { .reference(Reference(name: Name(name))) }

    private func keyed(_ key: String, _ expression: Expression) -> KeyedExpression {
        KeyedExpression(key: key, steps: [], type: .dyn, expression: expression, position: .none)
    }

    @Test("names are found by the scope that they are looked up in; elements and `$` paths are none") func scopes() {
        let (list, template) = (NodeDefinition(), NodeDefinition())
        let title = AttributeDefinition(
            name: "title", role: .constant(reference("outside")), type: .dyn, position: .none)
        template.attributes = [
            AttributeDefinition(name: "x", role: .constant(reference("item")), type: .dyn, position: .none),
            AttributeDefinition(name: "y", role: .constant(reference("far")), type: .dyn, position: .none),
        ]
        template.tag = reference("x")
        list.attributes = [title]
        list.tag = reference("$/other.name")
        list.containerValues = [keyed("k", reference("title"))]
        list.forEach = ForEachDefinition(
            data: reference("items"), idField: "id", elementName: "item", indexName: "index", template: template)
        let names = ReferredNames(in: list)
        #expect(names.enclosing == ["outside", "items"] && names.modifier == ["title", "far"])
    }
}
