import AttributeValues

/// Transactions that NATS was sent and has not acknowledged.
///
/// NATS acknowledges the messages of one connection in their order. If it acknowledges a later message first, the
/// earlier one is lost.
struct Window {
    /// Limits of what is under way. One transaction may be longer.
    static let maximumMessages = 256
    static let maximumBytes = 4 << 20

    enum Outcome {
        /// All messages of a transaction are in the stream.
        case acknowledged(revision: UInt64)
        case waiting
        case lost
    }

    private struct Entry {
        var revision: UInt64
        var changes: Transaction
        var bytes: Int
        /// The number of its last message.
        var last: UInt64
        /// Monotonic seconds.
        var sent: Double
    }

    private var entries: [Entry] = []
    /// Entries of the list that have been acknowledged.
    private var done = 0
    private var bytes = 0
    /// The number of the next message to be sent, and of the next to be acknowledged.
    private var next: UInt64 = 0
    private var expected: UInt64 = 0

    var isEmpty: Bool { done == entries.count }
    var hasRoom: Bool { isEmpty || count < Window.maximumMessages && bytes < Window.maximumBytes }
    /// Messages under way.
    var count: Int { Int(next - expected) }
    /// The revision that mirrors have when everything has arrived.
    var lastRevision: UInt64? { isEmpty ? nil : entries.last?.revision }
    /// When the oldest transaction was sent. Monotonic seconds.
    var oldest: Double? { isEmpty ? nil : entries[done].sent }

    /// - Returns: the number of its first message. The others follow.
    mutating func add(_ changes: Transaction, _ revision: UInt64, messages: Int, bytes: Int) -> UInt64 {
        let first = next
        next += UInt64(messages)
        self.bytes += bytes
        entries.append(
            Entry(revision: revision, changes: changes, bytes: bytes, last: next - 1, sent: MonotonicTime.now))
        return first
    }

    /// - Parameter number: of the message that was acknowledged. Those of an earlier window do not count.
    mutating func acknowledge(_ number: UInt64) -> Outcome {
        guard number >= expected, number < next else { return .waiting }
        guard number == expected else { return .lost }
        expected += 1
        let entry = entries[done]
        guard number == entry.last else { return .waiting }
        bytes -= entry.bytes
        // Its memory is not needed any more.
        entries[done].changes = Transaction()
        done += 1
        if done >= Window.maximumMessages || isEmpty {
            entries.removeFirst(done)
            done = 0
        }
        return .acknowledged(revision: entry.revision)
    }

    /// Forgets everything that is under way.
    /// - Returns: all of it as one transaction.
    mutating func recall() -> Transaction? {
        var whole: Transaction?
        for entry in entries[done...] {
            if whole == nil { whole = entry.changes } else { whole?.merge(entry.changes) }
        }
        entries = []
        (done, bytes, expected) = (0, 0, next)
        return whole
    }
}
