import AttributeValues

/// Parses a text to a syntax tree, by precedence climbing over the bytes. Never throws: after a fault, the parser skips
/// to the next comma or closing bracket and continues, so that one pass finds all independent faults. `limits.nesting`
/// bounds the recursion. Time and memory are linear in the text.
struct Parser {
    var lexer: Lexer
    var tree: SyntaxTree
    var diagnostics: [Diagnostic] = []
    let limits: RuleLimits
    private var depth = 0
    /// True from a fault to the next position at which parsing restarts. Faults between them would be consequences.
    private var isRecovering = false
    private var isAborted = false

    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: RuleLimits) {
        lexer = Lexer(bytes)
        tree = SyntaxTree(capacity: min(bytes.count / 3 + 4, limits.nodes))
        self.limits = limits
    }

    static func parse(_ text: String, limits: RuleLimits) -> (tree: SyntaxTree, diagnostics: [Diagnostic]) {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count <= limits.sourceLength else {
                let message = "a rule of \(bytes.count) bytes; at most \(limits.sourceLength) are allowed"
                return (SyntaxTree(capacity: 0), [Diagnostic(code: .limit, offset: 0, message: message)])
            }
            var parser = Parser(bytes, limits: limits)
            parser.tree.root = parser.parseExpression()
            if parser.lexer.token != .end { parser.fail("expected an operator or the end, found \(parser.found)") }
            return (parser.tree, parser.diagnostics)
        }
    }

    // MARK: faults

    var found: String {
        switch lexer.token {
        case .identifier, .quotedIdentifier, .int, .uint, .double: "'\(lexer.text)'"
        default: lexer.token.text
        }
    }

    mutating func fail(_ message: String, at offset: Int? = nil, hint: String? = nil) {
        if isRecovering || isAborted || diagnostics.count >= limits.errors { return }
        isRecovering = true
        if lexer.token == .invalid, let fault = lexer.fault {
            diagnostics.append(Diagnostic(code: .ruleSyntax, offset: fault.offset, message: fault.message))
        } else {
            diagnostics.append(
                Diagnostic(
                    code: .ruleSyntax, offset: offset ?? lexer.start, message: message, hint: hint ?? operatorHint))
        }
    }

    /// A hint if the next word is an operator in other languages but not in CEL.
    private var operatorHint: String? {
        if lexer.token == .question, lexer.previousEnd == lexer.start {
            return "there is no ??: write a != null ? a : b"
        }
        guard lexer.token == .identifier else { return nil }
        switch lexer.text {
        case "and": return "'and' is written &&"
        case "or": return "'or' is written ||"
        default: break
        }
        guard let last = tree.nodes.indices.last, tree[last].kind == .identifier, tree.spelling(last) == "not" else {
            return nil
        }
        return "'not' is written !"
    }

    /// Reports a fault after which the parser continues normally, so that later faults are reported too.
    mutating func report(_ message: String, at offset: Int, hint: String? = nil) {
        if isRecovering || isAborted || diagnostics.count >= limits.errors { return }
        diagnostics.append(Diagnostic(code: .ruleSyntax, offset: offset, message: message, hint: hint))
    }

    private mutating func abort(_ message: String) {
        if isAborted { return }
        diagnostics.append(Diagnostic(code: .limit, offset: lexer.start, message: message))
        isAborted = true
        lexer.moveToEnd()
    }

    /// Skips to the next comma or closing bracket of the present level.
    private mutating func recover() {
        var level = 0
        while true {
            switch lexer.token {
            case .end: return
            case .leftParenthesis, .leftBracket, .leftBrace: level += 1
            case .rightParenthesis, .rightBracket, .rightBrace:
                if level == 0 { return }
                level -= 1
            case .comma: if level == 0 { return }
            default: break
            }
            lexer.advance()
        }
    }

    /// Parses the comma between two items. It ends the recovery from a fault in the item before it.
    mutating func skipComma() -> Bool {
        if isRecovering { recover() }
        guard lexer.token == .comma else { return false }
        isRecovering = false
        lexer.advance()
        return true
    }

    mutating func expect(_ token: Token) {
        if lexer.token == token {
            isRecovering = false
            lexer.advance()
            return
        }
        fail("expected \(token.text), found \(found)")
        recover()
        if lexer.token == token {
            isRecovering = false
            lexer.advance()
        }
    }

    // MARK: nodes

    /// Adds a node that ends before the current token.
    /// - Parameter name: the number of a name.
    mutating func add(
        _ kind: SyntaxTree.Kind, at position: Int, from start: Int? = nil, flag: Bool = false, detail: UInt8 = 0,
        name: Int32 = -1, second: Int32 = -1, _ children: [SyntaxTree.ID]
    ) -> SyntaxTree.ID {
        let node = SyntaxTree.Node(
            kind: kind, flag: flag, detail: detail, name: name, second: second, position: Int32(position),
            start: Int32(start ?? position), end: Int32(lexer.previousEnd))
        let id = tree.add(node, children)
        if tree.nodes.count > limits.nodes { abort("a rule of more than \(limits.nodes) parts") }
        if Int(tree[id].height) > limits.nesting { abort("nested deeper than \(limits.nesting) levels") }
        return id
    }

    mutating func addFaulty() -> SyntaxTree.ID { add(.faulty, at: lexer.start, []) }

    // MARK: expressions

    mutating func parseExpression() -> SyntaxTree.ID {
        depth += 1
        defer { depth -= 1 }
        guard depth <= limits.nesting else {
            abort("nested deeper than \(limits.nesting) levels")
            return addFaulty()
        }
        let condition = parseOr()
        guard lexer.token == .question else { return condition }
        let position = lexer.start
        lexer.advance()
        let yes = parseOr()
        if lexer.token != .colon {
            fail("expected ':' of the conditional, found \(found)", hint: "put a nested conditional in parentheses")
            return addFaulty()
        }
        lexer.advance()
        let no = parseExpression()
        return add(.conditional, at: position, [condition, yes, no])
    }

    private mutating func parseOr() -> SyntaxTree.ID {
        parseLogical(.or, .or) { $0.parseLogical(.and, .and) { $0.parseBinary(1) } }
    }

    /// One node for the whole chain of any length, so that chains do not nest.
    private mutating func parseLogical(
        _ token: Token, _ kind: SyntaxTree.Kind, _ operand: (inout Parser) -> SyntaxTree.ID
    ) -> SyntaxTree.ID {
        let first = operand(&self)
        guard lexer.token == token else { return first }
        let position = lexer.start
        var operands = [first]
        while lexer.token == token {
            lexer.advance()
            operands.append(operand(&self))
        }
        return add(kind, at: position, operands)
    }

    private func binaryOperator() -> (SyntaxTree.Operation, level: Int)? {
        switch lexer.token {
        case .less: (.less, 1)
        case .lessOrEqual: (.lessOrEqual, 1)
        case .greater: (.greater, 1)
        case .greaterOrEqual: (.greaterOrEqual, 1)
        case .equal: (.equal, 1)
        case .notEqual: (.notEqual, 1)
        case .in_: (.isIn, 1)
        case .plus: (.add, 2)
        case .minus: (.subtract, 2)
        case .star: (.multiply, 3)
        case .slash: (.divide, 3)
        case .percent: (.modulo, 3)
        default: nil
        }
    }

    private mutating func parseBinary(_ minimum: Int) -> SyntaxTree.ID {
        var left = parseUnary()
        while let (operation, level) = binaryOperator(), level >= minimum {
            let position = lexer.start
            lexer.advance()
            let right = parseBinary(level + 1)
            left = add(.binary, at: position, detail: operation.rawValue, [left, right])
        }
        return left
    }

    private mutating func parseUnary() -> SyntaxTree.ID {
        let position = lexer.start
        switch lexer.token {
        case .bang: return parsePrefix(.bang, .not, position)
        case .minus: return parsePrefix(.minus, .negate, position)
        default: return parseMember()
        }
    }

    /// `!!x` is x: pairs cancel. A minus directly before a number belongs to the number.
    private mutating func parsePrefix(_ token: Token, _ kind: SyntaxTree.Kind, _ position: Int) -> SyntaxTree.ID {
        var isOdd = false
        while lexer.token == token {
            if token == .minus, lexer.isBeforeNumber { break }
            isOdd.toggle()
            lexer.advance()
        }
        let operand = parseMember()
        return isOdd ? add(kind, at: position, [operand]) : operand
    }
}
