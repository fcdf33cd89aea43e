import AttributeGraph
import ReactiveGraph
import TestSupport
import Testing

@Suite struct DynamicDependencyTests {
    let graph = Graph<Int>()
    let probe = Probe()

    @Test("a branch not taken is not a dependency, and becomes one when it is taken")
    func branches() throws {
        let condition = graph.input(1)
        let a = graph.input(10)
        let b = graph.input(20)
        let c = graph.rule(probe) { try $0[condition] != 0 ? $0[a] : $0[b] }
        #expect(try graph.read(c) == 10)
        try graph.set(b, 21)
        #expect(try graph.read(c) == 10 && probe.runs == 1)
        try graph.set(a, 11)
        #expect(try graph.read(c) == 11 && probe.runs == 2)
        try graph.set(condition, 0)
        #expect(try graph.read(c) == 21 && probe.runs == 3)
        try graph.set(a, 12)
        #expect(try graph.read(c) == 21 && probe.runs == 3)
        try graph.set(b, 22)
        #expect(try graph.read(c) == 22 && probe.runs == 4)
        #expect(graph.context.core.inputs(of: c) == [condition, b])
        #expect(graph.context.core.readers(of: a).isEmpty)
    }

    @Test("a newly reached rule is brought up to date before its reader sees it")
    func newlyReached() throws {
        let a = graph.input(0)
        let doubled = graph.rule { try $0[a] * 2 }
        #expect(try graph.read(doubled) == 0)
        let c = graph.rule { try $0[a] > 0 ? $0[doubled] : -1 }
        try graph.watch(c, probe)
        try graph.set(a, 3)
        #expect(probe.seen == [-1, 6])
    }

    @Test("a lazily read branch is right in both directions")
    func lazyBranch() throws {
        let a = graph.input(0)
        let b = graph.rule { try $0[a] + 100 }
        let c = graph.rule { try $0[a] > 0 ? $0[a] : $0[b] }
        try graph.watch(c, probe)
        try graph.set(a, 1)
        try graph.set(a, -5)
        #expect(probe.seen == [100, 1, 95])
    }

    @Test("dropping a dependency leaves a sibling's alone")
    func siblingsEdges() throws {
        let condition = graph.input(1)
        let a = graph.input(1)
        let switching = graph.rule { try $0[condition] != 0 ? $0[a] : 0 }
        let steady = graph.rule { try $0[a] }
        try graph.watch(switching, Probe())
        try graph.watch(steady, probe)
        try graph.set(condition, 0)
        try graph.set(a, 2)
        #expect(probe.seen == [1, 2])
    }

    @Test("a dependency dropped, changed meanwhile and taken up again is fresh and live")
    func reacquired() throws {
        let condition = graph.input(1)
        let a = graph.input(1)
        let c = graph.rule { try $0[condition] != 0 ? $0[a] : 0 }
        try graph.watch(c, probe)
        try graph.set(condition, 0)
        try graph.set(a, 5)
        try graph.set(condition, 1)
        try graph.set(a, 6)
        #expect(probe.seen == [1, 0, 5, 6])
    }

