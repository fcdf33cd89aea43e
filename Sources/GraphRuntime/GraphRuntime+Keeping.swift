import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// What the store is told, and how the graph comes back from it.

extension GraphRuntime {
    /// Notes for the store what the graph has become since the last call.
    func keepChanges() {
        let changes = graph.takeStoreChanges(at: revision)
        guard isStored, !changes.isEmpty else { return }
        keepWritten()
        for change in changes { outcome.changes.append((change.revision ?? revision, change)) }
    }

    /// The values of states count.
    func keep(_ states: [AttributeID]) {
        guard isStored else { return }
        keepChanges()
        for state in states where graph.noteWritten(state) { written.insert(state, at: revision) }
    }

    /// Notes for the store the rows of the states that were written: what comes next may be about the same rows.
    func keepWritten() {
        if written.isEmpty { return }
        for (state, revision) in written.states {
            if let change = graph.writtenRow(of: state) { outcome.changes.append((revision, change)) }
        }
        written.removeAll()
    }

    /// The row of a state that a turn has written, as it is now: its key, its name and its value.
    public func withWrittenRow(
        of state: AttributeID, _ body: (UnsafeBufferPointer<UInt8>, String, Value) -> Void
    ) {
        graph.withWrittenRow(of: state, body)
    }

    /// What the store gets before the daemon ends: the windows of operators over time, which it has as they were
    /// some seconds ago.
    public func lastChanges() -> [(revision: UInt64, change: StoreChange)] {
        guard isStored else { return [] }
        graph.keepPasts()
        return graph.takeStoreChanges(at: revision).map { ($0.revision ?? revision, $0) }
    }

    /// Puts back what a store has kept, before the first turn: each node that scenes or data have made takes its rows.
    ///
    /// - Parameters:
    ///   - floor: the first revision from which a client can resume, as far as the store goes; nil: from none of an
    ///     earlier life.
    ///   - isSalvaged: the rows are what a damaged store still had. Values without a node wait until a client makes the
    ///     node again.
    /// - Returns: what is wrong with rows, and which have no node.
    public func restore(
        _ rows: [StoredRow], resumableFrom floor: UInt64? = nil, isSalvaged: Bool = false
    ) -> [(revision: UInt64, failure: Failure)] {
        repeats.restore(rows.filter { $0.key == Repeats.key })
        let own = [Repeats.key, Delegations.key]
        var failures = graph.restore(rows.filter { !own.contains($0.key) }, isSalvaged: isSalvaged)
        restoreDelegations(rows.filter { $0.key == Delegations.key })
        _ = graph.takeInvalidated()
        _ = graph.takeStructureChange()
        // Without a change of the tree it is another one than it was.
        let isSame = failures.isEmpty && graph.absentNodeCount == 0
        history.begin(
            graph.takeRestoredStates(), resumableFrom: isSame ? floor ?? history.firstRevision : history.firstRevision)
        for (revision, key) in graph.absentKeys.prefix(GraphRuntime.toldRows) {
            failures.append(
                (
                    revision,
                    Failure(
                        .notFound, "\(key) is not there yet: its rows wait until it is made, or until agctl prune",
                        path: key)
                ))
        }
        let untold = graph.absentKeys.count - GraphRuntime.toldRows
        if untold > 0 { failures.append((revision, Failure(.notFound, "rows of \(untold) more nodes wait"))) }
        return failures
    }

    /// Nodes that are not there and are named one by one in the log.
    private static let toldRows = 100

    /// Deletes what the store has of nodes that are not there.
    func prune() -> Answer {
        let count = graph.prune()
        keepChanges()
        return .value(["pruned": .int(Int64(count))])
    }
}
