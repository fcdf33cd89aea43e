import AttributeValues

/// One fault of a rule, found when it is defined.
public struct RuleError: Error, Hashable {
    /// `ruleSyntax`, `ruleType` or `limit`.
    public var code: ErrorCode
    /// One sentence without position or hint.
    public var message: String
    /// 1-based.
    public var line: Int
    /// 1-based, in code points.
    public var column: Int
    public var hint: String?
}

/// All faults of a rule, in the order of their positions.
public struct RuleErrors: Error, Hashable {
    public var rule: String
    /// Never empty.
    public var errors: [RuleError]

    /// The first fault as the refusal of a request. The hint has the messages of the others.
    public var failure: Failure {
        let first = errors[0]
        var hints = first.hint.map { [$0] } ?? []
        hints += errors.dropFirst().map { "also at \($0.line):\($0.column): \($0.message)" }
        return Failure(
            first.code, first.message, rule: rule, line: first.line, column: first.column,
            hint: hints.isEmpty ? nil : hints.joined(separator: "; "))
    }
}

extension RuleErrors: CustomStringConvertible {
    /// For each fault: position and message, the source line, a caret under the column, the hint.
    public var description: String {
        let lines = SourceText.lines(rule)
        return errors.map { error in
            var text = "ERROR: <rule>:\(error.line):\(error.column): \(error.message)"
            if lines.indices.contains(error.line - 1) {
                text += "\n | \(lines[error.line - 1])\n | \(String(repeating: ".", count: error.column - 1))^"
            }
            if let hint = error.hint { text += "\n hint: \(hint)" }
            return text
        }.joined(separator: "\n")
    }
}

/// Positions in a rule's text.
enum SourceText {
    /// The line and column of a byte offset, 1-based; the column counts code points.
    static func locate(of offset: Int, in text: String) -> (line: Int, column: Int) {
        var line = 1
        var column = 1
        var rest = offset
        for byte in text.utf8 {
            if rest == 0 { break }
            rest -= 1
            if byte == 10 {
                line += 1
                column = 1
            } else if byte & 0xc0 != 0x80 {
                column += 1
            }
        }
        return (line, column)
    }

    static func lines(_ text: String) -> [Substring] {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { Substring($0) }
    }
}

/// A fault with a byte offset, before its line and column are computed.
struct Diagnostic {
    var code: ErrorCode
    var offset: Int
    var message: String
    var hint: String?

    func located(in text: String) -> RuleError {
        let (line, column) = SourceText.locate(of: offset, in: text)
        return RuleError(code: code, message: message, line: line, column: column, hint: hint)
    }
}
