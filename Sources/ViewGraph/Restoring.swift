import AttributeGraph
import AttributeValues
import SceneModel

// Rows of a store are restored by the nodes: each node that is made takes its own rows.

extension ViewGraph {
    /// True while clients and data change the graph. Changes of scenes at a start are not stored: the next start makes
    /// them again.
    public var notesChanges: Bool {
        get { persistence.notesChanges }
        set {
            persistence.author = newValue ? .clients : .scenes
            budget.waivesPlans = !newValue
        }
    }

    /// The changes for the store since the last call, in order.
    /// - Parameter revision: the revision of these changes.
    public func takeStoreChanges(at revision: UInt64) -> [StoreChange] {
        unlinked.close(at: revision, nodesLeft: limits.freedAtOnce, persistence)
        if !timedValues.isUntouched { stored.keepUnkept() }
        return persistence.takeChanges(at: revision)
    }

    /// Restores the rows of a store, over the nodes that scenes have made. Rows without a node wait until data or a
    /// later start makes the node.
    /// - Returns: faults in rows that have found their nodes.
    public func restore(_ rows: [StoredRow]) -> [(revision: UInt64, failure: Failure)] {
        persistence.author = .store
        budget.isWaived = true
        let others = rows.ofNoNode
        var failures = restoreDeclarations(others.filter { StoredKey.isDeclaration($0.key) })
        persistence.begin(with: rows)
        for row in others where row.key.hasSameBytes(as: StoreChange.timeKey) {
            timedValues.resumeTime(from: row.value)
        }
        for row in others where StoredKey.isUnlinked(row.key) { unlinked.dropMarked(row, persistence) }
        nodes.layers = NamedLayers(others.filter { NamedLayers.isKey($0.key) })
        if !persistence.absentRows.isEmpty || !nodes.layers.isEmpty {
            applyRows(to: [.root])
            unsettled.nodes = []
            connect(withObjects(nodes.subtree(of: .root)))
            // Lists have read the tree before it was restored.
            gatheringChanged()
            stored.beginAgain()
            settle()
            failures += restoringFaults
            restoringFaults = []
            stored.restorePasts()
            settle()
            persistence.forgetPresent { name, row in
                name == Persistence.appearedName
                    ? reactions.hasAppeared(row) : stored.hasRestored(name, of: row)
            }
        }
        reactions.armAll()
        budget.isWaived = false
        persistence.author = .clients
        _ = timedValues.takeForgotten()
        persistence.forgetChanges()
        stored.keepBegun()
        return failures
    }

    private func restoreDeclarations(_ rows: [StoredRow]) -> [(revision: UInt64, failure: Failure)] {
        guard !rows.isEmpty else { return [] }
        func declare(_ rows: [StoredRow]) throws(Failure) {
            var document = ValueMap([(.string("agd"), 1)])
            for row in rows {
                var (group, value) = (
                    String(row.key.dropFirst()), Value.map(ValueMap([(.string(row.name), row.value)]))
                )
                if group.hasPrefix("keys/") {
                    value = .map(ValueMap([(.string(String(group.dropFirst(5))), value)]))
                    group = "keys"
                }
                document[group] = (document[group] ?? .map(ValueMap())).adding(value)
            }
            self.declareNames(try read(.map(document), at: .root).declarations)
        }
        do throws(Failure) {
            try declare(rows)
            return []
        } catch {
            // One by one, as long as some succeed: declarations may need each other.
            var waiting = rows
            var failures: [(revision: UInt64, failure: Failure)] = []
            while true {
                failures = []
                let before = waiting.count
                waiting = waiting.filter { row in
                    do throws(Failure) {
                        try declare([row])
                        return false
                    } catch {
                        failures.append((row.revision, error))
                        return true
                    }
                }
                if waiting.isEmpty || waiting.count == before { return failures }
            }
        }
    }

    // MARK: Nodes

    /// Applies the clients' changes to nodes that were just made. The caller connects the nodes afterwards.
    func applyRows(to tops: [NodeRow]) {
        var application = RowApplication(self)
        persistence.isApplyingRows = true
        application.run(tops)
        persistence.isApplyingRows = false
        if persistence.isRestoring {
            restoringFaults += application.failures
        } else {
            for absent in application.taken { persistence.absentRows.remove(absent.key, "") }
        }
    }
}

extension Value {
    /// The union of two maps. Maps in both are united, too.
    fileprivate func adding(_ other: Value) -> Value {
        guard case .map(var map) = self, case .map(let more) = other else { return other }
        for (key, value) in more { map[key] = map[key].map { $0.adding(value) } ?? value }
        return .map(map)
    }
}
