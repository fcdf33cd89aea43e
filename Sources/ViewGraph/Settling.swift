import AttributeGraph
import AttributeValues
import SceneModel

// After a change, new nodes are connected and lists follow their data, until nothing changes any more.

extension ViewGraph {
    /// Makes the writes of the open transaction visible, and updates lists from their data. Evaluates only what the
    /// tree depends on, and again what was read since the transaction was opened.
    /// - Parameter commit: gets what was changed. Its memory is used again.
    public func commit(into commit: Commit) {
        closeTransaction(into: commit)
        if engine.mayHaveReports { collectInvalidated() }
        if !isSettled { settleStructure() }
    }

    public func commit() -> Commit {
        let commit = Commit()
        self.commit(into: commit)
        return commit
    }

    /// True if `settleStructure` would find nothing to do: most writes reach nothing that the tree depends on.
    private var isSettled: Bool {
        sharing.isEmpty && unsettled.isEmpty
            && !persistence.hasMade && !places.hasLocators && !nodes.hasPlaces && roots.isEmpty && timedValues.isEmpty
    }

    /// Updates instances from their data until nothing changes any more: instances may contain further `forEach`. Other
    /// vertices that may have changed are collected in `watches`.
    func settleStructure() {
        completeNew()
        connectNew()
        followRootReferences()
        collectInvalidated()
        if !unsettled.lists.isEmpty || !unsettled.indices.isEmpty || nodes.hasPlaces { settleLists() }
        followRootReferences()
        if !unsettled.states.isEmpty { beginStates() }
        places.forgetLocators()
        stored.feedPasts()
        // The places in the elements of instances that went.
        sweepVertices()
    }

    func settleLists() {
        var settlement = Settlement()
        while true {
            collectInvalidated()
            let stale = lists.takeStale(settlement)
            if stale.isEmpty {
                if !nodes.placements.isSettled(at: nodes.changes) {
                    settlePlacements()
                } else if !unsettled.indices.isEmpty {
                    updateIndices()
                } else {
                    break
                }
                continue
            }
            for (_, row) in stale where nodes.isAlive(row) && nodes.isLinked(row) {
                let update = updateInstances(of: row)
                if let loop = lists.findLoop(after: update, of: row, &settlement) { stop(loop, &settlement) }
            }
            completeNew()
            connectNew()
        }
        lists.noteEndless(settlement)
    }

    /// Makes the instances of a list agree with its data, if the data is valid.
    private func updateInstances(of row: NodeRow) -> ListUpdate {
        do throws(Failure) {
            guard let edit = try lists.findEdit(of: row) else { return .none }
            perform(edit)
            return edit.update
        } catch {
            if lists.noteRefusal(error, at: row) { removeInstances(of: row) }
            if let held = lists.findHeld(of: row) { perform(held) }
            return .refused
        }
    }

    private func perform(_ edit: ListEdit) {
        let row = edit.row
        structureChange.beginList(nodes.nodeID(row))
        defer { structureChange.endList() }
        let gone = lists.performEdit(edit) { instantiate($0, id: Name($1), under: row, slot: .content) }
        for instance in gone { destroySubtree(instance) }
    }

    /// Removes all instances, when they cannot be kept. The list then makes new ones.
    func removeInstances(of row: NodeRow) { destroySubtrees(lists.emptyList(row)) }

    /// Removes the instances of all lists in a loop. Each list gets an error that names the loop.
    private func stop(_ loop: [AttributeID], _ settlement: inout Settlement) {
        for (list, failure) in lists.findEndless(in: loop) where nodes.isAlive(list) {
            removeInstances(of: list)
            lists.noteStopped(list, failure, loop, &settlement)
        }
    }

    /// Sets every clock to its last tick at or before `time`. A clock without a new tick changes nothing. Operators
    /// over time whose result changes now are evaluated.
    /// - Parameters:
    ///   - elapsed: the time since the machine was booted, which operators use. Only differences count.
    ///   - sleep: seconds before `wall` in which the machine was asleep.
    public func advance(to wall: Timestamp, elapsed: TimeSpan, after sleep: Double = 0) {
        for (vertex, reading) in clocks.advance(to: wall) { setInput(vertex, .value(.timestamp(reading))) }
        if advanceTimedValues(to: wall, elapsed: elapsed, after: sleep) || timedValues.hasDue { settleStructure() }
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
        connect(unsettled.takeNodes())
    }

    /// Connects nodes again after their surroundings changed.
    func connect(_ rows: [NodeRow]) {
        haveReferencesMoved = false
        for row in rows where nodes.isAlive(row) { connectData(of: row) }
        if haveReferencesMoved {
            for row in rows where nodes.isAlive(row) { renewReferences(of: row) }
        }
        for row in rows where nodes.isAlive(row) { connectRules(of: row) }
        beginAgain(at: rows)
        stored.restoreNewPasts()
    }

    /// Connects the references of a node, and the data of a list. Its instances come later: what they bind to is found
    /// through their elements.
    func connectData(of row: NodeRow) {
        if nodes.hasPlaces { renewStanding(of: row) }
        connectReferences(of: row)
        if nodes[row].kind.isMadeFromData, lists.connectData(of: row) { removeInstances(of: row) }
    }

    func connectRules(of row: NodeRow) {
        for action in connectExpressions(of: row) { reactions.connect(action, at: row) }
    }
}
