import AttributeValues

/// The changes of a site on their way to NATS: those that wait to be sent, merged into one transaction, and the
/// transactions that NATS has not acknowledged.
///
/// NATS acknowledges the messages of one connection in their order. If it acknowledges a later message first, the
/// earlier one is lost.
package struct Window {
    /// Limits of what is under way. One transaction may be longer.
    package static let maximumMessages = 256
    package static let maximumBytes = 4 << 20

    private struct Entry {
        var revision: UInt64
        var changes: Transaction
        var bytes: Int
        /// The number of its last message.
        var last: UInt64
        /// Monotonic seconds.
        var sent: Double
    }

    /// Changes that have not been sent.
    package private(set) var pending: Transaction?
    /// The revision up to which NATS has acknowledged everything.
    package private(set) var acknowledged: UInt64 = 0
    /// The sequence in the stream behind the last acknowledged message.
    package private(set) var nextSequence: UInt64 = 1
    private var entries: [Entry] = []
    /// Entries of the list that have been acknowledged.
    private var done = 0
    private var bytes = 0
    /// The number of the next message to be sent, and of the next to be acknowledged.
    private var next: UInt64 = 0
    private var expected: UInt64 = 0

    package init() {}

    package var isEmpty: Bool { done == entries.count }
    package var hasSpace: Bool { isEmpty || count < Window.maximumMessages && bytes < Window.maximumBytes }
    /// Messages under way.
    package var count: Int { Int(next - expected) }
    /// The revision that mirrors have when everything has arrived.
    package var lastRevision: UInt64 { isEmpty ? acknowledged : entries.last?.revision ?? acknowledged }
    /// When the oldest transaction was sent. Monotonic seconds.
    package var oldest: Double? { isEmpty ? nil : entries[done].sent }

    /// Adds changes that are to be sent.
    /// - Returns: whether others were waiting, so that both are one transaction now.
    package mutating func add(_ changes: Transaction) -> Bool {
        guard pending != nil else {
            pending = changes
            return false
        }
        pending?.merge(changes)
        return true
    }

    package mutating func takePending() -> Transaction? {
        defer { pending = nil }
        return pending
    }

    /// Notes a transaction that is about to be sent.
    /// - Returns: the number of its first message. The others follow.
    package mutating func note(_ changes: Transaction, _ revision: UInt64, messages: Int, bytes: Int) -> UInt64 {
        let first = next
        next += UInt64(messages)
        self.bytes += bytes
        entries.append(
            Entry(revision: revision, changes: changes, bytes: bytes, last: next - 1, sent: MonotonicTime.now))
        return first
    }

    /// - Parameters:
    ///   - number: of the message that was acknowledged. Those of an earlier window do not count.
    ///   - sequence: of the message in the stream.
    /// - Returns: false if the message before it is lost.
    package mutating func acknowledge(_ number: UInt64, sequence: UInt64) -> Bool {
        nextSequence = max(nextSequence, sequence + 1)
        guard number >= expected, number < next else { return true }
        guard number == expected else { return false }
        expected += 1
        let entry = entries[done]
        guard number == entry.last else { return true }
        acknowledged = entry.revision
        bytes -= entry.bytes
        // Its memory is not needed any more.
        entries[done].changes = Transaction()
        done += 1
        if done >= Window.maximumMessages || isEmpty {
            entries.removeFirst(done)
            done = 0
        }
        return true
    }

    /// Makes the pending changes of all that has not been acknowledged. NATS may have some of it, and mirrors may have
    /// applied it. They reach the same tree.
    package mutating func recall() {
        var whole: Transaction?
        for changes in entries[done...].map(\.changes) + (pending.map { [$0] } ?? []) {
            if whole == nil { whole = changes } else { whole?.merge(changes) }
        }
        pending = whole
        forgetSent()
    }

    /// Begins behind a snapshot, which has everything up to a revision.
    ///
    /// An empty transaction follows. Mirrors at another revision see a gap in it and read the snapshot.
    package mutating func begin(behind revision: UInt64) {
        forgetSent()
        (pending, acknowledged) = (Transaction(), revision)
    }

    private mutating func forgetSent() {
        entries = []
        (done, bytes, expected) = (0, 0, next)
    }
}
