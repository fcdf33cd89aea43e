import AttributeGraph
import AttributeValues
import SceneModel

// A document that describes the tree as it is changes nothing, like a write of an equal value.

extension Wiring {
    /// Whether the tree, its declarations and its states are already as a plan would make them.
    /// O(declarations and values of the document).
    public func isDone(_ plan: ScenePlan) -> Bool {
        plan.creations.isEmpty && plan.removals.isEmpty && plan.restarts.isEmpty && plan.slots.isEmpty
            && plan.changed.isEmpty
            && plan.orders.allSatisfy { newOrder($0.definitions, below: $0.parent) == nil }
            && plan.values.allSatisfy { isHeld($0.value, at: $0.path) } && hasDeclared(plan.declarations)
    }

    /// Evaluates nothing: only states can be set, so nothing else is read.
    private func isHeld(_ value: Value, at path: AttributePath) -> Bool {
        guard let place = try? locate(path), record(place.attribute).kind == .state else { return false }
        let held = follow(place)
        guard case .state = record(held.attribute).source else { return false }
        return content(of: held) == .value(declarations.complete(value, as: placeType(of: held) ?? .dyn))
    }

    /// Whether all these declarations are in force. Equal texts are not enough: a component or type that they use may
    /// have been declared anew since.
    func hasDeclared(_ new: Declarations) -> Bool {
        declarations.written.includes(new.written)
            && new.components.allSatisfy { name, component in
                declarations.components[name]?.makesSame(as: component) == true
            }
            && new.types.allSatisfy { name, type in
                guard let old = declarations.types[name]?.properties, old.count == type.properties.count else {
                    return false
                }
                return zip(old, type.properties).allSatisfy { $0.isSame(as: $1) }
            }
    }
}

extension WrittenDeclarations {
    fileprivate func includes(_ other: WrittenDeclarations) -> Bool {
        other.keys.allSatisfy { group, entries in entries.allSatisfy { keys[group]?[$0.key] == $0.value } }
            && other.types.allSatisfy { types[$0.key] == $0.value }
            && other.components.allSatisfy { components[$0.key] == $0.value }
    }
}
