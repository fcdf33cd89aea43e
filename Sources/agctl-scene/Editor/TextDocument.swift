import AttributeValues
import SceneModel

/// An open file. Editors count lines from 0, and columns in units of UTF-16; faults count lines and code points from 1.
struct TextDocument {
    let uri: String
    var text: String { didSet { lines = TextDocument.split(text) } }
    private(set) var lines: [Substring]

    init(uri: String, text: String) {
        self.uri = uri
        self.text = text
        lines = TextDocument.split(text)
    }

    private static func split(_ text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }

    var path: String? { TextDocument.path(of: uri) }

    static func path(of uri: String) -> String? {
        guard uri.hasPrefix("file://") else { return nil }
        var bytes: [UInt8] = []
        var rest = Array(uri.utf8.dropFirst("file://".count))[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func uri(of path: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
        return "file://"
            + path.utf8.map { byte in
                if plain.contains(byte) { return String(UnicodeScalar(byte)) }
                let digits = String(byte, radix: 16, uppercase: true)
                return "%" + (digits.count < 2 ? "0" : "") + digits
            }.joined()
    }

    /// The position of an editor, as faults count.
    func position(line: Int, character: Int) -> SourcePosition {
        guard lines.indices.contains(line) else { return SourcePosition(line: line + 1, column: 1) }
        let text = lines[line]
        let units = text.utf16
        let at = units.index(units.startIndex, offsetBy: max(0, character), limitedBy: units.endIndex) ?? units.endIndex
        return SourcePosition(line: line + 1, column: text.unicodeScalars[..<at].count + 1)
    }

    private func character(of position: SourcePosition) -> Int {
        guard lines.indices.contains(position.line - 1) else { return 0 }
        return lines[position.line - 1].unicodeScalars.prefix(max(0, position.column - 1)).reduce(0) {
            $0 + UTF16.width($1)
        }
    }

    func place(_ position: SourcePosition) -> Value {
        ["line": .int(Int64(max(0, position.line - 1))), "character": .int(Int64(character(of: position)))]
    }

    /// - Parameter length: code points; nil: to the end of the word, at least one.
    func range(_ start: SourcePosition, length: Int? = nil) -> Value {
        let start = start == .none ? SourcePosition(line: 1, column: 1) : start
        var count = length ?? 0
        if length == nil, lines.indices.contains(start.line - 1) {
            let rest = lines[start.line - 1].unicodeScalars.dropFirst(start.column - 1)
            count = max(1, rest.prefix { $0.properties.isAlphabetic || $0 == "_" || ("0"..."9").contains($0) }.count)
        }
        let end = SourcePosition(line: start.line, column: start.column + count)
        return ["start": place(start), "end": place(end)]
    }
}
