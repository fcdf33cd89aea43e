import AttributeValues
import ViewGraph
import WireProtocol

/// Whose transaction it was. All transactions of a client share it.
final class Author {
    let peer: Peer
    let name: String?
    /// For whom the client acted.
    let principal: String?

    init(peer: Peer, name: String?, principal: String?) {
        self.peer = peer
        self.name = name
        self.principal = principal
    }

    /// The principal, or the client and its user.
    var title: String { principal ?? "\(name ?? "a client") (user \(peer.uid))" }
}

/// A connection, as the runtime sees it.
final class Client {
    let id: ClientID
    let peer: Peer
    /// For whom the client acts, for good; nil for its own user.
    private(set) var principal: String?
    /// nil: it may do everything.
    private(set) var grants: Grants?
    /// As the history names it.
    private(set) var author: Author
    var name: String? {
        get { author.name }
        set { author = Author(peer: peer, name: newValue, principal: principal) }
    }
    /// By number.
    var subscriptions: [Int64: Subscription] = [:]
    /// The client does not drain: its news is kept, newest per path, until it does.
    var isBehind = false
    /// Its calls are answered at the end of the batch.
    private(set) var isInBatch = false
    /// Subscriptions of the batch at hand. Their first events follow its answer.
    var beginning: [Subscription] = []
    /// Bytes of long answers and snapshots that it has been sent in the turn of that number, or in the batch.
    private var sent = (turn: UInt64(0), bytes: 0)
    /// Transactions to perform when the client goes away.
    var will: LastWill

    init(_ id: ClientID, _ peer: Peer, _ grants: Grants?, _ limits: RuntimeLimits) {
        self.id = id
        self.peer = peer
        self.grants = grants
        author = Author(peer: peer, name: nil, principal: nil)
        will = LastWill(room: limits.onDisconnectSize)
    }

    /// From here on the client has the rights of a principal.
    /// - Throws: `denied` if it acts for another one.
    func act(for name: String, by rules: AccessRules) throws(Failure) {
        guard principal == nil || principal == name else {
            throw Failure(
                .denied, "this connection acts for another principal", hint: "use a connection for each principal")
        }
        principal = name
        author = Author(peer: peer, name: author.name, principal: name)
        adopt(rules)
    }

    func adopt(_ rules: AccessRules) {
        grants =
            if let principal { rules.grants(to: peer, as: principal) } else { rules.grants(to: peer) }
    }

    /// Whether the client may do nothing at all.
    var isRightless: Bool { grants?.rules.isEmpty == true }

    /// Whether there is a part of the tree that the client may not read.
    var isPartial: Bool { grants?.isPartial == true }

    func beginBatch(in turn: UInt64) {
        sent = (turn, bytesSent(in: turn))
        isInBatch = true
    }

    func endBatch() { isInBatch = false }

    /// Bytes of long answers and snapshots in the turn or batch.
    func bytesSent(in turn: UInt64) -> Int { sent.turn == turn || isInBatch ? sent.bytes : 0 }

    /// Counts what is about to be sent, if it keeps the sum within a limit.
    /// - Returns: the sum before.
    func takeNote(of size: Int, in turn: UInt64, atMost limit: Int) -> Int {
        let before = bytesSent(in: turn)
        sent = (turn, before + size <= limit ? before + size : before)
        return before
    }
}

extension ViewGraph {
    /// While `body` runs, the graph tells nothing that the client may not read.
    func seeing<T, E: Error>(as client: Client, _ body: () throws(E) -> T) throws(E) -> T {
        guard let grants = client.grants, grants.isPartial else { return try body() }
        let before = mayRead
        mayRead = grants.showsAttributes
        defer { mayRead = before }
        return try body()
    }

    /// While `body` runs, the graph acts for nobody in particular.
    func seeingEverything<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
        let before = mayRead
        mayRead = nil
        defer { mayRead = before }
        return try body()
    }
}

/// Transactions that are performed in order when a client goes away.
struct LastWill {
    private var transactions: [(mutations: [Mutation], options: TransactionOptions)] = []
    private var done = 0
    /// Mutations of all that is to be done.
    private(set) var count = 0
    /// Bytes that the client may leave yet.
    private(set) var room: Int

    init(room: Int) { self.room = room }

    /// - Parameter room: what is left behind it.
    mutating func append(_ mutations: [Mutation], _ options: TransactionOptions, room: Int) {
        transactions.append((mutations, options))
        count += mutations.count
        self.room = room
    }

    mutating func next() -> (mutations: [Mutation], options: TransactionOptions)? {
        guard done < transactions.count else { return nil }
        done += 1
        count -= transactions[done - 1].mutations.count
        return transactions[done - 1]
    }
}
