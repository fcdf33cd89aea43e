import AttributeGraph
import ReactiveGraph
import TestSupport
import Testing

@Suite struct ErrorTests {
    let graph = Graph<Int>()
    let probe = Probe()

    func failing(_ a: AttributeID) -> AttributeID {
        graph.rule { [probe] context in
            probe.runs += 1
            let value = try context[a]
            if value < 0 { throw Boom(number: value) }
            return value
        }
    }

    @Test("a rule that throws at first or later recovers after a write")
    func recovers() throws {
        let a = graph.input(-1)
        let b = failing(a)
        #expect(throws: Boom(number: -1)) { try graph.read(b) }
        try graph.set(a, 1)
        #expect(try graph.read(b) == 1)
        try graph.set(a, -2)
        #expect(throws: Boom(number: -2)) { try graph.read(b) }
        #expect(graph.failure(of: b) as? Boom == Boom(number: -2))
        try graph.set(a, 2)
        #expect(try graph.read(b) == 2)
        #expect(graph.failure(of: b) == nil)
    }

    @Test("an error is kept like a value: reading it again does not run the rule")
    func cached() throws {
        let a = graph.input(-1)
        let b = failing(a)
        for _ in 0..<3 { #expect(throws: Boom(number: -1)) { try graph.read(b) } }
        #expect(probe.runs == 1)
    }

    @Test("an error flows through a chain and leaves other rules alone; all recover")
    func flows() throws {
        let a = graph.input(1)
        let b = failing(a)
        let c = graph.rule { try $0[b] + 1 }
        let other = graph.rule { try $0[a] * 2 }
        #expect(try graph.read(c) == 2)
        try graph.set(a, -3)
        #expect(throws: Boom(number: -3)) { try graph.read(c) }
        #expect(try graph.read(other) == -6)
        try graph.set(a, 3)
        #expect(try graph.read(c) == 4)
    }

    @Test("a rule may catch an input's error")
    func caught() throws {
        let a = graph.input(-1)
        let b = failing(a)
        let c = graph.rule { context in (try? context.read(b)) ?? 100 }
        #expect(try graph.read(c) == 100)
        try graph.set(a, 5)
        #expect(try graph.read(c) == 5)
    }

    @Test("when one observer throws, the others still run, and the write that woke them throws its error")
    func observerThrows() throws {
        let a = graph.input(0)
        try graph.observe { context in if try context[a] == 1 { throw Boom(number: 1) } }
        try graph.watch(a, probe)
        #expect(throws: Boom(number: 1)) { try graph.set(a, 1) }
        #expect(probe.seen == [0, 1])
        try graph.set(a, 2)
        #expect(probe.seen == [0, 1, 2])
    }

    @Test("an observer that threw keeps following its inputs, and its cleanup has run")
    func observerRecovers() throws {
        let a = graph.input(0)
        let probe = probe
        let observer = try graph.observe { context in
            context.onCleanup { probe.events.append("clean") }
            let value = try context[a]
            if value == 1 { throw Boom() }
            probe.saw(value)
        }
        try? graph.set(a, 1)
        #expect(graph.failure(of: observer) is Boom)
        try graph.set(a, 2)
        #expect(probe.seen == [0, 2] && probe.events == ["clean", "clean"])
    }

    @Test("nothing is left scheduled after an error: an unrelated write wakes nobody")
    func nothingLeft() throws {
        let a = graph.input(0)
        let unrelated = graph.input(0)
        try graph.observe { context in if try context[a] == 1 { throw Boom() } }
        try graph.watch(a, probe)
        try? graph.set(a, 1)
        probe.reset()
        try graph.set(unrelated, 1)
        #expect(probe.runs == 0)
    }

    @Test("errors and values in turn are all seen")
    func alternating() throws {
        let a = graph.input(0)
        let b = graph.rule { context in
            let value = try context[a]
            if value % 2 == 1 { throw Boom(number: value) }
            return value
        }
        try graph.observe { [probe] context in
            do { probe.saw(try context[b]) } catch let error as Boom { probe.saw(-error.number) }
        }
        for value in 1...4 { try graph.set(a, value) }
        #expect(probe.seen == [0, -1, 2, -3, 4])
    }

    @Test("a branch that fails leaves the other branch of a diamond alone")
    func otherBranch() throws {
        let a = graph.input(1)
        let bad = failing(a)
        let good = graph.rule { try $0[a] }
        let join = graph.rule { context in ((try? context.read(bad)) ?? 0) + (try context[good]) }
        try graph.watch(join, Probe())
        try graph.set(a, -5)
        #expect(try graph.read(join) == -5)
    }
}

@Suite struct CycleTests {
    let graph = Graph<Int>()
    let probe = Probe()

