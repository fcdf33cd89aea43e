import AttributeValues

/// JSON as the events of a document with their positions. YAML's reader accepts most JSON but not all of it: it refuses
/// control characters and keys of more than 1024 characters, and folds characters that it reads as ends of lines inside
/// strings.
final class JSONEventReader: DocumentEvents {
    private let bytes: [UInt8]
    private let parser = JSONParser(maximumDepth: SceneLimits.nesting)
    private var offset = 0
    private var position = SourcePosition(line: 1, column: 1)

    /// nil for a text that is not JSON, or that is nested deeper than a document may be.
    init?(_ text: String) {
        bytes = Array(text.utf8)
        guard let first = bytes.first(where: { !JSONEventReader.isBetween($0) }), "{[\"".utf8.contains(first),
            // After this check, the reader need not validate the text any more.
            bytes.withUnsafeBufferPointer({ try? parser.parse($0) }) != nil
        else { return nil }
        parser.releaseMemory()
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
        let start = offset
        var end = start + 1
        while bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
        advance(end + 1 - start)
        let inside = bytes[start + 1..<end]
        guard inside.contains(UInt8(ascii: "\\")) else { return String(decoding: inside, as: UTF8.self) }
        return bytes[start...end].withUnsafeBufferPointer { (try? parser.parse($0))?.string } ?? ""
    }
}
