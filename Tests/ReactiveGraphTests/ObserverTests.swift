import AttributeGraph
import ReactiveGraph
import TestSupport
import Testing

@Suite struct ObserverTests {
    let graph = Graph<Int>()
    let probe = Probe()

    @Test("an observer runs at once, on every change, and not after it is disposed of")
    func life() throws {
        let a = graph.input(1)
        let observer = try graph.watch(a, probe)
        try graph.set(a, 2)
        try graph.dispose(observer)
        try graph.set(a, 3)
        #expect(probe.seen == [1, 2])
    }

    @Test("a cleanup runs before each next run and on disposal, each the latest only")
    func cleanup() throws {
        let a = graph.input(1)
        let probe = probe
        let observer = try graph.observe { context in
            let value = try context[a]
            probe.events.append("run \(value)")
            context.onCleanup { probe.events.append("clean \(value)") }
        }
        try graph.set(a, 2)
        try graph.dispose(observer)
        try graph.dispose(observer)
        #expect(probe.events == ["run 1", "clean 1", "run 2", "clean 2"])
    }

    @Test("reads inside a cleanup are not dependencies, and see fresh values")
    func cleanupReads() throws {
        let a = graph.input(1)
        let b = graph.input(10)
        let doubled = graph.rule { try $0[b] * 2 }
        let probe = probe
        try graph.observe { context in
            probe.runs += 1
            _ = try context[a]
            context.onCleanup { probe.seen.append((try? context.read(doubled)) ?? -1) }
        }
        try graph.set(b, 11)
        #expect(probe.runs == 1)
        try graph.set(a, 2)
        #expect(probe.runs == 2 && probe.seen == [22])
        try graph.set(b, 12)
        #expect(probe.runs == 2)
    }

    @Test("an observer disposed of inside a batch that would run it does not run")
    func disposedWhilePending() throws {
        let a = graph.input(1)
        let observer = try graph.watch(a, probe)
        try graph.batch {
            try graph.set(a, 2)
            try graph.dispose(observer)
            try graph.set(a, 3)
        }
        #expect(probe.seen == [1])
    }

