import Synchronization
import WireProtocol

/// The daemon of a subscription, and how it is reached.
struct WatchSource: Sendable {
    let location: SocketLocation
    let name: String?
    let principal: String?
    let timeout: Double?
    let retry: Double?
    let backoff: Backoff
}

/// The thread behind one subscription. It reads some events ahead of the iterating task.
///
/// While the task takes none, the socket fills, and the daemon retains the newest value of each path until there is
/// space again. So a slow task costs no memory and still gets the last value of everything.
final class EventFeed: Sendable {
    /// Bytes of events that are read ahead.
    private static let mostBytes = 64 << 10

    typealias Item = Result<Watcher.News?, ClientError>

    private struct State {
        var waiter: CheckedContinuation<Item, Never>?
        /// The items that the task has not taken yet, in order.
        var ready: [Item] = []
        var bytes = 0
        var hasWorker = false
        var isOver = false

        var isFull: Bool { bytes >= EventFeed.mostBytes }
    }

    private let request: Request.Subscribe
    private let source: WatchSource
    private let state = Mutex(State())
    private let wakeup: Wakeup

    init(_ request: Request.Subscribe, from source: WatchSource) throws(ClientError) {
        self.request = request
        self.source = source
        wakeup = try Wakeup()
    }

    /// Ends the thread and the sequence.
    func close() {
        let waiter = state.withLock { state in
            (state.isOver, state.ready, state.bytes) = (true, [], 0)
            return state.waiter.take()
        }
        waiter?.resume(returning: .success(nil))
        wakeup.signal()
    }

    /// nil at the end of the sequence. An error is thrown once; after that, the sequence has ended.
    func next(isolation: isolated (any Actor)?) async throws(ClientError) -> Watcher.News? {
        let item: Item = await withTaskCancellationHandler(
            operation: { await withCheckedContinuation(isolation: isolation) { take($0) } },
            onCancel: { close() },
            isolation: isolation)
        return try item.get()
    }

    private func take(_ continuation: CheckedContinuation<Item, Never>) {
        let (item, hasSpace): (Item?, Bool) = state.withLock { state in
            if !state.ready.isEmpty {
                let wasFull = state.isFull
                let next = state.ready.removeFirst()
                state.bytes -= EventFeed.size(of: next)
                return (next, wasFull && !state.isFull)
            }
            if state.isOver { return (.success(nil), false) }
            precondition(state.waiter == nil, "one task at a time iterates a subscription")
            if !state.hasWorker {
                do throws(ClientError) { try Worker.start { self.run() } } catch { return (.failure(error), false) }
                state.hasWorker = true
            }
            state.waiter = continuation
            return (nil, false)
        }
        if hasSpace { wakeup.signal() }
        if let item { continuation.resume(returning: item) }
    }

    private static func size(of item: Item) -> Int {
        if case .success(.event(let message)?) = item { message.bytes.count } else { 1 }
    }

    private func give(_ item: Item) {
        let waiter = state.withLock { state in
            if state.waiter == nil, !state.isOver {
                state.ready.append(item)
                state.bytes += EventFeed.size(of: item)
            }
            return state.waiter.take()
        }
        waiter?.resume(returning: item)
    }

    // MARK: The thread

    private func run() {
        let watcher = Watcher(
            request, at: source.location, name: source.name, as: source.principal, timeout: source.timeout,
            retry: source.retry, backoff: source.backoff)
        while true {
            let (isOver, isFull) = state.withLock { ($0.isOver, $0.isFull) }
            if isOver { return }
            if isFull {
                wakeup.wait()
                wakeup.clear()
                continue
            }
            do throws(ClientError) {
                if let news = try watcher.next(interrupt: wakeup.descriptor) {
                    give(.success(news))
                } else {
                    wakeup.clear()
                }
            } catch {
                give(.failure(error))
                return state.withLock { $0.isOver = true }
            }
        }
    }
}
