import AttributeGraph
import AttributeValues
import ViewGraph

/// The recent past of this life of the graph: revisions, their authors, and names that are gone. `explain` and
/// subscriptions that resume read it.
final class History {
    private let graph: ViewGraph
    private let limits: RuntimeLimits
    private let turn: CurrentTurn
    /// Names this life of the graph: revisions count within it.
    let epoch: String
    /// Counts committed transactions; only grows.
    private(set) var revision: UInt64
    private var transactions: TransactionRing
    /// Names that led elsewhere from a revision on.
    private var changedNames: ChangedNames
    /// The last revision in which attributes were removed or moved.
    private(set) var lastRemoval: UInt64 = 0
    /// The last revision in which the tree became another one in any way.
    private(set) var lastStructureChange: UInt64 = 0
    /// The last revision in which rules became others, or ran that had had to wait.
    var lastRedefinition: UInt64 = 0
    /// The states as they were when this life began.
    private var lifeBeginning: LifeBeginning
    /// A client that has seen all up to a revision before this one, in an earlier life, has missed what nobody
    /// remembers.
    var resumableFrom: UInt64

    /// - Parameter revision: the last one of the earlier life.
    init(_ graph: ViewGraph, _ limits: RuntimeLimits, _ turn: CurrentTurn, epoch: String, revision: UInt64) {
        self.graph = graph
        self.limits = limits
        self.turn = turn
        self.epoch = epoch
        self.revision = revision
        transactions = TransactionRing(capacity: limits.historyLength)
        changedNames = ChangedNames(capacity: limits.historyNames)
        lifeBeginning = LifeBeginning(revision: revision)
        resumableFrom = revision
    }

    /// Transactions of this life.
    var transactionCount: UInt64 { revision - lifeBeginning.revision }

    /// A transaction has happened: it gets its revision and its place in the history.
    /// - Parameters:
    ///   - stamp: the engine's clock before it.
    ///   - causes: the actions that wrote some of the states.
    func advance(
        _ client: Client?, _ label: String?, since stamp: UInt64, _ writes: [AttributeID],
        _ causes: [AttributeID: String]? = nil
    ) {
        revision += 1
        transactions.append(
            Transaction(
                revision: revision, stampBefore: stamp, stampAfter: graph.stamp, wall: turn.now.wall,
                author: client?.author, label: label, written: .init(writes.prefix(limits.historyWrites)),
                causes: causes.flatMap { $0.isEmpty || $0.count > limits.historyWrites ? nil : $0 }))
    }

    /// The last transaction has changed the tree.
    func note(_ structure: StructureChange) {
        if structure.isEmpty { return }
        lastStructureChange = revision
        if !structure.removedAttributes.isEmpty || !structure.movedNodes.isEmpty || !structure.removedTrees.isEmpty {
            lastRemoval = revision
        }
        changedNames.append(structure, at: revision, in: graph)
    }

    func recorded(_ revision: UInt64) -> Transaction? { transactions.find(revision) }

    /// The transaction in whose stretch of the engine's clock a stamp lies. O(log n).
    func recorded(at stamp: UInt64) -> Transaction? { transactions.find(at: stamp) }

    /// The engine's stamp right after a revision of this life; nil when that is no longer known.
    func engineStamp(after revision: UInt64) -> UInt64? {
        revision == self.revision ? graph.stamp : transactions.find(revision)?.stampAfter
    }

    /// Names that a topic's patterns match and that lead elsewhere since a revision, each once; nil where they are no
    /// longer all known.
    func changedNames(since revision: UInt64, of patterns: [PathPattern]) -> [String]? {
        changedNames.changed(since: revision, of: patterns)
    }

    // MARK: Earlier lives

    /// The last revision of the life before this one.
    var firstRevision: UInt64 { lifeBeginning.revision }

    /// The states have been put back; when each was written last.
    /// - Parameter floor: the first revision from which a client can resume, as far as the store goes.
    func begin(_ written: [AttributeID: UInt64], resumableFrom floor: UInt64) {
        let newest = written.sorted { $0.value > $1.value }
        lifeBeginning.written = Dictionary(
            uniqueKeysWithValues: newest.prefix(limits.historyLength).map { ($0.key, $0.value) })
        lifeBeginning.stamp = graph.stamp
        resumableFrom = newest.count > limits.historyLength ? max(floor, newest[limits.historyLength].value) : floor
    }

    /// Over a restart: whether all that is watched is as it was, and nothing else can have been there. The content of
    /// every attribute and of every list that decides what the patterns match must follow from states that were written
    /// last before the revision, and not in this life.
    func isSame(_ attributes: [AttributeID], _ patterns: [PathPattern], since revision: UInt64) -> Bool {
        guard revision >= resumableFrom else { return false }
        var attributes = attributes
        for pattern in patterns {
            guard let lists = graph.listData(deciding: pattern) else { return false }
            attributes += lists
        }
        return graph.follow(attributes) { state in
            graph.lastChange(of: state) <= lifeBeginning.stamp && lifeBeginning.written[state, default: 0] <= revision
        }
    }
}

/// A transaction: its author, its writes, and its stretch of the engine's clock.
struct Transaction {
    var revision: UInt64
    /// The engine's stamp before and after the transaction.
    var stampBefore: UInt64
    var stampAfter: UInt64
    var wall: Timestamp
    /// nil: the daemon itself (a clock, a scene at start).
    var author: Author?
    var label: String?
    fileprivate var written: Written
    /// By state that an action wrote because of the transaction, the action's path.
    var causes: [AttributeID: String]?

    /// States that it wrote; `RuntimeLimits.historyWrites` of them. They are named when somebody asks.
    var writes: [AttributeID] {
        switch written {
        case .one(let state): [state]
        case .several(let states): states
        }
    }

    /// One state is by far the most frequent, and takes no memory of its own.
    fileprivate enum Written {
        case one(AttributeID)
        case several([AttributeID])

        init(_ states: ArraySlice<AttributeID>) {
            if states.count == 1, let state = states.first {
                self = .one(state)
            } else {
                self = .several(Array(states))
            }
        }
    }
}

/// The last transactions.
private struct TransactionRing {
    private var entries: [Transaction] = []
    private var start = 0
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(1, capacity) }

    mutating func append(_ entry: consuming Transaction) {
        if entries.count < capacity {
            entries.append(entry)
        } else {
            entries[start] = entry
            start = start + 1 == capacity ? 0 : start + 1
        }
    }

    private subscript(position: Int) -> Transaction { entries[(start + position) % entries.count] }

    func find(_ revision: UInt64) -> Transaction? {
        guard !entries.isEmpty else { return nil }
        let first = self[0].revision
        guard revision >= first, revision - first < UInt64(entries.count) else { return nil }
        return self[Int(revision - first)]
    }

    func find(at stamp: UInt64) -> Transaction? {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].stampAfter < stamp { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && self[low].stampBefore < stamp ? self[low] : nil
    }
}

/// The end of the life before this one: how old the states were when this life began.
private struct LifeBeginning {
    /// The last one of the earlier life.
    let revision: UInt64
    /// The engine's clock when the states had been put back.
    var stamp: UInt64 = 0
    /// When states were written last: those that were last of all.
    var written: [AttributeID: UInt64] = [:]
}
