import AttributeValues
import RuleLanguage

/// Reads `let`, and the parameters that a component declares.
struct ParameterReader {
    let expressions: ExpressionReader
    let literals: LiteralReader
    private var cursor: CheckCursor { literals.cursor }

    static let form = ["default", "type"]

    /// A parameter's declaration `{default, type}`; nil after adding a fault.
    func readDeclaration(_ node: DocumentNode) -> (standard: Value?, type: ValueType)? {
        guard let type = literals.writtenType(node) else { return nil }
        guard let standard = node["default"] else { return (nil, type ?? .dyn) }
        return cursor.at("default") { () -> (standard: Value?, type: ValueType)? in
            guard let value = literals.read(standard, "a default is a literal", hint: "take the value as a parameter")
            else { return nil }
            guard let type else { return (value, ValueType(of: value)) }
            guard let accepted = literals.vocabulary.known.accept(value, as: type) else {
                cursor.fault(.typeMismatch, "the default is \(standard.summary), not \(type.withArticle)", at: standard)
                return nil
            }
            return (accepted, type)
        }
    }

    /// Parameters that are declared only by their names: `binding: [isPlaying]`.
    func readNames(_ node: DocumentNode, _ key: String, _ place: Surroundings) -> [DocumentNode] {
        guard place.isComponentRoot else {
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

    func readLet(_ node: DocumentNode, _ place: Surroundings) -> (Expression?, ValueType)? {
        if place.isComponentRoot, node.isForm(ParameterReader.form) {
            guard let standard = node["default"], case .rule = standard.form else {
                return readDeclaration(node).map { ($0.standard.map { .literal($0) }, $0.type) }
            }
            guard let type = literals.writtenType(node) else { return nil }
            return cursor.at("default") { () -> (Expression?, ValueType)? in
                guard let found = expressions.expression(standard, in: place.enclosing),
                    let fitting = expressions.fit(found, to: type ?? found.type, of: "default", at: standard)
                else { return nil }
                return (fitting, type ?? found.type)
            }
        }
        return expressions.expression(node, in: place.enclosing).map { ($0, $1) }
    }
}
