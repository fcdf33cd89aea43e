import AttributeValues
import RuleLanguage

// Reads `let`, and the parameters that a component declares.
extension ExpressionReader {
    static let parameterForm = SceneForm.parameter.keys

    /// A parameter's declaration `{default, type}`; nil after adding a fault.
    func readParameter(_ node: DocumentNode) -> (standard: Value?, type: ValueType)? {
        guard let type = writtenType(node) else { return nil }
        guard let standard = node["default"] else { return (nil, type ?? .dyn) }
        return cursor.at("default") { () -> (standard: Value?, type: ValueType)? in
            guard let value = readLiteral(standard, "a default is a literal", hint: "take the value as a parameter")
            else { return nil }
            if standard.count > 0 {
                cursor.warnOfSigns(standard, "a default is a literal", hint: "take the value as a parameter")
            }
            guard let type else { return (value, ValueType(of: value)) }
            guard let accepted = vocabulary.known.accept(value, as: type) else {
                return cursor.refuse(
                    .typeMismatch, "the default is \(standard.summary), not \(type.withArticle)", at: standard)
            }
            return (accepted, type)
        }
    }

    /// Parameters that are declared only by their names: `binding: [isPlaying]`.
    func readParameterNames(_ node: DocumentNode, _ key: String, _ surroundings: Surroundings) -> [DocumentNode] {
        guard surroundings.isComponentRoot else {
            let name = node.list?.first?.string ?? "name"
            cursor.fault(
                "only a component declares parameters, as \(key): [\(name)]", at: node,
                hint: key == "binding"
                    ? "give each its target, as binding: {\(name): $\(name)}"
                    : "give each its value, as let: {\(name): …}")
            return []
        }
        var names: [DocumentNode] = []
        for (position, element) in (node.list ?? []).enumerated() {
            if element.string != nil {
                names.append(element)
            } else {
                cursor.at(position) {
                    cursor.fault(
                        "a parameter is a name, not \(element.summary)", at: element,
                        hint: "write \(key): {name: {default: …}} for one with a default")
                }
            }
        }
        return names
    }

    func readLet(_ node: DocumentNode, _ surroundings: Surroundings) -> (Expression?, ValueType)? {
        if surroundings.isComponentRoot, node.isForm(ExpressionReader.parameterForm) {
            guard let standard = node["default"], case .rule = standard.form else {
                return readParameter(node).map { ($0.standard.map { .literal($0) }, $0.type) }
            }
            guard let type = writtenType(node) else { return nil }
            return cursor.at("default") { () -> (Expression?, ValueType)? in
                guard let found = expression(standard, in: surroundings.enclosing),
                    let fitting = fit(
                        found, to: type ?? found.type, of: "default", at: standard, in: surroundings.enclosing)
                else { return nil }
                return (fitting, type ?? found.type)
            }
        }
        return expression(node, in: surroundings.enclosing).map { ($0, $1) }
    }
}
