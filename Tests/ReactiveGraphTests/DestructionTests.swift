@testable import AttributeGraph
@testable import ReactiveGraph
import TestSupport
import Testing

/// Destroying things while something runs, waits to run, or has been looked at.
@Suite struct DestructionTests {
    let graph = Graph<Int>()

    private var faults: [String] { graph.context.core.checkInvariants() }

    // MARK: What has been read

    @Test func `a rule that destroys what its inputs depend on runs again`() throws {
        let source = graph.input(7)
        let between = graph.rule { try $0[source] }
        var runs = 0
        let rule = graph.rule { context in
            runs += 1
            let value = try context[between]
            try context.dispose(source)
            return value
        }
        _ = try? graph.read(rule)
        #expect(throws: GraphError.removed(source)) { try graph.read(rule) }
        #expect(runs == 2)
        #expect(faults == [])
    }

    @Test
    func `an evaluation goes on with what it has passed although a later run destroys it, and the next one knows`()
        throws
    {
        let source = graph.input(7)
        let switcher = graph.input(0)
        let first = graph.rule { try $0[source] }
        let second = graph.rule { context in
            if try context[switcher] == 1 { try context.dispose(source) }
            return 0
        }
        let sum = graph.rule { try $0[first] + $0[second] }
        #expect(try graph.read(sum) == 7)
        try graph.set(switcher, 1)
        #expect(try graph.read(sum) == 7)
        #expect(throws: GraphError.removed(source)) { try graph.read(sum) }
        #expect(faults == [])
    }

    @Test func `a rule that makes, reads and destroys something of its own does so once`() throws {
        let source = graph.input(1)
        var runs = 0
        let rule = graph.rule { context in
            runs += 1
            let own = context.input(try context[source])
            let value = try context[own]
            try context.dispose(own)
            return value
        }
        let above = graph.rule(over: [rule, source]) { try $0[0] + $0[1] }
        #expect(try graph.read(above) == 2)
        #expect(runs == 1)
        try graph.set(source, 2)
        #expect(try graph.read(above) == 4)
        #expect(runs == 2)
        #expect(faults == [])
    }

    @Test func `a step of an order that was taken early is not marked again when the order is left`() throws {
        let source = graph.input(0)
        let other = graph.input(100)
        let sum = graph.rule(over: [source, other]) { try $0[0] + ((try? $0[1]) ?? -1000) }
        let beside = graph.rule(sum) { $0 * 2 }
        let disturbing = graph.rule { context in
            let value = try context[source]
            if value == 4 {
                _ = try context.peek(beside)
                try context.dispose(other)
            }
            return value
        }
        let target = graph.rule(disturbing, sum) { $0 + $1 }
        _ = try graph.peek(target)
        _ = try graph.peek(beside)
        for value in 1...4 {
            try graph.set(source, value)
            _ = try graph.peek(target)
        }
        #expect(try graph.peek(sum) == -996)
        #expect(try graph.peek(beside) == -1992)
        #expect(faults == [])
    }

    // MARK: What waits

    struct Wide: Equatable {
        var numbers = [1, 2, 3]
        var text = "longer than fifteen bytes"
    }

    @Test func `a rule that is destroyed while it waits for its input does not run`() throws {
        let graph = Graph<Wide>()
        var waiting = AttributeID(index: 0, generation: 0)
        var hasRun = false
        let input = graph.rule { context in
            try context.dispose(waiting)
            return Wide()
        }
        waiting = graph.rule(input) { value in
            hasRun = true
            return value
        }
        #expect(throws: GraphError.removed(waiting)) { try graph.read(waiting) }
        #expect(!hasRun)
        #expect(graph.context.core.checkInvariants() == [])
    }

    @Test func `a rule that is destroyed while it waits to be run again is gone`() throws {
        graph.context.core.nestingLimit = 1
        let source = graph.input(7)
        var waiting = AttributeID(index: 0, generation: 0)
        let input = graph.rule { context in
            try context.dispose(waiting)
            return try context[source]
        }
        waiting = graph.rule { try $0[source] + $0[input] }
        #expect(throws: GraphError.removed(waiting)) { try graph.read(waiting) }
        try graph.set(source, 8)
        #expect(try graph.read(input) == 8)
        #expect(faults == [])
    }

