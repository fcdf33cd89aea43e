/// A growing sequence of output bytes. It is a class, so that a message can be written once and shared by all its
/// readers. Its memory lives as long as the buffer, and pointers to it never leave a closure.
public final class ByteBuffer {
    @usableFromInline var base: UnsafeMutablePointer<UInt8>
    /// Allocated bytes.
    @usableFromInline var room: Int

    @inlinable public var capacity: Int { room }

    @usableFromInline var end = 0

    @inlinable public var count: Int { end }

    public init(capacity: Int = 256) {
        room = max(capacity, 16)
        base = .allocate(capacity: room)
    }

    deinit { base.deallocate() }

    @inlinable public var isEmpty: Bool { end == 0 }

    public func removeAll() { end = 0 }

    @usableFromInline @inline(never)
    func grow(to needed: Int) {
        room = max(needed, room * 2)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: room)
        larger.update(from: base, count: end)
        base.deallocate()
        base = larger
    }

    @inlinable
    public func reserve(_ more: Int) {
        if end + more > room { grow(to: end + more) }
    }

    @inlinable
    public func append(_ byte: UInt8) {
        if end == room { grow(to: end + 1) }
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

    @inlinable @inline(__always)
    public func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
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

    public func append(_ other: ByteBuffer) {
        other.withBytes { append($0) }
    }

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
        reserve(20)
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20, number >= bound {
            digits += 1
            if digits < 20 { bound *= 10 }
        }
        var rest = number
        var at = end + digits
        repeat {
            at -= 1
            base[at] = 48 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while at > end
        end += digits
    }

    /// The bytes are valid only inside `body`.
    public func withBytes<R, Fault: Error>(_ body: (UnsafeBufferPointer<UInt8>) throws(Fault) -> R) throws(Fault) -> R {
        try body(UnsafeBufferPointer(start: base, count: count))
    }

    public var text: String {
        withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
