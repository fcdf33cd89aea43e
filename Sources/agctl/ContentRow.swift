import AGClient
import AttributeValues

/// A path and its content as a line, for lists of values.
enum ContentRow {
    /// In a pipe: path, tab, and JSON or `error: …`, which is not the beginning of any JSON. On a terminal, columns.
    /// - Parameters:
    ///   - path: read only inside the call.
    ///   - width: of the first column on a terminal.
    static func write(_ path: UnsafeBufferPointer<UInt8>, _ content: Content, width: Int, to output: Output) {
        if output.isTerminal {
            output.write(DisplayWidth.pad(String(decoding: path, as: UTF8.self).printable, to: width))
            output.write("  ")
            return output.writeLine(show(content, output.style))
        }
        output.writeNamed(path)
        output.buffer.append(UInt8(ascii: "\t"))
        switch content {
        case .value(let value) where value.isPrintable: output.json(value)
        default: output.writeLine(describe(content))
        }
    }

    /// The content of a described attribute; null if it has none.
    static func content(of attribute: Value) -> Content { (try? Content(result: attribute)) ?? .value(.null) }

    /// One line without colours.
    static func describe(_ content: Content) -> String {
        switch content {
        case .value(let value): value.jsonText.printable
        case .failure(let failure): "error: \(oneLine(failure.message))"
        }
    }

    static func show(_ content: Content, _ style: Style, width: Int = .max) -> String {
        style.content(DisplayWidth.cut(describe(content), to: width), of: content)
    }

    static func oneLine(_ text: String) -> String { String(text.map { $0.isNewline ? " " : $0 }).printable }
}

extension Value {
    /// True if its JSON is known to contain no control characters.
    fileprivate var isPrintable: Bool {
        switch self {
        case .null, .bool, .int, .uint, .double: true
        case .string(let text): text.utf8.allSatisfy { $0 < 0x7f }
        default: false
        }
    }
}

/// The number of columns that a text takes on a terminal. The codes of `Style` take none.
enum DisplayWidth {
    static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 && $0 != 0x1b }) { return text.utf8.count }
        var isStyle = false
        return text.reduce(0) { width, character in
            if character == "\u{1b}" { isStyle = true }
            defer { if character == "m" { isStyle = false } }
            return isStyle ? width : width + of(character)
        }
    }

    /// Two for East Asian wide characters and emoji, by the blocks of Unicode's table EastAsianWidth.
    private static func of(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
            0xff00...0xff60,
            0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1f9ff, 0x20000...0x3fffd:
            return 2
        default: return 1
        }
    }

    /// - Parameter isRight: fills the left side.
    static func pad(_ text: String, to width: Int, isRight: Bool = false) -> String {
        let fill = String(repeating: " ", count: max(0, width - of(text)))
        return isRight ? fill + text : text + fill
    }

    /// The text, or its beginning and an ellipsis.
    static func cut(_ text: String, to width: Int) -> String {
        guard width < Int.max, of(text) > width else { return text }
        guard width > 0 else { return "" }
        var kept = ""
        var used = 0
        for character in text {
            let columns = of(character)
            if used + columns > width - 1 { break }
            kept.append(character)
            used += columns
        }
        return kept + "…"
    }
}

/// Columns of text, each as wide as its widest cell.
struct TextTable {
    var rows: [[String]] = []

    /// - Parameter numeric: columns whose cells are aligned to the right.
    func text(numeric: [Int] = []) -> String { lines(numeric: numeric).map { $0 + "\n" }.joined() }

    func lines(numeric: [Int] = []) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { column < $0.count ? DisplayWidth.of($0[column]) : 0 }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let isNumeric = numeric.contains(column)
                // Nothing follows the last cell.
                return column == row.count - 1 && !isNumeric
                    ? cell : DisplayWidth.pad(cell, to: widths[column], isRight: isNumeric)
            }.joined(separator: "  ")
        }
    }
}
