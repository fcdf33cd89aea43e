import AttributeGraph
import AttributeValues
import SceneModel

// After a change, new nodes are connected and lists follow their data, until nothing changes any more.

extension ViewGraph {
    /// Makes the writes of the open transaction visible, and updates lists from their data. Evaluates only what the
    /// tree depends on, and again what was read since the transaction was opened.
    /// - Parameter commit: gets what was changed. Its memory is used again.
    public func commit(into commit: inout Commit) {
        closeTransaction(into: &commit)
        if engine.mayHaveReports { collectInvalidated() }
        if !isSettled { settleStructure() }
    }

    public func commit() -> Commit {
        var commit = Commit()
        self.commit(into: &commit)
        return commit
    }

    /// Whether `settleStructure` would find nothing to do: most writes reach nothing that the tree depends on.
    private var isSettled: Bool {
        sharing.isEmpty && staleForEach.isEmpty && unboundNodes.isEmpty && unbegun.isEmpty
            && !persistence.hasMade && !places.hasLocators && !nodes.hasPlaces && roots.isEmpty && timedValues.isEmpty
    }

    /// Updates instances from their data until nothing changes any more: instances may contain further `forEach`. Other
    /// vertices that may have changed are collected in `watches`.
    func settleStructure() {
        sweepVertices()
        completeNew()
        connectNew()
        followRootReferences()
        collectInvalidated()
        if !staleForEach.isEmpty || nodes.hasPlaces { settleLists() }
        followRootReferences()
        if !unbegun.isEmpty { beginStates() }
        places.forgetLocators()
        stored.feedPasts()
    }

    func settleLists() {
        var settlement = Settlement()
        while true {
            collectInvalidated()
            for row in settlement.endless.keys { staleForEach.remove(row) }
            if staleForEach.isEmpty {
                staleForEach = nodes.placements.placesToComplete(at: nodes.changes)
                for row in settlement.endless.keys { staleForEach.remove(row) }
            }
            if staleForEach.isEmpty {
                if nodes.placements.isSettled { break }
                settlePlacements()
                continue
            }
            // Outer lists first: an inner one may go with its element. Rows order the others, so that each run does the
            // same.
            let rows = staleForEach.map { (depth: nodes.depth(of: $0), row: $0) }.sorted { $0 < $1 }
            staleForEach = []
            for (_, row) in rows where nodes.isAlive(row) && nodes[Int(row)].instances != nil {
                if !nodes.isLinked(row) { continue }
                noteUpdate(update(forEach: row), of: row, &settlement)
            }
            completeNew()
            connectNew()
        }
        noteEndless(settlement)
    }

    /// Sets every clock to its last tick at or before `time`. A clock without a new tick changes nothing. Operators
    /// over time whose result changes now are evaluated.
    public func advance(to time: Timestamp) {
        for (vertex, reading) in clocks.advance(to: time) { setInput(vertex, .value(.timestamp(reading))) }
        if advanceTimedValues(to: time) || timedValues.hasDue { settleStructure() }
    }

    /// Lets deferred rules run when they are next read, and updates the tree.
    /// - Returns: whether the tree or a watched attribute may have changed.
    public func resumeWaitingRules() -> Bool {
        for attribute in evaluation.takeWaiting() where engine.isAlive(attribute) {
            do { try engine.invalidate(attribute) } catch { preconditionFailure("a living rule cannot be run again") }
        }
        settleStructure()
        collectInvalidated()
        return !watches.invalidated.isEmpty || !structureChange.isEmpty
    }

    // MARK: Connecting

    /// Connects all nodes made since the last call: parents before children, references before
    /// rules.
    func connectNew() {
        let rows = unboundNodes
        unboundNodes = []
        connect(rows)
    }

    /// Connects nodes again after their surroundings changed.
    func connect(_ rows: [UInt32]) {
        for row in rows where nodes.isAlive(row) {
            connectReferences(of: row)
            // Instances come later: what they bind to is found through their elements.
            if nodes[Int(row)].kind.isMadeFromData { connectForEach(row) }
        }
        for row in rows where nodes.isAlive(row) { connectRules(of: row) }
        stored.restoreNewPasts()
    }

    func connectRules(of row: UInt32) {
        for action in connectExpressions(of: row) { reactions.connect(action, at: row) }
    }
}
