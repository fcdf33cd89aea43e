@testable import AttributeGraph
@testable import ReactiveGraph

/// Rules, observers and cleanups of the random graph.
extension DestructiveGraph {
    /// The body of a rule or observer: computes its formula, doing other things meanwhile.
    func compute(_ node: Int, _ captured: Captured, _ read: (Int) throws -> Int) throws -> Int {
        enter(node)
        defer { leave(node) }
        if !captured.isAlive { fault("what the closure of \(node) holds has gone") }
        try tempt()
        let formula = model.nodes[node].formula
        let value = try formula.value(
            { operand in
                let value = try read(operand)
                try tempt()
                return value
            }, glance: { _ = try peek($0) })
        try readOwn(node)
        try tempt()
        return LifeModel.sum(value, model.nodes[node].ownReads.map(\.value))
    }

    func enter(_ node: Int) {
        if fuel == DestructiveGraph.fullTank && frames.isEmpty && model.nodes[node].kind == .observer {
            checkMakers(of: node)
        }
        let isAdopted = owner == nil
        frames.append(.body(node))
        guard let id = core.runningAttribute else {
            return fault("\(node) runs, and the engine knows of nothing that does")
        }
        introduce(node, id, isAdopted: isAdopted)
        if !model.nodes[node].isAlive { fault("\(node) runs although it is gone") }
        for cleanup in model.openCleanups.filter({ $0.value == node }).keys {
            fault("\(node) runs before its cleanup \(cleanup) is done")
        }
        for thing in model.nodes[node].made { end(thing) }
        // A run that is given up in the cleanups before it takes along what these have made.
        if let restarts = restartsAtMaking.removeValue(forKey: node), restarts != core.counters.restarts {
            for thing in model.nodes[node].madeBefore where !isLeft(thing) { end(thing) }
        }
        model.nodes[node].made = model.nodes[node].madeBefore
        model.nodes[node].madeBefore = []
        model.nodes[node].ownReads = []
        model.nodes[node].runs += 1
        model.nodes[node].lastRunIn = stepsTaken
        model.nodes[node].hasThrown = false
        // When it does not run because an input has failed, this tells that what it has made goes.
        if model.nodes[node].formula.needsAll && appetite > 0 { addCleanup() }
    }

    /// An observer that is due runs before those that its last run has made, which go with that. One that makes itself
    /// due again has had its turn; and what closures do, or what goes when a rule runs again, may make one due when it
    /// is too late: so nothing of that must have happened.
    private func checkMakers(of node: Int) {
        if hasLost || !model.nodes[node].made.isEmpty { return }
        for maker in model.makers(of: node)
        where model.nodes[maker].kind == .observer && model.nodes[maker].lastRunIn != stepsTaken {
            let flags = core.s.pointee.vertex(ids[maker].index).pointee.flags
            if core.isAlive(ids[maker]) && flags.contains(.maybe) {
                fault("\(node) runs before \(maker), which made it and is due")
            }
        }
    }

    func leave(_ node: Int) {
        if frames.last != .body(node) { fault("\(node) ends inside \(frames.last.map { "\($0)" } ?? "nothing")") }
        frames.removeLast()
    }

    /// A rule that tracks what it reads reads some of what it has made.
    func readOwn(_ node: Int) throws {
        guard !model.nodes[node].formula.isFixed, model.nodes[node].isAlive else { return }
        for part in ownParts(of: node) where generator.chance(60) {
            var value = -1
            do { value = try read(part, in: graph.context) } catch let error where !(error is Interruption) {}
            model.nodes[node].ownReads.append(.init(node: part, value: value, isFinal: !model.nodes[part].isAlive))
        }
    }

    // MARK: Reading

    func read(_ node: Int, in context: GraphContext<Counted>) throws -> Int {
        let wasGone = !model.nodes[node].isAlive
        do {
            let number =
                generator.chance(80) ? try context[ids[node]].number : try context.withRead(ids[node]) { $0.number }
            if wasGone { fault("\(node) was read although it is gone") }
            return number
        } catch {
            if wasGone { expectRemoved(node, error) }
            throw error is Interruption ? error : fate(of: error)
        }
    }

