import AttributeValues
import SceneModel

// A key keeps its type as long as anything names it: rules were checked against that type.

extension ViewGraph {
    /// - Throws: `conflict` when a document gives a key another type, and a node that stays as it is or a component uses the key.
    func refuseRetyping(_ new: Declarations, _ plan: ScenePlan) throws(Failure) {
        var retyped: [(group: KeyGroup, key: KeyDefinition, type: ValueType)] = []
        for group in KeyGroup.allCases {
            let known = declarations[group]
            for key in new[group].values {
                if let old = known[key.name], old.type != key.type { retyped.append((group, key, old.type)) }
            }
        }
        guard !retyped.isEmpty else { return }
        // Nodes stand for themselves, a component for all that is made from it.
        var kept: [(name: String, definitions: [NodeDefinition])] = []
        for (name, component) in declarations.components where new.components[name] == nil {
            kept.append(("the component \(name)", component.withAllBelow))
        }
        var renewed = Set(plan.removals.flatMap { nodes.subtree(of: $0) })
        for update in plan.updates where update.isReplacing { renewed.insert(update.row) }
        for row in nodes.subtree(of: NodeID.root.row) where !renewed.contains(row) {
            let definition = nodes[Int(row)].definition
            kept.append(
                (nodes.path(of: row), [definition] + (definition.forEach?.templates.flatMap(\.withAllBelow) ?? [])))
        }
        for (group, key, old) in retyped.sorted(by: { $0.key.name.precedesByBytes($1.key.name) }) {
            guard let user = kept.first(where: { $0.definitions.contains { $0.mentions(key.name, of: group) } }) else {
                continue
            }
            throw Failure(
                .conflict,
                "the \(group.rawValue) key \(key.name) is used by \(user.name) as \(old); it cannot become \(key.type)",
                hint: "remove what uses it first, or take another name")
        }
    }
}
