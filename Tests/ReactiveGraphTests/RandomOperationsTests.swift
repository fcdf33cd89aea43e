import TestSupport
import Testing

@testable import AttributeGraph
@testable import ReactiveGraph

/// The engine beside the model, one random operation at a time.
final class RandomGraph {
    let graph = Graph<Int>()
    var model = NaiveModel()
    var generator: SeededGenerator
    let allowsCycles: Bool
    let nestingLimit: Int
    /// Some runs are abandoned and started again, so bodies may be entered twice.
    var restarts: Bool { nestingLimit < 50 }
    var ids: [AttributeID] = []
    /// Bodies entered by the engine, in order.
    var runs: [Int] = []
    var seen: [Int: Outcome] = [:]
    var scopes: [(id: ScopeID, nodes: [Int])] = []
    /// An input that is written some times in succession, and a rule that is read each time: what makes the engine keep
    /// orders.
    var repeated: (input: Int, target: Int?, left: Int)?
    /// A batch that reads in the middle has two states to compute.
    var readInBatch = false

    /// What rules and observers compute. In a calm graph edges change seldom, so that most updates go along an order.
    let kinds: [Formula.Kind]

    init(seed: UInt64, allowsCycles: Bool, nestingLimit: Int, isCalm: Bool) {
        generator = SeededGenerator(seed: seed)
        let all: [Formula.Kind] = isCalm ? [.clamp, .parity, .glance, .one, .two, .many] : Formula.Kind.allCases
        // What is looked at on a cycle depends on where it was entered.
        kinds = allowsCycles ? all.filter { $0 != .glance } : all
        self.allowsCycles = allowsCycles
        self.nestingLimit = nestingLimit
        graph.context.core.nestingLimit = nestingLimit
        for _ in 0..<4 { addInput() }
    }

    var living: [Int] { model.nodes.indices.filter { model.nodes[$0].isAlive && !model.nodes[$0].isObserver } }
    var rules: [Int] { living.filter { model.nodes[$0].input == nil } }
    var inputs: [Int] { living.filter { model.nodes[$0].input != nil } }
    var observers: [Int] { model.nodes.indices.filter { model.nodes[$0].isAlive && model.nodes[$0].isObserver } }

    func addInput() {
        let value = generator.below(8)
        ids.append(graph.input(value))
        model.nodes.append(.init(input: value))
    }

    /// Operands: any node in graphs with cycles, else older ones only. Some of them may be gone.
    func operands(before node: Int) -> [Int] {
        let candidates = allowsCycles ? living : living.filter { $0 < node }
        let gone =
            generator.chance(3)
            ? model.nodes.indices.filter { !model.nodes[$0].isAlive && !model.nodes[$0].isObserver && $0 < node } : []
        return candidates + gone
    }

    func addRule() {
        let node = model.nodes.count
        let formula = Formula.random(among: operands(before: node), from: kinds, &generator)
        model.nodes.append(.init(formula: formula))
        let operands = formula.operands.map { ids[$0] }
        let id =
            switch formula.kind {
            case .one: graph.rule(operands[0]) { [unowned self] in combined(node, [$0]) }
            case .two: graph.rule(operands[0], operands[1]) { [unowned self] in combined(node, [$0, $1]) }
            case .many:
                graph.rule(over: operands) { [unowned self] inputs in
                    runs.append(node)
                    return Formula.combined(try (0..<inputs.count).map { try inputs[$0] })
                }
            default:
                graph.rule { [unowned self] context in
                    runs.append(node)
                    guard let formula = model.nodes[node].formula else { throw RuleFailure() }
                    return try formula.value({ try context[ids[$0]] }, glance: { try glance(at: $0, in: context) })
                }
            }
        ids.append(id)
    }

    func glance(at node: Int, in context: GraphContext<Int>) throws {
        do { _ = try context.peek(ids[node]) } catch let error where !(error is Interruption) {}
    }

    func combined(_ node: Int, _ values: [Int]) -> Int {
        runs.append(node)
        return Formula.combined(values)
    }

