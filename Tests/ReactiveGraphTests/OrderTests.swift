@testable import AttributeGraph
@testable import ReactiveGraph
import TestSupport
import Testing

/// Writes that concern the same vertices as the write before, and so go along an order (`Orders.swift`).
@Suite("Kept orders") struct OrderTests {
    let graph = Graph<Int>()
    let probe = Probe()

    var core: GraphCore<ClosureHost<Int>> { graph.context.core }
    var followed: UInt64 { graph.context.table.pointee.followed }

    /// A rule that notes its name when it runs.
    func rule(_ name: String, _ input: AttributeID, _ body: @escaping (Int) -> Int = { $0 + 1 }) -> AttributeID {
        graph.rule(input) { [probe] in
            probe.events.append(name)
            return body($0)
        }
    }

    func join(_ name: String, _ one: AttributeID, _ two: AttributeID) -> AttributeID {
        graph.rule(one, two) { [probe] in
            probe.events.append(name)
            return $0 + $1
        }
    }

    /// Writes values one after the other, in batches or not, and returns what ran for the last one.
    func write(
        _ values: ClosedRange<Int>, to input: AttributeID, inBatches: Bool = true, reading target: AttributeID? = nil
    ) throws -> [String] {
        for value in values {
            probe.reset()
            if inBatches { try graph.batch { try graph.set(input, value) } } else { try graph.set(input, value) }
            if let target { _ = try graph.peek(target) }
            #expect(core.checkInvariants().isEmpty)
        }
        return probe.events
    }

    @Test(
        "the third write to an input goes along an order to its observers, in batches and outside",
        arguments: [false, true])
    func observers(inBatches: Bool) throws {
        let head = graph.input(0)
        let left = rule("left", head)
        let right = rule("right", head)
        let sum = join("sum", left, right)
        try graph.observe(sum) { [probe] in probe.events.append("\($0)") }
        try graph.observe(right) { [probe] in probe.events.append("right is \($0)") }
        #expect(try write(1...2, to: head, inBatches: inBatches) == ["left", "right", "sum", "6", "right is 3"])
        #expect(followed == 0)
        #expect(try write(3...5, to: head, inBatches: inBatches) == ["left", "right", "sum", "12", "right is 6"])
        #expect(followed == 3)
    }

    @Test("writes that are read from outside run each rule once")
    func target() throws {
        let head = graph.input(0)
        var row = Array(repeating: head, count: 4)
        for _ in 0..<4 {
            var left = head
            row = row.map { up in
                left = join("cell", up, left)
                return left
            }
        }
        #expect(try write(1...4, to: head, inBatches: false, reading: row[3]).count == 16)
        #expect(try graph.peek(row[3]) == 4 * 70)
    }

    @Test("values that are lent are read along an order like those that are copied, also when read twice")
    func lent() throws {
        let head = graph.input(0)
        let sum = graph.rule { [probe] context in
            probe.events.append("sum")
            return try context.withRead(head) { $0 } + context.withRead(head) { $0 }
        }
        try graph.observe { [probe] context in try context.withRead(sum) { probe.events.append("\($0)") } }
        #expect(try write(1...5, to: head) == ["sum", "10"])
        #expect(followed == 3)
    }

    @Test("rules that read through a context are in an order if the write concerns one thing they read")
    func tracked() throws {
        let head = graph.input(0)
        let other = graph.input(5)
        let rule = graph.rule { try $0[head] + $0[other] }
        let next = graph.rule { try $0[other] * $0[rule] }
        try graph.watch(next, probe)
        for value in 1...5 { try graph.set(head, value) }
        #expect(probe.seen == [25, 30, 35, 40, 45, 50])
        #expect(followed == 3)
    }

