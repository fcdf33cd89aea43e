import AttributeValues
import Glibc

/// Bytes of one client that came in and have not been read yet, cut into lines.
///
/// Lifetime: what `room` and `takeLine` hand out is good until the next call of `room`, `dropIncomplete` or `release`.
/// `JSONParser.padding` readable bytes always stand behind the last one, so that a line can be parsed in place.
struct InputBuffer {
    private let pool: InputPool
    private var block: InputBlock?
    /// Bytes before `start` are taken, those from `end` on are free.
    private var start = 0
    private var end = 0
    /// Just behind the last newline; not beyond `start` when there is none.
    private var completeEnd = 0

    init(pool: InputPool) { self.pool = pool }

    var count: Int { end - start }
    var hasLine: Bool { completeEnd > start }
    /// Bytes of the line whose end has not come yet.
    var incompleteCount: Int { end - max(start, completeEnd) }

    /// Where the next bytes go: a quarter of the smallest block at least.
    mutating func room() -> UnsafeMutableRawBufferPointer {
        let block = self.block ?? pool.take(capacity: InputBlock.smallest)
        self.block = block
        if block.capacity - end >= InputBlock.smallest / 4 { return block.free(from: end) }
        // Room is made by moving what is held to the front, and in a block of twice the size when it fills this one.
        memmove(block.base, block.base + start, count)
        completeEnd = max(0, completeEnd - start)
        end -= start
        start = 0
        if count * 2 > block.capacity { pool.grow(block, to: count * 2) }
        return block.free(from: end)
    }

    /// So many bytes now stand in the room handed out last.
    mutating func didFill(_ count: Int) {
        guard let block else { preconditionFailure("nothing was handed out") }
        precondition(end + count <= block.capacity)
        // Forward first, which is fast and finds nothing in the midst of a long message; then back from the end.
        if count > 0, memchr(block.base + end, 0x0a, count) != nil {
            var last = end + count - 1
            while block.base[last] != 0x0a { last -= 1 }
            completeEnd = last + 1
        }
        end += count
    }

    /// So many bytes now stand in the room handed out last; they end a line that is not wanted.
    /// - Returns: whether its end was among them. Only what stands behind it is kept.
    mutating func didFillUnwanted(_ count: Int) -> Bool {
        guard let block else { preconditionFailure("nothing was handed out") }
        guard let newline = memchr(block.base + end, 0x0a, count) else { return false }
        let rest = end + count - block.offset(of: newline) - 1
        memmove(block.base + end, newline + 1, rest)
        didFill(rest)
        return true
    }

    /// The oldest complete line, without its newline.
    mutating func takeLine() -> UnsafeBufferPointer<UInt8>? {
        guard hasLine, let block, let newline = memchr(block.base + start, 0x0a, end - start) else { return nil }
        let line = UnsafeBufferPointer(start: block.base + start, count: block.offset(of: newline) - start)
        start = block.offset(of: newline) + 1
        return line
    }

    /// Forgets the line whose end has not come yet.
    mutating func dropIncomplete() {
        end = max(start, completeEnd)
        releaseIfEmpty()
    }

    /// A client with nothing to read holds no memory.
    mutating func releaseIfEmpty() {
        if count == 0 { release() }
    }

    mutating func release() {
        if let block { pool.give(block) }
        self = InputBuffer(pool: pool)
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

    /// Keeps what stands in the block. The kernel moves the pages of a large one without copying them.
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

/// Blocks for all clients: counts what is in use, and keeps a few small ones for the next turn.
final class InputPool {
    private var spare: [InputBlock] = []
    private static let kept = 8
    /// Bytes of the blocks in use.
    private(set) var total = 0

    func take(capacity: Int) -> InputBlock {
        total += capacity
        if capacity == InputBlock.smallest, let block = spare.popLast() { return block }
        return InputBlock(capacity: capacity)
    }

    func grow(_ block: InputBlock, to capacity: Int) {
        total += capacity - block.capacity
        block.grow(to: capacity)
    }

    func give(_ block: InputBlock) {
        total -= block.capacity
        if block.capacity == InputBlock.smallest, spare.count < InputPool.kept { spare.append(block) }
    }
}
