import AttributeValues
import SceneModel
import Testing

@testable import ViewGraph

@Suite("Rows for the store")
struct PersistenceTests {
    /// `/a` with the children `c` and `d`, and `/b`, as a scene has made them.
    private let grove = Grove()
    private let persistence: Persistence
    private let (a, b, c): (NodeRow, NodeRow, NodeRow)

    private var tree: Tree<NodeRecord> { grove.tree }

    init() {
        a = grove.add("a")
        b = grove.add("b")
        c = grove.add("c", under: a)
        let d = grove.add("d", under: a)
        let tree = grove.tree
        for row in [a, b, c, d] { tree[row].definition.id = tree[row].id }
        tree[a].definition.children = [tree[c].definition, tree[d].definition]
        tree[0].definition.children = [tree[a].definition, tree[b].definition]
        persistence = Persistence(of: tree)
        persistence.noteScenes()
    }

    private func move(_ row: NodeRow, to parent: NodeRow) {
        let (home, key) = (tree[row].parent, tree.key(of: row))
        let isLeft = persistence.noteMove(of: row)
        tree.move(row, to: parent, at: nil)
        persistence.noteMoved(row, from: home, isLeft, key: key)
        persistence.noteCopied(row)
        persistence.forgetIDsBelow()
    }

    @Test("a value stands under the key of its node, and is told once") func values() {
        persistence.note(7, as: "count", of: c)
        #expect(persistence.takeChanges() == [StoreChange(key: "/a/c", name: "count", value: 7)])
        #expect(persistence.takeChanges() == [])
        persistence.note(nil, as: "count", of: c)
        #expect(persistence.takeChanges() == [StoreChange(key: "/a/c", name: "count", value: nil)])
    }

    @Test("a key is the path, with signs escaped that have a meaning in keys") func keys() {
        let row = grove.add("x/y%1", under: a)
        let below = grove.add("below", under: row)
        #expect(tree.key(of: below) == "/a/x%2Fy%251/below" && StoredKey.id(of: tree.key(of: row)) == "x/y%1")
        tree.withKey(of: below) { #expect(String(decoding: $0, as: UTF8.self) == "/a/x%2Fy%251/below") }
    }

    @Test("a node of a scene that is moved leaves a tombstone, and the edits make a copy of it") func moving() {
        move(c, to: b)
        let changes = persistence.takeChanges()
        #expect(changes.first == StoreChange(key: "/a/c", name: "", value: ["removed": true]))
        #expect(changes.last?.key == "/b/c" && changes.last?.value?.map?["makes"] == ["kind": "view"])
        #expect(tree[a].part?.removed == ["c"] && tree.isMade(c))
    }

    @Test("an instance that leaves its list is a copy, with all that is in it")
    func leaving() {
        let list = grove.add("list", .forEach)
        let instance = grove.add("1", under: list)
        let inner = grove.add("x", under: instance)
        persistence.note(7, as: "count", of: inner)
        #expect(persistence.takeChanges().map(\.key) == ["/list/1/x"])
        move(instance, to: b)
        let changes = persistence.takeChanges()
        #expect(changes.first == StoreChange(key: "/list/1/x", name: nil, value: nil))
        #expect(changes.filter { $0.name == "" }.map(\.key).sorted() == ["/b/1", "/b/1/x"])
    }

    @Test("a node that the edits make has a row that says all of it") func own() {
        let made = grove.add("e", under: a)
        persistence.noteNew(made)
        let changes = persistence.takeChanges()
        #expect(changes.map(\.key) == ["/a/e"] && tree.isMade(made))
        #expect(changes.first?.value?.map?["makes"] == ["kind": "view"])
        persistence.noteGone([made])
        #expect(persistence.takeChanges() == [StoreChange(key: "/a/e", name: nil, value: nil)])
    }

    @Test("a node of a scene leaves a tombstone, with which its rows go") func tombstones() {
        persistence.note(7, as: "count", of: c)
        tree.detach(c)
        persistence.noteGone([c])
        #expect(
            persistence.takeChanges().dropFirst() == [
                StoreChange(key: "/a/c", name: nil, value: nil),
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
        tree.order(tree[0].children.reversed(), below: 0)
        persistence.noteOrder(below: 0)
        let changes = persistence.takeChanges()
        #expect(changes.count == 1 && changes.first?.value?.map?["order"] != nil)
        #expect([a, b].count { tree[$0].part?.order != nil } == 1)
    }

    @Test("rows without a node are deleted with the node around them") func absent() {
        persistence.begin(with: [
            StoredRow(key: "/a/c/x", name: "", revision: 1, value: ["makes": [:]]),
            StoredRow(key: "/a/c/later", name: "count", revision: 1, value: 3),
        ])
        #expect(persistence.mayHaveParts)
        persistence.forgetAbsentRows(below: [a])
        #expect(!persistence.mayHaveParts && persistence.takeChanges().map(\.key) == ["/a/c/later", "/a/c/x"])
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
