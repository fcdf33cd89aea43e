import AttributeValues
import Glibc

/// A Unix stream socket that transfers lines. Only one thread may use it at a time.
///
/// Sending reads incoming data meanwhile. So it cannot deadlock with a daemon that waits until the client reads.
final class LineSocket {
    let descriptor: Int32
    /// Maximum seconds to wait until the daemon accepts the connection, reads, or answers. nil waits without limit.
    let timeout: Double?
    private let input = LineBuffer()
    let output = ByteBuffer(capacity: 1024)
    private var isAtEnd = false
    /// Bytes of `output` that have been sent.
    private var sent = 0

    /// - Throws: `unreachable`, `timedOut`, `socketPathTooLong`, `system`.
    init(to location: SocketLocation, timeout: Double? = nil) throws(ClientError) {
        guard let address = SocketAddress(location.path) else { throw .socketPathTooLong(location.path) }
        let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard made >= 0 else { throw .system(call: "socket", errno: errno) }
        // A daemon that is stopped accepts nobody: when its queue is full, connecting waits.
        if let timeout { LineSocket.limitSending(made, to: timeout) }
        let code = address.withAddress { address, length in LineSocket.retrying { Int(connect(made, address, length)) }
        }
        guard code == 0 else {
            let reason = errno
            close(made)
            if reason == EAGAIN, let timeout { throw .timedOut(seconds: timeout) }
            throw .unreachable(location, errno: reason)
        }
        descriptor = made
        self.timeout = timeout
    }

    deinit { close(descriptor) }

    /// The process that listens at the other end: the daemon, or systemd if it has opened the socket.
    var listener: pid_t? {
        // The kernel's ucred.
        var peer: (pid: pid_t, user: uid_t, group: gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: peer))
        return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : nil
    }

    private static func limitSending(_ descriptor: Int32, to seconds: Double) {
        let microseconds = Int(max(1, min(seconds, 1e9) * 1e6))
        var time = timeval(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Repeats the call if a signal has interrupted it.
    private static func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result < 0, errno == EINTR { continue }
            return result
        }
    }

    /// Sends what the system takes of the rest of `output`, without waiting.
    /// - Returns: bytes, or -1 with `errno`.
    private func sendSome() -> Int {
        output.withBytes { bytes in
            LineSocket.retrying {
                send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                    Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
        }
    }

    private func forgetOutput() {
        output.removeAll()
        sent = 0
    }

    /// Sends all of `output`. While the daemon does not read, reads incoming data, so that neither waits for the other.
    func flush() throws(ClientError) {
        while sent < output.count {
            let count = sendSome()
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                let ready = try wait(for: Int16(POLLIN | POLLOUT), timeout: timeout, interrupt: nil)
                if ready == 0, let timeout { throw .timedOut(seconds: timeout) }
                if ready & Int16(POLLOUT) == 0, ready & Int16(POLLIN) != 0 { try fill(waiting: false) }
            } else {
                let reason = errno
                forgetOutput()
                // A daemon that closes the connection has often sent answers or the reason before. The reader gets all of
                // it before it is told of the loss.
                try? fill(waiting: false)
                if input.isEmpty { throw .lost(ClientError.text(reason)) }
            }
        }
        forgetOutput()
    }

    /// Sends what the daemon accepts now, without waiting.
    /// - Returns: whether everything has been sent.
    func sendNow() throws(ClientError) -> Bool {
        while sent < output.count {
            let count = sendSome()
            if count < 0 {
                if errno == EAGAIN { return false }
                throw .lost(ClientError.text(errno))
            }
            sent += count
        }
        forgetOutput()
        return true
    }

    /// Waits for the next line and passes it to `body`.
    /// - Parameters:
    ///   - timeout: seconds; nil waits without limit.
    ///   - interrupt: a descriptor that ends the wait when it is readable.
    /// - Returns: nil after the timeout or an interrupt.
    /// - Throws: `lost` if the daemon has closed the connection.
    func receive<R>(
        timeout: Double?, interrupt: Int32?, _ body: (UnsafeBufferPointer<UInt8>) throws(ClientError) -> R
    ) throws(ClientError) -> R? {
        let deadline = timeout.map { MonotonicTime.now + $0 }
        while true {
            if let result = try input.withNextLine(body) { return result }
            if isAtEnd { throw .lost("agd closed it") }
            if deadline == nil, interrupt == nil {
                try fill(waiting: true)
            } else {
                let left = deadline.map { max(0, $0 - MonotonicTime.now) }
                guard try wait(for: Int16(POLLIN), timeout: left, interrupt: interrupt) != 0 else { return nil }
                try fill(waiting: false)
            }
        }
    }

    private func fill(waiting: Bool) throws(ClientError) {
        let flags = waiting ? 0 : Int32(MSG_DONTWAIT)
        let count = input.fill { buffer, size in LineSocket.retrying { recv(descriptor, buffer, size, flags) } }
        if count == 0 {
            isAtEnd = true
        } else if count < 0, errno != EAGAIN {
            throw .lost(ClientError.text(errno))
        }
    }

    /// - Returns: the events of the socket; 0 after the timeout or if the interrupt is readable.
    func wait(for events: Int16, timeout: Double?, interrupt: Int32?) throws(ClientError) -> Int16 {
        var watched = [pollfd(fd: descriptor, events: events, revents: 0)]
        if let interrupt { watched.append(pollfd(fd: interrupt, events: Int16(POLLIN), revents: 0)) }
        guard Wakeup.wait(for: &watched, timeout) else { throw .system(call: "poll", errno: errno) }
        // The interrupt comes first, so that it is noticed even if the daemon sends without pause.
        if watched.count > 1, watched[1].revents != 0 { return 0 }
        let ready = watched[0].revents
        // The next read or write reports an error or hang-up.
        return ready & Int16(POLLERR | POLLHUP) != 0 ? ready | events : ready
    }
}

extension SocketLocation {
    /// The process that listens on the socket: the daemon, or systemd if it has opened the socket. The kernel tells it,
    /// also if the process does not answer.
    public var listener: Int32? { (try? LineSocket(to: self, timeout: 1))?.listener }
}
