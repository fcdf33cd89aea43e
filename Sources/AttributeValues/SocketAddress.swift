import Glibc

/// The address of a Unix socket: a path, or a name in the abstract name space, written with a leading `@`.
package struct SocketAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// The longest path in bytes.
    package static let maximumLength = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// nil if the path is empty or too long.
    package init?(_ path: String) {
        var bytes = Array(path.utf8)
        guard bytes.count <= SocketAddress.maximumLength, !bytes.isEmpty else { return nil }
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let prefix = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        // An abstract name ends with its length, a path with a zero byte.
        length = socklen_t(prefix + bytes.count + (isAbstract ? 0 : 1))
    }

    package func withAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) } }
    }
}
