import EventLoop
import GraphRuntime
import StateStore

/// The daemon's work between two sleeps of the loop. Reading only fills buffers; everything else happens here, once per
/// turn, however much has been received:
///
/// - all commands of a turn share one commit to disk, and each client gets one write or two;
/// - no client hears of a change before it is on disk;
/// - a client gets its events and replies in the order in which the runtime made them.
final class Turn {
    private let sessions: Sessions
    private let runtime: GraphRuntime
    private let store: StateStore?
    private let outbox: Outbox
    /// Wakes the loop at the runtime's next deadline.
    var timer: Timer?
    /// The runtime's next deadline; nil: there is none. The first turn begins at once.
    private var deadline: Double? = 0
    /// Reused from turn to turn, to save allocations.
    private var news: [Command] = []

    init(_ sessions: Sessions, _ runtime: GraphRuntime, _ store: StateStore?) {
        self.sessions = sessions
        self.runtime = runtime
        self.store = store
        let outbox = Outbox(sessions)
        self.outbox = outbox
        runtime.store.isOn = store != nil
        if store?.waitsForDisk == true { sessions.portion = .max }
        runtime.store.leavesWritten = true
        // The output is sent only after the commit.
        runtime.output = outbox
        runtime.clients.admitsAnswer = { [unowned sessions] client, bytes in sessions.admits(bytes, for: client) }
    }

    /// The clocks have jumped, so deadlines may have passed although the timer has not fired.
    func wake() { deadline = 0 }

    /// - Returns: false if there was nothing to do.
    /// - Throws: the error of a commit. The graph is then ahead of the disk, and no client knows: the daemon must end.
    func run(at now: Moment) throws(StoreError) -> Bool {
        let isDue = deadline.map { $0 <= now.monotonic } ?? false
        guard sessions.hasNews || isDue else { return false }

        runtime.beginTurn(at: now)
        sessions.takeNews(into: &news)
        for command in news { runtime.take(command) }
        sessions.performCalls(by: runtime, at: now.monotonic)
        if isDue { runtime.take(.woken) }
        runtime.endTurn()
        takeOutcome(at: now)
        try store?.append(
            runtime.outcome.changes, runtime.store, revision: runtime.revision, resumableFrom: runtime.resumableFrom,
            at: now.wall)
        runtime.forgetOutcome()
        outbox.put(behindCommitAt: now.monotonic)
        sessions.flush(at: now.monotonic, isSubscribed: runtime.isSubscribed)
        startTimer(at: now)
        return true
    }

    private func takeOutcome(at now: Moment) {
        sessions.charge(runtime.outcome.times, at: now.monotonic)
        if !runtime.outcome.parked.isEmpty { sessions.park(runtime.outcome.parked) }
        if !runtime.outcome.postponed.isEmpty { sessions.takeBack(runtime.outcome.postponed) }
        if !runtime.outcome.resumed.isEmpty { sessions.resume(runtime.outcome.resumed) }
        if !runtime.outcome.denials.isEmpty { sessions.note(runtime.outcome.denials) }
        if !runtime.outcome.faults.isEmpty { sessions.note(runtime.outcome.faults) }
    }

    private func startTimer(at now: Moment) {
        let next = runtime.nextDeadline
        if let next {
            timer?.start(in: next - now.monotonic)
        } else if deadline != nil {
            timer?.stop()
        }
        deadline = next
    }
}
