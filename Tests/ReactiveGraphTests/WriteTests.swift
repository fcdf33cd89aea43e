import AttributeGraph
import ReactiveGraph
import TestSupport
import Testing

@Suite struct ObserverWriteTests {
    let graph = Graph<Int>()
    let probe = Probe()

    @Test("an observer may write what it derives; readers see it after the batch")
    func derives() throws {
        let a = graph.input(1)
        let b = graph.input(0)
        try graph.observe { try $0.set(b, $0[a] * 2) }
        try graph.watch(b, probe)
        try graph.set(a, 5)
        #expect(probe.seen == [2, 10])
    }

    @Test("readers observe the last of several writes in one run")
    func lastOfSeveral() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        try graph.watch(b, probe)
        try graph.observe { context in
            let value = try context[a]
            for offset in 0...3 { try context.set(b, value * 10 + offset) }
        }
        probe.reset()
        try graph.set(a, 1)
        #expect(probe.seen == [13])
    }

    @Test("an observer that writes what it has read runs again until it settles")
    func settles() throws {
        let a = graph.input(0)
        try graph.observe { [probe] context in
            let value = try context[a]
            probe.saw(value)
            if value < 10 { try context.set(a, value + 1) }
        }
        #expect(probe.seen == Array(0...10))
        try graph.set(a, 5)
        #expect(try graph.read(a) == 10)
    }

    @Test("an observer that writes what it reads afterwards sees the new value and does not run again for it")
    func writesThenReads() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        try graph.observe { [probe] context in
            try context.set(b, try context[a] + 1)
            probe.saw(try context[b])
        }
        try graph.set(a, 5)
        #expect(probe.seen == [1, 6])
    }

    @Test("a write that an observer takes back wakes readers at most once")
    func takenBack() throws {
        let a = graph.input(0)
        try graph.observe { context in if try context[a] != 0 { try context.set(a, 0) } }
        let b = graph.rule { try $0[a] }
        try graph.watch(b, probe)
        try graph.set(a, 1)
        #expect(probe.runs <= 2 && probe.seen.last == 0)
        try graph.set(a, 0)
        #expect(try graph.read(b) == 0)
    }

    @Test("an observer after one that has written back ends with the settled value")
    func writtenBack() throws {
        let a = graph.input(0)
        let other = Probe()
        try graph.observe { context in if try context[a] > 3 { try context.set(a, 3) } }
        try graph.watch(a, probe)
        let b = graph.rule { try $0[a] * 2 }
        try graph.watch(b, other)
        try graph.set(a, 9)
        #expect(probe.seen.last == 3 && other.seen.last == 6)
    }

    @Test("an observer ends with a rule that another's write made stale during the same batch")
    func staleDuringBatch() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        let sum = graph.rule { try $0[a] + $0[b] }
        try graph.watch(sum, probe)
        try graph.observe { try $0.set(b, $0[a] * 10) }
        try graph.set(a, 1)
        #expect(probe.seen.last == 11)
    }

    @Test("two observers' writes that meet in one rule are both in the last observation")
    func fanIn() throws {
        let a = graph.input(0)
        let left = graph.input(0)
        let right = graph.input(0)
        try graph.observe { try $0.set(left, $0[a]) }
        try graph.observe { try $0.set(right, $0[a]) }
        let sum = graph.rule { try $0[left] + $0[right] }
        try graph.watch(sum, probe)
        try graph.set(a, 4)
        #expect(probe.seen.last == 8)
    }

    @Test("a batch in an observer's body is one change for others")
    func batchInObserver() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        try graph.watch(b, probe)
        try graph.observe { context in
            let value = try context[a]
            try context.batch { for step in 1...3 { try context.set(b, value * 10 + step) } }
        }
        probe.reset()
        try graph.set(a, 1)
        #expect(probe.seen == [13])
    }

    @Test("a write in a batch inside an observer is seen by the reads that follow in it")
    func readsInInnerBatch() throws {
        let a = graph.input(0)
        let b = graph.input(5)
        let doubled = graph.rule { try $0[b] * 2 }
        let watcher = Probe()
        try graph.watch(doubled, watcher)
        try graph.observe { [probe] context in
            let value = try context[a]
            try context.batch {
                try context.set(b, value + 5)
                probe.saw(try context.peek(doubled))
                try context.set(b, 5)
            }
            probe.saw(try context[doubled])
        }
        try graph.set(a, 1)
        #expect(probe.seen == [10, 10, 12, 10])
        #expect(watcher.seen.last == 10)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("a rule that writes is refused with an error, and nothing has changed")
    func ruleWrites() throws {
        let a = graph.input(1)
        let b = graph.input(0)
        let c = graph.rule { context in
            try context.set(b, 5)
            return try context[a]
        }
        #expect(throws: GraphError.writeDuringEvaluation(b)) { try graph.read(c) }
        #expect(try graph.read(b) == 0)
        try graph.set(b, 7)
        #expect(try graph.read(b) == 7)
    }

    @Test("a rule that writes its own input, or a second rule's, is refused as well, also through an observer it makes")
    func ruleWritesElsewhere() throws {
        let a = graph.input(1)
        let own = graph.rule { context in
            let value = try context[a]
            try context.set(a, value + 1)
            return value
        }
        #expect(throws: GraphError.writeDuringEvaluation(a)) { try graph.read(own) }
        let nested = graph.rule { context in
            try context.observe { try $0.set(a, 9) }
            return 0
        }
        #expect(throws: GraphError.writeDuringEvaluation(a)) { try graph.read(nested) }
        #expect(try graph.read(a) == 1)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("a refused write that the rule catches leaves its value")
    func refusalCaught() throws {
        let a = graph.input(1)
        let b = graph.rule { context in
            do { try context.set(a, 2) } catch { return -1 }
            return 0
        }
        #expect(try graph.read(b) == -1)
        #expect(try graph.read(a) == 1)
    }

    @Test("an observer that never settles is stopped with an error that names it, and the graph goes on working")
    func neverSettles() throws {
        let a = graph.input(0)
        let limit = graph.input(1_000_000)
        let probe = probe
        let observer = try graph.observe { context in
            probe.runs += 1
            let value = try context[a]
            if value > 0, value < (try context[limit]) { try context.set(a, value + 1) }
        }
        probe.reset()
        #expect(throws: GraphError.unsettled([observer])) { try graph.set(a, 1) }
        #expect(probe.runs == 100)
        try graph.set(limit, 0)
        let value = try graph.read(a)
        probe.reset()
        try graph.set(a, value + 1)
        #expect(probe.runs == 1)
    }

    @Test("two or three observers that keep waking one another are stopped too, also by way of a rule")
    func pingPong() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        let viaRule = graph.rule { try $0[b] }
        try graph.observe { [probe] in
            probe.runs += 1; let value = try $0[a]; if value > 0 { try $0.set(b, value + 1) }
        }
        try graph.observe { [probe] in
            probe.runs += 1; let value = try $0[viaRule]; if value > 0 { try $0.set(a, value + 1) }
        }
        #expect(throws: GraphError.self) { try graph.set(a, 1) }
        #expect(probe.runs <= 300)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("an observer that resets an input on its first run leaves later writes working")
    func resetsOnFirstRun() throws {
        let a = graph.input(5)
        try graph.observe { context in if try context[a] == 5 { try context.set(a, 0) } }
        try graph.watch(a, probe)
        try graph.set(a, 1)
        try graph.set(a, 5)
        #expect(probe.seen.first == 0 && probe.seen.contains(1) && probe.seen.last == 0)
    }

    @Test("a write before a throw stays")
    func writeBeforeThrow() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        try graph.observe { context in
            let value = try context[a]
            try context.set(b, value)
            if value == 1 { throw Boom() }
        }
        #expect(throws: Boom()) { try graph.set(a, 1) }
        #expect(try graph.read(b) == 1)
    }

    @Test("an observer reads its own untracked writes in a batch")
    func untrackedWriteInBatch() throws {
        let tick = graph.input(0)
        let a = graph.input(1)
        let b = graph.rule { try $0[a] * 10 }
        try graph.observe { [probe] context in
            let round = try context[tick]
            try context.batch {
                try context.untracked { try context.set(a, round + 1) }
                probe.saw(try context[b])
            }
        }
        try graph.set(tick, 1)
        try graph.set(tick, 2)
        #expect(probe.seen == [10, 20, 30])
    }

    @Test("an observer that writes in a batch and then makes another keeps what it has read")
    func observerMadeAfterWriteInBatch() throws {
        let a = graph.input(1)
        let b = graph.input(0)
        try graph.observe { [probe] context in
            let value = try context[a]
            probe.saw(value)
            try context.batch {
                try context.set(b, value)
                try context.observe { _ = try $0[b] }
            }
        }
        try graph.set(a, 2)
        try graph.set(a, 3)
        #expect(probe.seen == [1, 2, 3])
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("writing under untracked works and tracks nothing")
    func untrackedWrite() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        try graph.observe { [probe] context in
            probe.runs += 1
            let value = try context[a]
            try context.untracked { try context.set(b, try context[b] + value) }
        }
        try graph.set(a, 2)
        try graph.set(b, 50)
        #expect(probe.runs == 2)
        #expect(try graph.read(b) == 50)
    }
}

