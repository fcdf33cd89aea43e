import AttributeGraph
import AttributeValues
import SceneModel

// The environment flows down: a reader is bound, when it is defined, to the one vertex that decides its key for it, so a
// change runs only the readers that inherit that override.

extension ViewGraph {
    /// Environment values that live on the root, kept current by the daemon or set by an operator.
    static var systemValues: [(name: String, value: Value)] {
        [
            ("locale", "en_US"), ("timeZone", "UTC"), ("colorScheme", "light"), ("reduceMotion", false),
            ("scenePhase", "background"), ("pixelLength", 1.0), ("calendar", "gregorian"),
        ]
    }

    func createSystemValues() {
        for (name, value) in ViewGraph.systemValues {
            let type = ValueType(of: value)
            declarations.environment[name] = KeyDefinition(name: name, type: type, defaultValue: value)
            let attribute = createInput(
                .value(value), node: NodeID.root.row, name: name, kind: .state, type: type,
                source: .state(isTransient: true), isHidden: false)
            nodes[0].attributes.append(name, attribute)
            environmentDefaults[name] = attribute
        }
    }

    /// The vertex that holds a key's value at a node: the nearest override at or above it, else the default.
    /// - Parameter position: looks only at the node's first so many overrides, for one that builds on those before it.
    func environmentSource(_ key: String, at row: UInt32, before position: Int? = nil) -> AttributeID? {
        var at = row
        var overrides = nodes[Int(at)].environment.prefix(position ?? nodes[Int(at)].environment.count)
        while true {
            if let found = overrides.last(where: { $0.key == key }) { return found.attribute }
            if at == NodeID.root.row { break }
            at = nodes[Int(at)].parent
            overrides = nodes[Int(at)].environment[...]
        }
        return environmentDefault(key)
    }

    /// What a node inherits from above, its own overrides left out.
    func inheritedEnvironmentSource(_ key: String, at row: UInt32) -> AttributeID? {
        environmentSource(key, at: row, before: 0)
    }

    private func environmentDefault(_ key: String) -> AttributeID? {
        if let existing = environmentDefaults[key] { return existing }
        guard let definition = declarations.environment[key] else { return nil }
        let made = createInput(
            .value(definition.defaultValue), node: NodeID.root.row, name: "env.\(key)", type: definition.type,
            source: .system)
        environmentDefaults[key] = made
        return made
    }

    func overriding(_ inherited: AttributeID, _ steps: [AttributePath.Step], _ value: AttributeID) throws -> Content {
        let base = try engine.read(inherited)
        let field = try engine.read(value)
        guard case .value(let whole) = base else { return base }
        guard case .value(let part) = field else { return field }
        do { return .value(try whole.changing(steps) { _ in part }) } catch { return .failure(error) }
    }

    /// The object of a type that a node inherits: the nearest provided at or above it.
    func object(ofType type: String, at row: UInt32) -> UInt32? {
        var at = row
        while true {
            if let found = nodes[Int(at)].objects.last(where: { $0.type == type }) { return found.object }
            if at == NodeID.root.row { return nil }
            at = nodes[Int(at)].parent
        }
    }

    func objectValue(_ row: UInt32) throws -> Content {
        var map = ValueMap(minimumCapacity: nodes[Int(row)].attributes.count)
        for (name, attribute) in nodes[Int(row)].attributes {
            switch try engine.read(attribute) {
            case .value(let value): map[name] = value
            case .failure(let failure): return .failure(failure)
            }
        }
        return .value(.map(map))
    }
}
