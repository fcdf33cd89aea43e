/// The kinds of tokens in a rule.
enum Token: UInt8 {
    case end
    case identifier, quotedIdentifier
    case int, uint, double, string, bytes
    case true_, false_, null_, in_
    case leftParenthesis, rightParenthesis, leftBracket, rightBracket, leftBrace, rightBrace
    case dot, comma, colon, question
    case plus, minus, star, slash, percent, bang
    case less, lessOrEqual, greater, greaterOrEqual, equal, notEqual, and, or
    /// A text that begins no token. The lexer has reported it.
    case invalid

    var isNumber: Bool { self == .int || self == .uint || self == .double }

    /// The name in error messages.
    var text: String {
        switch self {
        case .end: "the end"
        case .identifier: "a name"
        case .quotedIdentifier: "a quoted name"
        case .int, .uint, .double: "a number"
        case .string: "a string"
        case .bytes: "bytes"
        case .true_: "'true'"
        case .false_: "'false'"
        case .null_: "'null'"
        case .in_: "'in'"
        case .leftParenthesis: "'('"
        case .rightParenthesis: "')'"
        case .leftBracket: "'['"
        case .rightBracket: "']'"
        case .leftBrace: "'{'"
        case .rightBrace: "'}'"
        case .dot: "'.'"
        case .comma: "','"
        case .colon: "':'"
        case .question: "'?'"
        case .plus: "'+'"
        case .minus: "'-'"
        case .star: "'*'"
        case .slash: "'/'"
        case .percent: "'%'"
        case .bang: "'!'"
        case .less: "'<'"
        case .lessOrEqual: "'<='"
        case .greater: "'>'"
        case .greaterOrEqual: "'>='"
        case .equal: "'=='"
        case .notEqual: "'!='"
        case .and: "'&&'"
        case .or: "'||'"
        case .invalid: "an unknown character"
        }
    }
}
