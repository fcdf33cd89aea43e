import AttributeValues

extension Parser {
    static let reservedWords: Set<String> = [
        "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package",
        "namespace", "return", "var", "void", "while",
    ]

    /// Parses a primary with its selects, calls and indexes.
    mutating func parseMember() -> SyntaxTree.ID {
        var operand = parsePrimary()
        while true {
            switch lexer.token {
            case .dot: operand = parseSelector(operand)
            case .leftBracket:
                let position = lexer.start
                lexer.advance()
                let isOptional = skip(.question)
                let key = parseExpression()
                expect(.rightBracket)
                operand = add(.index, at: position, flag: isOptional, [operand, key])
            case .leftBrace:
                guard let name = messageName(operand) else { return operand }
                operand = parseMessage(name, operand)
            default: return operand
            }
        }
    }

    mutating func skip(_ token: Token) -> Bool {
        guard lexer.token == token else { return false }
        lexer.advance()
        return true
    }

    private mutating func parseSelector(_ operand: SyntaxTree.ID) -> SyntaxTree.ID {
        let position = lexer.start
        lexer.advance()
        let isOptional = skip(.question)
        let isQuoted = lexer.token == .quotedIdentifier
        guard lexer.token == .identifier || isQuoted else {
            fail("expected a name after '.', found \(found)")
            return operand
        }
        let text = isQuoted ? lexer.text(lexer.start + 1, lexer.end - 1) : lexer.text
        let namePosition = lexer.start
        lexer.advance()
        if lexer.token == .leftParenthesis, !isOptional, !isQuoted {
            return parseMemberCall(operand, text, namePosition)
        }
        return add(.select, at: position, flag: isOptional, name: tree.intern(text), [operand])
    }

    private mutating func parseMemberCall(_ operand: SyntaxTree.ID, _ name: String, _ position: Int) -> SyntaxTree.ID {
        let arguments = parseArguments()
        if let macro = expandMember(operand, name, arguments, position) { return macro }
        return add(.memberCall, at: position, name: tree.intern(name), [operand] + arguments)
    }

    /// Parses the arguments of a call, including the parentheses.
    private mutating func parseArguments() -> [SyntaxTree.ID] {
        lexer.advance()
        var arguments: [SyntaxTree.ID] = []
        if lexer.token != .rightParenthesis {
            repeat { arguments.append(parseExpression()) } while skipComma()
        }
        expect(.rightParenthesis)
        return arguments
    }

    private mutating func parsePrimary() -> SyntaxTree.ID {
        let start = lexer.start
        switch lexer.token {
        case .identifier: return parseName(start, hasLeadingDot: false)
        case .dot:
            lexer.advance()
            guard lexer.token == .identifier else {
                fail("expected a name after '.', found \(found)")
                return addFaulty()
            }
            return parseName(start, hasLeadingDot: true)
        case .leftParenthesis:
            lexer.advance()
            let inner = parseExpression()
            expect(.rightParenthesis)
            return inner
        case .leftBracket: return parseList(start)
        case .leftBrace: return parseMap(start)
        case .minus, .int, .uint, .double: return parseNumber(start)
        case .string, .bytes: return parseString(start)
        case .true_, .false_, .null_:
            let value: Value = lexer.token == .null_ ? .null : .bool(lexer.token == .true_)
            lexer.advance()
            return tree.addLiteral(value, start, start, lexer.previousEnd)
        default:
            fail("expected an expression, found \(found)")
            if lexer.token == .invalid { lexer.advance() }
            return addFaulty()
        }
    }

    private mutating func parseName(_ start: Int, hasLeadingDot: Bool) -> SyntaxTree.ID {
        let text = lexer.text
        let position = lexer.start
        if Parser.reservedWords.contains(text) {
            report("'\(text)' is a reserved word", at: position, hint: "it can be used only after a dot")
        }
        lexer.advance()
        if lexer.token == .leftParenthesis {
            let arguments = parseArguments()
            if !hasLeadingDot, let macro = expandGlobal(text, arguments, position, from: start) { return macro }
            return add(.call, at: position, from: start, flag: hasLeadingDot, name: tree.intern(text), arguments)
        }
        return add(.identifier, at: start, flag: hasLeadingDot, name: tree.intern(text), [])
    }

