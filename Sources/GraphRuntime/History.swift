import AttributeGraph
import AttributeValues
import ViewGraph

/// The recent past of this life of the graph: revisions, their authors, and names of removed or moved nodes. `explain`
/// and subscriptions that resume read it.
final class History {
    private let graph: ViewGraph
    private let limits: RuntimeLimits
    private let turn: CurrentTurn
    /// The name of this life of the graph, within which revisions can be compared.
    let epoch: String
    /// Counts committed transactions; only grows.
    private(set) var revision: UInt64
    private var transactions: Ring<Transaction>
    /// Names that have led nowhere or elsewhere since some revision.
    private(set) var changedNames: ChangedNames
    /// The last revision in which attributes were removed or moved.
    private(set) var lastRemoval: UInt64 = 0
    /// The last revision in which the tree changed in any way.
    private(set) var lastStructureChange: UInt64 = 0
    /// The last revision in which rules were replaced, or deferred rules ran.
    var lastRedefinition: UInt64 = 0
    /// The stamps of the last change, as the engine has them and as they are, of attributes that have not changed after
    /// all.
    private var unchanged: [AttributeID: (seeming: UInt64, real: UInt64)] = [:]
    /// The revisions of the states when this life began.
    private var lifeBeginning: LifeBeginning
    /// The first revision of earlier lives from which a client can resume. The daemon knows no changes before it.
    var resumableFrom: UInt64
    /// Hears of each transaction.
    unowned(unsafe) var recorder: (any TransactionRecorder)?

    /// - Parameter revision: the last one of the earlier life.
    init(_ graph: ViewGraph, _ limits: RuntimeLimits, _ turn: CurrentTurn, epoch: String, revision: UInt64) {
        self.graph = graph
        self.limits = limits
        self.turn = turn
        self.epoch = epoch
        self.revision = revision
        transactions = Ring(capacity: limits.historyLength)
        changedNames = ChangedNames(capacity: limits.historyNames)
        lifeBeginning = LifeBeginning(revision: revision)
        resumableFrom = revision
    }

    var transactionCount: UInt64 { revision - lifeBeginning.revision }

    /// Tells the recorder of a transaction that will get the next revision, before its reactions write.
    func record(_ client: Client?, _ label: String?, _ motion: Motion?, _ writes: [AttributeID]) {
        guard let recorder else { return }
        recorder.begin(revision + 1, at: turn.now, client?.author, label, motion?.written)
        for state in writes { recorder.write(state, isReaction: false) }
    }

    /// Records a transaction under the next revision.
    /// - Parameters:
    ///   - stamp: the engine's clock before it.
    ///   - change: its writes, with those of the actions that it has set off.
    func advance(_ client: Client?, _ label: String?, since stamp: UInt64, _ change: Commit) {
        revision += 1
        transactions.append(
            Transaction(
                revision: revision, stampBefore: stamp, stampAfter: graph.stamp, wall: turn.now.wall,
                author: client?.author, label: label, written: .init(change.states, atMost: limits.historyWrites),
                causes: change.causes.isEmpty || change.causes.count > limits.historyWrites ? nil : change.causes))
    }

    /// Records the last transaction's changes of the tree.
    func note(_ structure: StructureChange) {
        if structure.isEmpty { return }
        lastStructureChange = revision
        if !structure.removedAttributes.isEmpty || !structure.movedNodes.isEmpty || !structure.removedTrees.isEmpty {
            lastRemoval = revision
        }
        changedNames.append(structure, at: revision, in: graph)
    }

    /// Begins the past at a revision. The scenes that were loaded for it are no transactions.
    func beginPast(at revision: UInt64) {
        self.revision = revision
        transactions = Ring(capacity: limits.historyLength)
    }

    /// Records a transaction of the past under its own revision.
    func replay(_ change: RecordedChange, since stamp: UInt64, _ writes: [AttributeID]) {
        revision = change.revision
        transactions.append(
            Transaction(
                revision: revision, stampBefore: stamp, stampAfter: graph.stamp, wall: turn.now.wall,
                author: change.author, label: change.label, written: .init(writes, atMost: limits.historyWrites)))
    }

    func recorded(_ revision: UInt64) -> Transaction? { transactions.find(revision) }

    /// The transaction whose range of engine stamps contains this one. O(log n).
    func recorded(at stamp: UInt64) -> Transaction? { transactions.find(at: stamp) }

    // MARK: Changes that are taken back

