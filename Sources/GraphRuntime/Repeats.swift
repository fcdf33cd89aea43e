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

    private var revisions: [Name: UInt64] = [:]
    private var order: Ring<String>
    /// Identifiers whose rows are still in the store.
    private var forgotten: [String] = []

    init(atMost limit: Int) { order = Ring(capacity: limit) }

    /// The revision of a request that has been performed; nil if it is new.
    func firstRevision(of identifier: String) -> UInt64? { revisions.isEmpty ? nil : revisions[identifier] }

    /// - Returns: changes for the store.
    mutating func note(_ identifier: String, _ revision: UInt64) -> [StoreChange] {
        add(identifier, revision)
        defer { forgotten = [] }
        return [StoreChange(key: Repeats.key, name: identifier, value: .int(Int64(clamping: revision)))]
            + forgotten.map { StoreChange(key: Repeats.key, name: $0, value: nil) }
    }

    mutating func restore(_ rows: [StoredRow]) {
        for row in rows.sorted(by: { $0.revision < $1.revision }) { add(row.name, row.revision) }
    }

    private mutating func add(_ identifier: String, _ revision: UInt64) {
        revisions[identifier] = revision
        if order.isFull {
            revisions[order[0]] = nil
            forgotten.append(order[0])
        }
        order.append(identifier)
    }
}
