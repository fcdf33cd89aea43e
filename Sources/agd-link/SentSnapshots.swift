import AGClient

/// The snapshots of a site that NATS has.
struct SentSnapshots {
    private static let transactionsBetween = 10_000

    /// Seconds between two snapshots, if there are transactions.
    private let interval: Double
    private var newest: (id: String, position: Position, time: Double)?
    /// Snapshots to delete, with the time. Mirrors may still read them until then.
    private var old: [(id: String, due: Double)] = []
    /// Transactions that were sent since.
    private var transactions = 0

    init(interval: Double) { self.interval = interval }

    /// True if there is a snapshot of a term. Another owner may have published in an earlier term.
    func has(term: UInt64) -> Bool { newest?.position.term == term }

    func isDue(in term: UInt64) -> Bool {
        guard let newest, newest.position.term == term else { return true }
        return transactions >= SentSnapshots.transactionsBetween
            || transactions > 0 && MonotonicTime.now > newest.time + interval
    }

    mutating func noteTransaction() { transactions += 1 }

    mutating func note(_ id: String, at position: Position) {
        let now = MonotonicTime.now
        if let newest { old.append((newest.id, now + interval)) }
        (newest, transactions) = ((id, position, now), 0)
    }

    /// A snapshot to delete now.
    mutating func takeOld() -> String? {
        guard let first = old.first, MonotonicTime.now > first.due else { return nil }
        return old.removeFirst().id
    }
}
