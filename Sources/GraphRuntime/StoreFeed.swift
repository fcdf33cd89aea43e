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
    /// Hears of every change. It must outlive the runtime.
    public unowned(unsafe) var recorder: (any TransactionRecorder)? {
        didSet {
            history.recorder = recorder
            graph.keepsTransient = recorder != nil
        }
    }
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
        if let recorder {
            for change in new where change.receiver != .store { recorder.add(change) }
        }
        guard isOn, !new.isEmpty else { return }
        addWritten()
        for change in new where change.receiver != .archive {
            changes.append((change.revision ?? history.revision, change))
            // Only rows with values of states carry the revision of an earlier life.
            if !change.isValue, change.revision == nil { history.resumableFrom = history.revision }
        }
    }

    /// Notes states whose values must be stored.
    /// - Parameter isByTime: nobody has written them: their entries have expired.
    func addValues(of states: [AttributeID], isByTime: Bool = false) {
        guard isOn || recorder != nil else { return }
        takeChanges()
        for state in states where graph.noteWritten(state) && isOn { written.insert(state, at: history.revision) }
        guard let recorder else { return }
        if isByTime { for state in states { recorder.write(state, isReaction: true) } }
        for report in graph.takeReports() { recorder.add(report) }
    }

    /// Tells the recorder of reports that made no revision.
    func addReports(at time: Moment) {
        let reports = graph.takeReports()
        guard let recorder, !reports.isEmpty else { return }
        recorder.begin(history.revision, at: time, nil, nil, nil)
        for report in reports { recorder.add(report) }
    }

    // MARK: For the recorder

    /// The key of a state's node, its name there, and its path, if that is another; nil if the state has left the tree,
    /// or is left out of the past.
    public func storedPlace(of state: AttributeID) -> (key: String, name: String, path: String?)? {
        graph.isAlive(state) && !graph.isLeftOut(state) ? graph.storedPlace(ofState: state) : nil
    }

    /// The present value of a state.
    public func value(of state: AttributeID) -> Value? { graph.keptValue(of: state) }

    /// Adds rows of an image of the present moment: see `ViewGraph.addImage`.
    public func addImage(from node: inout UInt32, atMost count: Int, to rows: inout [StoreChange]) -> Bool {
        graph.addImage(from: &node, atMost: count, to: &rows)
    }

    /// Adds the rows of the written states before other changes, which may concern the same rows.
    private func addWritten() {
        if written.isEmpty { return }
        for (state, revision) in written.states {
            if let change = graph.writtenRow(of: state) { changes.append((revision, change)) }
        }
        written.removeAll()
    }

    /// The row of a state that a turn has written, as it is now: its key, its name, and its value, which the recorder
    /// may have as bytes.
    public func withWrittenRow(
        of state: AttributeID,
        _ body: (UnsafeBufferPointer<UInt8>, String, Value, _ bytes: UnsafeBufferPointer<UInt8>?) -> Void
    ) {
        graph.withWrittenRow(of: state) { body($0, $1, $2, recorder?.bytes(of: state)) }
    }

    /// The rows to store before the daemon ends: the windows of operators over time. The store has them as they were
    /// some seconds ago.
    /// - Parameter time: the present time, until which they are known.
    public func lastChanges(at time: Moment) -> [(revision: UInt64, change: StoreChange)] {
        guard isOn else { return [] }
        graph.stored.keepPasts(at: time.elapsed)
        return graph.takeStoreChanges(at: history.revision).filter { $0.receiver != .archive }.map {
            ($0.revision ?? history.revision, $0)
        }
    }

    func giveBack() { written.giveBack() }
}
