import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime

@Suite("Moved nodes")
struct MovingTests {
    static let groups = """
        nodes:
          - id: h
            kind: container
            environment: { level: 1.0 }
            children:
              - { id: h1, kind: container, state: { load: 1.0, spot: { x: 1 } }, children: [{ id: in, kind: view, state: { v: 1 } }] }
              - { id: h2, kind: view, state: { load: 2.0 } }
          - { id: g, kind: container, environment: { level: 5.0 } }
        keys: { environment: { level: 0.0 } }
        """

    private func move(_ graph: Harness, _ path: String, to parent: String) throws {
        try graph.succeed(.move(.init(path: path, to: parent, index: nil), .init()))
    }

    @Test("structure events name what has moved by its old path as removed and by its new one as moved") func structure() throws {
        let graph = try Harness(MovingTests.groups)
        try graph.subscribe(["/h/**"], events: .structure)
        try graph.subscribe(["/g/**"], events: .structure, from: 2)
        try move(graph, "/h/h1", to: "/g")
        guard case .structure(_, [], let removed, [])? = graph.events.first, case .structure(_, [], [], let moved)? = graph.events.last
        else {
            Issue.record("\(graph.events)")
            return
        }
        #expect(removed == ["/h/h1", "/h/h1.load", "/h/h1.spot", "/h/h1/in", "/h/h1/in.v"])
        #expect(moved == ["/g/h1", "/g/h1.load", "/g/h1.spot", "/g/h1/in", "/g/h1/in.v"])
    }
}
