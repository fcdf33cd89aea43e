import AttributeValues
import EventLoop
import GraphRuntime
import WireProtocol

/// Puts what a turn has to say into the queues of those who must hear it. An event is encoded once.
final class Outbox {
    private let sessions: Sessions
    /// The shared parts of the event at hand; kept for the next one when all have copied them.
    private let head = ByteBuffer()
    private var tail = ByteBuffer(capacity: 1024)

    init(_ sessions: Sessions) { self.sessions = sessions }

    /// Puts a delivery into the queues.
    func take(_ delivery: Delivery) {
        switch delivery {
        case .reply(let client, let id, let result): reply(result, to: id, of: client)
        case .batchBegins(let client): receiver(client)?.replies.beginBatch()
        case .batchEnds(let client):
            guard let session = receiver(client) else { return }
            session.replies.endBatch(&session.output)
            session.count()
        case .event(let receivers, let event): send(event, to: receivers)
        }
    }

    private func reply(_ result: Answer, to id: RequestID, of client: ClientID) {
        // Answers are bounded by what a client may ask for in a turn or batch.
        guard let session = receiver(client) else { return }
        session.replies.write(result, to: id, &session.output)
        session.count()
    }

    /// A client that is still there; it is written to at the end of the turn.
    private func receiver(_ client: ClientID) -> Session? {
        guard let session = sessions[client], !session.isClosing else { return nil }
        sessions.touch(session)
        return session
    }

    private func send(_ event: Event, to receivers: [(client: ClientID, subscription: Int64)]) {
        head.removeAll()
        head.appendHead(of: event)
        tail.removeAll()
        tail.appendTail(of: event)
        // Queues hold a large tail together; it is theirs then.
        let run = tail.count >= OutputQueue.sharingThreshold ? OutputRun(tail, sessions.output) : nil
        for (client, subscription) in receivers {
            guard let session = session(client) else { continue }
            session.output.append { message in
                message.append(head)
                message.append(subscription)
                if run == nil { message.append(tail) }
            }
            if let run { session.output.append(run) }
        }
        if run != nil { tail = ByteBuffer(capacity: 1024) }
    }

    /// The receiver, if it is still there and has not let the most pile up that is kept for anybody. What one turn
    /// makes is not counted against who has had no time to take it.
    private func session(_ client: ClientID) -> Session? {
        guard let session = receiver(client) else { return nil }
        let piled = session.replies.heldBytes + (session.isBehind ? session.output.count : 0)
        guard piled <= sessions.limits.outputMaximum else {
            sessions.disconnect(session, "\(session.waiting) bytes wait and more would have to (output-maximum)")
            return nil
        }
        return session
    }
}