    /// Notes that a change of the tree has changed an attribute and changed it back. The engine knows no better than
    /// that it has changed.
    func noteUnchanged(_ attribute: AttributeID, since stamp: UInt64) {
        if unchanged.count >= limits.historyNames { unchanged = [:] }
        unchanged[attribute] = (graph.lastChange(of: attribute), stamp)
    }

    /// The engine's stamp of an attribute's last change.
    func lastChange(of attribute: AttributeID) -> UInt64 {
        let stamp = graph.lastChange(of: attribute)
        guard let known = unchanged[attribute], known.seeming == stamp else { return stamp }
        return known.real
    }

    /// The engine's stamp right after a revision of this life; nil if it is no longer known.
    func engineStamp(after revision: UInt64) -> UInt64? {
        revision == self.revision ? graph.stamp : transactions.find(revision)?.stampAfter
    }

    // MARK: Earlier lives

    /// The last revision of the life before this one.
    var firstRevision: UInt64 { lifeBeginning.revision }

    /// Called when the states have been restored.
    /// - Parameter written: the revision of each state's last write.
    /// - Parameter floor: the first revision from which a client can resume according to the store.
    func begin(_ written: [AttributeID: UInt64], resumableFrom floor: UInt64) {
        let newest = written.sorted { $0.value > $1.value }
        lifeBeginning.written = Dictionary(
            uniqueKeysWithValues: newest.prefix(limits.historyLength).map { ($0.key, $0.value) })
        lifeBeginning.stamp = graph.stamp
        resumableFrom = newest.count > limits.historyLength ? max(floor, newest[limits.historyLength].value) : floor
    }

    /// True if a client that resumes across a restart has missed nothing. The content of every attribute, and of every
    /// list that decides what the patterns match, must depend only on states that were last written at or before the
    /// revision, and not in this life.
    func isSame(_ attributes: [AttributeID], _ patterns: [PathPattern], since revision: UInt64) -> Bool {
        guard revision >= resumableFrom else { return false }
        var attributes = attributes
        for pattern in patterns {
            guard let lists = graph.listData(deciding: pattern) else { return false }
            attributes += lists
        }
        return graph.provenance.dependOnly(attributes) { state in
            graph.lastChange(of: state) <= lifeBeginning.stamp && lifeBeginning.written[state, default: 0] <= revision
        }
    }
}

/// A transaction: its author, its writes, and its range of the engine's stamps.
struct Transaction {
    var revision: UInt64
    /// The engine's stamp before and after the transaction.
    var stampBefore: UInt64
    var stampAfter: UInt64
    var wall: Timestamp
    /// nil: the daemon itself made it (a clock, a scene at the start).
    var author: Author?
    var label: String?
    fileprivate var written: Written
    /// The paths of the actions that the transaction set off, by the states that they wrote.
    var causes: [AttributeID: String]?

    /// The states that it wrote, at most `RuntimeLimits.historyWrites`. Their paths are found when a client asks.
    var writes: [AttributeID] {
        switch written {
        case .one(let state): [state]
        case .several(let states): states
        }
    }

    /// A single state is by far the commonest case, and needs no allocation.
    fileprivate enum Written {
        case one(AttributeID)
        case several([AttributeID])

        @inline(__always)
        init(_ states: [AttributeID], atMost most: Int) {
            self = states.count == 1 ? .one(states[0]) : .several(Array(states.prefix(most)))
        }
    }
}

extension Ring where Element == Transaction {
    fileprivate func find(_ revision: UInt64) -> Transaction? {
        guard count > 0 else { return nil }
        let first = self[0].revision
        guard revision >= first else { return nil }
        // The past has not every revision.
        if revision - first < UInt64(count), self[Int(revision - first)].revision == revision {
            return self[Int(revision - first)]
        }
        let low = (0..<count).partitioningIndex { self[$0].revision >= revision }
        return low < count && self[low].revision == revision ? self[low] : nil
    }

    fileprivate func find(at stamp: UInt64) -> Transaction? {
        let low = (0..<count).partitioningIndex { self[$0].stampAfter >= stamp }
        return low < count && self[low].stampBefore < stamp ? self[low] : nil
    }
}

/// The state of the history when this life began.
private struct LifeBeginning {
    /// The last revision of the earlier life.
    let revision: UInt64
    /// The engine's stamp when the states had been restored.
    var stamp: UInt64 = 0
    /// The revisions of the states' last writes, for the states written most recently.
    var written: [AttributeID: UInt64] = [:]
}
