/// Names in braces in a text: `{temperature}`, or `{episode.title}` for a part of a value. Other braces are text, and
/// so are those after a backslash.
public enum Placeholders {
    /// A piece of a text.
    public enum Piece: Equatable {
        case text(Substring)
        case name(Substring)
    }

    public static func names(in text: String) -> [String] {
        pieces(of: text).compactMap { if case .name(let name) = $0 { String(name) } else { nil } }
    }

    public static func pieces(of text: String) -> [Piece] {
        var pieces: [Piece] = []
        var rest = text[...]
        var from = rest.startIndex
        while let open = text[from...].firstIndex(of: "{") {
            from = text.index(after: open)
            let isEscaped = open > text.startIndex && text[text.index(before: open)] == "\\"
            guard !isEscaped, let close = text[from...].firstIndex(where: { !isPart($0) }), text[close] == "}",
                let first = text[from..<close].first, first.isLetter || first == "_"
            else { continue }
            if rest.startIndex < open { pieces.append(.text(rest[..<open])) }
            pieces.append(.name(text[from..<close]))
            from = text.index(after: close)
            rest = text[from...]
        }
        if !rest.isEmpty { pieces.append(.text(rest)) }
        return pieces
    }

    private static func isPart(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "_.[]\"-".contains(character)
    }
}
