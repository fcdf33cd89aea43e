import AttributeValues

/// Splits a rule's UTF-8 bytes into tokens, one at a time. It has a pointer into the text, so like the parser it lives
/// only inside the closure that provides the bytes.
struct Lexer {
    let bytes: UnsafeBufferPointer<UInt8>
    private(set) var token: Token = .end
    /// The current token's bytes.
    private(set) var start = 0
    private(set) var end = 0
    private(set) var previousEnd = 0
    /// The fault of the current token.
    private(set) var fault: (offset: Int, message: String)?

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        advance()
    }

    private func byte(_ position: Int) -> UInt8 { position < bytes.count ? bytes[position] : 0 }

    func text(_ from: Int, _ to: Int) -> String { String(decoding: bytes[from..<to], as: UTF8.self) }
    var text: String { text(start, end) }

    /// True if the next token is a number without sign, so that a minus belongs to its literal.
    var isBeforeNumber: Bool {
        var next = self
        next.advance()
        return next.token == .int || next.token == .double
    }

    mutating func moveToEnd() {
        start = bytes.count
        end = bytes.count
        token = .end
        fault = nil
    }

    mutating func advance() {
        previousEnd = end
        fault = nil
        var at = end
        skipSpace(&at)
        start = at
        guard at < bytes.count else {
            end = at
            token = .end
            return
        }
        let first = bytes[at]
        if first.beginsName {
            readWord(at)
        } else if first.isDigit || first == UInt8(ascii: ".") && byte(at + 1).isDigit {
            readNumber(at)
        } else if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
            readString(at, quoteAt: at, isRaw: false, isBytes: false)
        } else if first == UInt8(ascii: "`") {
            readQuotedName(at)
        } else if first == UInt8(ascii: "$"), byte(at + 1) == UInt8(ascii: "/") {
            readRootName(at)
        } else {
            readOperator(at, first)
        }
    }

    private func skipSpace(_ at: inout Int) {
        while at < bytes.count {
            switch bytes[at] {
            case 32, 9, 10, 12, 13: at += 1
            case UInt8(ascii: "/"):
                guard byte(at + 1) == UInt8(ascii: "/") else { return }
                while at < bytes.count, bytes[at] != 10 { at += 1 }
            default: return
            }
        }
    }

    private mutating func readWord(_ from: Int) {
        var at = from + 1
        while at < bytes.count, bytes[at].isOfName { at += 1 }
        let next = byte(at)
        if at - from <= 2, next == UInt8(ascii: "\"") || next == UInt8(ascii: "'"),
            let prefix = Lexer.stringPrefix(bytes[from], at - from == 2 ? bytes[from + 1] : nil)
        {
            readString(from, quoteAt: at, isRaw: prefix.isRaw, isBytes: prefix.isBytes)
            return
        }
        end = at
        token = keyword(from, at)
    }

    /// `$/grid/limits.high`: a name that is the path of an attribute, or of all that `$/*.battery` matches.
    private mutating func readRootName(_ from: Int) {
        func isPart(_ byte: UInt8) -> Bool {
            byte.isOfName || byte == UInt8(ascii: "-") || byte >= 0x80
        }
        var at = from + 1
        while byte(at) == UInt8(ascii: "/") {
            at += 1
            if byte(at) == UInt8(ascii: "\"") {
                at += 1
                while at < bytes.count, bytes[at] != UInt8(ascii: "\"") { at += 1 }
                at += 1
            } else if byte(at) == UInt8(ascii: "*") {
                at += byte(at + 1) == UInt8(ascii: "*") ? 2 : 1
            } else {
                while isPart(byte(at)) { at += 1 }
            }
        }
        if byte(at) == UInt8(ascii: ".") {
            at += 1
            while byte(at).isOfName { at += 1 }
        }
        end = min(at, bytes.count)
        token = .identifier
    }

    private static func stringPrefix(_ first: UInt8, _ second: UInt8?) -> (isRaw: Bool, isBytes: Bool)? {
        let a = first | 0x20
        guard let second else {
            return a == UInt8(ascii: "r") ? (true, false) : a == UInt8(ascii: "b") ? (false, true) : nil
        }
        return a == UInt8(ascii: "b") && second | 0x20 == UInt8(ascii: "r") ? (true, true) : nil
    }

    private func keyword(_ from: Int, _ to: Int) -> Token {
        switch to - from {
        case 2: matches("in", from) ? .in_ : .identifier
        case 4: matches("true", from) ? .true_ : matches("null", from) ? .null_ : .identifier
        case 5: matches("false", from) ? .false_ : .identifier
        default: .identifier
        }
    }

    private func matches(_ word: StaticString, _ from: Int) -> Bool {
        for position in 0..<word.utf8CodeUnitCount where bytes[from + position] != word.utf8Start[position] {
            return false
        }
        return true
    }

    private mutating func readNumber(_ from: Int) {
        var at = from
        func skipDigits(_ at: inout Int) { while byte(at).isDigit { at += 1 } }
        token = .int
        if bytes[at] == 48, byte(at + 1) == UInt8(ascii: "x"), byte(at + 2).hexDigit != nil {
            at += 2
            while byte(at).hexDigit != nil { at += 1 }
        } else {
            skipDigits(&at)
            if byte(at) == UInt8(ascii: "."), byte(at + 1).isDigit {
                token = .double
                at += 1
                skipDigits(&at)
            }
            if byte(at) | 0x20 == UInt8(ascii: "e") {
                let sign = byte(at + 1)
                let digits = sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") ? at + 2 : at + 1
                if byte(digits).isDigit {
                    token = .double
                    at = digits
                    skipDigits(&at)
                }
            }
        }
        if token == .int, byte(at) | 0x20 == UInt8(ascii: "u") {
            token = .uint
            at += 1
        }
        end = at
    }

    private mutating func readQuotedName(_ from: Int) {
        var at = from + 1
        while at < bytes.count, isInQuotedName(bytes[at]) { at += 1 }
        if byte(at) == UInt8(ascii: "`"), at > from + 1 {
            end = at + 1
            token = .quotedIdentifier
        } else {
            end = min(at + 1, bytes.count)
            token = .invalid
            fault = (at, "a name in backquotes is made of letters, digits, '_', '.', '-', '/' and spaces")
        }
    }

    private func isInQuotedName(_ byte: UInt8) -> Bool {
        byte.isOfName || byte == 32
            || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "/")
    }

    private mutating func readOperator(_ at: Int, _ first: UInt8) {
        let next = byte(at + 1)
        var length = 1
        func pair(_ second: Unicode.Scalar, _ double: Token, _ single: Token) -> Token {
            if next == UInt8(ascii: second) {
                length = 2
                return double
            }
            return single
        }
        switch first {
        case UInt8(ascii: "("): token = .leftParenthesis
        case UInt8(ascii: ")"): token = .rightParenthesis
        case UInt8(ascii: "["): token = .leftBracket
        case UInt8(ascii: "]"): token = .rightBracket
        case UInt8(ascii: "{"): token = .leftBrace
        case UInt8(ascii: "}"): token = .rightBrace
        case UInt8(ascii: "."): token = .dot
        case UInt8(ascii: ","): token = .comma
        case UInt8(ascii: ":"): token = .colon
        case UInt8(ascii: "?"): token = .question
        case UInt8(ascii: "+"): token = .plus
        case UInt8(ascii: "-"): token = .minus
        case UInt8(ascii: "*"): token = .star
        case UInt8(ascii: "/"): token = .slash
        case UInt8(ascii: "%"): token = .percent
        case UInt8(ascii: "!"): token = pair("=", .notEqual, .bang)
        case UInt8(ascii: "<"): token = pair("=", .lessOrEqual, .less)
        case UInt8(ascii: ">"): token = pair("=", .greaterOrEqual, .greater)
        case UInt8(ascii: "="): token = pair("=", .equal, .invalid)
        case UInt8(ascii: "&"): token = pair("&", .and, .invalid)
        case UInt8(ascii: "|"): token = pair("|", .or, .invalid)
        default:
            token = .invalid
            while first >= 0xc0, byte(at + length) & 0xc0 == 0x80 { length += 1 }
        }
        end = at + length
        if token == .invalid {
            let character = text(at, end)
            let hint =
                switch first {
                case UInt8(ascii: "="): "; equality is '=='"
                case UInt8(ascii: "&"): "; 'and' is '&&'"
                case UInt8(ascii: "|"): "; 'or' is '||'"
                case UInt8(ascii: "$"): "; a rule names an attribute without it"
                default: ""
                }
            fault = (at, "unexpected '\(character)'\(hint)")
        }
    }

    /// Finds the end of the string. Its content is decoded when the parser takes it.
    private mutating func readString(_ from: Int, quoteAt: Int, isRaw: Bool, isBytes: Bool) {
        let quote = bytes[quoteAt]
        let isTriple = byte(quoteAt + 1) == quote && byte(quoteAt + 2) == quote
        var at = quoteAt + (isTriple ? 3 : 1)
        token = isBytes ? .bytes : .string
        while at < bytes.count {
            let next = bytes[at]
            if next == quote, !isTriple || byte(at + 1) == quote && byte(at + 2) == quote {
                end = at + (isTriple ? 3 : 1)
                return
            }
            if !isTriple, next == 10 || next == 13 { break }
            at += next == UInt8(ascii: "\\") && !isRaw ? 2 : 1
        }
        end = min(at, bytes.count)
        token = .invalid
        fault = (from, "the string does not end")
    }
}
