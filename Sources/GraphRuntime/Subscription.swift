import AttributeGraph
import WireProtocol

/// One client's wish to hear of a topic.
final class Subscription {
    let number: Int64
    let client: Client
    let topic: Topic
    /// Seconds between updates; nil: as they come.
    let interval: Double?
    /// News that the client has not been sent: it is behind, wants fewer updates, or is not told of the subscription
    /// yet.
    var pending: Pending? = Pending()
    /// When the next update may go out, monotonic seconds.
    var nextAllowed = 0.0
    /// The revision of the last bookmark.
    var bookmarked: UInt64 = 0
    /// Attributes reported as invalid and not read by the client since.
    var outstanding: Set<AttributeID> = []
    /// Events that follow the answer to the batch that subscribes; nil when that has been answered.
    var opening: [Event]?
    var hasEnded = false

    init(_ number: Int64, of client: Client, to topic: Topic, interval: Double?) {
        self.number = number
        self.client = client
        self.topic = topic
        self.interval = interval
    }

    /// Whether all news must wait, so that none overtakes what waits already.
    var isWaiting: Bool { client.isBehind || pending != nil }

    /// Whether the client can take pending news.
    var mayFlush: Bool { opening == nil && !client.isBehind }

    /// Whether an update must wait: the client is behind, or has had its share for now.
    func holdsBack(at now: Double) -> Bool {
        if isWaiting { return true }
        guard let interval else { return false }
        if now < nextAllowed { return true }
        nextAllowed = now + interval
        return false
    }
}
