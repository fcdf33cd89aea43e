import AttributeGraph
import WireProtocol

/// One client's subscription to a topic.
final class Subscription {
    let number: Int64
    let client: Client
    /// Whose share it uses.
    let owner: AccessRule.Subject
    let topic: Topic
    /// Seconds between updates; nil: no limit.
    let interval: Double?
    /// News that the client has not been sent, because it is behind, wants fewer updates, or has not been told of the
    /// subscription yet.
    var pending: Pending? = Pending()
    /// Monotonic time of the next permitted update.
    var nextAllowed = 0.0
    /// The revision of the last bookmark.
    var bookmarked: UInt64 = 0
    /// Attributes reported as invalid and not read by the client since.
    var outstanding: Set<AttributeID> = []
    /// Events that follow the answer to the batch that contained the request; nil once that has been answered.
    var opening: [Event]?
    var hasEnded = false

    init(_ number: Int64, of client: Client, to topic: Topic, interval: Double?) {
        self.number = number
        self.client = client
        owner = client.subject
        self.topic = topic
        self.interval = interval
    }

    var receiver: Receiver { (client.id, number) }

    /// True if all news must wait, so that it does not overtake pending news.
    var isWaiting: Bool { client.isBehind || pending != nil }

    /// True if pending news may be sent.
    var mayFlush: Bool { opening == nil && !client.isBehind }

    /// True if an update must wait: the client is behind, or has had its share for now.
    func mustWait(at now: Double) -> Bool {
        if isWaiting { return true }
        guard let interval else { return false }
        if now < nextAllowed { return true }
        nextAllowed = now + interval
        return false
    }
}
