import AttributeValues

/// The meaning of a scalar without quotes: YAML 1.2's core schema. (`yes`, `no`, `on` and `off` are texts.)
enum PlainScalar {
    /// nil for a number out of the range of every type.
    static func value(_ text: String) -> Value? {
        var text = text
        return text.withUTF8 { bytes in
            guard let first = bytes.first else { return .null }
            switch first {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                let text = String(decoding: bytes, as: UTF8.self)
                return switch number(text) {
                case .value(let value): value
                case .outOfRange: nil
                case .other: .string(text)
                }
            case UInt8(ascii: "~"), UInt8(ascii: "n"), UInt8(ascii: "N"), UInt8(ascii: "t"), UInt8(ascii: "T"),
                UInt8(ascii: "f"), UInt8(ascii: "F"):
                return word(String(decoding: bytes, as: UTF8.self))
            default: return .string(String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    private static func word(_ text: String) -> Value {
        switch text {
        case "~", "null", "Null", "NULL": .null
        case "true", "True", "TRUE": .bool(true)
        case "false", "False", "FALSE": .bool(false)
        default: .string(text)
        }
    }

    private enum Number {
        case value(Value)
        case outOfRange
        /// Not a number.
        case other
    }

    private static func number(_ text: String) -> Number {
        if text.hasPrefix("0x") { return integer(digits: text.dropFirst(2), radix: 16) }
        if text.hasPrefix("0o") { return integer(digits: text.dropFirst(2), radix: 8) }
        let unsigned = text.drop { $0 == "+" || $0 == "-" }
        switch unsigned {
        case ".inf", ".Inf", ".INF": return .value(.double(text.hasPrefix("-") ? -.infinity : .infinity))
        case ".nan", ".NaN", ".NAN": return text == unsigned ? .value(.double(.nan)) : .other
        default: break
        }
        guard text.utf8.count - unsigned.utf8.count <= 1 else { return .other }
        guard let lead = unsigned.utf8.first, lead.isDigit || (lead == 46 && unsigned.utf8.count > 1) else {
            return .other
        }
        if unsigned.utf8.allSatisfy(\.isDigit) {
            guard text.hasPrefix("-") else { return integer(digits: unsigned, radix: 10) }
            return Int64(text).map { .value(.int($0)) } ?? .outOfRange
        }
        guard
            unsigned.utf8.allSatisfy({ $0.isDigit || $0 == 46 || $0 == 43 || $0 == 45 || $0 | 32 == 101 }),
            let number = Double(text)
        else { return .other }
        return number.isFinite ? .value(.double(number)) : .outOfRange
    }

    /// - Parameter digits: the text after the prefix. For a number, all of them must be digits, without a sign.
    private static func integer(digits: Substring, radix: Int) -> Number {
        guard let first = digits.utf8.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-"),
            digits.allSatisfy({ $0.hexDigitValue.map { $0 < radix } ?? false })
        else { return .other }
        if let int = Int64(digits, radix: radix) { return .value(.int(int)) }
        return UInt64(digits, radix: radix).map { .value(.uint($0)) } ?? .outOfRange
    }
}

/// JSON writes a character beyond the basic plane as two escapes, which YAML does not support.
enum JSONEscapes {
    /// The text with each `\ud83d\ude00` replaced by its character. Columns after it decrease by eleven.
    static func joiningSurrogates(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return text }
        var bytes = Array(text.utf8)
        guard containsSurrogate(bytes) else { return text }
        var at = 0
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "\\"), at + 1 < bytes.count else {
                out.append(bytes[at])
                at += 1
                continue
            }
            if let high = unit(bytes, at), (0xd800..<0xdc00).contains(high), let low = unit(bytes, at + 6),
                (0xdc00..<0xe000).contains(low),
                let scalar = Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
            {
                out += Array(String(scalar).utf8)
                at += 12
            } else {
                out += bytes[at...at + 1]
                at += 2
            }
        }
        bytes = out
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func containsSurrogate(_ bytes: [UInt8]) -> Bool {
        bytes.indices.contains { at in
            bytes[at] == UInt8(ascii: "\\") && unit(bytes, at).map { (0xd800..<0xdc00).contains($0) } ?? false
        }
    }

    /// The code unit of `\uXXXX` at a position; nil if there is none. It has four hexadecimal digits, so it is below
    /// 65,536.
    private static func unit(_ bytes: [UInt8], _ at: Int) -> UInt32? {
        guard at + 6 <= bytes.count, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u") else {
            return nil
        }
        return UInt32(String(decoding: bytes[at + 2..<at + 6], as: UTF8.self), radix: 16)
    }
}
