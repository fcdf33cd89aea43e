import AttributeGraph
import TestSupport

/// Grids of rules, some of which skip an input depending on what they read; the fastest of five runs on one graph.
struct DynamicCase {
    let name: String
    let width: Int
    let layers: Int
    let sources: Int
    let staticFraction: Double
    let readFraction: Double
    let iterations: Int
    let expectedSum: Double
    let expectedCount: Int

    var row: Case {
        Case(
            name: name,
            warmUp: {
                let made = try DynamicGraph(self)
                try made.run(iterations: max(1, iterations / 100))
            },
            measure: {
                let made = try DynamicGraph(self)
                for _ in 0..<3 { _ = try made.run(iterations: iterations) }
                return try fastest(of: 5) {
                    made.count.pointee = 0
                    var sum = 0.0
                    let measured = try timed({ made.graph.evaluations }) { sum = try made.run(iterations: iterations) }
                    try check(sum, expectedSum, "sum of \(name)")
                    try check(made.count.pointee, expectedCount, "count of \(name)")
                    return measured
                }
            })
    }
}

struct DynamicGraph {
    let graph = ClosureGraph<Double>()
    let inputs: [AttributeID]
    let leaves: [AttributeID]
    let count = sharedNumber()

    init(_ shape: DynamicCase) throws {
        let graph = graph
        let count = count
        inputs = (0..<shape.width).map { graph.input(Double($0)) }
        var random = SeededRandom()
        var row = inputs
        for _ in 1..<shape.layers {
            let previous = row
            row = (0..<shape.width).map { d in
                let mine = (0..<shape.sources).map { previous[(d + $0) % shape.width] }
                let isStatic = random.next() < shape.staticFraction
                return isStatic ? DynamicGraph.sum(graph, mine, count) : DynamicGraph.skippingSum(graph, mine, count)
            }
        }
        var leaves = row
        var pick = SeededRandom()
        for _ in 0..<Int((Double(shape.width) * (1 - shape.readFraction)).rounded()) {
            leaves.remove(at: Int(pick.next() * Double(leaves.count)))
        }
        self.leaves = leaves
        graph.observe { [leaves] core in
            for leaf in 0..<leaves.count { _ = try core.read(leaves[leaf]) }
            return 0
        }
    }

    static func sum(_ graph: ClosureGraph<Double>, _ inputs: [AttributeID], _ count: UnsafeMutablePointer<Int>)
        -> AttributeID
    {
        let size = inputs.count
        return graph.rule { core in
            count.pointee += 1
            var sum = 0.0
            for input in 0..<size { sum += try core.read(inputs[input]) }
            return sum
        }
    }

    static func skippingSum(_ graph: ClosureGraph<Double>, _ inputs: [AttributeID], _ count: UnsafeMutablePointer<Int>)
        -> AttributeID
    {
        let first = inputs[0]
        let rest = Array(inputs.dropFirst())
        return graph.rule { core in
            count.pointee += 1
            var sum = try core.read(first)
            let whole = Int(sum)
            let dropped = whole & 1 != 0 ? whole % rest.count : -1
            for input in 0..<rest.count where input != dropped { sum += try core.read(rest[input]) }
            return sum
        }
    }

    @discardableResult
    func run(iterations: Int) throws -> Double {
        let width = inputs.count
        for i in 0..<iterations {
            let source = i % width
            try graph.batch { try graph.set(inputs[source], Double(i + source)) }
            for leaf in 0..<leaves.count { _ = try graph.read(leaves[leaf]) }
        }
        var total = 0.0
        for leaf in leaves.reversed() { total = try graph.read(leaf) + total }
        return total
    }
}

/// sfc32, seeded by xmur3a("seed"): the generator of the original, so that the graphs are the same.
struct SeededRandom {
    var a: UInt32, b: UInt32, c: UInt32, d: UInt32

    init() {
        var h: UInt32 = 2_166_136_261
        for byte in "seed".utf8 {
            var k = UInt32(byte) &* 3_432_918_353
            k = k << 15 | k >> 17
            h ^= k &* 461_845_907
            h = h << 13 | h >> 19
            h = h &* 5 &+ 3_864_292_196
        }
        h ^= 4
        func draw() -> UInt32 {
            h ^= h >> 16
            h = h &* 2_246_822_507
            h ^= h >> 13
            h = h &* 3_266_489_909
            h ^= h >> 16
            return h
        }
        a = draw()
        b = draw()
        c = draw()
        d = draw()
    }

    mutating func next() -> Double {
        var t = a &+ b
        a = b ^ (b >> 9)
        b = c &+ (c << 3)
        c = c << 21 | c >> 11
        d = d &+ 1
        t = t &+ d
        c = c &+ t
        return Double(t) / 4_294_967_296
    }
}

@MainActor let dynamicCases: [Case] = [
    DynamicCase(
        name: "simple component", width: 10, layers: 5, sources: 2, staticFraction: 1, readFraction: 0.2,
        iterations: 600_000, expectedSum: 19_199_968, expectedCount: 3_480_000),
    DynamicCase(
        name: "dynamic component", width: 10, layers: 10, sources: 6, staticFraction: 0.75, readFraction: 0.2,
        iterations: 15_000, expectedSum: 302_310_782_860, expectedCount: 1_155_000),
    DynamicCase(
        name: "large web app", width: 1000, layers: 12, sources: 4, staticFraction: 0.95, readFraction: 1,
        iterations: 7000, expectedSum: 29_355_933_696_000, expectedCount: 1_463_000),
    DynamicCase(
        name: "wide dense", width: 1000, layers: 5, sources: 25, staticFraction: 1, readFraction: 1,
        iterations: 3000, expectedSum: 1_171_484_375_000, expectedCount: 732_000),
    DynamicCase(
        name: "deep (dynamic)", width: 5, layers: 500, sources: 3, staticFraction: 1, readFraction: 1,
        iterations: 500, expectedSum: 3.0239642676898464e241, expectedCount: 1_246_500),
    DynamicCase(
        name: "very dynamic", width: 100, layers: 15, sources: 6, staticFraction: 0.5, readFraction: 1,
        iterations: 2000, expectedSum: 15_664_996_402_790_400, expectedCount: 1_078_000),
].map(\.row)
