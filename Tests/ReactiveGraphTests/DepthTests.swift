import AttributeGraph
import ReactiveGraph
import TestSupport
import Testing

/// Graphs of a million. Linear time is shown by counts: the work of an operation may not exceed a constant per vertex.
@Suite(.serialized) struct DepthTests {
    #if DEBUG
        // Unoptimised, everything is smaller.
        let million = 100_000
        let side = 300
    #else
        let million = 1_000_000
        let side = 1000
    #endif

    @Test("a chain of a million rules evaluates cold, without recursion, each rule entered at most twice")
    func coldChain() throws {
        let graph = Graph<Int>()
        // The test library takes a backtrace of every throw: the flatter, the faster.
        graph.context.core.nestingLimit = 3
        let entered = Probe()
        let a = graph.input(0)
        var last = a
        for _ in 0..<million {
            let previous = last
            last = graph.rule {
                entered.runs += 1; return try $0[previous] + 1
            }
        }
        #expect(try graph.read(last) == million)
        #expect(graph.context.core.counters.evaluations == UInt64(million))
        #expect(entered.runs <= 2 * million)
        entered.reset()
        try graph.set(a, 5)
        #expect(try graph.read(last) == million + 5)
        #expect(entered.runs == million)
    }

    @Test("a chain of a million over fixed inputs evaluates cold with each rule entered once")
    func fixedChain() throws {
        let graph = Graph<Int>()
        let first = graph.input(0)
        var last = first
        for _ in 0..<million { last = graph.rule(last) { $0 + 1 } }
        #expect(try graph.read(last) == million)
        #expect(graph.context.core.counters.restarts == 0)
        #expect(graph.context.core.counters.evaluations == UInt64(million))
        try graph.set(first, 1)
        #expect(try graph.read(last) == million + 1)
        #expect(graph.context.core.counters.evaluations == 2 * UInt64(million))
    }

    @Test("a rule over a million inputs, and a million rules over one input, cost a constant each")
    func fans() throws {
        let graph = Graph<Int>()
        let inputs = (0..<million).map { _ in graph.input(1) }
        let sum = graph.rule { context in
            var sum = 0
            for input in inputs { sum += try context[input] }
            return sum
        }
        #expect(try graph.read(sum) == million)
        #expect(graph.context.core.counters.liveEdges == UInt64(million))
        try graph.set(inputs[77], 3)
        #expect(try graph.read(sum) == million + 2)
        #expect(graph.context.core.counters.edgesAdded == UInt64(million))

        let one = graph.input(0)
        let readers = (0..<million).map { number in graph.rule { try $0[one] + number } }
        for reader in readers { _ = try graph.read(reader) }
        let before = graph.context.core.counters
        try graph.set(one, 1)
        #expect(try graph.read(readers[million - 1]) == million)
        let after = graph.context.core.counters
        #expect(after.invalidations - before.invalidations == UInt64(million))
        #expect(after.evaluations - before.evaluations == 1)
    }

    @Test("a fan-in of a million cold rules adds one edge per read, in whatever order they are read next")
    func coldFanIn() throws {
        let graph = Graph<Int>()
        let order = graph.input(0)
        let rules = (0..<million).map { number in graph.rule { _ in number & 1 } }
        let sum = graph.rule { context in
            let backwards = try context[order] == 1
            var sum = 0
            for number in 0..<rules.count { sum += try context[rules[backwards ? rules.count - 1 - number : number]] }
            return sum
        }
        #expect(try graph.read(sum) == million / 2)
        try graph.set(order, 1)
        #expect(try graph.read(sum) == million / 2)
        #expect(graph.context.core.counters.liveEdges == UInt64(million + 1))
        #expect(graph.context.core.inputs(of: sum)[1] == rules[million - 1])
    }

    @Test("a grid evaluates each vertex once per change, and a diamond of a million too")
    func gridAndDiamond() throws {
        let graph = Graph<Int>()
        graph.context.core.nestingLimit = 2000
        let a = graph.input(1)
        var row = (0..<side).map { _ in a }
        for _ in 0..<side {
            let above = row
            var left = a
            row = above.map { up in
                let beside = left
                left = graph.rule { (try $0[up] + $0[beside]) % 1_000_003 }
                return left
            }
        }
        let corner = row[side - 1]
        let first = try graph.read(corner)
        #expect(graph.context.core.counters.evaluations == UInt64(side * side))
        try graph.set(a, 2)
        #expect(try graph.read(corner) == first * 2 % 1_000_003)
        #expect(graph.context.core.counters.evaluations == UInt64(2 * side * side))

        let b = graph.input(1)
        let arms = (0..<million).map { _ in graph.rule { try $0[b] } }
        let join = graph.rule { context in
            var sum = 0
            for arm in arms { sum += try context[arm] }
            return sum
        }
        #expect(try graph.read(join) == million)
        try graph.set(b, 2)
        #expect(try graph.read(join) == 2 * million)
    }

