import AttributeValues
import RuleLanguage

// Compiles the rules of a document, and adds faults at their places in it.
extension ExpressionReader {
    /// Reads a rule where only a rule is allowed. A leading `=` is accepted.
    func readProgram(_ node: DocumentNode, in scope: RuleScope) -> Program? {
        guard case .scalar = node.content else {
            return cursor.refuse("a rule is a text, not \(node.summary)", at: node)
        }
        if node.isNull {
            return cursor.refuse(.ruleSyntax, "the rule is empty", at: node)
        }
        let text = ExpressionReader.ruleText(of: node)
        return compile(text, in: scope, at: node, skipping: text.utf8.count < node.text.utf8.count ? 1 : 0)
    }

    /// The rule in a node that has one, without a leading `=`.
    static func ruleText(of node: DocumentNode) -> String {
        // `0` and `true` are rules too.
        guard let text = node.string else { return node.text }
        return text.hasPrefix("=") ? String(text.dropFirst()) : text
    }

    /// - Parameter skipped: the number of characters before the rule in the node's text.
    func compile(_ text: String, in scope: RuleScope, at node: DocumentNode, skipping skipped: Int = 0) -> Program? {
        do throws(RuleErrors) { return try compileUnchecked(text, in: scope) } catch {
            // An object type was declared anew since the rule was accepted: it fails when it runs.
            if cursor.isKept, error.errors.allSatisfy({ $0.code == .ruleType && !$0.isOfUnknownName }),
                let program = try? Rule.compileUnchecked(text, in: scope)
            {
                return program
            }
            for one in error.errors { cursor.faults.add(fault(one, of: text, at: node, skipping: skipped)) }
            return nil
        }
    }

    /// Reads the rule of a declared function. Its names are checked later.
    func readFunction(_ name: String, _ parameters: [String], _ node: DocumentNode, limits: RuleLimits)
        -> DeclaredFunction?
    {
        guard case .scalar = node.content, !node.isNull else {
            return cursor.refuse(
                .ruleSyntax, "the rule of \(name)() is a text, not \(node.summary)", at: node,
                hint: "write \(name)(\(parameters.joined(separator: ", "))): rule")
        }
        let text = ExpressionReader.ruleText(of: node)
        return adding(faultsOf: text, at: node) { () throws(RuleErrors) in
            try DeclaredFunction(name, parameters, text, limits: limits)
        }
    }

    func check(_ function: DeclaredFunction, _ node: DocumentNode, in scope: RuleScope) {
        cursor.work += SceneCost.rule + SceneCost.ruleByte * function.text.utf8.count
        // In a store: the names that it uses may have been declared anew since.
        if cursor.isKept { return }
        _ = adding(faultsOf: function.text, at: node) { () throws(RuleErrors) in try function.check(in: scope) }
    }

    private func adding<T>(
        faultsOf text: String, at node: DocumentNode, _ body: () throws(RuleErrors) -> T
    ) -> T? {
        do throws(RuleErrors) { return try body() } catch {
            let skipped = text.utf8.count < node.text.utf8.count ? 1 : 0
            for one in error.errors { cursor.faults.add(fault(one, of: text, at: node, skipping: skipped)) }
            return nil
        }
    }

    /// Compiles a rule without adding its faults.
    func compileUnchecked(_ text: String, in scope: RuleScope) throws(RuleErrors) -> Program {
        cursor.work += SceneCost.rule + SceneCost.ruleByte * text.utf8.count
        return try Rule.compile(text, in: scope, looksForNames: !cursor.faults.isFull)
    }

    private func fault(_ error: RuleError, of text: String, at node: DocumentNode, skipping skipped: Int) -> SceneFault
    {
        let lines = cursor.faults.lines
        let column = error.line == 1 ? error.column + skipped : error.column
        var hint = error.hint
        if error.message.contains("'subviews'") || error.message.contains("'sections'"),
            error.message.contains("undeclared")
        {
            hint = "subviews and sections are in scope on containers: write kind: container"
        }
        if let name = error.unknownName, let other = cursor.hintForOther(name) { hint = other }
        if error.code == .ruleSyntax, !error.namesSign, let mark = lines?.endMark(of: node) {
            hint = "YAML ends the rule at the \(mark): put quotes around it"
        }
        return SceneFault(
            error.code, error.message, place: cursor.place,
            position: lines?.locate(error.line, column, in: node) ?? node.position,
            rule: text, rulePosition: SourcePosition(line: error.line, column: error.column), hint: hint)
    }
}

extension RuleError {
    /// The name in `undeclared reference to 'name'`.
    fileprivate var unknownName: String? {
        let parts = message.split(separator: "'")
        return parts.count == 2 && parts[0] == "undeclared reference to " ? String(parts[1]) : nil
    }

    /// True if a name is unknown that may become known.
    fileprivate var isOfUnknownName: Bool { message.hasPrefix("undeclared") || message.hasPrefix("no ") }

    /// True if something that is written is wrong, and not the end of the text.
    fileprivate var namesSign: Bool { message.contains("unexpected '") || message.contains("found '") }
}
