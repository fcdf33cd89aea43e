import AttributeValues
import SceneModel
import ViewGraph
import WireProtocol

/// The users and principals who have defined parts, by the numbers under which the graph and the store have them.
///
/// A number is given once and never to somebody else, so rows of the store stay right.
struct PartAuthors {
    /// Rows of the store with this key have the number of an author as their name.
    static let key = StoreChange.authorKey
    /// More are refused. Each is a user with other groups, or a principal.
    static let mostAuthors = 65_536

    fileprivate enum Identity: Hashable {
        case user(UInt32, groups: [UInt32])
        case principal(String)
    }

    private var numbers: [Identity: PartAuthor] = [:]
    private var identities: [PartAuthor: Identity] = [:]
    private var next = PartAuthor.first.number
    /// Authors whom the store does not know yet.
    private var unkept: [PartAuthor] = []
    /// The rights of authors by the present rules, as far as they were asked for. nil: every right.
    private var known: [PartAuthor: Grants?] = [:]

    /// The author of what a client defines.
    /// - Throws: `limit`.
    mutating func author(_ client: Client, by rules: AccessRules) throws(Failure) -> PartAuthor {
        if client.principal == nil, rules.haveEvery(client.peer) { return .daemon }
        let identity: Identity =
            if let principal = client.principal {
                .principal(principal)
            } else {
                .user(client.peer.uid, groups: Set(client.peer.groups + [client.peer.gid]).sorted())
            }
        if let known = numbers[identity] { return known }
        guard numbers.count < PartAuthors.mostAuthors else {
            throw Failure(.limit, "the store knows \(PartAuthors.mostAuthors) authors, and can know no more")
        }
        let author = PartAuthor(number: next)
        add(identity, author)
        unkept.append(author)
        return author
    }

    private mutating func add(_ identity: Identity, _ author: PartAuthor) {
        numbers[identity] = author
        identities[author] = identity
        next = max(next, author.number + 1)
    }

    mutating func restore(_ rows: [StoredRow]) {
        for row in rows {
            guard let number = UInt32(row.name), number >= PartAuthor.first.number, number < .max else { continue }
            next = max(next, number + 1)
            if let identity = Identity(kept: row.value) { add(identity, PartAuthor(number: number)) }
        }
    }

    /// The rows of authors whom the store does not know yet.
    mutating func takeUnkept() -> [StoreChange] {
        if unkept.isEmpty { return [] }
        defer { unkept = [] }
        return unkept.map {
            StoreChange(key: PartAuthors.key, name: String($0.number), value: identities[$0]?.kept)
        }
    }

    mutating func rulesChanged() { known = [:] }

    /// The rights of an author at this moment; nil: every right.
    mutating func grants(of author: PartAuthor, by rules: AccessRules) -> Grants? {
        if author == .daemon { return nil }
        if let known = known[author] { return known }
        let grants: Grants? =
            switch identities[author] {
            case .user(let user, let groups)?:
                rules.grants(to: Peer(pid: 0, uid: user, gid: groups.first ?? .max, groups: groups))
            case .principal(let name)?: rules.grants(toPrincipal: name)
            case nil: rules.rules.isEmpty ? nil : Grants(subject: .everyone, rules: [])
            }
        known[author] = .some(grants)
        return grants
    }

    func isKnown(_ author: PartAuthor) -> Bool { identities[author] != nil }
}

extension PartAuthors.Identity {
    fileprivate var kept: Value {
        switch self {
        case .user(let user, let groups):
            ["user": .int(Int64(user)), "groups": .list(groups.map { .int(Int64($0)) })]
        case .principal(let name): ["principal": .string(name)]
        }
    }

    fileprivate init?(kept value: Value) {
        func number(_ value: Value) -> UInt32? {
            if case .int(let number) = value { UInt32(exactly: number) } else { nil }
        }
        guard let fields = value.map else { return nil }
        if let name = fields["principal"]?.string {
            self = .principal(name)
        } else if let user = fields["user"].flatMap(number) {
            self = .user(user, groups: (fields["groups"]?.list ?? []).compactMap(number))
        } else {
            return nil
        }
    }
}
