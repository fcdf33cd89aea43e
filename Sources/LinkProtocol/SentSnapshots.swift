import AttributeValues

/// The snapshots of a site that NATS has: two, which are overwritten in turn.
package struct SentSnapshots {
    private static let transactionsBetween = 10_000

    /// Seconds between two snapshots.
    private let interval: Double
    /// nil until this process has sent one.
    package private(set) var newest: Manifest?
    /// When the newest snapshot was sent. Monotonic seconds.
    private var sent = 0.0
    private var due = 0.0
    /// Transactions that were sent since.
    private var transactions = 0
    /// The id of the next snapshot. Mirrors may still read the newest one.
    package private(set) var nextID = "0"

    package init(interval: Double) { self.interval = interval }

    /// True if there is a snapshot of a term. Another owner may have published in an earlier term.
    package func has(term: UInt64) -> Bool { newest?.position.term == term }

    /// Also true if nothing has changed, because somebody may have purged the stream or retired the site. A snapshot
    /// stays for half of the interval at least.
    package func isDue(in term: UInt64) -> Bool {
        let now = MonotonicTime.now
        return !has(term: term) || now > due
            || transactions >= SentSnapshots.transactionsBetween && now > sent + interval / 2
    }

    /// After a failure, NATS may have lost everything.
    package mutating func renewSoon() { due = 0 }

    package mutating func noteTransaction() { transactions += 1 }

    package mutating func note(_ manifest: Manifest) {
        sent = MonotonicTime.now
        (newest, transactions, due) = (manifest, 0, sent + interval)
        note(earlier: manifest)
    }

    /// Notes the newest snapshot of an earlier process.
    package mutating func note(earlier manifest: Manifest?) { nextID = manifest?.snapshot == "0" ? "1" : "0" }
}
