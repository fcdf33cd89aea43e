import AttributeValues
import WireProtocol

/// A right for some users and groups, to all that a pattern matches.
public struct AccessRule: Equatable {
    public enum Holder: Equatable {
        case everyone
        case user(UInt32)
        case group(UInt32)
    }

    public var right: AccessRight
    public var holders: [Holder]
    public var pattern: PathPattern

    public init(_ right: AccessRight, _ holders: [Holder], _ pattern: PathPattern) {
        self.right = right
        self.holders = holders
        self.pattern = pattern
    }

    func concerns(_ peer: Peer) -> Bool {
        holders.contains { holder in
            switch holder {
            case .everyone: true
            case .user(let user): user == peer.uid
            case .group(let group): group == peer.gid || peer.groups.contains(group)
            }
        }
    }
}

extension AccessRule: CustomStringConvertible {
    /// As the configuration would write it, with numbers for names.
    public var description: String { "\(right.rawValue) \(holders.map(\.description).joined(separator: ",")) \(pattern)" }
}

extension AccessRule.Holder: CustomStringConvertible {
    public var description: String {
        switch self {
        case .everyone: "everyone"
        case .user(let number): "user:\(number)"
        case .group(let number): "group:\(number)"
        }
    }
}

/// Who may do what. Rules only give: what none of them gives is denied. Without any, whoever is connected may do everything.
public struct AccessRules {
    public var rules: [AccessRule]
    /// The user that the daemon runs as. It and root have every right, so that nobody is locked out of their own daemon.
    public var owner: UInt32

    /// Each request may have to be held against all of them.
    public static let maximumCount = 256

    public init(_ rules: [AccessRule] = [], owner: UInt32 = 0) {
        self.rules = rules
        self.owner = owner
    }

    /// - Returns: nil for a peer that may do everything.
    func grants(to peer: Peer) -> Grants? {
        guard !rules.isEmpty, peer.uid != 0, peer.uid != owner else { return nil }
        return Grants(user: peer.uid, rules: rules.filter { $0.concerns(peer) })
    }
}

/// What one client may do.
struct Grants {
    let user: UInt32
    let rules: [AccessRule]

    /// - Throws: `denied`, unless one rule gives the right to all that the pattern can match.
    func require(_ right: AccessRight, _ pattern: PathPattern) throws(Failure) {
        guard !rules.contains(where: { $0.right >= right && $0.pattern.covers(pattern) }) else { return }
        throw Failure(
            .denied, "user \(user) lacks the right '\(right.rawValue)' on \(pattern)", path: pattern.description,
            hint: "the daemon's configuration gives rights in its access lines")
    }
}
