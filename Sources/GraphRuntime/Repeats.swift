import AttributeValues
import ViewGraph
import WireProtocol

/// Identifiers of requests that have been performed, so that a request that is sent again is not performed again.
///
/// An identifier belongs to its user or principal: nobody else's request is affected by it. The newest
/// `RuntimeLimits.onceIdentifiers` are known. They are in the store, in the same commit as the change.
struct Repeats {
    /// Rows of the store with this key have an identifier as their name and its revision as their value.
    static let key = StoreChange.onceKey

    private var revisions: [String: UInt64] = [:]
    /// Oldest first, from `first` on.
    private var order: [String] = []
    private var first = 0

    /// The revision of a request that has been performed; nil if it is new.
    func revision(of identifier: String) -> UInt64? { revisions.isEmpty ? nil : revisions[identifier] }

    /// - Returns: what the store has to know.
    mutating func note(_ identifier: String, _ revision: UInt64, atMost limit: Int) -> [StoreChange] {
        revisions[identifier] = revision
        order.append(identifier)
        var changes = [StoreChange(key: Repeats.key, name: identifier, value: .int(Int64(clamping: revision)))]
        while order.count - first > limit {
            let oldest = order[first]
            first += 1
            revisions[oldest] = nil
            changes.append(StoreChange(key: Repeats.key, name: oldest, value: nil))
        }
        if first > 100, first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
        return changes
    }

    mutating func restore(_ rows: [StoredRow]) {
        for row in rows.sorted(by: { $0.revision < $1.revision }) {
            revisions[row.name] = row.revision
            order.append(row.name)
        }
    }
}

extension GraphRuntime {
    /// Performs a request unless it has been performed already.
    func once(
        _ options: TransactionOptions, _ client: Client, _ body: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        guard let once = options.once else { return try body() }
        guard !once.isEmpty, once.utf8.count <= limits.onceLength else {
            throw Failure(.invalid, "once: an identifier has 1 to \(limits.onceLength) bytes, not \(once.utf8.count)")
        }
        let identifier = "\(client.principal.map { "as:\($0)" } ?? "user:\(client.peer.uid)") \(once)"
        if let revision = repeats.revision(of: identifier) {
            return .value(["revision": .int(Int64(clamping: revision)), "repeated": true])
        }
        let answer = try body()
        let changes = repeats.note(identifier, revision, atMost: limits.onceIdentifiers)
        if isStored { for change in changes { outcome.changes.append((revision, change)) } }
        return answer
    }
}
