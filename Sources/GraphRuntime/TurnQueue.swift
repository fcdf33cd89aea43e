import WireProtocol

/// Shares a turn between clients: decides which commands wait for the next turn. Those of one client stay in order.
///
/// A turn gives a client `RuntimeLimits.clientTime`, and all clients together `turnTime`. Clients that disconnect or
/// catch up have half of `turnTime`, so that every turn also serves requests, however many clients do so at once. All
/// clients without any right together have `rightlessTime`. A client that has much output to read waits for the next
/// turn. If rules have been deferred, all requests wait.
final class TurnQueue {
    private let turn: CurrentTurn
    private let clients: Clients
    private let limits: RuntimeLimits
    /// When the last command ended, on the turn's clock.
    private var last: Double
    /// Seconds that requests have taken. A client's requests follow each other.
    private(set) var times: [(client: ClientID, seconds: Double)] = []
    private var takenByRightless = 0.0
    /// Clients that have had their share.
    private var served: Set<ClientID> = []
    /// Clients with a postponed command.
    private var waiting: Set<ClientID> = []
    private var postponed: [(client: ClientID, command: Command)] = []
    /// The turn takes no more requests.
    private var isClosed = false
    /// The number of commands performed.
    private(set) var commands = 0

    init(_ turn: CurrentTurn, _ clients: Clients, _ limits: RuntimeLimits) {
        self.turn = turn
        self.clients = clients
        self.limits = limits
        last = turn.began
    }

    /// Called when a turn has begun.
    func begin() {
        last = turn.began
        times.removeEach()
        takenByRightless = 0
        if !served.isEmpty { served = [] }
        if !waiting.isEmpty { waiting = [] }
        if !postponed.isEmpty { postponed = [] }
        isClosed = false
        commands = 0
    }

    /// True if the turn has time for another request of this client. Called for each request once, in order.
    func admits(_ client: ClientID) -> Bool {
        if isClosed || isOver(limits.turnTime) { return false }
        if !served.isEmpty && served.contains(client) || !waiting.isEmpty && waiting.contains(client) { return false }
        return takenByRightless <= limits.rightlessTime || !clients.hasNoRights(client)
    }

    /// Called for each other command once, in order.
    /// - Returns: whether the command has been postponed.
    func postpones(_ command: Command) -> Bool {
        switch command {
        // These stay after the client's calls before them.
        case .refused(let client, _, _), .batchBegins(let client), .batchEnds(let client):
            guard waiting.contains(client) else { return false }
            postpone(command, of: client)
        // The client's requests come before its disconnection.
        case .disconnected(let client), .drained(let client):
            guard isOver(limits.turnTime / 2) || waiting.contains(client) else { return false }
            postpone(command, of: client)
        default: return false
        }
        return true
    }

    private func isOver(_ seconds: Double) -> Bool { last - turn.began >= seconds }

    /// Postpones a command. The client's later commands then wait, too.
    func postpone(_ command: Command, of client: ClientID) {
        waiting.insert(client)
        postponed.append((client, command))
    }

    /// Adds to the time that a client has taken.
    /// - Returns: the sum.
    private func add(_ seconds: Double, for client: ClientID) -> Double {
        if let last = times.indices.last, times[last].client == client {
            times[last].seconds += seconds
            return times[last].seconds
        }
        times.append((client, seconds))
        return seconds
    }

    var hasLeftovers: Bool { !postponed.isEmpty }

    /// The postponed commands. Those of clients that have had no command performed come first.
    func leftovers() -> [Command] {
        let begun = Set(times.map(\.client))
        return postponed.filter { !begun.contains($0.client) }.map(\.command)
            + postponed.filter { begun.contains($0.client) }.map(\.command)
    }

    /// Counts the time of a request, including its decoding.
    /// - Parameter leavesRules: the request has deferred rules. They run first in the next turn.
    func charge(_ request: Request, of client: Client, leavesRules: Bool) {
        if leavesRules { isClosed = true }
        charge(client.id, isRightless: client.isRightless)
        if asksForMuch(request, client.id) { served.insert(client.id) }
    }

    /// Counts the time of another command.
    /// - Parameter isDone: false if the command has to be applied again.
    func charge(_ command: Command, isDone: Bool) {
        if let client = command.requester { return charge(client, isRightless: clients.hasNoRights(client)) }
        last = turn.time
        commands += 1
        if !isDone, case .disconnected(let client) = command { postpone(command, of: client) }
    }

    private func charge(_ client: ClientID, isRightless: Bool) {
        let time = turn.time - last
        last += time
        commands += 1
        if isRightless { takenByRightless += time }
        if add(time, for: client) > limits.clientTime { served.insert(client) }
    }

    private func asksForMuch(_ request: Request, _ client: ClientID) -> Bool {
        switch request {
        case .subscribe: clients.hasMuchToTake(client)
        // A long answer, which needs no rights.
        case .describe(path: nil, _): true
        default: false
        }
    }
}
