import AttributeValues
import BenchmarkSupport
import Glibc
import TestSupport

/// Writers and watchers of one server, served by one thread.
final class Load {
    struct Result {
        /// Writes, or deliveries where there are watchers.
        var perSecond: Double
        /// Microseconds of the server's processor time for each.
        var processorTime: Double
        /// Microseconds, of writes that were sent one at a time.
        var median = 0.0
        var permille990 = 0.0
    }

    private final class Connection {
        let descriptor: Int32
        /// Answers of a writer, or values that a watcher has got.
        var received = 0
        var sent = 0
        /// The last two bytes that were read, which may be the beginning of a mark.
        var tail: (UInt8, UInt8) = (0, 0)

        init(_ path: String) throws { descriptor = try UnixSocket.connect(path) }

        deinit { close(descriptor) }
    }

    private let server: Server
    private var messages: [Message]
    private var writers: [Connection] = []
    private var watchers: [Connection] = []
    private let window: Int
    private var next: UInt64 = 0
    private var chunk = [UInt8](repeating: 0, count: 1 << 18)
    private var output: [UInt8] = []
    private var waits: [Double] = []
    private var sentAt = 0.0

    /// - Parameter window: writes of one writer that are on their way at a time.
    init(_ server: Server, _ shape: Message.Shape, writers: Int, watchers: Int = 0, window: Int) throws {
        self.server = server
        self.window = window
        messages = (0..<Message.keys).map { server.write($0, shape) }
        self.writers = try (0..<writers).map { _ in try Connection(server.socketPath) }
        for _ in 0..<watchers {
            let watcher = try Connection(server.socketPath)
            let text = Array(server.subscribing.utf8)
            guard send(watcher.descriptor, text, text.count, 0) == text.count,
                recv(watcher.descriptor, &chunk, chunk.count, 0) > 0
            else { throw Trouble(call: "subscribe") }
            self.watchers.append(watcher)
        }
        for connection in self.writers + self.watchers {
            _ = fcntl(connection.descriptor, F_SETFL, fcntl(connection.descriptor, F_GETFL) | O_NONBLOCK)
        }
    }

    func run(warm: Double = 0.3, seconds: Double) throws -> Result {
        let connections = writers + watchers
        var pollers = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let begin = MonotonicTime.now + warm
        var start: (time: Double, count: Int, processor: Double)?
        while true {
            let now = MonotonicTime.now
            if start == nil, now >= begin {
                waits = []
                start = (now, count, server.processorTime)
            }
            if let start, now >= begin + seconds {
                let done = Double(count - start.count)
                var result = Result(
                    perSecond: done / (now - start.time),
                    processorTime: (server.processorTime - start.processor) / done * 1e6)
                waits.sort()
                if !waits.isEmpty {
                    result.median = waits[waits.count / 2] * 1e6
                    result.permille990 = waits[waits.count * 99 / 100] * 1e6
                }
                return result
            }
            for writer in writers { try fill(writer) }
            guard poll(&pollers, nfds_t(pollers.count), 1000) > 0 else { throw Trouble("no answer for a second") }
            for (place, connection) in connections.enumerated() where pollers[place].revents != 0 {
                try read(connection, isWatcher: place >= writers.count)
            }
        }
    }

    /// What counts: values that watchers have got, or answers.
    private var count: Int { (watchers.isEmpty ? writers : watchers).reduce(0) { $0 + $1.received } }

    /// Writes of a writer that are done: answered, and with all watchers.
    private func done(_ writer: Connection) -> Int { watchers.map(\.received).min() ?? writer.received }

    /// Fills a window that is half empty.
    private func fill(_ writer: Connection) throws {
        let waiting = writer.sent - done(writer)
        guard waiting <= window / 2 else { return }
        output.removeAll(keepingCapacity: true)
        for _ in waiting..<window {
            let place = Int(next % UInt64(Message.keys))
            next += 1
            messages[place].count(next)
            output += messages[place].bytes
        }
        writer.sent += window - waiting
        if window == 1 { sentAt = MonotonicTime.now }
        var sent = 0
        while sent < output.count {
            let count = output[sent...].withUnsafeBytes { send(writer.descriptor, $0.baseAddress, $0.count, 0) }
            if count < 0, errno == EAGAIN {
                // The server waits for its output to be read.
                for watcher in watchers { try read(watcher, isWatcher: true) }
                try read(writer, isWatcher: false)
                continue
            }
            guard count > 0 else { throw Trouble(call: "send") }
            sent += count
        }
    }

    private func read(_ connection: Connection, isWatcher: Bool) throws {
        while true {
            let start = Load.mark.count - 1
            let count = chunk.withUnsafeMutableBytes { chunk in
                (chunk[0], chunk[1]) = connection.tail
                return recv(connection.descriptor, chunk.baseAddress.map { $0 + start }, chunk.count - start, 0)
            }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { throw Trouble("the server has closed a connection") }
            let (before, time) = (connection.received, window == 1 ? MonotonicTime.now : 0)
            connection.tail = (chunk[count], chunk[count + 1])
            let isRefused = chunk.withUnsafeBytes { chunk in
                let part = UnsafeRawBufferPointer(rebasing: chunk[start..<start + count])
                // Names of places stand in what a watcher gets: one for each value.
                connection.received +=
                    isWatcher
                    ? self.count(Load.mark, in: UnsafeRawBufferPointer(rebasing: chunk[..<(start + count)]))
                    : lines(in: part)
                return !isWatcher && isRefusal(part)
            }
            if isRefused {
                let answer = String(decoding: chunk[start..<min(start + count, 300)], as: UTF8.self)
                throw Trouble("a write was refused: \(answer)")
            }
            if window == 1, connection.received > before, watchers.isEmpty { waits.append(time - sentAt) }
            if count < chunk.count - start { return }
        }
    }

    private func lines(in bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        for byte in bytes where byte == UInt8(ascii: "\n") { count += 1 }
        return count
    }

    private static let errorMark = Array("error".utf8)

    /// Of many answers the beginning is looked at: if one is refused, all are.
    private func isRefusal(_ answers: UnsafeRawBufferPointer) -> Bool {
        let beginning = UnsafeRawBufferPointer(rebasing: answers.prefix(80))
        return beginning.first == UInt8(ascii: "-") || count(Load.errorMark, in: beginning) > 0
    }

    private func count(_ mark: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        var at = 0
        while let start = bytes.baseAddress, let found = memchr(start + at, Int32(mark[0]), bytes.count - at) {
            at = UnsafeRawPointer(found) - start
            if bytes.count - at >= mark.count, memcmp(found, mark, mark.count) == 0 { count += 1 }
            at += 1
        }
        return count
    }

    private static let mark = Array("cpu".utf8)
}
