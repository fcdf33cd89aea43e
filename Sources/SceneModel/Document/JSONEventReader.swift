import AttributeValues

/// JSON as the events of a document with their positions. YAML's reader accepts most JSON but not all of it: it refuses
/// control characters and keys of more than 1024 characters, and folds characters that it reads as ends of lines inside
/// strings.
final class JSONEventReader: DocumentEvents {
    private let bytes: [UInt8]
    private var offset = 0
    private var position = SourcePosition(line: 1, column: 1)

    /// nil for a text that is not JSON, or that is nested deeper than a document may be.
    init?(_ text: String) {
        bytes = Array(text.utf8)
        guard let first = bytes.first(where: { !JSONEventReader.isBetween($0) }), "{[\"".utf8.contains(first),
            JSONEventReader.isJSON(bytes)
        else { return nil }
    }

    /// After this check, the reader need not validate the text any more.
    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        let parser = JSONParser(maximumDepth: SceneLimits.nesting)
        return withExtendedLifetime(parser) { (try? bytes.withUnsafeBufferPointer { try parser.parse($0) }) != nil }
    }

    /// White space and punctuation between values.
    private static func isBetween(_ byte: UInt8) -> Bool {
        byte <= UInt8(ascii: " ") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":")
    }

    func next() -> YAMLEvent {
        while offset < bytes.count, JSONEventReader.isBetween(bytes[offset]) { advance(1) }
        let start = position
        guard offset < bytes.count else { return YAMLEvent(kind: .streamEnd, position: start) }
        let kind: YAMLEvent.Kind
        switch bytes[offset] {
        case UInt8(ascii: "{"): kind = .mapStart
        case UInt8(ascii: "}"): kind = .mapEnd
        case UInt8(ascii: "["): kind = .listStart
        case UInt8(ascii: "]"): kind = .listEnd
        case UInt8(ascii: "\""): return YAMLEvent(kind: .scalar, text: string(), style: .doubleQuoted, position: start)
        default: return YAMLEvent(kind: .scalar, text: word(), style: .plain, position: start)
        }
        advance(1)
        return YAMLEvent(kind: kind, position: start)
    }

    private func advance(_ count: Int) {
        for byte in bytes[offset..<offset + count] {
            if byte == UInt8(ascii: "\n") {
                position = SourcePosition(line: position.line + 1, column: 1)
            } else if byte & 0xc0 != 0x80 {
                position.column += 1
            }
        }
        offset += count
    }

    /// A number, `true`, `false` or `null`. They have the same meaning in YAML.
    private func word() -> String {
        let word = bytes[offset...].prefix {
            !JSONEventReader.isBetween($0) && $0 != UInt8(ascii: "]") && $0 != UInt8(ascii: "}")
        }
        advance(word.count)
        return String(decoding: word, as: UTF8.self)
    }

    private func string() -> String {
        var text: [UInt8] = []
        advance(1)
        while bytes[offset] != UInt8(ascii: "\"") {
            if bytes[offset] == UInt8(ascii: "\\") {
                text += escaped().utf8
            } else {
                let plain = bytes[offset...].prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
                text += plain
                advance(plain.count)
            }
        }
        advance(1)
        return String(decoding: text, as: UTF8.self)
    }

    private func escaped() -> String {
        let letter = bytes[offset + 1]
        guard letter == UInt8(ascii: "u") else {
            advance(2)
            switch letter {
            case UInt8(ascii: "b"): return "\u{8}"
            case UInt8(ascii: "f"): return "\u{c}"
            case UInt8(ascii: "n"): return "\n"
            case UInt8(ascii: "r"): return "\r"
            case UInt8(ascii: "t"): return "\t"
            default: return String(Unicode.Scalar(letter))
            }
        }
        var units = [unit()]
        if (0xd800..<0xdc00).contains(units[0]) { units.append(unit()) }
        return String(decoding: units, as: UTF16.self)
    }

    /// The code unit of the escape at this position.
    private func unit() -> UInt16 {
        defer { advance(6) }
        return JSONEscapes.unit(bytes, offset).map { UInt16(truncatingIfNeeded: $0) } ?? 0
    }
}
