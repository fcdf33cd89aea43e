public import WireProtocol

/// A watched set of attributes as a sequence that survives restarts of the daemon: if the connection ends, the sequence
/// reconnects and continues, with the guarantees of `Watcher`.
///
/// Each loop over the sequence has a subscription and a connection of its own, from its first `next` until its iterator
/// is freed. A slow loop does not slow down others: while it takes no events, the daemon retains the newest value of
/// each path for it.
///
/// The sequence ends when its task is cancelled. It throws `unreachable` or `refused` if the first connection fails,
/// and `ended` when everything that it named has been removed. With the client's `retry`, it waits so long for the
/// first connection, and says so with `interrupted`.
public struct Subscription: AsyncSequence, Sendable {
    public enum Element {
        case event(Event)
        /// The connection has ended. `resumed` follows when it is back.
        case interrupted(ClientError)
        /// - isSnapshot: forget all known values; the update that follows has all present ones.
        case resumed(isSnapshot: Bool)
    }

    let request: Request.Subscribe
    let source: WatchSource

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription: self) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Closes the feed when the last copy of its iterator is freed.
        private final class Owner {
            let feed: EventFeed
            init(_ feed: EventFeed) { self.feed = feed }
            deinit { feed.close() }
        }

        private let subscription: Subscription
        private var owner: Owner?
        private let decoder = MessageDecoder()

        init(subscription: Subscription) { self.subscription = subscription }

        public mutating func next() async throws(ClientError) -> Element? { try await next(isolation: nil) }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ClientError) -> Element? {
            let feed = try open()
            switch try await feed.next(isolation: actor) {
            case nil: return nil
            case .interrupted(let error)?: return .interrupted(error)
            case .resumed(let isSnapshot)?: return .resumed(isSnapshot: isSnapshot)
            case .event(let message)?:
                guard case .event(_, let event) = try decoder.decode(message, typed: true) else {
                    throw .malformed("a reply among events")
                }
                return .event(event)
            }
        }

        private mutating func open() throws(ClientError) -> EventFeed {
            if let owner { return owner.feed }
            let feed = try EventFeed(subscription.request, from: subscription.source)
            owner = Owner(feed)
            return feed
        }
    }
}
