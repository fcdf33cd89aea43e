import WireProtocol

/// Shares a turn between clients: decides which commands wait for the next turn. The commands of one client stay in order.
///
/// A turn gives a client `RuntimeLimits.clientTime`, and all of them together `turnTime`. Clients that go away or catch up have half
/// of it, so that requests are served in every turn however many clients do so at once. All clients without any right together have
/// `rightlessTime`. A client that has much to take waits for the next turn. All requests wait when rules are deferred.
struct TurnQueue {
    private let turn: CurrentTurn
    private let clients: Clients
    private let limits: RuntimeLimits
    /// When the command before ended, on the turn's clock.
    private var last: Double
    /// Seconds that requests have taken, by client; without those of `running`.
    private var taken: [ClientID: Double] = [:]
    /// The client of the last requests, and all the seconds that it has taken.
    private var running: (client: ClientID, seconds: Double)?
    private var takenByRightless = 0.0
    /// Clients that have had their share.
    private var served: Set<ClientID> = []
    /// Clients of which a command waits.
    private var waiting: Set<ClientID> = []
    private var postponed: [(client: ClientID, command: Command)] = []
    /// No more requests in this turn.
    private var isClosed = false

    init(_ turn: CurrentTurn, _ clients: Clients, _ limits: RuntimeLimits) {
        self.turn = turn
        self.clients = clients
        self.limits = limits
        last = turn.began
    }

    /// Called for each command once, in order.
    /// - Returns: whether it has to wait, and is kept for that.
    mutating func postpones(_ command: Command) -> Bool {
        switch command {
        case .call(let client, _, _):
            guard
                isClosed || served.contains(client) || waiting.contains(client) || isOver(limits.turnTime)
                    || takenByRightless > limits.rightlessTime && clients.hasNoRights(client)
            else { return false }
            postpone(command, of: client)
        // These stay behind the calls before them.
        case .refused(let client, _, _), .batchBegins(let client), .batchEnds(let client):
            guard waiting.contains(client) else { return false }
            postpone(command, of: client)
        // The client's requests come before its going.
        case .disconnected(let client), .drained(let client):
            guard isOver(limits.turnTime / 2) || waiting.contains(client) else { return false }
            postpone(command, of: client)
        default: return false
        }
        return true
    }

    private func isOver(_ seconds: Double) -> Bool { last - turn.began >= seconds }

    /// The client's later commands wait, too.
    private mutating func postpone(_ command: Command, of client: ClientID) {
        waiting.insert(client)
        postponed.append((client, command))
    }

    /// Adds to what a client has taken.
    /// - Returns: the sum.
    private mutating func add(_ seconds: Double, for client: ClientID) -> Double {
        if let running, running.client == client {
            self.running = (client, running.seconds + seconds)
            return running.seconds + seconds
        }
        endRunning()
        let sum = taken[client, default: 0] + seconds
        running = (client, sum)
        return sum
    }

    private mutating func endRunning() {
        if let running { taken[running.client] = running.seconds }
        running = nil
    }

    /// The commands that wait. Those of clients for whom nothing was done yet come first.
    mutating func leftovers() -> [Command] {
        endRunning()
        if postponed.isEmpty { return [] }
        return postponed.filter { taken[$0.client] == nil }.map(\.command)
            + postponed.filter { taken[$0.client] != nil }.map(\.command)
    }

    /// Seconds that clients have taken, after `leftovers`; nothing where there is no clock.
    var times: [(client: ClientID, seconds: Double)] { taken.compactMap { $0.value > 0 ? ($0.key, $0.value) : nil } }

    /// Takes note of what a command has taken.
    /// - Parameters:
    ///   - isDone: false when the rest of it has to come again.
    ///   - leavesRules: the command has deferred rules. They run first in the next turn.
    mutating func charge(_ command: Command, isDone: Bool, leavesRules: Bool) {
        let time = turn.time - last
        last += time
        switch command {
        case .call(let client, _, let request):
            if !isDone { postpone(command, of: client) }
            if leavesRules { isClosed = true }
            let sum = add(time, for: client)
            if clients.hasNoRights(client) { takenByRightless += time }
            if sum > limits.clientTime || asksForMuch(request, client) { served.insert(client) }
        case .disconnected(let client): if !isDone { postpone(command, of: client) }
        default: break
        }
    }

    private func asksForMuch(_ request: Request, _ client: ClientID) -> Bool {
        switch request {
        case .subscribe: clients.hasMuchToTake(client)
        // Long, and asked for without any right.
        case .describe(path: nil, _): true
        default: false
        }
    }
}
