import AttributeValues
import RuleLanguage

// Reads types, and literals that must fit them.
extension ExpressionReader {
    // MARK: Types

    /// A written type; object types must be declared.
    private func type(_ node: DocumentNode) -> ValueType? {
        guard let text = node.string else {
            return cursor.refuse("a type is a text such as double or list(string), not \(node.summary)", at: node)
        }
        guard let type = ValueType(text) else {
            return cursor.refuse(
                "'\(text)' is not a type", at: node,
                hint: "types are such as int, double?, list(string), map(string, int), vector(3), color")
        }
        for name in type.objectNames where !vocabulary.typeNames.contains(name) {
            return cursor.refuse(
                .notFound, "there is no type '\(name)'", at: node,
                hint: NearestName.hint(name, among: ValueType.builtInNames + vocabulary.typeNames.sorted())
                    ?? "object types are declared under types")
        }
        return type
    }

    /// The type under the key `type`, if there is one. The outer nil means that it is faulty.
    func writtenType(_ node: DocumentNode) -> ValueType?? {
        guard let written = node["type"] else { return .some(nil) }
        guard let type = cursor.at("type", { type(written) }) else { return nil }
        return .some(type)
    }

    /// The `history` of a long form; nil without one, or after adding a fault.
    func readHistory(_ form: DocumentNode, of type: ValueType) -> TimeSpan? {
        guard let node = form["history"] else { return nil }
        return cursor.at("history") {
            guard let span = TimeSpan(node.text) else {
                return cursor.refuse(
                    "'\(node.text)' is not a length of time", at: node, hint: "such as 10m, 1h30m, 31d")
            }
            if let problem = TimeOperator.fault(of: span) {
                return cursor.refuse(.limit, problem, at: node)
            }
            switch type {
            case .dyn, .scalar(.int), .scalar(.uint), .scalar(.double), .nullable(.scalar(.int)),
                .nullable(.scalar(.uint)), .nullable(.scalar(.double)):
                return span
            default:
                return cursor.refuse(
                    .typeMismatch, "a history is of numbers, and this is \(type.withArticle)", at: node,
                    hint: "remove history:, or record a rule that makes a number of it")
            }
        }
    }

    // MARK: Literals

    /// A literal where neither a rule nor a reference is allowed; nil after adding a fault.
    func readLiteral(_ node: DocumentNode, _ what: String, hint: String) -> Value? {
        switch node.form {
        case .literal(let value): return value
        case .rule(let text):
            cursor.fault("\(what), not from a rule", at: node, hint: "\(hint), or write ==\(text) for the text")
        case .reference(let text):
            cursor.fault("\(what), not from a reference", at: node, hint: "\(hint), or write $$\(text) for the text")
        }
        return nil
    }

    /// A state's initial value converted to its type. nil after adding a fault, if it does not fit or is too long.
    /// - Parameter misfit: the message for a value that does not fit.
    func fit(
        _ value: Value, as type: ValueType, at node: DocumentNode, hint: String? = nil, misfit: () -> String
    ) -> Value? {
        var budget = valueSize
        let accepted = vocabulary.known.accept(value, as: type, within: &budget)
        guard budget >= 0, accepted.map({ budget == valueSize || !$0.isLonger(than: valueSize) }) ?? true else {
            refuseLength(node)
            return nil
        }
        if accepted == nil { cursor.fault(.typeMismatch, misfit(), at: node, hint: hint) }
        return accepted
    }

    /// Adds a fault if the value is longer than allowed. O(parts of the value).
    func isShort(_ value: Value, _ node: DocumentNode) -> Bool {
        guard value.isLonger(than: valueSize) else { return true }
        refuseLength(node)
        return false
    }

    private func refuseLength(_ node: DocumentNode) {
        cursor.fault(
            .limit, "the initial value has more than \(valueSize) bytes", at: node,
            hint: "the setting value-size is the limit")
    }

    // MARK: Objects

    /// Checks a value of a type that contains object types, which are all known now.
    func checkObjects(_ value: Value, in type: ValueType, _ what: String, at node: DocumentNode) {
        if let name = type.objectName {
            _ = readObject(value, of: name, at: node)
        } else {
            _ = fit(value, as: type, at: node) { "the \(what) is \(node.summary), not \(type.withArticle)" }
        }
    }

    /// The initial values that override an object's stored properties, converted to their types; nil after adding a
    /// fault. Recursion follows the value's nesting.
    func readObject(_ value: Value, of name: String, at node: DocumentNode) -> Value? {
        // If the type itself is faulty, its objects are not checked.
        guard let type = vocabulary.known.types[name] else { return value }
        if case .null = value { return value }
        guard let map = value.map else {
            return cursor.refuse(
                .typeMismatch, "an object of type \(name) starts from a map of its properties, not \(node.summary)",
                at: node)
        }
        var accepted = ValueMap(minimumCapacity: map.count)
        var isRight = true
        let stored = type.properties.filter { if case .state = $0.role { true } else { false } }
        for (key, value) in map {
            let property = stored.first { .string($0.name) == key }
            // The type was declared anew since.
            if cursor.isKept, property.map({ !isFitting(value, $0.type) }) ?? true { continue }
            guard let property else {
                let name = key.string ?? key.jsonText
                let isComputed = type.properties.contains { $0.name == name }
                cursor.fault(
                    .notFound,
                    isComputed
                        ? "'\(name)' of \(type.name) is computed" : "\(type.name) has no stored property '\(name)'",
                    at: node[name] ?? node, hint: NearestName.hint(name, among: stored.map(\.name)))
                isRight = false
                continue
            }
            if let inner = property.type.objectName {
                let fitting = readObject(value, of: inner, at: node[property.name] ?? node)
                if let fitting { accepted[key] = fitting } else { isRight = false }
                continue
            }
            let place = node[property.name] ?? node
            let fitting = fit(value, as: property.type, at: place) {
                "'\(property.name)' of \(type.name) is \(property.type.withArticle), not \(DocumentNode(value).summary)"
            }
            guard let fitting else {
                isRight = false
                continue
            }
            accepted[key] = fitting
        }
        return isRight ? .map(accepted) : nil
    }

    private func isFitting(_ value: Value, _ type: ValueType) -> Bool {
        type.objectName == nil ? vocabulary.known.accept(value, as: type) != nil : value.map != nil || value == .null
    }
}