    @Test("followers of equal values in an order are not run")
    func cutOff() throws {
        let head = graph.input(0)
        let same = rule("same", rule("first", head)) { _ in 7 }
        try graph.observe(rule("last", same)) { [probe] in probe.saw($0) }
        let before = core.counters.cutOffs
        #expect(try write(1...4, to: head) == ["first", "same"])
        #expect(followed == 2)
        // Each time `same` itself, `last` and the observer.
        #expect(core.counters.cutOffs - before == 12)
        #expect(probe.runs == 0)
    }

    @Test("a vertex without readers is only marked, and right when it is read")
    func side() throws {
        let head = graph.input(0)
        let first = rule("first", head)
        let second = rule("second", first)
        let unread = rule("unread", first)
        try graph.observe(second) { _ in }
        #expect(try write(1...5, to: head) == ["first", "second"])
        #expect(followed == 3)
        #expect(try graph.peek(unread) == 7)
        #expect(try write(6...6, to: head) == ["first", "second"])
        #expect(followed == 4)
        #expect(core.isInvalidated(unread))
        #expect(try graph.peek(unread) == 8)
    }

    @Test("a watched attribute beside an order is reported")
    func watched() throws {
        let head = graph.input(0)
        let first = rule("first", head)
        let unread = rule("unread", first)
        try graph.observe(rule("second", first)) { _ in }
        _ = try write(1...3, to: head)
        _ = try graph.peek(unread)
        core.watch(unread)
        _ = try write(4...4, to: head)
        #expect(probe.events == ["first", "second", "unread"], "the flush reads what was reported")
    }

    @Test("a rule is not run for a reader that reads it only after something that has changed")
    func sourceCounts() throws {
        let head = graph.input(1)
        let half = rule("half", head) { $0 / 2 }
        let other = graph.input(50)
        let choice = graph.rule { try $0[head] < 10 ? $0[half] : $0[other] }
        try graph.watch(choice, Probe())
        _ = try write(2...6, to: head)
        #expect(try write(20...20, to: head).isEmpty)
        #expect(try graph.read(choice) == 50)
    }

    /// What is read of two branches is a matter of the first: `half` is in the order, and need not be read for long.
    func branching() throws -> (head: AttributeID, other: AttributeID, switching: AttributeID, end: AttributeID) {
        let head = graph.input(1)
        let other = graph.input(1)
        let switching = rule("switching", other)
        let half = rule("half", head) { $0 / 2 }
        let choice = graph.rule { [probe] in
            probe.events.append("choice")
            return try $0[switching] < 10 ? $0[half] : -1
        }
        let end = rule("end", choice)
        _ = try write(2...5, to: head, inBatches: false, reading: end)
        probe.reset()
        return (head, other, switching, end)
    }

    @Test("a vertex that was due before a write is reached, whatever it reads then")
    func due() throws {
        let (head, other, switching, end) = try branching()
        try graph.set(other, 20)
        #expect(try graph.peek(switching) == 21)
        try graph.set(head, 8)
        #expect(try graph.peek(end) == 0)
        #expect(probe.events == ["switching", "choice", "end"])
    }

    @Test("a vertex that becomes due after a write is reached, whatever it reads then")
    func dueLater() throws {
        let (head, other, switching, end) = try branching()
        let third = graph.input(0)
        try graph.set(head, 8)
        try graph.batch {
            try graph.set(other, 20)
            try graph.set(third, 1)
        }
        #expect(try graph.peek(switching) == 21)
        #expect(try graph.peek(end) == 0)
        #expect(probe.events == ["switching", "choice", "end"])
    }

    @Test("a rule that has become another one is walked to")
    func redefined() throws {
        let head = graph.input(1)
        let half = rule("half", head) { $0 / 2 }
        var readsHalf = true
        let choice = graph.rule { try readsHalf ? $0[half] : -1 }
        let end = rule("end", choice)
        _ = try write(2...5, to: head, inBatches: false, reading: end)
        probe.reset()
        try graph.set(head, 8)
        readsHalf = false
        try core.invalidate(choice)
        #expect(try graph.peek(end) == 0)
        #expect(probe.events == ["end"])
    }

