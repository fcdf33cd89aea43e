import TestSupport
import Testing

@testable import AttributeGraph

/// A host whose rules are data: each adds up its inputs and a constant. Errors are -1.
struct SumHost: GraphHost {
    final class Rules {
        var inputs: [UInt32: [AttributeID]] = [:]
        var constants: [UInt32: Int] = [:]
    }

    let rules = Rules()

    func rule(_ inputs: [AttributeID], plus constant: Int, in core: GraphCore<SumHost>) -> AttributeID {
        let attribute = core.createRule()
        rules.inputs[attribute.index] = inputs
        rules.constants[attribute.index] = constant
        return attribute
    }

    func evaluate(_ attribute: AttributeID, in graph: GraphCore<SumHost>) throws -> Int {
        var sum = rules.constants[attribute.index] ?? 0
        for input in rules.inputs[attribute.index] ?? [] { sum += try graph.read(input) }
        return sum
    }

    func areEqual(_ old: borrowing Int, _ new: borrowing Int) -> Bool { copy old == copy new }
    func value(ofCycle path: [AttributeID]) -> Int? { -path.count }
    func value(ofRemoved attribute: AttributeID) -> Int { -1000 }
    func value(ofFailed attribute: AttributeID) -> Int { -2000 }
}

@Suite struct CoreTests {
    let core = GraphCore(host: SumHost())

    @Test("an input that was another one for a while and is dated back wakes nobody who has not seen it")
    func redated() throws {
        defer { core.deallocate() }
        let a = core.createInput(1)
        let seen = core.host.pointee.rule([a], plus: 0, in: core)
        let unseen = core.host.pointee.rule([a], plus: 10, in: core)
        let behind = core.host.pointee.rule([unseen], plus: 0, in: core)
        let unread = core.host.pointee.rule([a], plus: 20, in: core)
        for rule in [seen, behind] { _ = try core.read(rule) }
        core.watch(behind)
        let before = [a, seen].map { ($0, core.changedAt($0)) }
        try core.set(a, 5)
        #expect(core.lastValue(of: a) == 5 && core.lastValue(of: seen) == 1 && core.lastValue(of: unread) == nil)
        #expect(try core.read(seen) == 5)
        try core.set(a, 1)
        #expect(try core.read(seen) == 1)
        for (attribute, revision) in before { core.redate(attribute, to: revision) }
        #expect(before.allSatisfy { core.changedAt($0) == $1 })
        let evaluations = core.counters.evaluations
        #expect(try core.read(behind) == 11 && core.read(seen) == 1 && core.counters.evaluations == evaluations)
        var reports: [AttributeID] = []
        core.drainInvalidated(into: &reports)
        try core.set(a, 2)
        #expect(try core.read(behind) == 12 && core.read(seen) == 2)
        reports = []
        core.drainInvalidated(into: &reports)
        #expect(reports == [behind])
        core.destroy(unread)
        core.redate(unread, to: 0)
        #expect(core.lastValue(of: unread) == nil)
    }

    @Test("a watched attribute is reported once until it is read, and watching evaluates nothing")
    func watching() throws {
        defer { core.deallocate() }
        let a = core.createInput(1)
        let b = core.host.pointee.rule([a], plus: 0, in: core)
        core.watch(b)
        var reports: [AttributeID] = []
        try core.set(a, 2)
        core.drainInvalidated(into: &reports)
        #expect(reports.isEmpty && core.counters.evaluations == 0)
        #expect(try core.read(b) == 2)
        try core.set(a, 3)
        try core.set(a, 4)
        core.drainInvalidated(into: &reports)
        #expect(reports == [b])
        try core.set(a, 5)
        core.drainInvalidated(into: &reports)
        #expect(reports == [b] && core.counters.evaluations == 1)
        #expect(try core.read(b) == 5)
        try core.set(a, 6)
        core.unwatch(b)
        _ = try core.read(b)
        try core.set(a, 7)
        reports.removeAll()
        core.drainInvalidated(into: &reports)
        #expect(reports == [b], "the report made before the watch ended")
    }

