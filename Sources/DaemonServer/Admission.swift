import AttributeValues
import EventLoop
import GraphRuntime

/// Decides which connections become clients, and knows the processes that have some.
struct Admission {
    var access: AccessRules
    var descriptors = DescriptorLimit.current()
    /// Finds the process at the other end of a connection.
    var identify: (Connection) throws(LoopError) -> Peer = Peer.init(of:)
    /// By process id.
    private var debts: [Int32: Debt] = [:]
    /// Connections by user.
    private var connections: [UInt32: Int] = [:]
    private var lastWarning = -Double.infinity

    init(access: AccessRules) { self.access = access }

    /// The part of the places that only root and the daemon's own user get.
    private static let reservedPart = 64
    /// A user gets a place while he has fewer than so many times the places that are free, and a user without any right
    /// while he has fewer than this part of them. So a user has at most three quarters of all places, or one quarter,
    /// and there is always one for somebody else.
    private static let share = 3

    /// Why a connection cannot be served; nil if it can.
    func refusal(of connection: Connection, _ peer: Peer, beside clients: Int, _ limits: ServerLimits) -> Failure? {
        let isPreferred = access.haveEvery(peer)
        let free = limits.clients - clients - (isPreferred ? 0 : limits.clients / Admission.reservedPart)
        if free <= 0 {
            return Failure(
                .limit, "the daemon serves \(clients) clients already", hint: "the setting clients is the limit")
        }
        let own = connections[peer.uid] ?? 0
        let isWithin =
            isPreferred
            || (access.giveAny(to: peer) ? own < free * Admission.share : own * Admission.share < free)
        guard isWithin else {
            return Failure(
                .limit, "user \(peer.uid) has \(own) of the daemon's \(limits.clients) clients already",
                hint: "the others are for other users; the setting clients is the limit")
        }
        if descriptors.admits(connection.descriptor) { return nil }
        return Failure(
            .limit, "the daemon has no file descriptor left for a client",
            hint: "LimitNOFILE of the systemd unit is the limit")
    }

    /// Counts another connection of a process.
    mutating func addConnection(of peer: Peer, at now: Double) -> Debt {
        connections[peer.uid, default: 0] += 1
        let debt = debts[peer.pid] ?? Debt(at: now)
        debts[peer.pid] = debt
        debt.connections += 1
        return debt
    }

    mutating func removeConnection(of peer: Peer) {
        if let count = connections[peer.uid] { connections[peer.uid] = count > 1 ? count - 1 : nil }
        guard let debt = debts[peer.pid] else { return }
        debt.connections -= 1
        if debt.connections == 0 { debts[peer.pid] = nil }
    }

    /// True at most once a second, because refused clients try again.
    mutating func mayWarn(at now: Double) -> Bool {
        guard now - lastWarning >= 1 else { return false }
        lastWarning = now
        return true
    }
}

extension Peer {
    /// The credentials from the kernel, from the time of connecting.
    init(of connection: Connection) throws(LoopError) {
        let peer = try connection.peerCredentials()
        self.init(pid: peer.pid, uid: peer.uid, gid: peer.gid, groups: try connection.peerGroups())
    }
}
