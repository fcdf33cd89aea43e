import AttributeValues

/// One instance of a template for each element of a list. Each instance of a `forEach` has two attributes: `element`
/// (named `elementName`; a binding to the element if the data is a reference, else read-only) and `indexName` (its
/// present position).
///
/// `if` and `switch` are lists, too: of the name of one branch, or of none. So are `place` and `slot`: they show nodes
/// that stand elsewhere, and a slot makes its default where it is given none.
public struct ForEachDefinition {
    /// In the scope of the enclosing nodes.
    public var data: Expression
    /// The field that identifies an element. Empty: the element itself (a string, int, uint or bool).
    public var idField: String
    public var elementName: String
    public var indexName: String
    /// What elements become: one for all of them, or the branches of a choice, whose ids are their names.
    public var templates: [NodeDefinition]
    /// nil for a `forEach`.
    public var choice: Choice?

    public enum Choice: String, Sendable {
        case `if`, `switch`, place, slot

        /// It shows nodes that a component is given.
        public var isPlacement: Bool { self == .place || self == .slot }
    }

    public init(data: Expression, idField: String, elementName: String, indexName: String, template: NodeDefinition) {
        self.data = data
        self.idField = idField
        self.elementName = elementName
        self.indexName = indexName
        templates = [template]
    }

    /// - Parameter branches: of an `if`, `then` and `else`; of a `switch`, one for each case, and `default`; of a `slot`,
    ///   `default`.
    public init(_ choice: Choice, _ condition: Expression, branches: [NodeDefinition]) {
        data = condition
        idField = ""
        elementName = ""
        indexName = ""
        templates = branches
        self.choice = choice
    }

    /// What an element with an id becomes; nil for the name of a branch that is not there.
    public func template(for id: Value) -> NodeDefinition? {
        choice == nil ? templates.first : templates.first { id.string == $0.id }
    }

    /// The list that data means.
    public func elementList(of value: Value) throws(Failure) -> ValueList {
        let name: String
        switch (choice, value) {
        case (nil, .list(let elements)): return elements
        case (nil, _):
            throw Failure(.typeMismatch, "forEach needs a list, not a value of type \(value.shortTypeName)")
        case (.if, .bool(let isTrue)): name = isTrue ? Branch.then : Branch.else
        case (.if, _): throw Failure(.typeMismatch, "if needs a bool, not a value of type \(value.shortTypeName)")
        case (.place, _): return []
        case (.slot, _): name = value.list?.isEmpty == true ? Branch.default : ""
        case (.switch, _):
            guard let text = Branch.caseText(of: value) else {
                throw Failure(
                    .typeMismatch, "switch needs a text, a number or a bool, not a value of type \(value.shortTypeName)"
                )
            }
            let named = Branch.case(text)
            name = templates.contains { $0.id == named } ? named : Branch.default
        }
        return templates.contains { $0.id == name } ? [.string(name)] : []
    }
}
