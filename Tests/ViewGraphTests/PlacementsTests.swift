import Testing

@testable import ViewGraph

/// Where nodes stand, without a tree.
@Suite("Placements")
struct PlacementsTests {
    /// A component 1 that is given 2 and 4, with the places 3 in 2 and 5 in 4, and 6 in its body.
    private let parents: [NodeRow: NodeRow] = [1: 0, 2: 1, 3: 2, 4: 1, 5: 4, 6: 1]

    private func settle(_ placements: inout Placements) -> [NodeRow] {
        placements.settle(at: 0, { parents[$0] ?? 0 }) { $0 < $1 }.nodes
    }

    @Test("a node does not come to stand in itself, and stands in the next place that wants it") func inItself() {
        var placements = Placements()
        _ = placements.setWanted([2], at: 3, in: 1)
        #expect(settle(&placements) == [])
        #expect(placements.homeless(at: 3) == 2)
        _ = placements.setWanted([2], at: 6, in: 1)
        #expect(settle(&placements) == [2])
        #expect(placements.place(of: 2, in: 1) == 6)
        #expect(placements.homeless(at: 3) == nil)
    }

    @Test("two nodes do not come to stand in each other") func inEachOther() {
        var placements = Placements()
        _ = placements.setWanted([2], at: 5, in: 1)
        _ = placements.setWanted([4], at: 3, in: 1)
        #expect(settle(&placements) == [2])
        #expect(placements.homeless(at: 3) == 4)
        #expect(placements.shown(at: 5) == [2])
    }
}
