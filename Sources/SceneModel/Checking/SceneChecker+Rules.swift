import AttributeValues
import RuleLanguage
import Timelines

// The three ways to write a value: a literal, `=rule`, `$reference`.

extension SceneChecker {
    /// The meaning of a string where an expression is allowed.
    enum Written {
        case literal(Value)
        /// The rule's text, and the number of characters before it.
        case rule(String, skipping: Int)
        case reference(String)
    }

    func written(_ node: DocumentNode) -> Written {
        guard case .scalar(.string(let text)) = node.content else { return .literal(node.value) }
        switch text.utf8.first {
        case UInt8(ascii: "="):
            return text.hasPrefix("==")
                ? .literal(.string(String(text.dropFirst()))) : .rule(String(text.dropFirst()), skipping: 1)
        case UInt8(ascii: "$"):
            return text.hasPrefix("$$")
                ? .literal(.string(String(text.dropFirst()))) : .reference(String(text.dropFirst()))
        default: return .literal(.string(text))
        }
    }

    /// A literal where neither a rule nor a reference is allowed; nil after adding a fault.
    func literal(_ node: DocumentNode, _ what: String, hint: String) -> Value? {
        switch written(node) {
        case .literal(let value): return value
        case .rule(let text, _):
            fault("\(what), not from a rule", at: node, hint: "\(hint), or write ==\(text) for the text")
        case .reference(let text):
            fault("\(what), not from a reference", at: node, hint: "\(hint), or write $$\(text) for the text")
        }
        return nil
    }

    /// Reads any of the three, with its type. A rule can also use the names in `extra`.
    func expression(_ node: DocumentNode, in scope: LexicalScope, rules: (() -> RuleScope)? = nil) -> (
        Expression, ValueType
    )? {
        switch written(node) {
        case .literal(let value):
            if case .string(let text) = value, text == node.text, text.utf8.contains(where: SceneChecker.isOperator),
                !context.isKept,
                case .operation? = Rule.reading(text, in: rules?() ?? scope.rules)
            {
                fault(
                    "'\(text)' is a text here, but reads like a rule", at: node,
                    hint: "write =\(text) for the rule, or \(SceneChecker.typed(text)) for the text")
                return nil
            }
            warnOfForgottenSign(node, in: scope, rules: rules)
            return (.literal(value), ValueType(of: value))
        case .rule(let text, let skipped):
            if SelectionText.hasReferences(text) {
                return selection(text, in: scope, rules: rules?() ?? scope.rules, at: node).map { ($0.0, $0.1) }
            }
            return compile(text, in: rules?() ?? scope.rules, at: node, skipping: skipped).map {
                (.rule($0), type(of: $0))
            }
        case .reference(let text):
            if isSelection(text) {
                return selection("$" + text, in: scope, rules: rules?() ?? scope.rules, at: node).map { ($0.0, $0.1) }
            }
            return reference(text, in: scope, at: node).map { (.reference($0.reference), $0.type) }
        }
    }

    /// A text without quotes that is the name of an attribute in scope, or a path from one, is probably meant as its value.
    private func warnOfForgottenSign(_ node: DocumentNode, in scope: LexicalScope, rules: (() -> RuleScope)?) {
        guard node.style == .plain, case .scalar(.string(let text)) = node.content, !context.isKept else { return }
        work += SceneCost.entry
        let name = text.prefix { $0 != "." && $0 != "[" }
        guard scope.find(String(name)) != nil, case .place? = Rule.reading(text, in: rules?() ?? scope.rules) else {
            return
        }
        faults.warn(
            SceneFault(
                .invalid, "'\(text)' is a text here, but names an attribute", place: place, position: node.position,
                hint: "write =\(text) or $\(text) for its value, or \(Value.string(text).jsonText) for the text"))
    }

