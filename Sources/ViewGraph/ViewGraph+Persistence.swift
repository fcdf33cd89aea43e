import AttributeGraph
import AttributeValues
import SceneModel

// What the store has to know of values, which the tree does not have.

extension ViewGraph {
    /// Whether changes are those of clients and data. Those of scenes at a start are not kept: the
    /// next start makes them again.
    public var notesChanges: Bool {
        get { persistence.notesChanges }
        set {
            persistence.author = newValue ? .clients : .scenes
            budget.waivesPlans = !newValue
        }
    }

    /// What the store has to know, in order, since the last call.
    /// - Parameter revision: of what has changed since then.
    public func takeStoreChanges(at revision: UInt64) -> [StoreChange] {
        freeLater(at: revision)
        keepUnkept()
        return persistence.takeChanges()
    }

    /// States whose values count from now on.
    public func keep(_ states: [AttributeID]) {
        for state in states where isDurable(state) {
            guard case .value(let value) = content(of: state) else { continue }
            let (row, name) = storePlace(of: state)
            if nodes.isLinked(row) { persistence.note(value, as: name, of: row) }
        }
    }

    /// The values of these states count no more.
    func forget(_ states: some Sequence<AttributeID>) {
        guard persistence.notesChanges else { return }
        for state in states {
            let (row, name) = storePlace(of: state)
            if nodes[Int(row)].hasValues { persistence.note(nil, as: name, of: row) }
        }
    }

    /// Nodes have other keys, under which the store has nothing yet.
    func keepValues(of rows: [UInt32]) {
        for row in rows {
            keep(durableStates(of: [row]).filter { isWritten($0) })
            if !timedValues.isEmpty { keepPasts(of: row) }
        }
    }

    /// Whether a state has another value than it begins with.
    private func isWritten(_ state: AttributeID) -> Bool {
        guard let definition = record(state).definition, case .state(let initial, _) = definition.role,
            definition.start == nil
        else { return true }
        return content(of: state).value != declarations.complete(initial, as: record(state).type)
    }

    /// The node that a state belongs to, and its name behind that.
    func storePlace(of state: AttributeID) -> (row: UInt32, name: String) {
        nodes.storePlace(of: record(state).name, at: record(state).node)
    }

    // MARK: Rows without a node

    /// How many rows have no node.
    public var absentRowCount: Int { persistence.absentRows.count }

    /// How many of them say what clients changed of a node.
    public var absentNodeCount: Int { persistence.absentRows.rows.values.count { $0[""] != nil } }

    /// What the rows say that have no node, for people.
    public var absentKeys: [(revision: UInt64, key: String)] {
        persistence.absentRows.rows.map { ($0.value.values.map(\.revision).min() ?? 0, $0.key) }.sorted {
            $0.key.precedesByBytes($1.key)
        }
    }

    /// Deletes the rows without a node.
    /// - Returns: how many they were.
    public func prune() -> Int { persistence.prune() }

    /// The places of children that scenes have made.
    public func noteScenePlaces() { persistence.noteScenePlaces() }
}
