// Names outside a scene that the scene uses.

import AttributeValues
import RuleLanguage

extension SceneDefinition {
    private var allNodes: [NodeDefinition] { (nodes + declarations.components.values).flatMap(\.withAllBelow) }

    /// The actions of its nodes and of the components that it declares, each with its name.
    public var actions: [(name: String, action: ActionDefinition)] {
        allNodes.flatMap(\.attributes).compactMap { attribute in
            if case .action(let action) = attribute.role { (attribute.name, action) } else { nil }
        }
    }

    /// The paths from the root that its rules read.
    public var rootPathsRead: Set<Name> {
        var read: Set<Name> = []
        for node in allNodes {
            for expression in node.expressions {
                read.formUnion(expression.program?.inputs.map(\.name) ?? [])
                if case .reference(let reference) = expression { read.insert(reference.name) }
            }
        }
        return Set(read.lazy.compactMap(\.pathFromRoot))
    }

    /// The id of a node whose value, or whose children's values, depend on the environment around the document; nil if
    /// there is none. Looks into components too, and at each definition once.
    public var readerOfEnvironment: String? {
        var seen: Set<ObjectIdentifier> = []
        var pending = nodes
        while let node = pending.popLast() {
            guard seen.insert(ObjectIdentifier(node)).inserted else { continue }
            if node.readsEnvironment { return node.id.isEmpty ? "the template of a forEach" : node.id.text }
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
        return inherits || expressions.contains { $0.program?.inputs.contains { $0.namespace == "env" } ?? false }
    }
}
