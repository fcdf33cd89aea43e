/// A growing sequence of output bytes. It is a class, so that a message can be written once and shared by all its
/// readers. Its memory lives as long as the buffer, and pointers to it never leave a closure.
public final class ByteBuffer {
    @usableFromInline private(set) var base: UnsafeMutablePointer<UInt8>
    /// Allocated bytes.
    public private(set) var capacity: Int
    public private(set) var count = 0

    public init(capacity: Int = 256) {
        self.capacity = max(capacity, 16)
        base = .allocate(capacity: self.capacity)
    }

    deinit { base.deallocate() }

    public var isEmpty: Bool { count == 0 }

    public func removeAll() { count = 0 }

    private func grow(to needed: Int) {
        capacity = max(needed, capacity * 2)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
    }

    public func reserve(_ more: Int) {
        if count + more > capacity { grow(to: count + more) }
    }

    public func append(_ byte: UInt8) {
        if count == capacity { grow(to: count + 1) }
        base[count] = byte
        count += 1
    }

    public func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        (base + count).update(from: start, count: bytes.count)
        count += bytes.count
    }

    public func append(_ text: StaticString) {
        text.withUTF8Buffer { append($0) }
    }

    public func append(text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    public func append(_ other: ByteBuffer) {
        other.withBytes { append($0) }
    }

    /// Appends the length of what `body` appends, little-endian in four bytes, and then that.
    public func appendWithLength(_ body: () -> Void) {
        let place = count
        for _ in 0..<4 { append(UInt8(0)) }
        body()
        let length = UInt32(truncatingIfNeeded: count - place - 4)
        for byte in 0..<4 { base[place + byte] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(byte))) }
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
        var at = count + digits
        repeat {
            at -= 1
            base[at] = 48 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while at > count
        count += digits
    }

    /// The bytes are valid only inside `body`.
    public func withBytes<R, Fault: Error>(_ body: (UnsafeBufferPointer<UInt8>) throws(Fault) -> R) throws(Fault) -> R {
        try body(UnsafeBufferPointer(start: base, count: count))
    }

    public var text: String {
        withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
