import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// Beginning with what a store has.

extension GraphRuntime {
    /// Restores the graph from a store, before the first turn. Each node that scenes or data have made takes its rows.
    ///
    /// - Parameters:
    ///   - floor: the first revision from which a client can resume according to the store; nil: it cannot resume from
    ///     any revision of an earlier life.
    /// - Returns: faults of rows, and the nodes that are missing.
    public func restore(
        _ rows: [StoredRow], resumableFrom floor: UInt64? = nil
    ) -> [(revision: UInt64, failure: Failure)] {
        let others = rows.ofNoNode
        repeats.restore(others.filter { $0.key.hasSameBytes(as: Repeats.key) })
        authors.restore(others.filter { $0.key.hasSameBytes(as: PartAuthors.key) })
        if !isPast { wills.restore(others.filter { $0.key.hasSameBytes(as: LastWills.key) }) }
        var failures = graph.restore(rows)
        restoreDelegations(others.filter { $0.key.hasSameBytes(as: Delegations.key) })
        _ = graph.takeInvalidated()
        _ = graph.takeStructureChange()
        // If the tree has not changed, clients may resume from revisions of the earlier life.
        let isSame = failures.isEmpty && graph.persistence.absentNodeCount == 0
        history.begin(
            graph.stored.takeRestored(), resumableFrom: isSame ? floor ?? history.firstRevision : history.firstRevision)
        let misfits = graph.stored.misfits()
        for (revision, key) in graph.persistence.absentKeys.prefix(GraphRuntime.toldRows) {
            if let states = misfits[key] {
                failures += states.map { (revision, $0) }
                continue
            }
            failures.append(
                (
                    revision,
                    Failure(
                        .notFound,
                        "nothing takes some rows of \(key): they are kept until it is made so that it does, or "
                            + "'agctl prune' deletes them",
                        path: key)
                ))
        }
        for (layer, waiting) in graph.waitingLayers {
            failures.append((layer.revision, waiting))
        }
        let untold = graph.persistence.absentKeys.count - GraphRuntime.toldRows
        if !clients.access.rules.isEmpty, let parts = graph.findPartsWithoutAuthor() {
            failures.append(
                (
                    revision,
                    Failure(
                        .denied,
                        "\(parts.count) bindings, actions and lists have no author, because an earlier agd has stored "
                            + "them; \(parts.first) is the first. Writes through them are refused until somebody who may "
                            + "write where they lead applies them again",
                        path: parts.first)
                ))
        }
        if untold > 0 {
            failures.append((revision, Failure(.notFound, "\(untold) more nodes that have rows do not exist")))
        }
        return failures
    }

    /// The largest number of missing nodes that are named in the log.
    private static let toldRows = 100

    /// Deletes the store's rows of missing nodes.
    func prune() -> Answer {
        let count = graph.stored.prune()
        store.takeChanges()
        return .value(["pruned": .int(Int64(count))])
    }
}
