import AttributeGraph
import ReactiveGraph
import TestSupport
import Testing

@Suite("Rules and observers over fixed inputs") struct FixedInputTests {
    let graph = Graph<Int>()
    let probe = Probe()

    @Test("compute from one, two and any number of attributes, and follow them")
    func values() throws {
        let a = graph.input(3)
        let b = graph.input(4)
        let one = graph.rule(a) { $0 * 10 }
        let two = graph.rule(a, b) { $0 * $1 }
        let many = graph.rule(over: [a, b, one, two]) { inputs in
            var sum = 0
            for position in 0..<inputs.count { sum += try inputs[position] }
            return sum
        }
        #expect(try graph.read(many) == 3 + 4 + 30 + 12)
        try graph.set(a, 5)
        #expect(try graph.read(many) == 5 + 4 + 50 + 20)
        #expect(graph.context.core.checkInvariants().isEmpty)
    }

    @Test("take one block of memory for their inputs, of the size that these need") func block() throws {
        let core = graph.context.core
        let inputs = (0..<23).map { graph.input($0) }
        for (count, entries) in [(1, 0), (2, 2), (3, 3), (5, 6), (13, 16), (23, 24)] {
            let before = core.memory.edgesInUse
            let rule = graph.rule(over: inputs[..<count]) { try $0[0] + $0[$0.count - 1] }
            #expect(core.memory.edgesInUse - before == entries * 8)
            #expect(try graph.read(rule) == count - 1)
            #expect(core.checkInvariants().isEmpty)
            try graph.dispose(rule)
            #expect(core.memory.edgesInUse == before)
        }
    }

    @Test("may be given inputs by a collection that makes them only when it is gone through") func lazyInputs() throws {
        let seen = probe
        let made = try graph.observe(over: (1...3).lazy.map { [graph] in graph.input($0) }) { inputs in
            seen.saw(try inputs[0] + inputs[1] + inputs[2])
        }
        let inputs = graph.context.core.inputs(of: made)
        try graph.set(inputs[1], 20)
        #expect(probe.seen == [6, 24])
        #expect(graph.context.core.checkInvariants().isEmpty)
    }

    @Test("do what the example in the library's documentation says")
    func example() throws {
        let width = graph.input(3)
        let height = graph.input(4)
        let area = graph.rule(width, height) { $0 * $1 }
        let side = graph.rule { try $0[area] > 20 ? $0[width] : $0[height] }
        try graph.observe(area) { [probe] in probe.saw($0) }
        #expect(try graph.read(side) == 4)
        try graph.set(width, 5)
        try graph.batch {
            try graph.set(width, 6)
            try graph.set(height, 7)
        }
        #expect(probe.seen == [12, 20, 42])
        #expect(try graph.read(side) == 6)
    }

    @Test("run once when several inputs have changed, and not at all when none has")
    func minimal() throws {
        let a = graph.input(1)
        let half = graph.rule(a) { $0 / 2 }
        let parity = graph.rule(a) { $0 & 1 }
        let join = graph.rule(half, parity) { [probe] in
            probe.saw($0 * 10 + $1)
            return $0
        }
        try graph.watch(join, Probe())
        try graph.set(a, 2)
        try graph.set(a, 4)
        #expect(probe.seen == [1, 10, 20])
        try graph.batch {
            try graph.set(a, 9)
            try graph.set(a, 4)
        }
        #expect(probe.runs == 3)
    }

    @Test("are cut off behind inputs that turn out equal")
    func cutOff() throws {
        let a = graph.input(2)
        let parity = graph.rule(a) { $0 & 1 }
        let sign = graph.rule(a) { $0.signum() }
        let join = graph.rule(parity, sign) { [probe] in
            probe.runs += 1
            return $0 + $1
        }
        #expect(try graph.read(join) == 1)
        try graph.set(a, 8)
        #expect(try graph.read(join) == 1)
        #expect(probe.runs == 1)
        try graph.set(a, 9)
        #expect(try graph.read(join) == 2)
        #expect(probe.runs == 2)
    }

    @Test("a grid of them is evaluated without nesting, cold and warm")
    func grid() throws {
        graph.context.core.nestingLimit = 1
        let input = graph.input(1)
        var row = [AttributeID](repeating: input, count: 40)
        for _ in 0..<40 {
            var left = input
            row = row.map { up in
                left = graph.rule(up, left) { ($0 + $1) % 1009 }
                return left
            }
        }
        func corner(_ value: Int) -> Int {
            var row = [Int](repeating: value, count: 40)
            for _ in 0..<40 {
                var left = value
                for column in row.indices {
                    left = (row[column] + left) % 1009
                    row[column] = left
                }
            }
            return row[39]
        }
        for value in [1, 5, 17] {
            try graph.set(input, value)
            #expect(try graph.read(row[39]) == corner(value))
        }
        #expect(graph.context.core.counters.restarts == 0)
        #expect(graph.context.core.counters.evaluations == 3 * 1600)
    }

