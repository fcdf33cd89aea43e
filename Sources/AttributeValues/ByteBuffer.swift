/// A growing sequence of output bytes. It is a class, so that a message can be written once and shared by all its
/// readers. Its memory lives as long as the buffer, and pointers to it never leave a closure.
public final class ByteBuffer {
    @usableFromInline var base: UnsafeMutablePointer<UInt8>
    /// Allocated bytes.
    public private(set) var capacity: Int

    @usableFromInline var end = 0

    @inlinable public var count: Int { end }

    public init(capacity: Int = 256) {
        self.capacity = max(capacity, 16)
        base = .allocate(capacity: self.capacity)
    }

    deinit { base.deallocate() }

    @inlinable public var isEmpty: Bool { end == 0 }

    public func removeAll() { end = 0 }

    @usableFromInline @inline(never)
    func grow(to needed: Int) {
        capacity = max(needed, capacity * 2)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: base, count: end)
        base.deallocate()
        base = larger
    }

    @inlinable
    public func reserve(_ more: Int) {
        if end + more > capacity { grow(to: end + more) }
    }

    @inlinable
    public func append(_ byte: UInt8) {
        if end == capacity { grow(to: end + 1) }
        base[end] = byte
        end += 1
    }

    @inlinable
    public func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        (base + end).update(from: start, count: bytes.count)
        end += bytes.count
    }

    /// The length of a literal is known to the compiler, which writes it without a loop.
    @inlinable @inline(__always)
    public func append(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        reserve(length)
        UnsafeMutableRawPointer(base + end).copyMemory(from: text.utf8Start, byteCount: length)
        end += length
    }

    public func append(text: String) {
        if text.isSmall {
            let words = text.words
            reserve(16)
            let start = UnsafeMutableRawPointer(base + end)
            start.storeBytes(of: words.0.littleEndian, as: UInt64.self)
            start.storeBytes(of: words.1.littleEndian, toByteOffset: 8, as: UInt64.self)
            end += Int(words.1 >> 56 & 15)
            return
        }
        var text = text
        text.withUTF8 { append($0) }
    }

    public func append(_ other: ByteBuffer) { other.withBytes { append($0) } }

    /// Appends messages that begin with the same bytes and a number.
    /// - Parameters:
    ///   - tails: what follows the number in each of them, one behind the other.
    ///   - ends: where in `tails` that of each message ends; not empty.
    public func append(_ head: ByteBuffer, _ number: Int64, _ tails: ByteBuffer, endingAt ends: [Int]) {
        reserve((head.end + ByteBuffer.numberLength) * ends.count + tails.end)
        let start = end
        (base + end).update(from: head.base, count: head.end)
        end += head.end
        append(number)
        let length = end - start
        var from = 0
        for position in ends.indices {
            if position > 0 {
                (base + end).update(from: base + start, count: length)
                end += length
            }
            (base + end).update(from: tails.base + from, count: ends[position] - from)
            end += ends[position] - from
            from = ends[position]
        }
    }

    /// Makes the buffer consist of messages, as `append` appends them. `head` has at least eight bytes.
    ///
    /// The buffer must be empty, or consist of the same messages with any number. If that has as many digits, only the
    /// digits are replaced.
    public func fill(_ head: ByteBuffer, _ number: Int64, _ tails: ByteBuffer, endingAt ends: [Int]) {
        let value = UInt64(truncatingIfNeeded: number)
        let digits = ByteBuffer.digits(value)
        let zeros = (digits | 1 << 56).trailingZeroBitCount & ~7
        let length = head.end + 8 - zeros / 8
        guard end == length * ends.count + tails.end, value < 100_000_000 else {
            removeAll()
            return append(head, number, tails, endingAt: ends)
        }
        // The eight bytes up to the end of the number begin with the end of the head.
        var target = UnsafeMutableRawPointer(base + length - 8)
        let kept: UInt64 = 1 &<< UInt64(zeros) &- 1
        let before = UInt64(littleEndian: target.loadUnaligned(as: UInt64.self))
        let word = (before & kept | (digits | ByteBuffer.zeros) & ~kept).littleEndian
        var from = 0
        for message in ends.indices {
            target.storeBytes(of: word, as: UInt64.self)
            target += length + ends[message] - from
            from = ends[message]
        }
    }

    /// Bytes that writing an integer needs.
    private static let numberLength = 25

    /// Appends the bytes that `body` appends, preceded by their number (four bytes, little-endian).
    public func appendWithLength(_ body: () -> Void) {
        append(littleEndian: UInt32(0))
        let start = end
        body()
        let length = UInt32(truncatingIfNeeded: end - start)
        UnsafeMutableRawPointer(base + start - 4).storeBytes(of: length.littleEndian, as: UInt32.self)
    }

    @inlinable
    public func append(littleEndian number: some FixedWidthInteger) {
        reserve(number.bitWidth / 8)
        UnsafeMutableRawPointer(base + end).storeBytes(of: number.littleEndian, as: type(of: number))
        end += number.bitWidth / 8
    }

    public func append(_ number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(number.magnitude)
    }

    public func append(_ number: UInt64) {
        reserve(ByteBuffer.numberLength)
        let (high, low) = number.quotientAndRemainder(dividingBy: 100_000_000)
        if high == 0 { return appendDigits(low) }
        if high < 100_000_000 {
            appendDigits(high)
        } else {
            appendDigits(high / 100_000_000)
            appendAllDigits(high % 100_000_000)
        }
        appendAllDigits(low)
    }

    /// Appends a number of at most eight digits. There must be capacity for eight bytes.
    func appendDigits(_ number: UInt64) {
        let digits = ByteBuffer.digits(number)
        // The last digit is written even if it is a zero.
        let zeros = (digits | 1 << 56).trailingZeroBitCount / 8
        UnsafeMutableRawPointer(base + end).storeBytes(
            of: (digits >> UInt64(8 * zeros) | ByteBuffer.zeros).littleEndian, as: UInt64.self)
        end += 8 - zeros
    }

    /// The same with leading zeros.
    private func appendAllDigits(_ number: UInt64) {
        UnsafeMutableRawPointer(base + end).storeBytes(
            of: (ByteBuffer.digits(number) | ByteBuffer.zeros).littleEndian, as: UInt64.self)
        end += 8
    }

    package static let zeros: UInt64 = 0x3030_3030_3030_3030

    /// The eight digits of a number, the first one in the lowest byte. Each step halves all parts at once: by 10,000,
    /// by 100, by 10. The factors are the reciprocals, rounded up, and exact in the range of their parts.
    @inlinable
    package static func digits(_ number: UInt64) -> UInt64 {
        let (high, low) = number.quotientAndRemainder(dividingBy: 10_000)
        let fours = high | low << 32
        let hundreds = (fours &* 5243) >> 19 & 0x0000_007f_0000_007f
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (twos &* 103) >> 10 & 0x000f_000f_000f_000f
        return tens | (twos &- tens &* 10) << 8
    }

    /// The bytes are valid only inside `body`.
    public func withBytes<R, Fault: Error>(_ body: (UnsafeBufferPointer<UInt8>) throws(Fault) -> R) throws(Fault) -> R {
        try body(UnsafeBufferPointer(start: base, count: count))
    }

    public var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }
}
