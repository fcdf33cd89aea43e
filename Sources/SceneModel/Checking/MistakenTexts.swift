import AttributeValues
import RuleLanguage

// Finds texts that stand in the place of a literal and were meant to be a rule or a reference.
extension ExpressionReader {
    /// The rule that a text without `=` was meant to be; nil for an ordinary text.
    ///
    /// It computes something of names in scope (`a + 1`), or chooses one of several references (`first ? $a : $b`).
    /// Signs that no rule may have there are left out: `a + $b` was meant to be `a + b`.
    func meantRule(_ text: String, in scope: ExpressionScope) -> String? {
        guard text.utf8.contains(where: "+-*/%<>=!&|?(".utf8.contains) else { return nil }
        guard SelectionText.hasReferences(text) else {
            return isOperation(text, in: scope) ? text : nil
        }
        let parts = SelectionText(text)
        guard parts.problem == nil, parts.targets.allSatisfy({ scope.lexical.find($0.name) != nil }) else { return nil }
        if isOperation(parts.rule, in: scope), (try? compileUnchecked(parts.rule, in: scope.rules)) != nil {
            return text
        }
        let plain = text.replacing("$", with: "")
        return isOperation(plain, in: scope) ? plain : nil
    }

    private func isOperation(_ text: String, in scope: ExpressionScope) -> Bool {
        if case .operation? = Rule.reading(text, in: scope.rules) { true } else { false }
    }

    /// The reference that a text without `$` was meant to be, with a step that a rule gives: `items[id=name]`.
    func meantSelection(_ text: String, in scope: ExpressionScope) -> String? {
        guard text.utf8.last == UInt8(ascii: "]"), ExpressionReader.isSelection(text) else { return nil }
        let parts = SelectionText("$" + text)
        guard parts.problem == nil, parts.targets.count == 1, let target = parts.targets.first,
            scope.lexical.find(target.name) != nil, (try? compileUnchecked(parts.rule, in: scope.rules)) != nil
        else { return nil }
        return "$" + text
    }

    // MARK: Whole values

    /// Adds a fault for a text that reads like a rule or a reference, and for a list or a map with such texts.
    func refusesMistaken(_ node: DocumentNode, in scope: ExpressionScope) -> Bool {
        guard !cursor.isKept else { return false }
        guard case .scalar(.string(let text)) = node.content else { return refusesInside(node, in: scope) }
        // Typed literals have another text.
        guard text == node.text else { return false }
        if let rule = meantRule(text, in: scope) {
            cursor.fault(
                "'\(text)' is a text here, but reads like a rule", at: node,
                hint: "write =\(rule) for the rule, or \(TypedLiteral.example(text)) for the text")
            return true
        }
        if let reference = meantSelection(text, in: scope) {
            cursor.fault(
                "'\(text)' is a text here, but reads like a reference", at: node,
                hint: "write \(reference) for its value, or \(TypedLiteral.example(text)) for the text")
            return true
        }
        return false
    }

    /// Warns of a text without quotes that is the name of an attribute in scope, or a path from one, and of a text with
    /// names between the signs of other languages: the author probably means their values.
    func warnOfForgottenSign(_ node: DocumentNode, in scope: ExpressionScope) {
        guard case .scalar(.string(let text)) = node.content, text == node.text, !cursor.isKept else { return }
        cursor.work += SceneCost.entry
        if namesAttribute(node, in: scope) {
            return cursor.warn(
                "'\(text)' is a text here, but names an attribute", at: node,
                "write =\(text) or $\(text) for its value, or \(Value.string(text).jsonText) for the text")
        }
        for (opening, closing) in [("${", "}"), ("{{", "}}"), ("\\(", ")")] {
            guard let start = text.firstRange(of: opening),
                let end = text[start.upperBound...].firstRange(of: closing)
            else { continue }
            let name = text[start.upperBound..<end.lowerBound].trimmed
            guard case .place? = Rule.reading(name, in: scope.rules) else { continue }
            let (before, after) = (String(text[..<start.lowerBound]), String(text[end.upperBound...]))
            let parts = [before, nil, after].compactMap { part in
                part.map { $0.isEmpty ? nil : Value.string($0).jsonText } ?? "string(\(name))"
            }
            return cursor.warn(
                "'\(text)' is a text, in which no value is put", at: node,
                "write '=\(parts.joined(separator: " + "))'")
        }
    }

    /// True for a text without quotes that is the name of an attribute in scope, or a path from one.
    private func namesAttribute(_ node: DocumentNode, in scope: ExpressionScope) -> Bool {
        guard node.style == .plain, let text = node.string else { return false }
        let name = text.prefix { $0 != "." && $0 != "[" }
        guard scope.lexical.find(String(name)) != nil, case .place? = Rule.reading(text, in: scope.rules) else {
            return false
        }
        return true
    }

