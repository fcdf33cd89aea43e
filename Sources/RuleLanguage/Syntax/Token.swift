/// The kinds of tokens in a rule. Most raw values are the names in error messages.
enum Token: String {
    case end = "the end"
    case identifier = "a name"
    case quotedIdentifier = "a quoted name"
    case int, uint, double
    case string = "a string"
    case bytes
    case true_ = "'true'", false_ = "'false'", null_ = "'null'", in_ = "'in'"
    case leftParenthesis = "'('", rightParenthesis = "')'", leftBracket = "'['", rightBracket = "']'"
    case leftBrace = "'{'", rightBrace = "'}'"
    case dot = "'.'", comma = "','", colon = "':'", question = "'?'"
    case plus = "'+'", minus = "'-'", star = "'*'", slash = "'/'", percent = "'%'", bang = "'!'"
    case less = "'<'", lessOrEqual = "'<='", greater = "'>'", greaterOrEqual = "'>='"
    case equal = "'=='", notEqual = "'!='", and = "'&&'", or = "'||'"
    /// A text that begins no token. The lexer has reported it.
    case invalid = "an unknown character"

    var isNumber: Bool { self == .int || self == .uint || self == .double }

    /// The name in error messages.
    var text: String { isNumber ? "a number" : rawValue }
}
