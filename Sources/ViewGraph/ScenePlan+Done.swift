import AttributeGraph
import AttributeValues
import SceneModel

// A document that says what is there already changes nothing, as an equal value does not.

extension Wiring {
    /// Whether the tree, its declarations and its states are already as a plan would make them.
    /// O(declarations and values of the document).
    public func isDone(_ plan: ScenePlan) -> Bool {
        plan.creations.isEmpty && plan.removals.isEmpty && plan.restarts.isEmpty && plan.slots.isEmpty
            && plan.changed.isEmpty
            && plan.orders.allSatisfy { newOrder($0.definitions, below: $0.parent) == nil }
            && plan.values.allSatisfy { isHeld($0.value, at: $0.path) } && hasDeclared(plan.declarations)
    }

    /// Evaluates nothing: what is no state cannot be set, and is not looked at.
    private func isHeld(_ value: Value, at path: AttributePath) -> Bool {
        guard let place = try? locate(path), record(place.attribute).kind == .state else { return false }
        let held = follow(place)
        guard case .state = record(held.attribute).source else { return false }
        return content(of: held) == .value(declarations.complete(value, as: placeType(of: held) ?? .dyn))
    }

    /// What a component or type is made of may have been declared anew since it was written, so its
    /// words alone do not tell.
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
