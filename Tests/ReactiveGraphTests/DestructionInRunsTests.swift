import AttributeGraph
import ReactiveGraph
import TestSupport
import Testing

/// Destroying what runs, what it has made, and what made it: what is left must belong to somebody.
@Suite struct DestructionInRunsTests {
    let graph = Graph<Int>()
    let none = AttributeID(index: 0, generation: 0)

    private var faults: [String] { graph.context.core.checkInvariants() }
    private var living: UInt64 { graph.context.core.counters.liveAttributes }

    /// Does something with the graph when the last closure that holds it goes.
    final class Holder {
        var atEnd: () -> Void
        var value: Int { 1 }
        init(atEnd: @escaping () -> Void) { self.atEnd = atEnd }
        deinit { atEnd() }
    }

    // MARK: Cleanups

    @Test func `what a cleanup makes under an observer that disposes of itself goes with it`() throws {
        let source = graph.input(0)
        var observer = none
        observer = try graph.observe { [unowned graph] context in
            guard try context[source] == 1 else { return }
            context.onCleanup { _ = graph.rule { _ in 1 } }
            try context.dispose(observer)
        }
        try graph.set(source, 1)
        #expect(living == 1)
        #expect(faults == [])
    }

    @Test func `a rule that a cleanup of its own reads when it is disposed of leaves nothing behind`() throws {
        let source = graph.input(0)
        var rule = none
        rule = graph.rule { [unowned graph] context in
            _ = context.input(try context[source])
            context.onCleanup { _ = try? graph.peek(rule) }
            return 1
        }
        _ = try graph.read(rule)
        try graph.set(source, 1)
        try graph.dispose(rule)
        #expect(living == 1)
        #expect(faults == [])
    }

    // MARK: Observers that go before they run

    @Test func `an observer made by a run does not run once what it reads has destroyed it`() throws {
        var scope = ScopeID.root
        var hasRun = false
        let input = graph.rule { context in
            try context.dispose(scope)
            return 1
        }
        try graph.observe { context in
            _ = try context.scope {
                scope = context.scope(of: context.input(0))
                try context.observe(over: [input, input]) { _ in hasRun = true }
            }
        }
        #expect(!hasRun)
        #expect(faults == [])
    }

    @Test func `an observer of one attribute does not run once that has destroyed it`() throws {
        var scope = ScopeID.root
        var hasRun = false
        let input = graph.rule { context in
            try context.dispose(scope)
            return 1
        }
        _ = try graph.scope {
            scope = graph.context.scope(of: graph.input(0))
            try graph.observe(input) { _ in hasRun = true }
        }
        #expect(!hasRun)
        #expect(living == 1)
        #expect(faults == [])
    }

    // MARK: Runs that are given up

    @Test func `what a run makes after it has been interrupted goes when it begins anew`() throws {
        graph.context.core.nestingLimit = 1
        let source = graph.input(0)
        let parity = graph.rule { try $0[source] & 1 }
        let deep = graph.rule { try $0[parity] }
        _ = try graph.read(deep)
        var open = 0
        let rule = graph.rule { context in
            let value = (try? context[deep]) ?? -1
            open += 1
            context.onCleanup { open -= 1 }
            _ = context.input(3)
            _ = try context.scope { _ = context.input(4) }
            return value
        }
        try graph.set(source, 2)
        #expect(try graph.read(rule) == 0)
        #expect(open == 1)
        #expect(living == 6)
        #expect(faults == [])
    }

    // MARK: Cycles

    @Test func `a cycle one of whose members has destroyed itself is none any more`() throws {
        let switcher = graph.input(0)
        var first = none
        var second = none
        second = graph.rule { context in
            guard try context[switcher] == 1 else { return 5 }
            _ = try? context[first]
            try context.dispose(second)
            return 6
        }
        let third = graph.rule { (try? $0[second]) ?? -1 }
        first = graph.rule { context in
            _ = try context[switcher]
            return try context[third]
        }
        #expect(try graph.read(first) == 5)
        try graph.set(switcher, 1)
        _ = try? graph.read(first)
        #expect(try graph.read(first) == -1)
        #expect(try graph.read(third) == -1)
        #expect(faults == [])
    }

    // MARK: Scopes

    @Test func `a scope made by a run that has disposed of itself is not made by the next tenant of its row`() throws {
        let source = graph.input(0)
        var observer = none
        var made = none
        observer = try graph.observe { context in
            guard try context[source] == 1 else { return }
            try context.dispose(observer)
            _ = try context.scope { made = context.input(7) }
        }
        try graph.set(source, 1)
        let rule = graph.rule { context in
            let value = (try? context[made]) ?? -1
            try context.dispose(made)
            return value
        }
        #expect(rule.index == observer.index)
        _ = try graph.read(rule)
        #expect(try graph.read(rule) == -1)
        #expect(faults == [])
    }

    // MARK: What closures hold

