import AttributeValues
import RuleLanguage

/// Reads the three ways to write a value: a literal, `=rule`, `$reference`. Its extensions read each of them.
struct ExpressionReader {
    typealias Typed = (expression: Expression, type: ValueType)

    let cursor: CheckCursor
    let vocabulary: Vocabulary
    /// Maximum length of a state's initial value, in bytes as JSON.
    let valueSize: Int

    /// Reads any of the three, with its type.
    func expression(_ node: DocumentNode, in scope: ExpressionScope) -> Typed? {
        switch node.form {
        case .literal(let value):
            guard !refusesMistaken(node, in: scope) else { return nil }
            warnOfForgottenSign(node, in: scope)
            return (.literal(value), ValueType(of: value))
        case .rule(let text) where SelectionText.hasReferences(text): return selection(text, in: scope, at: node)
        case .rule(let text):
            return compile(text, in: scope.rules, at: node, skipping: 1).map { (.rule($0), vocabulary.type(of: $0)) }
        case .reference(let text) where ExpressionReader.isSelection(text):
            return selection("$" + text, in: scope, at: node)
        case .reference(let text):
            return resolve(text, in: scope.lexical, at: node).map { (.reference($0.reference), $0.type) }
        }
    }

    func expression(_ node: DocumentNode, in scope: LexicalScope) -> Typed? {
        expression(node, in: ExpressionScope(lexical: scope))
    }

    /// Reads a rule where only a rule is allowed, with the type of its results.
    func readRule(_ node: DocumentNode, in scope: ExpressionScope) -> Typed? {
        readProgram(node, in: scope.rules).map { (.rule($0), vocabulary.type(of: $0)) }
    }

    /// The scope of rules over data. In the body of a component they can also use the subviews and sections that the
    /// component is given. A store has nodes of bodies without the component around them.
    func dataScope(_ lexical: LexicalScope) -> ExpressionScope {
        ExpressionScope(lexical: lexical, isContainer: cursor.component != nil || cursor.isKept)
    }

    private func selection(_ text: String, in scope: ExpressionScope, at node: DocumentNode) -> Typed? {
        choose(text, in: scope, at: node).map { (.selection($0.selection), $0.type) }
    }

    /// The expression converted to the type of its target; nil after adding a fault.
    /// - Parameter scope: the names that a rule or a reference there could have used.
    func fit(
        _ given: Typed, to type: ValueType, of name: String, at node: DocumentNode, in scope: LexicalScope
    ) -> Expression? {
        guard case .literal(let value) = given.expression else {
            if type.admits(given.type) { return given.expression }
            return cursor.refuse(
                .typeMismatch, "'\(name)' is \(type.withArticle), but this is \(given.type.withArticle)", at: node)
        }
        if let name = type.objectName, value != .null {
            return cursor.refuse(
                .typeMismatch, "an object of type \(name) is given as a reference, $name, not as a literal", at: node)
        }
        if let accepted = vocabulary.known.accept(value, as: type) { return .literal(accepted) }
        return cursor.refuse(
            .typeMismatch, "'\(name)' is \(type.withArticle), not \(node.summary)", at: node,
            hint: hintForName(node, in: scope))
    }
}
