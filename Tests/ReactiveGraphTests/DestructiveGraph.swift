import TestSupport
@testable import AttributeGraph
@testable import ReactiveGraph

/// A graph whose closures act on it while it runs, beside a model of who lives and what every value must be.
///
/// What a closure does beside computing its value is chosen at random each time, a little at a time, while there is
/// fuel.
final class DestructiveGraph {
    enum Mode {
        /// No rule reads itself.
        case ordered
        /// Rules read anything; nothing is looked at without a dependency, because what is seen on a cycle depends on
        /// where it was entered.
        case cyclic
        /// Anything: only what holds of every graph is compared.
        case wild
    }

    /// What is in progress on the machine's stack, as far as the closures know.
    enum Frame: Equatable { case body(Int), scope(Int), cleanup(Int), parting(Int) }

    let graph = Graph<Counted>()
    let census: Census
    let mode: Mode
    /// How often a closure does something, in a thousand opportunities.
    let appetite: Int
    var generator: SeededGenerator
    var model = LifeModel()
    var frames: [Frame] = []
    /// Of rules and observers that the engine runs, outside their bodies: whether the body is about to be entered.
    var isBeginning: [Int: Bool] = [:]
    var fuel = 0
    static let fullTank = 12
    var stepsTaken = 0
    var faults: [String] = []
    /// Something has gone in this step.
    var hasLost = false
    /// How many runs had been given up when cleanups before a run of a node made something, by node.
    var restartsAtMaking: [Int: UInt64] = [:]
    var ids: [AttributeID] = []
    var nodes: [AttributeID: Int] = [:]
    var scopeIDs: [ScopeID?] = []
    var scopes: [ScopeID: Int] = [:]
    /// What will be gone when everything is at rest.
    var ending: [LifeModel.Thing] = []
    /// Nothing happens any more when the graph goes.
    var isOver = false
    /// An input to be written some times in succession, and what is read each time: what makes the engine keep orders.
    var repeated: (input: Int, target: Int?, left: Int)?

    static let none = AttributeID(index: 0, generation: 0)

    init(seed: UInt64, mode: Mode, appetite: Int, nestingLimit: Int, census: Census) {
        generator = SeededGenerator(seed: seed)
        self.mode = mode
        self.appetite = appetite
        self.census = census
        graph.context.core.nestingLimit = nestingLimit
        for _ in 0..<4 { makeInput() }
    }

    var core: GraphCore<ClosureHost<Counted>> { graph.context.core }

    func fault(_ text: String) { faults.append(text) }

    func value(_ number: Int) -> Counted { Counted(number, in: census) }

    // MARK: Who owns what is made

    /// Rules and observers whose bodies are entered.
    var running: Set<Int> {
        var set: Set<Int> = []
        for case .body(let node) in frames { set.insert(node) }
        return set
    }

    /// The innermost frame but for scopes.
    var innermost: Frame? { frames.last { if case .scope = $0 { false } else { true } } }

    /// Whether a cleanup runs or a closure goes: what runs meanwhile only the engine can tell.
    var isBeside: Bool { innermost.map { isBeside($0) } ?? false }

    /// Whether a cleanup of a node, or its closure's going, belongs to what is done before a run: that is what the last
    /// one has made and registered. What goes at the end of a run has been destroyed before.
    func isCleanedUp(_ node: Int, before runner: Int) -> Bool {
        node == runner || model.nodes[node].isAlive && model.makers(of: node).contains(runner)
    }

    /// Whether any cleanup runs or closure goes.
    var isAnythingBeside: Bool { frames.contains { isBeside($0) } }

    func isBeside(_ frame: Frame) -> Bool {
        switch frame {
        case .cleanup, .parting: true
        case .body, .scope: false
        }
    }

    /// The rule or observer that runs, unless it is gone.
    var runner: Int? {
        if isBeside { return core.runningAttribute.flatMap { nodes[$0] } }
        guard case .body(let node)? = innermost, isLeft(.node(node)) else { return nil }
        return node
    }

