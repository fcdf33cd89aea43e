import AttributeGraph
import AttributeValues
import SceneModel

// The values of attributes for the store: `Persistence` knows the tree alone.

extension ViewGraph {
    /// Whether clients and data change the graph. Changes of scenes at a start are not stored: the next start makes
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
        freeLater(at: revision)
        if persistence.hasNoNews, timedValues.isUntouched { return [] }
        keepUnkept()
        return persistence.takeChanges()
    }

    /// Stores the values of states.
    public func keep(_ states: [AttributeID]) {
        for state in states where isDurable(state) {
            guard case .value(let value) = content(of: state) else { continue }
            let (row, name) = storePlace(of: state)
            if nodes.isLinked(row) { persistence.note(value, as: name, of: row) }
        }
    }

    /// Deletes the values of states from the store.
    func forget(_ states: some Sequence<AttributeID>) {
        guard persistence.notesChanges else { return }
        for state in states {
            let (row, name) = storePlace(of: state)
            if nodes[Int(row)].hasValues { persistence.note(nil, as: name, of: row) }
        }
    }

    /// Stores the values of nodes under their new keys.
    func keepValues(of rows: [UInt32]) {
        for row in rows {
            keep(durableStates(of: [row]).filter { isWritten($0) })
            if !timedValues.isEmpty { keepPasts(of: row) }
        }
    }

    /// Whether a state has another value than the initial one.
    private func isWritten(_ state: AttributeID) -> Bool {
        guard let definition = record(state).definition, case .state(let initial, _) = definition.role,
            definition.start == nil
        else { return true }
        return content(of: state).value != declarations.complete(initial, as: record(state).type)
    }

    /// The node that a state belongs to, and the state's name there.
    func storePlace(of state: AttributeID) -> (row: UInt32, name: String) {
        let record = record(state)
        return nodes.storePlace(of: record.name, at: record.node)
    }

    // MARK: Rows without a node

    /// Number of rows without a node.
    public var absentRowCount: Int { persistence.absentRows.count }

    /// Number of them that contain changes of a node by clients.
    public var absentNodeCount: Int { persistence.absentRows.present.count { $0.own != nil } }

    /// The keys of rows without a node, for people.
    public var absentKeys: [(revision: UInt64, key: String)] {
        persistence.absentRows.present.map { ($0.rows.map(\.revision).min() ?? 0, $0.key) }.sorted {
            $0.key.precedesByBytes($1.key)
        }
    }

    /// Deletes the rows without a node.
    /// - Returns: their number.
    public func prune() -> Int { persistence.prune() }

    /// Notes the places of children that scenes have made.
    public func noteScenePlaces() { persistence.noteScenePlaces() }
}
