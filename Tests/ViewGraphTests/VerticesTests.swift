import AttributeGraph
import AttributeValues
import Testing

@testable import ViewGraph

/// Without a tree: nodes are numbers.
@Suite("the vertices alone")
struct VerticesTests {
    private let vertices = Vertices()

    private func state(_ value: Value, _ name: String = "s") -> AttributeID {
        vertices.createInput(
            .value(value), node: 1, name: name, kind: .state, source: .state(isTransient: false), isHidden: false)
    }

    @discardableResult
    private func makePlace(_ steps: [AttributePath.Step], in tree: ProjectionTree) -> AttributeID {
        let entry = tree.entry(at: steps)
        let place = vertices.createInput(.value(0), AttributeRecord(entry, node: 1, kind: .state, source: .system))
        entry.attribute = place
        return place
    }

    @Test("a clock waits to be freed when the last source that names it has gone") func sharing() {
        let clock = vertices.createInput(.value(0), node: 0, name: "clock", kind: .clock, source: .system)
        let readers = ["a", "b"].map {
            vertices.createRule(node: 1, name: $0, source: .alias(Place(clock), vertex: nil))
        }
        #expect(vertices.uses(of: clock)?.count == 2 && vertices.uses(of: readers[0]) == nil)
        vertices.freeVertex(readers[0], vertices.record(readers[0]))
        #expect(!vertices.sharing.hasIdle)
        vertices.setSource(.literal(.value(1)), of: readers[1])
        #expect(vertices.sharing.takeIdle() == [clock])
    }

    @Test("a new value reaches the places in it that differ, and no others") func places() {
        let whole = state(["a": 1, "b": 2])
        let tree = ProjectionTree(of: whole, name: "s")
        vertices.attributes[whole]?.projections = tree
        let places = ["a", "b"].map { makePlace([.key($0)], in: tree) }
        vertices.setInput(whole, .value(["a": 1, "b": 3]))
        #expect(places.map { vertices.content(of: $0) } == [.value(0), .value(3)])
        #expect(vertices.wholeAttribute(of: places[1]) == whole && vertices.wholeAttribute(of: whole) == nil)
        vertices.setInput(whole, .failure(Failure(.ruleFailed, "no")))
        #expect(places.allSatisfy { vertices.content(of: $0).failure != nil })
    }

    @Test("a removed element has a twin only where ids are not known to be unique") func twins() {
        func steps(_ id: Int64) -> [AttributePath.Step] { [.element(field: "id", value: .int(id))] }
        func element(_ id: Int64, _ n: Int64) -> Value { ["id": .int(id), "n": .int(n)] }
        var list = ValueList((0..<20).map { element($0, 0) })
        let tree = ProjectionTree(of: state(.null), name: "s")
        for id in [3, 15, 16] as [Int64] {
            makePlace(steps(id), in: tree)
        }
        /// The contents that places get when the list is replaced.
        func replace(_ change: (inout ValueList) -> Void) -> [Content] {
            let old = list
            change(&list)
            var set: [Content] = []
            tree.refresh(from: .list(old), to: .list(list)) { set.append($1) }
            return set
        }
        tree.root.madeField("id").noteUnique(list, expecting: 0)
        for id in [15, 16, 3] as [Int64] {
            #expect(tree.entry(at: steps(id)).select(in: .value(.list(list))) == .value(element(id, 0)))
        }
        tree.forgetLocators()
        #expect(replace { $0.remove(at: 16) }.map { $0.failure?.code } == [.notFound])
        list.append(element(3, 1))
        #expect(replace { $0.remove(at: 3) } == [.value(element(3, 1))])
    }

    @Test("an element with the id of an earlier one is not read in its place", arguments: [true, false])
    func lateTwin(_ isKnownUnique: Bool) {
        func element(_ n: Int64) -> Value { ["id": "a", "n": .int(n)] }
        let steps = [AttributePath.Step.element(field: "id", value: "a")]
        let (before, after) = (ValueList([element(1)]), ValueList([element(1), element(2)]))
        let tree = ProjectionTree(of: state(.null), name: "s")
        makePlace(steps, in: tree)
        if isKnownUnique { tree.root.madeField("id").noteUnique(before, expecting: 0) }
        var set: [Content] = []
        tree.refresh(from: .list(before), to: .list(after)) { set.append($1) }
        #expect(set == [.value(element(1))])
    }

    @Test("a reader by id follows the first of two elements when one of them moves past the other") func movedTwin() {
        let (a, b, twin): (Value, Value, Value) = (["id": "a", "n": 1], ["id": "b", "n": 2], ["id": "a", "n": 3])
        let steps: [AttributePath.Step] = [.element(field: "id", value: "a"), .key("n")]
        let tree = ProjectionTree(of: state(.null), name: "s")
        makePlace(steps, in: tree)
        func move(from old: ValueList, to new: ValueList) -> [Content] {
            var set: [Content] = []
            tree.refresh(from: .list(old), to: .list(new)) { set.append($1) }
            return set
        }
        #expect(move(from: [a, b, twin], to: [b, twin, a]) == [.value(3)])
        #expect(move(from: [b, a, twin], to: [twin, b, a]) == [.value(3)])
        #expect(move(from: [a, b, twin], to: [b, a, twin]) == [])
        #expect(move(from: [a, b, twin], to: [a, twin, b]) == [])
    }

    @Test("while a transaction is open, a vertex is noted with its content before the first change") func touching() {
        let vertex = state(1)
        let open = OpenTransaction()
        open.begin(at: vertices.stamp)
        vertices.transaction = open
        open.stage(2, for: vertex, nil)
        open.isAhead = true
        open.takeWrites { _, _ in }
        vertices.setInput(vertex, .value(2))
        vertices.setInput(vertex, .value(3))
        #expect(open.touched.map(\.content) == [.value(1)])
    }

    @Test("a freed vertex reads as removed, and counts no longer") func freeing() {
        let vertex = state(1)
        #expect(vertices.isAlive(vertex) && vertices.isDurable(vertex) && vertices.liveAttributes == 1)
        vertices.freeVertex(vertex, vertices.record(vertex))
        #expect(vertices.content(of: vertex).failure?.code == .removed && vertices.liveAttributes == 0)
    }
}
