import AttributeValues
import Glibc

/// A client of the daemon that speaks the bare protocol.
final class Client {
    private let descriptor: Int32
    /// Replies that are printed yet.
    private var printed: Int
    private var received: [UInt8] = []
    /// Bytes of `received` that hold no newline.
    private var searched = 0
    private var chunk = [UInt8](repeating: 0, count: 1 << 18)

    /// - Parameter patience: seconds to wait for a daemon that does not listen yet.
    init(_ path: String, isVerbose: Bool = false, patience: Double = 5) throws {
        printed = isVerbose ? 5 : 0
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Trouble("socket: errno \(errno)") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let deadline = seconds() + patience
        let descriptor = descriptor
        func isConnected() -> Bool {
            withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
            } == 0
        }
        while !isConnected() {
            guard seconds() < deadline else {
                close(descriptor)
                throw Trouble("connect: errno \(errno)")
            }
            usleep(5_000)
        }
    }

    deinit { close(descriptor) }

    /// Writes all of it, however long the daemon takes to read it.
    func send(_ text: String) throws {
        var text = text
        try text.withUTF8 { try send(UnsafeRawBufferPointer($0)) }
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { throw Trouble("send: errno \(errno)") }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Sends a request without waiting for its reply.
    func request(_ method: String, _ parameters: String = "{}") throws { try send(Client.line(method, parameters)) }

    static func line(_ method: String, _ parameters: String = "{}") -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"# + "\n"
    }

    /// Sends a request and reads up to its reply; events before it are passed over. A refusal is an answer, too.
    @discardableResult
    func call(_ method: String, _ parameters: String = "{}", within patience: Double = .infinity) throws -> [UInt8] {
        try request(method, parameters)
        let line = try reply(within: patience)
        if printed > 0 {
            printed -= 1
            write("    \(method): \(String(decoding: line.prefix(300), as: UTF8.self))", to: 2)
        }
        return line
    }

    /// The next line that is no event.
    func reply(within patience: Double = .infinity) throws -> [UInt8] {
        let deadline = seconds() + patience
        while true {
            let line = try nextLine(until: deadline)
            if !line.starts(with: #"{"jsonrpc":"2.0","method""#.utf8) { return line }
        }
    }

    private func nextLine(until deadline: Double) throws -> [UInt8] {
        while true {
            if let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(received[..<end])
                received.removeSubrange(...end)
                searched = 0
                return line
            }
            searched = received.count
            guard try read(until: deadline) else { throw Trouble("no reply") }
        }
    }

    /// Reads and forgets all that comes for some seconds.
    func drain(seconds length: Double) throws {
        let deadline = seconds() + length
        while try read(until: deadline) { received.removeAll(keepingCapacity: true) }
        searched = 0
    }

    /// - Returns: false when time is over.
    private func read(until deadline: Double) throws -> Bool {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let wait = deadline == .infinity ? -1 : Int32(max(0, (deadline - seconds()) * 1000).rounded(.up))
        guard poll(&poller, 1, wait) > 0 else { return false }
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { throw Trouble("the daemon has closed the connection") }
        received += chunk[..<count]
        return true
    }

    /// Ends the client's own direction.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }
}

/// Writes a line at once, to standard output (1) or standard error (2).
func write(_ line: String, to descriptor: Int32) {
    var line = line + "\n"
    line.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
}

/// Seconds on the monotonic clock.
func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
