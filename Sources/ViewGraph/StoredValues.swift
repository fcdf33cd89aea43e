import AttributeGraph
import AttributeValues
import SceneModel

/// The values of attributes for the store: `Persistence` knows the tree alone.
public final class StoredValues {
    unowned(unsafe) private(set) var graph: TransactedWiring!
    let persistence: Persistence
    private var nodes: Tree<NodeRecord> { persistence.nodes }
    /// The revisions in which the states with restored values were written.
    private var revisions: [AttributeID: UInt64] = [:]
    /// States that got their first values from rules while rows were restored.
    private var begun: [AttributeID] = []

    init(_ persistence: Persistence) { self.persistence = persistence }

    func attach(to graph: TransactedWiring) { self.graph = graph }

    /// Stores the first value of a state: at a start only after the restoring, unless the store has a value.
    func keepFirst(of state: AttributeID) {
        if persistence.notesChanges { return keep([state]) }
        begun.append(state)
        // Without a store there is no restoring, but the archive has the value, too.
        nodes[graph.storePlace(of: state).row].hasValues = true
    }

    /// Lets states that got their first values from rules begin again, from the values that were restored.
    func beginAgain() {
        let again = begun.filter { graph.isAlive($0) && revisions[$0] == nil }
        begun = []
        for state in again {
            graph.setInput(state, Wiring.notBegun)
            graph.unsettled.states.append(state)
        }
    }

    func keepBegun() {
        keep(begun.filter { graph.isAlive($0) && revisions[$0] == nil })
        begun = []
    }

    /// The revisions in which the states with restored values were written.
    public func takeRestored() -> [AttributeID: UInt64] {
        defer { revisions = [:] }
        return revisions.filter { graph.isAlive($0.key) }
    }

    /// Stores the values of states.
    /// - Parameter isRecorded: the archive knows them.
    public func keep(_ states: [AttributeID], isRecorded: Bool = false) {
        for state in states where isRecorded ? graph.isDurable(state) : graph.isKept(state) {
            guard case .value(let value) = graph.content(ofStored: state) else { continue }
            let (row, name) = graph.storePlace(of: state)
            if nodes.isLinked(row) {
                persistence.note(
                    value, as: name, of: row, for: isRecorded ? .store : graph.receiver(of: state))
            }
        }
    }

    /// Deletes the values of states from the store.
    func forget(_ states: some Sequence<AttributeID>) {
        guard persistence.notesChanges else { return }
        for state in states {
            let (row, name) = graph.storePlace(of: state)
            if nodes[row].hasValues {
                persistence.note(nil, as: name, of: row, for: graph.receiver(of: state))
            }
        }
    }

    /// Stores the values of nodes under their new keys.
    func keepValues(of rows: [NodeRow]) {
        guard persistence.notesChanges else { return }
        for row in rows {
            keep(graph.keptStates(of: [row]).filter { isWritten($0) })
            if !graph.timedValues.isEmpty { keepPasts(of: row) }
        }
    }

    /// True if a state has another value than the initial one.
    func isWritten(_ state: AttributeID) -> Bool {
        guard let definition = graph.record(state).definition, case .state(let initial, _) = definition.role,
            definition.start == nil
        else { return true }
        return graph.content(ofStored: state).value
            != graph.declarations.complete(initial, as: graph.record(state).type)
    }

    /// The kept state of a name at a node, or in an object of the node.
    func keptState(_ name: String, of row: NodeRow) -> AttributeID? {
        if let own = graph.ownAttribute(name, of: row) { return graph.isKept(own) ? own : nil }
        guard name.contains(".") else { return nil }
        return graph.keptStates(of: [row]).first { graph.storePlace(of: $0).name == name }
    }

    /// True if a state has taken the value of a restored row.
    func hasRestored(_ name: String, of row: NodeRow) -> Bool {
        keptState(name, of: row).map { revisions[$0] != nil } ?? false
    }

    /// - Returns: whether the state exists and takes the value.
    func give(_ value: StoredRow, to row: NodeRow) -> Bool {
        guard let state = keptState(value.name, of: row),
            let accepted = graph.declarations.accept(value.value, as: graph.record(state).type)
        else { return false }
        graph.forgetSize(of: state)
        graph.setInput(state, .value(accepted))
        nodes[row].hasValues = true
        if persistence.isRestoring { revisions[state] = value.revision }
        return true
    }

    /// Gives the new states of a node the values that wait for them.
    /// - Parameter before: the attributes that the node had.
    func giveWaiting(to row: NodeRow, besides before: NamedAttributes) {
        guard !persistence.absentRows.isEmpty, let absent = persistence.absentRows[nodes.key(of: row)] else { return }
        for value in absent.values.values {
            // The name of an object's property begins with that of the object.
            let name = String(value.name.prefix { $0 != "." })
            guard let state = graph.ownAttribute(name, of: row), state != before[name], give(value, to: row) else {
                continue
            }
            persistence.absentRows.remove(absent.key, value.name)
            // The row has gone with a state of another type.
            if let given = keptState(value.name, of: row) { keep([given]) }
        }
    }

    /// Stored values that states do not take because they have another type, by the key of the node.
    public func misfits() -> [Name: [Failure]] {
        var found: [Name: [Failure]] = [:]
        for (key, state, value) in untaken() {
            let path = graph.path(of: state)
            let refusal = Misfit(of: value, in: graph.record(state).type, graph.declarations).refusal(
                at: path, path: path)
            found[key, default: []].append(
                Failure(
                    .typeMismatch,
                    "\(refusal.message): the state has its initial value; the stored one is kept until its type fits "
                        + "again or the state is written, or 'agctl prune' deletes it", path: path))
        }
        return found
    }

    /// Deletes all rows without a node, and values that states have not taken. Later writes stay.
    /// - Returns: the number of rows.
    public func prune() -> Int {
        let written = untaken().map(\.state).filter(isWritten)
        let count = persistence.prune()
        keep(written)
        return count
    }

    /// The states of nodes that exist, with the values for them that they have not taken. O(nodes · depth).
    private func untaken() -> [(key: String, state: AttributeID, value: Value)] {
        let absent = persistence.absentRows
        guard absent.present.contains(where: { !$0.values.isEmpty }) else { return [] }
        var found: [(key: String, state: AttributeID, value: Value)] = []
        for row in nodes.subtree(of: .root) {
            let key = nodes.key(of: row)
            guard let values = absent[key]?.values, !values.isEmpty else { continue }
            for name in values.keys.sorted().texts {
                guard let state = keptState(name, of: row), let value = values[name]?.value else { continue }
                found.append((key, state, value))
            }
        }
        return found
    }
}
