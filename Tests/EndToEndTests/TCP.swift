import Foundation
import TestSupport

enum TCP {
    /// A port of this machine on which nobody listens now.
    static func freePort() throws -> UInt16 {
        let socket = try Descriptor(
            Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0), "socket")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.number, $0, length) == 0 ? getsockname(socket.number, $0, &length) : -1
            }
        }
        guard code == 0 else { throw Trouble(call: "bind") }
        return UInt16(bigEndian: address.sin_port)
    }

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
        guard code == 0 else { throw Trouble(call: "connect to port \(port)") }
        return socket
    }
}