    @Test(
        "an observer may dispose of itself; that run is its last, and what it reads afterwards does not bring it back")
    func disposesItself() throws {
        let a = graph.input(1)
        let b = graph.input(1)
        let probe = probe
        var own: AttributeID?
        own = try graph.observe { context in
            probe.runs += 1
            if try context[a] == 2, let own { try context.dispose(own) }
            _ = try context[b]
        }
        try graph.set(a, 2)
        try graph.set(b, 2)
        try graph.set(a, 3)
        #expect(probe.runs == 2)
        #expect(graph.context.core.readers(of: b).isEmpty && graph.context.core.readers(of: a).isEmpty)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("a cleanup that disposes of its observer prevents the run that was due")
    func cleanupDisposes() throws {
        let a = graph.input(1)
        let probe = probe
        var own: AttributeID?
        own = try graph.observe { context in
            probe.runs += 1
            _ = try context[a]
            context.onCleanup { if let own { try? context.dispose(own) } }
        }
        try graph.set(a, 2)
        try graph.set(a, 3)
        #expect(probe.runs == 1)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("an observer that disposes of another has not read what the other's cleanup read")
    func disposingAnother() throws {
        let a = graph.input(1)
        let b = graph.input(1)
        let victim = try graph.observe { context in context.onCleanup { _ = try? context.read(b) } }
        let probe = probe
        try graph.observe { context in
            probe.runs += 1
            if try context[a] == 2 { try context.dispose(victim) }
        }
        try graph.set(a, 2)
        try graph.set(b, 2)
        #expect(probe.runs == 2)
    }

    @Test("a rule that disposes of an observer while it runs: that observer is silent, its siblings are not")
    func ruleDisposes() throws {
        let a = graph.input(0)
        var victim: AttributeID?
        let b = graph.rule { context in
            if try context[a] > 0, let victim { try context.dispose(victim) }
            return try context[a]
        }
        let sibling = Probe()
        victim = try graph.watch(b, probe)
        try graph.watch(b, sibling)
        try graph.set(a, 1)
        try graph.set(a, 2)
        #expect(probe.seen == [0])
        #expect(sibling.seen == [0, 1, 2])
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("a new observer works after another has gone")
    func newAfterDispose() throws {
        let a = graph.input(1)
        try graph.dispose(try graph.watch(a, Probe()))
        try graph.watch(a, probe)
        try graph.set(a, 2)
        #expect(probe.seen == [1, 2])
    }

    @Test("an observer's cleanup may write; the write reaches its readers once")
    func cleanupWrites() throws {
        let a = graph.input(1)
        let b = graph.input(0)
        let b10 = graph.rule { try $0[b] * 10 }
        try graph.watch(b10, probe)
        try graph.observe { context in
            let value = try context[a]
            context.onCleanup { try? context.set(b, value) }
        }
        try graph.batch { try graph.set(a, 2) }
        #expect(probe.seen == [0, 10])
        #expect(try graph.read(b10) == 10)
    }

    @Test("a cleanup that writes its observer's own input settles")
    func cleanupWritesOwnInput() throws {
        let a = graph.input(0)
        let probe = probe
        try graph.observe { context in
            probe.saw(try context[a])
            context.onCleanup { if let value = try? context.peek(a), value < 5 { try? context.set(a, value + 1) } }
        }
        try graph.set(a, 1)
        #expect(probe.seen.last == (try graph.read(a)))
        #expect(probe.runs <= 10)
    }

    @Test("a rule shows a cleanup its own writes, which are one change for others")
    func cleanupWritesAndReads() throws {
        let a = graph.input(1)
        let b = graph.input(0)
        let c = graph.input(0)
        let sum = graph.rule { try $0[b] + $0[c] }
        try graph.watch(sum, probe)
        let probe = probe
        try graph.observe { context in
            let value = try context[a]
            context.onCleanup {
                try? context.set(b, value)
                try? context.set(c, value * 10)
                probe.events.append("\(context.untracked { (try? context[sum]) ?? -1 })")
            }
        }
        try graph.set(a, 2)
        #expect(probe.events == ["11"])
        #expect(probe.seen == [0, 11])
        try graph.set(b, 5)
        #expect(probe.events == ["11"])
    }

    @Test("an observer made by a cleanup runs at once and follows its own inputs, until its maker runs again")
    func observerInCleanup() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        let probe = probe
        try graph.observe { context in
            let value = try context[a]
            probe.events.append("run \(value)")
            context.onCleanup { _ = try? context.observe { probe.events.append("made at \(value): \(try $0[b])") } }
        }
        try graph.set(a, 1)
        try graph.set(b, 7)
        #expect(probe.events == ["run 0", "made at 0: 0", "run 1", "made at 0: 7"])
        probe.reset()
        try graph.set(a, 2)
        try graph.set(b, 8)
        #expect(probe.events == ["made at 1: 7", "run 2", "made at 1: 8"])
    }

    @Test("a rule may dispose of an observer that also reads a rule which turns out unchanged")
    func disposedBesideUnchanged() throws {
        let a = graph.input(0)
        var victim: AttributeID?
        let disposing = graph.rule { context in
            if try context[a] > 0, let victim { try context.dispose(victim) }
            return 0
        }
        let unchanged = graph.rule {
            _ = try $0[a]; return 0
        }
        victim = try graph.observe { [probe] in probe.saw(try $0[unchanged] + $0[disposing] + $0[a]) }
        try graph.set(a, 1)
        try graph.set(a, 2)
        #expect(probe.seen == [0])
        #expect(graph.context.core.readers(of: unchanged).isEmpty)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("a rule runs once per change, however often it reads an input")
    func readTwice() throws {
        let a = graph.input(1)
        try graph.observe { [probe] in probe.saw(try $0[a] + $0[a] + $0[a]) }
        try graph.set(a, 2)
        #expect(probe.seen == [3, 6])
    }

    // MARK: The open faults of a peer

    @Test("an observer whose first run throws is not left subscribed")
    func firstRunThrows() throws {
        let a = graph.input(1)
        let probe = probe
        #expect(throws: Boom()) {
            try graph.observe { context in
                probe.runs += 1
                _ = try context[a]
                throw Boom()
            }
        }
        try graph.set(a, 2)
        #expect(probe.runs == 1)
        #expect(graph.context.core.readers(of: a).isEmpty && graph.context.core.counters.liveAttributes == 1)
    }

    @Test("a scope whose body throws destroys all that it created")
    func scopeThrows() throws {
        let a = graph.input(1)
        #expect(throws: Boom()) {
            _ = try graph.scope {
                try graph.watch(a, probe)
                throw Boom()
            }
        }
        try graph.set(a, 2)
        #expect(probe.seen == [1])
        #expect(graph.context.core.counters.liveAttributes == 1)
    }
}

@Suite struct NestingTests {
    let graph = Graph<Int>()
    let probe = Probe()

    @Test("the outer observer runs before the inner one, which is made anew and not left over")
    func outerFirst() throws {
        let a = graph.input(0)
        let probe = probe
        try graph.observe { context in
            let value = try context[a]
            probe.events.append("outer \(value)")
            try context.observe { probe.events.append("inner \(try $0[a]) in \(value)") }
        }
        try graph.set(a, 1)
        try graph.set(a, 2)
        #expect(
            probe.events == ["outer 0", "inner 0 in 0", "outer 1", "inner 1 in 1", "outer 2", "inner 2 in 2"])
        #expect(graph.context.core.counters.liveAttributes == 3)
    }

