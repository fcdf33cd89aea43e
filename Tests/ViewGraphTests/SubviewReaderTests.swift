import AttributeGraph
import AttributeValues
import SceneModel
import Testing

@testable import ViewGraph

@Suite("Subviews that rules read")
struct SubviewReaderTests {
    private let inputs = Inputs()

    private func insert(
        _ id: String, _ kind: NodeKind, _ tree: Tree<NodeRecord>, under parent: NodeRow?
    ) -> NodeRow {
        let row = tree.insert {
            NodeRecord(
                id: Name(id), kind: kind, slot: .content, generation: $0, parent: parent ?? 0,
                definition: NodeDefinition(),
                isScopeBoundary: false)
        }
        if let parent { tree.attach(row, to: parent) }
        return row
    }

    /// `/g/v` and `/w`, where the group writes the container value `k` and has the tag that is read from `inputs.a`.
    private func scene() -> (SubviewReader<RuleHost>, rows: [NodeRow]) {
        let tree = Tree<NodeRecord>()
        let root = insert("", .container, tree, under: nil)
        let group = insert("g", .group, tree, under: root)
        let rows = [insert("v", .view, tree, under: group), insert("w", .view, tree, under: root)]
        tree[group].tag = inputs.a
        tree[group].containerValues = [("k", [], inputs.b)]
        let keys = ["k", "l"].map { KeyDefinition(name: $0, type: .dyn, defaultValue: "standard") }
        let byName = Dictionary(uniqueKeysWithValues: keys.map { ($0.name, $0) })
        return (SubviewReader(tree: tree, keys: byName, engine: inputs.engine, container: root), rows)
    }

    @Test("a wrapper's tag and container values hold for what it wraps; others have the defaults")
    func wrappers() throws {
        try inputs.set(inputs.a, 7)
        try inputs.set(inputs.b, 8)
        let (reader, rows) = scene()
        #expect(reader.tree.subviews(of: 0) == rows)
        var parts = SubviewParts(hasID: true, hasTag: true, hasContainerValues: true, keys: nil)
        let first = try reader.subviewValue(rows[0], 0, parts)
        #expect(first == ["id": "g/v", "index": 0, "tag": 7, "containerValues": ["k": 8, "l": "standard"]])
        let second = try reader.subviewValue(rows[1], 1, parts)
        #expect(
            second == ["id": "w", "index": 1, "tag": .null, "containerValues": ["k": "standard", "l": "standard"]])
        parts = SubviewParts(hasContainerValues: true, keys: ["l"])
        let one = try reader.subviewValue(rows[0], 0, parts)
        #expect(one == ["index": 0, "containerValues": ["l": "standard"]], "a rule is shown the keys that it looks at")
    }

    @Test("a place is found by what it needs alone; what is no part of a subview is left to the list")
    func places() throws {
        try inputs.set(inputs.b, 8)
        let (reader, rows) = scene()
        let value = try reader.place([.key("containerValues"), .key("k")], in: rows[0], 0, .whole)
        #expect(value == .value(8))
        let other = try reader.place([.key("colour")], in: rows[0], 0, .whole)
        #expect(other == nil)
        let group = SectionGroup(loose: [rows[1]])
        let run = try reader.place([.key("content"), .index(0), .key("id")], in: group, 0, .whole)
        #expect(run == .value("w"))
    }

    @Test("a failing container value is what its subview shows") func failures() throws {
        let failure = Failure(.ruleFailed, "it fails")
        _ = try inputs.engine.set(inputs.b, .failure(failure))
        let (reader, rows) = scene()
        let parts = SubviewParts(hasContainerValues: true, keys: nil)
        #expect(throws: failure) { try reader.subviews(rows, parts) }
    }
}
