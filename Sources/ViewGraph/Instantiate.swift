import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// From definitions to vertices.

extension Wiring {
    func createAttribute(_ definition: AttributeDefinition, of row: NodeRow) {
        let attribute: AttributeID
        if case .state(let initial, let isTransient) = definition.role {
            if case .object(let type) = definition.type, let object = declarations.types[type] {
                attribute = createObject(object, initial, definition, of: row)
            } else {
                // The checker has converted initial values to their types, except for objects. Instances share these
                // values.
                let mayMissParts = nodes[row].isObject || !definition.type.objectNames.isEmpty
                let beginning = mayMissParts ? declarations.complete(initial, as: definition.type) : initial
                attribute = createInput(
                    definition.start == nil ? .value(beginning) : Wiring.notBegun,
                    AttributeRecord(node: row, definition, source: .state(isTransient: isTransient)))
                if definition.start != nil { unsettled.states.append(attribute) }
            }
        } else {
            attribute = createRule(AttributeRecord(node: row, definition, source: .unconnected))
        }
        nodes[row].attributes.add(definition.name, attribute)
        structureChange.addedAttributes.append(attribute)
    }

    func createHidden(_ name: String, _ row: NodeRow, _ type: ValueType = .dyn) -> AttributeID {
        createRule(node: row, name: name, type: type, source: .unconnected)
    }

    /// Makes the object in a state as a hidden node, so that each property is tracked by itself.
    func createObject(
        _ type: ObjectTypeDefinition, _ initial: Value, _ definition: AttributeDefinition, of row: NodeRow,
        isHidden: Bool = false
    ) -> AttributeID {
        let isInTransient = if case .state(_, true) = definition.role { true } else { false }
        let node = objectDefinition(of: type, initial, isTransient: isInTransient)
        let object = createNode(node, Name(definition.name), under: row, .content)
        nodes[object].isObject = true
        for property in node.attributes { createAttribute(property, of: object) }
        unsettled.nodes.append(object)
        if !isHidden { return createRule(AttributeRecord(node: row, definition, source: .object(node: object))) }
        return createRule(
            node: row, name: definition.name, kind: .state, type: definition.type, source: .object(node: object))
    }

    /// - Parameters:
    ///   - initial: what the state with the object begins with.
    ///   - isTransient: whether that state is transient.
    func objectDefinition(of type: ObjectTypeDefinition, _ initial: Value, isTransient isInTransient: Bool)
        -> NodeDefinition
    {
        let node = NodeDefinition()
        node.kind = .group
        node.component = type.name
        node.attributes = type.properties.map { property in
            guard case .state(let standard, let isTransient) = property.role else { return property }
            let beginning = declarations.merge(initial.map?[property.name], over: standard, of: property.type)
            return AttributeDefinition(
                name: property.name, role: .state(initial: beginning, isTransient: isTransient || isInTransient),
                type: property.type, history: property.history, expires: property.expires, entries: property.entries,
                start: property.start, position: property.position)
        }
        return node
    }

    /// Makes the vertices of a node's modifiers.
    func createModifiers(of row: NodeRow) {
        let definition = nodes[row].definition
        if definition.isPlain { return }
        for modifier in definition.environmentModifiers {
            switch modifier {
            case .override(let entry):
                let type = entry.steps.isEmpty ? entry.type : declarations.environment[entry.key]?.type ?? .dyn
                nodes[row].environment.append((entry.key, createHidden("environment.\(entry.key)", row, type)))
            case .transform(let transform):
                let type =
                    transform.steps.isEmpty ? transform.type : declarations.environment[transform.key]?.type ?? .dyn
                let vertex = createHidden("transformEnvironment.\(transform.key)", row, type)
                nodes[row].environment.append((transform.key, vertex))
            }
        }
        for entry in definition.containerValues {
            nodes[row].containerValues.append(
                (entry.key, entry.steps, createHidden("containerValues.\(entry.key)", row, entry.type)))
        }
        if definition.tag != nil { nodes[row].tag = createHidden("tag", row) }
        for entry in definition.preferences {
            nodes[row].preferences.append((entry.key, createHidden("preferences.\(entry.key)", row, entry.type)))
        }
        for (position, modifier) in definition.animations.enumerated() {
            nodes[row].animations.append((modifier.animation, createHidden("animation.\(position)", row)))
        }
    }
}
