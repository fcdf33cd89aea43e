import AttributeValues
import EventLoop
import WireProtocol

/// Frames the replies to one client: a line each, or one list for a batch.
struct PendingReplies {
    /// The list of the batch that is being answered.
    private var batch: ByteBuffer?

    /// Bytes that wait here until the batch has been answered.
    var heldBytes: Int { batch?.count ?? 0 }

    var isBatch: Bool { batch != nil }

    mutating func beginBatch() { batch = ByteBuffer() }

    mutating func endBatch(_ output: inout OutputQueue) {
        // A batch of notifications is not answered at all.
        if let batch, !batch.isEmpty {
            batch.append("]\n")
            output.append(batch)
        }
        batch = nil
    }

    func write(_ result: Answer, to id: RequestID, _ output: inout OutputQueue) {
        if let batch {
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
