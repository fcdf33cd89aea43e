/// Collects the attributes of a node.
struct AttributeList {
    private(set) var attributes: [AttributeDefinition] = []
    private var names = NameSet()

    init(_ attributes: [AttributeDefinition] = []) {
        for attribute in attributes { _ = add(attribute) }
    }

    /// Adds an attribute. If the name is taken, returns the attribute that has it and adds nothing.
    mutating func add(_ attribute: AttributeDefinition) -> AttributeDefinition? {
        if let taken = names.insert(attribute.name, at: attributes.count) { return attributes[taken] }
        attributes.append(attribute)
        return nil
    }

    func attribute(named name: String) -> AttributeDefinition? {
        names.number(of: name).map { attributes[$0] }
    }

    mutating func replace(_ attribute: AttributeDefinition) {
        guard let place = names.number(of: attribute.name) else { return }
        attributes[place] = attribute
    }
}
