extension String {
    /// The text with control characters in JSON's form, because a terminal would execute them. JSON means the same
    /// afterwards: its control characters are inside quotes.
    var printable: String { escaping { $0.isControl } }

    /// The same for a text of several lines.
    var printableLines: String { escaping { $0.isControl && $0 != "\n" && $0 != "\t" } }

    private func escaping(_ isEscaped: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: isEscaped) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case _ where !isEscaped(scalar): text.unicodeScalars.append(scalar)
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { value < 0x20 || (0x7f..<0xa0).contains(value) }
}

extension UnsafeBufferPointer<UInt8> {
    /// True if JSON or a path contains control characters. The daemon escapes those below U+0020.
    var mayNeedEscapes: Bool { contains { $0 == 0x7f || $0 == 0xc2 } }
}
