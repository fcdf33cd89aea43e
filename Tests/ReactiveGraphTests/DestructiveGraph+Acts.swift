@testable import AttributeGraph
@testable import ReactiveGraph

/// What closures of the random graph do beside computing: anything that the graph allows, and some of what it refuses.
extension DestructiveGraph {
    /// Does something, perhaps. Only an interruption is passed on, and not even that every time.
    func tempt(often: Bool = false) throws {
        guard fuel > 0, generator.below(1000) < (often ? max(appetite, 400) : appetite) else { return }
        fuel -= 1
        do { try act() } catch let error where !(error is Interruption) || generator.chance(20) {}
    }

    func act() throws {
        switch generator.below(100) {
        case 0..<26: try disposeOfSomething()
        case 26..<32: try disposeOfScope()
        case 32..<46: if mayMake { makeRule() }
        case 46..<52: if mayMake { makeInput() }
        case 52..<62: if mayMake && mayObserve { try makeObserver() }
        case 62..<69: if mayMake { try openScope() }
        case 69..<80: addCleanup()
        case 80..<86:
            if mayLook, let node = candidates(below: .max).randomElement(using: &generator) { _ = try peek(node) }
        case 86..<94: try write()
        case 94..<97: try graph.batch { for _ in 0..<3 { try tempt(often: true) } }
        default: try graph.untracked { for _ in 0..<2 { try tempt(often: true) } }
        }
    }

    // MARK: What is possible

    /// Not before the run of what may not come to run: what it makes then goes without notice. Nor by a closure that
    /// goes while a run is beginning or ending: whose it is cannot be told.
    var mayMake: Bool {
        if model.living.count >= 60 { return false }
        guard isBeside, let runner, !running.contains(runner) else { return true }
        if case .parting = innermost { return false }
        return !model.nodes[runner].formula.needsAll
    }

    /// On cycles an observer would look at what is running.
    var mayObserve: Bool { mode != .cyclic || !isRuleRunning && !isBeside }

    var mayLook: Bool { mode != .cyclic }

    var isRuleRunning: Bool {
        frames.contains { if case .body(let node) = $0 { model.nodes[node].kind == .rule } else { false } }
    }

    // MARK: Destroying

    /// Mostly something near: the closure's own node, what made it, its parts, its inputs and theirs, what was made
    /// beside it.
    func disposeOfSomething() throws {
        var candidates = model.nodes.indices.filter { model.nodes[$0].isAlive && ids[$0] != DestructiveGraph.none }
        if case .body(let node)? = frames.last, generator.chance(70) {
            let operands = model.nodes[node].formula.operands
            var near = [node] + model.makers(of: node) + operands + ownParts(of: node)
            near += operands.flatMap { model.nodes[$0].formula.operands }
            if let maker = model.maker(of: node) { near += ownParts(of: maker) }
            near = near.filter { ids[$0] != DestructiveGraph.none }
            if !near.isEmpty { candidates = near }
        }
        if let node = candidates.randomElement(using: &generator) { try dispose(node) }
    }

    func dispose(_ node: Int) throws {
        defer { end(.node(node)) }
        try graph.dispose(ids[node])
    }

    func disposeOfScope() throws {
        let candidates = model.livingScopes.filter { scopeIDs[$0] != nil }
        guard let scope = candidates.randomElement(using: &generator), let id = scopeIDs[scope] else { return }
        defer { end(.scope(scope)) }
        try graph.dispose(id)
    }

    // MARK: Scopes

    /// Makes things in a scope; it is disposed of at once if that fails.
    func openScope() throws {
        let owner = owner
        let scope = model.addScope(to: owner ?? .graph)
        scopeIDs.append(nil)
        do {
            let made = try graph.scope {
                frames.append(.scope(scope))
                try fill(scope, isAdopted: owner == nil)
                frames.removeLast()
            }
            if made.scope != scopeIDs[scope] { fault("scope \(scope) is \(made.scope)") }
        } catch {
            if frames.last == .scope(scope) { frames.removeLast() }
            end(.scope(scope))
            throw error
        }
    }

    private func fill(_ scope: Int, isAdopted: Bool) throws {
        let node = model.addNode(.input, to: .scope(scope))
        ids.append(graph.input(value(0)))
        nodes[ids[node]] = node
        let id = graph.context.scope(of: ids[node])
        scopeIDs[scope] = id
        scopes[id] = scope
        if isAdopted { adopt(.scope(scope), in: engineOwner(graph.context.parent(of: id))) }
        for _ in 0..<(1 + generator.below(4)) { if frames.count == 1 { try make() } else { try tempt(often: true) } }
        if generator.chance(8) { throw RuleFailure() }
    }

    /// Something, not at random intervals.
    func make() throws {
        switch generator.below(10) {
        case 0..<2: makeInput()
        case 2..<7: makeRule()
        default: try makeObserver()
        }
    }

    // MARK: Writing

    func write() throws {
        if let node = model.living(.input).randomElement(using: &generator) { try write(to: node) }
        if generator.chance(3), let gone = model.nodes.indices.randomElement(using: &generator),
            !model.nodes[gone].isAlive,
            ids[gone] != DestructiveGraph.none
        {
            do { try graph.set(ids[gone], value(0)) } catch GraphError.removed(ids[gone]) { return }
            fault("\(gone) is gone, and can be written")
        }
    }

    /// Refused while a rule runs. One that has disposed of itself counts or does not, and so does one that is about to
    /// run.
    func write(to node: Int) throws {
        let isRefused = frames.contains { frame in
            if case .body(let rule) = frame {
                model.nodes[rule].kind == .rule && core.isAlive(ids[rule])
            } else {
                false
            }
        }
        let before = model.nodes[node].value
        model.nodes[node].value = generator.below(8)
        do { try graph.set(ids[node], value(model.nodes[node].value)) } catch GraphError.writeDuringEvaluation(
            ids[node])
        {
            if frames.isEmpty { fault("a write to \(node) was refused at rest") }
            model.nodes[node].value = before
            return
        }
        if isRefused { fault("a rule could write \(node)") }
    }

    /// The rule becomes another one, if it is not made over what it reads; it runs again in any case. Only at rest.
    func redefine() throws {
        guard let node = model.living(.rule).randomElement(using: &generator) else { return }
        if !model.nodes[node].formula.isFixed {
            let operands = candidates(below: model.nodes[node].rank)
            let kinds = Formula.Kind.allCases.filter { $0 != .glance && !Formula(kind: $0, operands: []).isFixed }
            if !operands.isEmpty {
                model.nodes[node].formula = Formula.random(among: operands, from: kinds, &generator)
            }
        }
        try graph.redefine(ids[node])
    }
}
