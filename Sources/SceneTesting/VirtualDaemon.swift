import AttributeValues
import GraphRuntime
import ViewGraph
import WireProtocol

/// The daemon's runtime with a clock that moves only when it is told to. Its clients are numbers. In place of a store,
/// it keeps the rows that the store would have.
package final class VirtualDaemon {
    package let runtime: GraphRuntime
    package var now: Moment
    /// Everything said in the last turn, in order.
    package private(set) var deliveries: [Delivery] = []
    /// The commands that the next turn has to do again.
    package private(set) var postponed: [Command] = []
    /// The changes that the last turn gave the store.
    package private(set) var kept: [StoreChange] = []
    /// The rows of the store, by key and name.
    private var stored: [String: [String: StoredRow]] = [:]
    /// When the store was last written; nil: never.
    private var committed: Timestamp?
    private var nextRequest: Int64 = 1

    /// - Parameters:
    ///   - earlier: an earlier life, with whose rows this one begins; `GraphRuntime.restore` gives them to the graph.
    ///   - revision: the last one of that life.
    package init(
        limits: RuntimeLimits = RuntimeLimits(), after earlier: VirtualDaemon? = nil, revision: UInt64 = 0,
        at now: Moment
    ) {
        self.now = now
        (stored, committed) = (earlier?.stored ?? [:], earlier?.committed)
        runtime = GraphRuntime(limits: limits, epoch: "test", revision: revision, at: now.goingOn(from: committed))
    }

    /// The rows of the store.
    package var rows: [StoredRow] { stored.values.flatMap(\.values) }

    // MARK: Turns

    package func turn(_ commands: [Command]) {
        let outcome = runtime.apply(commands, at: now)
        deliveries = outcome.deliveries
        postponed = outcome.postponed
        kept = outcome.changes.map(\.change)
        store(kept)
    }

    /// The daemon ends: the store gets the last rows.
    package func end() {
        store(runtime.store.lastChanges(at: now).map(\.change))
        committed = now.wall
    }

    private func store(_ changes: [StoreChange]) {
        if !changes.isEmpty { committed = now.wall }
        for change in changes {
            if let name = change.name, let value = change.value {
                let row = StoredRow(key: change.key, name: name, revision: 1, value: value)
                stored[change.key, default: [:]][name] = row
            } else if let name = change.name {
                stored[change.key]?[name] = nil
            } else {
                stored[change.key] = nil
            }
        }
    }

    /// Connects a client, before its first call.
    package func connect(_ client: UInt64) {
        turn([.connected(ClientID(number: client), Peer(pid: Int32(client), uid: 1000, gid: 1000))])
    }

    /// One turn with one request of one client.
    /// - Returns: the answer; nil if the turn has not answered, because the request takes several turns.
    package func call(_ request: Request, from client: UInt64) -> Answer? {
        let id = nextRequest
        nextRequest += 1
        turn([.call(ClientID(number: client), id: .int(id), request)])
        for case .reply(_, .int(id), let result) in deliveries { return result }
        return nil
    }

    // MARK: Time

    /// Moves the clock, and wakes nobody.
    package func advanceClock(_ span: TimeSpan) {
        // Whole nanoseconds, so that errors of rounding do not add up.
        now.monotonic = (now.monotonic * 1e9 + Double(span.nanoseconds)).rounded() / 1e9
        now.wall = now.wall.advanced(by: span) ?? now.wall
    }

    /// The time until the runtime wants to be woken; nil: never.
    package var wait: TimeSpan? {
        guard let deadline = runtime.nextDeadline else { return nil }
        let nanoseconds = ((deadline - now.monotonic) * 1e9 - 0.001).rounded(.up)
        return TimeSpan(nanoseconds: Int64(exactly: max(0, nanoseconds)) ?? .max)
    }
}
