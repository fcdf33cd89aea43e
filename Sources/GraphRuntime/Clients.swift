import AttributeValues
import WireProtocol

/// The connected clients: their rights, and how much each of them may be sent.
public final class Clients {
    private let limits: RuntimeLimits
    private let turn: CurrentTurn
    private var byID: [ClientID: Client] = [:]
    private(set) var access: AccessRules
    /// Bytes that an answer, a snapshot or an update may have. A longer one is refused.
    public var longestAnswer = 64 << 20
    /// The same for an answer to a client without any right, if other answers precede it in the same turn or batch.
    public var longestAnswerWithoutRights = 1 << 20
    /// Decides whether an answer of this many bytes may be queued for a client now. Called for long answers to requests
    /// that only read.
    public var admitsAnswer: ((ClientID, Int) -> Bool)?

    init(_ limits: RuntimeLimits, _ access: AccessRules, _ turn: CurrentTurn) {
        self.limits = limits
        self.access = access
        self.turn = turn
    }

    /// The client that was looked up last. A client's requests follow each other.
    private var last: Client?

    subscript(_ id: ClientID) -> Client? {
        if let last, last.id == id { return last }
        guard let found = byID[id] else { return nil }
        last = found
        return found
    }

    var count: Int { byID.count }

    func connect(_ id: ClientID, _ peer: Peer) {
        let client = Client(id, peer, limits)
        client.adopt(access)
        byID[id] = client
    }

    func hasNoRights(_ id: ClientID) -> Bool {
        if let last, last.id == id { return last.isRightless }
        return self[id]?.isRightless == true
    }

    func forget(_ client: Client) {
        byID[client.id] = nil
        last = nil
    }

    /// Applies new rules to all clients.
    /// - Returns: all clients, in the order in which they connected.
    func adopt(_ rules: AccessRules) -> [Client] {
        access = rules
        let all = byID.values.sorted { $0.id.number < $1.id.number }
        for client in all { client.adopt(rules) }
        return all
    }

    func giveBack() { byID.giveBack() }
}

// The sizes of answers and snapshots. Each is measured once.
extension Clients {
    /// An answer of at most this many bytes is not counted outside batches.
    private static let shortAnswer = 4096
    /// A client that has been sent more than 1/64 of the longest answer should read that before it asks for more.
    private static let longPart = 64

    /// Checks an answer against the limits of its client: alone, together with its long answers in the same turn or
    /// batch, and while much output waits for all clients.
    func admit(_ answer: Answer, to client: Client) throws(Failure) {
        var budget = longestAnswer
        answer.draw(from: &budget)
        let size = longestAnswer - budget
        if budget >= 0, size <= Clients.shortAnswer, !client.isInBatch { return }
        if budget >= 0, size > Clients.shortAnswer, admitsAnswer?(client.id, size) == false {
            throw Failure(
                .limit, "too much output waits to be sent to all clients together",
                hint: "try again later, or ask for less; the setting output-total is the limit")
        }
        let isLess =
            client.isRightless && client.bytesSent(in: turn.number) > 0 && longestAnswerWithoutRights < longestAnswer
        try admit(
            size, "answer", to: client, atMost: isLess ? longestAnswerWithoutRights : longestAnswer,
            hint: isLess
                ? "ask for less at once; the setting output-queue is the limit for clients without any right"
                : "ask for less; the setting output-maximum is the limit")
    }

    /// Checks the snapshot of a new subscription against the bytes that its client may be sent at once.
    func admit(_ snapshot: [Change], isTyped: Bool, to client: Client) throws(Failure) {
        var budget = longestAnswer
        snapshot.draw(from: &budget, isTyped: isTyped)
        try admit(
            longestAnswer - budget, "snapshot", to: client, atMost: longestAnswer,
            hint: "subscribe to less at once, or with initial: false; the setting output-maximum is the limit")
    }

    private func admit(_ size: Int, _ noun: String, to client: Client, atMost limit: Int, hint: String) throws(Failure)
    {
        let before = client.takeNote(of: size, in: turn.number, atMost: limit)
        if before + size <= limit { return }
        let others = before > 0 ? " and the \(before) bytes before it" : ""
        throw Failure(.limit, "the \(noun)\(others) would have more than \(limit) bytes", hint: hint)
    }

    /// True if a client has been sent so much in this turn that it should read that before it asks for more.
    func hasMuchToTake(_ client: ClientID) -> Bool {
        self[client].map { $0.bytesSent(in: turn.number) > longestAnswer / Clients.longPart } ?? false
    }
}
