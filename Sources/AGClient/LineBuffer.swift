import AttributeValues
import Glibc

/// Bytes that have arrived from a socket, and the lines in them.
///
/// Lifetime: the memory belongs to the buffer. The bytes that `withNextLine` passes to its closure, and
/// `JSONParser.padding` readable bytes after them, are valid only inside the closure.
final class LineBuffer {
    /// Large, because a dump of a large graph is one line.
    static let defaultLimit = 256 << 20
    private static let readSize = 64 << 10
    /// Capacity that an empty buffer retains.
    private static let keptCapacity = 1 << 20

    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// Unread bytes are `start..<end`. `start..<scanned` contains no newline.
    private var start = 0
    private var end = 0
    private var scanned = 0
    let limit: Int

    init(limit: Int = LineBuffer.defaultLimit) {
        self.limit = limit
        capacity = LineBuffer.readSize
        base = .allocate(capacity: capacity)
        base.initialize(repeating: 0, count: capacity)
    }

    deinit { base.deallocate() }

    var isEmpty: Bool { start == end }

    /// Calls `read` with free space. A positive result is the number of bytes read.
    func fill(_ read: (UnsafeMutableRawPointer, Int) -> Int) -> Int {
        makeSpace()
        let count = read(base + end, capacity - end - JSONParser.padding)
        if count > 0 { end += count }
        return count
    }

    private func makeSpace() {
        if start == end { (start, end, scanned) = (0, 0, 0) }
        if start == 0, end == 0, capacity > LineBuffer.keptCapacity { return resize(to: LineBuffer.readSize) }
        let wanted = LineBuffer.readSize / 2 + JSONParser.padding
        guard capacity - end < wanted else { return }
        if start > capacity / 2 || capacity - (end - start) >= wanted && start > 0 {
            base.update(from: base + start, count: end - start)
            (start, end, scanned) = (0, end - start, scanned - start)
        }
        if capacity - end < wanted { resize(to: capacity * 2) }
    }

    private func resize(to size: Int) {
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
        moved.initialize(repeating: 0, count: size)
        moved.update(from: base + start, count: end - start)
        base.deallocate()
        base = moved
        capacity = size
        (start, end, scanned) = (0, end - start, scanned - start)
    }

    /// Passes the next complete line, without its newline, to `body`. Returns nil if there is none yet.
    /// - Throws: `limit` if the incomplete line is longer than the limit.
    func withNextLine<R>(_ body: (UnsafeBufferPointer<UInt8>) throws(ClientError) -> R) throws(ClientError) -> R? {
        guard let found = memchr(base + scanned, 0x0a, end - scanned) else {
            scanned = end
            guard end - start <= limit else { throw .limit("a line of more than \(limit) bytes came from the daemon") }
            return nil
        }
        let line = start
        let length = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - UnsafePointer(base) - line
        start = line + length + 1
        scanned = start
        return try body(UnsafeBufferPointer(start: base + line, count: length))
    }
}
