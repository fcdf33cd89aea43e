import AttributeValues

/// The first fault of a text that is not JSON, with its position. The parser says only that there is one.
struct JSONFault {
    var message: String
    /// From 1, in lines and code points.
    var line: Int
    var column: Int

    /// - Returns: nil if the text is JSON.
    static func find(in text: String) -> JSONFault? {
        var scan = Scan(text)
        do throws(Scan.Fault) {
            try scan.document()
            return nil
        } catch { return scan.located(error) }
    }

    /// In a text of one line, only the column is of interest.
    var place: String { line == 1 ? "column \(column)" : "line \(line), column \(column)" }
}

/// A reader of JSON's grammar without recursion.
private struct Scan {
    struct Fault: Error {
        var message: String
        var position: Int
    }

    private let text: [Unicode.Scalar]
    private var at = 0
    /// The positions of the brackets that are open.
    private var open: [Int] = []

    init(_ text: String) { self.text = Array(text.unicodeScalars) }

    func located(_ fault: Fault) -> JSONFault {
        let before = text[..<fault.position]
        let start = before.lastIndex(of: "\n").map { $0 + 1 } ?? 0
        return JSONFault(
            message: fault.message, line: before.count { $0 == "\n" } + 1, column: fault.position - start + 1)
    }

    mutating func document() throws(Fault) {
        repeat { try value() } while try continues()
        if skipSpace() != nil { throw expected("the end after the value") }
    }

    /// Reads a scalar, or the beginning of lists and objects up to their first scalar.
    private mutating func value() throws(Fault) {
        while let first = skipSpace() {
            guard first == "[" || first == "{" else { return try scalar() }
            open.append(at)
            at += 1
            if skipSpace() == Scan.end(of: first) { return close() }
            if first == "{" { try key() }
        }
        throw expected("a value")
    }

    /// After a value: closes what ends here.
    /// - Returns: true if another value follows.
    private mutating func continues() throws(Fault) -> Bool {
        while let bracket = open.last {
            let end = Scan.end(of: text[bracket])
            switch skipSpace() {
            case end: close()
            case ",":
                let comma = at
                at += 1
                if skipSpace() == end { throw Fault(message: "a comma before \(end)", position: comma) }
                if end == "}" { try key() }
                return true
            default: throw expected(", or \(end)")
            }
        }
        return false
    }

    private static func end(of bracket: Unicode.Scalar) -> Unicode.Scalar { bracket == "[" ? "]" : "}" }

    private mutating func close() {
        open.removeLast()
        at += 1
    }

    private mutating func key() throws(Fault) {
        guard skipSpace() == "\"" else { throw expected("a key in double quotes") }
        try string()
        guard skipSpace() == ":" else { throw expected(": after the key") }
        at += 1
    }

    private mutating func scalar() throws(Fault) {
        if text[at] == "\"" { return try string() }
        let start = at
        while at < text.count, Scan.isWord(text[at]) { at += 1 }
        let word = string(start..<at)
        if ["true", "false", "null"].contains(word) || JSONText.hasNumberForm(word) { return }
        at = start
        throw expected("a value")
    }

    private mutating func string() throws(Fault) {
        let start = at
        at += 1
        while at < text.count, text[at] != "\"" {
            if text[at].value < 0x20 {
                let name = text[at] == "\n" ? "a line break" : "a control character"
                throw Fault(message: "\(name) in a text; write it as \\n or \\u0000", position: at)
            }
            if text[at] == "\\" {
                at += 1
                guard at < text.count else { break }
                if text[at] == "u" {
                    let digits = text[(at + 1)..<min(at + 5, text.count)]
                    guard digits.count == 4, digits.allSatisfy(\.properties.isASCIIHexDigit) else {
                        throw Fault(message: "\\u needs four hexadecimal digits", position: at - 1)
                    }
                } else if !"\"\\/bfnrt".unicodeScalars.contains(text[at]) {
                    throw Fault(message: "there is no escape \\\(text[at]); a backslash is \\\\", position: at - 1)
                }
            }
            at += 1
        }
        guard at < text.count else { throw Fault(message: "this text is not closed", position: start) }
        at += 1
    }

    /// - Returns: what follows; nil at the end of the text.
    private mutating func skipSpace() -> Unicode.Scalar? {
        while at < text.count, " \t\r\n".unicodeScalars.contains(text[at]) { at += 1 }
        return at < text.count ? text[at] : nil
    }

    /// The fault of a position where something else has to stand. At the end of the text, an open bracket is the cause.
    private func expected(_ what: String) -> Fault {
        if at == text.count, let bracket = open.last {
            return Fault(message: "this \(text[bracket]) is not closed", position: bracket)
        }
        return Fault(message: "expected \(what), found \(found)", position: at)
    }

    /// The text at the position, in a few words.
    private var found: String {
        guard at < text.count else { return "nothing" }
        var end = at + 1
        if Scan.isWord(text[at]) { while end < text.count, end - at < 20, Scan.isWord(text[end]) { end += 1 } }
        return string(at..<end).printable
    }

    private func string(_ range: Range<Int>) -> String {
        var string = String.UnicodeScalarView()
        string.append(contentsOf: text[range])
        return String(string)
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || "+-._".unicodeScalars.contains(scalar) || ("0"..."9").contains(scalar)
    }
}