    func addObserver() throws {
        let node = model.nodes.count
        let formula = Formula.random(among: living, from: kinds.filter { $0 != .glance }, &generator)
        model.nodes.append(.init(formula: formula, isObserver: true))
        ids.append(AttributeID(index: 0, generation: 0))
        let operands = formula.operands.map { ids[$0] }
        // One over fixed inputs that does not run sees nothing: what it saw last is forgotten here.
        if formula.isFixed && formula.operands.contains(where: { model.outcome(of: $0) == .error }) {
            model.nodes[node].isAlive = false
            return
        }
        switch formula.kind {
        case .one:
            ids[node] = try graph.observe(operands[0]) { [unowned self] in seen[node] = .value(combined(node, [$0])) }
        case .two:
            ids[node] = try graph.observe(operands[0], operands[1]) { [unowned self] in
                seen[node] = .value(combined(node, [$0, $1]))
            }
        case .many:
            ids[node] = try graph.observe(over: operands) { [unowned self] inputs in
                runs.append(node)
                do { seen[node] = .value(Formula.combined(try (0..<inputs.count).map { try inputs[$0] })) } catch {
                    seen[node] = .error
                }
            }
        default:
            ids[node] = try graph.observe { [unowned self] context in
                runs.append(node)
                guard let formula = model.nodes[node].formula else { return }
                do { seen[node] = .value(try formula.value { try context[ids[$0]] }) } catch { seen[node] = .error }
            }
        }
        if !allowsCycles { _ = model.demand(node) }
    }

    func kill(_ nodes: [Int]) {
        for node in nodes where model.nodes[node].isAlive {
            model.nodes[node].isAlive = false
            seen[node] = nil
        }
        model.epoch += 1
    }

    /// One operation; what it invalidates is demanded of the model as the engine's observers demand it.
    func step() throws {
        runs.removeAll()
        model.runs.removeAll()
        readInBatch = false
        if try writeAgain() { return }
        switch generator.below(100) {
        case 0..<36: try write()
        case 36..<40:
            repeated = inputs.randomElement(using: &generator).map {
                ($0, rules.randomElement(using: &generator), 3 + generator.below(8))
            }
        case 40..<55: try writeInBatch()
        case 55..<70:
            if let node = rules.randomElement(using: &generator) { try compareRead(node) }
        case 70..<76: if living.count < 40 { addRule() }
        case 76..<79: if living.count < 40 { addInput() }
        case 79..<83: if observers.count < 6 { try addObserver() }
        case 83..<86:
            if let node = observers.randomElement(using: &generator) {
                try settling { try graph.dispose(ids[node]) }
                kill([node])
            }
        case 86..<91: try redefine()
        case 91..<94: try makeScope()
        case 94..<97:
            if let scope = scopes.indices.randomElement(using: &generator) {
                let (id, nodes) = scopes.remove(at: scope)
                kill(nodes)
                try settling { try graph.dispose(id) }
                demandObservers()
            }
        default:
            if living.count > 25, let node = living.randomElement(using: &generator) {
                kill([node])
                try settling { try graph.dispose(ids[node]) }
                demandObservers()
                if inputs.isEmpty { addInput() }
            }
        }
    }

    /// An observer over fixed inputs fails with an input; that is thrown when all observers have run, and compared
    /// later.
    func settling(_ body: () throws -> Void) throws {
        do { try body() } catch let error where error is RuleFailure || error is GraphError {
            let isObservers = observers.contains {
                model.nodes[$0].formula?.needsAll == true && graph.failure(of: ids[$0]) != nil
            }
            if !isObservers { throw error }
            if case .unsettled = error as? GraphError { throw error }
        }
    }

    func demandObservers() {
        guard !allowsCycles else { return }
        for node in observers { _ = model.demand(node) }
    }

    func assign(_ node: Int, _ value: Int) {
        if model.nodes[node].input != value {
            model.nodes[node].input = value
            model.nodes[node].version += 1
            model.epoch += 1
        }
    }

    func write() throws {
        guard let node = inputs.randomElement(using: &generator) else { return }
        let value = generator.below(8)
        assign(node, value)
        try settling { try graph.set(ids[node], value) }
        demandObservers()
    }

    /// The next write of those that come in succession, mostly followed by a read; false if none is due.
    func writeAgain() throws -> Bool {
        guard let (input, target, left) = repeated, left > 0, model.nodes[input].isAlive else { return false }
        repeated = (input, target, left - 1)
        let value = generator.below(8)
        let isBatch = generator.chance(50)
        assign(input, value)
        try settling {
            if isBatch {
                try graph.batch { try graph.set(ids[input], value) }
            } else {
                try graph.set(ids[input], value)
            }
        }
        demandObservers()
        if generator.chance(10), let other = rules.randomElement(using: &generator) { try compareRead(other) }
        if let target, model.nodes[target].isAlive, generator.chance(90) { try compareRead(target) }
        return true
    }