    @Test func `a row that is freed during an evaluation has no new tenant before its end`() throws {
        let source = graph.input(0)
        var target = AttributeID(index: 0, generation: 0)
        var made = AttributeID(index: 0, generation: 0)
        var hasRun = false
        let rule = graph.rule { context in
            let value = try context[source]
            if value == 1 {
                try context.dispose(target)
                made = context.rule { _ in
                    hasRun = true
                    return 5
                }
            }
            return value
        }
        target = graph.rule { try $0[rule] + 1 }
        _ = try graph.read(target)
        try graph.set(source, 1)
        #expect(throws: GraphError.removed(target)) { try graph.read(target) }
        #expect(made.index != target.index)
        #expect(!hasRun)
        #expect(faults == [])
    }

    // MARK: Cycles

    @Test func `what a member of an open cycle has read may be destroyed`() throws {
        let source = graph.input(1)
        var first = AttributeID(index: 0, generation: 0)
        let second = graph.rule { context in
            _ = try context[source]
            return try context[first]
        }
        first = graph.rule { context in
            _ = try? context[second]
            try context.dispose(source)
            return 1
        }
        #expect(throws: (any Error).self) { try graph.read(first) }
        #expect(faults == [])
    }

    @Test func `a member of a cycle that disposes of itself leaves no other waiting`() throws {
        var first = AttributeID(index: 0, generation: 0)
        let switcher = graph.input(0)
        let second = graph.rule { try $0.peek(first) }
        first = graph.rule { context in
            if try context[switcher] == 0 {
                _ = try? context[second]
                try context.dispose(first)
            }
            return 1
        }
        #expect(throws: (any Error).self) { try graph.read(first) }
        #expect(faults == [])
        let innocent = graph.rule { context in
            _ = try? context[second]
            return 4
        }
        #expect(try graph.read(innocent) == 4)
        #expect(faults == [])
    }

    // MARK: Rows

    @Test func `inputs that lie beyond all closures can be disposed of`() throws {
        let inputs = (0..<100).map { graph.input($0) }
        for input in inputs { try graph.dispose(input) }
        #expect(graph.context.core.counters.liveAttributes == 0)
        let scope = try graph.scope {
            for number in 0..<1000 { _ = graph.input(number) }
            try graph.observe { $0.onCleanup {} }
        }.scope
        try graph.dispose(scope)
        #expect(faults == [])
    }

    @Test func `no attribute is called the one that never was`() throws {
        let none = AttributeID(index: 0, generation: 0)
        #expect(!graph.context.core.isAlive(none))
        #expect(throws: GraphError.removed(none)) { try graph.read(none) }
        try graph.dispose(none)
    }

    @Test func `a rule that disposes of an input it has read in another order leaves the free rows as they are`() throws
    {
        let source = graph.input(0)
        let rules = (0..<14).map { number in graph.rule(source) { $0 + number } }
        let flip = graph.input(0)
        let sum = graph.rule { context in
            let way = try context[flip]
            var sum = 0
            for rule in way == 0 ? rules : rules.reversed() { sum += (try? context[rule]) ?? 0 }
            if way == 2 { try context.dispose(rules[5]) }
            return sum
        }
        _ = try graph.read(sum)
        for value in 1...3 {
            try graph.set(source, value)
            _ = try graph.peek(sum)
        }
        try graph.set(flip, 2)
        _ = try? graph.read(sum)
        let made = (0..<3).map { graph.input($0) }
        let living = rules.filter { graph.context.core.isAlive($0) }
        #expect(Set(made.map(\.index)).isDisjoint(with: living.map(\.index)))
        #expect(Set(made).count == 3)
        #expect(faults == [])
    }

    @Test func `what was written last may be destroyed and its row be taken`() throws {
        let other = graph.input(0)
        let reader = graph.rule { try $0[other] }
        _ = try graph.peek(reader)
        try graph.set(other, 1)
        let written = graph.input(0)
        try graph.set(written, 1)
        try graph.set(written, 2)
        try graph.dispose(written)
        let tenant = graph.rule { try $0[other] * 10 }
        #expect(try graph.peek(tenant) == 10)
        _ = try graph.peek(reader)
        try graph.set(other, 2)
        #expect(try graph.peek(tenant) == 20)
        #expect(faults == [])
    }

    // MARK: Observers and scopes

    @Test func `an empty batch in an observer along an order does nothing`() throws {
        let source = graph.input(0)
        var seen: [Int] = []
        try graph.observe(source) { [unowned graph] value in
            seen.append(value)
            try graph.batch {}
        }
        for value in 1...4 { try graph.set(source, value) }
        #expect(seen == [0, 1, 2, 3, 4])
        #expect(faults == [])
    }

