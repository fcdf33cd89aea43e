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
    private var connections = Shares<UInt32>()
    private var lastWarning = -Double.infinity

    init(access: AccessRules) { self.access = access }

    /// Why a connection cannot be served; nil if it can.
    func refusal(of connection: Connection, _ peer: Peer, _ limits: ServerLimits) -> Failure? {
        switch connections.verdict(on: 1, for: peer.uid, access.standing(of: peer), of: limits.clients) {
        case .fits: break
        case .full:
            return Failure(
                .limit, "the daemon serves \(connections.used) clients already",
                hint: "the setting clients is the limit")
        case .beyondShare:
            return Failure(
                .limit,
                "user \(peer.uid) has \(connections.used(by: peer.uid)) of the daemon's \(limits.clients) clients already",
                hint: "the others are for other users; the setting clients is the limit")
        }
        if descriptors.admits(connection.descriptor) { return nil }
        return Failure(
            .limit, "the daemon has no file descriptor left for a client",
            hint: "LimitNOFILE of the systemd unit is the limit")
    }

    /// Counts another connection of a process.
    mutating func addConnection(of peer: Peer, at now: Double) -> Debt {
        connections.add(1, for: peer.uid)
        let debt = debts[peer.pid] ?? Debt(at: now)
        debts[peer.pid] = debt
        debt.connections += 1
        return debt
    }

    mutating func removeConnection(of peer: Peer) {
        connections.add(-1, for: peer.uid)
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

#if DEBUG
    extension Admission {
        /// Describes each contradiction between the connections and their counts, by user and by process.
        func checkInvariants(atLeast byUser: [UInt32: Int], sessions: Int) -> [String] {
            var faults: [String] = []
            if connections.used != sessions || debts.values.reduce(0, { $0 + $1.connections }) != sessions {
                faults.append("\(sessions) connections are miscounted")
            }
            for (user, count) in byUser where connections.used(by: user) < count {
                faults.append("user \(user) has \(count) connections, and \(connections.used(by: user)) are counted")
            }
            return faults
        }
    }
#endif
