import AttributeValues

/// A text by its lines, for showing a line and for finding a column of a scalar in it. A line may be as long as the
/// text, so no function walks more than a part of it.
package struct SourceLines: Sendable {
    private struct Start: Sendable {
        var byte: Int
        /// Number of code points before it in the text.
        var character: Int
    }

    private let bytes: [UInt8]
    /// The beginning of each line, and the end of the text.
    private let starts: [Start]
    /// The byte positions of characters at regular intervals.
    private let marks: [Int]
    private static let charactersPerMark = 1024

    package init(_ text: String) {
        bytes = Array(text.utf8)
        var starts = [Start(byte: 0, character: 0)]
        var marks: [Int] = []
        var character = 0
        for (at, byte) in bytes.enumerated() where byte & 0xc0 != 0x80 {
            if character % SourceLines.charactersPerMark == 0 { marks.append(at) }
            character += 1
            if byte == 10 { starts.append(Start(byte: at + 1, character: character)) }
        }
        starts.append(Start(byte: bytes.count, character: character))
        self.starts = starts
        self.marks = marks
    }

    /// The range of a line, given by its 1-based number, without its end.
    private func range(of number: Int) -> Range<Int>? {
        guard number >= 1, number < starts.count else { return nil }
        let start = starts[number - 1].byte
        var end = starts[number].byte
        if end > start, bytes[end - 1] == 10 { end -= 1 }
        if end > start, bytes[end - 1] == 13 { end -= 1 }
        return start..<end
    }

    /// The byte at a 1-based column of a line, or the one after the line's end; nil if there is none.
    private func byte(at position: SourcePosition) -> Int? {
        guard let line = range(of: position.line), position.column >= 1 else { return nil }
        let (start, following) = (starts[position.line - 1], starts[position.line])
        let length = following.character - start.character - (following.byte - line.upperBound)
        guard position.column - 1 <= length else { return nil }
        let wanted = start.character + position.column - 1
        let mark = wanted / SourceLines.charactersPerMark
        guard mark < marks.count else { return bytes.count }
        var at = marks[mark]
        for _ in 0..<wanted % SourceLines.charactersPerMark { at = next(at) }
        return at
    }

    /// The position of the next character.
    private func next(_ at: Int) -> Int {
        var at = at + 1
        while at < bytes.count, bytes[at] & 0xc0 == 0x80 { at += 1 }
        return at
    }

    /// The line of a position, cut to the part around it. A column after the end of the line counts as its end.
    func excerpt(at position: SourcePosition) -> LineExcerpt? {
        guard let line = range(of: position.line) else { return nil }
        return LineExcerpt(bytes[line], around: (byte(at: position) ?? line.upperBound) - line.lowerBound)
    }

    /// The position in the file of a position in a scalar's text.
    /// - Parameters:
    ///   - line: 1-based, in the scalar's text.
    ///   - column: 1-based, in code points of the scalar's text.
    /// - Returns: the exact position for a text on one line or in a `|` block, else the scalar's beginning.
    func locate(_ line: Int, _ column: Int, in node: DocumentNode) -> SourcePosition {
        let start = node.position
        guard start != .none else { return start }
        switch node.style {
        case .plain:
            let place = SourcePosition(line: start.line, column: start.column + column - 1)
            return line == 1 && byte(at: place) != nil ? place : start
        case .singleQuoted, .doubleQuoted: return line == 1 ? quoted(column, node) : start
        case .block: return block(line, column, node)
        case .none: return start
        }
    }

    /// The sign at which YAML has ended a text without quotes on one line: `,` or `#`. Nil if the line ends there.
    func endMark(of node: DocumentNode) -> String? {
        guard node.style == .plain, let line = range(of: node.position.line),
            let end = byte(
                at: SourcePosition(
                    line: node.position.line, column: node.position.column + node.text.unicodeScalars.count))
        else { return nil }
        return switch bytes[end..<max(end, line.upperBound)].first(where: { $0 != UInt8(ascii: " ") }) {
        case UInt8(ascii: ",")?: ","
        case UInt8(ascii: "#")?: "#"
        default: nil
        }
    }

    private func quoted(_ column: Int, _ node: DocumentNode) -> SourcePosition {
        let start = node.position
        guard let line = range(of: start.line), let quote = byte(at: start) else { return start }
        var at = quote + 1
        var written = start.column + 1
        for _ in 1..<max(1, column) {
            guard at < line.upperBound else { return start }
            for _ in 0..<charactersWritten(at, node.style) where at < line.upperBound {
                at = next(at)
                written += 1
            }
        }
        return SourcePosition(line: start.line, column: written)
    }

    /// The number of characters that the character at this byte takes in quotes.
    private func charactersWritten(_ at: Int, _ style: DocumentNode.Style) -> Int {
        if style == .singleQuoted { return bytes[at] == UInt8(ascii: "'") ? 2 : 1 }
        guard bytes[at] == UInt8(ascii: "\\"), at + 1 < bytes.count else { return 1 }
        return switch bytes[at + 1] {
        case UInt8(ascii: "x"): 4
        case UInt8(ascii: "u"): 6
        case UInt8(ascii: "U"): 10
        default: 2
        }
    }

    /// A block's text begins on the line after its `|`. Its first line that is not blank determines the indentation.
    private func block(_ line: Int, _ column: Int, _ node: DocumentNode) -> SourcePosition {
        let start = node.position
        guard let head = byte(at: start), head < bytes.count, bytes[head] == UInt8(ascii: "|") else { return start }
        var number = start.line + 1
        while let text = range(of: number) {
            if let first = bytes[text].firstIndex(where: { $0 != UInt8(ascii: " ") }) {
                return SourcePosition(line: start.line + line, column: first - text.lowerBound + column)
            }
            number += 1
        }
        return start
    }
}

