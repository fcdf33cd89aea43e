import Glibc

/// Unix sockets by their paths; a leading `@` stands for a name without a file. Programs that a test starts do not
/// inherit them.
public enum UnixSocket {
    /// - Parameter flags: as `SOCK_NONBLOCK`.
    public static func connect(_ path: String, flags: Int32 = 0) throws(Trouble) -> Int32 {
        try open(path, Int32(SOCK_STREAM.rawValue) | flags, "connect", Glibc.connect)
    }

    /// Listens; for a socket that is handed to a daemon.
    public static func listen(_ path: String) throws(Trouble) -> Int32 {
        let socket = try open(path, Int32(SOCK_STREAM.rawValue), "bind", Glibc.bind)
        guard Glibc.listen(socket, 16) == 0 else { throw Trouble(call: "listen") }
        return socket
    }

    /// Receives datagrams; for `NOTIFY_SOCKET`.
    public static func receive(_ path: String) throws(Trouble) -> Int32 {
        try open(path, Int32(SOCK_DGRAM.rawValue), "bind", Glibc.bind)
    }

    private static func open(
        _ path: String, _ type: Int32, _ call: String, _ attach: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
    ) throws(Trouble) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Trouble("\(path) is too long")
        }
        let isAbstract = path.hasPrefix("@")
        withUnsafeMutableBytes(of: &address.sun_path) {
            $0.copyBytes(from: isAbstract ? [0] + path.utf8.dropFirst() : Array(path.utf8))
        }
        // An abstract name ends with its length, a path with a zero byte.
        let length =
            MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path) + path.utf8.count
            + (isAbstract ? 0 : 1)
        let socket = Glibc.socket(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw Trouble(call: "socket") }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { attach(socket, $0, socklen_t(length)) }
        }
        guard code == 0 else {
            let trouble = Trouble(call: "\(call) \(path)")
            close(socket)
            throw trouble
        }
        return socket
    }
}
