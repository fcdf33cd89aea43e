/// Reads the values that programs write most, in a fraction of the parser's time: a number, a short text, a literal, or
/// a map of a few of these, without spaces. It reads a text as the parser does, or not at all.
public struct PlainJSON {
    private let bytes: UnsafeRawPointer
    private let count: Int
    private var place = 0

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
        let value = reader.take(UInt8(ascii: "{")) ? ValueMap(&reader).map { .map($0) } : reader.scalar()
        return reader.place == text.count ? value : nil
    }

    private init(bytes: UnsafeRawPointer, count: Int) {
        self.bytes = bytes
        self.count = count
    }

    /// The colons that are left: at least as many as members.
    fileprivate var colons: Int {
        let (ones, low) = (PlainJSON.ones, 0x7f &* PlainJSON.ones)
        var colons = 0
        for place in stride(from: place, to: count, by: 8) {
            let word = word(place) ^ ones &* 0x3a
            // The high bit of each byte that is 0.
            var found = ~((word & low &+ low) | word | low)
            if count - place < 8 { found &= 1 &<< UInt64(8 * (count - place)) &- 1 }
            colons += found.nonzeroBitCount
        }
        return colons
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101

    private func word(_ place: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) }

    private func byte(_ place: Int) -> UInt8 { bytes.load(fromByteOffset: place, as: UInt8.self) }

    fileprivate mutating func take(_ wanted: UInt8) -> Bool {
        guard place < count, byte(place) == wanted else { return false }
        place += 1
        return true
    }

    fileprivate mutating func scalar() -> Value? {
        guard place < count else { return nil }
        switch byte(place) {
        case UInt8(ascii: "\""): return text().map { .string($0) }
        case UInt8(ascii: "t"): return take("true") ? true : nil
        case UInt8(ascii: "f"): return take("false") ? false : nil
        case UInt8(ascii: "n"): return take("null") ? .null : nil
        default: return number()
        }
    }

    private mutating func take(_ literal: StaticString) -> Bool {
        let length = literal.utf8CodeUnitCount
        guard count - place >= length,
            UnsafeRawBufferPointer(start: bytes + place, count: length)
                .elementsEqual(UnsafeRawBufferPointer(start: literal.utf8Start, count: length))
        else { return false }
        place += length
        return true
    }

    /// A short text of ASCII, without escapes.
    fileprivate mutating func text() -> String? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var words = (word(place), word(place + 8))
        let low = PlainJSON.stops(words.0)
        let stop = low != 0 ? low.trailingZeroBitCount / 8 : 8 + PlainJSON.stops(words.1).trailingZeroBitCount / 8
        guard stop <= PlainJSON.textLength, place + stop < count, byte(place + stop) == UInt8(ascii: "\"") else {
            return nil
        }
        place += stop + 1
        if stop < 8 {
            words = (words.0 & (1 &<< UInt64(8 * stop) &- 1), 0)
        } else {
            words.1 &= 1 &<< UInt64(8 * stop - 64) &- 1
        }
        return String(ascii: words, count: stop)
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
        let start = place
        var number: UInt64 = 0
        takeDigits(&number)
        let whole = place - start
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
        guard place > start + whole + 1, place - start <= PlainJSON.digitCount, number <= PlainJSON.wholeDoubles else {
            return nil
        }
        let quotient = Double(number) / scale
        return .double(isNegative ? -quotient : quotient)
    }

    /// - Returns: the power of ten that belongs to the number of digits.
    @discardableResult
    private mutating func takeDigits(_ number: inout UInt64) -> Double {
        var scale = 1.0
        while place < count, case let digit = byte(place) &- 48, digit < 10 {
            number = number &* 10 &+ UInt64(digit)
            scale *= 10
            place += 1
        }
        return scale
    }
}

extension ValueMap {
    /// The members of a plain map, after its opening brace; nil if the parser has to read them.
    fileprivate init?(_ reader: inout PlainJSON) {
        let room = reader.colons
        guard room > 0, room <= ValueMap.linearLimit else { return nil }
        storage = Storage.withRoom(room)
        let isRead = storage.withUnsafeMutablePointers { header, keys in
            var position = 0
            repeat {
                guard position < room, let name = reader.text(), reader.take(UInt8(ascii: ":")),
                    let value = reader.scalar()
                else { return false }
                let end = keys + position
                end.initialize(to: .string(name))
                (end + room).initialize(to: value)
                header.pointee.count = position + 1
                // Of equal names the last one counts, which the parser takes care of.
                for place in 0..<position where UnsafePointer(keys + place).hasSameText(as: end) { return false }
                position += 1
            } while reader.take(UInt8(ascii: ","))
            return reader.take(UInt8(ascii: "}"))
        }
        if !isRead { return nil }
    }
}
