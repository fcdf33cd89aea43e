import AttributeValues

/// The three ways to write a value: a literal, `=rule`, `$reference`.
enum WrittenForm {
    case literal(Value)
    /// The rule's text behind its `=`.
    case rule(String)
    /// The text behind the `$`.
    case reference(String)
}

extension DocumentNode {
    /// The meaning of a node where an expression is allowed.
    var form: WrittenForm {
        guard case .scalar(.string(let text)) = content else { return .literal(value) }
        switch text.utf8.first {
        case UInt8(ascii: "="):
            let rest = String(text.dropFirst())
            return text.hasPrefix("==") ? .literal(.string(rest)) : .rule(rest)
        case UInt8(ascii: "$"):
            let rest = String(text.dropFirst())
            return text.hasPrefix("$$") ? .literal(.string(rest)) : .reference(rest)
        default: return .literal(.string(text))
        }
    }
}
