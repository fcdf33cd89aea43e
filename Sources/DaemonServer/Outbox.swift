import AttributeValues
import EventLoop
import GraphRuntime
import WireProtocol

/// Puts a turn's output into the queues of its receivers. Encodes each event once.
///
/// The last messages of a turn are written behind its commit. They need no queue where nothing else waits: with one, a
/// write with 20 watchers takes 40 % more instructions (decision 162).
final class Outbox: TurnOutput {
    private let sessions: Sessions
    private let updateHead = ByteBuffer()
    private let eventHead = ByteBuffer()
    // Messages that are not in the queues yet: updates, or one other event.
    /// Either head: the text up to the subscription's number.
    private var head: ByteBuffer
    /// The texts behind the number, one behind the other.
    private var tails = ByteBuffer(capacity: tailCapacity)
    private static let tailCapacity = 1024
    /// The positions in `tails` where the text of each message ends.
    private var ends: [Int] = []
    /// The subscriptions that get these messages.
    private var receivers: [Receiver] = []
    /// The last client with other output, which is not among them.
    private var outsider: ClientID?
    /// The messages for one receiver after the other.
    private let text = ByteBuffer()

    /// Updates for the same receivers go into the queues together. Once there are so many, the next one puts them
    /// there, and its writer is charged for the time that this takes.
    private static let gatheredDeliveries = 65_536
    private static let gatheredBytes = 65_536

    init(_ sessions: Sessions) {
        self.sessions = sessions
        head = updateHead
        updateHead.appendHead(
            of: .update(revision: 0, from: nil, label: nil, isInitial: false, changes: [], typed: false))
    }

    /// Puts a delivery into the queues.
    func take(_ delivery: consuming Delivery) {
        switch consume delivery {
        // Answers are bounded by the requests that a client may make in a turn or batch.
        case .reply(let client, let id, let result): receiver(client)?.output.addReply(result, to: id)
        case .batchBegins(let client): receiver(client)?.output.beginBatch()
        case .batchEnds(let client): receiver(client)?.output.endBatch()
        case .event(let receivers, let event): send(consume event, to: receivers)
        }
    }

    /// The session of a connected client. Its output is written at the end of the turn.
    private func receiver(_ client: ClientID) -> Session? {
        guard let session = sessions[client], !session.isClosing else { return nil }
        if !ends.isEmpty, isReceiver(client) { put() }
        sessions.touch(session)
        return session
    }

    private func isReceiver(_ client: ClientID) -> Bool {
        if client == outsider { return false }
        if receivers.contains(where: { $0.client == client }) { return true }
        outsider = client
        return false
    }

    private func send(_ event: consuming Event, to receivers: [Receiver]) {
        if case .updateText(_, _, _, let changes) = event {
            let isFull =
                ends.count * receivers.count >= Outbox.gatheredDeliveries || tails.count >= Outbox.gatheredBytes
            if isShared || isFull || changes.count >= OutputQueue.sharingThreshold || head !== updateHead
                || !receivers.isCopy(of: self.receivers)
            {
                put()
                head = updateHead
                self.receivers = receivers
            }
        } else {
            put()
            head = eventHead
            self.receivers = receivers
            eventHead.removeAll()
            eventHead.appendHead(of: event)
        }
        tails.appendTail(of: event)
        ends.append(tails.count)
    }

    /// A large message is alone, and shared by all queues.
    private var isShared: Bool { ends.count == 1 && tails.count >= OutputQueue.sharingThreshold }

    /// Puts the messages so far into the queues.
    /// - Parameter now: the beginning of the turn, if its changes are on disk. Then whoever is idle is written to.
    func put(behindCommitAt now: Double? = nil) {
        if ends.isEmpty { return }
        let run = isShared ? OutputRun(tails, sessions.output) : nil
        if run != nil { (tails, ends) = (ByteBuffer(capacity: Outbox.tailCapacity), [0]) }
        let (head, text, tails, ends) = (head, text, tails, ends)
        for (client, subscription) in receivers {
            guard let session = sessions[client], !session.isClosing else { continue }
            text.fill(head, subscription, tails, endingAt: ends)
            if let now, run == nil, sessions.write(text, to: session, at: now) { continue }
            guard hasSpace(session) else { continue }
            sessions.touch(session)
            session.output.addEvents(text, run)
        }
        text.removeAll()
        tails.removeAll()
        self.ends.removeAll(keepingCapacity: true)
        receivers = []
        outsider = nil
    }

    /// False if a client has exceeded `output-maximum`. Only output of a client that is behind, and of unfinished
    /// batches, counts: other clients have had no time to read it.
    private func hasSpace(_ session: Session) -> Bool {
        let piled = session.output.batchBytes + (session.isBehind ? session.output.count : 0)
        if piled <= sessions.limits.outputMaximum { return true }
        sessions.disconnect(session, "\(session.waiting) bytes of output wait for it, more than output-maximum")
        return false
    }
}
