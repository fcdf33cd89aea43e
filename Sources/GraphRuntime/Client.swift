import AttributeValues
import ViewGraph
import WireProtocol

/// The client that made a transaction, as it was then. All transactions of a client share one object.
public final class Author {
    public let peer: Peer
    public let name: String?
    /// The principal for which the client acted.
    public let principal: String?

    public init(peer: Peer, name: String?, principal: String?) {
        self.peer = peer
        self.name = name
        self.principal = principal
    }

    /// For people.
    public var title: String { principal ?? "\(name ?? "a client") (user \(peer.uid))" }
}

/// A connection, as the runtime sees it.
final class Client {
    let id: ClientID
    let peer: Peer
    /// The principal for which the client acts from now on; nil: for its own user.
    private(set) var principal: String?
    /// nil: the client may do everything.
    private(set) var grants: Grants?
    /// Among those who share a limit of the whole daemon.
    private(set) var standing = Standing.ordinary
    /// The client in the history.
    private(set) var author: Author
    var name: String? {
        get { author.name }
        set { author = Author(peer: peer, name: newValue, principal: principal) }
    }
    /// The caller of an action, as its rules read him.
    var forActions: Value {
        [
            "user": .int(Int64(peer.uid)), "name": author.name.map { .string($0) } ?? .null,
            "principal": principal.map { .string($0) } ?? .null,
        ]
    }
    /// By number.
    var subscriptions: [Int64: Subscription] = [:]
    /// The client does not read its output. Until it does, the newest value of each path is retained for it.
    var isBehind = false
    /// The client's calls are answered at the end of the batch.
    private(set) var isInBatch = false
    /// Subscriptions made in the current batch. Their first events follow its answer.
    var beginning: [Subscription] = []
    /// Bytes of long answers and snapshots that the client has been sent in that turn, or in the batch.
    private var sent = (turn: UInt64(0), bytes: 0)
    /// The change of structure that the client waits for.
    var job: StructureJob?
    /// Transactions to perform when the client goes away.
    var will: LastWill

    init(_ id: ClientID, _ peer: Peer, _ limits: RuntimeLimits) {
        self.id = id
        self.peer = peer
        author = Author(peer: peer, name: nil, principal: nil)
        will = LastWill(bytesLeft: limits.onDisconnectSize)
    }

    /// A client of an earlier life of the daemon.
    convenience init(lost peer: Peer, name: String?, principal: String?, _ grants: Grants?, _ limits: RuntimeLimits) {
        self.init(ClientID(number: 0), peer, limits)
        self.grants = grants
        self.principal = principal
        author = Author(peer: peer, name: name, principal: principal)
    }

    /// Gives the client the rights of a principal from now on.
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
        grants = if let principal { rules.grants(to: peer, as: principal) } else { rules.grants(to: peer) }
        let isRightless = grants?.rules.isEmpty == true
        standing = isRightless ? .rightless : principal == nil && rules.haveEvery(peer) ? .first : .ordinary
    }

    var isRightless: Bool { standing == .rightless }

    /// The user or principal whose rights and shares it has.
    var subject: AccessRule.Subject { principal.map { .principal($0) } ?? .user(peer.uid) }

    /// True if the client may not read some part of the tree.
    var isPartial: Bool { grants?.isPartial == true }

    func beginBatch(in turn: UInt64) {
        sent = (turn, bytesSent(in: turn))
        isInBatch = true
    }

    func endBatch() { isInBatch = false }

    /// Bytes of long answers and snapshots in the turn or batch.
    func bytesSent(in turn: UInt64) -> Int { sent.turn == turn || isInBatch ? sent.bytes : 0 }

    /// Counts bytes that are about to be sent, unless the sum would exceed the limit.
    /// - Returns: the sum before.
    func takeNote(of size: Int, in turn: UInt64, atMost limit: Int) -> Int {
        let before = bytesSent(in: turn)
        sent = (turn, before + size <= limit ? before + size : before)
        return before
    }
}

extension ViewGraph {
    /// While `body` runs, the graph shows nothing that the client may not read.
    func seeing<T, E: Error>(as client: Client, _ body: () throws(E) -> T) throws(E) -> T {
        guard let grants = client.grants, grants.isPartial else { return try body() }
        return try showing(grants.showsAttributes, body)
    }
}
