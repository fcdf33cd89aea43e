import Glibc

/// Who is at the other end of a Unix socket, by the kernel's word at the time of connecting.
public struct PeerCredentials: Hashable {
    public var pid: Int32
    public var uid: UInt32
    public var gid: UInt32

    public init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }
}

extension Connection {
    public func peerCredentials() throws(LoopError) -> PeerCredentials {
        // struct ucred, which glibc declares only to GNU sources.
        var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        if getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0 {
            throw LoopError(call: "getsockopt(SO_PEERCRED)", number: errno)
        }
        return PeerCredentials(pid: credentials.pid, uid: credentials.uid, gid: credentials.gid)
    }

    /// Whether the peer has closed both sides. A peer that only ended its sending side still listens; libuv does not tell
    /// the two apart.
    public var hasHungUp: Bool {
        var poll = pollfd(fd: descriptor, events: 0, revents: 0)
        return Glibc.poll(&poll, 1, 0) > 0 && poll.revents & Int16(POLLHUP | POLLERR) != 0
    }
}
