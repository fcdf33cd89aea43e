import AttributeValues

/// A text by its lines: to show one, and to find a column of a scalar in it.
struct SourceLines: Sendable {
    private let bytes: [UInt8]
    /// Where each line begins.
    private let starts: [Int]

    init(_ text: String) {
        bytes = Array(text.utf8)
        var starts = [0]
        for (at, byte) in bytes.enumerated() where byte == 10 { starts.append(at + 1) }
        self.starts = starts
    }

    /// The line of a 1-based number, without its end.
    subscript(_ number: Int) -> String? {
        guard number >= 1, number <= starts.count else { return nil }
        var end = number < starts.count ? starts[number] - 1 : bytes.count
        let start = starts[number - 1]
        if end > start, bytes[end - 1] == 13 { end -= 1 }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Characters of a shown line before and behind the caret.
    private static let shownBefore = 100
    private static let shownAfter = 60

    /// The line and a caret below a 1-based column; a long line is cut to the part around it.
    static func caret(under line: String, _ column: Int) -> String {
        let scalars = Array(line.unicodeScalars)
        let at = min(max(0, column - 1), scalars.count)
        let start = max(0, at - shownBefore)
        let end = min(scalars.count, at + shownAfter)
        func text(_ part: ArraySlice<Unicode.Scalar>) -> String {
            var text = String.UnicodeScalarView()
            text.append(contentsOf: part)
            return String(text)
        }
        let before = String(scalars[start..<at].map { $0 == "\t" ? "\t" : " " })
        let lead = start > 0 ? "…" : ""
        return "\n  \(lead)\(text(scalars[start..<end]))\(end < scalars.count ? "…" : "")\n  \(start > 0 ? " " : "")\(before)^"
    }

    /// Where a place in a scalar's text stands in the file.
    /// - Parameters:
    ///   - line: 1-based, in the scalar's text.
    ///   - column: 1-based, in code points of the scalar's text.
    /// - Returns: the exact place in what is written on one line or as a `|` block; else the scalar's beginning.
    func position(of line: Int, _ column: Int, in node: DocumentNode) -> SourcePosition {
        let start = node.position
        guard start != .none else { return start }
        switch node.style {
        case .plain:
            guard line == 1, let first = self[start.line] else { return start }
            let rest = first.unicodeScalars.count - (start.column - 1)
            return column <= rest + 1 ? SourcePosition(line: start.line, column: start.column + column - 1) : start
        case .singleQuoted, .doubleQuoted: return line == 1 ? quoted(column, node) : start
        case .block: return block(line, column, node)
        case .none: return start
        }
    }

    private func quoted(_ column: Int, _ node: DocumentNode) -> SourcePosition {
        let start = node.position
        guard let first = self[start.line] else { return start }
        let scalars = Array(first.unicodeScalars)
        var at = start.column
        for _ in 1..<max(1, column) {
            guard at < scalars.count else { return start }
            if node.style == .singleQuoted {
                at += scalars[at] == "'" ? 2 : 1
            } else if scalars[at] == "\\", at + 1 < scalars.count {
                switch scalars[at + 1] {
                case "x": at += 4
                case "u": at += 6
                case "U": at += 10
                default: at += 2
                }
            } else {
                at += 1
            }
        }
        return SourcePosition(line: start.line, column: at + 1)
    }

    /// A block's text begins on the line behind its `|`; its first line that is not blank tells the indentation.
    private func block(_ line: Int, _ column: Int, _ node: DocumentNode) -> SourcePosition {
        let start = node.position
        guard let head = self[start.line], Array(head.unicodeScalars).indices.contains(start.column - 1),
            Array(head.unicodeScalars)[start.column - 1] == "|"
        else { return start }
        var indentation: Int?
        var number = start.line + 1
        while indentation == nil, let text = self[number] {
            let spaces = text.unicodeScalars.prefix { $0 == " " }.count
            if spaces < text.unicodeScalars.count { indentation = spaces }
            number += 1
        }
        guard let indentation else { return start }
        return SourcePosition(line: start.line + line, column: indentation + column)
    }
}
