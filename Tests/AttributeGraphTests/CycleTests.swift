import TestSupport
import Testing

@testable import AttributeGraph

/// Rules that read one another by number; `next` may be rewritten.
final class Ring {
    var ids: [AttributeID] = []
    var next: [Int] = []
}

/// Beside `RandomOperationsTests`: which path a cycle names, and who is a member.
@Suite struct CycleTests {
    let graph = ClosureGraph<Int>()

    /// The first rule reads the second, and so on; the first reads none while `closed` is 0.
    func ring(_ count: Int, closed: AttributeID) -> Ring {
        let ring = Ring()
        for number in 0..<count {
            ring.next.append((number + 1) % count)
            ring.ids.append(
                graph.rule { core in
                    if number == 0, try core.read(closed) == 0 { return 1 }
                    return try core.read(ring.ids[ring.next[number]]) + 1
                })
        }
        return ring
    }

    @Test(
        "a cycle names its whole path, the same from wherever it is read, for every member, each time it is made",
        arguments: [1, 2, 3, 10, 1000])
    func path(length: Int) throws {
        let closed = graph.input(0)
        let ring = ring(length, closed: closed)
        let outside = graph.rule { try $0.read(ring.ids[length - 1]) }
        #expect(try graph.read(outside) == (length == 1 ? 1 : 2))
        for round in 1...3 {
            try graph.set(closed, 1)
            for id in [ring.ids[length / 2], ring.ids[0], ring.ids[length - 1], outside] {
                #expect(throws: CycleError(ring.ids)) { try graph.read(id) }
            }
            #expect(graph.core.counters.cycles == round && graph.core.checkInvariants() == [])
            let cyclic = (ring.ids + [outside]).map {
                graph.core.s.pointee.vertex($0.index).pointee.flags.contains(.cyclic)
            }
            #expect(cyclic == ring.ids.map { _ in true } + [false], "a reader of a cycle is not part of it")
            try graph.set(closed, 0)
            #expect(try graph.read(ring.ids[0]) == 1 && graph.read(outside) == (length == 1 ? 1 : 2))
        }
    }

    @Test("a member that catches the error is a member all the same")
    func caught() throws {
        let flag = graph.input(1)
        var a = AttributeID(index: 0, generation: 0)
        let b = graph.rule { core in (try? core.read(a)) ?? 5 }
        a = graph.rule { try $0.read(flag) == 1 ? $0.read(b) : 9 }
        for id in [b, a] { #expect(throws: CycleError([b, a])) { try graph.read(id) } }
        try graph.set(flag, 0)
        #expect(try graph.read(b) == 9)
    }

    @Test("two cycles through one member are one, and each rule ran a bounded number of times")
    func figureEight() throws {
        var ids: [AttributeID] = []
        var runs = 0
        for (first, second) in [(1, 2), (0, 0), (0, 0)] {
            ids.append(
                graph.rule {
                    runs += 1
                    return try $0.read(ids[first]) + $0.read(ids[second])
                })
        }
        for id in ids { #expect(throws: CycleError.self) { try graph.read(id) } }
        #expect(runs <= 6 && graph.core.checkInvariants() == [])
    }
}
