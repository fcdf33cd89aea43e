import AttributeGraph
import AttributeValues
import SceneModel

// A document that describes the tree as it is changes nothing, like a write of an equal value.

extension ScenePlan {
    /// True if the tree, its declarations and its states are already as a plan would make them.
    /// O(declarations and values of the document).
    public func isDone(in graph: Wiring) -> Bool {
        layers == nil && creations.isEmpty && removals.isEmpty && losses.isEmpty && restarts.isEmpty && slots.isEmpty
            && changed.isEmpty
            && orders.allSatisfy { graph.nodes.newOrder($0.definitions, below: $0.parent) == nil }
            && values.allSatisfy { isPresent($0.value, at: $0.path, in: graph) }
            && graph.declarations.haveAll(of: declarations)
    }

    /// Evaluates nothing: only states can be set, so nothing else is read.
    private func isPresent(_ value: Value, at path: AttributePath, in graph: Wiring) -> Bool {
        guard let place = try? graph.locate(path), graph.record(place.attribute).kind == .state else { return false }
        let state = graph.follow(place)
        guard case .state = graph.record(state.attribute).source else { return false }
        return graph.content(of: state)
            == .value(graph.declarations.complete(value, as: graph.placeType(of: state) ?? .dyn))
    }
}

extension Declarations {
    /// True if all other declarations are among these. Equal texts are not enough: a component or type that they use
    /// may have been declared anew since.
    func haveAll(of new: Declarations) -> Bool {
        written.includes(new.written)
            && new.components.allSatisfy { name, component in
                components[name]?.makesSame(as: component) == true
            }
            && new.types.allSatisfy { types[$0] == $1 }
    }
}

extension WrittenDeclarations {
    fileprivate func includes(_ other: WrittenDeclarations) -> Bool {
        other.keys.allSatisfy { group, entries in entries.allSatisfy { keys[group]?[$0.key] == $0.value } }
            && other.types.allSatisfy { types[$0.key] == $0.value }
            && other.components.allSatisfy { components[$0.key] == $0.value }
            && other.functions.allSatisfy { functions[$0.key] == $0.value }
    }
}
