import AttributeValues

/// Makes programs from texts: parsing, checking, compiling.
public enum Rule {
    /// - Parameter looksForNames: true if hints should suggest similar names.
    /// - Throws: all faults of the rule at once.
    public static func compile(_ text: String, in scope: RuleScope, looksForNames: Bool = true) throws(RuleErrors)
        -> Program
    {
        let checked = try check(text, in: scope, looksForNames: looksForNames)
        return Compiler.compile(checked, text: text, scope: scope)
    }

    /// Makes a program from a rule without checking types. Undeclared names and wrong types are errors when evaluation
    /// reaches them.
    /// - Throws: faults of syntax.
    public static func compileUnchecked(_ text: String, in scope: RuleScope) throws(RuleErrors) -> Program {
        let tree = try parse(text, limits: scope.limits)
        var (checked, _) = Checker.check(tree, in: scope)
        checked.resultType = .dyn
        return Compiler.compile(checked, text: text, scope: scope)
    }

    /// The text with a sign in the place of each number. Programs of texts with the same shape, compiled in the same
    /// scope, differ only in constants, if `Program.adapted` makes one from the other.
    public static func shape(of text: String) -> String {
        guard text.utf8.contains(where: \.isDigit) else { return text }
        var text = text
        return text.withUTF8 { bytes in
            var shape: [UInt8] = []
            var lexer = Lexer(bytes)
            while lexer.token != .end {
                shape += bytes[lexer.previousEnd..<lexer.start]
                if lexer.token.isNumber {
                    shape += "#\(lexer.token.rawValue)".utf8
                } else {
                    shape += bytes[lexer.start..<lexer.end]
                }
                lexer.advance()
            }
            return String(decoding: shape, as: UTF8.self)
        }
    }

    /// The type of a rule's results.
    public static func type(of text: String, in scope: RuleScope) throws(RuleErrors) -> RuleType {
        try check(text, in: scope).resultType
    }

    /// The form that a text without `=` would have as a rule.
    public enum Reading {
        /// An operation, a call or a macro.
        case operation
        /// A name, or a path that begins with a name.
        case place
    }

    /// The form of a text as a rule, without checking types. nil if it names nothing, or something unknown.
    public static func reading(_ text: String, in scope: RuleScope) -> Reading? {
        guard text.utf8.count <= longestReading, let tree = try? parse(text, limits: scope.limits) else { return nil }
        let (checked, diagnostics) = Checker.check(tree, in: scope, looksForNames: false)
        guard diagnostics.allSatisfy({ !$0.message.hasPrefix("undeclared") }) else { return nil }
        switch reading(tree) {
        case .place?:
            return checked.variables.contains { !$0.name.text.utf8.contains(UInt8(ascii: ".")) } ? .place : nil
        case .operation?: return checked.variables.isEmpty ? nil : .operation
        case nil: return nil
        }
    }

    /// The form of a text by its syntax alone.
    public static func reading(_ text: String) -> Reading? {
        guard text.utf8.count <= longestReading, let tree = try? parse(text, limits: RuleLimits()) else { return nil }
        return reading(tree)
    }

    private static func reading(_ tree: SyntaxTree) -> Reading? {
        guard tree.nodes.contains(where: { $0.kind == .identifier }) else { return nil }
        switch tree[tree.root].kind {
        case .identifier, .select, .index: return .place
        case .literal, .faulty: return nil
        default: return .operation
        }
    }

    /// Maximum bytes of a text that may be a rule whose `=` was forgotten.
    private static let longestReading = 1000

    static func parse(_ text: String, limits: RuleLimits) throws(RuleErrors) -> SyntaxTree {
        let (tree, diagnostics) = Parser.parse(text, limits: limits)
        if !diagnostics.isEmpty { throw RuleErrors(rule: text, errors: diagnostics.map { $0.located(in: text) }) }
        return tree
    }

    static func check(_ text: String, in scope: RuleScope, looksForNames: Bool = true) throws(RuleErrors) -> CheckedTree
    {
        let tree = try parse(text, limits: scope.limits)
        let (checked, diagnostics) = Checker.check(tree, in: scope, looksForNames: looksForNames)
        if !diagnostics.isEmpty { throw RuleErrors(rule: text, errors: diagnostics.map { $0.located(in: text) }) }
        return checked
    }
}