    @Test("an attribute may be named twice")
    func twice() throws {
        let a = graph.input(3)
        let square = graph.rule(a, a) { $0 * $1 }
        #expect(try graph.read(square) == 9)
        try graph.set(a, 4)
        #expect(try graph.read(square) == 16)
        try graph.dispose(square)
        #expect(graph.context.core.checkInvariants().isEmpty)
    }

    @Test("fail with an input, without running, and recover with it")
    func failing() throws {
        let a = graph.input(0)
        let b = graph.input(1)
        let reciprocal = graph.rule(a) { value in
            if value == 0 { throw Boom(number: 7) }
            return 100 / value
        }
        let sum = graph.rule(reciprocal, b) { [probe] in
            probe.runs += 1
            return $0 + $1
        }
        let either = graph.rule(over: [reciprocal, b]) { inputs in try (try? inputs[0]) ?? inputs[1] }
        #expect(throws: Boom(number: 7)) { try graph.read(sum) }
        #expect(try graph.read(either) == 1)
        #expect(probe.runs == 0)
        try graph.set(a, 4)
        #expect(try graph.read(sum) == 26)
        #expect(try graph.read(either) == 25)
    }

    @Test("name the input that was destroyed, whatever takes its place in the tables")
    func removed() throws {
        let b = graph.input(1)
        let a = graph.input(2)
        let sum = graph.rule(a, b) { $0 + $1 }
        #expect(try graph.read(sum) == 3)
        try graph.dispose(a)
        let tenant = graph.input(50)
        #expect(tenant.index == a.index)
        #expect(throws: GraphError.removed(a)) { try graph.read(sum) }
        try graph.set(b, 5)
        #expect(throws: GraphError.removed(a)) { try graph.read(sum) }
        let late = graph.rule(b, a) { $0 + $1 }
        #expect(throws: GraphError.removed(a)) { try graph.read(late) }
        #expect(graph.context.core.checkInvariants().isEmpty)
        try graph.dispose(sum)
        try graph.dispose(late)
        #expect(graph.context.core.checkInvariants().isEmpty)
    }

    @Test("are members of a cycle through an input, even if they fail before they look at it")
    func cycle() throws {
        let failing = graph.input(0)
        let broken = graph.rule(failing) { value in
            if value == 0 { throw Boom() }
            return value
        }
        var back: AttributeID?
        let isOpen = graph.input(1)
        let tracked = graph.rule { context in
            guard let back, try context[isOpen] == 1 else { return 8 }
            return (try? context[back]) ?? -1
        }
        let fixed = graph.rule(broken, tracked) { $0 + $1 }
        back = fixed
        let expected = GraphError.cycle([tracked, fixed])
        #expect(throws: expected) { try graph.read(tracked) }
        #expect(throws: expected) { try graph.read(fixed) }
        try graph.set(failing, 3)
        #expect(throws: expected) { try graph.read(tracked) }
        try graph.set(isOpen, 0)
        #expect(try graph.read(tracked) == 8)
        #expect(try graph.read(fixed) == 11)
        #expect(graph.context.core.checkInvariants().isEmpty)
    }

    @Test("other reads of their closures are no dependencies")
    func untracked() throws {
        let a = graph.input(1)
        let hidden = graph.input(10)
        let sum = graph.rule(a) { [unowned graph, probe] in
            probe.runs += 1
            return $0 + (try graph.peek(hidden))
        }
        try graph.watch(sum, Probe())
        try graph.set(hidden, 20)
        #expect(probe.runs == 1)
        try graph.set(a, 2)
        #expect(try graph.read(sum) == 22)
    }

    @Test("other reads of closures with many inputs are no dependencies, and their list of inputs stays")
    func untrackedBesideMany() throws {
        let (a, b, hidden) = (graph.input(1), graph.input(2), graph.input(10))
        let sum = graph.rule(over: [a, b]) { [unowned graph, probe] inputs in
            probe.runs += 1
            return try inputs[0] + graph.read(hidden) + inputs[1]
        }
        let seen = Probe()
        let observer = try graph.observe(over: [sum, a]) { [unowned graph] inputs in
            seen.events.append("\(try inputs[0] + graph.read(hidden) + graph.read(b))")
        }
        #expect(seen.events == ["25"])
        try graph.set(hidden, 20)
        #expect(probe.runs == 1)
        #expect(seen.events == ["25"])
        try graph.set(a, 2)
        #expect(probe.runs == 2)
        #expect(seen.events == ["25", "46"])
        #expect(graph.context.core.inputs(of: sum) == [a, b])
        #expect(graph.context.core.inputs(of: observer) == [sum, a])
        #expect(graph.context.core.checkInvariants().isEmpty)
    }

