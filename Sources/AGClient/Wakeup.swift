import AttributeValues
import Glibc

/// A pipe with which one thread ends another thread's wait. Its read end is readable from `signal` until `clear`.
public final class Wakeup: Sendable {
    /// The end to wait for.
    public let descriptor: Int32
    /// The end that `signal` writes to; a signal handler may write a byte to it as well.
    public let signalDescriptor: Int32

    /// - Throws: `system` if there are no descriptors left.
    public init() throws(ClientError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw .system(call: "pipe", errno: errno) }
        (descriptor, signalDescriptor) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(descriptor)
        close(signalDescriptor)
    }

    public func signal() {
        var byte: UInt8 = 1
        // This fails only if the pipe is full. Then it is readable anyway.
        _ = write(signalDescriptor, &byte, 1)
    }

    /// - Returns: the bytes that were written, at most 64.
    @discardableResult
    public func clear() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    /// True from a signal until `clear`.
    public var isSignalled: Bool { wait(0) }

    /// - Parameter seconds: nil waits without limit.
    /// - Returns: true if the signal came before the timeout.
    @discardableResult
    public func wait(_ seconds: Double? = nil) -> Bool { Wakeup.wait(for: descriptor, seconds) }

    /// - Parameter descriptor: the end to wait for; a negative one is never readable.
    @discardableResult
    package static func wait(for descriptor: Int32, _ seconds: Double?) -> Bool {
        var watched = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        return wait(for: &watched, seconds) && watched[0].revents != 0
    }

    /// Waits until a descriptor is ready or the time is over.
    /// - Returns: false if the system refuses it.
    static func wait(for watched: inout [pollfd], _ seconds: Double?) -> Bool {
        let end = seconds.map { MonotonicTime.now + $0 }
        while true {
            let left = end.map { MonotonicTime.milliseconds($0 - MonotonicTime.now) } ?? -1
            let count = poll(&watched, nfds_t(watched.count), left)
            if count > 0 { return true }
            if count < 0, errno != EINTR { return false }
            // The maximum wait of poll may be shorter than the time.
            if count == 0, let end, end <= MonotonicTime.now { return true }
        }
    }
}
