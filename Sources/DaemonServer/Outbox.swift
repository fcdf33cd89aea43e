import AttributeValues
import EventLoop
import GraphRuntime
import WireProtocol

/// Puts a turn's output into the queues of its receivers. Encodes each event once.
final class Outbox: TurnOutput {
    private let sessions: Sessions
    private let updateHead = ByteBuffer()
    private let eventHead = ByteBuffer()
    /// The texts behind the subscription's number, one behind the other: those of updates that are not in the queues
    /// yet, or that of the present event.
    private var tails = ByteBuffer(capacity: tailCapacity)
    private static let tailCapacity = 1024
    /// The positions in `tails` where the text of each message ends.
    private var ends: [Int] = []
    /// The subscriptions that get these messages.
    private var receivers: [Receiver] = []
    /// The last client with other output, which is not among them.
    private var outsider: ClientID?

    /// Updates for the same receivers go into the queues together. Once there are so many, the next one puts them
    /// there, and its writer is charged for the time that this takes.
    private static let gatheredDeliveries = 16_384
    private static let gatheredBytes = 65_536

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
        // A client that has sent no more makes no more updates, so the receivers are written to before it.
        if !ends.isEmpty, !session.input.hasLine || isReceiver(client) { putUpdates() }
        sessions.touch(session)
        return session
    }

    private func isReceiver(_ client: ClientID) -> Bool {
        if client == outsider { return false }
        if receivers.contains(where: { $0.client == client }) { return true }
        outsider = client
        return false
    }

    func take(
        _ revision: UInt64, _ label: String?, _ writer: String?, _ changes: ByteBuffer, to receivers: [Receiver]
    ) {
        let isLarge = changes.count >= OutputQueue.sharingThreshold
        let isFull =
            ends.count * receivers.count >= Outbox.gatheredDeliveries || tails.count >= Outbox.gatheredBytes
        if isLarge || isFull || !receivers.isCopy(of: self.receivers) { putUpdates() }
        if ends.isEmpty { self.receivers = receivers }
        tails.appendTail(revision: revision, label: label, writer: writer, changes: changes)
        ends.append(tails.count)
        if isLarge { putUpdates() }
    }

    private func send(_ event: Event, to receivers: [Receiver]) {
        putUpdates()
        eventHead.removeAll()
        eventHead.appendHead(of: event)
        tails.appendTail(of: event)
        ends.append(tails.count)
        self.receivers = receivers
        put(behind: eventHead)
    }

    /// Puts all updates so far into the queues. Called at the end of the turn, too.
    func putUpdates() { if !ends.isEmpty { put(behind: updateHead) } }

    /// Puts messages into the queues: the head, the number of the subscription, and one of the tails.
    private func put(behind head: ByteBuffer) {
        // A large tail is shared by all queues, which then own it.
        let isShared = ends.count == 1 && tails.count >= OutputQueue.sharingThreshold
        let run = isShared ? OutputRun(tails, sessions.output) : nil
        if isShared { (tails, ends) = (ByteBuffer(capacity: Outbox.tailCapacity), [0]) }
        let (tails, ends) = (tails, ends)
        for (client, subscription) in receivers {
            guard let session = sessions[client], !session.isClosing, hasRoom(session) else { continue }
            sessions.touch(session)
            session.output.append { $0.append(head, subscription, tails, endingAt: ends) }
            if let run { session.output.append(run) }
        }
        tails.removeAll()
        self.ends.removeAll(keepingCapacity: true)
        receivers = []
        outsider = nil
    }

    /// False if a client has exceeded `output-maximum`. Only output of a client that is behind, and of unfinished
    /// batches, counts: other clients have had no time to read it.
    private func hasRoom(_ session: Session) -> Bool {
        let piled = session.replies.heldBytes + (session.isBehind ? session.output.count : 0)
        if piled <= sessions.limits.outputMaximum { return true }
        sessions.disconnect(session, "\(session.waiting) bytes of output wait for it, more than output-maximum")
        return false
    }
}
