import AttributeGraph
import ReactiveGraph
import TestSupport
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

    @Test func `a rule over fixed inputs that does not look at one that was made stale before its run is not current`()
        throws
    {
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
        var definition = 7
        let source = graph.rule { _ in definition }
        var first = none
        let third = graph.rule { try $0[first] }
        let second = graph.rule { context in
            if definition == 7 {
                definition = -1
                try context.dispose(source)
            }
            return (try? context[third]) ?? -1
        }
        first = graph.rule { context in
            let value = (try? context[source]) ?? -1
            return value < 0 ? -5 : try value + context[second]
        }
        var seen: [Int] = []
        try graph.observe { seen.append((try? $0[first]) ?? -99) }
        #expect(seen == [-99, -5])
        #expect(try graph.read(third) == -5)
        #expect(faults == [])
    }

    @Test func `what a cycle reads, but what reads none of it any more, is no member`() throws {
        graph.context.core.nestingLimit = 1
        let source = graph.input(7)
        var first = none
        var second = none
        let third = graph.rule { context in
            let value = (try? context[first]) ?? -1
            return try value + context[second]
        }
        second = graph.rule { context in
            try context.dispose(source)
            return try context[third]
        }
        first = graph.rule { try $0[source] + $0[second] }
        _ = try? graph.read(first)
        #expect(throws: GraphError.removed(source)) { try graph.read(first) }
        #expect(throws: GraphError.cycle([second, third].sorted { $0.index < $1.index })) { try graph.read(second) }
        #expect(faults == [])
    }

    @Test func `what reads a cycle, but is not read by it any more, is no member`() throws {
        graph.context.core.nestingLimit = 1
        let source = graph.input(7)
        var first = none
        let third = graph.rule { try $0[first] }
        let second = graph.rule { context in
            try context.dispose(source)
            return (try? context[third]) ?? -1
        }
        first = graph.rule { context in
            guard let value = try? context[source] else { return try context[third] }
            return try value + context[second]
        }
        _ = try? graph.read(first)
        #expect(throws: GraphError.cycle([third, first])) { try graph.read(first) }
        #expect(try graph.read(second) == -1)
        #expect(faults == [])
    }

    @Test("a reader of a former member of a cycle reads it again", arguments: [false, true])
    func readerOfCycle(isCold: Bool) throws {
        let switcher = graph.input(isCold ? 1 : 0)
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
        if isCold {
            _ = try graph.read(reader)
        } else {
            var seen: [Int] = []
            try graph.observe { seen.append(try $0[reader]) }
            try graph.set(switcher, 1)
            #expect(seen.last == -1)
        }
        #expect(try graph.read(reader) == -1)
        #expect(faults == [])
    }

    @Test func `a circle that is closed by looking only, without a dependency, is not looked at again and again`()
        throws
    {
        let source = graph.input(7)
        let trigger = graph.input(0)
        let disposing = graph.rule { context in
            if try context[trigger] == 1 { try context.dispose(source) }
            return 0
        }
        var first = none
        let second = graph.rule { context in
            _ = try? context.peek(first)
            return try context[trigger]
        }
        first = graph.rule { try $0[second] }
        let reader = graph.rule(over: [source]) { (try? $0[0]) ?? -1 }
        var runs = 0
        try graph.observe(over: [reader, disposing, first]) {
            runs += 1
            _ = try? $0[2]
        }
        try graph.set(trigger, 1)
        #expect(runs <= 4)
        #expect(faults == [])
    }

    @Test func `a circle that is closed by looking only, while an order is followed, ends the order`() throws {
        let source = graph.input(0)
        var first = none
        let second = graph.rule { context in
            let value = try context[source]
            if value == 5 { _ = try? context.peek(first) }
            return value
        }
        first = graph.rule { try $0[second] }
        var seen: [Int] = []
        try graph.observe { seen.append((try? $0[first]) ?? -1) }
        for value in [1, 2, 3, 5, 6, 7] { try graph.set(source, value) }
        #expect(seen == [0, 1, 2, 3, -1, 6, 7])
        #expect(faults == [])
    }

    // MARK: Runs that are given up

    @Test func `a rule over fixed inputs that was given up waits for all of them again`() throws {
        graph.context.core.nestingLimit = 1
        let source = graph.input(7)
        let first = graph.rule { (try? $0[source]) ?? -1 }
        let second = graph.rule { _ in 1 }
        let cold = graph.rule { context in
            try context.dispose(source)
            return 3
        }
        let rule = graph.rule(over: [first, second]) { [unowned graph] in try $0[0] + $0[1] + graph.peek(cold) }
        #expect(try graph.read(rule) == 11)
        #expect(graph.context.core.counters.restarts == 1)
        #expect(try graph.read(rule) == 3)
        #expect(faults == [])
    }
}
