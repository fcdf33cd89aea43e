import AttributeValues
import Glibc
public import WireProtocol

/// A subscription that outlives its connection: when the daemon goes away it connects again and continues where it was.
/// Blocking, for one thread at a time.
///
/// What it promises: after `resumed(isSnapshot: false)` the daemon tells what changed meanwhile, as one update with the present value of
/// each changed path; after `resumed(isSnapshot: true)` it tells all values anew. Either way the last value of every path is
/// heard. Values in between may be skipped; `structure` and `completion` events of the time away are not repeated.
public final class Watcher {
    public enum News: Sendable {
        /// Read it with a `MessageDecoder`.
        case event(EncodedMessage)
        /// The connection is gone; `next` tries again until it is back.
        case interrupted(ClientError)
        /// - isSnapshot: what was known is out of date and is replaced by the update that follows.
        case resumed(isSnapshot: Bool)
    }

    private enum State {
        case idle
        case subscribing(LineSocket)
        case subscribed(LineSocket)
        /// Until when, monotonic seconds.
        case pausing(Double)
    }

    /// Many paths are read by several requests, none of them longer than a daemon takes.
    private static let pathsPerRequest = 256

    private let location: SocketLocation
    private let name: String?
    private let decoder = MessageDecoder()
    private var progress: WatchProgress
    private var backoff: Backoff
    private var state = State.idle
    private var hasBeenSubscribed = false
    /// Bookmarks are always asked for, because they keep the place where nothing changes; the caller may not want to hear of them.
    private let tellsBookmarks: Bool
    /// Events that came before the reply to their subscription: making it is itself a change that some watch (`scenePhase`).
    private var early: [EncodedMessage] = []

    /// Connects at the first `next`.
    public init(
        _ request: Request.Subscribe, at location: SocketLocation = .find(), name: String? = nil, backoff: Backoff = Backoff()
    ) {
        self.location = location
        self.name = name
        self.backoff = backoff
        tellsBookmarks = request.bookmarks
        var request = request
        request.bookmarks = true
        progress = WatchProgress(request)
    }

    /// From where another process could continue; nil before the first snapshot.
    public var position: Request.Position? { progress.position }

    /// - Returns: nil when the time is over or the wait was interrupted.
    /// - Throws: on the first connection why there is none; `refused` for the subscription itself; `ended` when all that it named
    ///   is gone.
    public func next(timeout: Double? = nil, interrupt: Int32? = nil) throws(ClientError) -> News? {
        let deadline = timeout.map { MonotonicTime.now + $0 }
        while true {
            let left = deadline.map { max(0, $0 - MonotonicTime.now) }
            do throws(ClientError) {
                switch state {
                case .idle: try connect()
                case .subscribing(let socket):
                    let line = try socket.receive(timeout: left, interrupt: interrupt) { line in EncodedMessage(line) }
                    guard let line else { return nil }
                    if let news = try subscribed(line, socket) { return news }
                case .subscribed(let socket):
                    if !early.isEmpty { return .event(early.removeFirst()) }
                    try socket.flush()
                    let news = try socket.receive(timeout: left, interrupt: interrupt) { line throws(ClientError) in try read(line) }
                    guard let news else { return nil }
                    if let event = news { return event }
                case .pausing(let end):
                    let pause = max(0, end - MonotonicTime.now)
                    if try Watcher.wait(min(pause, left ?? pause), interrupt: interrupt) { return nil }
                    if let left, left < pause { return nil }
                    state = .idle
                }
            } catch {
                if let news = try recovered(from: error) { return news }
            }
        }
    }

    /// Reads paths that an `invalidate` has named: the next change of each is told again then. The values are not handed out.
    /// After a lost connection there is nothing to read, the next one tells anew.
    public func acknowledge(_ paths: [String]) {
        guard case .subscribed(let socket) = state else { return }
        for start in stride(from: 0, to: paths.count, by: Watcher.pathsPerRequest) {
            let part = Array(paths[start..<min(start + Watcher.pathsPerRequest, paths.count)])
            socket.output.appendRequest(.get(.init(paths: part, isSingle: false, presentation: false, typed: false)), id: 2)
        }
    }

    private func connect() throws(ClientError) {
        let socket = try LineSocket(to: location)
        if let name { socket.output.appendRequest(.hello(client: name), id: nil) }
        socket.output.appendRequest(.subscribe(progress.request), id: 1)
        try socket.flush()
        early = []
        state = .subscribing(socket)
    }

    private func subscribed(_ line: EncodedMessage, _ socket: LineSocket) throws(ClientError) -> News? {
        guard case .reply(_, let reply) = try decoder.decode(line) else {
            early.append(line)
            return nil
        }
        guard let result = try reply.get().map, let epoch = result["epoch"]?.string, case .int(let revision)? = result["revision"] else {
            throw .malformed("subscribe was answered without epoch and revision")
        }
        var resumed: Bool?
        if case .bool(let flag)? = result["resumed"] { resumed = flag }
        progress.subscribed(epoch: epoch, revision: UInt64(clamping: revision), resumed: resumed)
        backoff.reset()
        state = .subscribed(socket)
        guard hasBeenSubscribed else {
            hasBeenSubscribed = true
            return nil
        }
        return .resumed(isSnapshot: resumed != true)
    }

    /// - Returns: nil for what the caller need not hear.
    private func read(_ line: UnsafeBufferPointer<UInt8>) throws(ClientError) -> News? {
        guard case .event(let event) = try decoder.summarize(line) else { return nil }
        if event.method == "ended" { throw .ended(event.reason ?? "") }
        progress.received(event)
        if event.method == "bookmark", !tellsBookmarks { return nil }
        return .event(EncodedMessage(line))
    }

    /// - Throws: the error itself where trying again does not help.
    private func recovered(from error: ClientError) throws(ClientError) -> News? {
        guard hasBeenSubscribed else { throw error }
        let isNews: Bool
        switch error {
        case .lost:
            if case .subscribed = state { isNews = true } else { isNews = false }
        case .unreachable: isNews = false
        // A daemon that has just started may not have the scene yet, or no room for one more client.
        case .refused(let fault) where fault.failure.code == .notFound || error.mayPass: isNews = false
        default: throw error
        }
        state = .pausing(MonotonicTime.now + backoff.pause())
        return isNews ? .interrupted(error) : nil
    }

    /// - Returns: whether the interrupt came first.
    private static func wait(_ seconds: Double, interrupt: Int32?) throws(ClientError) -> Bool {
        var watched = pollfd(fd: interrupt ?? -1, events: Int16(POLLIN), revents: 0)
        let count = poll(&watched, 1, MonotonicTime.milliseconds(seconds))
        if count < 0, errno != EINTR { throw .system(call: "poll", errno: errno) }
        return count > 0
    }
}
