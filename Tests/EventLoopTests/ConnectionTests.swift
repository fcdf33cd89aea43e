import AttributeValues
import EventLoop
import Glibc
import TestSupport
import Testing

@Suite("Connections")
struct ConnectionTests {
    private let loop: Loop
    private let pair: SocketPair
    private let connection: Connection
    private let recorder = Recorder()

    init() throws {
        loop = try Loop()
        pair = try SocketPair()
        connection = try Connection(loop, descriptor: pair.descriptor)
        connection.delegate = recorder
    }

    private func finish() {
        connection.close()
        pair.close()
        loop.run()
    }

    @Test("bytes arrive in order, and the end behind them") func reading() {
        connection.startReading()
        #expect(pair.send(Array("hello".utf8)) == 5)
        #expect(loop.run { recorder.received == Array("hello".utf8) })
        #expect(pair.send(Array(" again".utf8)) == 6)
        pair.endSending()
        #expect(loop.run { recorder.hasEnded })
        #expect(recorder.received == Array("hello again".utf8))
        #expect(recorder.readError == nil)
        finish()
        #expect(recorder.isClosed)
    }

    @Test("a connection that does not read leaves the bytes to the kernel") func pausing() {
        connection.startReading()
        connection.stopReading()
        #expect(pair.send([1, 2, 3]) == 3)
        for _ in 0..<10 { loop.runOnce() }
        #expect(recorder.received.isEmpty)
        connection.startReading()
        #expect(loop.run { recorder.received == [1, 2, 3] })
        finish()
    }

    @Test("the peer is known by the kernel's word") func peer() throws {
        let peer = try connection.peerCredentials()
        #expect(peer == (getpid(), getuid(), getgid()))
        finish()
    }

    @Test("the peer's supplementary groups are those of its process") func peerGroups() throws {
        let count = getgroups(0, nil)
        var groups = [gid_t](repeating: 0, count: Int(max(0, count)))
        getgroups(count, &groups)
        #expect(Set(try connection.peerGroups()) == Set(groups))
        finish()
    }

    @Test("a peer that ended its side has not hung up; one that closed has") func hangUp() {
        #expect(!connection.hasHungUp)
        pair.endSending()
        #expect(!connection.hasHungUp)
        pair.close()
        #expect(connection.hasHungUp)
        connection.close()
        loop.run()
    }

    @Test("writing to a peer that is gone is an error, not a signal") func brokenPipe() throws {
        pair.close()
        var queue = OutputQueue()
        queue.append { $0.append("x") }
        let error = #expect(throws: LoopError.self) { try queue.flush(to: connection) }
        #expect(error?.name == "EPIPE")
        #expect(error?.description.contains("write") == true)
        connection.close()
        loop.run()
    }

    @Test("closing twice, and from its own callback, is closing once") func closing() {
        recorder.onWrite = { connection.close() }
        connection.close()
        connection.close()
        loop.run()
        #expect(recorder.isClosed)
        #expect(connection.descriptor == -1)
        pair.close()
    }
}

@Suite("Output queues")
struct OutputQueueTests {
    @Test("a short message leaves at once and the queue is empty") func short() throws {
        let loop = try Loop()
        let pair = try SocketPair()
        let connection = try Connection(loop, descriptor: pair.descriptor)
        var queue = OutputQueue()
        queue.append { $0.append("ping\n") }
        #expect(queue.count == 5)
        #expect(try queue.flush(to: connection) == 5)
        #expect(queue.isEmpty && !connection.isWriting)
        #expect(pair.receive() == Array("ping\n".utf8))
        connection.close()
        pair.close()
        loop.run()
    }

    @Test("whatever the peer takes at a time, it gets every byte once and in order", arguments: freshSeeds(5))
    func partialWrites(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let loop = try Loop()
        let pair = try SocketPair()
        let connection = try Connection(loop, descriptor: pair.descriptor)
        let recorder = Recorder()
        connection.delegate = recorder
        var size: Int32 = 4096
        setsockopt(pair.descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))

        var queue = OutputQueue()
        var sent: [UInt8] = []
        var received: [UInt8] = []
        let shared = ByteBuffer()
        for place in 0..<20_000 { shared.append(UInt8(truncatingIfNeeded: place &* 7)) }
        func flush() throws { _ = try queue.flush(to: connection) }
        for _ in 0..<200 {
            switch random.below(5) {
            case 0 where queue.isEmpty && !connection.isWriting:
                _ = try queue.write(shared, to: connection)
                shared.withBytes { sent += $0 }
            case 0, 3:
                queue.append(shared)
                shared.withBytes { sent += $0 }
            case 1, 2:
                let bytes = (0..<random.below(3000)).map { _ in UInt8(truncatingIfNeeded: random.below(256)) }
                queue.append { own in bytes.withUnsafeBufferPointer { own.append($0) } }
                sent += bytes
            default: received += pair.receive(random.below(30_000) + 1)
            }
            if random.below(3) == 0 { try flush() }
            loop.runOnce()
        }
        for _ in 0..<100_000 where received.count < sent.count {
            try flush()
            received += pair.receive()
            loop.runOnce()
        }
        #expect(received == sent, "seed \(seed)")
        #expect(queue.isEmpty)
        #expect(recorder.writeError == nil)
        connection.close()
        pair.close()
        loop.run()
    }

    @Test("closing in mid-write drops the rest and leaves nothing behind") func closingInMidWrite() throws {
        let loop = try Loop()
        let pair = try SocketPair()
        weak var message: ByteBuffer?
        do {
            let connection = try Connection(loop, descriptor: pair.descriptor)
            connection.delegate = Recorder()
            let large = ByteBuffer()
            for _ in 0..<1_000_000 { large.append("0123456789") }
            message = large
            var queue = OutputQueue()
            queue.append(large)
            _ = try queue.flush(to: connection)
            #expect(connection.isWriting)
            #expect(connection.pendingBytes > 0)
            connection.close()
        }
        loop.run()
        #expect(message == nil)
        pair.close()
    }
}