    /// True for bytes that occur in operations and calls, but not in names and most texts.
    private static func isOperator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "%"),
            UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "="), UInt8(ascii: "!"), UInt8(ascii: "&"), UInt8(ascii: "|"), UInt8(ascii: "?"),
            UInt8(ascii: "("):
            true
        default: false
        }
    }

    /// The form of a text that could be mistaken for something else.
    static func typed(_ text: String) -> String { "{ $typed: { string: \(Value.string(text).jsonText) } }" }

    /// Reads a rule where only a rule is allowed. A leading `=` is accepted.
    func rule(_ node: DocumentNode, in scope: RuleScope) -> Program? {
        guard case .scalar(let value) = node.content else {
            fault("a rule is a text, not \(node.summary)", at: node)
            return nil
        }
        guard case .string(let text) = value else {
            // `0` and `true` are rules too.
            return node.isNull ? emptyRule(node) : compile(node.text, in: scope, at: node)
        }
        return text.hasPrefix("=")
            ? compile(String(text.dropFirst()), in: scope, at: node, skipping: 1) : compile(text, in: scope, at: node)
    }

    private func emptyRule(_ node: DocumentNode) -> Program? {
        fault(.ruleSyntax, "the rule is empty", at: node)
        return nil
    }

    func compile(_ text: String, in scope: RuleScope, at node: DocumentNode, skipping skipped: Int = 0) -> Program? {
        work += SceneCost.rule + SceneCost.ruleByte * text.utf8.count
        do throws(RuleErrors) {
            return try Rule.compile(text, in: scope, looksForNames: !faults.isFull)
        } catch {
            for one in error.errors { faults.add(fault(one, of: text, at: node, skipping: skipped)) }
            return nil
        }
    }

    private static func code(of error: RuleError) -> ErrorCode {
        switch error.kind {
        case .syntax: .ruleSyntax
        case .type: .ruleType
        case .limit: .limit
        }
    }

    private func fault(_ error: RuleError, of text: String, at node: DocumentNode, skipping skipped: Int) -> SceneFault
    {
        let code = SceneChecker.code(of: error)
        let column = error.line == 1 ? error.column + skipped : error.column
        var hint = error.hint
        if error.message.contains("'subviews'") || error.message.contains("'sections'"),
            error.message.contains("undeclared")
        {
            hint = "subviews and sections are in scope on containers: write kind: container"
        }
        if error.kind == .syntax, let mark = lines?.endMark(of: node) {
            hint = "YAML ends the rule at the \(mark): put quotes around it"
        }
        return SceneFault(
            code, error.message, place: place,
            position: lines?.position(of: error.line, column, in: node) ?? node.position,
            rule: text, rulePosition: SourcePosition(line: error.line, column: error.column), hint: hint)
    }

    // MARK: References that a rule chooses

    /// Whether a reference leaves steps to rules.
    func isSelection(_ reference: String) -> Bool {
        !reference.hasPrefix("/") && (try? AttributePath("/." + reference)) == nil
            && reference.utf8.contains(UInt8(ascii: "["))
    }

    /// - Parameter text: of the rule, without `=`.
    /// - Returns: the selection, its type, and why it cannot be written through, if it cannot.
    func selection(_ text: String, in scope: LexicalScope, rules: RuleScope, at node: DocumentNode) -> (
        Expression, ValueType, unwritable: String?
    )? {
        let parts = SelectionText(text)
        if let problem = parts.problem {
            fault(
                "'\(text)' chooses no reference: \(problem)", at: node,
                hint: "write =cond ? $a : $b, or $items[id=name]")
            return nil
        }
        var found: ValueType?
        var unwritable: String?
        for target in parts.targets {
            guard let entry = scope.find(target.name) else {
                fault(
                    .notFound, "no enclosing node has an attribute '\(target.name)'", at: node,
                    hint: hint(for: target.name, among: scope.names))
                return nil
            }
            var type = entry.type
            var object: ObjectProperty?
            for step in target.steps {
                var fixed = AttributePath.Step.index(0)
                switch step {
                case .fixed(let step): fixed = step
                case .element(let field): fixed = .element(field: field, value: .null)
                case .part:
                    if type.objectName != nil {
                        type = .dyn
                        continue
                    }
                }
                guard let (part, property) = self.type(at: [fixed], in: type, of: target.name, at: node) else {
                    return nil
                }
                type = part
                object = property ?? object
            }
            let steps = target.steps.map { _ in AttributePath.Step.index(0) }
            unwritable =
                unwritable ?? self.unwritable(entry, Reference(name: target.name, steps: steps), object)
            found = found.map { $0 == type ? $0 : .dyn } ?? type
        }
        work += SceneCost.rule + SceneCost.ruleByte * parts.rule.utf8.count
        let program: Program
        do throws(RuleErrors) {
            program = try Rule.compile(parts.rule, in: rules, looksForNames: !faults.isFull)
        } catch {
            // Places in the rule are not those in the text.
            for one in error.errors {
                fault(
                    SceneChecker.code(of: one), "in '\(text)': " + one.message.replacingList(with: "reference"),
                    at: node,
                    hint: one.message.contains("list(dyn)") ? "let each result be a $name" : one.hint)
            }
            return nil
        }
        return (.selection(Selection(text: text, program: program, targets: parts.targets)), found ?? .dyn, unwritable)
    }

    // MARK: References

    /// - Parameter text: the text after the `$`.
    func reference(_ text: String, in scope: LexicalScope, at node: DocumentNode) -> (
        reference: Reference, type: ValueType, entry: ScopeEntry, object: ObjectProperty?
    )? {
        if text.hasPrefix("/") { return rootReference(text, at: node) }
        guard let path = try? AttributePath("/." + text), let name = path.attribute else {
            fault(
                "'$\(text)' is not a reference", at: node,
                hint: "a reference is $name, $name.key, $name[0] or $name[id=\"x\"]; $$ begins a text with $")
            return nil
        }
        guard path.steps.count <= AttributePath.maximumSteps else {
            fault(.limit, "a reference has at most \(AttributePath.maximumSteps) steps", at: node)
            return nil
        }
        guard let entry = scope.find(name) else {
            fault(
                .notFound, "no enclosing node has an attribute '\(name)'", at: node,
                hint: hint(for: name, among: scope.names))
            return nil
        }
        guard let (type, object) = self.type(at: path.steps, in: entry.type, of: name, at: node) else { return nil }
        return (Reference(name: name, steps: path.steps), type, entry, object)
    }

    /// `$/grid/limits.high`, and a part of its value.
    private func rootReference(_ text: String, at node: DocumentNode) -> (
        reference: Reference, type: ValueType, entry: ScopeEntry, object: ObjectProperty?
    )? {
        do throws(Failure) {
            let path = try AttributePath(text)
            guard path.attribute != nil else {
                fault("'$\(text)' names no attribute", at: node, hint: "end it with one, as $/grid/limits.high")
                return nil
            }
            let name = "$\(AttributePath(nodes: path.nodes, attribute: path.attribute))"
            return (Reference(name: name, steps: path.steps), .dyn, ScopeEntry(name: name, type: .dyn), nil)
        } catch {
            fault(error.code, error.message, at: node, hint: error.hint)
            return nil
        }
    }

    private func hint(for name: String, among names: [String]) -> String? {
        if let near = NearestName.find(name, among: names) { return NearestName.question("$\(near)") }
        if names.isEmpty, !componentChain.isEmpty {
            return "a component sees nothing from outside: declare a parameter, as binding: [\(name)] or let: [\(name)]"
        }
        return names.isEmpty ? nil : "in scope are \(names.prefix(12).joined(separator: ", "))"
    }

    /// A property of an object on the path of a reference.
    struct ObjectProperty {
        var type: String
        var property: AttributeDefinition
    }

    /// The type of a part of a value; nil after adding a fault if values of the type have no such part.
    func type(at steps: [AttributePath.Step], in whole: ValueType, of name: String, at node: DocumentNode) -> (
        ValueType, ObjectProperty?
    )? {
        var type = whole
        var object: ObjectProperty?
        var text = name
        for step in steps {
            if let part = type.part(at: step) {
                type = part
            } else if let name = type.objectName, case .key(let key) = step {
                guard let definition = known.types[name] else { return (.dyn, object) }
                guard let property = definition.properties.first(where: { $0.name.hasSameBytes(as: key) }) else {
                    fault(
                        .notFound, "\(name) has no property '\(key)'", at: node,
                        hint: NearestName.hint(key, among: definition.properties.map(\.name)))
                    return nil
                }
                type = property.type
                object = ObjectProperty(type: name, property: property)
            } else {
                fault(.typeMismatch, "'\(text)' is \(type.withArticle) and has no \(step)", at: node)
                return nil
            }
            text += step.description
        }
        return (type, object)
    }

    // MARK: Animations

    /// The text form of an animation, which may be written in either form; nil after adding a fault.
    func animation(_ node: DocumentNode) -> String? {
        do throws(AnimationError) {
            if let text = node.string {
                _ = try Animation(text)
                return text
            }
            return try Animation(node.value).description
        } catch {
            tell(error, at: node)
            return nil
        }
    }

    /// A transition; nil after adding a fault.
    func transition(_ node: DocumentNode) -> Transition? {
        guard let text = node.string else {
            fault("a transition is a text, not \(node.summary)", at: node, hint: "write transition: opacity")
            return nil
        }
        do throws(AnimationError) { return try Transition(text) } catch {
            tell(error, at: node)
            return nil
        }
    }

    private func tell(_ error: AnimationError, at node: DocumentNode) {
        var position = node.position
        if let offset = error.offset, let text = node.string {
            let column = String(decoding: text.utf8.prefix(offset), as: UTF8.self).unicodeScalars.count + 1
            position = lines?.position(of: 1, column, in: node) ?? position
        }
        let message = error.pointer.map { $0.isEmpty ? error.message : "\(error.message) at \($0)" } ?? error.message
        faults.add(SceneFault(.invalid, message, place: place, position: position, hint: error.hint))
    }
}

extension String {
    /// References are lists in the rule that chooses one.
    fileprivate func replacingList(with word: String) -> String {
        split(separator: "list(dyn)", omittingEmptySubsequences: false).joined(separator: word)
    }
}
