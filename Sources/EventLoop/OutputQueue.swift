import AttributeValues

/// The bytes that wait to be written to one connection: runs of its own, and runs that it shares with other queues.
///
/// Lifetime: a run in the queue is never changed, except the last own one. That one is set aside before libuv gets its
/// bytes. The connection keeps the run that libuv writes.
public struct OutputQueue {
    private let ledger: OutputLedger
    /// Complete runs, oldest first. Runs before `head` have been dropped.
    private var runs: [OutputRun?] = []
    private var head = 0
    /// Bytes of the run at `head` that have been written.
    private var offset = 0
    /// The run to which new messages are appended.
    private var last = ByteBuffer()
    private var completeBytes = 0

    /// Messages of at least this size are shared instead of copied: copying a smaller one costs less than an entry of
    /// its own.
    public static let sharingThreshold = 4096
    /// An own run that has grown beyond this size is not reused.
    private static let keptCapacity = 65_536

    public init(_ ledger: OutputLedger = OutputLedger()) { self.ledger = ledger }

    public var isEmpty: Bool { count == 0 }
    /// Bytes that have not been given to libuv yet.
    public var count: Int { completeBytes - offset + last.count }

    /// Bytes that are not in a run, so the ledger does not count them.
    public var uncounted: Int { last.count }

    /// Writes a message at the end.
    @inline(__always)
    public mutating func append(_ write: (ByteBuffer) -> Void) { write(last) }

    /// Appends a finished message. It must not change after that.
    public mutating func append(_ message: ByteBuffer) {
        if message.count < OutputQueue.sharingThreshold { return last.append(message) }
        append(OutputRun(message, ledger))
    }

    /// Appends a message that other queues share.
    public mutating func append(_ run: OutputRun) {
        setLastAside()
        runs.append(run)
        completeBytes += run.bytes.count
    }

    public mutating func removeAll() {
        runs = []
        head = 0
        offset = 0
        completeBytes = 0
        last = ByteBuffer()
    }

    private mutating func setLastAside() {
        guard !last.isEmpty else { return }
        runs.append(OutputRun(last, ledger))
        completeBytes += last.count
        last = ByteBuffer(capacity: min(last.count, OutputQueue.keptCapacity))
    }
}

extension OutputQueue {
    /// Writes messages for which nothing waits in the queue, and appends what the connection does not accept at once.
    /// - Returns: whether the connection has accepted all.
    public mutating func write(_ messages: ByteBuffer, to connection: Connection) throws(LoopError) -> Bool {
        assert(isEmpty && !connection.isWriting)
        let taken = try connection.tryWrite(messages)
        if taken == messages.count { return true }
        last.append(messages)
        setLastAside()
        offset = taken
        return false
    }

    /// Writes as much as the connection accepts, without waiting. libuv writes the rest of a run later and then calls
    /// `didWrite`, which should flush again.
    ///
    /// - Returns: the bytes that the socket accepted at once.
    public mutating func flush(to connection: Connection) throws(LoopError) -> Int {
        if connection.isWriting { return 0 }
        var total = 0
        // The common case: one message or a few, in one run, which the socket accepts whole. Set aside first, it needs
        // memory: a client that waits for each answer costs 16 % more instructions (decision 162).
        if head == runs.count, !last.isEmpty {
            total = try connection.tryWrite(last)
            if total == last.count {
                last.count > OutputQueue.keptCapacity ? last = ByteBuffer() : last.removeAll()
                return total
            }
            setLastAside()
            offset = total
        }
        setLastAside()
        while head < runs.count, !connection.isWriting, let run = runs[head] {
            let taken = try connection.tryWrite(run.bytes, from: offset)
            total += taken
            offset += taken
            if offset < run.bytes.count { try connection.write(run, from: offset) }
            dropFirst()
        }
        return total
    }

    /// Drops the first run, which has been written or given to libuv.
    private mutating func dropFirst() {
        completeBytes -= runs[head]?.bytes.count ?? 0
        runs[head] = nil
        head += 1
        offset = 0
        if head == runs.count {
            runs.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 64, head * 2 > runs.count {
            runs.removeFirst(head)
            head = 0
        }
    }
}

/// Counts the memory of the waiting output in all queues together. A run in several queues counts once.
public final class OutputLedger {
    /// Bytes.
    public fileprivate(set) var total = 0

    public init() {}

    /// Counts bytes that are in no run.
    public func add(_ bytes: Int) { total += bytes }
}

/// Bytes that never change, for one or many queues. They count in the ledger as long as a queue refers to them.
public final class OutputRun {
    public let bytes: ByteBuffer
    private let ledger: OutputLedger?

    public init(_ bytes: ByteBuffer, _ ledger: OutputLedger) {
        self.bytes = bytes
        self.ledger = ledger
        ledger.total += bytes.capacity
    }

    deinit { ledger?.total -= bytes.capacity }
}
