@testable import AttributeGraph
@testable import ReactiveGraph
import TestSupport
import Testing

/// Orders all of whose steps are observers of the written input itself: none of them is asked whether it has to run.
@Suite("Orders of an input's own observers") struct DirectOrderTests {
    let graph = Graph<Int>()
    let probe = Probe()
    let head: AttributeID
    let beside: AttributeID

    init() {
        head = graph.input(0)
        beside = graph.input(10)
    }

    var core: GraphCore<ClosureHost<Int>> { graph.context.core }
    var followed: UInt64 { graph.context.table.pointee.followed }

    func note(_ event: String) { probe.events.append(event) }

    /// Writes the head, and returns what ran.
    func write(_ value: Int, inBatch: Bool = true) throws -> [String] {
        probe.reset()
        defer { #expect(core.checkInvariants().isEmpty) }
        if inBatch { try graph.batch { try graph.set(head, value) } } else { try graph.set(head, value) }
        return probe.events
    }

    @Test("observers of every kind run along it, once each and in their order", arguments: [false, true])
    func kinds(inBatch: Bool) throws {
        try graph.observe(head) { note("one \($0)") }
        try graph.observe(beside, head) { note("two \($0 + $1)") }
        try graph.observe(over: [beside, head, head]) { note("list \(try $0[0] + $0[1] + $0[2])") }
        try graph.observe { note("tracked \(try $0[beside] + $0[head])") }
        for value in 1...5 {
            #expect(
                try write(value, inBatch: inBatch) == [
                    "one \(value)", "two \(value + 10)", "list \(2 * value + 10)", "tracked \(value + 10)",
                ])
        }
        #expect(followed == 3)
        let before = core.counters
        #expect(try write(5, inBatch: inBatch) == [], "an equal value wakes nobody")
        #expect(core.counters.evaluations == before.evaluations && core.counters.writes == before.writes)
        #expect(try write(6, inBatch: inBatch).count == 4)
        #expect(core.counters.evaluations == before.evaluations + 4)
        #expect(core.counters.invalidations == before.invalidations + 4)
    }

    @Test("an input taken back in its batch wakes nobody")
    func takenBack() throws {
        try graph.observe(head) { note("\($0)") }
        for value in 1...3 { _ = try write(value) }
        probe.reset()
        try graph.batch {
            try graph.set(head, 9)
            try graph.set(head, 3)
        }
        #expect(probe.events == [])
        #expect(try write(4) == ["4"])
    }

    @Test("an observer that nobody watches is beside it: marked, and current when it is asked for")
    func unwatched() throws {
        try graph.observe(head) { note("watched \($0)") }
        let other = try graph.observe(head) { note("unwatched \($0)") }
        core.unwatch(other)
        for value in 1...4 { #expect(try write(value) == ["watched \(value)"]) }
        probe.reset()
        core.update(other)
        #expect(probe.events == ["unwatched 4"])
    }

    @Test("later observers see the writes of earlier ones, which wake them again", arguments: [false, true])
    func writing(inBatch: Bool) throws {
        try graph.observe(head) { [graph, beside] in
            note("writes")
            try graph.set(beside, $0 * 10)
        }
        try graph.observe(head) { [graph, beside] in note("\($0) beside \(try graph.peek(beside))") }
        try graph.observe(beside) { note("beside is \($0)") }
        for value in 2...6 {
            #expect(
                try write(value, inBatch: inBatch) == [
                    "writes", "\(value) beside \(value * 10)", "beside is \(value * 10)",
                ])
        }
    }

    @Test("an observer that writes the head again makes all run anew")
    func feedback() throws {
        try graph.observe(head) { [graph, head] in
            note("limits \($0)")
            if $0 > 100 { try graph.set(head, 100) }
        }
        try graph.observe(head) { note("shows \($0)") }
        for value in 1...3 { _ = try write(value) }
        #expect(try write(200) == ["limits 200", "shows 100", "limits 100"])
        #expect(try write(5) == ["limits 5", "shows 5"])
    }

    @Test("an observer that disposes of a later one keeps it from running")
    func disposing() throws {
        var victim: AttributeID?
        try graph.observe(head) { [graph] in
            note("first \($0)")
            if $0 == 4, let victim { try graph.dispose(victim) }
        }
        victim = try graph.observe(head) { note("victim \($0)") }
        try graph.observe(head) { note("last \($0)") }
        for value in 1...3 { #expect(try write(value) == ["first \(value)", "victim \(value)", "last \(value)"]) }
        #expect(followed > 0)
        for value in 4...8 { #expect(try write(value) == ["first \(value)", "last \(value)"]) }
    }

    @Test("an observer that stops reading the head or reads something else changes the order")
    func dynamic() throws {
        let choice = graph.input(0)
        try graph.observe { note("chooses \(try $0[choice] == 0 ? $0[head] : $0[beside])") }
        try graph.observe(head) { note("shows \($0)") }
        for value in 1...4 { #expect(try write(value) == ["chooses \(value)", "shows \(value)"]) }
        try graph.set(choice, 1)
        for value in 5...8 { #expect(try write(value) == ["shows \(value)"]) }
        try graph.set(choice, 0)
        for value in 9...12 { #expect(Set(try write(value)) == ["chooses \(value)", "shows \(value)"]) }
    }

    @Test("the error of one is thrown when all have run")
    func errors() throws {
        try graph.observe(head) { if $0 == 5 { throw Boom(number: $0) } }
        try graph.observe(head) { note("\($0)") }
        for value in 1...4 { #expect(try write(value) == ["\(value)"]) }
        #expect(throws: Boom(number: 5)) { try write(5) }
        #expect(probe.events == ["5"])
        #expect(try write(6) == ["6"])
    }
}
