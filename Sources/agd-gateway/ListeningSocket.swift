import AttributeValues
import EventLoop
import GatewayHandlers
import Glibc

/// The socket on which the gateway listens: a port of this machine or of an address, or a Unix socket.
enum ListeningSocket {
    /// - Parameters:
    ///   - port: 0 takes a free one.
    ///   - place: nil for this machine alone.
    /// - Returns: the socket, and the port.
    static func open(port: UInt16, at place: in_addr? = nil) throws(LoopError) -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw LoopError(call: "socket", number: errno) }
        keepSmall(descriptor)
        var isReused: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = place ?? in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw LoopError(call: "bind", number: errno) }
        try listen(descriptor)
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// The socket's owner and group may connect. A socket that an ended gateway has left is replaced.
    static func open(path: String) throws(LoopError) -> Int32 {
        guard let address = SocketAddress(path) else { throw LoopError(call: "bind", number: ENAMETOOLONG) }
        let descriptor = try UnixSocket.make()
        keepSmall(descriptor)
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { try UnixSocket.removeStale(path, address) }
        let mask = umask(0o117)
        let isBound = address.withAddress { bind(descriptor, $0, $1) } == 0
        let number = errno
        umask(mask)
        guard isBound else { throw LoopError(call: "bind", number: number == EADDRINUSE ? EEXIST : number) }
        try listen(descriptor)
        return descriptor
    }

    private static func listen(_ descriptor: Int32) throws(LoopError) {
        guard Glibc.listen(descriptor, Listener.backlog) == 0 else { throw LoopError(call: "listen", number: errno) }
    }

    /// Limits what the kernel buffers for each connection, which inherits this: the memory of the kernel counts as the
    /// gateway's.
    private static func keepSmall(_ descriptor: Int32) {
        var size = Limits.socketBuffer
        for option in [SO_SNDBUF, SO_RCVBUF] {
            setsockopt(descriptor, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}