    @Test("inputs are checked in the order of reading: what an earlier change makes unread does not run")
    func sequentialCheck() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] }
        let c = graph.rule(probe) { try 10 / $0[b] }
        let d = graph.rule { try $0[b] == 0 ? -1 : $0[c] }
        let watcher = Probe()
        try graph.watch(d, watcher)
        try graph.set(a, 0)
        #expect(watcher.seen == [10, -1])
        #expect(probe.runs == 1)
    }

    @Test("a chain behind a gate shows every change while the gate toggles")
    func gate() throws {
        let a = graph.input(1)
        let isOpen = graph.rule { try $0[a] % 2 }
        let c = graph.rule { try $0[isOpen] == 1 ? $0[a] * 10 : 0 }
        try graph.watch(c, probe)
        for value in 2...5 { try graph.set(a, value) }
        #expect(probe.seen == [10, 0, 30, 0, 50])
    }

    @Test("a gate read by hand between writes is right each time")
    func gateByHand() throws {
        let a = graph.input(1)
        let isOpen = graph.rule { try $0[a] % 2 }
        let c = graph.rule { try $0[isOpen] == 1 ? $0[a] * 10 : 0 }
        for value in [1, 2, 4, 3, 3, 6] {
            try graph.set(a, value)
            #expect(try graph.read(isOpen) == value % 2)
            #expect(try graph.read(c) == (value % 2 == 1 ? value * 10 : 0))
        }
    }

    @Test("when the first possible change turns out none, the second still counts")
    func secondArmCounts() throws {
        let a = graph.input(1)
        let constant = graph.rule {
            _ = try $0[a]; return 0
        }
        let live = graph.rule { try $0[a] }
        let c = graph.rule { try $0[constant] + $0[live] }
        try graph.watch(c, probe)
        try graph.set(a, 2)
        #expect(probe.seen == [1, 2])
    }

    @Test("writes that leave a remainder alone wake nobody behind it")
    func parity() throws {
        let a = graph.input(0)
        let c1 = graph.rule { try $0[a] % 2 }
        let c2 = graph.rule(probe) { try $0[c1] + 1 }
        let watcher = Probe()
        try graph.watch(c2, watcher)
        for value in [2, 4, 6] { try graph.set(a, value) }
        #expect(probe.runs == 1 && watcher.runs == 1)
    }

    @Test("an observer picks up a dependency that a changed condition reveals, and drops it again")
    func observerBranches() throws {
        let condition = graph.input(0)
        let a = graph.input(1)
        try graph.observe { [probe] in probe.saw(try $0[condition] != 0 ? $0[a] : 0) }
        try graph.set(a, 2)
        try graph.set(condition, 1)
        try graph.set(a, 3)
        try graph.set(condition, 0)
        try graph.set(a, 4)
        #expect(probe.seen == [0, 2, 3, 0])
    }

    @Test("observers whose dependencies change places write what current readers get")
    func shiftingObservers() throws {
        let condition = graph.input(0)
        let a = graph.input(1)
        let b = graph.input(2)
        let out1 = graph.input(0)
        let out2 = graph.input(0)
        let left = Probe()
        let right = Probe()
        try graph.observe {
            left.runs += 1; try $0.set(out1, $0[condition] == 0 ? $0[a] : $0[b])
        }
        try graph.observe {
            right.runs += 1; try $0.set(out2, $0[condition] == 0 ? $0[b] : $0[a])
        }
        try graph.set(condition, 1)
        left.reset()
        right.reset()
        try graph.set(a, 10)
        #expect(left.runs == 0 && right.runs == 1)
        #expect(try graph.read(out1) == 2 && graph.read(out2) == 10)
    }

    @Test("inputs stand in the order of reading, each once, however often and in whatever order they are read")
    func orderOfInputs() throws {
        let sources = (0..<40).map { graph.input($0) }
        let direction = graph.input(0)
        let sum = graph.rule { context in
            let order = try context[direction] == 0 ? sources : sources.reversed()
            return try order.reduce(0) { try $0 + context[$1] + context[sources[20]] }
        }
        _ = try graph.read(sum)
        #expect(
            graph.context.core.inputs(of: sum) == [direction, sources[0], sources[20]] + sources[1..<20]
                + sources[21...])
        try graph.set(direction, 1)
        _ = try graph.read(sum)
        let reversed = Array(sources.reversed())
        #expect(
            graph.context.core.inputs(of: sum)
                == [direction, reversed[0], sources[20]] + reversed.dropFirst().filter { $0 != sources[20] })
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("a run that reads what the last one read adds and removes no edge")
    func stableReads() throws {
        let a = graph.input(0)
        let others = (0..<20).map { graph.input($0) }
        let sum = graph.rule { context in try others.reduce(try context[a]) { try $0 + context[$1] } }
        _ = try graph.read(sum)
        let before = graph.context.core.counters
        for value in 1...10 {
            try graph.set(a, value)
            _ = try graph.read(sum)
        }
        let after = graph.context.core.counters
        #expect(after.evaluations == before.evaluations + 10)
        #expect(after.edgesAdded == before.edgesAdded && after.edgesRemoved == before.edgesRemoved)
    }
}
