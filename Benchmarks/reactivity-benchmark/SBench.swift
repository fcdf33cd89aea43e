import AttributeGraph
import TestSupport

/// Creating and updating observers in bulk, the graph's end included; the fastest of ten runs.
struct SBenchCase {
    let name: String
    let count: Int
    let sources: Int
    /// What is measured: builds `n` things over the sources, and perhaps updates them.
    let body: (ClosureGraph<Double>, _ n: Int, _ sources: [AttributeID]) throws -> Void

    func run(_ n: Int, _ sourceCount: Int) throws -> Measurement {
        var evaluations: UInt64 = 0
        var start = 0.0
        do {
            let graph = ClosureGraph<Double>()
            let sources = (0..<sourceCount).map { graph.input(Double($0)) }
            for _ in 0..<3 { for source in sources { _ = try graph.read(source) } }
            let before = graph.evaluations
            start = now()
            try body(graph, n, sources)
            evaluations = graph.evaluations - before
        }
        return Measurement(milliseconds: now() - start, evaluations: evaluations)
    }

    var row: Case {
        Case(
            name: name,
            warmUp: { for _ in 0..<3 { _ = try run(max(1, count / 100), sources) } },
            measure: { try fastest(of: 10) { try run(count, sources) } })
    }
}

/// Effects that read consecutive sources, `readers` on each.
func createOne(_ graph: ClosureGraph<Double>, _ n: Int, _ sources: [AttributeID], readers: Int) throws {
    for i in 0..<(n / readers) {
        let source = sources[i]
        for _ in 0..<readers { graph.observe { try $0.read(source) } }
    }
}

/// `observers` on the first source, then `writes` batches.
func updateOne(_ graph: ClosureGraph<Double>, _ sources: [AttributeID], observers: Int, writes: Int) throws {
    let source = sources[0]
    for _ in 0..<observers { graph.observe { try $0.read(source) } }
    for i in 0..<writes { try graph.batch { try graph.set(source, Double(i)) } }
}

func observeFour(_ graph: ClosureGraph<Double>, _ sources: ArraySlice<AttributeID>) throws {
    let first = sources.startIndex
    let (a, b, c, d) = (sources[first], sources[first + 1], sources[first + 2], sources[first + 3])
    graph.observe { try $0.read(a) + $0.read(b) + $0.read(c) + $0.read(d) }
}

func observeThousand(_ graph: ClosureGraph<Double>, _ sources: [AttributeID], from first: Int) throws {
    graph.observe { core in
        var sum = 0.0
        for k in 0..<1000 { sum += try core.read(sources[first + k]) }
        return sum
    }
}

@MainActor let sbenchCases: [Case] = [
    SBenchCase(name: "createSignals", count: 100_000, sources: 100_000) { graph, n, _ in
        for i in 0..<n { _ = graph.input(Double(i)) }
    },
    SBenchCase(name: "create0to1", count: 100_000, sources: 0) { graph, n, _ in
        for _ in 0..<n { graph.observe { _ in 0 } }
    },
    SBenchCase(name: "create1to1", count: 100_000, sources: 100_000) { try createOne($0, $1, $2, readers: 1) },
    SBenchCase(name: "create2to1", count: 50_000, sources: 100_000) { graph, n, sources in
        for i in 0..<n {
            let (a, b) = (sources[2 * i], sources[2 * i + 1])
            graph.observe { try $0.read(a) + $0.read(b) }
        }
    },
    SBenchCase(name: "create4to1", count: 25_000, sources: 100_000) { graph, n, sources in
        for i in 0..<n { try observeFour(graph, sources[4 * i..<4 * i + 4]) }
    },
    SBenchCase(name: "create1000to1", count: 100, sources: 100_000) { graph, n, sources in
        for i in 0..<n { try observeThousand(graph, sources, from: 1000 * i) }
    },
    SBenchCase(name: "create1to2", count: 100_000, sources: 50_000) { try createOne($0, $1, $2, readers: 2) },
    SBenchCase(name: "create1to4", count: 100_000, sources: 25_000) { try createOne($0, $1, $2, readers: 4) },
    SBenchCase(name: "create1to8", count: 100_000, sources: 12_500) { try createOne($0, $1, $2, readers: 8) },
    SBenchCase(name: "create1to1000", count: 100_000, sources: 100) {
        try createOne($0, $1, $2, readers: min(1000, $1))
    },
    SBenchCase(name: "update1to1", count: 400_000, sources: 1) { try updateOne($0, $2, observers: 1, writes: $1) },
    SBenchCase(name: "update2to1", count: 200_000, sources: 2) { graph, n, sources in
        let (a, b) = (sources[0], sources[1])
        graph.observe { try $0.read(a) + $0.read(b) }
        for i in 0..<n { try graph.batch { try graph.set(a, Double(i)) } }
    },
    SBenchCase(name: "update4to1", count: 100_000, sources: 4) { graph, n, sources in
        try observeFour(graph, sources[0..<4])
        for i in 0..<n { try graph.batch { try graph.set(sources[0], Double(i)) } }
    },
    SBenchCase(name: "update1000to1", count: 400, sources: 1000) { graph, n, sources in
        try observeThousand(graph, sources, from: 0)
        for i in 0..<n { try graph.batch { try graph.set(sources[0], Double(i)) } }
    },
    SBenchCase(name: "update1to2", count: 100_000, sources: 1) { try updateOne($0, $2, observers: 2, writes: $1) },
    SBenchCase(name: "update1to4", count: 100_000, sources: 1) { try updateOne($0, $2, observers: 4, writes: $1) },
    SBenchCase(name: "update1to8", count: 100_000, sources: 1) { try updateOne($0, $2, observers: 8, writes: $1) },
    SBenchCase(name: "update1to1000", count: 100_000, sources: 1) {
        try updateOne($0, $2, observers: 1000, writes: max(1, $1 / 10))
    },
].map(\.row)
