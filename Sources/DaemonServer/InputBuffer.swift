import AttributeValues
import Glibc

/// Bytes from one client that have not been processed yet, split into lines.
///
/// Lifetime: the memory that `freeMemory` and `takeLine` return is valid until the next call of `freeMemory`,
/// `dropIncomplete` or `release`. At least `JSONParser.padding` readable bytes follow the last byte, so that a line can
/// be parsed in place.
struct InputBuffer {
    private let pool: InputPool
    /// The user who sends the bytes.
    private let user: UInt32
    private var block: InputBlock?
    /// Bytes before `start` have been taken; those from `end` on are free.
    private var start = 0
    private var end = 0
    /// The position after the last newline; at most `start` if there is none.
    private var completeEnd = 0
    /// The present line is unwanted: its bytes are dropped up to the next newline.
    private(set) var isDiscarding = false

    init(pool: InputPool, user: UInt32) { (self.pool, self.user) = (pool, user) }

    var count: Int { end - start }
    var hasLine: Bool { completeEnd > start }
    /// The number of bytes of the incomplete line.
    var incompleteCount: Int { end - max(start, completeEnd) }

    /// The number of bytes that `freeMemory` would move.
    var bytesToMove: Int { hasFreeMemory ? 0 : count }

    private var hasFreeMemory: Bool { block.map { $0.capacity - end >= InputBlock.smallest / 4 } ?? true }

    /// Memory for the next bytes: at least a quarter of the smallest block.
    mutating func freeMemory() -> UnsafeMutableRawBufferPointer {
        let block = self.block ?? pool.take(capacity: InputBlock.smallest)
        self.block = block
        if hasFreeMemory { return block.free(from: end) }
        // Move the contents to the front, and into a block of twice the size if they fill this one.
        memmove(block.base, block.base + start, count)
        completeEnd = max(0, completeEnd - start)
        end -= start
        start = 0
        if count * 2 > block.capacity { pool.grow(block, to: count * 2, of: user) }
        return block.free(from: end)
    }

    /// Adds bytes that have been written to the memory from `freeMemory`, except those of an unwanted line.
    mutating func didFill(_ count: Int) {
        guard let block else { preconditionFailure("nothing was handed out") }
        if isDiscarding {
            guard let newline = memchr(block.base + end, 0x0a, count) else { return }
            isDiscarding = false
            let rest = end + count - block.offset(of: newline) - 1
            memmove(block.base + end, newline + 1, rest)
            return didFill(rest)
        }
        precondition(end + count <= block.capacity)
        // First forward, which is fast and finds nothing in the middle of a long message; then backward from the end.
        if count > 0, memchr(block.base + end, 0x0a, count) != nil {
            var last = end + count - 1
            while block.base[last] != 0x0a { last -= 1 }
            completeEnd = last + 1
        }
        end += count
    }

    /// The oldest complete line, without its newline.
    mutating func takeLine() -> UnsafeBufferPointer<UInt8>? {
        guard hasLine, let block, let newline = memchr(block.base + start, 0x0a, end - start) else { return nil }
        let line = UnsafeBufferPointer(start: block.base + start, count: block.offset(of: newline) - start)
        start = block.offset(of: newline) + 1
        return line
    }

    mutating func dropIncomplete() {
        end = max(start, completeEnd)
        releaseIfEmpty()
    }

    /// Drops the incomplete line, also what is still to come of it.
    mutating func discardLine() {
        dropIncomplete()
        isDiscarding = true
    }

    /// Releases the memory if there is nothing to process.
    mutating func releaseIfEmpty() {
        if count == 0 { release() }
    }

    mutating func release() {
        guard let block else { return }
        pool.give(block, of: user)
        self.block = nil
        (start, end, completeEnd) = (0, 0, 0)
    }
}

/// Memory for input.
///
/// Lifetime: `base` changes when the block grows.
final class InputBlock {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var capacity: Int

    static let smallest = 65_536

    init(capacity: Int) {
        self.capacity = capacity
        base = InputBlock.resize(nil, to: capacity)
    }

    deinit { Glibc.free(base) }

    /// Keeps the contents. The kernel moves the pages of a block without copying them if it is larger than the
    /// allocator's threshold, which grows with the blocks that it has freed.
    func grow(to capacity: Int) {
        self.capacity = capacity
        base = InputBlock.resize(base, to: capacity)
    }

    private static func resize(_ base: UnsafeMutablePointer<UInt8>?, to capacity: Int) -> UnsafeMutablePointer<UInt8> {
        let size = capacity + JSONParser.padding
        guard let memory = realloc(base, size) else { preconditionFailure("out of memory") }
        memset(memory + capacity, 0, JSONParser.padding)
        return memory.bindMemory(to: UInt8.self, capacity: size)
    }

    func free(from end: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end)
    }

    func offset(of pointer: UnsafeMutableRawPointer) -> Int { pointer - UnsafeMutableRawPointer(base) }
}

/// Blocks for all clients. Counts the bytes in use, and retains a few small blocks for the next turn.
final class InputPool {
    private var spare: [InputBlock] = []
    private static let kept = 8
    /// Bytes of the blocks in use. Only what large blocks have more than the smallest counts for their users: each
    /// client can have a small one.
    private var shares = Shares<UInt32>()

    var total: Int { shares.used }

    /// True if the large messages of this user fit the user's share.
    func verdict(on user: UInt32, _ standing: Standing, of limit: Int) -> Standing.Verdict {
        shares.verdict(on: 0, for: user, standing, of: limit)
    }

    func take(capacity: Int) -> InputBlock {
        shares.add(capacity)
        if capacity == InputBlock.smallest, let block = spare.popLast() { return block }
        return InputBlock(capacity: capacity)
    }

    func grow(_ block: InputBlock, to capacity: Int, of user: UInt32) {
        shares.add(capacity - block.capacity, for: user)
        block.grow(to: capacity)
    }

    func give(_ block: InputBlock, of user: UInt32) {
        let more = block.capacity - InputBlock.smallest
        if more > 0 { shares.share(-more, with: user) }
        shares.add(-block.capacity)
        if block.capacity == InputBlock.smallest, spare.count < InputPool.kept { spare.append(block) }
    }
}
