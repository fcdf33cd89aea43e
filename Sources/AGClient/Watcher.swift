import AttributeValues
public import WireProtocol

/// A subscription that survives its connection: if the daemon disconnects, it reconnects and continues where it was.
/// Blocking; only one thread may use it at a time.
///
/// Guarantees: after `resumed(isSnapshot: false)`, the daemon sends the changes since then as one update with the
/// present value of each changed path. After `resumed(isSnapshot: true)`, it sends all values anew. In both cases, the
/// last value of every path arrives. Values in between may be skipped, and `structure` and `completion` events of the
/// time without a connection are not repeated. A subscription with frames always gets all values anew, because its
/// motions may have ended.
public final class Watcher {
    public enum News: Sendable {
        /// Decode it with a `MessageDecoder`.
        case event(EncodedMessage)
        /// The connection has ended, or the first one cannot be made yet. `next` tries again.
        case interrupted(ClientError)
        /// - isSnapshot: the known values are out of date, and the update that follows replaces them.
        case resumed(isSnapshot: Bool)
    }

    private enum State {
        case idle
        /// The daemon must answer before the deadline, in monotonic seconds.
        case subscribing(LineSocket, deadline: Double?)
        case subscribed(LineSocket)
        /// The end of the pause, in monotonic seconds.
        case pausing(Double)
    }

    /// Many paths are read with several requests, so that none is longer than a daemon accepts.
    private static let pathsPerRequest = 256
    private static let helloID: Int64 = 0

    private let location: SocketLocation
    private let name: String?
    private let timeout: Double?
    private let principal: String?
    private let decoder = MessageDecoder()
    private var progress: WatchProgress
    private var backoff: Backoff
    private var state = State.idle
    private var hasBeenSubscribed = false
    /// The attempts to make the first connection.
    private var first: Attempts
    /// True if the last wait for it was for a path, false if it was for the daemon.
    private var waitedForPath: Bool?
    private let waitsForPaths: Bool
    /// True if the daemon's last answer refused the connection, not the subscription.
    private var isDaemonFull = false
    /// The watcher always asks for bookmarks, because they advance the position when nothing changes. The caller may
    /// not want to see them.
    private let tellsBookmarks: Bool
    /// Events that arrived before the reply to their subscription. Subscribing is itself a change that can be watched
    /// (`scenePhase`).
    private var early: [EncodedMessage] = []

    /// Connects at the first `next`.
    /// - Parameters:
    ///   - principal: the principal for which the watcher acts. This needs the right *admin*.
    ///   - timeout: maximum seconds of a wait for the answer to a subscription; nil waits without limit.
    ///   - retry: seconds to wait for a daemon that is not there yet; nil does not wait. A wait begins with
    ///     `interrupted` and ends with `resumed`.
    ///   - waitsForPaths: true if it then waits for paths that name nothing, too.
    public init(
        _ request: Request.Subscribe, at location: SocketLocation = .find(), name: String? = nil,
        as principal: String? = nil, timeout: Double? = nil, retry: Double? = nil, waitsForPaths: Bool = false,
        backoff: Backoff = Backoff()
    ) {
        first = Attempts(.subscribe(request), retry: retry, backoff: backoff)
        self.waitsForPaths = waitsForPaths
        self.location = location
        self.name = name
        self.principal = principal
        self.timeout = timeout
        self.backoff = backoff
        tellsBookmarks = request.bookmarks
        var request = request
        request.bookmarks = true
        progress = WatchProgress(request)
    }

    /// The position from which another process could continue; nil before the first snapshot.
    public var position: Request.Position? { progress.position }

    /// - Returns: nil after the timeout or an interrupt.
    /// - Throws: the error of the first connection; `refused` for the subscription itself; `ended` if everything that
    ///   it named has been removed.
    public func next(timeout: Double? = nil, interrupt: Int32? = nil) throws(ClientError) -> News? {
        let deadline = timeout.map { MonotonicTime.now + $0 }
        while true {
            let left = deadline.map { max(0, $0 - MonotonicTime.now) }
            do throws(ClientError) {
                switch state {
                case .idle: try connect()
                case .subscribing(let socket, let last):
                    let end = [deadline, last].compactMap { $0 }.min()
                    let wait = end.map { max(0, $0 - MonotonicTime.now) }
                    let line = try socket.receive(timeout: wait, interrupt: interrupt) { line in EncodedMessage(line) }
                    guard let line else {
                        // The wait may end a rounding error early.
                        if let limit = self.timeout, let last, MonotonicTime.now > last - 0.001 {
                            throw .timedOut(seconds: limit)
                        }
                        return nil
                    }
                    if let news = try subscribed(line, socket) { return news }
                case .subscribed(let socket):
                    if !early.isEmpty { return .event(early.removeFirst()) }
                    try socket.flush()
                    let news = try socket.receive(timeout: left, interrupt: interrupt) { line throws(ClientError) in
                        try read(line)
                    }
                    guard let news else { return nil }
                    if let event = news { return event }
                case .pausing(let end):
                    let pause = max(0, end - MonotonicTime.now)
                    if Wakeup.wait(for: interrupt ?? -1, min(pause, left ?? pause)) { return nil }
                    if let left, left < pause { return nil }
                    state = .idle
                }
            } catch {
                if let news = try recovered(from: error) { return news }
            }
        }
    }