    /// Rules that read one another by number; `next` may be rewritten.
    final class Ring {
        var ids: [AttributeID] = []
        var next: [Int] = []
    }

    func ring(_ count: Int, closed: AttributeID) -> Ring {
        let ring = Ring()
        for number in 0..<count {
            ring.next.append((number + 1) % count)
            ring.ids.append(
                graph.rule { context in
                    if number == 0, try context[closed] == 0 { return 1 }
                    return try context[ring.ids[ring.next[number]]] + 1
                })
        }
        return ring
    }

    @Test("a rule that reads itself is an error that names it, and recovers", arguments: [true, false])
    func itself(untracked: Bool) throws {
        let flag = graph.input(1)
        var own = AttributeID(index: 0, generation: 0)
        own = graph.rule { context in
            if try context[flag] == 0 { return 7 }
            return untracked ? try context.untracked { try context[own] } : try context[own]
        }
        #expect(throws: GraphError.self) { try graph.read(own) }
        try graph.set(flag, 0)
        #expect(try graph.read(own) == 7)
        #expect(graph.context.core.counters.cycles == 1)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test(
        "a cycle names its whole path, the same from wherever it is read, for every member",
        arguments: [2, 3, 10, 1000])
    func path(length: Int) throws {
        let closed = graph.input(1)
        let ring = ring(length, closed: closed)
        let expected = GraphError.cycle(ring.ids)
        #expect(throws: expected) { try graph.read(ring.ids[length / 2]) }
        for id in [ring.ids[0], ring.ids[length - 1]] { #expect(throws: expected) { try graph.read(id) } }
        #expect(graph.context.core.counters.cycles == 1)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("a reader of a cycle gets its error and is not part of it")
    func outside() throws {
        let closed = graph.input(1)
        let ring = ring(3, closed: closed)
        let outside = graph.rule { try $0[ring.ids[1]] }
        #expect(throws: GraphError.cycle(ring.ids)) { try graph.read(outside) }
        func isCyclic(_ rule: AttributeID) -> Bool {
            graph.context.core.s.pointee.vertex(rule.index).pointee.flags.contains(.cyclic)
        }
        #expect(!isCyclic(outside) && isCyclic(ring.ids[1]))
    }

    @Test("a cycle that is broken recovers, made again fails again, at any length", arguments: [2, 5, 500])
    func recovers(length: Int) throws {
        let closed = graph.input(0)
        let ring = ring(length, closed: closed)
        #expect(try graph.read(ring.ids[1]) == length)
        for _ in 0..<3 {
            try graph.set(closed, 1)
            #expect(throws: GraphError.cycle(ring.ids)) { try graph.read(ring.ids[1]) }
            try graph.set(closed, 0)
            #expect(try graph.read(ring.ids[1]) == length)
        }
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("an observer of a cycle runs once per change, and again when it is broken")
    func observed() throws {
        let closed = graph.input(0)
        let ring = ring(4, closed: closed)
        try graph.observe { [probe] context in
            do { probe.saw(try context[ring.ids[2]]) } catch is GraphError { probe.saw(-1) }
        }
        try graph.set(closed, 1)
        try graph.set(closed, 0)
        #expect(probe.seen == [3, -1, 3])
    }

    @Test("a member that catches the error is a member all the same")
    func caught() throws {
        let flag = graph.input(1)
        var a = AttributeID(index: 0, generation: 0)
        let b = graph.rule { context in (try? context.read(a)) ?? 5 }
        a = graph.rule { try $0[flag] == 1 ? $0[b] : 9 }
        #expect(throws: GraphError.self) { try graph.read(b) }
        #expect(throws: GraphError.self) { try graph.read(a) }
        try graph.set(flag, 0)
        #expect(try graph.read(b) == 9)
    }

    @Test("two cycles through one member are one, and each rule ran a bounded number of times")
    func figureEight() throws {
        var ids: [AttributeID] = []
        let probe = probe
        for (first, second) in [(1, 2), (0, 0), (0, 0)] {
            ids.append(graph.rule(probe) { try $0[ids[first]] + $0[ids[second]] })
        }
        for id in ids { #expect(throws: GraphError.self) { try graph.read(id) } }
        #expect(probe.runs <= 6)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("a cycle of declared inputs is found")
    func declared() throws {
        let core = graph.context.core
        let closed = graph.input(1)
        let ring = ring(3, closed: closed)
        #expect(throws: GraphError.cycle(ring.ids)) { try graph.read(ring.ids[0]) }
        #expect(core.inputs(of: ring.ids[1]) == [ring.ids[2]])
    }
}
