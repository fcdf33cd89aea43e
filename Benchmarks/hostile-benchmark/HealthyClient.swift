import AttributeValues
import BenchmarkSupport
import Glibc
import TestSupport

/// A client that pings about every millisecond and measures how long it waits. It runs as a process of its own, so that
/// an attacker's work does not delay it.
enum HealthyClient {
    struct Waits {
        var pings = 0
        /// Seconds.
        var worst = 0.0
        var permille999 = 0.0
    }

    /// Pings until standard input ends, then prints what it has measured. A ping without an answer by then has waited
    /// so long.
    static func main(_ socketPath: String) throws {
        let client = try PingSocket(socketPath)
        var waits: [Double] = []
        var isOver = false
        while !isOver {
            let start = MonotonicTime.now
            client.ping()
            var isAnswered = false
            while !isAnswered, !isOver {
                var pollers = [
                    pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
                ]
                poll(&pollers, 2, -1)
                if pollers[1].revents != 0 { isOver = true }
                if pollers[0].revents != 0 {
                    isAnswered = client.isAnswered()
                    // The daemon is gone: nobody answers any more.
                    if !isAnswered, client.isClosed { isOver = true }
                }
            }
            waits.append(MonotonicTime.now - start)
            if !isOver { usleep(1000) }
        }
        waits.sort()
        let place = min(waits.count - 1, Int(Double(waits.count) * 0.999))
        print("\(waits.count) \(waits[waits.count - 1]) \(waits[place])")
    }

    /// Output of the process so far.
    static func read(_ text: String) -> Waits? {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
        guard words.count == 3, let pings = Int(words[0]), let worst = Double(words[1]), let most = Double(words[2])
        else { return nil }
        return Waits(pings: pings, worst: worst, permille999: most)
    }
}

/// A connection that only sends pings, one at a time.
private final class PingSocket {
    let descriptor: Int32
    private(set) var isClosed = false
    private var bytes = [UInt8](repeating: 0, count: 4096)
    private let message = Array(DaemonClient.line("ping").utf8)

    init(_ path: String) throws { descriptor = try UnixSocket.connect(path) }

    func ping() {
        if send(descriptor, message, message.count, Int32(MSG_NOSIGNAL)) < 0 { isClosed = true }
    }

    /// True once the answer has arrived whole.
    func isAnswered() -> Bool {
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count == 0 || (count < 0 && errno != EAGAIN) { isClosed = true }
        return count > 0 && bytes[count - 1] == UInt8(ascii: "\n")
    }
}
