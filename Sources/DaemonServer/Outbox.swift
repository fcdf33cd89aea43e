import AttributeValues
import EventLoop
import GraphRuntime
import WireProtocol

/// Puts a turn's output into the queues of its receivers. Encodes each event once.
final class Outbox: TurnOutput {
    private let sessions: Sessions
    /// The shared parts of the present event. Reused for the next one after all queues have copied them.
    private let head = ByteBuffer()
    private var tail = ByteBuffer(capacity: tailCapacity)
    private static let tailCapacity = 1024
    private let updateHead = ByteBuffer()

    init(_ sessions: Sessions) {
        self.sessions = sessions
        updateHead.appendHead(
            of: .update(revision: 0, from: nil, label: nil, isInitial: false, changes: [], typed: false))
    }

    /// Puts a delivery into the queues.
    func take(_ delivery: Delivery) {
        switch delivery {
        case .reply(let client, let id, let result): take(result, to: id, of: client)
        case .batchBegins(let client): receiver(client)?.replies.beginBatch()
        case .batchEnds(let client):
            guard let session = receiver(client) else { return }
            session.replies.endBatch(&session.output)
            session.updateLedger()
        case .event(let receivers, let event): send(event, to: receivers)
        }
    }

    func take(_ result: Answer, to id: RequestID, of client: ClientID) {
        // Answers are bounded by the requests that a client may make in a turn or batch.
        guard let session = receiver(client) else { return }
        session.replies.write(result, to: id, &session.output)
        session.updateLedger()
    }

    /// The session of a connected client. Its output is written at the end of the turn.
    private func receiver(_ client: ClientID) -> Session? {
        guard let session = sessions[client], !session.isClosing else { return nil }
        sessions.touch(session)
        return session
    }

    func take(
        _ revision: UInt64, _ label: String?, _ writer: String?, _ changes: ByteBuffer, to receivers: [Receiver]
    ) {
        tail.removeAll()
        tail.appendTail(revision: revision, label: label, writer: writer, changes: changes)
        send(updateHead, to: receivers)
    }

    private func send(_ event: Event, to receivers: [Receiver]) {
        head.removeAll()
        head.appendHead(of: event)
        tail.removeAll()
        tail.appendTail(of: event)
        send(head, to: receivers)
    }

    /// Puts the head and the tail into the queues, with the number of the subscription between them.
    private func send(_ head: ByteBuffer, to receivers: [Receiver]) {
        // A large tail is shared by all queues, which then own it.
        let run = tail.count >= OutputQueue.sharingThreshold ? OutputRun(tail, sessions.output) : nil
        let copied = run == nil ? tail : ByteBuffer(capacity: 0)
        for (client, subscription) in receivers {
            guard let session = session(client) else { continue }
            session.output.append { $0.append(head, subscription, copied) }
            if let run { session.output.append(run) }
        }
        if run != nil { tail = ByteBuffer(capacity: Outbox.tailCapacity) }
    }

    /// The session of a receiver, if it is connected and has not exceeded `output-maximum`. Only output of a client
    /// that is behind, and of unfinished batches, counts: other clients have had no time to read it.
    private func session(_ client: ClientID) -> Session? {
        guard let session = receiver(client) else { return nil }
        let piled = session.replies.heldBytes + (session.isBehind ? session.output.count : 0)
        guard piled <= sessions.limits.outputMaximum else {
            sessions.disconnect(session, "\(session.waiting) bytes of output wait for it, more than output-maximum")
            return nil
        }
        return session
    }
}
