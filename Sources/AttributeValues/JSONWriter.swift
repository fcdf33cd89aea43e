extension ByteBuffer {
    /// Appends a JSON string with its quotes. Escapes only the characters that JSON requires.
    public func appendJSONString(_ text: String) {
        if text.isSmall, appendShortText(text.words, isPlain: false) { return }
        var text = text
        text.withUTF8 { bytes in
            reserve(bytes.count + 2)
            if appendPlainText(bytes) { return }
            append(UInt8(ascii: "\""))
            let words = UnsafeRawBufferPointer(bytes)
            var plainStart = 0
            var position = 0
            while position < bytes.count {
                let end = min(position + 8, bytes.count)
                if end - position == 8,
                    ByteBuffer.isPlain(words.loadUnaligned(fromByteOffset: position, as: UInt64.self))
                {
                    position = end
                    continue
                }
                while position < end {
                    let byte = bytes[position]
                    if byte < 0x20 || byte == 0x22 || byte == 0x5c {
                        append(UnsafeBufferPointer(rebasing: bytes[plainStart..<position]))
                        appendEscape(byte)
                        plainStart = position + 1
                    }
                    position += 1
                }
            }
            append(UnsafeBufferPointer(rebasing: bytes[plainStart...]))
            append(UInt8(ascii: "\""))
        }
    }

    /// Appends a text that lies in its own words and needs no escape, which most texts do.
    /// - Parameter isPlain: the text is known to need no escape.
    /// - Returns: false for a text with an escape. Then nothing was appended.
    private func appendShortText(_ words: (UInt64, UInt64), isPlain: Bool) -> Bool {
        let count = Int(words.1 >> 56 & 15)
        let bytes = (words.0, words.1 & 0x00ff_ffff_ffff_ffff)
        // Bytes after the text are replaced by letters.
        let letters: UInt64 = 0x6161_6161_6161_6161
        if count <= 8 {
            let rest = count == 8 ? 0 : letters << UInt64(8 * count)
            guard isPlain || ByteBuffer.isPlain(bytes.0 | rest) else { return false }
        } else {
            let rest = letters << UInt64(8 * count - 64)
            guard isPlain || ByteBuffer.isPlain(bytes.0) && ByteBuffer.isPlain(bytes.1 | rest) else { return false }
        }
        reserve(18)
        let start = UnsafeMutableRawPointer(base + end)
        start.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        start.storeBytes(of: bytes.0.littleEndian, toByteOffset: 1, as: UInt64.self)
        start.storeBytes(of: bytes.1.littleEndian, toByteOffset: 9, as: UInt64.self)
        start.storeBytes(of: UInt8(ascii: "\""), toByteOffset: 1 + count, as: UInt8.self)
        end += count + 2
        return true
    }

    /// Appends a text of at least eight bytes that needs no escape. There must be space for it and its quotes.
    /// - Returns: false for any other text. Then nothing was appended.
    @inline(__always)
    private func appendPlainText(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count >= 8, let source = UnsafeRawPointer(bytes.baseAddress) else { return false }
        let start = UnsafeMutableRawPointer(base + end)
        var position = 0
        while position < bytes.count {
            // The last word may overlap the one before it.
            position = min(position, bytes.count - 8)
            let word = source.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            guard ByteBuffer.isPlain(word) else { return false }
            start.storeBytes(of: word, toByteOffset: position + 1, as: UInt64.self)
            position += 8
        }
        start.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        start.storeBytes(of: UInt8(ascii: "\""), toByteOffset: bytes.count + 1, as: UInt8.self)
        end += bytes.count + 2
        return true
    }

    /// True if none of the eight bytes needs an escape.
    private static func isPlain(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let (quotes, backslashes) = (word ^ 0x22 * ones, word ^ 0x5c * ones)
        let control = (word &- 0x20 * ones) & ~word
        let quote = (quotes &- ones) & ~quotes
        let backslash = (backslashes &- ones) & ~backslashes
        return (control | quote | backslash) & (0x80 * ones) == 0
    }

    private func appendEscape(_ byte: UInt8) {
        switch byte {
        case 0x22: append("\\\"")
        case 0x5c: append("\\\\")
        case 0x0a: append("\\n")
        case 0x0d: append("\\r")
        case 0x09: append("\\t")
        default:
            append("\\u00")
            let digits: StaticString = "0123456789abcdef"
            append(digits.utf8Start[Int(byte >> 4)])
            append(digits.utf8Start[Int(byte & 15)])
        }
    }

    /// Appends the shortest text that reads back as the same double. It always has a fraction or exponent, so that it
    /// stays a double. NaN and the infinities are strings.
    public func appendJSON(_ number: Double) {
        if number.isFinite {
            if !appendDecimal(number) { append(text: number.description) }
        } else {
            append(number.isNaN ? "\"NaN\"" : number < 0 ? "\"-Infinity\"" : "\"Infinity\"")
        }
    }

    /// Appends a number of one to three decimals, in a tenth of the time that its description takes. A quotient of two
    /// exact numbers is the number nearest to it, and with less than 16 digits no shorter text reads back as the same.
    /// - Returns: false if it has more decimals, or too many digits. Then nothing was appended.
    private func appendDecimal(_ number: Double) -> Bool {
        guard number.magnitude >= 1e-3, number.magnitude < 1e12 else { return false }
        var scale: UInt64 = 1
        for decimals in 1...3 {
            scale *= 10
            let scaled = UInt64(number.magnitude * Double(scale) + 0.5)
            guard Double(scaled) / Double(scale) == number.magnitude else { continue }
            if number < 0 { append(UInt8(ascii: "-")) }
            append(scaled, decimals: decimals)
            return true
        }
        return false
    }

    /// Appends a number of at most sixteen digits, with a point before the last decimals.
    private func append(_ number: UInt64, decimals: Int) {
        reserve(24)
        let (high, low) = number.quotientAndRemainder(dividingBy: 100_000_000)
        var digits = ByteBuffer.digits(low)
        var whole = 8 - decimals
        if high > 0 {
            appendDigits(high)
        } else {
            // One digit at least stands before the point.
            let zeros = min(digits.trailingZeroBitCount / 8, whole - 1)
            digits >>= UInt64(8 * zeros)
            whole -= zeros
        }
        digits |= ByteBuffer.zeros
        let start = UnsafeMutableRawPointer(base + end)
        start.storeBytes(of: digits.littleEndian, as: UInt64.self)
        start.storeBytes(of: UInt8(ascii: "."), toByteOffset: whole, as: UInt8.self)
        let rest = UInt32(truncatingIfNeeded: digits >> UInt64(8 * whole))
        start.storeBytes(of: rest.littleEndian, toByteOffset: whole + 1, as: UInt32.self)
        end += whole + 1 + decimals
    }

    /// Appends plain JSON. Values without a form in JSON become strings (timestamps in RFC 3339, durations as `1.5s`,
    /// bytes in base64), an optional becomes its content or null. The depth limit of admitted values bounds the
    /// recursion.
    public func appendJSON(_ value: Value) {
        switch value {
        case .null: append("null")
        case .bool(let flag): flag ? append("true") : append("false")
        case .int(let number): append(number)
        case .uint(let number): append(number)
        case .double(let number): appendJSON(number)
        case .string(let text): appendJSONString(text)
        case .bytes(let bytes): appendJSONString(Base64.encode(bytes))
        case .list(let elements):
            append(UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if !isFirst { append(UInt8(ascii: ",")) }
                isFirst = false
                appendJSON(element)
            }
            append(UInt8(ascii: "]"))
        case .map(let map):
            let ((keys, values), isFlat) = (map.bases, map.isFlat)
            append(UInt8(ascii: "{"))
            for position in 0..<map.count {
                if position > 0 { append(UInt8(ascii: ",")) }
                if !appendShortText(at: keys + position, isPlain: isFlat) { appendJSONKey(keys[position]) }
                append(UInt8(ascii: ":"))
                if !appendShortText(at: values + position, isPlain: isFlat) { appendJSON(values[position]) }
            }
            append(UInt8(ascii: "}"))
        case .timestamp(let time): appendJSONString(time.description)
        case .duration(let span): appendJSONString(span.description)
        case .type(let name): appendJSONString(name)
        case .optional(let wrapped): if let wrapped { appendJSON(wrapped) } else { append("null") }
        case .opaque(let opaque): appendJSON(opaque.json)
        }
    }

    /// The same for a text in a map, which is not copied for that; false for any other value.
    private func appendShortText(at value: UnsafePointer<Value>, isPlain: Bool) -> Bool {
        value.shortText.map { appendShortText($0, isPlain: isPlain) } ?? false
    }

    /// Appends a string: the key itself, or the JSON text of a key that is not a string.
    private func appendJSONKey(_ key: Value) {
        switch key {
        case .string(let text): appendJSONString(text)
        case .bool, .int, .uint:
            append(UInt8(ascii: "\""))
            appendJSON(key)
            append(UInt8(ascii: "\""))
        default:
            let text = key.jsonText
            text.utf8.first == UInt8(ascii: "\"") ? append(text: text) : appendJSONString(text)
        }
    }
}

extension Value {
    /// Plain JSON on one line.
    public var jsonText: String {
        let buffer = ByteBuffer()
        buffer.appendJSON(self)
        return buffer.text
    }
}

extension Value: CustomStringConvertible {
    public var description: String { jsonText }
}
