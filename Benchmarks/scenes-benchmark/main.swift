import AttributeValues
import Glibc
import RuleLanguage
import SceneModel
import ViewGraph

// What rules in CEL cost on top of the engine: the shapes of the engine's own benchmark, with every rule a program, and
// writes and reads through paths as a client makes them. Then what one change of a long list costs the instances made
// from it, and what a document costs by its number of nodes, and what windows over the past cost. One JSON line per
// case.
//
// usage: scenes-benchmark [beginning of a case's name…]

func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// A graph of one node whose attributes are given as rules over one another.
func graph(states: [String: Value], rules: [(String, String)]) throws -> ViewGraph {
    let scope = RuleScope()
    for (name, value) in states { scope.declare(name, ValueType(of: value)) }
    for (name, _) in rules { scope.declare(name, ValueType.int) }
    let node = NodeDefinition()
    node.id = "n"
    for (name, value) in states {
        node.attributes.append(
            AttributeDefinition(
                name: name, role: .state(initial: value, isTransient: true), type: ValueType(of: value), position: .none
            ))
    }
    for (name, text) in rules {
        node.attributes.append(
            AttributeDefinition(
                name: name, role: .computed(try Rule.compile(text, in: scope)), type: .int, position: .none))
    }
    let graph = ViewGraph(wallTime: .epoch)
    graph.perform(
        try graph.planned(SceneDefinition(declarations: Declarations(), nodes: [node]), at: .root, .create).plan)
    _ = graph.takeStructureChange()
    return graph
}

struct Benchmark {
    let name: String
    let vertices: Int
    let rules: [(String, String)]
    let last: String
}

func chain(_ count: Int) -> Benchmark {
    Benchmark(
        name: "chain \(count)", vertices: count,
        rules: (1...count).map { ("v\($0)", "\($0 == 1 ? "x" : "v\($0 - 1)") + 1") }, last: "v\(count)")
}

/// Diamonds on top of each other: two arms of `width` rules joined by a sum.
func diamonds(_ count: Int) -> Benchmark {
    var rules: [(String, String)] = []
    for number in 1...count {
        let below = number == 1 ? "x" : "j\(number - 1)"
        rules += [
            ("a\(number)", "\(below) + 1"), ("b\(number)", "\(below) - 1"),
            ("j\(number)", "(a\(number) + b\(number)) / 2"),
        ]
    }
    return Benchmark(name: "diamonds \(count)", vertices: rules.count, rules: rules, last: "j\(count)")
}

func run(_ benchmark: Benchmark) throws {
    let graph = try graph(states: ["x": 0], rules: benchmark.rules)
    let input = try AttributePath("/n.x")
    let source = try graph.locate(input)
    let last = try graph.locate(try AttributePath("/n.\(benchmark.last)")).attribute
    func update(_ value: Int64) throws -> Content {
        graph.begin()
        try graph.write(source, through: input) { _ throws(Failure) in .int(value) }
        _ = graph.commit()
        return graph.content(of: last)
    }
    let rounds = max(5, 1_000_000 / benchmark.vertices)
    var best = Double.infinity
    var evaluations: UInt64 = 0
    for sample in 0..<10 {
        let before = graph.counters.evaluations
        let start = now()
        for round in 0..<rounds {
            let content = try update(Int64(sample * rounds + round + 1))
            precondition(content.value != nil, "\(content)")
        }
        best = min(best, (now() - start) / Double(rounds * benchmark.vertices))
        evaluations = (graph.counters.evaluations - before) / UInt64(rounds)
    }
    print("{\"case\": \"\(benchmark.name)\", \"ns\": \((best * 100).rounded() / 100), \"evaluations\": \(evaluations)}")
}

let wanted = Set(CommandLine.arguments.dropFirst())
/// - Parameter name: of a case, or the beginning that the names of several cases share.
func isWanted(_ name: String) -> Bool {
    wanted.isEmpty || wanted.contains { name.hasPrefix($0) || $0.hasPrefix(name) }
}

do {
    for benchmark in [chain(10), chain(1000), chain(10_000), diamonds(300)] where isWanted(benchmark.name) {
        try run(benchmark)
    }
    for count in [1_000, 10_000, 100_000] where isWanted("forEach \(count), ") { try changeLists(of: count) }
    for count in [1_000, 10_000, 100_000] where isWanted("apply \(count), ") { try applyDocuments(of: count) }
    for operation in ["average", "greatest", "rate"] where isWanted("windows 10000, \(operation)") {
        try feedWindows(operation, of: 10_000)
    }
} catch {
    print("{\"error\": \"\(error)\"}")
    exit(1)
}
