/// The number of a connection, unique for as long as the daemon runs.
public struct ClientID: Hashable {
    public var number: UInt64
    public init(number: UInt64) { self.number = number }
}

/// The process at the other end of a connection, as the kernel reports it.
public struct Peer {
    public var pid: Int32
    public var uid: UInt32
    public var gid: UInt32
    /// Supplementary groups.
    public var groups: [UInt32]

    public init(pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32] = []) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
        self.groups = groups
    }
}
