import AttributeValues
import RuleLanguage

extension SceneDefinition {
    /// The id of a node whose value, or whose children's values, depend on the environment around the document; nil if
    /// there is none. Looks into components too, and at each definition once.
    public var readerOfEnvironment: String? {
        var seen: Set<ObjectIdentifier> = []
        var pending = nodes
        while let node = pending.popLast() {
            guard seen.insert(ObjectIdentifier(node)).inserted else { continue }
            if node.readsEnvironment { return node.id.isEmpty ? "the template of a forEach" : node.id }
            pending += node.header + node.children + node.footer
            pending += node.forEach?.templates ?? []
            if let base = node.base { pending.append(base) }
        }
        return nil
    }
}

extension NodeDefinition {
    /// A modifier that uses the inherited value counts as a reader.
    fileprivate var readsEnvironment: Bool {
        if !transformEnvironment.isEmpty || !environmentObjects.isEmpty
            || environment.contains(where: { !$0.steps.isEmpty })
        {
            return true
        }
        let inherits = attributes.contains { attribute in
            switch attribute.role {
            case .inherit, .inheritObject: true
            default: false
            }
        }
        return inherits || expressions.contains(where: \.readsEnvironment)
    }
}

extension Expression {
    fileprivate var readsEnvironment: Bool {
        switch self {
        case .rule(let program): program.readsEnvironment
        case .selection(let selection): selection.program.readsEnvironment
        case .literal, .reference: false
        }
    }
}

extension Program {
    fileprivate var readsEnvironment: Bool { inputs.contains { $0.namespace == "env" } }
}
