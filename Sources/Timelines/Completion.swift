import AttributeValues

/// Reports for each transaction, once each, when its animations are logically complete and when all have ended.
///
/// A pure state machine without a clock. The rules are SwiftUI's:
/// - If nothing is animated, both happen at once, when the transaction is sealed.
/// - `logical` comes when the last of the transaction's animations is logically complete. A replaced animation still
///   counts at its own time. An endless one has no such time; it counts when it is replaced or cancelled.
/// - `removed` comes when none of its animations runs any more, because each has settled, was replaced, or was
///   cancelled with its node. It never comes before `logical`.
///
/// All operations take O(log n) in the running timelines. Memory is O(n), plus up to `maximumReplaced` transactions
/// whose timelines were all replaced and whose logical completion is still to come. Beyond that number, transactions
/// complete when they are replaced.
public struct CompletionTracker {
    public static let maximumReplaced = 65_536

    public typealias Transaction = UInt64
    public typealias TimelineID = UInt64

    public enum Event: Hashable, Sendable {
        case logical(Transaction)
        /// The last of its animations has ended.
        case removed(Transaction)
        /// A timeline has reached its end. From now on, the value is its target.
        case ended(TimelineID)
    }

    private struct Progress {
        var running = 0
        /// Running timelines that are never logically complete.
        var endless = 0
        var logicalTime: Double
        var isSealed = false
        var isLogicallyComplete = false
    }

    private struct Running {
        var transaction: Transaction
        var isEndless: Bool
    }

    private var transactions: [Transaction: Progress] = [:]
    private var timelines: [TimelineID: Running] = [:]
    private(set) var deadlines = Heap<Deadline>()
    private var deadlineCount: UInt64 = 0

    public init() {}

    public var count: Int { timelines.count }

    /// A timeline starts as part of a transaction that is not sealed yet.
    /// - Parameters:
    ///   - logical: the moment of its logical completion, seconds on the monotonic clock; may be infinite.
    ///   - end: the moment at which it has settled; may be infinite.
    /// - Precondition: the id is not running.
    public mutating func start(_ id: TimelineID, in transaction: Transaction, logical: Double, end: Double) {
        precondition(timelines[id] == nil, "timeline \(id) already runs")
        var progress = transactions[transaction] ?? Progress(logicalTime: -.infinity)
        precondition(!progress.isSealed, "transaction \(transaction) is sealed")
        progress.running += 1
        if logical < .infinity {
            progress.logicalTime = max(progress.logicalTime, logical)
        } else {
            progress.endless += 1
        }
        transactions[transaction] = progress
        timelines[id] = Running(transaction: transaction, isEndless: logical == .infinity)
        if end < .infinity { note(.end, of: id, at: end) }
    }

    /// Declares that all of the transaction's timelines have been started.
    /// - Returns: the events that happen at once: both, if there were no timelines.
    public mutating func seal(_ transaction: Transaction, at time: Double) -> [Event] {
        guard var progress = transactions[transaction] else { return [.logical(transaction), .removed(transaction)] }
        progress.isSealed = true
        transactions[transaction] = progress
        if progress.logicalTime > -.infinity { note(.logical, of: transaction, at: progress.logicalTime) }
        var events: [Event] = []
        check(transaction, at: time, &events)
        return events
    }

    /// Ends a running timeline because a newer one replaces it (which is started separately) or its node is removed.
    /// Unknown ids are ignored: their timelines have ended already.
    public mutating func remove(_ id: TimelineID, at time: Double) -> [Event] {
        var events: [Event] = []
        drop(id, at: time, &events)
        compact()
        return events
    }

    /// The next moment at which something completes; nil if nothing ever will.
    public var nextDeadline: Double? { deadlines.first?.time }

    /// Returns everything that completes up to `time`, in order of time.
    public mutating func advance(to time: Double) -> [Event] {
        var events: [Event] = []
        while let deadline = deadlines.first, deadline.time <= time {
            deadlines.removeFirst()
            switch deadline.kind {
            case .end:
                guard timelines[deadline.id] != nil else { continue }  // replaced before its end
                events.append(.ended(deadline.id))
                drop(deadline.id, at: deadline.time, &events)
            case .logical: check(deadline.id, at: deadline.time, &events)
            }
        }
        return events
    }

    /// Frees memory that a larger number of timelines has needed.
    public mutating func giveBack() {
        transactions.giveBack()
        timelines.giveBack()
        deadlines.giveBack()
    }

    /// Removes the deadlines of ended timelines when they are the majority.
    private mutating func compact() {
        guard deadlines.count > 64 + 2 * (timelines.count + transactions.count) else { return }
        deadlines.removeAll { deadline in
            switch deadline.kind {
            case .end: timelines[deadline.id] == nil
            case .logical: transactions[deadline.id] == nil
            }
        }
    }

    private mutating func note(_ kind: Deadline.Kind, of id: UInt64, at time: Double) {
        deadlineCount += 1
        deadlines.push(Deadline(time: time, kind: kind, id: id, order: deadlineCount))
    }

    private mutating func drop(_ id: TimelineID, at time: Double, _ events: inout [Event]) {
        guard let running = timelines.removeValue(forKey: id) else { return }
        transactions[running.transaction]?.running -= 1
        if running.isEndless { transactions[running.transaction]?.endless -= 1 }
        if transactions.count > timelines.count + CompletionTracker.maximumReplaced,
            transactions[running.transaction]?.running == 0
        {
            transactions[running.transaction]?.logicalTime = time
        }
        check(running.transaction, at: time, &events)
    }

    private mutating func check(_ transaction: Transaction, at time: Double, _ events: inout [Event]) {
        guard var progress = transactions[transaction], progress.isSealed else { return }
        if !progress.isLogicallyComplete, progress.endless == 0, progress.logicalTime <= time {
            progress.isLogicallyComplete = true
            transactions[transaction] = progress
            events.append(.logical(transaction))
        }
        if progress.isLogicallyComplete, progress.running == 0 {
            transactions[transaction] = nil
            events.append(.removed(transaction))
        }
    }
}

/// A moment at which something completes. At equal times the one that was made first comes first.
struct Deadline: Comparable {
    enum Kind { case logical, end }

    var time: Double
    var kind: Kind
    var id: UInt64
    var order: UInt64

    static func < (one: Deadline, other: Deadline) -> Bool { (one.time, one.order) < (other.time, other.order) }
}
