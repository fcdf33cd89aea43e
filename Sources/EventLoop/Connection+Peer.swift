import Glibc

/// What the kernel says of the process at the other end of a Unix socket.
public enum PeerCredentials {
    /// The process, as it was when the peer connected.
    public static func read(_ descriptor: Int32) throws(LoopError) -> (pid: Int32, uid: UInt32, gid: UInt32) {
        // struct ucred, which glibc declares only to GNU sources.
        var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        if getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0 {
            throw LoopError(call: "getsockopt(SO_PEERCRED)", number: errno)
        }
        return credentials
    }

    /// The supplementary groups of the peer. Empty if the kernel does not report them (before Linux 4.13).
    public static func groups(_ descriptor: Int32) throws(LoopError) -> [UInt32] {
        var groups = [UInt32](repeating: 0, count: 32)
        while true {
            var length = socklen_t(groups.count * MemoryLayout<UInt32>.size)
            let result = getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, &groups, &length)
            let number = errno
            let count = Int(length) / MemoryLayout<UInt32>.size
            if result == 0 { return Array(groups.prefix(count)) }
            if number == ENOPROTOOPT { return [] }
            // The kernel has reported the number of groups. They are those of the moment of connecting, so the number
            // does not grow.
            guard number == ERANGE, count > groups.count else {
                throw LoopError(call: "getsockopt(SO_PEERGROUPS)", number: number)
            }
            groups = [UInt32](repeating: 0, count: count)
        }
    }

}

extension Connection {
    public func peerCredentials() throws(LoopError) -> (pid: Int32, uid: UInt32, gid: UInt32) {
        try PeerCredentials.read(descriptor)
    }

    public func peerGroups() throws(LoopError) -> [UInt32] { try PeerCredentials.groups(descriptor) }

    /// True if the peer has closed both sides. A peer that has closed only its sending side still reads. libuv does not
    /// distinguish the two.
    public var hasHungUp: Bool {
        var poll = pollfd(fd: descriptor, events: 0, revents: 0)
        return Glibc.poll(&poll, 1, 0) > 0 && poll.revents & Int16(POLLHUP | POLLERR) != 0
    }
}
