import AttributeGraph
import ReactiveGraph

#if canImport(Glibc)
    import Glibc
#endif

/// How the rules of a shape get at what they compute from.
enum Reading: String, CaseIterable {
    /// They are made over fixed inputs.
    case fixed
    /// Through a context, which tracks what they read.
    case tracked
}

/// The four shapes of the scaling and allocation modes: an input, and a rule at the end of `count` vertices.
enum Shape: String, CaseIterable {
    case chain, fanOut = "fan-out", grid, diamond

    /// Builds the shape; `read` brings all of it up to date.
    func build(_ graph: Graph<Int>, _ count: Int, _ reading: Reading) -> (
        input: AttributeID, read: () throws -> Int, vertices: Int
    ) {
        let input = graph.input(0)
        let isFixed = reading == .fixed
        switch self {
        case .chain:
            var last = input
            for _ in 0..<count {
                let previous = last
                last = isFixed ? graph.rule(previous) { $0 &+ 1 } : graph.rule { try $0[previous] &+ 1 }
            }
            let end = last
            return (input, { try graph.peek(end) }, count)
        case .fanOut:
            let rules = (0..<count).map { number in
                isFixed ? graph.rule(input) { $0 &+ number } : graph.rule { try $0[input] &+ number }
            }
            return (
                input,
                {
                    var sum = 0
                    for number in 0..<rules.count { sum &+= try graph.peek(rules[number]) }
                    return sum
                }, count
            )
        case .grid:
            let side = max(2, Int(Double(count).squareRoot()))
            var row = (0..<side).map { _ in input }
            for _ in 0..<side {
                var left = input
                row = row.map { up in
                    let beside = left
                    left = isFixed ? graph.rule(up, beside) { $0 &+ $1 } : graph.rule { try $0[up] &+ $0[beside] }
                    return left
                }
            }
            let corner = row[side - 1]
            return (input, { try graph.peek(corner) }, side * side)
        case .diamond:
            let arms = (0..<count).map { _ in
                isFixed ? graph.rule(input) { $0 &+ 1 } : graph.rule { try $0[input] &+ 1 }
            }
            let join =
                isFixed
                ? graph.rule(over: arms) { inputs in
                    var sum = 0
                    for arm in 0..<inputs.count { sum &+= try inputs[arm] }
                    return sum
                }
                : graph.rule { context in
                    var sum = 0
                    for arm in 0..<arms.count { sum &+= try context[arms[arm]] }
                    return sum
                }
            return (input, { try graph.peek(join) }, count + 1)
        }
    }
}

/// ns per vertex: the first evaluation, and an update (a write and a read of everything it changes).
func printScaling(_ counts: [Int]) throws {
    for shape in Shape.allCases {
        for reading in Reading.allCases {
            for count in counts { try printScaling(shape, reading, count) }
        }
    }
}

func printScaling(_ shape: Shape, _ reading: Reading, _ count: Int) throws {
    let graph = Graph<Int>()
    let made = shape.build(graph, count, reading)
    let cold = try timed({ graph.evaluations }) { _ = try made.read() }
    var value = 0
    let rounds = max(3, 2_000_000 / count)
    let warm = try fastest(of: 5) {
        try timed({ graph.evaluations }) {
            for _ in 0..<rounds {
                value += 1
                try graph.set(made.input, value)
                _ = try made.read()
            }
        }
    }
    let scale = 1e6 / Double(made.vertices)
    print(
        "{\"shape\": \"\(shape.rawValue)\", \"inputs\": \"\(reading.rawValue)\", \"vertices\": \(made.vertices),"
            + " \"cold ns\": \(tenths(cold.milliseconds * scale)),"
            + " \"warm ns\": \(tenths(warm.milliseconds * scale / Double(rounds))),"
            + " \"restarts\": \(graph.context.core.counters.restarts)}")
}

/// Bytes of the engine's tables at a million vertices: reserved, and per vertex and edge in use.
func printMemory() throws {
    for shape in Shape.allCases {
        let graph = Graph<Int>()
        let before = residentBytes()
        let made = shape.build(graph, 1_000_000, .tracked)
        _ = try made.read()
        let after = residentBytes()
        let memory = graph.context.core.memory
        let counters = graph.context.core.counters
        print(
            "{\"shape\": \"\(shape.rawValue)\", \"vertices\": \(counters.liveAttributes), \"edges\": \(counters.liveEdges),"
                + " \"engine bytes per vertex\": \(memory.perVertex), \"value bytes\": \(MemoryLayout<Int>.size),"
                + " \"edge bytes in use per edge\": \(tenths(Double(memory.edgesInUse) / Double(counters.liveEdges))),"
                + " \"resident bytes per vertex, closures and stacks included\":"
                + " \(tenths(Double(after - before) / Double(counters.liveAttributes)))}")
    }
}

func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var total = 0
    var resident = 0
    withUnsafeMutablePointer(to: &total) { total in
        withUnsafeMutablePointer(to: &resident) { resident in
            _ = withVaList([total, resident]) { vfscanf(file, "%ld %ld", $0) }
        }
    }
    return resident * sysconf(Int32(_SC_PAGESIZE))
}

/// So many updates of a settled graph of each shape. Under valgrind the number of allocations, and under callgrind that
/// of instructions, is compared between two counts: the difference is what the updates cost.
func runUpdates(_ count: Int) throws {
    for shape in Shape.allCases {
        let graph = Graph<Int>()
        let made = shape.build(graph, 1000, .tracked)
        try graph.observe { _ = try $0[made.input] }
        for value in 1...count {
            try graph.batch { try graph.set(made.input, value) }
            _ = try made.read()
        }
        print("{\"shape\": \"\(shape.rawValue)\", \"updates\": \(count), \"evaluations\": \(graph.evaluations)}")
    }
}

func tenths(_ number: Double) -> Double { (number * 10).rounded() / 10 }
