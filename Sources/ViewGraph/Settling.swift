import AttributeGraph
import AttributeValues
import SceneModel

// After a change, new nodes are connected and lists follow their data, until nothing changes any more.

extension ViewGraph {
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
        feedTimedValues()
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
        restoreNewTimedValues()
    }

    func connectRules(of row: UInt32) {
        for action in connectExpressions(of: row) { connectReaction(action, at: row) }
    }

    // MARK: Reports

    /// Watched attributes that may have changed since the last call, each once, in the order in
    /// which the first change reached them.
    public func takeInvalidated() -> [AttributeID] {
        var taken: [AttributeID] = []
        takeInvalidated(into: &taken)
        return taken
    }

    /// The same, in the place and the memory of an earlier list.
    public func takeInvalidated(into taken: inout [AttributeID]) {
        collectInvalidated()
        watches.take(engine, into: &taken)
    }

    /// Whether the tree or a watched attribute may have changed since both were taken.
    public var hasNews: Bool {
        if engine.mayHaveReports { collectInvalidated() }
        return hasStructureChange || !watches.invalidated.isEmpty
    }

    /// The data of the lists that decide what a pattern matches; nil if there are too many lists.
    public func listData(deciding pattern: PathPattern) -> [AttributeID]? {
        guard forEachByData.count <= ViewGraph.decidingLists else { return nil }
        let named = pattern.segments.prefix { if case .id = $0 { true } else { false } }
        let isExact = named.count == pattern.segments.count
        return forEachByData.values.compactMap { row in
            let ids = nodes.ids(of: row).map { PathPattern.Segment.id($0) }
            let decides = named.starts(with: ids) || !isExact && ids.starts(with: named)
            return decides ? nodes[Int(row)].instances?.data : nil
        }
    }

    private static let decidingLists = 10_000

    func collectInvalidated() {
        watches.collect(from: engine) { vertex in
            if let row = forEachByData[vertex.index] {
                staleForEach.insert(row)
                return true
            }
            if let action = reactions.byValue[vertex.index] {
                reactions.stale.insert(action)
                return true
            }
            guard !timedValues.isEmpty, case .timed(let value)? = attributes[Int(vertex.index)]?.source else {
                return false
            }
            timedValues.noteDue(value)
            return true
        }
    }
}
