import AttributeValues
import SceneModel
import ViewGraph
import WireProtocol

/// Transactions that are performed in order when a client goes away.
struct LastWill {
    struct Entry {
        var mutations: [Mutation]
        var options: TransactionOptions
        /// The name of its row in the store.
        var row: String
    }

    private var entries: [Entry] = []
    private var done = 0
    /// The number of mutations that are left to perform.
    private(set) var count = 0
    /// Bytes that the client's further transactions may have.
    private(set) var bytesLeft: Int

    init(bytesLeft: Int) { self.bytesLeft = bytesLeft }

    /// - Parameter bytesLeft: the bytes that remain after this transaction.
    mutating func append(_ entry: Entry, bytesLeft: Int) {
        entries.append(entry)
        count += entry.mutations.count
        self.bytesLeft = bytesLeft
    }

    mutating func next() -> Entry? {
        guard done < entries.count else { return nil }
        done += 1
        count -= entries[done - 1].mutations.count
        return entries[done - 1]
    }
}

/// A transaction of a client that was connected when an earlier life of the daemon ended without order.
struct LostWill {
    var entry: LastWill.Entry
    var author: PartAuthor
    var user: UInt32
    var client: String?
    var principal: String?

    /// For messages.
    var title: String { principal ?? "\(client ?? "a client") (user \(user))" }
}

/// The transactions of lost clients, and the names of rows.
struct LastWills {
    /// Rows of the store with this key have a number as their name.
    static let key = StoreChange.willKey

    private var next: UInt64 = 1
    private(set) var lost: [LostWill] = []

    mutating func nextRow() -> String {
        defer { next += 1 }
        return String(next)
    }

    mutating func restore(_ rows: [StoredRow]) {
        let numbered = rows.compactMap { row in UInt64(row.name).map { ($0, row) } }.sorted { $0.0 < $1.0 }
        next = max(next, (numbered.last?.0 ?? 0) &+ 1)
        lost = numbered.compactMap { LostWill($0.1) }
    }

    mutating func takeLost() -> [LostWill] {
        defer { lost = [] }
        return lost
    }
}

extension LostWill {
    fileprivate init?(_ row: StoredRow) {
        func number(_ value: Value?) -> UInt32? {
            if case .int(let number)? = value { UInt32(exactly: number) } else { nil }
        }
        guard let fields = row.value.map, let user = number(fields["user"]),
            let mutations = fields["mutations"]?.list?.compactMap({ Mutation(kept: $0) })
        else { return nil }
        let options = TransactionOptions(
            animation: fields["animation"], disablesAnimations: fields["disablesAnimations"] == true,
            label: fields["label"]?.string, typed: fields["typed"] == true)
        entry = LastWill.Entry(mutations: mutations, options: options, row: row.name)
        author = number(fields["by"]).map { PartAuthor(number: $0) } ?? .unknown
        self.user = user
        client = fields["client"]?.string
        principal = fields["principal"]?.string
    }
}

extension LastWill.Entry {
    func kept(of client: Client, _ author: PartAuthor) -> Value {
        var fields = ValueMap([
            ("mutations", .list(ValueList(mutations.map(\.kept)))), ("by", .int(Int64(author.number))),
            ("user", .int(Int64(client.peer.uid))),
        ])
        fields["client"] = client.name.map { .string($0) }
        fields["principal"] = client.principal.map { .string($0) }
        fields["animation"] = options.animation
        fields["label"] = options.label.map { .string($0) }
        if options.disablesAnimations { fields["disablesAnimations"] = true }
        if options.typed { fields["typed"] = true }
        return .map(fields)
    }
}

extension Mutation {
    fileprivate var kept: Value {
        var fields = ValueMap([("op", .string(operation.rawValue)), ("path", .string(path))])
        fields["value"] = value
        fields["index"] = index.map { .int(Int64($0)) }
        return .map(fields)
    }

    fileprivate init?(kept value: Value) {
        guard let fields = value.map, let operation = fields["op"]?.string.flatMap(Operation.init),
            let path = fields["path"]?.string
        else { return nil }
        var index: Int?
        if case .int(let number)? = fields["index"] { index = Int(number) }
        self.init(operation: operation, path: path, value: fields["value"], index: index)
    }
}

extension GraphRuntime {
    /// Performs the `onDisconnect` transactions of clients that were connected when an earlier life of the daemon ended
    /// without order: their connections have ended, too. Each is performed at the time of the last commit of that life,
    /// with the rights that its client has now, and once: the row goes in the same commit.
    func performLostWills() {
        for will in wills.takeLost() {
            let client = Client(
                lost: Peer(pid: 0, uid: will.user, gid: .max), name: will.client, principal: will.principal,
                authors.grants(of: will.author, by: clients.access), limits)
            var options = will.entry.options
            options.label = "\(options.label ?? "onDisconnect") (the daemon ended before the client)"
            do throws(Failure) {
                try working { () throws(Failure) in try performWill(will.entry.mutations, options, for: client) }
            } catch {
                statistics.refusedOnDisconnect += 1
                outcome.faults.append(
                    Failure(error.code, "onDisconnect of \(will.title): \(error.message)", path: error.path))
            }
            store.add(StoreChange(key: LastWills.key, name: will.entry.row, value: nil))
        }
    }

    /// Performs an `onDisconnect` transaction with the rights that its client, which has gone, has now.
    func performWill(
        _ mutations: [Mutation], _ options: TransactionOptions, for client: Client
    ) throws(Failure) {
        try checkAccess(of: client, to: .onDisconnect(mutations, options))
        isPerformingWill = true
        defer { isPerformingWill = false }
        _ = try transact(mutations, options, client)
    }

    /// True until the transactions of clients of an earlier life have been performed, in the first turn.
    var hasLostWills: Bool { !wills.lost.isEmpty }
}
