import AttributeValues
import EventLoop
import WireProtocol

/// The output that waits for one client: events, and replies, a line each or one list for a batch. It counts in the
/// ledger of all output.
struct ClientOutput {
    private var queue: OutputQueue
    /// The list of the batch that is being answered.
    private var batch: ByteBuffer?
    private let ledger: OutputLedger
    /// Bytes outside of the queue's runs that the ledger counts.
    private var counted = 0
    /// `count` when this turn began to add output.
    private var before = 0

    init(_ ledger: OutputLedger) { (queue, self.ledger) = (OutputQueue(ledger), ledger) }

    /// Bytes that can be written.
    var count: Int { queue.count }

    /// Bytes that wait until a batch has been answered.
    var batchBytes: Int { batch?.count ?? 0 }

    var isEmpty: Bool { queue.isEmpty && batch == nil }

    /// Called before a turn adds output.
    mutating func markBeginning() { before = queue.count }

    /// Bytes that this turn has added.
    var added: Int { queue.count - before }

    private mutating func updateLedger() {
        let now = queue.uncounted + batchBytes
        if now != counted { ledger.add(now - counted) }
        counted = now
    }

    mutating func beginBatch() { batch = ByteBuffer() }

    mutating func endBatch() {
        // A batch of notifications is not answered at all.
        if let batch, !batch.isEmpty {
            batch.append("]\n")
            queue.append(batch)
        }
        batch = nil
        updateLedger()
    }

    mutating func addReply(_ result: Answer, to id: RequestID) {
        if let batch {
            batch.append(batch.isEmpty ? "[" : ",")
            batch.appendReply(result, to: id)
        } else {
            queue.append { line in
                line.appendReply(result, to: id)
                line.append(UInt8(ascii: "\n"))
            }
        }
        updateLedger()
    }

    /// Appends events, and behind them a run that other clients share.
    mutating func addEvents(_ events: ByteBuffer, _ run: OutputRun?) {
        queue.append { $0.append(events) }
        if let run { queue.append(run) }
    }

    mutating func dropAll() {
        queue.removeAll()
        batch = nil
        updateLedger()
    }

    /// Writes messages at once, while nothing else waits.
    /// - Returns: whether the connection has accepted all. If not, the rest waits.
    mutating func write(_ messages: ByteBuffer, to connection: Connection) throws(LoopError) -> Bool {
        try queue.write(messages, to: connection)
    }

    /// Writes as much as the connection accepts.
    /// - Returns: the number of bytes.
    mutating func flush(to connection: Connection) throws(LoopError) -> Int {
        defer { updateLedger() }
        return try queue.flush(to: connection)
    }
}
