import EventLoop
import GraphRuntime
import StateStore

/// What the daemon does between two sleeps of the loop. Reads only fill buffers; everything else happens here, once per
/// turn, however much came in:
///
/// - all commands of a turn share one commit to disk, and each client gets one write;
/// - nobody hears of a change before it is on disk;
/// - a client hears its events and replies in the order in which the runtime made them.
final class Turn {
    private let sessions: Sessions
    private let runtime: GraphRuntime
    private let store: StateStore?
    private let outbox: Outbox
    /// Wakes the loop when the runtime wants to be woken.
    var timer: Timer?
    /// Kept from turn to turn for its memory.
    private var news: [Command] = []

    init(_ sessions: Sessions, _ runtime: GraphRuntime, _ store: StateStore?) {
        self.sessions = sessions
        self.runtime = runtime
        self.store = store
        let outbox = Outbox(sessions)
        self.outbox = outbox
        runtime.isStored = store != nil
        runtime.leavesWritten = true
        // Nothing of it leaves before the commit.
        runtime.onDelivery = { [unowned(unsafe) outbox] in outbox.take($0) }
        runtime.admitsAnswer = { [unowned sessions] client, bytes in sessions.admits(bytes, for: client) }
    }

    /// - Returns: false when there was nothing to do.
    /// - Throws: why a commit failed. The graph is ahead of the disk then, and nobody has heard of it: the daemon must
    ///   end.
    func run(at now: Moment) throws(StoreError) -> Bool {
        let isDue = runtime.nextDeadline.map { $0 <= now.monotonic } ?? false
        guard sessions.hasNews || isDue else { return false }

        runtime.beginTurn(at: now)
        sessions.takeNews(into: &news)
        for command in news { runtime.take(command) }
        sessions.performCalls(by: runtime, at: now.monotonic)
        if isDue { runtime.take(.woken) }
        let outcome = runtime.endTurn()
        sessions.charge(outcome.times, at: now.monotonic)
        sessions.park(outcome.parked, resumed: [])
        sessions.takeBack(outcome.postponed)
        sessions.park([], resumed: outcome.resumed)
        if !outcome.denials.isEmpty { sessions.note(outcome.denials) }
        try store?.append(
            outcome.changes, of: runtime, revision: runtime.revision, resumableFrom: runtime.resumableFrom)
        sessions.flush(at: now.monotonic, isSubscribed: runtime.isSubscribed)
        startTimer(at: now)
        return true
    }

    private func startTimer(at now: Moment) {
        if let deadline = runtime.nextDeadline {
            timer?.start(in: deadline - now.monotonic)
        } else {
            timer?.stop()
        }
    }
}
