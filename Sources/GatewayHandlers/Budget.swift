/// Something of which there is a limited amount, such as memory, with a share for each owner.
package final class Budget {
    private let total: Int
    private let share: Int
    package private(set) var used = 0
    private var usedBy: [String: Int] = [:]

    init(total: Int, share: Int) {
        self.total = total
        self.share = share
    }

    func used(by owner: String) -> Int { usedBy[owner] ?? 0 }

    fileprivate func change(by amount: Int, for owners: [String]) {
        used += amount
        for owner in owners {
            let rest = used(by: owner) + amount
            usedBy[owner] = rest == 0 ? nil : rest
        }
    }

    fileprivate func fits(_ amount: Int, for owners: [String]) -> Bool {
        used + amount <= total && owners.allSatisfy { used(by: $0) + amount <= share }
    }

    fileprivate func fits(_ amount: Int) -> Bool { used + amount <= total }
}

/// The bytes that one request, stream or subscription has taken from a budget. They return when this object is freed.
final class Account {
    private let budget: Budget
    let owners: [String]
    private let free: Int
    private(set) var amount = 0

    /// - Parameter free: what costs nothing, so that small requests are answered when large ones have taken all.
    init(_ budget: Budget, _ owners: [String], free: Int = 0) {
        self.budget = budget
        self.owners = owners
        self.free = free
    }

    deinit { budget.change(by: -cost(of: amount), for: owners) }

    private func cost(of amount: Int) -> Int { max(0, amount - free) }

    /// - Returns: false, and nothing changes, if there is no space.
    func take(_ more: Int) -> Bool { resize(to: amount + more) }

    /// To give back always succeeds.
    /// - Parameter isGrowth: what grows by itself may take more than a share, if others have left something.
    func resize(to wanted: Int, isGrowth: Bool = false) -> Bool {
        let more = cost(of: wanted) - cost(of: amount)
        guard more <= 0 || (isGrowth ? budget.fits(more) : budget.fits(more, for: owners)) else { return false }
        budget.change(by: more, for: owners)
        amount = wanted
        return true
    }
}

/// Whom a request is charged to.
struct Owners {
    /// The other end of the connection: an address, or a user of this machine.
    var peer: String
    /// Nil for the gateway's own user.
    var principal: String?

    var names: [String] { [peer, "as:\(principal ?? "")"] }
}

/// The budgets that all requests and streams share.
package final class Budgets {
    package let memory: Budget
    package let streams = Budget(total: Limits.streams, share: Limits.streamShare)
    package let pasts = Budget(total: Limits.pasts, share: Limits.pastShare)

    package init(memory: Int = Limits.memory, share: Int = Limits.memoryShare) {
        self.memory = Budget(total: memory, share: share)
    }
}
