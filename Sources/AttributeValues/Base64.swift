/// Base64 with the standard alphabet (RFC 4648, section 4).
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    public static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(3 - group.count) * 8
            for position in 0..<4 {
                let isPadding = position > group.count
                text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(bits >> UInt32(18 - position * 6) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// nil if the text is not base64. Padding may be omitted.
    public static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var pending = 0
        var digits = 0
        var padding = 0
        for character in text.utf8 {
            if character == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let sextet = sextet(character) else { return nil }
            bits = bits << 6 | sextet
            pending += 6
            digits += 1
            if pending >= 8 {
                pending -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(pending)))
                bits &= 1 << UInt32(pending) - 1
            }
        }
        guard digits % 4 != 1, padding == 0 || (digits + padding) % 4 == 0 && padding <= 2, bits == 0 else {
            return nil
        }
        return bytes
    }

    private static func sextet(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - 65)
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - 97 + 26)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - 48 + 52)
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
