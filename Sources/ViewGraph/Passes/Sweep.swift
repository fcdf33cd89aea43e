import AttributeGraph
import AttributeValues

// Reads: `sharing`: the shared vertices that have lost a use.
// Writes: frees those without another use, also those that the first ones have used.
// Leaves: no shared vertex that nobody names, reads or watches. Edges of rules that run are dropped without notice; the
// vertices behind them are looked for after some time.

extension Wiring {
    /// Frees the shared vertices that nobody uses any more. Not while rules run.
    public func sweepVertices() {
        sweepIdle()
        if !sharing.hasLoose { return }
        for vertex in sharing.takeLoose(uses) {
            guard let uses = uses(of: vertex) else { continue }
            uses.isLoose = false
            sharing.noteIdle(vertex)
        }
        sweepIdle()
    }

    private func sweepIdle() {
        // Freeing a vertex may leave others without a use.
        while sharing.hasIdle {
            for vertex in sharing.takeIdle() {
                guard let uses = uses(of: vertex), uses.count == 0, !freeIfUnused(vertex, record(vertex)),
                    !uses.isLoose
                else { continue }
                uses.isLoose = true
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
        if let place = record.place {
            place.removeVertex()
            if place.tree.isEmpty {
                let whole = place.tree.whole
                if attributes.reports(whole) === place.tree {
                    attributes.setReports(nil, at: whole)
                } else {
                    attributes[whole]?.projections = nil
                }
                noteIdle([whole])
            }
        } else {
            clocks.remove(vertex)
            forgetRootReference(record.source)
            derived.remove(vertex)
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