    /// Where what is made now belongs; nil where only the engine can tell, because a cleanup runs or a closure goes.
    var owner: LifeModel.Owner? {
        switch frames.last {
        case .none: return .graph
        // It may go by what a cleanup does, and the model be told when that is done.
        case .scope(let scope): return isLeft(.scope(scope)) ? .scope(scope) : .graph
        case .cleanup, .parting: return nil
        case .body(let node):
            if isLeft(.node(node)) { return .node(node) }
            // What is left of a run that has disposed of itself makes things as if it were not there. If something is
            // about to go, that may be the open scope.
            if isAnythingBeside { return nil }
            for case .scope(let scope) in frames.reversed() { return isLeft(.scope(scope)) ? .scope(scope) : .graph }
            return .graph
        }
    }

    /// Where the engine has put something.
    func engineOwner(_ scope: ScopeID) -> LifeModel.Owner? {
        if scope == .root { return .graph }
        if let known = scopes[scope] { return .scope(known) }
        let owner = graph.context.table.pointee.owner(of: scope)
        return owner == 0 ? nil : nodes[core.attribute(at: owner)].map { .node($0) }
    }

    func addNode(_ kind: LifeModel.Kind) -> Int {
        ids.append(DestructiveGraph.none)
        return model.addNode(kind, to: owner ?? .graph)
    }

    /// The id of a new node is known: perhaps who owns it, too, only now.
    func introduce(_ node: Int, _ id: AttributeID) { introduce(node, id, isAdopted: owner == nil) }

    func introduce(_ node: Int, _ id: AttributeID, isAdopted: Bool) {
        if ids[node] == id { return }
        if ids[node] != DestructiveGraph.none { return fault("node \(node) is \(ids[node]) and \(id)") }
        ids[node] = id
        nodes[id] = node
        if isAdopted { adopt(.node(node), in: engineOwner(graph.context.scope(of: id))) }
    }

    /// What cleanups before a run make belongs to that run; what those make that are done when a run has ended, to the
    /// one that has.
    func adopt(_ thing: LifeModel.Thing, in owner: LifeModel.Owner?) {
        guard let owner else { return fault("\(thing) is nobody's") }
        var isBefore = false
        if case .node(let maker) = owner { isBefore = isBeginning[maker] ?? false }
        if isBefore, case .node(let maker) = owner { restartsAtMaking[maker] = core.counters.restarts }
        model.move(thing, to: owner, before: isBefore)
    }

    // MARK: Making

    @discardableResult
    func makeInput() -> Int {
        let node = addNode(.input)
        model.nodes[node].value = generator.below(8)
        introduce(node, graph.input(value(model.nodes[node].value)))
        return node
    }

    @discardableResult
    func makeRule() -> Int {
        let node = addNode(.rule)
        let formula = formula(for: node)
        model.nodes[node].formula = formula
        let operands = formula.operands.map { ids[$0] }
        let captured = capture(for: node)
        let id =
            switch formula.kind {
            case .one: graph.rule(operands[0]) { [unowned self] in try evaluate(node, captured, [$0]) }
            case .two:
                graph.rule(operands[0], operands[1]) { [unowned self] in try evaluate(node, captured, [$0, $1]) }
            case .many: graph.rule(over: operands) { [unowned self] in try evaluate(node, captured, $0) }
            default:
                graph.rule { [unowned self] context in
                    value(try compute(node, captured) { try self.read($0, in: context) })
                }
            }
        introduce(node, id)
        return node
    }

    func evaluate(_ node: Int, _ captured: Captured, _ values: [Counted]) throws -> Counted {
        var next = -1
        return value(
            try compute(node, captured) { _ in
                next += 1; return values[next].number
            })
    }

    func evaluate(_ node: Int, _ captured: Captured, _ inputs: GraphInputs<Counted>) throws -> Counted {
        var next = -1
        return value(
            try compute(node, captured) { _ in
                next += 1; return try inputs[next].number
            })
    }