    @Test("a watched input is reported when its value changes, and again only after it was read")
    func watchedInput() throws {
        defer { core.deallocate() }
        let a = core.createInput(1)
        core.watch(a)
        var reports: [AttributeID] = []
        try core.set(a, 1)
        core.drainInvalidated(into: &reports)
        #expect(reports.isEmpty)
        try core.set(a, 2)
        try core.set(a, 3)
        core.drainInvalidated(into: &reports)
        #expect(reports == [a])
        try core.set(a, 4)
        core.drainInvalidated(into: &reports)
        #expect(reports == [a])
        #expect(try core.read(a) == 4)
        try core.set(a, 5)
        core.drainInvalidated(into: &reports)
        #expect(reports == [a, a])
    }

    @Test("a batch that ends where it began reports nothing and leaves everything valid")
    func batchReport() throws {
        defer { core.deallocate() }
        let a = core.createInput(1)
        let b = core.host.pointee.rule([a], plus: 0, in: core)
        core.watch(b)
        core.watch(a)
        _ = try core.read(b)
        let revision = core.changedAt(b)
        core.beginBatch()
        #expect(try core.set(a, 2))
        #expect(try !core.set(a, 2))
        try core.set(a, 1)
        core.endBatch()
        var reports: [AttributeID] = []
        core.drainInvalidated(into: &reports)
        #expect(
            reports.isEmpty && !core.isInvalidated(b) && core.changedAt(b) == revision && core.changedAt(a) <= revision)
    }

    @Test("changedAt moves only when the value became another one; the cause is the input that changed")
    func changedAt() throws {
        defer { core.deallocate() }
        let a = core.createInput(1)
        let b = core.createInput(10)
        let sum = core.host.pointee.rule([a, b], plus: 0, in: core)
        let end = core.host.pointee.rule([sum], plus: 0, in: core)
        _ = try core.read(end)
        #expect(core.cause(of: end) == nil)
        let changed = core.changedAt(end)
        core.beginBatch()
        try core.set(a, 2)
        try core.set(b, 9)
        core.endBatch()
        _ = try core.read(end)
        #expect(core.changedAt(end) == changed && core.evaluations(of: end) == 1 && core.evaluations(of: sum) == 2)
        try core.set(b, 5)
        _ = try core.read(end)
        #expect(core.changedAt(end) > changed && core.cause(of: end) == sum && core.cause(of: sum) == b)
        #expect(core.evaluatedAt(end) == core.revision)
    }

    @Test("an invalidated rule runs again although its inputs are the same")
    func redefined() throws {
        defer { core.deallocate() }
        let a = core.createInput(1)
        let b = core.createInput(2)
        let c = core.host.pointee.rule([a], plus: 0, in: core)
        let d = core.host.pointee.rule([c], plus: 0, in: core)
        #expect(try core.read(d) == 1)
        core.host.pointee.rules.inputs[c.index] = [b]
        try core.invalidate(c)
        #expect(core.isInvalidated(d))
        #expect(try core.read(d) == 2)
        #expect(core.inputs(of: c) == [b] && core.readers(of: a).isEmpty)
        try core.invalidate(c)
        #expect(try core.read(d) == 2)
        #expect(core.evaluations(of: d) == 2, "the value was equal")
    }

    @Test("a removed input is read as the host says")
    func removed() throws {
        defer { core.deallocate() }
        let a = core.createInput(1)
        let b = core.createInput(2)
        let sum = core.host.pointee.rule([a, b], plus: 0, in: core)
        #expect(try core.read(sum) == 3)
        core.destroy(a)
        core.destroy(b)
        #expect(!core.isAlive(a))
        #expect(try core.read(sum) == -2000)
        core.destroy(a)
        #expect(core.checkInvariants() == [])
    }

    @Test("declared inputs that form a cycle are one")
    func declaredCycle() throws {
        defer { core.deallocate() }
        let a = core.createInput(1)
        let b = core.host.pointee.rule([a], plus: 0, in: core)
        let c = core.host.pointee.rule([b], plus: 0, in: core)
        core.host.pointee.rules.inputs[b.index] = [a, c]
        #expect(try core.read(c) == -2)
        #expect(try core.read(b) == -2)
        core.host.pointee.rules.inputs[b.index] = [a]
        try core.invalidate(b)
        #expect(try core.read(c) == 1)
        #expect(core.checkInvariants() == [])
    }

    @Test("counters count")
    func counters() throws {
        defer { core.deallocate() }
        let a = core.createInput(1)
        let b = core.host.pointee.rule([a], plus: 0, in: core)
        let c = core.host.pointee.rule([b], plus: 0, in: core)
        _ = try core.read(c)
        try core.set(a, 2)
        _ = try core.read(c)
        core.destroy(a)
        let counters = core.counters
        #expect(counters.attributesCreated == 3 && counters.liveAttributes == 2)
        #expect(counters.edgesAdded == 2 && counters.liveEdges == 1)
        #expect(counters.writes == 1 && counters.evaluations == 4 && counters.invalidations == 4)
    }

    @Test("cut-offs are rules spared and rules run with an equal result; a cycle counts once")
    func cutOffsAndCycles() throws {
        defer { core.deallocate() }
        let a = core.createInput(1)
        let b = core.createInput(2)
        let sum = core.host.pointee.rule([a, b], plus: 0, in: core)
        let next = core.host.pointee.rule([sum], plus: 0, in: core)
        _ = try core.read(next)
        #expect(core.counters.cutOffs == 0)
        core.beginBatch()
        try core.set(a, 2)
        try core.set(b, 1)
        core.endBatch()
        _ = try core.read(next)
        #expect(core.counters.cutOffs == 2 && core.counters.evaluations == 3 && core.counters.writes == 2)
        core.host.pointee.rules.inputs[sum.index] = [next]
        try core.invalidate(sum)
        _ = try core.read(next)
        #expect(core.counters.cycles == 1 && core.counters.edgesRemoved == 2)
        core.destroy(next)
        #expect(core.counters.attributesDestroyed == 1 && core.counters.edgesRemoved == 4)
    }

    @Test("a row whose generations are used up has no more tenants")
    func lastGeneration() throws {
        defer { core.deallocate() }
        let first = core.createInput(1)
        core.s.pointee.vertex(first.index).pointee.generation = .max - 1
        core.destroy(AttributeID(index: first.index, generation: .max - 1))
        #expect(core.createInput(2).index != first.index)
        #expect(core.checkInvariants() == [])
    }

    @Test("the invariant check sees a broken table")
    func invariantsCanFail() throws {
        defer { core.deallocate() }
        let a = core.createInput(1)
        let b = core.host.pointee.rule([a], plus: 0, in: core)
        _ = try core.read(b)
        #expect(core.checkInvariants() == [])
        core.s.pointee.vertex(a.index).pointee.readerClass = 0
        #expect(!core.checkInvariants().isEmpty)
        core.s.pointee.vertex(a.index).pointee.readerClass = EdgePool.single
        core.s.pointee.vertex(a.index).pointee.flags.insert(.maybe)
        #expect(!core.checkInvariants().isEmpty)
    }

    @Test("a vertex takes 56 bytes beside its value, or 55 with a value of 17 bytes, an edge at most 24")
    func sizes() throws {
        defer { core.deallocate() }
        #expect(VertexTable<Int>.valueOffset == 48 && VertexTable<Int>.stride == 64)
        #expect(VertexTable<Int?>.stride == 64 && VertexTable<(Int, Int, Bool)>.stride == 72)
        for sizeClass in UInt8(1)..<59 {
            let (size, next) = (EdgePool.size(of: sizeClass), EdgePool.size(of: sizeClass + 1))
            #expect(next > size && (size < 4 || next * 2 <= size * 3))
        }
        for count in 2..<5000 {
            let sizeClass = EdgePool.sizeClass(of: count)
            #expect(EdgePool.size(of: sizeClass) >= count && EdgePool.size(of: sizeClass - 1) < count)
        }
    }
}
