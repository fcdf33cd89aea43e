import AttributeValues
import ViewGraph
import WireProtocol

/// Identifiers of requests that have been performed, so that a request that is sent again is not performed again.
///
/// An identifier belongs to its user or principal and does not affect the requests of others. The newest
/// `RuntimeLimits.onceIdentifiers` are known. They are stored in the same commit as the change.
struct Repeats {
    /// Rows of the store with this key have an identifier as their name and its revision as their value.
    static let key = StoreChange.onceKey

    private var revisions: [String: UInt64] = [:]
    /// Oldest first, beginning at index `first`.
    private var order: [String] = []
    private var first = 0

    /// The revision of a request that has been performed; nil if it is new.
    func firstRevision(of identifier: String) -> UInt64? { revisions.isEmpty ? nil : revisions[identifier] }

    /// - Returns: changes for the store.
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
