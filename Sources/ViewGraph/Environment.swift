import AttributeGraph
import AttributeValues
import SceneModel

// The environment flows down. A reader is connected to the one vertex that decides its key, so a change runs only the
// readers that inherit that override.

extension Wiring {
    /// Creates the attributes of the root whose values the daemon or an operator sets.
    func createSystemValues() {
        for key in SystemEnvironment.others { declarations.environment[key.name] = key }
        for key in SystemEnvironment.keys {
            declarations.environment[key.name] = key
            systemStandards[key.name] = key.defaultValue
            let attribute = createInput(
                .value(key.defaultValue), node: .root, name: key.name, kind: .state, type: key.type,
                source: .state(isTransient: true), isHidden: false)
            nodes[.root].attributes.add(key.name, attribute)
            environmentDefaults[key.name] = attribute
        }
    }

    /// Replaces the initial values of the root's system attributes.
    public func beginWith(_ values: [String: Value]) {
        for (name, value) in values where systemStandards[name] != nil {
            systemStandards[name] = value
            if let attribute = environmentDefaults[name] { setInput(attribute, .value(value)) }
        }
    }

    /// Sets a system value of the root, outside any client's transaction.
    public func setSystemValue(_ name: String, _ value: Value) {
        guard let attribute = ownAttribute(name, of: .root) else { return }
        setInput(attribute, .value(value))
    }

    /// The vertex with a key's value at a node: the nearest override at or above it, else the default.
    /// - Parameters: as for `nearestOverride`.
    func environmentSource(
        _ key: String, at row: NodeRow, before position: Int? = nil, standingBefore: Int? = nil,
        isDeclared: Bool = false
    ) -> AttributeID? {
        if let found = nodes.nearestOverride(
            of: key, at: row, before: position, standingBefore: standingBefore, isDeclared: isDeclared)
        {
            return found
        }
        return environmentDefault(key)
    }

    private func environmentDefault(_ key: String) -> AttributeID? {
        if let existing = environmentDefaults[key] { return existing }
        guard let definition = declarations.environment[key] else { return nil }
        let made: AttributeID
        if case .object(let name) = definition.type, let type = declarations.types[name] {
            made = createDefault(type, definition)
        } else {
            made = createInput(
                .value(definition.defaultValue), node: .root, name: "env.\(key)", type: definition.type,
                source: .system)
        }
        environmentDefaults[key] = made
        return made
    }

    /// The object that readers of a key share if no node provides one. The store has nothing of it.
    private func createDefault(_ type: ObjectTypeDefinition, _ key: KeyDefinition) -> AttributeID {
        let others = unsettled.takeNodes()
        defer { unsettled.nodes = others }
        let role = AttributeRole.state(initial: key.defaultValue, isTransient: true)
        let definition = AttributeDefinition(name: "env.\(key.name)", role: role, type: key.type, position: .none)
        let made = createObject(type, key.defaultValue, definition, of: .root, isHidden: true)
        for row in unsettled.nodes { connectReferences(of: row) }
        for row in unsettled.nodes { _ = connectExpressions(of: row) }
        return made
    }

    func overriding(_ inherited: AttributeID, _ steps: [AttributePath.Step], _ value: AttributeID) throws -> Content {
        let base = try engine.read(inherited)
        let field = try engine.read(value)
        guard case .value(let whole) = base else { return base }
        guard case .value(let part) = field else { return field }
        do { return .value(try whole.changing(steps) { _ in part }) } catch { return .failure(error) }
    }

    func objectValue(_ row: NodeRow) throws -> Content {
        guard nodes.isAlive(row) else { return .failure(RuleHost.removed) }
        var map = ValueMap(minimumCapacity: nodes[row].attributes.count)
        for (name, attribute) in nodes[row].attributes {
            switch try engine.read(attribute) {
            case .value(let value): map[name] = value
            case .failure(let failure): return .failure(failure)
            }
        }
        return .value(.map(map))
    }

    /// The stored properties of an object, with the writes of the open transaction.
    func storedProperties(of object: NodeRow) -> ValueMap {
        var map = ValueMap()
        for (name, attribute) in nodes[object].attributes {
            switch record(attribute).source {
            case .state: map[name] = transaction?.value(of: attribute) ?? content(ofStored: attribute).value
            // The recursion is as deep as types contain each other.
            case .object(let inner): map[name] = .map(storedProperties(of: inner))
            default: continue
            }
        }
        return map
    }
}
