import AttributeValues
import SceneModel
import Testing

@testable import ViewGraph

/// Over a wiring alone: what reads the tree needs nothing that changes it.
@Suite("plans and documents")
struct PlanningTests {
    private let scene = WiredScene()
    private var wiring: Wiring { scene.wiring }

    private func plan(_ text: String, _ mode: ApplyMode) throws -> ScenePlan {
        try wiring.planned(try scene.read(text, mode), at: .root, mode, isTold: true).plan
    }

    private let page = "nodes: [{ id: page, state: { count: 1 }, children: [{ id: a }, { id: b }] }]"

    @Test("a plan tells what comes, goes and becomes another, and does none of it") func telling() throws {
        try scene.make(page)
        let text = "nodes: [{ id: page, state: { count: 1, size: 2 }, children: [{ id: b }, { id: c }] }]"
        let merged = try plan(text, .merge)
        #expect(merged.added == ["/page/c"] && merged.removed == [] && merged.changed == ["/page"])
        #expect(merged.differences == ["+ /page.size: state 2"])
        let replaced = try plan(text, .replace)
        #expect(replaced.removed == ["/page/a"] && replaced.added == ["/page/c"])
        #expect(wiring.liveNodes == 4 && wiring.takeStructureChange().removedNames.isEmpty)
    }

    @Test("a document that says what is there has a plan that is done") func done() throws {
        try scene.make(page)
        #expect(try plan(page, .replace).isDone(in: wiring) && !plan("nodes: []", .replace).isDone(in: wiring))
    }

    @Test("a plan holds as long as no node comes or goes, and takes the steps that it is given") func slices() throws {
        try scene.make(page)
        let planning = try wiring.planning(of: try scene.read(page, .merge), at: .root, .merge)
        var steps = 1
        #expect(try !planning.advance(&steps) && planning.isCurrent)
        _ = scene.make(NodeDefinition(), below: 0)
        #expect(!planning.isCurrent)
    }

    @Test("the content of a node is written as a document that makes it again") func writing() throws {
        try scene.make(page)
        let written = try wiring.scene(at: .root, limit: 100)
        #expect(try plan(written.jsonText, .replace).changed == [])
        guard case .map(let page)? = written.map?["nodes"]?.list?.first else { return #expect(Bool(false), "no page") }
        #expect(page["id"] == "page" && page["children"]?.list?.count == 2)
    }

    @Test("a node is described with its attributes, and what is left out is counted") func describing() throws {
        try scene.make(page)
        let described = try wiring.description.details(of: try wiring.node(at: ["page"]), depth: 0, limit: 10).map
        #expect(described?["path"] == "/page" && described?["childCount"] == 2)
        #expect(described?["attributes"]?.map?["count"]?.map?["value"] == 1)
        #expect(throws: Failure.self) { try wiring.description.details(of: .root, depth: .max, limit: 2) }
    }
}
