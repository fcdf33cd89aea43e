import AttributeValues

enum StringLiteral {
    struct Fault: Error {
        var offset: Int
        var message: String
    }

    /// - Parameter bytes: the whole rule. `range` is the literal with prefix and quotes, as the lexer has found it.
    static func decode(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, isBytes: Bool) throws(Fault) -> [UInt8]
    {
        var at = range.lowerBound
        var isRaw = false
        while bytes[at] != UInt8(ascii: "\""), bytes[at] != UInt8(ascii: "'") {
            isRaw = isRaw || bytes[at] | 0x20 == UInt8(ascii: "r")
            at += 1
        }
        let quote = bytes[at]
        let isTriple = range.upperBound - at >= 6 && bytes[at + 1] == quote && bytes[at + 2] == quote
        at += isTriple ? 3 : 1
        let end = range.upperBound - (isTriple ? 3 : 1)
        if isRaw { return Array(bytes[at..<end]) }
        var content: [UInt8] = []
        content.reserveCapacity(end - at)
        while at < end {
            if bytes[at] == UInt8(ascii: "\\") {
                try appendEscape(bytes, &at, end, isBytes, &content)
            } else {
                content.append(bytes[at])
                at += 1
            }
        }
        return content
    }

    private static func appendEscape(
        _ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int, _ end: Int, _ isBytes: Bool, _ content: inout [UInt8]
    ) throws(Fault) {
        let start = at
        let letter = at + 1 < end ? bytes[at + 1] : 0
        at += 2
        func number(_ digits: Int, radix: UInt32) throws(Fault) -> UInt32 {
            var value: UInt32 = 0
            for _ in 0..<digits {
                guard at < end, let digit = bytes[at].hexDigit, digit < radix else {
                    throw Fault(
                        offset: start, message: "the escape needs \(digits) \(radix == 8 ? "octal" : "hex") digits")
                }
                value = value * radix + digit
                at += 1
            }
            return value
        }
        let code: UInt32
        var isUnicode = false
        switch letter {
        case UInt8(ascii: "a"): code = 7
        case UInt8(ascii: "b"): code = 8
        case UInt8(ascii: "f"): code = 12
        case UInt8(ascii: "n"): code = 10
        case UInt8(ascii: "r"): code = 13
        case UInt8(ascii: "t"): code = 9
        case UInt8(ascii: "v"): code = 11
        case UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"):
            code = UInt32(letter)
        case UInt8(ascii: "x"), UInt8(ascii: "X"): code = try number(2, radix: 16)
        case UInt8(ascii: "u"):
            code = try number(4, radix: 16)
            isUnicode = true
        case UInt8(ascii: "U"):
            code = try number(8, radix: 16)
            isUnicode = true
        case UInt8(ascii: "0")...UInt8(ascii: "3"):
            at -= 1
            code = try number(3, radix: 8)
        default: throw Fault(offset: start, message: "unknown escape; a backslash itself is written '\\\\'")
        }
        if isBytes {
            guard !isUnicode else { throw Fault(offset: start, message: "bytes have no \\u escapes; write \\x") }
            content.append(UInt8(truncatingIfNeeded: code))
        } else if let scalar = Unicode.Scalar(code) {
            content.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
        } else {
            throw Fault(offset: start, message: "not a Unicode code point")
        }
    }
}
