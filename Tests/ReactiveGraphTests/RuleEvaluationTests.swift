import AttributeGraph
import ReactiveGraph
import TestSupport
import Testing

@Suite struct RuleEvaluationTests {
    let graph = Graph<Int>()
    let probe = Probe()

    @Test("a second read is answered from the first run")
    func cached() throws {
        let a = graph.input(1)
        let b = graph.rule(probe) { try $0[a] }
        #expect(try graph.read(b) == 1 && graph.read(b) == 1)
        #expect(probe.runs == 1)
    }

    @Test("a read after a write returns the new value")
    func afterWrite() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] * 2 }
        #expect(try graph.read(b) == 2)
        try graph.set(a, 4)
        #expect(try graph.read(b) == 8)
    }

    @Test("a chain returns right sums and runs each rule once per change")
    func chain() throws {
        let a = graph.input(1)
        let b = graph.rule(probe) { try $0[a] + 1 }
        let c = graph.rule(probe) { try $0[b] + 1 }
        let d = graph.rule(probe) { try $0[c] + 1 }
        #expect(try graph.read(d) == 4 && probe.runs == 3)
        try graph.set(a, 2)
        #expect(try graph.read(d) == 5 && probe.runs == 6)
    }

    @Test("a rule that nobody reads never runs")
    func lazy() throws {
        let a = graph.input(1)
        let b = graph.rule(probe) { try $0[a] }
        try graph.set(a, 2)
        #expect(probe.runs == 0)
        #expect(graph.context.core.evaluatedAt(b) == 0)
    }

    @Test("two writes before a read cost one run")
    func twoWrites() throws {
        let a = graph.input(1)
        let b = graph.rule(probe) { try $0[a] }
        _ = try graph.read(b)
        try graph.set(a, 2)
        try graph.set(a, 3)
        #expect(try graph.read(b) == 3 && probe.runs == 2)
    }

    @Test("a rule dropped in the middle of a chain no longer matters")
    func droppedInChain() throws {
        let useB = graph.input(1)
        let a = graph.input(1)
        let b = graph.rule(probe) { try $0[a] }
        let c = graph.rule { try $0[useB] == 1 ? $0[b] : 0 }
        let d = graph.rule { try $0[c] }
        _ = try graph.read(d)
        try graph.set(useB, 0)
        _ = try graph.read(d)
        probe.reset()
        try graph.set(a, 9)
        #expect(try graph.read(d) == 0 && probe.runs == 0)
    }

    @Test("reading an observed rule right after a write gives the right value, and the observer has run")
    func syncRead() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] }
        try graph.watch(b, probe)
        try graph.set(a, 2)
        #expect(try graph.read(b) == 2)
        #expect(probe.seen == [1, 2])
    }

    @Test("two rules on one input both follow it")
    func twoRules() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] + 1 }
        let c = graph.rule { try $0[a] + 2 }
        _ = try graph.read(b) + graph.read(c)
        try graph.set(a, 10)
        #expect(try graph.read(b) == 11 && graph.read(c) == 12)
    }

    @Test("a rule without inputs runs once ever")
    func constant() throws {
        let b = graph.rule(probe) { _ in 7 }
        let a = graph.input(0)
        _ = try graph.read(b)
        try graph.set(a, 1)
        #expect(try graph.read(b) == 7 && probe.runs == 1)
    }

    @Test("a rule keeps working by direct reads after its last observer left")
    func afterLastObserver() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] }
        try graph.dispose(try graph.watch(b, Probe()))
        try graph.set(a, 3)
        #expect(try graph.read(b) == 3)
    }

    @Test("nil is a value like any other, and distinct from not yet evaluated")
    func nilValue() throws {
        let graph = Graph<Int?>()
        let a = graph.input(1)
        let probe = probe
        let b = graph.rule { context -> Int? in
            probe.runs += 1
            _ = try context[a]
            return nil
        }
        let c = graph.rule {
            probe.events.append("c"); return try $0[b]
        }
        #expect(try graph.read(c) == nil && graph.read(c) == nil)
        try graph.set(a, nil)
        #expect(try graph.read(c) == nil)
        #expect(probe.runs == 2 && probe.events == ["c"])
    }

    @Test("a batch that returns an input to its old value runs no rule, observed or not")
    func reverted() throws {
        let a = graph.input(0)
        let b = graph.rule(probe) { try $0[a] }
        _ = try graph.read(b)
        try graph.batch {
            try graph.set(a, 5)
            try graph.set(a, 0)
        }
        #expect(!graph.context.core.isInvalidated(b))
        #expect(try graph.read(b) == 0 && probe.runs == 1)
    }

    @Test("an outer rule does not run when the inner one returns the same")
    func innerSame() throws {
        let a = graph.input(3)
        let inner = graph.rule { try min($0[a], 5) }
        let outer = graph.rule(probe) { try $0[inner] }
        _ = try graph.read(outer)
        try graph.set(a, 7)
        #expect(try graph.read(outer) == 5 && probe.runs == 2)
        try graph.set(a, 9)
        #expect(try graph.read(outer) == 5 && probe.runs == 2)
        try graph.set(a, 2)
        #expect(try graph.read(outer) == 2 && probe.runs == 3)
    }

    @Test("a rule may create inputs and rules; they go with the run that made them")
    func creation() throws {
        let a = graph.input(1)
        let made = Probe()
        var inner: [AttributeID] = []
        let b = graph.rule { context in
            let own = context.input(try context[a] * 10)
            let rule = context.rule(made) { try $0[own] + 1 }
            inner.append(rule)
            return try context[rule]
        }
        #expect(try graph.read(b) == 11)
        try graph.set(a, 2)
        #expect(try graph.read(b) == 21 && made.runs == 2)
        #expect(!graph.context.core.isAlive(inner[0]) && graph.context.core.isAlive(inner[1]))
        #expect(graph.context.core.counters.liveAttributes == 4)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test("pruning stops at the first rule of a chain that did not change")
    func pruning() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] > 0 ? 1 : 0 }
        let c = graph.rule(probe) { try $0[b] }
        let d = graph.rule(probe) { try $0[c] }
        try graph.watch(d, Probe())
        probe.reset()
        try graph.set(a, 2)
        #expect(probe.runs == 0)
    }

    @Test("writing an equal value runs nothing")
    func equalWrite() throws {
        let a = graph.input(1)
        let b = graph.rule(probe) { try $0[a] }
        try graph.watch(b, Probe())
        let before = graph.context.core.counters
        try graph.set(a, 1)
        #expect(probe.runs == 1 && graph.context.core.counters == before)
    }

    @Test("NaN differs from itself, so writing it again is a change")
    func notANumber() throws {
        let graph = Graph<Double>()
        let a = graph.input(.nan)
        let probe = probe
        try graph.observe {
            _ = try $0[a]; probe.runs += 1
        }
        try graph.set(a, .nan)
        #expect(probe.runs == 2)
    }

    @Test("an equality of the value's own decides what a change is")
    func ownEquality() throws {
        struct Rounded: Equatable {
            var value: Double
            static func == (a: Rounded, b: Rounded) -> Bool { a.value.rounded() == b.value.rounded() }
        }
        let graph = Graph<Rounded>()
        let a = graph.input(Rounded(value: 1))
        let probe = probe
        let b = graph.rule { Rounded(value: try $0[a].value * 2) }
        try graph.observe {
            _ = try $0[b]; probe.runs += 1
        }
        try graph.set(a, Rounded(value: 1.2))
        #expect(probe.runs == 1)
        try graph.set(a, Rounded(value: 1.6))
        #expect(probe.runs == 2)
    }

    @Test("the same reference from a rule is no change")
    func sameReference() throws {
        final class Box: Equatable {
            static func == (a: Box, b: Box) -> Bool { a === b }
        }
        let graph = Graph<Box>()
        let box = Box()
        let a = graph.input(Box())
        let b = graph.rule {
            _ = try $0[a]; return box
        }
        let probe = probe
        try graph.observe {
            _ = try $0[b]; probe.runs += 1
        }
        try graph.set(a, Box())
        #expect(probe.runs == 1)
    }

    @Test("a rule created after a write starts with the new value and stays live")
    func createdAfterWrite() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] }
        _ = try graph.read(b)
        try graph.set(a, 2)
        let c = graph.rule { try $0[b] * 10 }
        try graph.watch(c, probe)
        try graph.set(a, 3)
        #expect(probe.seen == [20, 30])
    }

    @Test("every rule of a chain is fresh when read by itself")
    func everyLevelFresh() throws {
        let a = graph.input(0)
        var rules: [AttributeID] = []
        for level in 0..<5 {
            let previous = rules.last ?? a
            rules.append(graph.rule { try $0[previous] + level })
        }
        _ = try graph.read(rules[4])
        try graph.set(a, 100)
        for (level, rule) in rules.enumerated() { #expect(try graph.read(rule) == 100 + level * (level + 1) / 2) }
    }

    @Test("an indirect input is refreshed while a rule that also reads the source directly is checked")
    func indirectPath() throws {
        let a = graph.input(1)
        let b = graph.rule { try $0[a] * 2 }
        let c = graph.rule { try $0[b] + $0[a] }
        try graph.watch(c, probe)
        try graph.set(a, 5)
        #expect(probe.seen == [3, 15])
    }
}