    func writeInBatch() throws {
        let before = model.nodes.map { $0.input }
        let peeked = generator.chance(30)
        try settling {
            try graph.batch {
                var written: [Int: Int] = [:]
                for _ in 0..<(1 + generator.below(6)) {
                    guard let node = inputs.randomElement(using: &generator) else { return }
                    let value = generator.chance(40) ? before[node] ?? 0 : generator.below(8)
                    written[node] = value
                    try graph.set(ids[node], value)
                    if peeked && generator.chance(40), let rule = rules.randomElement(using: &generator) {
                        for (node, value) in written { assign(node, value) }
                        written.removeAll()
                        readInBatch = true
                        try compareRead(rule)
                    }
                }
                for (node, value) in written { assign(node, value) }
            }
        }
        demandObservers()
    }

    func redefine() throws {
        guard let node = rules.randomElement(using: &generator) else { return }
        let candidates = operands(before: node)
        guard !candidates.isEmpty else { return }
        // What it is made over stays as it is.
        if model.nodes[node].formula?.isFixed == false {
            model.nodes[node].formula = Formula.random(
                among: candidates, from: kinds.filter { !Formula(kind: $0, operands: []).isFixed }, &generator)
        }
        model.nodes[node].mustRun = true
        model.epoch += 1
        try settling { try graph.redefine(ids[node]) }
        demandObservers()
    }

    func makeScope() throws {
        guard scopes.count < 5 else { return }
        let first = model.nodes.count
        let made = try graph.scope {
            for _ in 0..<(1 + generator.below(6)) {
                if generator.chance(30) { addInput() } else { addRule() }
            }
        }
        scopes.append((made.scope, Array(first..<model.nodes.count)))
    }

    func engineOutcome(_ node: Int) -> Outcome {
        do { return .value(try graph.read(ids[node])) } catch { return .error }
    }

    func compareRead(_ node: Int) throws {
        let expected = model.outcome(of: node)
        #expect(engineOutcome(node) == expected, "value of node \(node)")
        if !allowsCycles { #expect(model.demand(node) == expected, "the model agrees with itself about \(node)") }
    }

    /// Compares everything that can be seen.
    func check() {
        let faults = graph.context.core.checkInvariants()
        #expect(faults.isEmpty, "\(faults)")
        if restarts && !allowsCycles {
            #expect(Set(runs) == Set(model.runs), "only the rules that had to run ran")
        } else if !allowsCycles {
            #expect(runs.sorted() == model.runs.sorted(), "exactly the rules that had to run ran")
        }
        #expect(Set(runs).count == runs.count || readInBatch || allowsCycles || restarts, "no rule ran twice")
        for node in observers {
            let isFailed = model.nodes[node].formula?.needsAll == true && graph.failure(of: ids[node]) != nil
            #expect((isFailed ? .error : seen[node]) == model.outcome(of: node), "what observer \(node) saw last")
        }
    }
}

extension Graph {
    /// Tells the graph that the rule is another one from now on.
    func redefine(_ rule: AttributeID) throws {
        try context.core.invalidate(rule)
        try context.flush()
    }
}

@Suite struct RandomOperationsTests {
    /// Of each seed; `AGD_GRAPH_STEPS` makes runs longer.
    static let steps = Int(numberInEnvironment("AGD_GRAPH_STEPS") ?? 3000)

    @Test(
        "after any operations all values are the model's, and exactly the rules ran that had to",
        arguments: freshSeeds(4))
    func agreesWithModel(seed: UInt64) throws { try run(seed, allowsCycles: false) }

    @Test(
        "all values are the model's while cycles are made and broken, and the tables stay sound",
        arguments: freshSeeds(4))
    func agreesWithModelOnCycles(seed: UInt64) throws { try run(seed, allowsCycles: true) }

    @Test("runs abandoned for their depth change no value and run no rule in vain", arguments: freshSeeds(4))
    func agreesWithModelWhenRestarting(seed: UInt64) throws { try run(seed, allowsCycles: false, nestingLimit: 2) }

    @Test("cycles longer than the nesting limit are found", arguments: freshSeeds(4))
    func agreesWithModelOnLongCycles(seed: UInt64) throws { try run(seed, allowsCycles: true, nestingLimit: 1) }

    /// Graphs are made anew now and then, so that the model stays small.
    func run(_ seed: UInt64, allowsCycles: Bool, nestingLimit: Int = 100) throws {
        var left = Self.steps
        var round: UInt64 = 0
        var followed: UInt64 = 0
        while left > 0 {
            let world = RandomGraph(
                seed: seed &+ round &* 1_000_003, allowsCycles: allowsCycles,
                nestingLimit: nestingLimit, isCalm: round & 1 == 1)
            for _ in 0..<min(left, 300) {
                try world.step()
                world.check()
                left -= 1
            }
            round += 1
            followed += world.graph.context.table.pointee.followed
        }
        print("random operations: seed \(seed), \(followed) updates along an order")
    }
}
