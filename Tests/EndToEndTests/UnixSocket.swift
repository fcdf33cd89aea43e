import Foundation

/// Unix sockets, as the tests need them: by path, with deadlines.
enum UnixSocket {
    static func connect(_ path: String) throws -> Descriptor {
        let socket = try Descriptor(Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0), "socket")
        try withAddress(path) { address, length in
            guard Glibc.connect(socket.number, address, length) == 0 else {
                throw Trouble("connect \(path): \(String(cString: strerror(errno)))")
            }
        }
        return socket
    }

    /// Listens; for a socket that is handed to a daemon.
    static func listen(_ path: String) throws -> Descriptor {
        let socket = try bind(path, Int32(SOCK_STREAM.rawValue))
        guard Glibc.listen(socket.number, 16) == 0 else { throw Trouble("listen: \(String(cString: strerror(errno)))") }
        return socket
    }

    /// Receives datagrams; for `NOTIFY_SOCKET`.
    static func receive(_ path: String) throws -> Descriptor { try bind(path, Int32(SOCK_DGRAM.rawValue)) }

    private static func bind(_ path: String, _ type: Int32) throws -> Descriptor {
        let socket = try Descriptor(Glibc.socket(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue), 0), "socket")
        try withAddress(path) { address, length in
            guard Glibc.bind(socket.number, address, length) == 0 else {
                throw Trouble("bind \(path): \(String(cString: strerror(errno)))")
            }
        }
        return socket
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Trouble("\(path) is too long") }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        try withUnsafePointer(to: &address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

enum TCP {
    /// To a port of this machine.
    static func connect(port: UInt16) throws -> Descriptor {
        let socket = try Descriptor(
            Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0), "socket")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Trouble("connect to port \(port): \(String(cString: strerror(errno)))") }
        return socket
    }
}
