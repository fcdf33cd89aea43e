import AttributeGraph
import TestSupport

struct RuleFailure: Error {}

/// What a rule of the random graphs computes; the same code runs in the engine's closures and in the model.
struct Formula {
    enum Kind: CaseIterable { case sum, choose, clamp, fail, rescue, parity, skip, woven, glance }
    var kind: Kind
    var operands: [Int]

    /// `glance` looks at an operand without depending on it.
    func value(_ read: (Int) throws -> Int, glance: (Int) throws -> Void = { _ in }) throws -> Int {
        switch kind {
        case .glance:
            let first = try read(operands[0])
            try glance(operands[1])
            return first / 2
        case .sum: return try operands.reduce(0) { (try read($1) &+ $0) % 1009 }
        case .choose:
            let choice = try read(operands[0])
            return try read(operands[1 + abs(choice) % (operands.count - 1)])
        case .clamp: return min(max(try read(operands[0]), 0), 3)
        case .fail:
            let first = try read(operands[0])
            if first % 5 == 0 { throw RuleFailure() }
            return first &+ (try read(operands[1]))
        case .rescue:
            let first: Int
            do { first = try read(operands[0]) } catch let error where !(error is Interruption) { first = -1 }
            return first &+ (try read(operands[1]))
        case .parity: return try read(operands[0]) & 1
        case .skip:
            let first = try read(operands[0])
            var sum = first
            for (position, operand) in operands.enumerated().dropFirst() {
                if first & 1 == 1 && position == 1 + abs(first) % (operands.count - 1) { continue }
                sum = (sum &+ (try read(operand))) % 1009
            }
            return sum
        case .woven:
            let first = try read(operands[0])
            var sum = 0
            let order = first & 2 == 0 ? operands : operands.reversed()
            for operand in order { sum = (sum &+ (try read(operand)) &+ (try read(operands[0]))) % 1009 }
            return sum
        }
    }

    static func random(among nodes: [Int], from kinds: [Kind], _ generator: inout SeededGenerator) -> Formula {
        let kind = kinds[generator.below(kinds.count)]
        let wide = kind == .skip || kind == .woven || kind == .sum
        let count = wide && generator.chance(30) ? 3 + generator.below(24) : 3
        return Formula(kind: kind, operands: (0..<count).map { _ in nodes[generator.below(nodes.count)] })
    }
}

enum Outcome: Equatable {
    case value(Int)
    case error

    func get() throws -> Int {
        guard case .value(let value) = self else { throw RuleFailure() }
        return value
    }
}

/// The graph as a table of definitions: every value is computed afresh from the inputs, whenever one is asked for.
/// Beside that it remembers what each rule read last and which version of it, to say which rules have to run.
struct NaiveModel {
    struct Node {
        var input: Int?
        var formula: Formula?
        var isAlive = true
        var isObserver = false
        // What the minimality rule needs: versions as of the last run.
        var version = 0
        var outcome: Outcome?
        var reads: [(node: Int, version: Int)] = []
        var mustRun = true
        var verified = -1
    }

    var nodes: [Node] = []
    /// Changes with every mutation.
    var epoch = 0
    /// The rules and observers that had to run, in order.
    var runs: [Int] = []

    // MARK: Values, from nothing but definitions

    /// What a node's value must be. A rule that is reached from itself is on a cycle, an error.
    func outcome(of node: Int) -> Outcome {
        var memo: [Int: Outcome] = [:]
        var stack: Set<Int> = []
        return compute(node, &stack, &memo).0
    }

    /// The outcome, and which nodes on the stack were reached.
    private func compute(_ node: Int, _ stack: inout Set<Int>, _ memo: inout [Int: Outcome]) -> (Outcome, Set<Int>) {
        if let known = memo[node] { return (known, []) }
        if stack.contains(node) { return (.error, [node]) }
        guard nodes[node].isAlive else { return (.error, []) }
        if let input = nodes[node].input { return (.value(input), []) }
        guard let formula = nodes[node].formula else { return (.error, []) }
        stack.insert(node)
        var reached: Set<Int> = []
        var outcome: Outcome
        do {
            outcome = .value(
                try formula.value { operand in
                    let (value, more) = compute(operand, &stack, &memo)
                    reached.formUnion(more)
                    return try value.get()
                })
        } catch { outcome = .error }
        stack.remove(node)
        // Members of a cycle are not remembered: where they are reached from decides what they reach.
        if reached.isEmpty { memo[node] = outcome } else { outcome = .error }
        reached.remove(node)
        return (outcome, reached)
    }

    // MARK: Which rules must run (graphs without cycles)

    /// Asks for a node: it runs if its definition is new or something it read last has another version when asked for
    /// in turn.
    mutating func demand(_ node: Int) -> Outcome {
        guard nodes[node].isAlive else { return .error }
        if let input = nodes[node].input { return .value(input) }
        if nodes[node].verified == epoch, let outcome = nodes[node].outcome { return outcome }
        var runs = nodes[node].mustRun
        if !runs {
            for read in nodes[node].reads {
                _ = demand(read.node)
                if !nodes[read.node].isAlive || nodes[read.node].version != read.version { runs = true; break }
            }
        }
        if runs { run(node) }
        nodes[node].verified = epoch
        return nodes[node].outcome ?? .error
    }

    private mutating func run(_ node: Int) {
        guard let formula = nodes[node].formula else { return }
        runs.append(node)
        nodes[node].mustRun = false
        var reads: [(node: Int, version: Int)] = []
        var outcome: Outcome
        do {
            outcome = .value(
                try formula.value(
                    { operand in
                        let value = demand(operand)
                        if nodes[operand].isAlive && !reads.contains(where: { $0.node == operand }) {
                            reads.append((operand, nodes[operand].version))
                        }
                        return try value.get()
                    }, glance: { _ = demand($0) }))
        } catch { outcome = .error }
        if outcome != nodes[node].outcome || outcome == .error { nodes[node].version += 1 }
        nodes[node].outcome = outcome
        nodes[node].reads = reads
    }
}
