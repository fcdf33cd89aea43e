import AttributeValues
import RuleLanguage

// Reads `functions`: rules with parameters, which other rules call by their names.
extension ExpressionReader {
    private static let functionForm = "write it as name(parameters), with its rule: double(x): x * 2"

    /// Declares the functions of a document, whose rules are checked later: they may call each other.
    /// - Returns: the functions with their rules.
    func declareFunctions(_ node: DocumentNode, limits: RuleLimits) -> [(
        function: DeclaredFunction, rule: DocumentNode
    )] {
        var names = NameSet()
        var declared: [(function: DeclaredFunction, rule: DocumentNode)] = []
        cursor.visitEntries(node, "functions", hint: "write name(parameters): rule") { entry in
            guard let (name, parameters) = head(entry.key) else { return }
            guard names.insert(name, at: declared.count) == nil else {
                return cursor.fault(.conflict, "two functions have the name '\(name)'", at: entry.key)
            }
            guard let function = readFunction(name, parameters, entry.value, limits: limits) else { return }
            vocabulary.declare(function, written: entry.value.value)
            declared.append((function, entry.value))
        }
        return declared
    }

    /// `planned(t)`, or `level(value, limit)`.
    private func head(_ key: DocumentNode) -> (name: String, parameters: [String])? {
        let text = key.text
        guard let open = text.firstIndex(of: "("), text.last == ")" else {
            return cursor.refuse("'\(text)' is no function", at: key, hint: ExpressionReader.functionForm)
        }
        let name = String(text[..<open])
        let inside = text[text.index(after: open)...].dropLast()
        let parameters = inside.split(separator: ",", omittingEmptySubsequences: false).map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        let written = parameters == [""] ? [] : parameters
        for part in [name] + written {
            guard part.isIdentifier else {
                return cursor.refuse(
                    "in '\(text)', '\(part)' is no identifier", at: key, hint: ExpressionReader.functionForm)
            }
            guard !ReservedNames.all.contains(part) else {
                return cursor.refuse("in '\(text)', '\(part)' has a meaning in rules", at: key)
            }
        }
        guard Set(written).count == written.count else {
            return cursor.refuse(.conflict, "in '\(text)', two parameters have the same name", at: key)
        }
        guard !RuleScope.isFunction(name) else {
            return cursor.refuse(
                .conflict, "'\(name)' is a function of every rule", at: key, hint: "choose another name")
        }
        guard text.utf8.count <= SceneLimits.nameLength else {
            return cursor.refuse(.limit, "'\(name)' is longer than \(SceneLimits.nameLength) bytes", at: key)
        }
        return (name, written)
    }
}
