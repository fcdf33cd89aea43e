import AttributeGraph
import AttributeValues

// The life of places in values and of clocks: each is one vertex for all that use it. A use is a source that names the vertex, a
// reader of the engine, or a watch. Sources are counted, because a rule that has not run yet has no edges. When the last source
// goes, a watch ends or a reader is destroyed, the vertex is noted as idle, and the next sweep frees it if it has no use. A rule
// that reads another key than before only drops an edge, which the engine reports to nobody. Therefore a sweep looks at all
// vertices that no source names once as many edges and watches have gone as there are such vertices.

extension ViewGraph {
    /// Fewer edges and watches that have gone are not worth a look at the loose vertices.
    private static let leastEndedUses = 64

    /// A vertex has this source from now on.
    func hold(_ source: Source) {
        forEachVertex(in: source) { holdShared($0) }
    }

    func holdShared(_ vertex: AttributeID) {
        if isShared(vertex) { attributes[Int(vertex.index)]?.holders += 1 }
    }

    /// A vertex has another source now, or has gone.
    func release(_ source: Source) {
        forEachVertex(in: source) { vertex in
            guard isShared(vertex) else { return }
            attributes[Int(vertex.index)]?.holders -= 1
            if attributes[Int(vertex.index)]?.holders == 0 { idleVertices.append(vertex) }
        }
    }

    /// Something that used these vertices, if they are shared, has gone.
    func noteIdle(_ vertices: [AttributeID]) {
        for vertex in vertices where isShared(vertex) && attributes[Int(vertex.index)]?.holders == 0 { idleVertices.append(vertex) }
    }

    private func isShared(_ vertex: AttributeID) -> Bool {
        engine.isAlive(vertex) && attributes[Int(vertex.index)]?.isShared == true
    }

    private func forEachVertex(in source: Source, _ body: (AttributeID) -> Void) {
        switch source {
        case .alias(let place, let vertex):
            body(place.attribute)
            if let vertex { body(vertex) }
        case .rule(let rule):
            for input in rule.sources {
                switch input {
                case .attribute(let vertex): body(vertex)
                case .presence(let vertex, let holder):
                    body(vertex)
                    body(holder)
                case .dynamic, .failure: break
                }
            }
        default: break
        }
    }

    /// Edges and watches that have gone so far.
    private var endedUses: UInt64 { engine.counters.edgesRemoved &+ watchesEnded }

    /// Frees the shared vertices that nobody uses any more. Not while rules run.
    public func sweepVertices() {
        sweepIdle()
        guard endedUses &- endedUsesAtSweep >= UInt64(max(ViewGraph.leastEndedUses, looseVertices.count)) else { return }
        endedUsesAtSweep = endedUses
        let loose = looseVertices
        looseVertices = []
        for vertex in loose where isShared(vertex) {
            attributes[Int(vertex.index)]?.isLoose = false
            idleVertices.append(vertex)
        }
        sweepIdle()
    }

    private func sweepIdle() {
        // What a vertex held may be without use when it is freed.
        while !idleVertices.isEmpty {
            let idle = idleVertices
            idleVertices = []
            for vertex in idle where isShared(vertex) {
                guard let record = attributes[Int(vertex.index)], record.holders == 0, !freeIfUnused(vertex, record), !record.isLoose
                else { continue }
                attributes[Int(vertex.index)]?.isLoose = true
                looseVertices.append(vertex)
            }
        }
    }

    /// - Returns: whether the vertex, which no source names, had no other use either.
    private func freeIfUnused(_ vertex: AttributeID, _ record: AttributeRecord) -> Bool {
        guard !engine.isRead(vertex), !engine.isWatched(vertex), record.projections == nil else { return false }
        if let owner = whole(of: vertex) {
            guard let tree = attributes[Int(owner.index)]?.projections else { preconditionFailure("a place without its tree") }
            tree.remove(at: record.steps)
            if tree.root.isLeaf {
                attributes[Int(owner.index)]?.projections = nil
                noteIdle([owner])
            }
        } else if let schedule = clockSchedules.removeValue(forKey: vertex) {
            clocks[schedule] = nil
            clockObservations[vertex] = nil
        }
        free(vertex, record)
        return true
    }
}
