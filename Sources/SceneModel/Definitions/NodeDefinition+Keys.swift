extension NodeDefinition {
    /// The node and all nodes below it, including the templates of `forEach`, each definition once.
    public var withAllBelow: [NodeDefinition] {
        var found: [NodeDefinition] = []
        var seen: Set<ObjectIdentifier> = []
        var pending = [self]
        while let next = pending.popLast() {
            guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
            found.append(next)
            pending += next.header + next.children + next.footer
            pending += next.forEach?.templates ?? []
        }
        return found
    }

    /// True if the node's own modifiers or rules name a key. The nodes below it do not count.
    public func mentions(_ key: String, of group: KeyGroup) -> Bool {
        let (isWritten, namespace): (Bool, String?) =
            switch group {
            case .environment:
                (
                    environment.contains { $0.key == key } || transformEnvironment.contains { $0.key == key }
                        || inherits(key), "env"
                )
            case .preference: (preferences.contains { $0.key == key }, "preferences")
            // A container reads the values of its subviews, which may have any key.
            case .container: (containerValues.contains { $0.key == key }, nil)
            }
        guard let namespace, !isWritten else { return isWritten }
        return expressions.contains { expression in
            expression.program?.inputs.contains { $0.namespace == namespace && $0.name.text == key } ?? false
        }
    }

    private func inherits(_ key: String) -> Bool {
        attributes.contains { if case .inherit(key) = $0.role { true } else { false } }
    }

    /// The expressions of its attributes and modifiers.
    var expressions: [Expression] {
        var expressions = (environment + containerValues + preferences).map(\.expression) + animations.map(\.value)
        expressions +=
            environmentObjects.map { .reference($0.reference) } + transformEnvironment.map { .rule($0.program) }
        if let tag { expressions.append(tag) }
        if let forEach { expressions.append(forEach.data) }
        for attribute in attributes {
            if let start = attribute.start { expressions.append(start) }
            switch attribute.role {
            case .computed(let program): expressions.append(.rule(program))
            case .constant(let expression?): expressions.append(expression)
            case .binding(let target?, _): expressions += target.expressions
            case .action(let action): expressions += action.expressions
            default: break
            }
        }
        return expressions
    }
}
