import AttributeGraph
import AttributeValues
import SceneModel

// After a change, passes bring the tree and its vertices up to date, until nothing changes any more. Each pass has a
// file in `Passes`, which says what the pass reads, what it writes, and what is true afterwards.

extension ViewGraph {
    /// Makes the writes of the open transaction visible, and updates lists from their data. Evaluates only what the
    /// tree depends on, and again what was read since the transaction was opened.
    /// - Parameter commit: gets what was changed. Its memory is used again.
    public func commit(into commit: Commit) {
        closeTransaction(into: commit)
        if engine.mayHaveReports { collectReports() }
        if !isSettled { settle() }
    }

    public func commit() -> Commit {
        let commit = Commit()
        self.commit(into: commit)
        return commit
    }

    /// True if `settle` would find nothing to do: most writes reach nothing that the tree depends on.
    private var isSettled: Bool { unsettled.isEmpty && sharing.isEmpty && roots.isEmpty && !nodes.hasPlaces }

    /// Runs the passes. A pass in the condition runs only when those before it have nothing left to do. If it has
    /// changed something, all begin anew, because instances may contain further lists and states.
    ///
    /// The loop ends: `Settlement` stops lists that change without end, and counts how often states begin. Nodes are
    /// placed or counted again only after a change of a list.
    ///
    /// Vertices that may have changed and are not the graph's own are in `watches` afterwards.
    func settle() {
        var settlement = Settlement()
        repeat {
            applyRows()
            connectNodes()
            tellContainers()
            followReferences()
            collectReports()
        } while updateLists(&settlement) || placeNodes() || countIndices() || beginStates(&settlement)
        lists.noteEndless(settlement)
        feedOperators()
        releaseSearched()
        sweepVertices()
    }

    /// Sets every clock to its last tick at or before `time`. A clock without a new tick changes nothing. Operators
    /// over time whose result changes now are evaluated.
    /// - Parameters:
    ///   - elapsed: the time since the machine was booted, which operators use. Only differences count.
    ///   - sleep: seconds before `wall` in which the machine was asleep.
    public func advance(to wall: Timestamp, elapsed: TimeSpan, after sleep: Double = 0) {
        for (vertex, reading) in clocks.advance(to: wall) { setInput(vertex, .value(.timestamp(reading))) }
        if advanceTimedValues(to: wall, elapsed: elapsed, after: sleep) || !unsettled.operators.isEmpty { settle() }
    }

    /// Lets deferred rules run when they are next read, and updates the tree.
    /// - Returns: whether the tree or a watched attribute may have changed.
    public func resumeWaitingRules() -> Bool {
        for attribute in evaluation.takeWaiting() where engine.isAlive(attribute) {
            do { try engine.invalidate(attribute) } catch { preconditionFailure("a living rule cannot be run again") }
        }
        settle()
        collectReports()
        return !watches.invalidated.isEmpty || !structureChange.isEmpty
    }
}
