import Foundation
import TestSupport

/// An open file, closed when the object goes. Never handed down to programs but by `dup2`.
final class Descriptor {
    let number: Int32

    /// Takes the file over.
    init(_ number: Int32, _ call: String) throws {
        guard number >= 0 else { throw Trouble(call: call) }
        self.number = number
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(number) }

    /// Two ends of one connection.
    static func pair() throws -> (Descriptor, Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Trouble(call: "socketpair")
        }
        return (try Descriptor(ends[0], "socketpair"), try Descriptor(ends[1], "socketpair"))
    }

    /// Whether a read would not block: something has come, or the end.
    func isReadable(within seconds: Double) -> Bool { isReady(POLLIN, within: seconds) }

    func isWritable(within seconds: Double) -> Bool { isReady(POLLOUT, within: seconds) }

    private func isReady(_ events: Int32, within seconds: Double) -> Bool {
        let deadline = Deadline(seconds)
        while true {
            var wanted = pollfd(fd: number, events: Int16(events), revents: 0)
            let count = poll(&wanted, 1, deadline.milliseconds)
            if count > 0 { return true }
            if count == 0 { return false }
            if errno != EINTR { return false }
        }
    }
}

/// A moment after which waiting is given up.
struct Deadline {
    /// Long enough for a debug build on a busy machine, short enough that a hanging daemon is told as such.
    static let patience = 60.0

    private let end: UInt64

    init(_ seconds: Double) { end = DispatchTime.now().uptimeNanoseconds + UInt64(seconds * 1e9) }

    var seconds: Double {
        let now = DispatchTime.now().uptimeNanoseconds
        return now >= end ? 0 : Double(end - now) / 1e9
    }

    var milliseconds: Int32 { Int32(min(seconds * 1000, 1e9).rounded(.up)) }
    var isOver: Bool { seconds == 0 }
}

/// The project's own files.
enum Project {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    static func file(_ name: String) -> String { root + "/" + name }
    static func text(_ name: String) throws -> String { try String(contentsOfFile: file(name), encoding: .utf8) }
}
