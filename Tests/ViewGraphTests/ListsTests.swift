import AttributeGraph
import AttributeValues
import SceneModel
import Testing

@testable import ViewGraph

/// Over a wiring alone: the test makes the instances.
@Suite("lists")
struct ListsTests {
    private let scene: WiredScene
    private let persistence: Persistence
    private let lists: Lists

    init() throws {
        scene = try WiredScene(
            """
            nodes:
              - id: a
                state: { items: [{ id: x, n: 1 }, { id: y, n: 2 }, { id: z, n: 3 }] }
                children:
                  - { id: rows, forEach: { in: $items, as: item, node: { computed: { n: item.n } } } }
                  - { id: chosen, if: items.size() > 1, then: [{ id: many }], else: [{ id: few }] }
            """)
        persistence = Persistence(of: scene.wiring.nodes)
        lists = Lists(persistence)
        lists.attach(to: scene.wiring)
        for row in scene.wiring.nodes.living where scene.wiring.nodes[row].definition.forEach != nil {
            lists.makeList(at: row)
            #expect(lists.connectData(of: row) == (row == (try self.row())), "data that is a reference is news")
        }
    }

    private func row() throws -> NodeRow { try scene.wiring.node(at: ["a", "rows"]).row }

    private var stale: [NodeRow] {
        scene.wiring.collectReports()
        return lists.takeStale(Settlement()).map(\.row)
    }

    /// Follows the data of the list, as `ViewGraph` does.
    /// - Returns: the number of instances that were made, and the ids of those that have gone.
    private func follow() throws -> (made: Int, gone: [String])? {
        guard let edit = try lists.findEdit(of: row()) else { return nil }
        let gone = lists.performEdit(edit) { template, id in
            let definition = NodeDefinition(copyOf: template, id: Name(id))
            return scene.make(definition, below: edit.row)
        }
        return (edit.made, gone.map { scene.wiring.nodes[$0].id.text })
    }

    private var ids: [String] {
        get throws { scene.wiring.nodes[try row()].children.map { scene.wiring.nodes[$0].id.text } }
    }

    private func change(_ items: Value) throws {
        try scene.wiring.set("/a.items", items)
        #expect(try stale.contains(row()))
    }

    @Test("a list has one instance for each element, in order, and drops those whose elements have gone")
    func following() throws {
        #expect(try stale.contains(row()) && stale == [])
        #expect(try follow()?.made == 3 && ids == ["x", "y", "z"])
        try change([["id": "z", "n": 3], ["id": "w", "n": 4], ["id": "x", "n": 1]])
        let change = try follow()
        #expect(change?.made == 1 && change?.gone == ["y"])
        #expect(try ids == ["z", "w", "x"])
        #expect(try scene.value("/a/rows.elements") == ["z", "w", "x"])
    }

    @Test("an element of referenced data is bound: what is written to it is written to the list") func binding() throws
    {
        _ = try follow()
        try scene.wiring.set("/a/rows/y.item.n", 7)
        #expect(try scene.value("/a.items") == [["id": "x", "n": 1], ["id": "y", "n": 7], ["id": "z", "n": 3]])
    }

    @Test("refused data keeps the instances, and the store keeps the list that they were made from")
    func refusing() throws {
        _ = try follow()
        _ = persistence.takeChanges()
        try change([["id": "x"], ["id": "x"]])
        let row = try row()
        let failure = try #require(throws: Failure.self) { try lists.findEdit(of: row) }
        #expect(failure.code == .conflict && !lists.noteRefusal(failure, at: row))
        #expect(try ids == ["x", "y", "z"])
        #expect(persistence.takeChanges().map(\.name) == [Persistence.frozenName])
        #expect(try scene.wiring.content(of: scene.vertex("/a/rows.elements")).failure?.code == .conflict)
        try change([["id": "y", "n": 2]])
        #expect(try follow()?.gone == ["x", "z"])
        #expect(persistence.takeChanges().map(\.value) == [nil])
    }

    @Test("at a start, refused data removes the instances: nobody knows which there were") func restoring() throws {
        _ = try follow()
        persistence.author = .store
        #expect(try lists.noteRefusal(Failure(.conflict, "no"), at: row()))
        #expect(try lists.emptyList(row()).count == 3 && stale.contains(row()))
    }

    @Test("a list that was made empty has no elements, also if its data has none by then") func emptied() throws {
        _ = try follow()
        #expect(try scene.value("/a/rows.elements") == ["x", "y", "z"])
        #expect(try lists.emptyList(row()).count == 3)
        try change([])
        #expect(try follow()?.made == 0)
        #expect(try scene.value("/a/rows.elements") == [])
    }

    @Test("a choice asks for the branch that its data names") func choosing() throws {
        let choice = try #require(stale.last)
        #expect(choice != (try row()))
        #expect(try lists.findEdit(of: choice)?.definition.template(for: "then")?.children.map(\.id) == ["many"])
        #expect(try lists.findEdit(of: choice)?.list == ["then"])
    }

    @Test("a list that changes again and again is endless if it reads what it makes") func feedback() throws {
        var settlement = Settlement()
        let row = try row()
        for _ in 1..<scene.wiring.limits.structureRounds {
            #expect(lists.findLoop(after: .changed(made: 1), of: row, &settlement) == nil)
        }
        #expect(lists.findLoop(after: .changed(made: 1), of: row, &settlement) == nil, "this one does not")
        var loop: [AttributeID]?
        for _ in 0..<scene.wiring.limits.structureRounds {
            loop = loop ?? lists.findLoop(after: .changed(made: 1), of: row, &settlement)
        }
        let (list, failure) = try #require(lists.findEndless(in: loop ?? []).first)
        #expect(list == row && failure.code == .cycle, "more changes than there are lists to follow")
        lists.noteStopped(list, failure, loop ?? [], &settlement)
        lists.noteEndless(settlement)
        #expect(try lists.findEdit(of: row) == nil, "it is tried again once a rule in the loop has run")
    }
}
