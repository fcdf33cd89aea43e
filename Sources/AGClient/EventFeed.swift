import Synchronization
import WireProtocol

/// The thread behind one subscription, and the queue of news for the iterating task.
///
/// The queue is bounded. When it is full, the thread stops reading, the socket fills, and the daemon retains the newest
/// value of each path until there is room again. So a slow task costs no memory and still gets the last value of
/// everything.
final class EventFeed: Sendable {
    static let maximumQueuedEvents = 256
    static let maximumQueuedBytes = 4 << 20

    typealias Item = Result<Watcher.News?, ClientError>

    private struct State {
        var queue: [Watcher.News] = []
        var head = 0
        var bytes = 0
        var waiter: CheckedContinuation<Item, Never>?
        /// The item that ends the sequence, after the queued ones.
        var end: Item?
        var hasWorker = false

        var isFull: Bool {
            queue.count - head >= EventFeed.maximumQueuedEvents || bytes >= EventFeed.maximumQueuedBytes
        }

        mutating func pop() -> Watcher.News? {
            guard head < queue.count else { return nil }
            let news = queue[head]
            head += 1
            bytes -= news.size
            if head == queue.count { (queue, head) = ([], 0) }
            return news
        }
    }

    private let request: Request.Subscribe
    private let location: SocketLocation
    private let name: String?
    private let backoff: Backoff
    private let state = Mutex(State())
    private let wakeup: Wakeup

    init(_ request: Request.Subscribe, at location: SocketLocation, name: String?, backoff: Backoff) throws(ClientError)
    {
        self.request = request
        self.location = location
        self.name = name
        self.backoff = backoff
        wakeup = try Wakeup()
    }

    /// Ends the thread and the sequence.
    func close() { finish(.success(nil), dropping: true) }

    /// nil at the end of the sequence.
    func next(isolation: isolated (any Actor)?) async throws(ClientError) -> Watcher.News? {
        let item: Item = await withTaskCancellationHandler(
            operation: { await withCheckedContinuation(isolation: isolation) { take($0) } },
            onCancel: { close() },
            isolation: isolation)
        return try item.get()
    }

    private func take(_ continuation: CheckedContinuation<Item, Never>) {
        let (item, hasRoom): (Item?, Bool) = state.withLock { state in
            let wasFull = state.isFull
            if let news = state.pop() { return (.success(news), wasFull && !state.isFull) }
            if let end = state.end {
                // An error is thrown once. After that, the sequence has ended.
                state.end = .success(nil)
                return (end, false)
            }
            precondition(state.waiter == nil, "one task at a time iterates a subscription")
            if !state.hasWorker {
                do throws(ClientError) { try Worker.start { self.run() } } catch { return (.failure(error), false) }
                state.hasWorker = true
            }
            state.waiter = continuation
            return (nil, false)
        }
        if hasRoom { wakeup.signal() }
        if let item { continuation.resume(returning: item) }
    }

    private func finish(_ end: Item, dropping: Bool) {
        let waiter = state.withLock { state -> CheckedContinuation<Item, Never>? in
            if dropping { (state.queue, state.head, state.bytes) = ([], 0, 0) }
            guard let waiter = state.waiter.take() else {
                if dropping || state.end == nil { state.end = end }
                return nil
            }
            state.end = .success(nil)
            return waiter
        }
        waiter?.resume(returning: end)
        wakeup.signal()
    }

    // MARK: The thread

    private func run() {
        let watcher = Watcher(request, at: location, name: name, backoff: backoff)
        while true {
            let (isOver, isFull) = state.withLock { ($0.end != nil, $0.isFull) }
            if isOver { return }
            if isFull {
                wakeup.wait()
                wakeup.clear()
                continue
            }
            do throws(ClientError) {
                if let news = try watcher.next(interrupt: wakeup.descriptor) { put(news) } else { wakeup.clear() }
            } catch { return finish(.failure(error), dropping: false) }
        }
    }

    private func put(_ news: Watcher.News) {
        let waiter = state.withLock { state -> CheckedContinuation<Item, Never>? in
            if let waiter = state.waiter.take() { return waiter }
            guard state.end == nil else { return nil }
            state.queue.append(news)
            state.bytes += news.size
            return nil
        }
        waiter?.resume(returning: .success(news))
    }
}

extension Watcher.News {
    fileprivate var size: Int {
        if case .event(let message) = self { message.bytes.count } else { 0 }
    }
}
