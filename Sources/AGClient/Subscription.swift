public import WireProtocol

/// The options of a subscription.
public struct WatchOptions: Sendable {
    /// Paths, or patterns in which `*` is one segment and `**` any number.
    public var paths: [String]
    /// `invalidate` names each path once. A subscription never reads a path, and an unread path is not named again.
    public var events: EventKinds
    /// Begin with the present values.
    public var initial: Bool
    /// Continue from where another subscription was, instead of from a snapshot.
    public var since: ResumePoint?
    /// Maximum updates per second. Between updates, only the newest values are kept. The last value is always sent.
    public var maxRate: Double?
    /// Samples per second of displayed, moving values. Adds the event `frames`.
    public var frameRate: Double?
    /// Timelines carry an easing for browsers.
    public var css: Bool

    public init(
        paths: [String], events: EventKinds = .update, initial: Bool = true, since: ResumePoint? = nil, maxRate: Double? = nil,
        frameRate: Double? = nil, css: Bool = false
    ) {
        self.paths = paths
        self.events = events
        self.initial = initial
        self.since = since
        self.maxRate = maxRate
        self.frameRate = frameRate
        self.css = css
    }

    func request(typed: Bool) -> Request.Subscribe {
        Request.Subscribe(
            patterns: paths, events: frameRate == nil ? events : events.union(.frames), initial: initial && events.contains(.update),
            since: since.map { Request.Position(epoch: $0.epoch, revision: $0.revision) }, maxRate: maxRate,
            frameRate: frameRate, css: css, typed: typed, bookmarks: false)
    }
}

/// A position in a daemon's history.
public struct ResumePoint: Hashable, Sendable {
    public var epoch: String
    public var revision: UInt64

    public init(epoch: String, revision: UInt64) {
        self.epoch = epoch
        self.revision = revision
    }
}

/// A watched set of attributes as a sequence that survives restarts of the daemon: if the connection ends, the sequence
/// reconnects and continues, with the guarantees of `Watcher`.
///
/// Each loop over the sequence has a subscription and a connection of its own, from its first `next` until its iterator
/// is freed. A slow loop does not slow down others: while it takes no events, the daemon retains the newest value of
/// each path for it.
///
/// The sequence ends when its task is cancelled. It throws `unreachable` or `refused` if the first connection fails,
/// and `ended` when everything that it named has been removed.
public struct Subscription: AsyncSequence, Sendable {
    public enum Element {
        case event(Event)
        /// The connection has ended. `resumed` follows when it is back.
        case interrupted(ClientError)
        /// - isSnapshot: forget all known values; the update that follows has all present ones.
        case resumed(isSnapshot: Bool)
    }

    public typealias Failure = ClientError

    let options: WatchOptions
    let location: SocketLocation
    let name: String?
    let backoff: Backoff

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

        public mutating func next() async throws(ClientError) -> Element? {
            try await next(isolation: nil)
        }

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
            let feed = try EventFeed(
                subscription.options, at: subscription.location, name: subscription.name, backoff: subscription.backoff)
            owner = Owner(feed)
            return feed
        }
    }
}
