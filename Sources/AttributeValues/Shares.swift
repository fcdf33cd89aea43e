/// A limit of the whole daemon, with a share for each owner: what all have of it together, and what each has.
///
/// An owner gets more while he has at most three times what is left then, and one without any right while he has at
/// most a third of it. So nobody has more than three quarters of what others leave, and something is always left for
/// somebody else. The last part of the limit is for root and the daemon's own user, who have no share.
public struct Shares<Owner: Hashable> {
    public private(set) var used = 0
    private var usedBy: [Owner: Int] = [:]

    public init() {}

    public func used(by owner: Owner) -> Int { usedBy[owner] ?? 0 }

    /// - Parameter amount: negative to give something back.
    public mutating func add(_ amount: Int, for owner: Owner) {
        used += amount
        share(amount, with: owner)
    }

    /// Changes what all have together. The caller shares it with its owners.
    public mutating func add(_ amount: Int) { used += amount }

    /// Changes what one owner has, of something that he may have together with others.
    public mutating func share(_ amount: Int, with owner: Owner) {
        let now = used(by: owner) + amount
        usedBy[owner] = now == 0 ? nil : now
    }

    public func verdict(on amount: Int, for owner: Owner, _ standing: Standing, of limit: Int) -> Standing.Verdict {
        standing.verdict(own: used(by: owner) + amount, used: used + amount, of: limit)
    }
}

/// The rank of an owner among those who share a limit.
public enum Standing {
    /// Root and the daemon's own user.
    case first
    case ordinary
    /// Without any right.
    case rightless

    public enum Verdict {
        case fits
        /// All together would have too much.
        case full
        /// The rest is for others.
        case beyondShare
    }

    /// The part of a limit that is for the first ones alone.
    private static let reservedPart = 64

    /// The part of a limit that all but the first ones may have together.
    public static func common(of limit: Int) -> Int { limit - limit / reservedPart }

    /// - Parameters:
    ///   - own: what the owner would have.
    ///   - used: what all would have together.
    public func verdict(own: Int, used: Int, of limit: Int) -> Verdict {
        let left = (self == .first ? limit : Standing.common(of: limit)) - used
        if left < 0 { return .full }
        switch self {
        case .first: return .fits
        case .ordinary: return own <= max(1, left * 3) ? .fits : .beyondShare
        case .rightless: return own <= max(1, left / 3) ? .fits : .beyondShare
        }
    }

    /// True if the owner has no more than an owner gets when nobody else has anything. Use that grows without a request
    /// of its owner may grow so far.
    public func mayHave(_ own: Int, of limit: Int) -> Bool {
        self == .first || own <= Standing.common(of: limit) / 4 * 3
    }
}
