/// Reads the values that programs write most, in a fraction of the parser's time: a number, a short text, a literal, or
/// a map of a few of these, without spaces. It reads a text as the parser does, or not at all. Without it, a `set` of a
/// map takes a quarter more instructions (decision 162).
public struct PlainJSON {
    private let bytes: UnsafeRawPointer
    private let count: Int
    private var offset = 0

    /// Bytes of a text, which then needs no allocation.
    private static let textLength = 15
    /// Digits of a number, which then fits into a word.
    private static let digitCount = 18
    /// Up to here, each integer is a double.
    private static let wholeDoubles: UInt64 = 1 << 53

    /// - Parameter text: `JSONParser.padding` readable bytes follow it.
    /// - Returns: nil if the parser has to read the text.
    public static func value(_ text: UnsafeBufferPointer<UInt8>) -> Value? {
        guard let start = text.baseAddress, text.count > 0 else { return nil }
        var reader = PlainJSON(bytes: UnsafeRawPointer(start), count: text.count)
        let value = reader.take(UInt8(ascii: "{")) ? reader.members().map { .map($0) } : reader.scalar()
        return reader.offset == text.count ? value : nil
    }

    private init(bytes: UnsafeRawPointer, count: Int) {
        self.bytes = bytes
        self.count = count
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101

    private func word(_ offset: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }

    private func byte(_ offset: Int) -> UInt8 { bytes.load(fromByteOffset: offset, as: UInt8.self) }

    @inline(__always)
    private mutating func take(_ wanted: UInt8) -> Bool {
        guard offset < count, byte(offset) == wanted else { return false }
        offset += 1
        return true
    }

    /// The members of a map, after its opening brace.
    private mutating func members() -> ValueMap? {
        withUnsafeTemporaryAllocation(of: Value.self, capacity: 2 * ValueMap.linearLimit) { slots in
            guard let keys = slots.baseAddress else { return nil }
            let values = keys + ValueMap.linearLimit
            var position = 0
            // Scalars and short texts need no release, so the reader may stop at any member.
            repeat {
                guard position < ValueMap.linearLimit, let name = text(), take(UInt8(ascii: ":")),
                    read(into: values + position)
                else { return nil }
                // The parser reads objects with equal names: the last one counts.
                for earlier in 0..<position where UnsafePointer(keys + earlier).words == name { return nil }
                (keys + position).initialize(shortText: name)
                position += 1
            } while take(UInt8(ascii: ","))
            return take(UInt8(ascii: "}")) ? ValueMap(flat: keys, values, count: position) : nil
        }
    }

    private mutating func scalar() -> Value? {
        withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { slot in
            slot.baseAddress.flatMap { read(into: $0) ? $0.move() : nil }
        }
    }

    /// Reads a scalar or a short text.
    /// - Returns: false if there is none. Then the slot was not initialized.
    @inline(__always)
    private mutating func read(into slot: UnsafeMutablePointer<Value>) -> Bool {
        guard offset < count else { return false }
        switch byte(offset) {
        case UInt8(ascii: "\""):
            guard let words = text() else { return false }
            slot.initialize(shortText: words)
            return true
        case UInt8(ascii: "t"): return read("true", as: true, into: slot)
        case UInt8(ascii: "f"): return read("false", as: false, into: slot)
        case UInt8(ascii: "n"): return read("null", as: .null, into: slot)
        default:
            guard let number = number() else { return false }
            slot.initialize(to: number)
            return true
        }
    }

    private mutating func read(_ literal: StaticString, as value: Value, into slot: UnsafeMutablePointer<Value>) -> Bool
    {
        let length = literal.utf8CodeUnitCount
        guard count - offset >= length,
            UnsafeRawBufferPointer(start: bytes + offset, count: length)
                .elementsEqual(UnsafeRawBufferPointer(start: literal.utf8Start, count: length))
        else { return false }
        offset += length
        slot.initialize(to: value)
        return true
    }

    /// The words of a short text of ASCII, without escapes (see `String+Bytes.swift`).
    private mutating func text() -> (UInt64, UInt64)? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var words = (word(offset), word(offset + 8))
        let low = PlainJSON.stops(words.0)
        let stop = low != 0 ? low.trailingZeroBitCount / 8 : 8 + PlainJSON.stops(words.1).trailingZeroBitCount / 8
        guard stop <= PlainJSON.textLength, offset + stop < count, byte(offset + stop) == UInt8(ascii: "\"") else {
            return nil
        }
        offset += stop + 1
        if stop < 8 {
            words = (words.0 & (1 &<< UInt64(8 * stop) &- 1), 0)
        } else {
            words.1 &= 1 &<< UInt64(8 * stop - 64) &- 1
        }
        return String.words(ascii: words, count: stop)
    }

    /// The lowest bit that is set belongs to the first byte that is a quote, a backslash, a control character or not
    /// ASCII. Each subtraction borrows only from bytes after such a byte.
    private static func stops(_ word: UInt64) -> UInt64 {
        let (quote, backslash) = (word ^ ones &* 0x22, word ^ ones &* 0x5c)
        return ((quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) & ~word | word)
            & (ones &* 0x80)
    }

    private mutating func number() -> Value? {
        let isNegative = take(UInt8(ascii: "-"))
        let start = offset
        var number: UInt64 = 0
        takeDigits(&number)
        let whole = offset - start
        // JSON has no number that begins with a needless zero.
        guard whole > 0, whole <= PlainJSON.digitCount, whole == 1 || byte(start) != UInt8(ascii: "0") else {
            return nil
        }
        guard take(UInt8(ascii: ".")) else {
            let magnitude = Int64(bitPattern: number)
            return isNegative ? number == 0 ? nil : .int(-magnitude) : .int(magnitude)
        }
        let scale = takeDigits(&number)
        // Both are exact, so the quotient is the double that is nearest to the number.
        guard offset > start + whole + 1, offset - start <= PlainJSON.digitCount, number <= PlainJSON.wholeDoubles
        else {
            return nil
        }
        let quotient = Double(number) / scale
        return .double(isNegative ? -quotient : quotient)
    }

    /// - Returns: the power of ten that belongs to the number of digits.
    @discardableResult
    private mutating func takeDigits(_ number: inout UInt64) -> Double {
        var scale = 1.0
        while offset < count, case let digit = byte(offset) &- 48, digit < 10 {
            number = number &* 10 &+ UInt64(digit)
            scale *= 10
            offset += 1
        }
        return scale
    }
}
