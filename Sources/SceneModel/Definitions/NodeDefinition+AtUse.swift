import AttributeValues

// Modifiers at the use of a component are written outside the component: of its names, they know the parameters alone.

extension NodeDefinition {
    /// True for a name that the node's component keeps to itself. It means nothing at the use of the component.
    public func isHiddenAtUse(_ name: String) -> Bool {
        base?.attributes.contains { $0.name.hasSameBytes(as: name) && !$0.isParameter } ?? false
    }

    /// Notes that all its actions are written at the use of a component.
    public func noteActionsAtUse() {
        for attribute in attributes { if case .action(let action) = attribute.role { action.isAtUse = true } }
    }

    /// Notes that all its modifiers are written at the use of a component.
    public func noteModifiersAtUse() {
        if isPlain { return }
        for position in environment.indices { environment[position].isAtUse = true }
        for position in transformEnvironment.indices { transformEnvironment[position].isAtUse = true }
        for position in containerValues.indices { containerValues[position].isAtUse = true }
        for position in preferences.indices { preferences[position].isAtUse = true }
        for position in animations.indices { animations[position].isAtUse = true }
        objectsAtUse = environmentObjects.count
        isTagAtUse = tag != nil
    }

    /// The members that are written at the use of its component, as `[group, name]`, for a row of the store.
    public var membersAtUse: [Value] {
        var members: [Value] = []
        func add(_ group: String, _ name: String) { members.append([.string(group), .string(name)]) }
        for attribute in attributes {
            if case .action(let action) = attribute.role, action.isAtUse { add("actions", attribute.name) }
        }
        if isPlain { return members }
        for (group, entries) in [
            ("environment", environment), ("containerValues", containerValues), ("preferences", preferences),
        ] {
            // The row's `members` have the last one of several modifiers with the same key.
            for entry in Dictionary(entries.map { (Name($0.keyPath), $0) }, uniquingKeysWith: { $1 }).values
            where entry.isAtUse { add(group, entry.keyPath) }
        }
        for transform in transformEnvironment where transform.isAtUse { add("transformEnvironment", transform.keyPath) }
        for (position, modifier) in animations.enumerated() where modifier.isAtUse {
            add("animation", String(position))
        }
        for position in 0..<objectsAtUse { add("objects", String(position)) }
        if isTagAtUse { add("tag", "") }
        return members
    }

    /// Notes that the members with these names are written at the use of its component.
    public func noteAtUse(_ members: ValueList) {
        let known = Set(members)
        func isMeant(_ group: String, _ name: String) -> Bool { known.contains([.string(group), .string(name)]) }
        for attribute in attributes {
            if case .action(let action) = attribute.role, isMeant("actions", attribute.name) { action.isAtUse = true }
        }
        if isPlain { return }
        func note(_ group: String, _ entries: ReferenceWritableKeyPath<NodeDefinition, [KeyedExpression]>) {
            for (position, entry) in self[keyPath: entries].enumerated() where isMeant(group, entry.keyPath) {
                self[keyPath: entries][position].isAtUse = true
            }
        }
        note("environment", \.environment)
        note("containerValues", \.containerValues)
        note("preferences", \.preferences)
        for (position, transform) in transformEnvironment.enumerated()
        where isMeant("transformEnvironment", transform.keyPath) { transformEnvironment[position].isAtUse = true }
        for position in animations.indices where isMeant("animation", String(position)) {
            animations[position].isAtUse = true
        }
        objectsAtUse = environmentObjects.indices.prefix { isMeant("objects", String($0)) }.count
        isTagAtUse = isMeant("tag", "")
    }
}

extension KeyedExpression {
    /// The key and the steps, as they are written.
    fileprivate var keyPath: String { key + steps.map(\.description).joined() }
}

extension EnvironmentTransform {
    fileprivate var keyPath: String { key + steps.map(\.description).joined() }
}
