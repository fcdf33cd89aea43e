import AttributeGraph
import TestSupport
import Testing

/// Graphs of a million. Linear time is shown by counts: the work of an operation may not exceed a constant per vertex.
@Suite(.serialized) struct DepthTests {
    #if DEBUG
        // Unoptimised, everything is smaller. It is still far deeper than the machine's stack.
        let million = 30_000
        let side = 200
    #else
        let million = 1_000_000
        let side = 1000
    #endif

    init() { takeNoBacktraces() }

    @Test("a chain of a million rules evaluates cold, without recursion, each rule entered at most twice")
    func coldChain() throws {
        let graph = ClosureGraph<Int>()
        graph.core.nestingLimit = 3
        var entered = 0
        let a = graph.input(0)
        var last = a
        for _ in 0..<million {
            let previous = last
            last = graph.rule {
                entered += 1; return try $0.read(previous) + 1
            }
        }
        #expect(try graph.read(last) == million)
        #expect(graph.core.counters.evaluations == UInt64(million))
        #expect(entered <= 2 * million)
        entered = 0
        try graph.set(a, 5)
        #expect(try graph.read(last) == million + 5)
        #expect(entered == million)
    }

    @Test("a rule over a million inputs, and a million rules over one input, cost a constant each")
    func fans() throws {
        let graph = ClosureGraph<Int>()
        let inputs = (0..<million).map { _ in graph.input(1) }
        let sum = graph.rule { context in
            var sum = 0
            for input in inputs { sum += try context.read(input) }
            return sum
        }
        #expect(try graph.read(sum) == million)
        #expect(graph.core.counters.liveEdges == UInt64(million))
        try graph.set(inputs[77], 3)
        #expect(try graph.read(sum) == million + 2)
        #expect(graph.core.counters.edgesAdded == UInt64(million))

        let one = graph.input(0)
        let readers = (0..<million).map { number in graph.rule { try $0.read(one) + number } }
        for reader in readers { _ = try graph.read(reader) }
        let before = graph.core.counters
        try graph.set(one, 1)
        #expect(try graph.read(readers[million - 1]) == million)
        let after = graph.core.counters
        #expect(after.invalidations - before.invalidations == UInt64(million))
        #expect(after.evaluations - before.evaluations == 1)
    }

    @Test("a fan-in of a million cold rules adds one edge per read, in whatever order they are read next")
    func coldFanIn() throws {
        let graph = ClosureGraph<Int>()
        let order = graph.input(0)
        let rules = (0..<million).map { number in graph.rule { _ in number & 1 } }
        let sum = graph.rule { context in
            let backwards = try context.read(order) == 1
            var sum = 0
            for number in 0..<rules.count {
                sum += try context.read(rules[backwards ? rules.count - 1 - number : number])
            }
            return sum
        }
        #expect(try graph.read(sum) == million / 2)
        try graph.set(order, 1)
        #expect(try graph.read(sum) == million / 2)
        #expect(graph.core.counters.liveEdges == UInt64(million + 1))
        #expect(graph.core.inputs(of: sum)[1] == rules[million - 1])
    }

    @Test("a grid evaluates each vertex once per change, and a diamond of a million too")
    func gridAndDiamond() throws {
        let graph = ClosureGraph<Int>()
        graph.core.nestingLimit = 2000
        let a = graph.input(1)
        var row = (0..<side).map { _ in a }
        for _ in 0..<side {
            let above = row
            var left = a
            row = above.map { up in
                let beside = left
                left = graph.rule { (try $0.read(up) + $0.read(beside)) % 1_000_003 }
                return left
            }
        }
        let corner = row[side - 1]
        let first = try graph.read(corner)
        #expect(graph.core.counters.evaluations == UInt64(side * side))
        try graph.set(a, 2)
        #expect(try graph.read(corner) == first * 2 % 1_000_003)
        #expect(graph.core.counters.evaluations == UInt64(2 * side * side))

        let b = graph.input(1)
        let arms = (0..<million).map { _ in graph.rule { try $0.read(b) } }
        let join = graph.rule { context in
            var sum = 0
            for arm in arms { sum += try context.read(arm) }
            return sum
        }
        #expect(try graph.read(join) == million)
        try graph.set(b, 2)
        #expect(try graph.read(join) == 2 * million)
    }

    @Test("a cycle of a hundred thousand rules is found and named")
    func longCycle() throws {
        let graph = ClosureGraph<Int>()
        graph.core.nestingLimit = 3
        let count = million / 10
        let closed = graph.input(1)
        let ring = Ring()
        for number in 0..<count {
            ring.next.append((number + 1) % count)
            ring.ids.append(
                graph.rule { context in
                    if number == 0, try context.read(closed) == 0 { return 1 }
                    return try context.read(ring.ids[ring.next[number]]) + 1
                })
        }
        #expect(throws: CycleError(ring.ids)) { try graph.read(ring.ids[5]) }
        try graph.set(closed, 0)
        #expect(try graph.read(ring.ids[1]) == count)
    }
}