    /// Reads paths that an `invalidate` has named, so that the daemon reports the next change of each. The values are
    /// dropped. After a lost connection there is nothing to read: the next connection reports them anew.
    public func acknowledge(_ paths: [String]) {
        guard case .subscribed(let socket) = state else { return }
        for start in stride(from: 0, to: paths.count, by: Watcher.pathsPerRequest) {
            let part = Array(paths[start..<min(start + Watcher.pathsPerRequest, paths.count)])
            socket.output.appendRequest(.get(.init(paths: part)), id: 2)
        }
    }

    /// The next connection gets all values anew, with the motions that still run, instead of the changes since.
    package func forgetPosition() { progress.forget() }

    private func connect() throws(ClientError) {
        let socket = try LineSocket(to: location, timeout: timeout)
        let hello = Request.hello(client: name, principal: principal, time: location.time)
        if principal != nil || location.time != nil {
            socket.output.appendRequest(hello, id: Watcher.helloID)
        } else if name != nil {
            socket.output.appendRequest(hello, id: nil)
        }
        socket.output.appendRequest(.subscribe(progress.request), id: 1)
        try socket.flush()
        early = []
        state = .subscribing(socket, deadline: timeout.map { MonotonicTime.now + $0 })
    }

    private func subscribed(_ line: EncodedMessage, _ socket: LineSocket) throws(ClientError) -> News? {
        guard case .reply(let id, let reply) = try decoder.decode(line) else {
            early.append(line)
            return nil
        }
        isDaemonFull = id == nil
        // If the watcher may not act for the principal, this throws before anything of the subscription is told.
        if id == Watcher.helloID {
            _ = try reply.get()
            return nil
        }
        guard let result = try reply.get().map, let epoch = result["epoch"]?.string,
            case .int(let revision)? = result["revision"]
        else { throw .malformed("subscribe was answered without epoch and revision") }
        var resumed: Bool?
        if case .bool(let flag)? = result["resumed"] { resumed = flag }
        progress.subscribed(epoch: epoch, revision: UInt64(clamping: revision), resumed: resumed)
        backoff.reset()
        state = .subscribed(socket)
        defer { hasBeenSubscribed = true }
        return hasBeenSubscribed || waitedForPath != nil ? .resumed(isSnapshot: resumed != true) : nil
    }

    /// - Returns: nil if the caller does not need the message.
    private func read(_ line: UnsafeBufferPointer<UInt8>) throws(ClientError) -> News? {
        guard let event = try decoder.summarize(line) else { return nil }
        if event.method == "ended" { throw .ended(event.reason ?? "") }
        progress.received(event)
        if event.method == "bookmark", !tellsBookmarks { return nil }
        return .event(EncodedMessage(line))
    }

    /// - Throws: the error itself if another attempt cannot help.
    private func recovered(from error: ClientError) throws(ClientError) -> News? {
        guard hasBeenSubscribed else {
            let isOfPath = waitsForPaths && error.failure?.code == .notFound
            let pause = try first.pause(after: error, isOfConnection: isOfPath || isDaemonFull)
            state = .pausing(MonotonicTime.now + pause)
            defer { waitedForPath = isOfPath }
            return waitedForPath == isOfPath ? nil : .interrupted(error)
        }
        guard error.mayPassAfterLoss else { throw error }
        var isNews = false
        if case .subscribed = state, case .lost = error { isNews = true }
        // A motion may end while nobody hears its frames.
        if progress.hasFrames { progress.forget() }
        state = .pausing(MonotonicTime.now + backoff.pause())
        return isNews ? .interrupted(error) : nil
    }
}
