import TestSupport
@testable import AttributeGraph
@testable import ReactiveGraph

/// What happens to the random graph from outside, and what must hold of it at rest.
extension DestructiveGraph {
    /// One operation, with as many acts of closures as there is fuel for. Afterwards all observers have run that are
    /// due.
    func step() {
        fuel = DestructiveGraph.fullTank
        stepsTaken += 1
        hasLost = false
        if !writeAgain() { try? operate() }
        try? graph.batch {}
        fuel = 0
        settle()
        check()
    }

    private func operate() throws {
        switch generator.below(100) {
        case 0..<26: try write()
        case 26..<36: try graph.batch { for _ in 0..<(1 + generator.below(5)) { try write() } }
        case 36..<42:
            if let input = model.living(.input).randomElement(using: &generator) {
                repeated = (input, model.living(.rule).randomElement(using: &generator), 3 + generator.below(8))
            }
        case 42..<58:
            if let node = model.living(.rule).randomElement(using: &generator) { _ = try graph.read(ids[node]) }
        case 58..<72: if model.living.count < 40 { makeRule() }
        case 72..<77: if model.living.count < 40 { makeInput() }
        case 77..<84: if model.living(.observer).count < 8 { try makeObserver() }
        case 84..<88: if model.livingScopes.count < 8 { try openScope() }
        case 88..<90: try disposeOfScope()
        case 90..<94: if model.living.count > 15 { try disposeOfSomething() }
        case 94..<97: try redefine()
        default: bringUpToDate()
        }
        if model.living(.input).isEmpty { makeInput() }
    }

    /// The next write of those that come in succession, mostly followed by a read; false if none is due.
    private func writeAgain() -> Bool {
        guard let (input, target, left) = repeated, left > 0, model.nodes[input].isAlive else { return false }
        repeated = (input, target, left - 1)
        if generator.chance(50) { try? graph.batch { try write(to: input) } } else { try? write(to: input) }
        if let target, model.nodes[target].isAlive, generator.chance(90) { _ = try? graph.peek(ids[target]) }
        return true
    }

    /// Runs the observers that are due until none is. No closure acts now, so that has an end.
    private func settle() {
        for _ in 0..<4 {
            do { return try graph.batch {} } catch GraphError.unsettled {
                return fault("the observers do not come to rest")
            } catch {}
        }
    }

    /// Reads every rule, until reading makes none stale.
    func bringUpToDate() {
        fuel = 0
        for _ in 0...model.living.count {
            let rules = model.living(.rule).filter { core.isAlive(ids[$0]) }
            let evaluations = core.counters.evaluations
            for node in rules { _ = try? graph.peek(ids[node]) }
            if core.counters.evaluations == evaluations {
                for node in rules where core.isAlive(ids[node]) && core.isInvalidated(ids[node]) {
                    fault("\(node) stays stale")
                }
                return
            }
        }
        fault("the rules do not come to rest")
    }

    // MARK: What must hold

    /// Compares everything that can be seen.
    func check() {
        faults += core.checkInvariants() + graph.context.checkScopes()
        if !frames.isEmpty { fault("\(frames) are open at rest") }
        let ending = ending
        self.ending = []
        for thing in ending { end(thing) }
        checkLives()
        checkOwners()
        checkHeld()
        if mode != .wild { checkValues() }
        if let gone = model.nodes.indices.randomElement(using: &generator), !model.nodes[gone].isAlive {
            _ = try? peek(gone)
        }
    }

    private func checkLives() {
        for node in model.nodes.indices where model.nodes[node].isAlive {
            if !core.isAlive(ids[node]) { fault("\(node) has gone"); continue }
            if engineOwner(graph.context.scope(of: ids[node])) != model.nodes[node].owner {
                fault("\(node) is in the wrong scope")
            }
        }
        if UInt64(model.living.count) != core.counters.liveAttributes {
            fault("\(core.counters.liveAttributes) attributes live in place of \(model.living.count)")
        }
        for scope in model.scopes.indices {
            if let id = scopeIDs[scope], graph.context.isAlive(id) != model.scopes[scope].isAlive {
                fault("scope \(scope) lives wrongly")
            }
        }
        for (cleanup, node) in model.openCleanups where !model.nodes[node].isAlive {
            fault("cleanup \(cleanup) of \(node) was not done")
        }
        if graph.context.table.pointee.cleanupCount != model.openCleanups.count { fault("the cleanups are miscounted") }
    }

    /// What runs have made is known to be theirs, and nothing else is.
    private func checkOwners() {
        let table = graph.context.table
        for row in 0..<table.pointee.scopes.count {
            let (scope, owner) = (table.pointee.scope(at: UInt32(row)), table.pointee.scopes.base[row].owner)
            if owner != 0 && table.pointee.extras(of: owner)?.scope != scope {
                fault("\(scope) is said to be \(owner)'s")
            }
        }
        for node in model.living where model.nodes[node].kind != .input && core.isAlive(ids[node]) {
            guard let scope = table.pointee.extras(of: ids[node].index)?.scope, graph.context.isAlive(scope) else {
                continue
            }
            if table.pointee.owner(of: scope) != ids[node].index { fault("\(node) does not own what it has made") }
        }
    }

    /// Every value is held by its attribute and nobody else, every closure by its attribute or as a cleanup.
    private func checkHeld() {
        let full = model.living.count { !core.s.pointee.vertex(ids[$0].index).pointee.flags.contains(.empty) }
        if census.values != full { fault("\(census.values) values live, of \(full) attributes that have one") }
        let closures = model.living.count { model.nodes[$0].kind != .input } + model.openCleanups.count
        if census.closures != closures { fault("\(census.closures) closures live in place of \(closures)") }
    }

    /// What is valid has the value that a computation from nothing gives, and observers have seen the last values.
    private func checkValues() {
        var judge = model.judge()
        for node in model.living where core.isAlive(ids[node]) {
            let isMarked = core.isInvalidated(ids[node])
            if model.nodes[node].kind == .observer {
                if isMarked { fault("observer \(node) was not run"); continue }
                // One over inputs that fail is told so in place of being run.
                let failure = model.nodes[node].formula.needsAll ? graph.failure(of: ids[node]) : nil
                let seen = failure is Boom ? nil : failure.map { fate(of: $0) }
                compare("observer \(node) has seen", seen ?? model.nodes[node].seen, judge.fate(of: node))
            } else if !isMarked {
                let fate = Result { try graph.peek(ids[node]).number }
                switch fate {
                case .success(let number): compare("\(node) is", .value(number), judge.fate(of: node))
                case .failure(let error): compare("\(node) is", self.fate(of: error), judge.fate(of: node))
                }
            }
        }
    }

    private func compare(_ what: String, _ fate: Fate?, _ expected: Fate) {
        if fate != expected { fault("\(what) \(fate.map { "\($0)" } ?? "nothing") in place of \(expected)") }
    }

    /// Disposes of everything.
    func clear() {
        fuel = 0
        for node in model.nodes.indices where model.nodes[node].isAlive && ids[node] != DestructiveGraph.none {
            try? dispose(node)
        }
        for scope in model.livingScopes { if let id = scopeIDs[scope] { try? graph.dispose(id); end(.scope(scope)) } }
        check()
        if census.values != 0 || census.closures != 0 { fault("something is left of what has been disposed of") }
    }
}
