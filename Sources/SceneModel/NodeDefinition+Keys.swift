import RuleLanguage

/// The group of a declared key.
public enum KeyGroup: String, CaseIterable, Sendable {
    case environment, container, preference
}

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
    public func uses(_ key: String, of group: KeyGroup) -> Bool {
        let writes: Bool =
            switch group {
            case .environment:
                environment.contains { $0.key == key } || transformEnvironment.contains { $0.key == key }
                    || inherits(key)
            case .container: containerValues.contains { $0.key == key }
            case .preference: preferences.contains { $0.key == key }
            }
        if writes { return true }
        let namespace: String? =
            switch group {
            case .environment: "env"
            case .preference: "preferences"
            // A container reads the values of its subviews, which may have any key.
            case .container: nil
            }
        guard let namespace else { return false }
        return programs.contains { $0.inputs.contains { $0.namespace == namespace && $0.name == key } }
    }

    private func inherits(_ key: String) -> Bool {
        attributes.contains { if case .inherit(key) = $0.role { true } else { false } }
    }

    /// What its attributes and modifiers say.
    var expressions: [Expression] {
        var expressions = (environment + containerValues + preferences).map(\.expression) + animations.map(\.value)
        expressions += environmentObjects.map { .reference($0) } + transformEnvironment.map { .rule($0.program) }
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

    /// The rules of its attributes and modifiers.
    private var programs: [Program] {
        expressions.compactMap { expression in
            switch expression {
            case .rule(let program): program
            case .selection(let selection): selection.program
            case .literal, .reference: nil
            }
        }
    }
}

extension Declarations {
    public func keys(_ group: KeyGroup) -> [String: KeyDefinition] {
        switch group {
        case .environment: environment
        case .container: container
        case .preference: preference
        }
    }
}
