import AttributeValues

/// From text to program: parse, check, compile.
public enum Rule {
    /// - Parameter looksForNames: near names are looked for, to be told in hints.
    /// - Throws: all faults of the rule at once.
    public static func compile(_ text: String, in scope: RuleScope, looksForNames: Bool = true) throws(RuleErrors) -> Program {
        let checked = try check(text, in: scope, looksForNames: looksForNames)
        return Compiler.compile(checked, text: text, scope: scope)
    }

    /// A program from a rule whose types are not checked: names that are not declared and types that do not fit are
    /// errors when evaluation reaches them.
    /// - Throws: faults of syntax.
    public static func compileUnchecked(_ text: String, in scope: RuleScope) throws(RuleErrors) -> Program {
        let tree = try parse(text, limits: scope.limits)
        var (checked, _) = Checker.check(tree, in: scope)
        checked.resultType = .dyn
        return Compiler.compile(checked, text: text, scope: scope)
    }

    /// The type of a rule's results.
    public static func type(of text: String, in scope: RuleScope) throws(RuleErrors) -> RuleType {
        try check(text, in: scope).resultType
    }

    static func parse(_ text: String, limits: RuleLimits) throws(RuleErrors) -> SyntaxTree {
        let (tree, diagnostics) = Parser.parse(text, limits: limits)
        if !diagnostics.isEmpty {
            throw RuleErrors(rule: text, errors: diagnostics.map { $0.located(in: text) })
        }
        return tree
    }

    static func check(_ text: String, in scope: RuleScope, looksForNames: Bool = true) throws(RuleErrors) -> CheckedTree {
        let tree = try parse(text, limits: scope.limits)
        let (checked, diagnostics) = Checker.check(tree, in: scope, looksForNames: looksForNames)
        if !diagnostics.isEmpty {
            throw RuleErrors(rule: text, errors: diagnostics.map { $0.located(in: text) })
        }
        return checked
    }
}