    @Test func `what goes at the end of a run that has disposed of itself makes things for the graph`() throws {
        var scope: ScopeID?
        var rule = none
        func make() {
            let holder = Holder { [unowned graph] in scope = try? graph.scope { _ = graph.input(1) }.scope }
            rule = graph.rule { context in
                try context.dispose(rule)
                return holder.value
            }
        }
        make()
        _ = try? graph.read(rule)
        #expect(scope.map { graph.context.parent(of: $0) } == .root)
        #expect(faults == [])
    }

    @Test func `what goes with a scope during a run makes things for the graph, and has nothing to clean up after`()
        throws
    {
        let source = graph.input(0)
        var cleanups = 0
        func make() throws -> ScopeID {
            var scope = ScopeID.root
            scope = try graph.scope {
                try graph.observe { context in if try context[source] == 1 { try context.dispose(scope) } }
                let holder = Holder { [unowned graph] in
                    _ = graph.input(1)
                    graph.onCleanup { cleanups += 1 }
                    _ = try? graph.scope { try graph.observe { $0.onCleanup { cleanups += 1 } } }
                }
                _ = graph.rule { _ in holder.value }
            }.scope
            return scope
        }
        _ = try make()
        try graph.set(source, 1)
        #expect(living == 3)
        #expect(cleanups == 0)
        #expect(faults == [])
    }

    @Test func `what goes with an open scope makes things for the graph`() throws {
        let source = graph.input(0)
        var observer = none
        observer = try graph.observe { [unowned graph] context in
            guard try context[source] == 1 else { return }
            let holder = Holder { _ = graph.input(1) }
            _ = context.rule { _ in holder.value }
            _ = try context.scope { try context.dispose(observer) }
        }
        try graph.set(source, 1)
        #expect(living == 2)
        #expect(faults == [])
    }

    @Test func `what goes at the end of a run that has disposed of itself may read as deep as it likes`() throws {
        graph.context.core.nestingLimit = 1
        let source = graph.input(1)
        let cold = graph.rule { try $0[source] + 1 }
        var seen: Int?
        var rule = none
        func make() {
            let holder = Holder { [unowned graph] in seen = try? graph.peek(cold) }
            rule = graph.rule { context in
                try context.dispose(rule)
                return holder.value
            }
        }
        make()
        var last: Int?
        try graph.observe { context in
            _ = try? context[rule]
            last = try context[source]
        }
        #expect(seen == 2)
        #expect(last == 1)
        #expect(faults == [])
    }

    @Test func `what goes when a cycle is closed may read as deep as it likes`() throws {
        graph.context.core.nestingLimit = 2
        let source = graph.input(1)
        let cold = graph.rule { try $0[source] + 1 }
        let deep = graph.rule { try $0[cold] + 1 }
        var seen: Int?
        var first = none
        var second = none
        func make() {
            let holder = Holder { [unowned graph] in seen = try? graph.peek(deep) }
            second = graph.rule { context in
                _ = try? context[first]
                try context.dispose(second)
                return holder.value
            }
        }
        make()
        first = graph.rule { try $0[second] }
        var last: Int?
        try graph.observe { context in
            _ = try? context[first]
            last = try context[source]
        }
        #expect(seen == 3)
        #expect(last == 1)
        #expect(faults == [])
    }

    @Test func `what goes when a cycle is closed may read the members that are left`() throws {
        let source = graph.input(3)
        var seen: [Int?] = []
        var first = none
        var second = none
        let third = graph.rule { try $0[first] + 1 }
        func make() {
            let holder = Holder { [unowned graph] in seen = [try? graph.read(third), try? graph.read(source)] }
            second = graph.rule { context in
                _ = try? context[third]
                try context.dispose(second)
                return holder.value
            }
        }
        make()
        first = graph.rule { (try? $0[second]) ?? 5 }
        _ = try? graph.read(first)
        #expect(faults == [])
        #expect(seen == [6, 3])
        #expect(try graph.read(first) == 5)
        #expect(try graph.read(third) == 6)
        #expect(faults == [])
    }

    @Test func `what goes with a scope may destroy it and make another in its place`() throws {
        var made = none
        func make() throws -> ScopeID {
            var scope = ScopeID.root
            scope = try graph.scope {
                let holder = Holder { [unowned graph] in
                    try? graph.dispose(scope)
                    _ = try? graph.scope { made = graph.input(5) }
                }
                _ = graph.rule { _ in holder.value }
            }.scope
            return scope
        }
        try graph.dispose(try make())
        #expect(try graph.read(made) == 5)
        #expect(living == 1)
        #expect(faults == [])
    }

    @Test func `a scope in the place of what a run owned is nobody's, and its cleanups come before those around it`()
        throws
    {
        var inner = none
        func make() throws -> AttributeID {
            try graph.observe { [unowned graph] context in
                inner = try context.observe { _ = $0.input(1) }
                let holder = Holder { try? graph.dispose(inner) }
                _ = context.rule { _ in holder.value }
            }
        }
        try graph.dispose(try make())
        var done: [String] = []
        let scope = try graph.scope {
            try graph.observe { $0.onCleanup { done.append("outer") } }
            _ = try graph.scope { try graph.observe { $0.onCleanup { done.append("inner") } } }
        }.scope
        try graph.dispose(scope)
        #expect(done == ["inner", "outer"])
        #expect(faults == [])
    }
}
