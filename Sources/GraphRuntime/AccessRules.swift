import AttributeValues
import WireProtocol

/// A right for some users, groups and principals, to all that a pattern matches.
public struct AccessRule: Equatable {
    public enum Subject: Hashable {
        case everyone
        case user(UInt32)
        case group(UInt32)
        /// See `PrincipalName`.
        case principal(String)
    }

    public var right: AccessRight
    public var subjects: [Subject]
    public var pattern: PathPattern

    public init(_ right: AccessRight, _ subjects: [Subject], _ pattern: PathPattern) {
        self.right = right
        self.subjects = subjects
        self.pattern = pattern
    }

    func concerns(_ peer: Peer) -> Bool {
        subjects.contains { subject in
            switch subject {
            case .everyone: true
            case .user(let user): user == peer.uid
            case .group(let group): group == peer.gid || peer.groups.contains(group)
            case .principal: false
            }
        }
    }
}

extension AccessRule: CustomStringConvertible {
    /// In the configuration's notation, with numbers in place of names.
    public var description: String {
        "\(right.rawValue) \(subjects.map(\.description).joined(separator: ",")) \(pattern)"
    }
}

extension AccessRule.Subject: CustomStringConvertible {
    public var description: String {
        switch self {
        case .everyone: "everyone"
        case .user(let number): "user:\(number)"
        case .group(let number): "group:\(number)"
        case .principal(let name): "as:\(name)"
        }
    }
}

extension AccessRule.Subject {
    /// A user or principal, as `description` writes it.
    init?(owner text: String) {
        let parts = text.split(separator: ":", maxSplits: 1)
        switch (parts.first, parts.last) {
        case ("as", let name?): self = .principal(String(name))
        case ("user", let number?):
            guard let user = UInt32(number) else { return nil }
            self = .user(user)
        default: return nil
        }
    }
}

/// All access rules. Rules only grant: a right that no rule grants is denied. If there are no rules, every connected
/// client may do everything.
public struct AccessRules: Equatable {
    public var rules: [AccessRule]
    /// The user that the daemon runs as. It and root have every right: nobody is locked out of their own daemon.
    public var owner: UInt32

    /// Bounded, because a request may have to be checked against every rule.
    public static let maximumCount = 256

    public init(_ rules: [AccessRule] = [], owner: UInt32 = 0) {
        self.rules = rules
        self.owner = owner
    }

    public func giveAny(to peer: Peer) -> Bool { grants(to: peer)?.rules.isEmpty != true }

    /// True for those who have every right, whatever the rules say.
    public func haveEvery(_ peer: Peer) -> Bool { peer.uid == 0 || peer.uid == owner }

    /// The peer's place among those who share a limit of the whole daemon.
    public func standing(of peer: Peer) -> Standing {
        haveEvery(peer) ? .first : giveAny(to: peer) ? .ordinary : .rightless
    }

    /// - Returns: nil for a peer that may do everything.
    func grants(to peer: Peer) -> Grants? {
        guard !rules.isEmpty, !haveEvery(peer) else { return nil }
        return Grants(subject: .user(peer.uid), rules: rules.filter { $0.concerns(peer) })
    }

    /// The rights of a peer that acts for a principal: those of the lines that name the principal. A peer without the
    /// right *admin* may not act for anybody, so it then has no rights.
    func grants(to peer: Peer, as principal: String) -> Grants {
        let mayAct = grants(to: peer)?.mayAdminister != false
        return mayAct ? grants(toPrincipal: principal) : Grants(subject: .principal(principal), rules: [])
    }

    func grants(toPrincipal name: String) -> Grants {
        Grants(subject: .principal(name), rules: rules.filter { $0.subjects.contains(.principal(name)) })
    }
}

/// The rights of one client.
struct Grants {
    /// The client's user or principal.
    let subject: AccessRule.Subject
    let rules: [AccessRule]
    /// True if the client may not read some part of the tree. It then learns nothing about that part.
    let isPartial: Bool

    init(subject: AccessRule.Subject, rules: [AccessRule]) {
        self.subject = subject
        self.rules = rules
        isPartial = !rules.contains { $0.pattern.covers(.everything) }
    }

    /// For messages.
    var title: String {
        switch subject {
        case .user(let number): "user \(number)"
        case .principal(let name): "principal \(name)"
        case .everyone, .group: subject.description
        }
    }

    var mayAdminister: Bool { allow(.admin, .everything) }

    /// True if one rule grants the right to everything that the pattern can match.
    /// - Parameter steps: grows by the work done.
    func allow(_ right: AccessRight, _ pattern: PathPattern, steps: inout Int) -> Bool {
        for rule in rules where rule.right >= right && rule.pattern.covers(pattern, steps: &steps) { return true }
        return false
    }

    func allow(_ right: AccessRight, _ pattern: PathPattern) -> Bool {
        var steps = 0
        return allow(right, pattern, steps: &steps)
    }

    /// True if the attribute may be read. For a path to a node: true if all attributes of the node may be read.
    func showsAttributes(at path: AttributePath) -> Bool { allow(.read, PathPattern(attributesAt: path)) }

    /// - Throws: `denied`, unless one rule grants the right to everything that the pattern can match.
    func require(_ right: AccessRight, _ pattern: PathPattern, steps: inout Int) throws(Failure) {
        if allow(right, pattern, steps: &steps) { return }
        let path = Grants.shorten(pattern.description)
        throw Failure(
            .denied, "\(title) lacks the right '\(right.rawValue)' on \(path)", path: path,
            hint: path == pattern.description
                ? "a line of the daemon's configuration gives it: access = \(AccessRule(right, [subject], pattern))"
                : Grants.hint)
    }

    func require(_ right: AccessRight, _ pattern: PathPattern) throws(Failure) {
        var steps = 0
        try require(right, pattern, steps: &steps)
    }

    /// - Throws: `denied` for a client without any right, whatever the request contains: its paths are not read.
    func requireAny(_ right: AccessRight) throws(Failure) {
        guard rules.isEmpty else { return }
        throw Failure(.denied, "\(title) has no rights, and needs '\(right.rawValue)' for this", hint: Grants.hint)
    }

    private static let hint = "the daemon's configuration gives rights in its access lines"

    /// Bytes of a path that a refusal repeats. Bounded, because clients cause refusals at will, and they are logged.
    private static let longestPath = 200

    private static func shorten(_ path: String) -> String {
        path.utf8.count <= longestPath ? path : String(path.prefix(longestPath / 4)) + "…"
    }
}