    private mutating func parseList(_ start: Int) -> SyntaxTree.ID {
        lexer.advance()
        var elements: [SyntaxTree.ID] = []
        while lexer.token != .rightBracket, lexer.token != .end {
            elements.append(parseEntry())
            if !skipComma() { break }
        }
        expect(.rightBracket)
        return add(.list, at: start, elements)
    }

    /// `[?] expression`
    private mutating func parseEntry() -> SyntaxTree.ID {
        let start = lexer.start
        guard skip(.question) else { return parseExpression() }
        let value = parseExpression()
        return add(.optionalEntry, at: start, [value])
    }

    private mutating func parseMap(_ start: Int) -> SyntaxTree.ID {
        lexer.advance()
        var entries: [SyntaxTree.ID] = []
        while lexer.token != .rightBrace, lexer.token != .end {
            let entryStart = lexer.start
            let isOptional = skip(.question)
            entries.append(parseExpression())
            expect(.colon)
            let value = parseExpression()
            entries.append(isOptional ? add(.optionalEntry, at: entryStart, [value]) : value)
            if !skipComma() { break }
        }
        expect(.rightBrace)
        return add(.map, at: start, entries)
    }

    private func messageName(_ operand: SyntaxTree.ID) -> String? {
        guard let (names, hasDot) = tree.qualifiedName(operand) else { return nil }
        return (hasDot ? "." : "") + names.joined(separator: ".")
    }

    /// Message literals are part of the grammar. No message type is defined here; the checker reports that.
    private mutating func parseMessage(_ name: String, _ operand: SyntaxTree.ID) -> SyntaxTree.ID {
        let start = Int(tree[operand].start)
        lexer.advance()
        var values: [SyntaxTree.ID] = []
        while lexer.token != .rightBrace, lexer.token != .end {
            _ = skip(.question)
            guard lexer.token == .identifier || lexer.token == .quotedIdentifier else {
                fail("expected a field's name, found \(found)")
                break
            }
            lexer.advance()
            expect(.colon)
            values.append(parseExpression())
            if !skipComma() { break }
        }
        expect(.rightBrace)
        return add(.message, at: start, name: tree.intern(name), values)
    }

    // MARK: literals

    private mutating func parseNumber(_ start: Int) -> SyntaxTree.ID {
        let isNegative = skip(.minus)
        let text = lexer.text
        let token = lexer.token
        guard token == .int || token == .double || token == .uint && !isNegative else {
            fail("expected a number, found \(found)")
            return addFaulty()
        }
        lexer.advance()
        guard let value = Parser.readNumber(text, token, isNegative) else {
            report("the number is out of range", at: start)
            return tree.addLiteral(.null, start, start, lexer.previousEnd)
        }
        return tree.addLiteral(value, start, start, lexer.previousEnd)
    }

    /// The value of a number's token; nil if it is out of range.
    static func readNumber(_ text: String, _ token: Token, _ isNegative: Bool) -> Value? {
        switch token {
        case .int: integer(text).flatMap { signed($0, isNegative) }.map { .int($0) }
        case .uint: integer(text.dropLast()).map { .uint($0) }
        default: Double(text).flatMap { $0.isFinite ? .double(isNegative ? -$0 : $0) : nil }
        }
    }

    private static func integer(_ text: some StringProtocol) -> UInt64? {
        text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
    }

    private static func signed(_ magnitude: UInt64, _ isNegative: Bool) -> Int64? {
        guard isNegative else { return Int64(exactly: magnitude) }
        return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }

    private mutating func parseString(_ start: Int) -> SyntaxTree.ID {
        let isBytes = lexer.token == .bytes
        let range = lexer.start..<lexer.end
        lexer.advance()
        var value: Value = .null
        do throws(StringLiteral.Fault) {
            let content = try StringLiteral.decode(lexer.bytes, range, isBytes: isBytes)
            value = isBytes ? .bytes(content) : .string(String(decoding: content, as: UTF8.self))
        } catch { report(error.message, at: error.offset) }
        return tree.addLiteral(value, start, range.lowerBound, range.upperBound)
    }
}