/// The part of a line around a position, and the text before a caret below it.
public struct LineExcerpt {
    /// Number of characters shown before and after the position.
    private static let shownBefore = 100
    private static let shownAfter = 60

    private let text: String
    /// As wide as the text before the position. Tabs are kept, so that the terminal aligns the caret with the character
    /// above.
    private let lead: String

    /// - Parameters:
    ///   - line: UTF-8.
    ///   - offset: the byte of the position.
    public init(_ line: some RandomAccessCollection<UInt8>, around offset: Int) {
        func isInside(_ offset: Int) -> Bool { line[line.index(line.startIndex, offsetBy: offset)] & 0xc0 == 0x80 }
        let at = min(max(0, offset), line.count)
        var start = at
        for _ in 0..<LineExcerpt.shownBefore where start > 0 {
            repeat { start -= 1 } while start > 0 && isInside(start)
        }
        var end = at
        for _ in 0..<LineExcerpt.shownAfter where end < line.count {
            repeat { end += 1 } while end < line.count && isInside(end)
        }
        func part(_ from: Int, _ to: Int) -> String {
            String(decoding: line.dropFirst(from).prefix(to - from), as: UTF8.self)
        }
        let before = part(start, at).unicodeScalars.map { $0 == "\t" ? "\t" : " " as Unicode.Scalar }
        text = (start > 0 ? "…" : "") + part(start, end) + (end < line.count ? "…" : "")
        lead = (start > 0 ? " " : "") + String(String.UnicodeScalarView(before))
    }

    /// - Parameter column: in code points, from 1.
    public init(_ line: String, column: Int) {
        var text = line
        self = text.withUTF8 { bytes in
            var at = 0
            for _ in 1..<max(1, column) where at < bytes.count {
                repeat { at += 1 } while at < bytes.count && bytes[at] & 0xc0 == 0x80
            }
            return LineExcerpt(bytes, around: at)
        }
    }

    /// Two complete lines: the excerpt, and a caret below the position.
    /// - Parameters:
    ///   - gutter: `|`, which may be coloured.
    ///   - caret: `^`, which may be coloured.
    public func draw(gutter: String = "|", caret: String = "^") -> String {
        "  \(gutter) \(text)\n  \(gutter) \(lead)\(caret)\n"
    }
}
