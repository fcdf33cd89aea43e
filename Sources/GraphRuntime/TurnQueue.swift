/// Which commands of a turn have to wait for the next one. What a client does stays in order.
///
/// A turn gives a client `RuntimeLimits.clientTime`, and all of them together `turnTime`. Clients that go away or catch up have half
/// of it, so that requests are served in every turn however many clients do so at once. All clients without any right together have
/// `rightlessTime`.
struct TurnQueue {
    private let limits: RuntimeLimits
    private let began: Double
    /// When the command before ended, on the turn's clock.
    private var last: Double
    /// Seconds that requests have taken, by client.
    private var taken: [ClientID: Double] = [:]
    private var takenByRightless = 0.0
    /// Clients that have had their share.
    private var served: Set<ClientID> = []
    /// Clients of which a command waits.
    private var waiting: Set<ClientID> = []
    private var postponed: [(client: ClientID, command: Command)] = []
    private var isClosed = false

    init(began: Double, _ limits: RuntimeLimits) {
        self.limits = limits
        self.began = began
        last = began
    }

    /// No more requests in this turn.
    mutating func close() { isClosed = true }

    /// A client has had its share of this turn.
    mutating func serve(_ client: ClientID) { served.insert(client) }

    /// Called for each command once, in order.
    /// - Returns: whether it has to wait, and is kept for that.
    mutating func postpones(_ command: Command, isRightless: Bool) -> Bool {
        switch command {
        case .call(let client, _, _):
            let isOver = isClosed || last - began >= limits.turnTime || isRightless && takenByRightless > limits.rightlessTime
            guard isOver || served.contains(client) || waiting.contains(client) else { return false }
            postpone(command, of: client)
        // These stay behind the calls before them.
        case .refused(let client, _, _), .batchBegins(let client), .batchEnds(let client):
            guard waiting.contains(client) else { return false }
            postpone(command, of: client)
        // What it has sent comes before its going.
        case .disconnected(let client), .drained(let client):
            guard last - began >= limits.turnTime / 2 || waiting.contains(client) else { return false }
            postpone(command, of: client)
        default: return false
        }
        return true
    }

    /// A command is not done yet. What the client does behind it has to wait, too.
    mutating func postpone(_ command: Command, of client: ClientID) {
        waiting.insert(client)
        postponed.append((client, command))
    }

    /// What has to wait: that of clients for whom nothing was done yet comes first.
    func leftovers() -> [Command] {
        if postponed.isEmpty { return [] }
        return postponed.filter { taken[$0.client] == nil }.map(\.command) + postponed.filter { taken[$0.client] != nil }.map(\.command)
    }

    /// Seconds that clients have taken; nothing where there is no clock.
    var times: [(client: ClientID, seconds: Double)] { taken.compactMap { $0.value > 0 ? ($0.key, $0.value) : nil } }

    /// Takes note of what a client's request has taken.
    mutating func charge(_ client: ClientID, until now: Double, isRightless: Bool) {
        taken[client, default: 0] += now - last
        if isRightless { takenByRightless += now - last }
        last = now
        if taken[client, default: 0] > limits.clientTime { served.insert(client) }
    }

    /// Takes note of when another command ended.
    mutating func pass(until now: Double) { last = now }
}
