import AttributeGraph
import TestSupport
import Testing

/// The engine beside the model, one random operation at a time.
final class RandomGraph {
    let graph = ClosureGraph<Int>()
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
    /// A batch that reads in the middle has two states to compute.
    var readInBatch = false

    /// What rules and observers compute. In a calm graph edges change seldom.
    let kinds: [Formula.Kind]

    init(seed: UInt64, allowsCycles: Bool, nestingLimit: Int, isCalm: Bool) {
        generator = SeededGenerator(seed: seed)
        let all: [Formula.Kind] = isCalm ? [.sum, .clamp, .parity, .glance] : Formula.Kind.allCases
        // What is looked at on a cycle depends on where it was entered.
        kinds = allowsCycles ? all.filter { $0 != .glance } : all
        self.allowsCycles = allowsCycles
        self.nestingLimit = nestingLimit
        graph.core.nestingLimit = nestingLimit
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
        ids.append(
            graph.rule { [unowned self] core in
                runs.append(node)
                guard let formula = model.nodes[node].formula else { throw RuleFailure() }
                return try formula.value({ try read($0, in: core) }, glance: { try glance(at: $0, in: core) })
            })
    }

    /// Copies the value, or borrows it.
    func read(_ node: Int, in core: ClosureGraph<Int>.Core) throws -> Int {
        node & 1 == 0 ? try core.read(ids[node]) : try core.withRead(ids[node]) { $0 }
    }

    func glance(at node: Int, in core: ClosureGraph<Int>.Core) throws {
        do { _ = try core.readUntracked(ids[node]) } catch let error where !(error is Interruption) {}
    }

    func addObserver() {
        let node = model.nodes.count
        let formula = Formula.random(among: living, from: kinds.filter { $0 != .glance }, &generator)
        model.nodes.append(.init(formula: formula, isObserver: true))
        // Its first run needs no id of its own.
        ids.append(AttributeID(index: 0, generation: 0))
        ids[node] = graph.observe { [unowned self] core in
            runs.append(node)
            guard let formula = model.nodes[node].formula else { return 0 }
            do { seen[node] = .value(try formula.value { try read($0, in: core) }) } catch let error
                where !(error is Interruption)
            {
                seen[node] = .error
            }
            return 0
        }
        if !allowsCycles { _ = model.demand(node) }
    }

    func remove(_ nodes: [Int]) {
        for node in nodes where model.nodes[node].isAlive {
            model.nodes[node].isAlive = false
            seen[node] = nil
        }
        model.epoch += 1
        graph.remove(nodes.map { ids[$0] })
        demandObservers()
        if inputs.isEmpty { addInput() }
    }

    /// One operation; what it invalidates is demanded of the model as the engine's observers demand it.
    func step() throws {
        runs.removeAll()
        model.runs.removeAll()
        readInBatch = false
        switch generator.below(100) {
        case 0..<38: try write()
        case 38..<54: try writeInBatch()
        case 54..<70:
            if let node = rules.randomElement(using: &generator) { try compareRead(node) }
        case 70..<79: if living.count < 40 { addRule() }
        case 79..<82: if living.count < 40 { addInput() }
        case 82..<86: if observers.count < 6 { addObserver() }
        case 86..<89: if let node = observers.randomElement(using: &generator) { remove([node]) }
        case 89..<94: try redefine()
        case 94..<96: graph.core.giveBack()
        default:
            let nodes = living
            if nodes.count > 25 {
                remove((0..<(generator.chance(30) ? 8 : 1)).map { _ in generator.pick(nodes) })
            }
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
        try graph.set(ids[node], value)
        demandObservers()
    }

    func writeInBatch() throws {
        let before = model.nodes.map { $0.input }
        let peeked = generator.chance(30)
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
        demandObservers()
    }

    func redefine() throws {
        guard let node = rules.randomElement(using: &generator) else { return }
        let candidates = operands(before: node)
        guard !candidates.isEmpty else { return }
        model.nodes[node].formula = Formula.random(among: candidates, from: kinds, &generator)
        model.nodes[node].mustRun = true
        model.epoch += 1
        try graph.redefine(ids[node])
        demandObservers()
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
        let faults = graph.core.checkInvariants()
        #expect(faults.isEmpty, "\(faults)")
        if restarts && !allowsCycles {
            #expect(Set(runs) == Set(model.runs), "only the rules that had to run ran")
        } else if !allowsCycles {
            #expect(runs.sorted() == model.runs.sorted(), "exactly the rules that had to run ran")
        }
        #expect(Set(runs).count == runs.count || readInBatch || allowsCycles || restarts, "no rule ran twice")
        for node in observers {
            #expect(seen[node] == model.outcome(of: node), "what observer \(node) saw last")
        }
    }
}

@Suite struct RandomOperationsTests {
    /// Of each seed; `AGD_GRAPH_STEPS` makes runs longer.
    static let steps = Int(numberInEnvironment("AGD_GRAPH_STEPS") ?? 3000)

    @Test(
        "after any operations all values are the model's, and exactly the rules ran that had to",
        arguments: freshSeeds(2))
    func agreesWithModel(seed: UInt64) throws { try run(seed, allowsCycles: false) }

    @Test(
        "all values are the model's while cycles are made and broken, and the tables stay sound",
        arguments: freshSeeds(2))
    func agreesWithModelOnCycles(seed: UInt64) throws { try run(seed, allowsCycles: true) }

    @Test("runs abandoned for their depth change no value and run no rule in vain", arguments: freshSeeds(2))
    func agreesWithModelWhenRestarting(seed: UInt64) throws { try run(seed, allowsCycles: false, nestingLimit: 2) }

    @Test("cycles longer than the nesting limit are found", arguments: freshSeeds(2))
    func agreesWithModelOnLongCycles(seed: UInt64) throws { try run(seed, allowsCycles: true, nestingLimit: 1) }

    /// Graphs are made anew now and then, so that the model stays small.
    func run(_ seed: UInt64, allowsCycles: Bool, nestingLimit: Int = 100) throws {
        takeNoBacktraces()
        var left = Self.steps
        var round: UInt64 = 0
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
        }
    }
}
