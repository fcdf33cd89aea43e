import AttributeValues
import BenchmarkSupport
import Glibc
import TestSupport

/// A NATS server with JetStream on a free port of this machine.
final class NATSServer {
    static let program = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"].first {
        (path: String) in access(path, X_OK) == 0
    }

    let address: String
    private let folder: Folder
    private let child: ChildProcess

    init(_ program: String) throws {
        folder = try Folder()
        let port = try NATSServer.freePort()
        address = "nats://127.0.0.1:\(port)"
        child = try ChildProcess(
            [program, "-js", "-sd", folder.file("js"), "-a", "127.0.0.1", "-p", "\(port)"], log: folder.file("log"))
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard code == 0 else { throw Trouble(call: "bind") }
        return UInt16(bigEndian: address.sin_port)
    }

    var processorTime: Double { child.processorTime }
}

/// `agd-link` beside a daemon.
final class Link {
    private let folder: Folder
    private let child: ChildProcess

    init(_ daemon: DaemonProcess, _ nats: NATSServer, _ lines: [String]) throws {
        guard let program = DaemonProcess.program.map({ $0 + "-link" }), access(program, X_OK) == 0 else {
            throw Trouble("agd-link is not built: swift build --product agd-link")
        }
        folder = try Folder()
        let text = (["nats = \(nats.address)"] + lines).joined(separator: "\n")
        child = try ChildProcess(
            [program, "--config", try folder.write(text, to: "link.conf"), "--socket", daemon.socketPath],
            log: folder.file("log"))
    }

    var processorTime: Double { child.processorTime }
    var residentKilobytes: Int { child.status("VmRSS") }
}

/// A connection to a daemon that sends lines and counts what it is told of one attribute.
final class Wire {
    private let descriptor: Int32
    private let mark: [UInt8]
    private var rest: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 1 << 18)
    /// The attribute's last value.
    private(set) var value = 0
    /// Updates, and those among them that span several transactions.
    private(set) var updates = 0
    private(set) var conflated = 0

    /// - Parameter attribute: its name; values are whole numbers.
    init(_ path: String, attribute: String) throws {
        descriptor = try UnixSocket.connect(path)
        mark = Array(#"\#(attribute)","value":"#.utf8)
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws {
        var text = text
        try text.withUTF8 { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                    Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                if count < 0, errno == EAGAIN {
                    try read(within: 1)
                    continue
                }
                guard count > 0 else { throw Trouble(call: "send") }
                sent += count
            }
        }
    }

    /// Reads what is there, or comes in time.
    func read(within seconds: Double) throws {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, MonotonicTime.milliseconds(seconds)) > 0 else { return }
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { throw Trouble("the daemon has closed the connection") }
        rest += chunk[..<count]
        guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return }
        for line in rest[...end].split(separator: UInt8(ascii: "\n")) { take(line) }
        rest.removeSubrange(...end)
    }

    private func take(_ line: ArraySlice<UInt8>) {
        line.withUnsafeBytes { bytes in
            guard let found = Wire.find(mark, in: bytes) else { return }
            var (position, number) = (found + mark.count, 0)
            while position < bytes.count, case let digit = bytes[position], (48...57).contains(digit) {
                (number, position) = (number * 10 + Int(digit - 48), position + 1)
            }
            value = number
            updates += 1
            if Wire.find(Wire.from, in: bytes) != nil { conflated += 1 }
        }
    }

    private static let from = Array(#""from":"#.utf8)

    private static func find(_ mark: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int? {
        var at = 0
        while at + mark.count <= bytes.count, let start = bytes.baseAddress,
            let found = memchr(start + at, Int32(mark[0]), bytes.count - at - mark.count + 1)
        {
            at = UnsafeRawPointer(found) - start
            if memcmp(found, mark, mark.count) == 0 { return at }
            at += 1
        }
        return nil
    }
}
