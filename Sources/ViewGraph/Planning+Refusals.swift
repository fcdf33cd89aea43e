import AttributeValues
import SceneModel

// Why a document cannot be applied to the tree as a whole.

extension Planning {
    /// - Throws: `limit` for too many declarations, or attributes of a node that stays.
    func refuseExcess() throws(Failure) {
        let (new, declarations) = (scene.declarations, graph.declarations)
        let all = declarations.nameCount + new.nameCount - declarations.sharedNameCount(with: new)
        guard all <= SceneLimits.declarations || new.nameCount == 0 else {
            throw Failure(
                .limit,
                "there would be \(all) keys, types and components; at most \(SceneLimits.declarations) are declared")
        }
        for update in plan.updates {
            let (row, old) = (update.row, graph.nodes[update.row].definition.attributes.count)
            let count = update.definition.attributes.count
            guard count <= SceneLimits.attributes || count <= old else {
                throw Failure(
                    .limit, "\(graph.nodes.path(of: row)) would have more than \(SceneLimits.attributes) attributes",
                    path: graph.nodes.path(of: row), hint: "make several nodes")
            }
        }
    }

    /// - Throws: `conflict` when a document says something of a node that its own declarations make anew.
    func refuseLost() throws(Failure) {
        let gone = Set(plan.losses + plan.removals + plan.restarts.flatMap { graph.nodes[$0].children })
        guard !gone.isEmpty else { return }
        for row in touched {
            guard let lost = graph.nodes.upward(from: row).first(where: { gone.contains($0) }) else { continue }
            throw Failure(
                .conflict, "\(graph.nodes.path(of: row)) is in a node that a declaration of the document makes anew",
                path: graph.nodes.path(of: lost), hint: "apply the declarations first, and then the nodes")
        }
    }

    /// - Throws: `conflict` when a document gives a key another type, and a node that stays as it
    ///   is or a component uses the key.
    ///
    /// A key keeps its type as long as anything names it: rules were checked against that type.
    func refuseRetyping() throws(Failure) {
        let (new, declarations) = (scene.declarations, graph.declarations)
        var retyped: [(group: KeyGroup, key: KeyDefinition, type: ValueType)] = []
        for group in KeyGroup.allCases {
            let known = declarations[group]
            for key in new[group].values {
                if let old = known[key.name], old.type != key.type { retyped.append((group, key, old.type)) }
            }
        }
        guard !retyped.isEmpty else { return }
        // A node counts for itself, a component for all nodes that are made from it.
        var kept: [(name: String, definitions: [NodeDefinition])] = []
        for (name, component) in declarations.components where new.components[name] == nil {
            kept.append(("the component \(name)", component.withAllBelow))
        }
        var renewed = Set(plan.removals.flatMap { graph.nodes.subtree(of: $0) })
        for update in plan.updates { renewed.insert(update.row) }
        for row in graph.nodes.subtree(of: .root) where !renewed.contains(row) {
            let definition = graph.nodes[row].definition
            kept.append(
                (
                    graph.nodes.path(of: row),
                    [definition] + (definition.forEach?.templates.flatMap(\.withAllBelow) ?? [])
                ))
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

extension Declarations {
    /// Functions, keys, types and components.
    fileprivate var nameCount: Int {
        environment.count + container.count + preference.count + types.count + components.count + functions.count
    }

    fileprivate func sharedNameCount(with new: Declarations) -> Int {
        new.environment.keys.count { environment[$0] != nil } + new.container.keys.count { container[$0] != nil }
            + new.preference.keys.count { preference[$0] != nil } + new.types.keys.count { types[$0] != nil }
            + new.components.keys.count { components[$0] != nil }
            + new.functions.keys.count { functions[$0] != nil }
    }
}
