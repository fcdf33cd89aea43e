/// Markdown as lines for a terminal. The page has the same parts of the language in `dashboard/markdown.js`.
enum Markdown {
    /// A line, which may be longer than a terminal is wide.
    struct Line: Equatable {
        var text: String
        var isHeading = false
    }

    static func lines(of text: String) -> [Line] {
        var lines: [Line] = []
        var isCode = false
        for given in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let line = given.drop { $0 == " " }
            if line.hasPrefix("```") {
                isCode.toggle()
            } else if isCode {
                lines.append(Line(text: String(given)))
            } else if line.hasPrefix("#"), case let rest = line.drop(while: { $0 == "#" }), rest.hasPrefix(" ") {
                lines.append(Line(text: plain(rest.dropFirst()), isHeading: true))
            } else if ["- ", "* ", "+ "].contains(where: { line.hasPrefix($0) }) {
                let indent = String(repeating: " ", count: given.count - line.count)
                lines.append(Line(text: "\(indent)• \(plain(line.dropFirst(2)))"))
            } else if line.hasPrefix("> ") {
                lines.append(Line(text: "│ \(plain(line.dropFirst(2)))"))
            } else if line.isEmpty {
                if lines.last?.text.isEmpty == false { lines.append(Line(text: "")) }
            } else {
                lines.append(Line(text: plain(line)))
            }
        }
        return lines
    }

    /// A text whose signs are no marks.
    static func escape(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            if "\\*`[]#>".contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
    }

    /// The text without the marks of bold and slanted words, code and links.
    private static func plain(_ text: Substring) -> String {
        var plain = ""
        var at = text.startIndex
        while at < text.endIndex {
            let next = text.index(after: at)
            switch text[at] {
            case "\\" where next < text.endIndex:
                plain.append(text[next])
                at = text.index(after: next)
                continue
            case "*", "`": break
            case "[":
                // A link is its text, and its address where that says more.
                guard let close = text[next...].firstIndex(of: "]"),
                    case let open = text.index(after: close), open < text.endIndex, text[open] == "(",
                    let end = text[open...].firstIndex(of: ")")
                else {
                    plain.append("[")
                    break
                }
                plain += "\(text[next..<close]) (\(text[text.index(after: open)..<end]))"
                at = text.index(after: end)
                continue
            case let character: plain.append(character)
            }
            at = next
        }
        return plain
    }
}

/// The levels of log lines, and the status whose colour they have.
enum LogLevel {
    static let status = [
        "emergency": "critical", "alert": "critical", "critical": "critical", "fatal": "critical", "error": "critical",
        "err": "critical", "warning": "warn", "warn": "warn",
    ]
}
