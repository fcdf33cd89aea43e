import AttributeGraph
import TestSupport
import Testing

/// Beside `RandomOperationsTests`: what becomes of rows, blocks and values.
@Suite(.serialized) struct LifetimeTests {
    #if DEBUG
        let rounds = 50_000
    #else
        let rounds = 1_000_000
    #endif
    let graph = ClosureGraph<Int>()

    @Test("an id that survives its attribute reaches neither it nor the next tenant of its row")
    func generations() throws {
        let gone = graph.input(1)
        let reader = graph.rule { try $0.read(gone) }
        #expect(try graph.read(reader) == 1)
        graph.remove([gone])
        let tenant = graph.input(2)
        #expect(tenant.index == gone.index && tenant != gone)
        #expect(throws: GraphError.removed(gone)) { try graph.read(gone) }
        #expect(throws: GraphError.removed(gone)) { try graph.read(reader) }
        #expect(throws: GraphError.removed(gone)) { try graph.set(gone, 3) }
        graph.remove([gone])
        #expect(try graph.read(tenant) == 2)
        #expect(graph.core.evaluatedAt(gone) == 0 && graph.core.inputs(of: gone).isEmpty)
    }

    @Test("an id that survives its attribute is not taken for the next tenant of its row where that was read last time")
    func generationsWhileReading() throws {
        let choice = graph.input(0)
        let source = graph.input(0)
        let other = graph.input(1)
        graph.remove([other])
        let tenant = graph.rule { try $0.read(source) + 7 }
        #expect(tenant.index == other.index)
        let reader = graph.rule { core in
            switch try core.read(choice) {
            case 0: try core.read(tenant)
            case 1: (try? core.read(other)) ?? -1
            default: try core.read(tenant) + ((try? core.read(other)) ?? -1)
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
        #expect(graph.core.inputs(of: reader) == [choice] && graph.core.evaluations(of: tenant) == 1)
        try graph.set(choice, 2)
        #expect(try graph.read(reader) == 7)
    }

    @Test("an input in the row of one that was written in the same batch has not been written")
    func tenantInBatch() throws {
        let gone = graph.input(1)
        var tenant = gone
        try graph.batch {
            try graph.set(gone, 5)
            graph.remove([gone])
            tenant = graph.input(1)
        }
        #expect(tenant.index == gone.index && graph.core.counters.writes == 0)
        let reader = graph.rule { try $0.read(tenant) }
        try graph.batch { try graph.set(tenant, 2) }
        #expect(try graph.read(reader) == 2 && graph.core.checkInvariants() == [])
    }

    @Test("many rounds of creating and destroying do not grow the memory")
    func noGrowth() throws {
        let a = graph.input(1)
        func round(_ number: Int) throws {
            let inputs = (0..<(number % 7)).map { graph.input($0) }
            let sum = graph.rule { core in try inputs.reduce(try core.read(a)) { try $0 + core.read($1) } }
            let observer = graph.observe { try $0.read(sum) }
            graph.remove(inputs + [sum, observer])
        }
        for number in 0..<1000 { try round(number) }
        let memory = graph.core.memory
        for number in 0..<rounds { try round(number) }
        #expect(graph.core.memory == memory)
        #expect(graph.core.counters.liveAttributes == 1 && graph.core.counters.liveEdges == 0)
        #expect(graph.core.checkInvariants() == [])
    }

    @Test("edge lists of every size are given back and used again")
    func pool() throws {
        var generator = SeededGenerator(seed: freshSeed())
        let inputs = (0..<300).map { graph.input($0) }
        for round in 0..<300 {
            let rules = try (0..<10).map { _ in
                let chosen = (0..<generator.below(200)).map { _ in generator.pick(inputs) }
                let sum = graph.rule { core in try chosen.reduce(0) { try $0 + core.read($1) } }
                _ = try graph.read(sum)
                return sum
            }
            if round % 50 == 0 { #expect(graph.core.checkInvariants() == []) }
            graph.remove(rules)
        }
        #expect(graph.core.counters.liveEdges == 0)
        #expect(graph.core.memory.edges <= 200_000 && graph.core.memory.edgesInUse == 0)
        #expect(graph.core.checkInvariants() == [])
    }

    @Test("a large graph that has shrunk gives its memory back, and goes on as it was", arguments: freshSeeds(5))
    func givenBack(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let core = graph.core
        var living: [AttributeID] = (0..<10).map { graph.input($0) }
        let inputs = living
        for _ in 0..<3000 {
            let sources = (0..<1 + generator.below(6)).map { _ in generator.pick(living) }
            living.append(graph.rule { core in try sources.reduce(1) { try $0 &+ core.read($1) } })
        }
        for attribute in living { _ = try graph.read(attribute) }
        // All but some at the beginning, and now and then one behind.
        let kept = living[..<(20 + generator.below(50))] + living.suffix(generator.below(2))
        let names = Set(kept)
        graph.remove(living.filter { !names.contains($0) })
        let values = kept.map { try? graph.read($0) }
        let before = core.memory
        core.beginBatch()
        core.giveBack()
        #expect(core.memory == before, "not while a batch is open")
        core.endBatch()
        core.giveBack()
        #expect(core.checkInvariants() == [])
        #expect(core.memory.edges <= before.edges / 4 && core.memory.vertices <= before.vertices)
        #expect(kept.map { try? graph.read($0) } == values)
        try graph.set(inputs[3], 77)
        let sum = graph.rule { core in try kept.prefix(10).reduce(0) { try $0 &+ core.read($1) } }
        #expect(try graph.read(sum) == (0..<10).reduce(0) { $0 + ($1 == 3 ? 77 : $1) })
        #expect(core.checkInvariants() == [] && living.count { core.isAlive($0) } == kept.count)
    }

    @Test("values are released with their attribute, and all of them with the graph")
    func releases() throws {
        final class Tracker: Equatable {
            static func == (a: Tracker, b: Tracker) -> Bool { a === b }
        }
        weak var value: Tracker?
        weak var late: Tracker?
        do {
            let graph = ClosureGraph<Tracker?>()
            let first = Tracker()
            value = first
            let input = graph.input(first)
            let rule = graph.rule { try $0.read(input) }
            _ = try graph.read(rule)
            graph.remove([input])
            #expect(value != nil, "the rule has it")
            graph.remove([rule])
            let last = Tracker()
            late = last
            _ = graph.input(last)
        }
        #expect(value == nil && late == nil)
    }

    // MARK: Edges

    @Test("inputs stand in the order of reading, each once, however often and in whatever order they are read")
    func orderOfInputs() throws {
        let sources = (0..<40).map { graph.input($0) }
        let direction = graph.input(0)
        let sum = graph.rule { core in
            let order = try core.read(direction) == 0 ? sources : sources.reversed()
            return try order.reduce(0) { try $0 + core.read($1) + core.read(sources[20]) }
        }
        for (value, order) in [(0, sources), (1, sources.reversed())] {
            try graph.set(direction, value)
            _ = try graph.read(sum)
            let expected = [direction, order[0], sources[20]] + order.dropFirst().filter { $0 != sources[20] }
            #expect(graph.core.inputs(of: sum) == expected)
        }
        #expect(graph.core.checkInvariants() == [])
    }

    @Test("a run that reads what the last one read adds and removes no edge")
    func stableReads() throws {
        let a = graph.input(0)
        let others = (0..<20).map { graph.input($0) }
        let sum = graph.rule { core in try others.reduce(try core.read(a)) { try $0 + core.read($1) } }
        _ = try graph.read(sum)
        let before = graph.core.counters
        for value in 1...10 {
            try graph.set(a, value)
            _ = try graph.read(sum)
        }
        let after = graph.core.counters
        #expect(after.evaluations == before.evaluations + 10)
        #expect(after.edgesAdded == before.edgesAdded && after.edgesRemoved == before.edgesRemoved)
    }

    // MARK: Writes and errors

    @Test("a rule that writes is refused, and nothing has changed, in a batch too", arguments: [false, true])
    func writingRule(isBatch: Bool) throws {
        let a = graph.input(1)
        let rule = graph.rule { core in
            #expect(throws: GraphError.writeDuringEvaluation(a)) { try core.set(a, 2) }
            return try core.read(a)
        }
        if isBatch { graph.core.beginBatch() }
        #expect(try graph.read(rule) == 1)
        if isBatch { graph.core.endBatch() }
        #expect(try graph.read(a) == 1 && graph.core.counters.writes == 0)
    }

    @Test("an error is stored like a value: reading it again does not run the rule, and it flows to readers")
    func errors() throws {
        let a = graph.input(-1)
        var runs = 0
        let failing = graph.rule {
            runs += 1
            let value = try $0.read(a)
            if value < 0 { throw RuleFailure() }
            return value
        }
        let reader = graph.rule { try $0.read(failing) + 1 }
        for rule in [failing, reader, failing] { #expect(throws: RuleFailure.self) { try graph.read(rule) } }
        #expect(runs == 1)
        try graph.set(a, 5)
        #expect(try graph.read(reader) == 6)
    }

    @Test("NaN differs from itself, so writing it again is a change")
    func notANumber() throws {
        let graph = ClosureGraph<Double>()
        let a = graph.input(.nan)
        var runs = 0
        graph.observe {
            runs += 1
            return try $0.read(a)
        }
        try graph.set(a, .nan)
        #expect(runs == 2)
    }
}