    @Test("an inner observer has its own dependencies and does not subscribe the outer one")
    func ownDependencies() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        let probe = probe
        try graph.observe { context in
            probe.events.append("outer")
            _ = try context[a]
            try context.untracked {
                _ = try context.observe {
                    _ = try $0[b]; probe.events.append("inner")
                }
            }
        }
        try graph.set(b, 1)
        #expect(probe.events == ["outer", "inner", "inner"])
    }

    @Test(
        "the outer observer still follows its own inputs after the inner one ran alone, also after a burst, also with siblings"
    )
    func outerAfterInner() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        let probe = probe
        try graph.observe { context in
            probe.events.append("outer \(try context[a])")
            for name in ["x", "y"] { try context.observe { probe.events.append("\(name) \(try $0[b])") } }
        }
        for value in 1...3 { try graph.set(b, value) }
        probe.reset()
        try graph.set(a, 1)
        #expect(probe.events == ["outer 1", "x 3", "y 3"])
    }

    @Test(
        "an observer whose maker was destroyed without being disposed of does not wait for the next tenant of its row")
    func orphan() throws {
        let a = graph.input(0)
        let probe = probe
        let outer = try graph.observe { context in
            try context.observe { probe.events.append("inner \(try $0[a])") }
        }
        graph.context.core.destroy(outer)
        let tenant = try graph.observe { probe.events.append("tenant \(try $0[a])") }
        #expect(tenant.index == outer.index)
        probe.reset()
        try graph.set(a, 1)
        #expect(probe.events == ["inner 1", "tenant 1"])
    }

    @Test("disposing of the outermost of three takes all three")
    func cascade() throws {
        let a = graph.input(0)
        let probe = probe
        let outer = try graph.observe { one in
            try one.observe { two in try two.observe { probe.saw(try $0[a]) } }
        }
        try graph.set(a, 1)
        try graph.dispose(outer)
        try graph.set(a, 2)
        #expect(probe.seen == [0, 1])
        #expect(graph.context.core.counters.liveAttributes == 1)
    }

    @Test("inner observers made in every run do not accumulate")
    func noGrowth() throws {
        let a = graph.input(0)
        let probe = probe
        try graph.observe { context in
            _ = try context[a]
            for _ in 0..<2 {
                try context.observe {
                    _ = try $0[a]; probe.runs += 1
                }
            }
        }
        for value in 1...50 { try graph.set(a, value) }
        #expect(probe.runs == 102)
        #expect(graph.context.core.counters.liveAttributes == 4)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("cleanups run inner before outer, the youngest sibling first, and before the outer's next run")
    func cleanupOrder() throws {
        let a = graph.input(0)
        let probe = probe
        try graph.observe { context in
            probe.events.append("outer \(try context[a])")
            context.onCleanup { probe.events.append("clean outer") }
            for name in ["x", "y"] {
                try context.observe { inner in
                    inner.onCleanup { probe.events.append("clean \(name)") }
                    try inner.observe { $0.onCleanup { probe.events.append("clean inside \(name)") } }
                }
            }
        }
        probe.reset()
        try graph.set(a, 1)
        #expect(
            probe.events == ["clean inside y", "clean y", "clean inside x", "clean x", "clean outer", "outer 1"])
    }

    @Test("the order of cleanups is the same after an inner observer ran alone")
    func cleanupOrderAfterInnerRun() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        let probe = probe
        try graph.observe { context in
            _ = try context[a]
            context.onCleanup { probe.events.append("outer") }
            try context.observe { inner in
                _ = try inner[b]
                inner.onCleanup { probe.events.append("inner") }
            }
        }
        try graph.set(b, 1)
        probe.reset()
        try graph.set(a, 1)
        #expect(probe.events == ["inner", "outer"])
    }

    @Test("an observer made by a rule is cleaned up before the rule runs again")
    func observerInRule() throws {
        let a = graph.input(0)
        let probe = probe
        let b = graph.rule { context in
            let value = try context[a]
            probe.events.append("rule \(value)")
            try context.observe { $0.onCleanup { probe.events.append("clean \(value)") } }
            return value
        }
        _ = try graph.read(b)
        try graph.set(a, 1)
        _ = try graph.read(b)
        #expect(probe.events == ["rule 0", "clean 0", "rule 1"])
    }

    @Test("an inner observer does not run when the rule it reads turns out unchanged")
    func innerUnchanged() throws {
        let a = graph.input(1)
        let sign = graph.rule { try $0[a] > 0 ? 1 : 0 }
        let probe = probe
        try graph.observe { try $0.observe { probe.saw(try $0[sign]) } }
        try graph.set(a, 2)
        #expect(probe.seen == [1])
    }

    @Test("an observer that makes an input and writes it does not run again for it")
    func ownInput() throws {
        let a = graph.input(0)
        let probe = probe
        try graph.observe { context in
            probe.runs += 1
            let made = context.input(try context[a])
            try context.set(made, 100)
        }
        #expect(probe.runs == 1)
        try graph.set(a, 1)
        #expect(probe.runs == 2)
    }

    @Test("a rule made in an observer's run reads the latest values")
    func ruleInObserver() throws {
        let a = graph.input(1)
        let probe = probe
        try graph.observe { context in
            let doubled = context.rule { try $0[a] * 2 }
            probe.saw(try context[doubled])
        }
        try graph.set(a, 2)
        try graph.set(a, 3)
        #expect(probe.seen == [2, 4, 6])
        #expect(graph.context.core.counters.liveAttributes == 3)
    }
}