@Suite struct BatchTests {
    let graph = Graph<Int>()
    let probe = Probe()

    @Test("observers wait for the end of the outermost batch and run once")
    func once() throws {
        let a = graph.input(0)
        try graph.watch(a, probe)
        try graph.batch {
            try graph.set(a, 1)
            try graph.batch { try graph.set(a, 2) }
            #expect(probe.seen == [0])
            try graph.set(a, 3)
        }
        #expect(probe.seen == [0, 3])
    }

    @Test("reads inside a batch see its writes, inputs and rules alike, and run no observer")
    func readsInside() throws {
        let a = graph.input(0)
        let b = graph.rule { try $0[a] + 1 }
        let c = graph.rule { try $0[b] + 1 }
        try graph.watch(c, probe)
        try graph.batch {
            try graph.set(a, 10)
            #expect(try graph.read(a) == 10 && graph.read(c) == 12)
            #expect(probe.seen == [2])
        }
        #expect(probe.seen == [2, 12])
    }

    @Test("if the body throws, the observers run all the same, and the next batch is an ordinary one")
    func bodyThrows() throws {
        let a = graph.input(0)
        try graph.watch(a, probe)
        #expect(throws: Boom()) {
            try graph.batch {
                try graph.set(a, 1)
                throw Boom()
            }
        }
        #expect(probe.seen == [0, 1])
        try graph.batch { try graph.set(a, 2) }
        try graph.set(a, 3)
        #expect(probe.seen == [0, 1, 2, 3])
    }

    @Test("the first run of an observer made inside a batch is immediate and sees the batch's writes")
    func madeInside() throws {
        let a = graph.input(0)
        try graph.batch {
            try graph.set(a, 1)
            try graph.watch(a, probe)
            #expect(probe.seen == [1])
        }
        #expect(probe.seen == [1])
    }

    @Test("a write taken back in the batch wakes nobody and runs nothing, however often it is repeated")
    func takenBack() throws {
        let a = graph.input(0)
        let b = graph.rule(probe) { try $0[a] }
        let watcher = Probe()
        try graph.watch(b, watcher)
        for value in 1...3 {
            try graph.batch {
                try graph.set(a, value)
                try graph.set(a, 0)
            }
        }
        #expect(probe.runs == 1 && watcher.runs == 1)
        #expect(!graph.context.core.isInvalidated(b))
    }

    @Test("a rule over an input that was restored and one that changed updates once")
    func halfTakenBack() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        let overA = graph.rule(probe) { try $0[a] }
        let sum = graph.rule { try $0[overA] + $0[b] }
        let watcher = Probe()
        try graph.watch(sum, watcher)
        try graph.batch {
            try graph.set(a, 5)
            try graph.set(b, 2)
            try graph.set(a, 0)
        }
        #expect(watcher.seen == [0, 2] && probe.runs == 1)
    }

    @Test("a rule that yields the same from two changed inputs wakes nobody")
    func sameSum() throws {
        let a = graph.input(1)
        let b = graph.input(2)
        let sum = graph.rule { try $0[a] + $0[b] }
        try graph.watch(sum, probe)
        try graph.batch {
            try graph.set(a, 2)
            try graph.set(b, 1)
        }
        #expect(probe.seen == [3])
    }

    @Test("intermediate values are never observed and nobody is told twice")
    func noIntermediate() throws {
        let a = graph.input(0)
        let b = graph.input(0)
        let sum = graph.rule { try $0[a] + $0[b] }
        try graph.watch(sum, probe)
        try graph.batch {
            for value in 1...5 {
                try graph.set(a, value)
                try graph.set(b, value)
            }
        }
        #expect(probe.seen == [0, 10])
    }

    @Test("an unwatched rule read before, during and after a batch that is taken back stays coherent")
    func coherent() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] * 2 }
        #expect(try graph.read(b) == 2)
        try graph.batch {
            try graph.set(a, 5)
            #expect(try graph.peek(b) == 10)
            try graph.set(a, 1)
        }
        #expect(try graph.read(b) == 2)
    }

    @Test("a write to a removed input, or of one that goes inside the batch, harms nothing")
    func removedInside() throws {
        let made = try graph.scope { graph.input(1) }
        let b = graph.rule { (try? $0.read(made.result)) ?? -1 }
        #expect(try graph.read(b) == 1)
        try graph.batch {
            try graph.set(made.result, 2)
            try graph.dispose(made.scope)
            #expect(throws: GraphError.removed(made.result)) { try graph.set(made.result, 3) }
        }
        #expect(try graph.read(b) == -1)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("an input in the row of one that was written in the same batch has not been written")
    func tenantInside() throws {
        let gone = graph.input(1)
        let writes = graph.context.core.counters.writes
        let tenant = try graph.batch {
            try graph.set(gone, 2)
            try graph.dispose(gone)
            return graph.input(7)
        }
        #expect(tenant.index == gone.index)
        #expect(graph.context.core.counters.writes == writes)
        #expect(try graph.read(tenant) == 7)
    }

    @Test("a batch returns what its body returns")
    func result() throws { #expect(try graph.batch { 7 } == 7) }
}

@Suite struct UntrackedTests {
    let graph = Graph<Int>()
    let probe = Probe()

    @Test("untracked reads are no dependencies, of observers and of rules, one or many")
    func noDependency() throws {
        let a = graph.input(1)
        let b = graph.input(1)
        let c = graph.rule { context in try context[a] + context.untracked { try context[b] + context[b] } }
        try graph.observe { [probe] context in probe.saw(try context[c] + context.untracked { try context[b] }) }
        try graph.set(b, 10)
        #expect(probe.seen == [4])
        #expect(try graph.read(c) == 3)
        try graph.set(a, 2)
        #expect(probe.seen == [4, 32])
    }

    @Test("an untracked read of an outdated rule is fresh, and peek is the same in one word")
    func fresh() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] }
        let trigger = graph.input(0)
        _ = try graph.read(b)
        try graph.observe { [probe] context in
            _ = try context[trigger]
            probe.saw(try context.untracked { try context[b] } * 100 + context.peek(b))
        }
        try graph.set(a, 2)
        try graph.set(trigger, 1)
        #expect(probe.seen == [101, 202])
    }

    @Test("untracked does not reach into the rules that are read under it")
    func notTransitive() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] }
        try graph.observe { context in _ = try context.untracked { try context[b] } }
        try graph.set(a, 2)
        #expect(try graph.read(b) == 2)
        #expect(graph.context.core.inputs(of: b) == [a])
    }

    @Test("untracked holds under batched writes, and a batch inside it is one change")
    func batched() throws {
        let a = graph.input(1)
        let b = graph.input(1)
        try graph.observe { [probe] context in
            probe.runs += 1
            _ = try context.untracked { try context[a] + context[b] }
        }
        try graph.batch {
            try graph.set(a, 2)
            try graph.set(b, 2)
        }
        #expect(probe.runs == 1)
        let watcher = Probe()
        try graph.watch(a, watcher)
        try graph.untracked {
            try graph.batch {
                try graph.set(a, 3); try graph.set(a, 4)
            }
        }
        #expect(watcher.seen == [2, 4])
    }
}
