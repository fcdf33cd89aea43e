import AttributeValues
import EventLoop
import WireProtocol

/// Brings the replies of one client into the order of its requests and into their frames: a line each, or one list for a
/// batch. Faults that were found while reading wait here for the replies before them, and events for the reply that tells of their
/// subscription.
struct PendingReplies {
    private enum Entry {
        /// So many replies of the runtime; those to calls that only read may be refused yet.
        case awaited(Int, onlyRead: Bool)
        case fault(RequestID, RequestFault)
        case batchBegins
        case batchEnds
    }

    private var entries: [Entry] = []
    private var head = 0
    /// The list of the batch that is being answered.
    private var batch: ByteBuffer?
    /// Subscriptions that the batch has made, and their events so far.
    private var begun: Set<Int64> = []
    private var events = ByteBuffer(capacity: 0)

    /// Bytes that stand here until the batch is answered.
    var heldBytes: Int { (batch?.count ?? 0) + events.count }

    var isEmpty: Bool { head == entries.count }

    mutating func beginBatch() { entries.append(.batchBegins) }

    mutating func endBatch(_ output: inout OutputQueue) {
        entries.append(.batchEnds)
        settle(&output)
    }

    /// A call has been taken that the runtime will answer.
    mutating func await(_ request: Request) {
        if head < entries.count, case .awaited(let count, request.onlyReads) = entries[entries.count - 1] {
            entries[entries.count - 1] = .awaited(count + 1, onlyRead: request.onlyReads)
        } else {
            entries.append(.awaited(1, onlyRead: request.onlyReads))
        }
    }

    mutating func answer(_ fault: RequestFault, to id: RequestID, _ output: inout OutputQueue) {
        entries.append(.fault(id, fault))
        settle(&output)
    }

    /// The runtime's next answer.
    /// - Parameter limit: bytes that may wait for the client: a call that only reads is refused where its answer would be beyond.
    mutating func answer(_ result: Result, to id: RequestID, within limit: Int, _ output: inout OutputQueue) {
        guard head < entries.count, case .awaited(let count, let onlyRead) = entries[head] else {
            preconditionFailure("a reply that no call awaits")
        }
        let before = output.count + heldBytes
        if onlyRead, before > 0, result.isLonger(than: limit - before) {
            let failure = Failure(
                .limit, "with what waits already the answer would be more than \(limit) bytes",
                hint: "ask for less at once; output-maximum is the limit")
            write(.fault(RequestFault(code: RequestFault.refused, failure: failure)), to: id, &output)
        } else {
            write(result, to: id, &output)
        }
        if count > 1 {
            entries[head] = .awaited(count - 1, onlyRead: onlyRead)
        } else {
            advance()
            settle(&output)
        }
    }

    /// Whether events of a subscription have to wait for the list that the client learns of it by.
    func holdsEvents(of subscription: Int64) -> Bool { begun.contains(subscription) }

    func holdEvent(_ write: (ByteBuffer) -> Void) { write(events) }

    /// Writes what needs no further reply.
    private mutating func settle(_ output: inout OutputQueue) {
        while head < entries.count {
            switch entries[head] {
            case .awaited: return
            case .fault(let id, let fault): write(.fault(fault), to: id, &output)
            case .batchBegins: batch = ByteBuffer()
            case .batchEnds:
                // A batch of notifications is not answered at all.
                if let batch, !batch.isEmpty {
                    batch.append("]\n")
                    output.append(batch)
                }
                batch = nil
                if !begun.isEmpty {
                    begun = []
                    output.append(events)
                    events = ByteBuffer(capacity: 0)
                }
            }
            advance()
        }
    }

    private mutating func advance() {
        head += 1
        if head == entries.count {
            entries.removeAll(keepingCapacity: true)
            head = 0
        }
    }

    private mutating func write(_ result: Result, to id: RequestID, _ output: inout OutputQueue) {
        if let batch {
            if let subscription = result.newSubscription { begun.insert(subscription) }
            batch.append(batch.isEmpty ? "[" : ",")
            batch.appendReply(result, to: id)
        } else {
            output.append { line in
                line.appendReply(result, to: id)
                line.append(UInt8(ascii: "\n"))
            }
        }
    }
}
