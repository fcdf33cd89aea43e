import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// Changes for the store, and restoring the graph from it.

extension GraphRuntime {
    /// Adds to the outcome the store's changes of the graph since the last call.
    func keepChanges() {
        let changes = graph.takeStoreChanges(at: revision)
        guard isStored, !changes.isEmpty else { return }
        keepWritten()
        for change in changes {
            outcome.changes.append((change.revision ?? revision, change))
            // Only rows with values of states carry the revision of an earlier life.
            if !change.isValue, change.revision == nil { history.resumableFrom = revision }
        }
    }

    /// Notes the states whose values must be stored.
    func keepValues(of states: [AttributeID]) {
        guard isStored else { return }
        keepChanges()
        for state in states where graph.noteWritten(state) { written.insert(state, at: revision) }
    }

    /// Adds the rows of the written states to the outcome, before other changes, which may concern the same rows.
    func keepWritten() {
        if written.isEmpty { return }
        for (state, revision) in written.states {
            if let change = graph.writtenRow(of: state) { outcome.changes.append((revision, change)) }
        }
        written.removeAll()
    }

    /// The row of a state that a turn has written, as it is now: its key, its name and its value.
    public func withWrittenRow(of state: AttributeID, _ body: (UnsafeBufferPointer<UInt8>, String, Value) -> Void) {
        graph.withWrittenRow(of: state, body)
    }

    /// The rows to store before the daemon ends: the windows of operators over time. The store has them as they were
    /// some seconds ago.
    public func lastChanges() -> [(revision: UInt64, change: StoreChange)] {
        guard isStored else { return [] }
        graph.stored.keepPasts()
        return graph.takeStoreChanges(at: revision).map { ($0.revision ?? revision, $0) }
    }

    /// Restores the graph from a store, before the first turn. Each node that scenes or data have made takes its rows.
    ///
    /// - Parameters:
    ///   - floor: the first revision from which a client can resume according to the store; nil: it cannot resume from
    ///     any revision of an earlier life.
    ///   - isSalvaged: the rows are those that were left in a damaged store. Values without a node wait until a client
    ///     makes the node again.
    /// - Returns: faults of rows, and the nodes that are missing.
    public func restore(
        _ rows: [StoredRow], resumableFrom floor: UInt64? = nil, isSalvaged: Bool = false
    ) -> [(revision: UInt64, failure: Failure)] {
        let others = rows.ofNoNode
        repeats.restore(others.filter { $0.key.hasSameBytes(as: Repeats.key) })
        var failures = graph.restore(rows, isSalvaged: isSalvaged)
        restoreDelegations(others.filter { $0.key.hasSameBytes(as: Delegations.key) })
        _ = graph.takeInvalidated()
        _ = graph.takeStructureChange()
        // If the tree has not changed, clients may resume from revisions of the earlier life.
        let isSame = failures.isEmpty && graph.persistence.absentNodeCount == 0
        history.begin(
            graph.stored.takeRestored(), resumableFrom: isSame ? floor ?? history.firstRevision : history.firstRevision)
        for (revision, key) in graph.persistence.absentKeys.prefix(GraphRuntime.toldRows) {
            failures.append(
                (
                    revision,
                    Failure(
                        .notFound,
                        "\(key) does not exist: its rows are kept until the node is made or 'agctl prune' deletes them",
                        path: key)
                ))
        }
        let untold = graph.persistence.absentKeys.count - GraphRuntime.toldRows
        if untold > 0 {
            failures.append((revision, Failure(.notFound, "\(untold) more nodes that have rows do not exist")))
        }
        return failures
    }

    /// The largest number of missing nodes that are named in the log.
    private static let toldRows = 100

    /// Deletes the store's rows of missing nodes.
    func prune() -> Answer {
        let count = graph.persistence.prune()
        keepChanges()
        return .value(["pruned": .int(Int64(count))])
    }
}
