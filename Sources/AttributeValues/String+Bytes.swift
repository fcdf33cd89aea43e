import Glibc

// Strings of up to 15 UTF-8 bytes are stored in the string's own two words: byte 0 is lowest, unused bytes are zero,
// and the highest byte is 0xE0 (ASCII) or 0xA0 plus the count. The following functions use this form directly, because
// the general functions cost several times as much. `StringBytesTests` checks that the standard library uses this form.

extension String {
    @inlinable @inline(__always) var words: (UInt64, UInt64) { unsafeBitCast(self, to: (UInt64, UInt64).self) }

    /// A bit of the second word: the string is stored in its words.
    @inlinable static var smallFlag: UInt64 { 1 << 61 }

    /// True if the string is stored in its words, without a reference.
    @inlinable public var isSmall: Bool { @inline(__always) get { words.1 & String.smallFlag != 0 } }

    /// Equality of the UTF-8 bytes. (`==` would also be true for canonically equivalent strings.)
    @inlinable
    public func hasSameBytes(as other: String) -> Bool {
        let (a, b) = (words, other.words)
        if a == b { return true }
        if a.1 & b.1 & String.smallFlag != 0 { return false }
        return hasSameBytesAtLength(as: other)
    }

    @usableFromInline
    func hasSameBytesAtLength(as other: String) -> Bool {
        var (a, b) = (self, other)
        return a.withUTF8 { a in b.withUTF8 { a.hasSameBytes(as: $0) } }
    }

    /// True if the UTF-8 bytes contain those of another string. (`contains` looks for whole characters, at 340
    /// instructions a byte.)
    public func containsBytes(of other: String) -> Bool {
        var (whole, part) = (self, other)
        return whole.withUTF8 { whole in
            part.withUTF8 { part in
                guard let first = part.first else { return true }
                var rest = whole[...]
                while let position = rest.firstIndex(of: first) {
                    if rest[position...].starts(with: part) { return true }
                    rest = rest[(position + 1)...]
                }
                return false
            }
        }
    }

    /// Order of the UTF-8 bytes, which is the order of the Unicode scalars.
    @inlinable
    public func precedesByBytes(_ other: String) -> Bool {
        let (x, y) = (words, other.words)
        guard x.1 & y.1 & String.smallFlag != 0 else { return precedesInMemory(other) }
        if x.0 != y.0 { return x.0.byteSwapped < y.0.byteSwapped }
        // The count, the last byte then, decides only between zeros and nothing.
        return (x.1 & ~(0xf0 << 56)).byteSwapped < (y.1 & ~(0xf0 << 56)).byteSwapped
    }

    @usableFromInline
    func precedesInMemory(_ other: String) -> Bool {
        var a = self
        var b = other
        return a.withUTF8 { x in
            b.withUTF8 { y in
                guard let first = x.baseAddress, let second = y.baseAddress else { return x.count < y.count }
                let order = memcmp(first, second, min(x.count, y.count))
                return order == 0 ? x.count < y.count : order < 0
            }
        }
    }

    /// The concatenation of this string and another one.
    @inlinable
    public func joined(to other: String) -> String {
        let (a, b) = (words, other.words)
        let count = Int(a.1 >> 56 & 15)
        let more = Int(b.1 >> 56 & 15)
        guard a.1 & b.1 & String.smallFlag != 0, count + more <= 15 else { return self + other }
        let (low, high) = (b.0, b.1 & 0x00ff_ffff_ffff_ffff)
        let bits = UInt64(count * 8)
        var joined = (a.0, a.1 & 0x00ff_ffff_ffff_ffff)
        if count < 8 {
            joined.0 |= low << bits
            joined.1 |= high << bits | (count == 0 ? 0 : low >> (64 - bits))
        } else {
            joined.1 |= low << (bits - 64)
        }
        // Bit 62 stays set if both are ASCII.
        joined.1 |= (a.1 & b.1 & 0xf0 << 56) | UInt64(count + more) << 56
        return unsafeBitCast(joined, to: String.self)
    }

    /// - Parameter bytes: valid UTF-8 of the parser, followed by at least 16 readable bytes.
    init(parsed bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count <= 15, let first = bytes.baseAddress else {
            self = String(decoding: bytes, as: UTF8.self)
            return
        }
        var words = UnsafeRawPointer(first).loadUnaligned(as: (UInt64, UInt64).self)
        let unused = UInt64(128 - bytes.count * 8)
        if unused > 64 {
            words.0 &= UInt64.max >> (unused - 64)
            words.1 = 0
        } else {
            words.1 &= UInt64.max >> unused
        }
        let isASCII = (words.0 | words.1) & 0x8080_8080_8080_8080 == 0
        words.1 |= ((isASCII ? 0xe0 : 0xa0) | UInt64(bytes.count)) << 56
        self = unsafeBitCast(words, to: String.self)
    }

    /// As `String(decoding:as:)`, which takes several times as long for a short text.
    public init(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        var words: (UInt64, UInt64) = (0, 0)
        guard bytes.count <= 15, let first = bytes.baseAddress else {
            self = String(decoding: bytes, as: UTF8.self)
            return
        }
        memcpy(&words, first, bytes.count)
        guard (words.0 | words.1) & 0x8080_8080_8080_8080 == 0 else {
            self = String(decoding: bytes, as: UTF8.self)
            return
        }
        self = unsafeBitCast(String.words(ascii: words, count: bytes.count), to: String.self)
    }

    /// The words of a short string.
    /// - Parameter bytes: at most 15 bytes of ASCII, and zeros behind them.
    @inline(__always)
    static func words(ascii bytes: (UInt64, UInt64), count: Int) -> (UInt64, UInt64) {
        (bytes.0, bytes.1 | (0xe0 | UInt64(count)) << 56)
    }

    @inlinable
    public init(decimal number: Int64) {
        guard number.magnitude < 100_000_000_000_000 else {
            self = String(number)
            return
        }
        var rest = number.magnitude
        var words: (UInt64, UInt64) = (0, 0)
        var count: UInt64 = 0
        func push(_ byte: UInt64) {
            words.1 = words.1 << 8 | words.0 >> 56
            words.0 = words.0 << 8 | byte
            count += 1
        }
        repeat {
            push(48 + rest % 10)
            rest /= 10
        } while rest > 0
        if number < 0 { push(45) }
        words.1 |= (0xe0 | count) << 56
        self = unsafeBitCast(words, to: String.self)
    }

    /// The number of Unicode scalars. O(bytes), at memory speed.
    public var scalarCount: Int {
        utf8.withContiguousStorageIfAvailable { bytes in
            // Bytes that continue a scalar begin with the bits 10.
            var continuing = 0
            let words = UnsafeRawBufferPointer(bytes)
            let whole = bytes.count & ~7
            for position in stride(from: 0, to: whole, by: 8) {
                let word = words.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                continuing &+= (word >> 7 & ~(word >> 6) & 0x0101_0101_0101_0101).nonzeroBitCount
            }
            for byte in bytes[whole...] where byte & 0xC0 == 0x80 { continuing += 1 }
            return bytes.count - continuing
        } ?? unicodeScalars.count
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// As `elementsEqual`, which compares byte by byte.
    public func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count, let first = baseAddress, let second = other.baseAddress else {
            return count == other.count
        }
        return memcmp(first, second, count) == 0
    }
}

extension StringProtocol {
    /// Without white space at its ends.
    public var trimmed: String {
        var rest = drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
