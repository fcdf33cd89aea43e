import AttributeGraph
import TestSupport

#if canImport(Glibc)
    import Glibc
#endif

/// The four shapes of the scaling and allocation modes: an input, and a rule at the end of `count` vertices.
enum Shape: String, CaseIterable {
    case chain, fanOut = "fan-out", grid, diamond

    /// Builds the shape; `read` brings all of it up to date.
    func build(_ graph: ClosureGraph<Int>, _ count: Int) -> (input: AttributeID, read: () throws -> Int, vertices: Int)
    {
        let input = graph.input(0)
        switch self {
        case .chain:
            var last = input
            for _ in 0..<count {
                let previous = last
                last = graph.rule { try $0.read(previous) &+ 1 }
            }
            let end = last
            return (input, { try graph.read(end) }, count)
        case .fanOut:
            let rules = (0..<count).map { number in
                graph.rule { try $0.read(input) &+ number }
            }
            return (
                input,
                {
                    var sum = 0
                    for number in 0..<rules.count { sum &+= try graph.read(rules[number]) }
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
                    left = graph.rule { try $0.read(up) &+ $0.read(beside) }
                    return left
                }
            }
            let corner = row[side - 1]
            return (input, { try graph.read(corner) }, side * side)
        case .diamond:
            let arms = (0..<count).map { _ in
                graph.rule { try $0.read(input) &+ 1 }
            }
            let join = graph.rule { core in
                var sum = 0
                for arm in 0..<arms.count { sum &+= try core.read(arms[arm]) }
                return sum
            }
            return (input, { try graph.read(join) }, count + 1)
        }
    }
}

/// ns per vertex: the first evaluation, and an update (a write and a read of everything it changes).
func printScaling(_ counts: [Int]) throws {
    for shape in Shape.allCases {
        for count in counts { try printScaling(shape, count) }
    }
}

func printScaling(_ shape: Shape, _ count: Int) throws {
    let graph = ClosureGraph<Int>()
    let made = shape.build(graph, count)
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
        "{\"shape\": \"\(shape.rawValue)\", \"vertices\": \(made.vertices),"
            + " \"cold ns\": \(tenths(cold.milliseconds * scale)),"
            + " \"warm ns\": \(tenths(warm.milliseconds * scale / Double(rounds))),"
            + " \"restarts\": \(graph.core.counters.restarts)}")
}

/// Bytes of the engine's tables at a million vertices: reserved, and per vertex and edge in use.
func printMemory() throws {
    for shape in Shape.allCases {
        let graph = ClosureGraph<Int>()
        let before = residentBytes()
        let made = shape.build(graph, 1_000_000)
        _ = try made.read()
        let after = residentBytes()
        let memory = graph.core.memory
        let counters = graph.core.counters
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
        let graph = ClosureGraph<Int>()
        let made = shape.build(graph, 1000)
        graph.observe { try $0.read(made.input) }
        for value in 1...count {
            try graph.batch { try graph.set(made.input, value) }
            _ = try made.read()
        }
        print("{\"shape\": \"\(shape.rawValue)\", \"updates\": \(count), \"evaluations\": \(graph.evaluations)}")
    }
}

func tenths(_ number: Double) -> Double { (number * 10).rounded() / 10 }
