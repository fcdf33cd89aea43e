import AttributeValues
import Glibc
import TestSupport

/// A client of the daemon that speaks the bare protocol.
public final class DaemonClient {
    private let descriptor: Int32
    /// Replies that are printed yet.
    private var printed: Int
    private var received: [UInt8] = []
    /// Bytes of `received` that hold no newline.
    private var searched = 0
    private var chunk = [UInt8](repeating: 0, count: 1 << 18)

    /// - Parameter patience: seconds to wait for a daemon that does not listen yet.
    public init(_ path: String, isVerbose: Bool = false, patience: Double = 5) throws {
        printed = isVerbose ? 5 : 0
        descriptor = try DaemonClient.connect(path, until: MonotonicTime.now + patience)
    }

    private static func connect(_ path: String, until deadline: Double) throws -> Int32 {
        while true {
            do { return try UnixSocket.connect(path) } catch {
                guard MonotonicTime.now < deadline else { throw error }
                usleep(5_000)
            }
        }
    }

    deinit { close(descriptor) }

    /// Writes all of it, however long the daemon takes to read it.
    public func send(_ text: String) throws {
        var text = text
        try text.withUTF8 { try send(UnsafeRawBufferPointer($0)) }
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { throw Trouble(call: "send") }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Sends a request without waiting for its reply.
    public func request(_ method: String, _ parameters: String = "{}") throws {
        try send(DaemonClient.line(method, parameters))
    }

    public static func line(_ method: String, _ parameters: String = "{}") -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"# + "\n"
    }

    /// Sends a request and reads up to its reply; events before it are passed over. A refusal is an answer, too.
    @discardableResult
    public func call(_ method: String, _ parameters: String = "{}", within patience: Double = .infinity) throws
        -> [UInt8]
    {
        try request(method, parameters)
        let line = try reply(within: patience)
        if printed > 0 {
            printed -= 1
            tell("    \(method): \(String(decoding: line.prefix(300), as: UTF8.self))", to: 2)
        }
        return line
    }

    /// The same; a refusal is an error.
    @discardableResult
    public func result(_ method: String, _ parameters: String = "{}") throws -> Value {
        let reply = try JSONParser.parseOnce(try call(method, parameters)[...])
        guard let result = reply.map?["result"] else { throw Trouble("\(method): \(reply)") }
        return result
    }

    /// The next line that is no event.
    public func reply(within patience: Double = .infinity) throws -> [UInt8] {
        let deadline = MonotonicTime.now + patience
        while true {
            let line = try nextLine(until: deadline)
            if !line.starts(with: #"{"jsonrpc":"2.0","method""#.utf8) { return line }
        }
    }

    /// The next line, whatever it is.
    public func nextLine(until deadline: Double = .infinity) throws -> [UInt8] {
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
    @discardableResult
    public func drain(seconds length: Double) throws -> (messages: Int, bytes: Int) {
        let deadline = MonotonicTime.now + length
        var (messages, bytes) = (0, 0)
        bytes -= received.count
        while try read(until: deadline) {
            received.withUnsafeBytes { part in
                var at = 0
                while at < part.count, let start = part.baseAddress,
                    let found = memchr(start + at, 0x0A, part.count - at)
                {
                    messages += 1
                    at = UnsafeRawPointer(found) - start + 1
                }
            }
            // The beginning of the next message stays.
            let end = received.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            bytes += end
            received.removeSubrange(..<end)
        }
        bytes += received.count
        searched = 0
        return (messages, bytes)
    }

    /// - Returns: false when time is over.
    private func read(until deadline: Double) throws -> Bool {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let wait = deadline == .infinity ? -1 : Int32(max(0, (deadline - MonotonicTime.now) * 1000).rounded(.up))
        guard poll(&poller, 1, wait) > 0 else { return false }
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { throw Trouble("the daemon has closed the connection") }
        received += chunk[..<count]
        return true
    }

    /// Ends the client's own direction.
    public func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }
}

/// Writes a line at once, to standard output (1) or standard error (2).
public func tell(_ line: String, to descriptor: Int32 = 1) {
    var line = line + "\n"
    line.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
}
