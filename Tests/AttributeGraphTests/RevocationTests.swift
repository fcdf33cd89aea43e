import AttributeGraph
import Testing

/// What others have read, or found unchanged, is made stale before they are done.
@Suite struct RevocationTests {
    let graph = Graph<Int>()
    let none = AttributeID(index: 0, generation: 0)

    private var faults: [String] { graph.context.core.checkInvariants() }

    @Test(
        "an input that has been passed and is then evaluated anew for another reader counts", arguments: [false, true])
    func passedAndEvaluatedAnew(isFixed: Bool) throws {
        let source = graph.input(7)
        let trigger = graph.input(0)
        let first = graph.rule(over: [source]) { (try? $0[0]) ?? -1 }
        let second = graph.rule { context in
            _ = try context[first]
            if try context[trigger] == 1 { try context.dispose(source) }
            return 0
        }
        var seen: [Int] = []
        if isFixed {
            try graph.observe(over: [first, second]) { seen.append(try $0[0] + $0[1]) }
        } else {
            try graph.observe { seen.append(try $0[first] + $0[second]) }
        }
        try graph.set(trigger, 1)
        #expect(seen == [7, -1])
        #expect(faults == [])
    }

    @Test func `a rule over fixed inputs that does not look at one that was made stale before its run is not current`() throws {
        let source = graph.input(7)
        let trigger = graph.input(0)
        let first = graph.rule(over: [source]) { (try? $0[0]) ?? -1 }
        let second = graph.rule { context in
            let value = try context[trigger]
            if value == 1 { try context.dispose(source) }
            return value
        }
        let rule = graph.rule(over: [first, second]) { inputs in
            let value = try inputs[1]
            return value == 1 ? 5 : try inputs[0] + value
        }
        #expect(try graph.read(rule) == 7)
        try graph.set(trigger, 1)
        #expect(try graph.read(rule) == 5)
        #expect(faults == [])
        try graph.set(trigger, 2)
        #expect(try graph.read(rule) == 1)
    }

    @Test func `what has been passed may be written for a rule that has disposed of itself, and counts`() throws {
        let source = graph.input(0)
        let trigger = graph.input(0)
        var disposing = none
        disposing = graph.rule { context in
            guard try context[trigger] == 1 else { return 0 }
            try context.dispose(disposing)
            try context.observe { try $0.set(source, 9) }
            return 0
        }
        let reader = graph.rule { context in
            _ = try? context[disposing]
            return 0
        }
        var seen: [Int] = []
        try graph.observe { seen.append(try $0[source] + $0[reader]) }
        try graph.set(trigger, 1)
        #expect(try seen.last == graph.read(source))
        #expect(faults == [])
    }

    // MARK: Cycles

    @Test func `what a run that was given up had read makes no cycle if the next run does not read it`() throws {
        graph.context.core.nestingLimit = 1
        let source = graph.input(7)
        var first = none
        let third = graph.rule { try $0[first] }
        let second = graph.rule { context in
            try context.dispose(source)
            return (try? context[third]) ?? -1
        }
        first = graph.rule { try $0[source] + $0[second] }
        _ = try? graph.read(first)
        #expect(throws: GraphError.removed(source)) { try graph.read(first) }
        #expect(throws: GraphError.removed(source)) { try graph.read(third) }
        #expect(faults == [])
    }

    @Test func `who has read a member of a cycle that is none any more reads it again`() throws {
        let switcher = graph.input(0)
        var first = none
        var second = none
        second = graph.rule { context in
            guard try context[switcher] == 1 else { return 5 }
            _ = try? context[first]
            try context.dispose(second)
            return 6
        }
        first = graph.rule { context in
            _ = try context[switcher]
            return (try? context[second]) ?? -1
        }
        let reader = graph.rule { (try? $0[first]) ?? -7 }
        var seen: [Int] = []
        try graph.observe { seen.append(try $0[reader]) }
        try graph.set(switcher, 1)
        #expect(seen.last == -1)
        #expect(try graph.read(reader) == -1)
        #expect(faults == [])
    }

    // MARK: Runs that are given up

    @Test func `what a run that was given up has read is evaluated from the stack when it was made stale meanwhile`() throws {
        graph.context.core.nestingLimit = 2
        let source = graph.input(7)
        let bottom = graph.input(1)
        let shallow = graph.rule { (try? $0[source]) ?? -1 }
        let first = graph.rule { try $0[shallow] + 1 }
        let cold = graph.rule { try $0[bottom] }
        let deep = graph.rule { context in
            let value = try context[cold]
            try context.dispose(source)
            return value
        }
        let root = graph.rule { try $0[first] + $0[deep] }
        _ = try graph.read(first)
        #expect(try graph.read(root) == 1)
        #expect(graph.context.core.counters.restarts == 2)
        #expect(faults == [])
    }
}
