import AttributeValues
import CLibuv

/// The bytes that wait to be written to one connection: runs of its own and runs that it shares with other queues.
///
/// Lifetime: a run that stands in the queue is not written to any more, except the last own one, which is set aside
/// before its bytes are handed to libuv. So the addresses that libuv holds stay good until the run is dropped.
public struct OutputQueue {
    /// Runs that are complete, oldest first; those before `head` are gone.
    private var runs: [ByteBuffer] = []
    private var head = 0
    /// Bytes of the run at `head` that have been written.
    private var offset = 0
    /// Where new messages are written.
    private var last = ByteBuffer()
    private var completeBytes = 0

    /// From this size on a message is shared instead of copied: a copy costs less than an entry of its own.
    public static let sharingThreshold = 4096
    /// Runs handed to the system in one call.
    private static let maximumRuns = 64
    /// An own run that has grown beyond this is not kept for reuse.
    private static let keptCapacity = 65_536

    public init() {}

    public var isEmpty: Bool { count == 0 }
    /// Bytes that libuv has not been given yet.
    public var count: Int { completeBytes - offset + last.count }

    /// Writes a message at the end.
    @inline(__always)
    public mutating func append(_ write: (ByteBuffer) -> Void) { write(last) }

    /// Puts a finished message at the end. It must not be written to again.
    public mutating func append(_ message: ByteBuffer) {
        if message.count < OutputQueue.sharingThreshold { return last.append(message) }
        setLastAside()
        runs.append(message)
        completeBytes += message.count
    }

    public mutating func removeAll() {
        runs = []
        head = 0
        offset = 0
        completeBytes = 0
        last = ByteBuffer()
    }

    private mutating func setLastAside() {
        guard !last.isEmpty else { return }
        runs.append(last)
        completeBytes += last.count
        last = ByteBuffer(capacity: min(last.count, OutputQueue.keptCapacity))
    }
}

extension OutputQueue {
    /// Hands the connection what it takes, without waiting; when it does not take all, libuv writes on, and
    /// `didWrite` is the time to flush again.
    ///
    /// - Returns: the bytes that the socket took at once.
    public mutating func flush(to connection: Connection) throws(LoopError) -> Int {
        if connection.isWriting { return 0 }
        var total = 0
        // The common case first: one message or a few, in one run, taken whole.
        if head == runs.count, !last.isEmpty {
            total = try OutputQueue.write([last], from: 0, to: connection)
            if total == last.count {
                last.count > OutputQueue.keptCapacity ? last = ByteBuffer() : last.removeAll()
                return total
            }
            setLastAside()
            offset = total
        }
        setLastAside()
        while head < runs.count {
            let end = min(runs.count, head + OutputQueue.maximumRuns)
            let slice = Array(runs[head..<end])
            let wanted = slice.reduce(-offset) { $0 + $1.count }
            let taken = try OutputQueue.write(slice, from: offset, to: connection)
            total += taken
            drop(taken)
            if taken < wanted {
                try handOver(to: connection)
                break
            }
        }
        return total
    }

    /// Gives libuv some runs to write in its own time.
    private mutating func handOver(to connection: Connection) throws(LoopError) {
        let end = min(runs.count, head + OutputQueue.maximumRuns)
        let owner = Runs(Array(runs[head..<end]))
        let from = offset
        let result = OutputQueue.withBuffers(of: owner.runs, from: from) { buffers -> LoopError? in
            do throws(LoopError) {
                try connection.write(buffers, keeping: owner)
                return nil
            } catch {
                return error
            }
        }
        if let result { throw result }
        drop(owner.runs.reduce(-from) { $0 + $1.count })
    }

    private mutating func drop(_ count: Int) {
        var rest = count
        while head < runs.count, rest >= runs[head].count - offset {
            rest -= runs[head].count - offset
            completeBytes -= runs[head].count
            head += 1
            offset = 0
        }
        offset += rest
        if head == runs.count {
            runs.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 64, head * 2 > runs.count {
            runs.removeFirst(head)
            head = 0
        }
    }

    private static func write(_ runs: [ByteBuffer], from offset: Int, to connection: Connection) throws(LoopError) -> Int {
        let result = withBuffers(of: runs, from: offset) { buffers -> Swift.Result<Int, LoopError> in
            do throws(LoopError) {
                return .success(try connection.tryWrite(buffers))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The bytes of some runs as libuv wants them; good inside `body`, and beyond it as long as the runs live unchanged.
    private static func withBuffers<R>(
        of runs: [ByteBuffer], from offset: Int, _ body: (UnsafeMutableBufferPointer<uv_buf_t>) -> R
    ) -> R {
        withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: runs.count) { buffers in
            for (place, run) in runs.enumerated() {
                run.withBytes { bytes in
                    let skipped = place == 0 ? offset : 0
                    let start = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0 + skipped) }
                    buffers.initializeElement(
                        at: place,
                        to: uv_buf_init(start?.assumingMemoryBound(to: CChar.self), UInt32(bytes.count - skipped)))
                }
            }
            return body(buffers)
        }
    }
}

/// Runs that libuv is writing.
private final class Runs {
    let runs: [ByteBuffer]
    init(_ runs: [ByteBuffer]) { self.runs = runs }
}
