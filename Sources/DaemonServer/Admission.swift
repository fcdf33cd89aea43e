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
    private var lastWarning = -Double.infinity

    init(access: AccessRules) { self.access = access }

    /// Why a connection cannot be served; nil if it can.
    func refusal(of connection: Connection, beside clients: Int, _ limits: ServerLimits) -> Failure? {
        if clients >= limits.clients {
            return Failure(
                .limit, "the daemon serves \(limits.clients) clients already",
                hint: "the setting clients is the limit")
        }
        if descriptors.admits(connection.descriptor) { return nil }
        return Failure(
            .limit, "the daemon has no file descriptor left for a client",
            hint: "LimitNOFILE of the systemd unit is the limit")
    }

    /// Counts another connection of a process.
    mutating func addConnection(of process: Int32, at now: Double) -> Debt {
        let debt = debts[process] ?? Debt(at: now)
        debts[process] = debt
        debt.connections += 1
        return debt
    }

    mutating func removeConnection(of process: Int32) {
        guard let debt = debts[process] else { return }
        debt.connections -= 1
        if debt.connections == 0 { debts[process] = nil }
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
