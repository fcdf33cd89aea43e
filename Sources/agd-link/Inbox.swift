import CNATS
import LinkProtocol

/// Messages of libnats that are not needed any more. Destroying one wakes a thread of libnats that frees it, so they
/// are destroyed together.
final class SpentMessages {
    private static let most = 64
    private var messages: [OpaquePointer] = []

    deinit { free() }

    func add(_ message: OpaquePointer?) {
        guard let message else { return }
        if messages.count == SpentMessages.most { free() }
        messages.append(message)
    }

    func free() {
        for message in messages { natsMsg_Destroy(message) }
        messages.removeAll(keepingCapacity: true)
    }
}

/// A subscription whose messages wait in libnats' queue until they are read.
final class Inbox {
    struct Message {
        var subject: String
        var bytes: [UInt8]
        /// The subject that a reply goes to.
        var reply: String?
        /// The server's word that nobody listens to the subject of a request. libnats does not say which.
        var isNoResponders = false

        /// The last token of its subject.
        var number: UInt64? {
            subject.utf8.lastIndex(of: UInt8(ascii: ".")).flatMap { UInt64(subject[$0...].dropFirst()) }
        }
    }

    private let subscription: OpaquePointer?
    private let spent: SpentMessages
    /// Messages that are known to wait.
    private var ready: Int32 = 0

    init(_ subscription: OpaquePointer?, _ spent: SpentMessages) {
        (self.subscription, self.spent) = (subscription, spent)
    }

    deinit {
        natsSubscription_Unsubscribe(subscription)
        natsSubscription_Destroy(subscription)
    }

    /// - Parameter seconds: 0 does not wait.
    /// - Returns: nil if no message came in time.
    func takeNext(within seconds: Double = 0) throws(NATSError) -> Message? {
        if ready == 0 {
            natsSubscription_GetPending(subscription, &ready, nil)
            if ready == 0 {
                spent.free()
                // An empty queue is an error for libnats, whose text takes longer to write than this.
                if seconds == 0 { return nil }
            }
        }
        ready = max(0, ready - 1)
        var message: OpaquePointer?
        let status = natsSubscription_NextMsg(&message, subscription, Int64(seconds * 1000))
        // Messages were dropped because the queue was full: the frames of later ones show the gap.
        if status == NATS_TIMEOUT || status == NATS_SLOW_CONSUMER { return nil }
        if status == NATS_NO_RESPONDERS { return Message(subject: "", bytes: [], isNoResponders: true) }
        try NATS.check(status, "receive")
        defer { spent.add(message) }
        return Message(
            subject: String(cString: natsMsg_GetSubject(message)), bytes: NATS.readBytes(of: message),
            reply: natsMsg_GetReply(message).map { String(cString: $0) })
    }
}
