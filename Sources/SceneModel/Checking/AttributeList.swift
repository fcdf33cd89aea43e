import AttributeValues

/// Collects the attributes of a node, and tells of names that are wrong or taken.
final class AttributeList {
    private(set) var attributes: [AttributeDefinition] = []
    private var names = NameSet()
    private let cursor: CheckCursor

    init(_ cursor: CheckCursor, _ attributes: [AttributeDefinition] = []) {
        self.cursor = cursor
        for attribute in attributes { _ = add(attribute) }
    }

    /// Adds an attribute unless its name is wrong or taken.
    func enter(
        _ key: DocumentNode, _ role: AttributeRole, _ type: ValueType, history: TimeSpan? = nil,
        start: Expression? = nil
    ) {
        cursor.work += SceneCost.entry
        guard cursor.checkName(key, "an attribute") else { return }
        let attribute = AttributeDefinition(
            name: key.text, role: role, type: type, history: history, start: start, position: key.position)
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
        if let taken = names.insert(attribute.name, at: attributes.count) { return attributes[taken] }
        attributes.append(attribute)
        return nil
    }

    /// Adds an action under the name of its key, with a number from the second one on.
    func add(_ action: ActionDefinition, under key: String, at position: SourcePosition) {
        cursor.work += SceneCost.entry
        var (name, number) = (key, 1)
        while attribute(named: name) != nil {
            number += 1
            name = "\(key)\(number)"
        }
        _ = add(AttributeDefinition(name: name, role: .action(action), type: .dyn, position: position))
    }

    func attribute(named name: String) -> AttributeDefinition? {
        names.find(name).map { attributes[$0] }
    }

    func replace(_ attribute: AttributeDefinition) {
        guard let place = names.find(attribute.name) else { return }
        attributes[place] = attribute
    }
}
