import AttributeGraph
import AttributeValues

/// How many edges and watches have ever begun and ended.
struct UseCounts: Equatable {
    var begun: UInt64
    var ended: UInt64
}

/// The shared vertices that a sweep has to look at: places in values and clocks, each of which is one vertex for all that use it.
///
/// A use is a source that names the vertex, a reader of the engine, or a watch. Sources are counted, because a rule that has not run
/// yet has no edges. When the last source goes, a watch ends or a reader is destroyed, the vertex is noted as idle, and the next
/// sweep frees it if it has no use. A rule that reads another key than before only drops an edge, which the engine reports to nobody.
/// Therefore a sweep looks at all loose vertices, which no source names, once as many uses have ended as there are such vertices.
struct SharedVertices {
    private var idle: [AttributeID] = []
    private var loose: [AttributeID] = []
    /// Uses that had ended at the last look at `loose`.
    private var endedAtSweep: UInt64 = 0

    /// Fewer uses that have ended are not worth a look at the loose vertices.
    private static let leastEnded = 64

    var hasLoose: Bool { !loose.isEmpty }

    /// A vertex may have lost all its uses.
    mutating func noteIdle(_ vertex: AttributeID) { idle.append(vertex) }

    /// No source names a vertex, but somebody reads or watches it.
    mutating func noteLoose(_ vertex: AttributeID) { loose.append(vertex) }

    /// The vertices to look at now; each is noted again if it stays.
    mutating func takeIdle() -> [AttributeID] {
        defer { idle = [] }
        return idle
    }

    /// The loose vertices, when it is time to look at them.
    mutating func takeLoose(_ uses: UseCounts) -> [AttributeID] {
        guard uses.ended &- endedAtSweep >= UInt64(max(SharedVertices.leastEnded, loose.count)) else { return [] }
        endedAtSweep = uses.ended
        defer { loose = [] }
        return loose
    }

    mutating func giveBack() {
        idle.giveBack()
        loose.giveBack()
    }
}

extension ViewGraph {
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
            if attributes[Int(vertex.index)]?.holders == 0 { sharing.noteIdle(vertex) }
        }
    }

    /// Something that used these vertices, if they are shared, has gone.
    func noteIdle(_ vertices: [AttributeID]) {
        for vertex in vertices where isShared(vertex) && attributes[Int(vertex.index)]?.holders == 0 { sharing.noteIdle(vertex) }
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

    var uses: UseCounts {
        let counters = engine.counters
        return UseCounts(begun: counters.edgesAdded &+ watches.begun, ended: counters.edgesRemoved &+ watches.ended)
    }

    /// Frees the shared vertices that nobody uses any more. Not while rules run.
    public func sweepVertices() {
        sweepIdle()
        for vertex in sharing.takeLoose(uses) where isShared(vertex) {
            attributes[Int(vertex.index)]?.isLoose = false
            sharing.noteIdle(vertex)
        }
        sweepIdle()
    }

    private func sweepIdle() {
        // What a vertex held may be without use when it is freed.
        while case let idle = sharing.takeIdle(), !idle.isEmpty {
            for vertex in idle where isShared(vertex) {
                guard let record = attributes[Int(vertex.index)], record.holders == 0, !freeIfUnused(vertex, record), !record.isLoose
                else { continue }
                attributes[Int(vertex.index)]?.isLoose = true
                sharing.noteLoose(vertex)
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
        } else {
            clocks.remove(vertex)
        }
        free(vertex, record)
        return true
    }
}
