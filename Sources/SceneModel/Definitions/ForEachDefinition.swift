import AttributeValues

/// One instance of a template for each element of a list, or each entry of a map. Each instance of a `forEach` has two
/// attributes: `element` (named `elementName`; a binding to the element if the data is a reference, else read-only) and
/// `indexName` (its present position).
///
/// `if` and `switch` are lists, too, with the name of one branch or empty. `place` and `slot` show nodes that were
/// declared elsewhere; a slot that is given no nodes makes its default.
public struct ForEachDefinition {
    /// In the scope of the enclosing nodes.
    public var data: Expression
    /// The field that identifies an element. Empty: the element itself (a string, int, uint or bool).
    public var idField: String
    public var elementName: String
    public var indexName: String
    /// The template of all elements, or the branches of a choice. The id of a branch is its name.
    public var templates: [NodeDefinition]
    /// nil for a `forEach`.
    public var choice: Choice?
    /// The author of the data and of the templates.
    public var author = PartAuthor.daemon

    public enum Choice: String, Sendable {
        case `if`, `switch`, place, slot

        /// True for choices that show nodes which a component is given.
        public var isPlacement: Bool { self == .place || self == .slot }
    }

    public init(data: Expression, idField: String, elementName: String, indexName: String, template: NodeDefinition) {
        self.data = data
        self.idField = idField
        self.elementName = elementName
        self.indexName = indexName
        templates = [template]
    }

    /// - Parameter branches: `then` and `else` for an `if`; one for each case, and `default`, for a `switch`; `default`
    ///   for a `slot`.
    public init(_ choice: Choice, _ condition: Expression, branches: [NodeDefinition]) {
        data = condition
        idField = ""
        elementName = ""
        indexName = ""
        templates = branches
        self.choice = choice
    }

    /// The template for an element with an id; nil if the choice has no branch of that name.
    public func template(for id: Value) -> NodeDefinition? {
        choice == nil ? templates.first : templates.first { id.string.map { Name($0) } == $0.id }
    }

    /// True for data that is a map: its keys are the ids.
    public func isMap(_ value: Value) -> Bool { choice == nil && value.map != nil }

    private static func keys(of map: ValueMap) throws(Failure) -> ValueList {
        for position in 0..<map.count {
            switch map.entry(at: position).key {
            case .string, .int: continue
            case let key:
                throw Failure(.typeMismatch, "the keys of a map in forEach are texts or ints, not \(key)")
            }
        }
        return ValueList(map.keys)
    }

    /// The list of elements that a value of the data stands for; for a map, its keys.
    public func elementList(of value: Value) throws(Failure) -> ValueList {
        let name: String
        switch (choice, value) {
        case (nil, .list(let elements)): return elements
        case (nil, .map(let map)): return try ForEachDefinition.keys(of: map)
        case (nil, _):
            throw Failure(.typeMismatch, "forEach needs a list or a map, not a value of type \(value.shortTypeName)")
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
            name = templates.contains { $0.id == Name(named) } ? named : Branch.default
        }
        return templates.contains { $0.id == Name(name) } ? [.string(name)] : []
    }
}
