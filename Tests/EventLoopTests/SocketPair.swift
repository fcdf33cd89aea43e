import EventLoop
import Glibc

/// Two connected sockets: one for a `Connection`, one for the test, which never blocks.
struct SocketPair {
    let descriptor: Int32
    let peer: Int32

    init() throws {
        var pair: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
            throw LoopError(call: "socketpair", number: errno)
        }
        (descriptor, peer) = (pair[0], pair[1])
        _ = fcntl(peer, F_SETFL, O_NONBLOCK)
    }

    func send(_ bytes: [UInt8]) -> Int { Glibc.send(peer, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// What is there; empty also at the end.
    func receive(_ most: Int = 1 << 20) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: most)
        let count = recv(peer, &buffer, most, 0)
        return Array(buffer.prefix(max(0, count)))
    }

    func endSending() { shutdown(peer, Int32(SHUT_WR)) }
    func close() { Glibc.close(peer) }
}

/// Remembers what a connection tells.
final class Recorder: ConnectionDelegate {
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    var received: [UInt8] = []
    var hasEnded = false
    var readError: LoopError?
    var writes = 0
    var writeError: LoopError?
    var isClosed = false
    var onWrite: (() -> Void)?

    deinit { memory.deallocate() }

    func connectionNeedsMemory(_ connection: Connection) -> UnsafeMutableRawBufferPointer { memory }
    func connection(_ connection: Connection, didRead count: Int) { received += memory[..<count] }
    func connection(_ connection: Connection, didEndReading error: LoopError?) {
        hasEnded = true
        readError = error
    }
    func connection(_ connection: Connection, didWrite error: LoopError?) {
        writes += 1
        writeError = error
        onWrite?()
    }
    func connectionDidClose(_ connection: Connection) { isClosed = true }
}

extension Loop {
    /// Runs what is due until the condition holds; false when a thousand iterations did not bring it.
    func run(until condition: () -> Bool) -> Bool {
        for _ in 0..<1000 {
            if condition() { return true }
            runOnce()
        }
        return condition()
    }
}