    /// A hint for a text that has the wrong type and names an attribute; nil for other texts.
    func hintForName(_ node: DocumentNode, in scope: LexicalScope) -> String? {
        guard let text = node.string, case .place? = Rule.reading(text, in: scope.rules) else { return nil }
        return "write =\(text) or $\(text) for the value of the attribute"
    }

    // MARK: Inside lists and maps

    /// Adds a fault for the first text inside a list or a map that was meant to be a rule or a reference.
    /// - Parameter hint: says how to write a value that is computed by a rule.
    func refusesInside(
        _ node: DocumentNode, in scope: ExpressionScope,
        hint: (_ rule: String) -> String = { "write '=\($0)' for a value that follows" }
    ) -> Bool {
        guard let (found, message) = textInside(node, in: scope) else { return false }
        let (typed, rule) = (node.value.typedJSON.jsonText, ExpressionReader.rule(of: node))
        let isShort = rule.utf8.count < 120 && typed.utf8.count < 120
        cursor.fault(
            message, at: found,
            hint: isShort
                ? "\(hint(rule)), or { \(TypedLiteral.key): \(typed) } for the text"
                : "\(hint("{\"a\": x, …}")), or a typed literal for the text")
        return true
    }

    /// The first text inside a list or a map that was meant to be a rule or a reference, and the message.
    private func textInside(_ node: DocumentNode, in scope: ExpressionScope) -> (DocumentNode, String)? {
        guard node.list != nil || node.map != nil else { return nil }
        var open = [node]
        while let next = open.popLast() {
            cursor.work += SceneCost.entry
            if let elements = next.list { open += elements.reversed() }
            if let entries = next.map { open += entries.map(\.value).reversed() }
            guard let text = next.string, text == next.text, isSign(text, in: scope) else { continue }
            let whole = node.list == nil ? "a map" : "a list"
            return (next, "'\(text)' is a text inside \(whole): only a whole value is a rule or a reference")
        }
        return nil
    }

    /// True for the text of a rule or a reference over names in scope.
    func isSign(_ text: String, in scope: ExpressionScope) -> Bool {
        if text.hasPrefix("=") { return Rule.reading(String(text.dropFirst()), in: scope.rules) != nil }
        guard text.hasPrefix("$") else { return false }
        let rest = text.dropFirst()
        if rest.hasPrefix("/") { return (try? AttributePath(String(rest)))?.attribute != nil }
        guard let name = (try? AttributePath("/." + rest))?.attribute else { return false }
        return scope.lexical.find(name) != nil
    }

    /// The rule that makes a value of which some texts are rules and references. `SceneLimits.nesting` bounds the
    /// recursion.
    private static func rule(of node: DocumentNode) -> String {
        if let elements = node.list { return "[\(elements.map(rule).joined(separator: ", "))]" }
        if let entries = node.map {
            let members = entries.map { "\($0.key.value.jsonText): \(rule(of: $0.value))" }
            return "{\(members.joined(separator: ", "))}"
        }
        guard let text = node.string, text == node.text else { return node.value.jsonText }
        if text.hasPrefix("==") || text.hasPrefix("$$") { return Value.string(text).jsonText }
        if text.hasPrefix("=") { return String(text.dropFirst()) }
        if text.hasPrefix("$") { return text.hasPrefix("$/") ? text : String(text.dropFirst()) }
        return node.value.jsonText
    }

    // MARK: Literals

    /// Warns of the literal of a state that was meant to be a rule or a reference. It may be any text that a user has
    /// written, so it is no fault.
    func warnOfMistaken(state node: DocumentNode, in scope: ExpressionScope) {
        func hint(_ rule: String) -> String {
            "write it under let or computed, as '=\(rule)', or { initial: '=\(rule)' } for a rule that runs once"
        }
        if let (found, message) = textInside(node, in: scope) {
            return cursor.warn(message, at: found, hint(ExpressionReader.rule(of: node)))
        }
        guard let text = node.string, text == node.text, node.style != .none, let rule = meantRule(text, in: scope)
        else {
            return
        }
        cursor.warn("'\(text)' is a text here, but reads like a rule", at: node, hint(rule))
    }
}

extension CheckCursor {
    func warn(_ message: String, at node: DocumentNode, _ hint: String) {
        faults.warn(
            SceneFault(.invalid, message, place: place, position: node.position, hint: hint))
    }

    /// Warns where only a literal is allowed and no names are in scope.
    func warnOfSigns(_ node: DocumentNode, _ what: String, hint: String) {
        guard !isKept else { return }
        var open = [node]
        while let next = open.popLast() {
            work += SceneCost.entry
            if let elements = next.list { open += elements }
            if let entries = next.map { open += entries.map(\.value) }
            guard let text = next.string, text == next.text, let sign = text.first, sign == "=" || sign == "$",
                Rule.reading(String(text.dropFirst())) != nil
            else { continue }
            return warn("'\(text)' is a text here: \(what)", at: next, hint)
        }
    }
}