    /// An observer that exists when this returns, or one that has failed in its first run and never came to be.
    func makeObserver() throws {
        let owner = owner
        let node = addNode(.observer)
        let formula = formula(for: node)
        model.nodes[node].formula = formula
        let operands = formula.operands.map { ids[$0] }
        let captured = capture(for: node)
        do {
            let id =
                switch formula.kind {
                case .one: try graph.observe(operands[0]) { [unowned self] in try observe(node, captured, [$0]) }
                case .two:
                    try graph.observe(operands[0], operands[1]) { [unowned self] in
                        try observe(node, captured, [$0, $1])
                    }
                case .many: try graph.observe(over: operands) { [unowned self] in try observe(node, captured, $0) }
                default:
                    try graph.observe { [unowned self] context in
                        try note(node) { try compute(node, captured) { try self.read($0, in: context) } }
                    }
                }
            if id == ids[node] { return }
            // What it reads must have destroyed it before, perhaps in a cleanup, of which the model is told later.
            if core.isAlive(id) || owner != nil && model.nodes[node].isAlive && ending.isEmpty {
                fault("observer \(node) did not run when it was made")
            }
            end(.node(node))
        } catch {
            // It may also be the error of another that ran after it.
            if ids[node] == DestructiveGraph.none || model.nodes[node].hasThrown { end(.node(node)) }
            throw error
        }
    }

    func observe(_ node: Int, _ captured: Captured, _ values: [Counted]) throws {
        var next = -1
        try note(node) {
            try compute(node, captured) { _ in
                next += 1; return values[next].number
            }
        }
    }

    func observe(_ node: Int, _ captured: Captured, _ inputs: GraphInputs<Counted>) throws {
        var next = -1
        try note(node) {
            try compute(node, captured) { _ in
                next += 1; return try inputs[next].number
            }
        }
    }

    /// What an observer has seen. It fails now and then, and always if it has begun with that.
    func note(_ node: Int, _ body: () throws -> Int) throws {
        do { model.nodes[node].seen = .value(try body()) } catch { model.nodes[node].seen = fate(of: error) }
        if fuel > 0 && generator.chance(2) {
            if model.nodes[node].runs == 1 { model.nodes[node].hasThrown = true }
            throw Boom()
        }
    }

    /// Something that goes with the node's closure, and may act then.
    func capture(for node: Int) -> Captured {
        guard generator.below(1000) < appetite else { return Captured(in: census) }
        return Captured(in: census) { [weak self] in
            self?.within(.parting(node), of: node) { try self?.tempt(often: true) }
        }
    }

    // MARK: What they compute

    /// A node reads what comes before it, and what is made before it by the same run.
    func formula(for node: Int) -> Formula {
        var operands = candidates(below: model.nodes[node].rank).filter { $0 != node }
        if case .node(let maker)? = owner { operands += ownParts(of: maker).filter { $0 != node } }
        if generator.chance(4), let gone = model.nodes.indices.randomElement(using: &generator),
            !model.nodes[gone].isAlive,
            model.nodes[gone].kind != .observer
        {
            operands.append(gone)
        }
        if operands.isEmpty || generator.chance(2) { return Formula(kind: .many, operands: []) }
        let kinds = Formula.Kind.allCases.filter { $0 != .glance || mode != .cyclic && model.nodes[node].kind == .rule }
        return Formula.random(among: operands, from: kinds, &generator)
    }

    /// What may be read now without meeting a rule that runs.
    func candidates(below rank: Int) -> [Int] {
        let readable = model.nodes.indices.filter { model.nodes[$0].isAlive && model.nodes[$0].kind != .observer }
        if mode != .ordered { return readable }
        let limit = min(rank, ceiling)
        return readable.filter { model.nodes[$0].rank < limit }
    }

    /// All rules that may be running have at least this rank.
    var ceiling: Int {
        var least = Int.max
        // What is made now may turn out to be that run's, and is read like the rest of it.
        if isBeside, let runner { least = model.nodes[runner].rank }
        for frame in frames {
            switch frame {
            case .body(let node) where model.nodes[node].kind == .rule: least = min(least, model.nodes[node].rank)
            case .cleanup(let node), .parting(let node): least = min(least, model.nodes[node].rank)
            case .body, .scope: break
            }
        }
        return least
    }

    /// What the run of a node has made itself, outside scopes, that can be read.
    func ownParts(of maker: Int) -> [Int] {
        model.nodes[maker].made.compactMap { thing in
            guard case .node(let node) = thing, model.nodes[node].isAlive, model.nodes[node].kind != .observer else {
                return nil
            }
            return node
        }
    }
}