    func peek(_ node: Int) throws -> Int {
        let wasGone = !model.nodes[node].isAlive
        do {
            let number = try graph.peek(ids[node]).number
            if wasGone { fault("\(node) was looked at although it is gone") }
            return number
        } catch {
            if wasGone { expectRemoved(node, error) }
            if error is Interruption { throw error }
            return -1
        }
    }

    func expectRemoved(_ node: Int, _ error: any Error) {
        if error is Interruption || ids[node] == DestructiveGraph.none { return }
        if error as? GraphError != .removed(ids[node]) { fault("\(node) is gone, and reading it gives \(error)") }
    }

    func fate(of error: any Error) -> Fate {
        switch error {
        case let fate as Fate: fate
        case GraphError.removed(let id): nodes[id].map { .removed($0) } ?? .other("\(id) was never there")
        case GraphError.cycle: .cycle
        case is RuleFailure: .failed
        default: .other("\(error)")
        }
    }

    // MARK: Cleanups

    /// Registers something to be done before the running closure runs again or goes. Where nothing runs it has no
    /// effect.
    func addCleanup() {
        let cleanup = model.cleanupsEver
        model.cleanupsEver += 1
        let runs = runner
        if let runs { model.openCleanups[cleanup] = runs }
        let captured = Captured(in: census)
        graph.onCleanup { [unowned self] in cleanUp(cleanup, captured) }
    }

    func cleanUp(_ cleanup: Int, _ captured: Captured) {
        guard let node = model.openCleanups.removeValue(forKey: cleanup) else {
            return fault("cleanup \(cleanup) is done once too often")
        }
        if !captured.isAlive { fault("what cleanup \(cleanup) holds has gone") }
        if model.nodes[node].formula.needsAll { ending += model.nodes[node].made }
        within(.cleanup(node), of: node) { try tempt(often: true) }
    }

    /// Does something that nobody is told the errors of.
    func within(_ frame: Frame, of node: Int, _ body: () throws -> Void) {
        if isOver { return }
        let runner = core.runningAttribute.flatMap { nodes[$0] }
        let wasBeginning = runner.flatMap { isBeginning[$0] }
        if let runner, wasBeginning == nil || runner == node {
            isBeginning[runner] = !running.contains(runner) && isCleanedUp(node, before: runner)
        }
        defer { if let runner { isBeginning[runner] = wasBeginning } }
        frames.append(frame)
        try? body()
        if frames.last != frame { fault("\(frame) ends inside another") }
        frames.removeLast()
    }

    // MARK: Going

    /// Something goes, with all that belongs to it. The engine must have let go of it by now; while cleanups run, or
    /// closures go, perhaps only when that is done: it may be part of what they belong to.
    func end(_ thing: LifeModel.Thing) {
        hasLost = true
        let running = running
        let isSure = !isAnythingBeside
        for part in model.subtree(of: thing) where isSure || !isLeft(part) {
            if isSure && isLeft(part) { fault("\(part) has not gone") }
            if isSure, case .node(let node) = part, !isKept(node), model.openCleanups.values.contains(node) {
                fault("\(node) has gone without its cleanup")
            }
            model.end(part, whileRunning: running)
        }
        if !isSure { ending.append(thing) }
    }

    /// What goes while something runs is kept until nothing does: what it has registered last is done then.
    private func isKept(_ node: Int) -> Bool {
        let row = core.s.pointee.vertex(ids[node].index).pointee
        return row.kind.isCondemned && row.generation == ids[node].generation &+ 1
    }

    func isLeft(_ thing: LifeModel.Thing) -> Bool {
        switch thing {
        case .node(let node): model.nodes[node].isAlive && core.isAlive(ids[node])
        case .scope(let scope): scopeIDs[scope].map { graph.context.isAlive($0) } ?? false
        }
    }
}
