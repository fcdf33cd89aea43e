import AttributeValues

/// Collects the attributes of a node, and tells of names that are wrong or taken.
final class AttributeList {
    /// Shares the component's array until a use replaces an attribute.
    private(set) var attributes: [AttributeDefinition]
    /// The indices of the names of a long list; made when they are first looked for.
    private var indices: [Value: Int] = [:]
    private static let linearLimit = 12
    private let cursor: CheckCursor

    init(_ cursor: CheckCursor, _ attributes: [AttributeDefinition] = []) {
        self.cursor = cursor
        self.attributes = attributes
    }

    /// Adds an attribute unless its name is wrong or taken.
    func enter(
        _ key: DocumentNode, _ role: AttributeRole, _ type: ValueType, history: TimeSpan? = nil,
        expires: TimeSpan? = nil, entries: EntryBounds? = nil, start: Expression? = nil,
        isLeftOutOfPast: Bool = false
    ) {
        cursor.work += SceneCost.entry
        guard cursor.checkName(key, "an attribute") else { return }
        let attribute = AttributeDefinition(
            name: key.text, role: role, type: type, history: history, expires: expires, entries: entries,
            start: start, isLeftOutOfPast: isLeftOutOfPast, position: key.position, author: author(of: key.text, role))
        guard let taken = add(attribute) else { return }
        let note = taken.position == .none ? nil : SceneFault.Note("the other one is here", taken.position)
        cursor.fault(
            .conflict, "the node has an attribute '\(key.text)' already, \(taken.role.noun)", at: key, note: note)
    }

    /// Adds a binding or a let that is declared only by its name.
    func enter(parameter name: DocumentNode, _ key: NodeKey) {
        enter(name, key == .binding ? .binding(nil, animation: nil) : .constant(nil), .dyn)
    }

    /// Adds an attribute. If the name is taken, returns the attribute that has it and adds nothing.
    private func add(_ attribute: AttributeDefinition) -> AttributeDefinition? {
        if let taken = index(of: attribute.name) { return attributes[taken] }
        // Equal strings may have different bytes.
        if !indices.isEmpty { indices[.string(attribute.name)] = attributes.count }
        attributes.append(attribute)
        return nil
    }

    private func index(of name: String) -> Int? {
        guard attributes.count > AttributeList.linearLimit else {
            return attributes.firstIndex { $0.name.hasSameBytes(as: name) }
        }
        if indices.isEmpty {
            for (index, attribute) in attributes.enumerated() { indices[.string(attribute.name)] = index }
        }
        return indices[.string(name)]
    }

    /// Adds an action under the name of its key, with a number from the second one on.
    func add(_ action: ActionDefinition, under key: String, at position: SourcePosition) {
        cursor.work += SceneCost.entry
        var (name, number) = (key, 1)
        while attribute(named: name) != nil {
            number += 1
            name = "\(key)\(number)"
        }
        let role = AttributeRole.action(action)
        _ = add(
            AttributeDefinition(name: name, role: role, type: .dyn, position: position, author: author(of: name, role)))
    }

    private func author(of name: String, _ role: AttributeRole) -> PartAuthor {
        role.leadsElsewhere ? cursor.authors.author(of: PartName.attribute(name)) : .daemon
    }

    func attribute(named name: String) -> AttributeDefinition? { index(of: name).map { attributes[$0] } }

    func replace(_ name: String, _ role: AttributeRole, _ type: ValueType, at position: SourcePosition) {
        guard let index = index(of: name) else { return }
        attributes[index] = AttributeDefinition(
            name: name, role: role, type: type, position: position, author: author(of: name, role))
    }
}
