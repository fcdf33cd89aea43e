import AGClient

/// The snapshots of a site that NATS has.
struct SentSnapshots {
    private static let transactionsBetween = 10_000

    /// Seconds between two snapshots, if there are transactions, and between two looks at what NATS has.
    private let interval: Double
    private(set) var newest: Manifest?
    /// When the newest snapshot was sent. Monotonic seconds.
    private var sent = 0.0
    private var nextLook = 0.0
    /// Snapshots to delete, with the time. Mirrors may still read them until then.
    private var old: [(id: String, due: Double)] = []
    /// Transactions that were sent since.
    private var transactions = 0

    init(interval: Double) { self.interval = interval }

    /// True if there is a snapshot of a term. Another owner may have published in an earlier term.
    func has(term: UInt64) -> Bool { newest?.position.term == term }

    func isDue(in term: UInt64) -> Bool {
        guard has(term: term) else { return true }
        return transactions >= SentSnapshots.transactionsBetween
            || transactions > 0 && MonotonicTime.now > sent + interval
    }

    /// True if it is time to look whether NATS still has the newest snapshot. Somebody may have purged the stream.
    var isLookDue: Bool { newest != nil && MonotonicTime.now > nextLook }

    mutating func noteLook() { nextLook = MonotonicTime.now + interval }

    /// After a failure, NATS may have lost everything.
    mutating func lookSoon() { nextLook = 0 }

    mutating func noteTransaction() { transactions += 1 }

    mutating func note(_ manifest: Manifest) {
        sent = MonotonicTime.now
        if let newest { old.append((newest.snapshot, sent + interval)) }
        (newest, transactions, nextLook) = (manifest, 0, sent + interval)
    }

    /// A snapshot to delete now.
    mutating func takeOld() -> String? {
        guard let first = old.first, MonotonicTime.now > first.due else { return nil }
        return old.removeFirst().id
    }
}