    @Test func `an observer that is no longer watched does not run along an order`() throws {
        let source = graph.input(0)
        var runs = 0
        let observer = try graph.observe(source) { _ in runs += 1 }
        for value in 1...3 { try graph.set(source, value) }
        #expect(graph.context.table.pointee.followed > 0)
        graph.context.core.unwatch(observer)
        runs = 0
        try graph.set(source, 9)
        #expect(runs == 0)
        #expect(faults == [])
    }

    @Test func `an observer over several inputs runs when one changes that it did not look at first`() throws {
        let switcher = graph.input(0)
        let source = graph.input(0)
        let rule = graph.rule(source) { $0 }
        var runs = 0
        try graph.observe(over: [switcher, rule]) { inputs in
            runs += 1
            if try inputs[0] == 1 { _ = try inputs[1] }
        }
        try graph.set(source, 1)
        #expect(runs == 2)
        try graph.batch {
            let other = graph.rule(source) { $0 }
            try graph.observe(over: [switcher, other]) { _ in runs += 1 }
        }
        try graph.set(source, 2)
        #expect(runs == 5)
        #expect(faults == [])
    }

    @Test func `an observer may take the reports`() throws {
        let source = graph.input(0)
        try graph.observe(source) { [unowned graph] _ in
            var reports: [AttributeID] = []
            graph.context.core.drainInvalidated(into: &reports)
        }
        try graph.set(source, 1)
        #expect(faults == [])
    }

    @Test func `what is made in a scope that has gone meanwhile belongs to the graph`() throws {
        let source = graph.input(0)
        var observer = AttributeID(index: 0, generation: 0)
        var made = AttributeID(index: 0, generation: 0)
        observer = try graph.observe { context in
            guard try context[source] == 1 else { return }
            _ = try context.scope {
                try context.dispose(observer)
                made = context.input(3)
            }
        }
        try graph.set(source, 1)
        #expect(try graph.read(made) == 3)
        #expect(faults == [])
    }

    @Test func `an observer is not made by a run that is to be given up`() throws {
        final class Captured {
            let end: () -> Void
            init(_ end: @escaping () -> Void) { self.end = end }
            deinit { end() }
        }
        graph.context.core.nestingLimit = 1
        var living = 0
        let source = graph.input(0)
        let rule = graph.rule { try $0[source] }
        let making = graph.rule { context in
            let value = (try? context[rule]) ?? -1
            living += 1
            let captured = Captured { living -= 1 }
            try context.observe { context in
                _ = try context[source]
                _ = captured
            }
            return value
        }
        #expect(try graph.read(making) == 0)
        #expect(living == 1)
        try graph.dispose(making)
        #expect(living == 0)
        #expect(faults == [])
    }

    @Test func `a cleanup that is registered while its scope is cleaned up is done`() throws {
        let source = graph.input(0)
        var open = 0
        let scope = try graph.scope {
            let rule = graph.rule { context in
                open += 1
                context.onCleanup { open -= 1 }
                return try context[source]
            }
            try graph.observe { context in
                context.onCleanup { [unowned graph] in
                    try? graph.set(source, 5)
                    _ = try? graph.peek(rule)
                }
            }
            _ = try graph.read(rule)
        }.scope
        try graph.dispose(scope)
        #expect(open == 0)
        #expect(faults == [])
    }

    // MARK: What closures hold

    /// Does something with the graph when the last closure that holds it goes.
    final class Holder {
        var atEnd: () -> Void = {}
        var value: Int { 1 }
        deinit { atEnd() }
    }

    @Test func `what a closure holds may destroy the closure's own scope when it goes`() throws {
        func make() throws -> ScopeID {
            let holder = Holder()
            let scope = try graph.scope {
                _ = graph.rule { _ in holder.value }
                _ = graph.rule { _ in holder.value }
            }.scope
            holder.atEnd = { [unowned graph] in try? graph.dispose(scope) }
            return scope
        }
        try graph.dispose(make())
        let scopes = [try graph.scope {}.scope, try graph.scope {}.scope]
        #expect(scopes[0].index != scopes[1].index)
        #expect(faults == [])
    }

    @Test func `what a closure holds may make attributes when it goes`() throws {
        func make() -> AttributeID {
            let holder = Holder()
            holder.atEnd = { [unowned graph] in for number in 0..<200 { _ = graph.rule { _ in number } } }
            return graph.rule { _ in holder.value }
        }
        try graph.dispose(make())
        #expect(graph.context.core.counters.liveAttributes == 200)
        #expect(faults == [])
    }
}
