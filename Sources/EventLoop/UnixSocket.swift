import AttributeValues
import Glibc

/// Unix stream sockets on which a program listens.
package enum UnixSocket {
    private static let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)

    /// A socket without a name. It does not block, and programs that are started do not inherit it.
    package static func make() throws(LoopError) -> Int32 {
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw LoopError(call: "socket", number: errno) }
        return descriptor
    }

    /// Removes a socket file that an ended program has left, if there is one.
    /// - Throws: `EADDRINUSE` if a program still listens there.
    package static func removeStale(_ path: String, _ address: SocketAddress) throws(LoopError) {
        let probe = try make()
        defer { close(probe) }
        let isServed = address.withAddress { connect(probe, $0, $1) } == 0 || errno == EAGAIN
        if isServed { throw LoopError(call: "bind", number: EADDRINUSE, subject: path) }
        guard unlink(path) == 0 || errno == ENOENT else {
            throw LoopError(call: "unlink", number: errno, subject: path)
        }
    }
}
