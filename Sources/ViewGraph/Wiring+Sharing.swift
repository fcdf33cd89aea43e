import AttributeGraph
import AttributeValues

extension Wiring {
    /// Counts a new source as a use of the vertices that it names.
    func holdVertices(of source: Source, _ attribute: AttributeID) {
        forEachVertex(in: source, attribute) { holdShared($0) }
    }

    func holdShared(_ vertex: AttributeID) {
        if isShared(vertex) { attributes[Int(vertex.index)]?.holders += 1 }
    }

    /// The reverse, for a source that was replaced or removed.
    func releaseVertices(of source: Source, _ attribute: AttributeID) {
        forEachVertex(in: source, attribute) { releaseShared($0) }
    }

    func releaseShared(_ vertex: AttributeID) {
        guard isShared(vertex) else { return }
        attributes[Int(vertex.index)]?.holders -= 1
        if attributes[Int(vertex.index)]?.holders == 0 { sharing.noteIdle(vertex) }
    }

    /// Notes vertices that have lost a use. They are freed later if they are shared and have no other.
    func noteIdle(_ vertices: [AttributeID]) {
        for vertex in vertices where isShared(vertex) && attributes[Int(vertex.index)]?.holders == 0 {
            sharing.noteIdle(vertex)
        }
    }

    private func isShared(_ vertex: AttributeID) -> Bool {
        engine.isAlive(vertex) && attributes[Int(vertex.index)]?.isShared == true
    }

    private func forEachVertex(in source: Source, _ attribute: AttributeID, _ body: (AttributeID) -> Void) {
        switch source {
        case .alias(let place, let vertex):
            body(place.attribute)
            if let vertex { body(vertex) }
        case .rule(let rule): forEachVertex(in: rule, attribute, body)
        case .selected(let selection, _, _):
            forEachVertex(in: selection.rule, attribute, body)
            for target in selection.targets { if let target { body(target) } }
        case .timed(let value): body(value.operand)
        default: break
        }
    }

    private func forEachVertex(in rule: BoundRule, _ attribute: AttributeID, _ body: (AttributeID) -> Void) {
        for input in rule.sources(at: BoundRule.Base(attribute)) {
            switch input {
            case .attribute(let vertex): body(vertex)
            case .presence(let vertex, let holder):
                body(vertex)
                body(holder)
            case .dynamic, .failure: break
            }
        }
    }

    var uses: UseCounts {
        let counters = engine.counters
        return UseCounts(begun: counters.edgesAdded &+ watches.begun, ended: counters.edgesRemoved &+ watches.ended)
    }

    /// Frees the shared vertices that nobody uses any more. Not while rules run.
    public func sweepVertices() {
        sweepIdle()
        if !sharing.hasLoose { return }
        for vertex in sharing.takeLoose(uses) where isShared(vertex) {
            attributes[Int(vertex.index)]?.isLoose = false
            sharing.noteIdle(vertex)
        }
        sweepIdle()
    }

    private func sweepIdle() {
        // Freeing a vertex may leave others without a use.
        while sharing.hasIdle {
            for vertex in sharing.takeIdle() where isShared(vertex) {
                guard let record = attributes[Int(vertex.index)], record.holders == 0, !freeIfUnused(vertex, record),
                    !record.isLoose
                else { continue }
                attributes[Int(vertex.index)]?.isLoose = true
                sharing.noteLoose(vertex)
            }
        }
    }

    /// Frees a vertex that no source names, if it has no other use either.
    /// - Returns: whether it was freed.
    private func freeIfUnused(_ vertex: AttributeID, _ record: AttributeRecord) -> Bool {
        guard !engine.isRead(vertex), !isWatchedByOthers(vertex, record.source), record.projections == nil else {
            return false
        }
        if let owner = wholeAttribute(of: vertex) {
            guard let tree = attributes[Int(owner.index)]?.projections else {
                preconditionFailure("a place without its tree")
            }
            tree.remove(at: record.steps)
            if tree.root.isLeaf {
                attributes[Int(owner.index)]?.projections = nil
                noteIdle([owner])
            }
        } else {
            clocks.remove(vertex)
            forgetRootReference(record.source)
            forgetTimedValue(vertex, record.source)
        }
        freeVertex(vertex, record)
        return true
    }

    /// The graph itself watches an operator over time as long as it exists; that is no use.
    private func isWatchedByOthers(_ vertex: AttributeID, _ source: Source) -> Bool {
        if case .timed = source { return false }
        return engine.isWatched(vertex)
    }
}