    @Test("a cycle of a hundred thousand rules is found and named")
    func longCycle() throws {
        let graph = Graph<Int>()
        graph.context.core.nestingLimit = 3
        let count = million / 10
        let closed = graph.input(1)
        let ring = CycleTests.Ring()
        for number in 0..<count {
            ring.next.append((number + 1) % count)
            ring.ids.append(
                graph.rule { context in
                    if number == 0, try context[closed] == 0 { return 1 }
                    return try context[ring.ids[ring.next[number]]] + 1
                })
        }
        #expect(throws: GraphError.cycle(ring.ids)) { try graph.read(ring.ids[5]) }
        try graph.set(closed, 0)
        #expect(try graph.read(ring.ids[1]) == count)
    }
}

@Suite(.serialized) struct LifetimeTests {
    #if DEBUG
        let rounds = 50_000
    #else
        let rounds = 1_000_000
    #endif

    @Test(
        "rules and observers that make each other without end are refused an observer in the end, and leave nothing behind"
    )
    func observersWithoutEnd() throws {
        let graph = Graph<Int>()
        let source = graph.input(0)
        var made = 0
        func level() -> AttributeID {
            made += 1
            return graph.rule { [unowned graph] context in
                let deeper = level()
                try context.observe { _ = try $0[deeper] }
                return try graph.peek(source)
            }
        }
        let rule = level()
        #expect(throws: GraphError.tooDeep) { try graph.read(rule) }
        #expect(made > 40)
        try graph.dispose(rule)
        func observe(_ context: GraphContext<Int>) throws {
            made += 1
            try context.observe { try observe($0) }
        }
        made = 0
        #expect(throws: GraphError.tooDeep) { try graph.observe { try observe($0) } }
        #expect(made > 40)
        #expect(graph.context.core.counters.liveAttributes == 1)
        try graph.set(source, 1)
        #expect(try graph.read(source) == 1)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("forty observers, each made by the one before, are not too deep")
    func nestedObservers() throws {
        let graph = Graph<Int>()
        let source = graph.input(0)
        var runs = 0
        func observe(_ depth: Int, _ context: GraphContext<Int>) throws {
            runs += try context[source] == 0 ? 1 : 0
            if depth > 0 { try context.observe { try observe(depth - 1, $0) } }
        }
        try graph.observe { try observe(39, $0) }
        #expect(runs == 40)
    }

    @Test("an id that survives its attribute reaches neither it nor the next tenant of its row")
    func generations() throws {
        let graph = Graph<Int>()
        let made = try graph.scope { graph.input(1) }
        let reader = graph.rule { try $0[made.result] }
        #expect(try graph.read(reader) == 1)
        try graph.dispose(made.scope)
        let tenant = graph.input(2)
        #expect(tenant.index == made.result.index && tenant != made.result)
        #expect(throws: GraphError.removed(made.result)) { try graph.read(made.result) }
        #expect(throws: GraphError.removed(made.result)) { try graph.read(reader) }
        #expect(throws: GraphError.removed(made.result)) { try graph.set(made.result, 3) }
        try graph.dispose(made.result)
        #expect(try graph.read(tenant) == 2)
        #expect(graph.context.core.evaluatedAt(made.result) == 0 && graph.context.core.inputs(of: made.result).isEmpty)
    }

    @Test("an id that survives its attribute is not taken for the next tenant of its row where that was read last time")
    func generationsWhileReading() throws {
        let graph = Graph<Int>()
        let gone = graph.input(1)
        try graph.dispose(gone)
        let choice = graph.input(0)
        #expect(choice.index == gone.index)
        let source = graph.input(0)
        let other = graph.input(1)
        try graph.dispose(other)
        let tenant = graph.rule { try $0[source] + 7 }
        #expect(tenant.index == other.index)
        let reader = graph.rule { context in
            switch try context[choice] {
            case 0: try context[tenant]
            case 1: (try? context[other]) ?? -1
            default: try context[tenant] + ((try? context[other]) ?? -1)
            }
        }
        #expect(try graph.read(reader) == 7)
        try graph.set(choice, 1)
        #expect(try graph.read(reader) == -1)
        try graph.set(choice, 0)
        #expect(try graph.read(reader) == 7)
        try graph.batch {
            try graph.set(choice, 1)
            try graph.set(source, 1)
        }
        #expect(try graph.read(reader) == -1)
        #expect(graph.context.core.inputs(of: reader) == [choice])
        #expect(graph.context.core.evaluations(of: tenant) == 1)
        try graph.set(choice, 2)
        #expect(try graph.read(reader) == 7)
    }

    @Test("readers of a destroyed attribute run again, observers at once")
    func readersRunAgain() throws {
        let graph = Graph<Int>()
        let probe = Probe()
        let made = try graph.scope { graph.input(1) }
        let b = graph.rule { (try? $0.read(made.result)) ?? -1 }
        try graph.watch(b, probe)
        try graph.dispose(made.scope)
        #expect(probe.seen == [1, -1])
    }

    @Test("destroying a scope costs its attributes and edges, whatever else there is, and gives everything back")
    func scope() throws {
        let graph = Graph<Int>()
        let core = graph.context.core
        let a = graph.input(0)
        let others = (0..<1000).map { _ in graph.rule { try $0[a] } }
        for other in others { _ = try graph.read(other) }
        let before = core.counters
        let scope = try graph.scope {
            let inner = try graph.scope { (0..<100).map { _ in graph.rule { try $0[a] } } }
            for rule in inner.result { _ = try graph.read(rule) }
            for _ in 0..<100 { _ = graph.input(1) }
        }.scope
        try graph.dispose(scope)
        let after = core.counters
        #expect(after.attributesDestroyed - before.attributesDestroyed == 200)
        #expect(after.edgesRemoved - before.edgesRemoved == 100)
        #expect(after.liveAttributes == before.liveAttributes && after.liveEdges == before.liveEdges)
        #expect(after.invalidations == before.invalidations)
        #expect(core.checkInvariants() == [])
    }

    @Test("a million rounds of creating and destroying do not grow the memory")
    func noGrowth() throws {
        let graph = Graph<Int>()
        let a = graph.input(1)
        func round(_ number: Int) throws {
            let scope = try graph.scope {
                let inputs = (0..<(number % 7)).map { graph.input($0) }
                let sum = graph.rule { context in try inputs.reduce(try context[a]) { try $0 + context[$1] } }
                try graph.observe { _ = try $0[sum] }
            }.scope
            try graph.dispose(scope)
        }
        for number in 0..<1000 { try round(number) }
        let memory = graph.context.core.memory
        for number in 0..<rounds { try round(number) }
        let after = graph.context.core.memory
        #expect(after.vertices == memory.vertices && after.edges == memory.edges && after.other == memory.other)
        #expect(graph.context.core.counters.liveAttributes == 1 && graph.context.core.counters.liveEdges == 0)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("edge lists of every size are given back and used again")
    func pool() throws {
        let graph = Graph<Int>()
        var generator = SeededGenerator(seed: freshSeed())
        let inputs = (0..<300).map { graph.input($0) }
        for round in 0..<300 {
            let scope = try graph.scope {
                for _ in 0..<10 {
                    let count = generator.below(200)
                    let chosen = (0..<count).map { _ in inputs[generator.below(300)] }
                    let sum = graph.rule { context in try chosen.reduce(0) { try $0 + context[$1] } }
                    _ = try graph.read(sum)
                }
            }.scope
            if round % 50 == 0 { #expect(graph.context.core.checkInvariants() == []) }
            try graph.dispose(scope)
        }
        #expect(graph.context.core.counters.liveEdges == 0)
        #expect(graph.context.core.memory.edges <= 200_000 && graph.context.core.memory.edgesInUse == 0)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("values and closures are released with their attribute, and all of them with the graph")
    func releases() throws {
        final class Tracker: Equatable {
            static func == (a: Tracker, b: Tracker) -> Bool { a === b }
        }
        weak var value: Tracker?
        weak var captured: Tracker?
        weak var late: Tracker?
        do {
            let graph = Graph<Tracker?>()
            let scope = try graph.scope {
                let tracker = Tracker()
                let held = Tracker()
                value = tracker
                captured = held
                let input = graph.input(tracker)
                let rule = graph.rule { context in
                    withExtendedLifetime(held) {}
                    return try context[input]
                }
                _ = try graph.read(rule)
            }.scope
            #expect(value != nil && captured != nil)
            try graph.dispose(scope)
            #expect(value == nil && captured == nil)
            let last = Tracker()
            late = last
            _ = graph.input(last)
        }
        #expect(late == nil)
    }
}