    @Test("observers run at once, then once per batch that changed something of theirs, and may write")
    func observers() throws {
        let a = graph.input(1)
        let b = graph.input(2)
        let c = graph.input(0)
        let unrelated = graph.input(0)
        try graph.observe(a) { [probe] in probe.saw($0) }
        try graph.observe(a, b) { [probe] in probe.saw($0 * 100 + $1) }
        let copier = try graph.observe(over: [a, b]) { [unowned graph] inputs in
            try graph.set(c, try inputs[0] + inputs[1])
        }
        #expect(probe.seen == [1, 102])
        #expect(try graph.peek(c) == 3)
        probe.reset()
        try graph.batch {
            try graph.set(a, 5)
            try graph.set(b, 6)
            try graph.set(unrelated, 1)
        }
        #expect(probe.seen == [5, 506])
        #expect(try graph.peek(c) == 11)
        try graph.set(unrelated, 2)
        #expect(probe.runs == 2)
        try graph.dispose(copier)
        try graph.set(a, 1)
        #expect(try graph.peek(c) == 11)
        #expect(graph.context.core.checkInvariants().isEmpty)
    }

    @Test("an observer of a failed attribute is not made, and one whose attribute fails later says so and recovers")
    func failingObservers() throws {
        let a = graph.input(0)
        let checked = graph.rule(a) { value in
            if value == 0 { throw Boom(number: value) }
            return value
        }
        #expect(throws: Boom.self) { try graph.observe(checked) { [probe] in probe.saw($0) } }
        #expect(graph.context.core.counters.liveAttributes == 2)
        try graph.set(a, 1)
        try graph.observe(checked) { [probe] in probe.saw($0) }
        #expect(throws: Boom.self) { try graph.set(a, 0) }
        try graph.set(a, 3)
        #expect(probe.seen == [1, 3])
    }

    @Test("an observer that disposes of itself keeps its inputs to the end of that run, and runs no more")
    func disposingItself() throws {
        let a = graph.input(1)
        let b = graph.input(2)
        var itself: AttributeID?
        itself = try graph.observe(over: [a, b]) { [unowned graph, probe] inputs in
            probe.saw(try inputs[0])
            guard let itself else { return }
            try graph.dispose(itself)
            probe.saw(try inputs[1])
        }
        try graph.set(a, 5)
        #expect(probe.seen == [1, 5, 2])
        try graph.set(a, 6)
        try graph.set(b, 6)
        #expect(probe.seen == [1, 5, 2])
        #expect(graph.context.core.checkInvariants().isEmpty)
    }

    @Test("vertices and cleanups that they create last until the next run")
    func owning() throws {
        let a = graph.input(1)
        let made = graph.rule(a) { [unowned graph, probe] value in
            let inner = graph.input(value)
            graph.onCleanup { probe.events.append("cleaned \(value)") }
            return try graph.peek(inner)
        }
        try graph.watch(made, Probe())
        let living = graph.context.core.counters.liveAttributes
        try graph.set(a, 2)
        try graph.set(a, 3)
        #expect(probe.events == ["cleaned 1", "cleaned 2"])
        #expect(graph.context.core.counters.liveAttributes == living)
    }

    @Test("still wait for the rest of their inputs when one is destroyed while they wait")
    func losingOneMeanwhile() throws {
        let a = graph.input(1)
        let first = graph.rule(a) { $0 * 10 }
        let breaking = graph.rule(a) { [unowned graph] value in
            if value == 2 { try graph.dispose(first) }
            return value
        }
        let last = graph.rule(a) { [probe] value in
            probe.saw(value)
            return value
        }
        let sum = graph.rule(over: [first, breaking, last]) { try $0[0] + $0[1] + $0[2] }
        #expect(try graph.read(sum) == 12)
        try graph.set(a, 2)
        #expect(throws: GraphError.removed(first)) { try graph.read(sum) }
        #expect(probe.seen == [1, 2])
        #expect(graph.context.core.checkInvariants().isEmpty)
    }

    @Test("inputs that create vertices in their first evaluation may move the tables")
    func growing() throws {
        func maker(_ value: Int) -> AttributeID {
            graph.rule { [unowned graph] _ in
                for number in 0..<2000 { _ = graph.rule(graph.input(number)) { $0 } }
                return value
            }
        }
        let (a, b, c, d) = (maker(1), maker(2), maker(3), maker(4))
        try graph.observe(a, b) { [probe] in probe.saw($0 * 10 + $1) }
        try graph.observe(over: [c, a, d]) { [probe] in probe.saw(try $0[0] * 100 + $0[1] * 10 + $0[2]) }
        let (e, f) = (maker(5), maker(6))
        #expect(try graph.read(graph.rule(e, f) { $0 * 10 + $1 }) == 56)
        #expect(probe.seen == [12, 314])
        #expect(graph.context.core.checkInvariants().isEmpty)
    }

    @Test("the attribute whose change made them run is named")
    func cause() throws {
        let a = graph.input(1)
        let b = graph.input(1)
        let left = graph.rule(a) { $0 }
        let right = graph.rule(b) { $0 }
        let sum = graph.rule(left, right) { $0 + $1 }
        _ = try graph.read(sum)
        try graph.set(b, 2)
        _ = try graph.read(sum)
        #expect(graph.context.core.cause(of: sum) == right)
        try graph.set(a, 2)
        _ = try graph.read(sum)
        #expect(graph.context.core.cause(of: sum) == left)
    }
}
