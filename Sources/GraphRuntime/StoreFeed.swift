import AttributeGraph
import AttributeValues
import ViewGraph

/// Collects news for the store: the changes of a turn in order, and the states that it has written.
public final class StoreFeed {
    private let graph: ViewGraph
    private let history: History
    /// True if there is a store.
    public var isOn = true
    /// If true, the states that a turn has written last stay in `written` until the next turn; they come after the
    /// changes. If false, their rows are among the changes.
    public var leavesWritten = false
    public private(set) var written = WrittenStates()
    private var changes: [(revision: UInt64, change: StoreChange)] = []

    init(_ graph: ViewGraph, _ history: History) { (self.graph, self.history) = (graph, history) }

    func beginTurn() { written.removeAll() }

    /// - Parameter told: gets the changes of the turn. They must be on disk before any client hears of them.
    func endTurn(_ told: inout [(revision: UInt64, change: StoreChange)]) {
        takeChanges()
        if !leavesWritten { addWritten() }
        if !changes.isEmpty { swap(&told, &changes) }
    }

    func add(_ change: StoreChange) { if isOn { changes.append((history.revision, change)) } }

    /// Adds the changes of the graph since the last call.
    func takeChanges() {
        let new = graph.takeStoreChanges(at: history.revision)
        guard isOn, !new.isEmpty else { return }
        addWritten()
        for change in new {
            changes.append((change.revision ?? history.revision, change))
            // Only rows with values of states carry the revision of an earlier life.
            if !change.isValue, change.revision == nil { history.resumableFrom = history.revision }
        }
    }

    /// Notes states whose values must be stored.
    func addValues(of states: [AttributeID]) {
        guard isOn else { return }
        takeChanges()
        for state in states where graph.noteWritten(state) { written.insert(state, at: history.revision) }
    }

    /// Adds the rows of the written states before other changes, which may concern the same rows.
    private func addWritten() {
        if written.isEmpty { return }
        for (state, revision) in written.states {
            if let change = graph.writtenRow(of: state) { changes.append((revision, change)) }
        }
        written.removeAll()
    }

    /// The row of a state that a turn has written, as it is now: its key, its name and its value.
    public func withWrittenRow(of state: AttributeID, _ body: (UnsafeBufferPointer<UInt8>, String, Value) -> Void) {
        graph.withWrittenRow(of: state, body)
    }

    /// The rows to store before the daemon ends: the windows of operators over time. The store has them as they were
    /// some seconds ago.
    /// - Parameter time: the present time, until which they are known.
    public func lastChanges(at time: Moment) -> [(revision: UInt64, change: StoreChange)] {
        guard isOn else { return [] }
        graph.stored.keepPasts(at: time.elapsed)
        return graph.takeStoreChanges(at: history.revision).map { ($0.revision ?? history.revision, $0) }
    }

    func giveBack() { written.giveBack() }
}
