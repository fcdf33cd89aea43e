import AttributeValues
import ViewGraph
import WireProtocol

/// Identifiers of requests that have been performed, so that a request that is sent again is not performed again.
///
/// An identifier belongs to its user or principal and does not affect the requests of others. All together have space
/// for `RuntimeLimits.onceIdentifiers`. When it is used up, whoever has the most identifiers loses the oldest one, so
/// nobody loses an identifier because of somebody who has more. Identifiers are stored in the same commit as the
/// change.
struct Repeats {
    /// Rows of the store with this key have an identifier as their name and its revision as their value.
    static let key = StoreChange.onceKey

    /// The identifiers of one user or principal, oldest first.
    private struct Share {
        private var identifiers: [String] = []
        private var first = 0
        var count: Int { identifiers.count - first }

        mutating func append(_ identifier: String) { identifiers.append(identifier) }

        mutating func removeFirst() -> String {
            defer {
                first += 1
                if first > 64, first > identifiers.count / 2 {
                    identifiers.removeFirst(first)
                    first = 0
                }
            }
            return identifiers[first]
        }
    }

    private let limit: Int
    private var revisions: [Name: UInt64] = [:]
    private var shares: [String: Share] = [:]
    /// The ownersByCount with so many identifiers.
    private var ownersByCount: [Int: Set<String>] = [:]
    /// The most identifiers that anybody has.
    private var most = 0
    private var count = 0
    /// Identifiers whose rows are still in the store.
    private var forgotten: [String] = []

    init(atMost limit: Int) { self.limit = max(1, limit) }

    /// - Parameter owner: a user or principal, without spaces.
    static func identifier(_ once: String, of owner: String) -> String { "\(owner) \(once)" }

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
        let owner = String(identifier.prefix { $0 != " " })
        change(owner) { $0.append(identifier) }
        count += 1
        guard count > limit else { return }
        // If several owners have equally many, the present one loses an answer.
        guard let owner = ownersByCount[most].flatMap({ $0.contains(owner) ? owner : $0.first }) else { return }
        let oldest = change(owner) { $0.removeFirst() }
        revisions[oldest] = nil
        forgotten.append(oldest)
        count -= 1
    }

    private mutating func change<R>(_ owner: String, _ body: (inout Share) -> R) -> R {
        var share = shares.removeValue(forKey: owner) ?? Share()
        let before = share.count
        let result = body(&share)
        ownersByCount[before]?.remove(owner)
        if ownersByCount[before]?.isEmpty == true { ownersByCount[before] = nil }
        if share.count > 0 {
            shares[owner] = share
            ownersByCount[share.count, default: []].insert(owner)
        }
        most = share.count > most ? share.count : ownersByCount[most] == nil ? max(most - 1, 0) : most
        return result
    }
}

#if DEBUG
    extension Repeats {
        /// Describes each contradiction between the identifiers and their owners.
        func checkInvariants() -> [String] {
            let all = shares.values.reduce(0) { $0 + $1.count }
            var faults: [String] = []
            if all != count || revisions.count > count { faults.append("identifiers of \"once\" are miscounted") }
            for (owner, share) in shares where ownersByCount[share.count]?.contains(owner) != true {
                faults.append("\(owner) has \(share.count) identifiers, and is not listed so")
            }
            if most != shares.values.map(\.count).max() ?? 0 { faults.append("nobody has \(most) identifiers") }
            return faults
        }
    }
#endif
