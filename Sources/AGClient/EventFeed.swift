import Synchronization
import WireProtocol

/// The thread behind one subscription. It takes an event from the connection only while the iterating task waits for
/// one.
///
/// So nothing is queued here. While the task is busy, the socket fills, and the daemon retains the newest value of each
/// path until there is room again: a slow task costs no memory and still gets the last value of everything.
final class EventFeed: Sendable {
    typealias Item = Result<Watcher.News?, ClientError>

    private struct State {
        var waiter: CheckedContinuation<Item, Never>?
        var hasWorker = false
        /// The sequence has ended.
        var isOver = false
    }

    private let request: Request.Subscribe
    private let location: SocketLocation
    private let name: String?
    private let backoff: Backoff
    private let state = Mutex(State())
    /// Signals that the task waits, or that the sequence has ended.
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
    func close() {
        end(with: .success(nil))
        wakeup.signal()
    }

    /// nil at the end of the sequence.
    func next(isolation: isolated (any Actor)?) async throws(ClientError) -> Watcher.News? {
        let item: Item = await withTaskCancellationHandler(
            operation: { await withCheckedContinuation(isolation: isolation) { take($0) } },
            onCancel: { close() },
            isolation: isolation)
        return try item.get()
    }

    private func take(_ continuation: CheckedContinuation<Item, Never>) {
        let end: Item? = state.withLock { state in
            if state.isOver { return .success(nil) }
            precondition(state.waiter == nil, "one task at a time iterates a subscription")
            if !state.hasWorker {
                do throws(ClientError) { try Worker.start { self.run() } } catch { return .failure(error) }
                state.hasWorker = true
            }
            state.waiter = continuation
            return nil
        }
        if let end { return continuation.resume(returning: end) }
        wakeup.signal()
    }

    /// The waiting task gets the item; those who ask later get nil.
    private func end(with item: Item) {
        let waiter = state.withLock { state in
            state.isOver = true
            return state.waiter.take()
        }
        waiter?.resume(returning: item)
    }

    // MARK: The thread

    private func run() {
        let watcher = Watcher(request, at: location, name: name, backoff: backoff)
        while true {
            let (isOver, isWanted) = state.withLock { ($0.isOver, $0.waiter != nil) }
            if isOver { return }
            do throws(ClientError) {
                if !isWanted {
                    wakeup.wait()
                } else if let news = try watcher.next(interrupt: wakeup.descriptor) {
                    state.withLock { $0.waiter.take() }?.resume(returning: .success(news))
                    continue
                }
                wakeup.clear()
            } catch { return end(with: .failure(error)) }
        }
    }
}