    @Test("an input that an observer starts to watch while the observer is due is not reported before it is read")
    func watchedWhileDue() throws {
        let head = graph.input(0)
        var reported: [AttributeID] = []
        var later = head
        try graph.observe(rule("first", head)) { [core] value in
            if value < 5 { return }
            core.watch(later)
            core.drainInvalidated(into: &reported)
        }
        later = rule("later", head)
        let last = try graph.observe(later) { _ in }
        _ = try write(1...4, to: head)
        #expect(reported == [last])
    }

    @Test("an edge that comes or goes ends an order")
    func edges() throws {
        let head = graph.input(0)
        let first = rule("first", head)
        let second = rule("second", first)
        try graph.observe(second) { _ in }
        _ = try write(1...4, to: head)
        #expect(followed == 2)
        try graph.observe(first) { [probe] in probe.saw($0) }
        _ = try write(5...5, to: head)
        #expect(followed == 2)
        #expect(probe.seen == [6])
        _ = try write(6...8, to: head)
        #expect(followed == 4)
        #expect(probe.seen == [9])
    }

    @Test("an observer sees everything current that comes after it in an order, and may ask what is not")
    func peeking() throws {
        let head = graph.input(0)
        let first = rule("first", head)
        let second = rule("second", head)
        let third = rule("third", head)
        try graph.observe(first) { [probe, core] _ in
            probe.events.append(core.isInvalidated(third) ? "third is due" : "third is current")
        }
        try graph.observe(second) { [probe, graph] in probe.events.append("\($0) before \(try graph.peek(third))") }
        try graph.observe(third) { [probe] in probe.events.append("\($0)") }
        for value in 1...6 {
            let ran = try write(value...value, to: head)
            #expect(
                ran == [
                    "first", "third is due", "second", "third", "\(value + 1) before \(value + 1)", "\(value + 1)",
                ])
        }
    }

    @Test("a rule that looks at what comes after it in an order sees it current")
    func glancing() throws {
        let head = graph.input(0)
        var later = head
        let first = graph.rule(head) { [probe, graph] in
            probe.events.append("first")
            return $0 * 100 + (try graph.peek(later))
        }
        later = rule("later", rule("far", head))
        try graph.observe(first) { [probe] in probe.saw($0) }
        try graph.observe(later) { _ in }
        for value in 1...5 {
            let ran = try write(value...value, to: head)
            #expect(ran == ["first", "far", "later"])
            #expect(probe.seen == [value * 100 + value + 2])
        }
    }

    @Test("observers run in the same order with what one of them writes", arguments: [false, true])
    func writing(inBatches: Bool) throws {
        let head = graph.input(0)
        let echo = graph.input(0)
        let first = rule("first", head)
        try graph.observe(first) { [probe, graph] in
            probe.events.append("writes")
            try graph.set(echo, $0)
        }
        try graph.observe(graph.rule(echo, first) { $0 * 100 + $1 }) { [probe] in probe.events.append("\($0)") }
        try graph.observe(first) { [probe] in probe.events.append("last \($0)") }
        for value in 1...6 {
            let ran = try write(value...value, to: head, inBatches: inBatches)
            #expect(
                ran == [
                    "first", "writes", "\((value + 1) * 101)", "last \(value + 1)",
                ])
        }
    }

    @Test("an observer that writes what it depends on runs again, after the others")
    func feedback() throws {
        let head = graph.input(0)
        let first = rule("first", head)
        try graph.observe(first) { [probe, graph] in
            probe.events.append("limits \($0)")
            if $0 > 100 { try graph.set(head, 7) }
        }
        try graph.observe(first) { [probe] in probe.events.append("shows \($0)") }
        _ = try write(1...4, to: head)
        #expect(followed == 2)
        #expect(try write(200...200, to: head) == ["first", "limits 201", "first", "shows 8", "limits 8"])
        #expect(try graph.peek(head) == 7)
        #expect(try write(9...9, to: head) == ["first", "limits 10", "shows 10"])
    }

    @Test("an observer disposes of others that come after it in an order")
    func disposing() throws {
        let head = graph.input(0)
        let first = rule("first", head)
        var victims: [AttributeID] = []
        try graph.observe(first) { [probe, graph] value in
            probe.events.append("\(value)")
            if value == 5 { for victim in victims { try graph.dispose(victim) } }
        }
        let second = rule("second", first)
        victims.append(try graph.observe(second) { [probe] in probe.events.append("second \($0)") })
        victims.append(second)
        try graph.observe(first) { [probe] in probe.events.append("last \($0)") }
        #expect(try write(1...3, to: head) == ["first", "4", "second", "second 5", "last 4"])
        #expect(try write(4...4, to: head) == ["first", "5", "last 5"])
        // Their rows have new tenants.
        let spare = (0..<3).map { graph.input($0) }
        #expect(try write(5...8, to: head) == ["first", "9", "last 9"])
        #expect(try spare.map { try graph.peek($0) } == [0, 1, 2])
    }

    @Test("a new vertex does not take the row of one that is destroyed in the same run; the row stays empty until rest")
    func reusing() throws {
        let head = graph.input(0)
        var victim: AttributeID?
        var tenant: AttributeID?
        var other = head
        try graph.observe(rule("first", head)) { [graph, core] value in
            guard value == 5, let victim else { return }
            core.destroy(victim)
            tenant = graph.input(9)
            let value = try graph.peek(other)
            #expect(value == 5)
        }
        victim = try graph.observe(rule("second", head)) { [probe] in probe.events.append("\($0)") }
        other = rule("other", head)
        try graph.observe(other) { _ in }
        #expect(try write(1...3, to: head) == ["first", "second", "4", "other"])
        #expect(followed == 1)
        #expect(try write(4...4, to: head) == ["first", "other"])
        #expect(tenant?.index != victim?.index)
        #expect(try tenant.map { try graph.peek($0) } == 9)
        #expect(graph.input(0).index == victim?.index)
    }

    @Test("an observer makes others while an order is followed")
    func making() throws {
        let head = graph.input(0)
        let first = rule("first", head)
        let second = rule("second", head)
        try graph.observe(first) { [probe, graph] value in
            probe.events.append("\(value)")
            if value == 5 { try graph.observe(second) { [probe] in probe.events.append("inner \($0)") } }
        }
        try graph.observe(second) { [probe] in probe.events.append("outer \($0)") }
        _ = try write(1...3, to: head)
        #expect(followed == 1)
        let ran = try write(4...4, to: head)
        #expect(ran == ["first", "5", "second", "inner 5", "outer 5"])
        #expect(try write(5...5, to: head) == ["first", "6", "second", "outer 6"])
        #expect(core.counters.liveAttributes == 5)
    }

    @Test("errors pass through an order, and go when their cause goes")
    func errors() throws {
        let head = graph.input(0)
        let first = graph.rule(head) { if $0 == 5 { throw Boom(number: $0) } else { $0 } }
        let second = graph.rule(first) { $0 + 1 }
        try graph.observe { [probe] in probe.events.append((try? $0[second]).map { "\($0)" } ?? "failed") }
        for (value, event) in [(1, "2"), (2, "3"), (3, "4"), (5, "failed"), (6, "7"), (5, "failed"), (7, "8")] {
            probe.reset()
            try graph.set(head, value)
            #expect(probe.events == [event])
        }
        #expect(followed == 3, "to read what has failed is not to go on as ever")
        try graph.observe(second) { _ in }
        _ = try write(1...4, to: head)
        probe.reset()
        #expect(throws: Boom(number: 5)) { try graph.set(head, 5) }
        #expect(probe.events == ["failed"])
        #expect(try write(6...6, to: head) == ["7"])
    }

    @Test("writes in succession that nobody reads mark once")
    func burst() throws {
        let head = graph.input(0)
        var last = head
        for _ in 0..<10 { last = rule("rule", last) }
        _ = try write(1...3, to: head, inBatches: false, reading: last)
        let before = core.counters.invalidations
        for value in 4...20 { try graph.set(head, value) }
        #expect(core.counters.invalidations - before == 10)
        probe.reset()
        #expect(try graph.peek(last) == 30)
        #expect(probe.events.count == 10)
    }

    @Test("a read after one write does not disturb another write")
    func otherTarget() throws {
        let head = graph.input(0)
        let first = rule("first", head)
        let second = rule("second", first)
        let third = rule("third", second)
        _ = try write(1...4, to: head, inBatches: false, reading: third)
        #expect(try write(5...5, to: head, inBatches: false, reading: second) == ["first", "second"])
        #expect(try write(6...6, to: head, inBatches: false, reading: third) == ["first", "second", "third"])
        #expect(try graph.peek(third) == 9)
        _ = try write(7...8, to: head, inBatches: false, reading: third)
    }

    @Test("two inputs that are written in turn have an order each")
    func twoInputs() throws {
        let (a, b) = (graph.input(0), graph.input(0))
        let sum = join("sum", rule("left", a), rule("right", b))
        try graph.observe(sum) { [probe] in probe.saw($0) }
        for value in 1...6 {
            #expect(try write(value...value, to: a) == ["left", "sum"])
            #expect(try write(value...value, to: b) == ["right", "sum"])
        }
        #expect(followed == 8)
        probe.reset()
        try graph.batch {
            try graph.set(a, 10)
            try graph.set(b, 20)
        }
        #expect(probe.seen == [32])
        #expect(followed == 8, "two writes at once are settled by walking")
    }

    @Test("cycles of fixed inputs have no order")
    func cycles() throws {
        let head = graph.input(0)
        var partner = head
        let first = graph.rule { try $0[head] + $0[partner] }
        partner = graph.rule(first) { $0 + 1 }
        try graph.observe { [probe] in probe.events.append((try? $0[partner]).map { "\($0)" } ?? "cycle") }
        for value in 1...5 {
            try graph.set(head, value)
            #expect(core.checkInvariants().isEmpty)
        }
        #expect(probe.events == ["cycle", "cycle", "cycle", "cycle", "cycle", "cycle"])
    }

    @Test("a new input in the row of an old one does not take over its order")
    func reuse() throws {
        let made = try graph.scope {
            let head = graph.input(0)
            try graph.observe(rule("old", head)) { _ in }
            _ = try write(1...4, to: head)
        }
        try graph.dispose(made.scope)
        #expect(followed == 2)
        let head = graph.input(0)
        try graph.observe(rule("new", head)) { _ in }
        #expect(try write(1...1, to: head) == ["new"])
        #expect(followed == 2)
        #expect(try write(2...4, to: head) == ["new"])
        #expect(followed == 4)
    }

    @Test("orders take little memory: no more steps than edges and a few thousand")
    func memory() throws {
        let heads = (0..<100).map { graph.input($0) }
        let all = graph.rule(over: heads) { [probe] inputs in
            probe.runs += 1
            return try inputs[0]
        }
        for number in 0..<100 { try graph.observe(graph.rule(all) { $0 + number }) { _ in } }
        for value in 1...4 { for head in heads { try graph.set(head, value * 1000) } }
        #expect(probe.runs > 400)
        #expect(
            UInt64(graph.context.table.pointee.steps.count) < core.counters.liveEdges + GraphContext<Int>.leastSteps + 1
                + 10)
        #expect(followed > 0)
        #expect(core.checkInvariants().isEmpty)
    }

    @Test("a long chain is updated without nesting")
    func depth() throws {
        let head = graph.input(0)
        var last = head
        for _ in 0..<100_000 { last = graph.rule(last) { $0 + 1 } }
        for value in 1...4 {
            try graph.set(head, value)
            #expect(try graph.peek(last) == 100_000 + value)
        }
    }
}
