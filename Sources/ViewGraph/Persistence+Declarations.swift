import AttributeValues
import SceneModel

extension Persistence {
    /// Notes the declarations of a document that differ from the present ones.
    func noteDeclarations(_ new: Declarations, over old: Declarations) {
        guard notesChanges else { return }
        func note(_ group: String, _ entries: [String: Value], _ old: [String: Value]) {
            for (name, value) in entries.sorted(by: { $0.key.precedesByBytes($1.key) }) where old[name] != value {
                self.note(StoreChange(key: StoredKey.declarations + group, name: name, value: value))
            }
        }
        for (group, entries) in new.written.keys { note("keys/" + group, entries, old.written.keys[group] ?? [:]) }
        note("types", new.written.types, old.written.types)
        // A component with the same text is another one if a component that it uses is.
        let same = old.written.components.filter { name, _ in
            new.components[name].map { old.components[name]?.makesSame(as: $0) == true } ?? true
        }
        note("components", new.written.components, same)
    }

    /// Clients' nodes that are stored as uses of their components.
    func usesOfComponents() -> [NodeID] {
        notesChanges ? nodes.living.filter { nodes.isOwn($0) && isUse($0) }.map { nodes.nodeID($0) } : []
    }

    /// Notes that components have been declared anew. Nodes that were made from the old ones are stored in full.
    /// - Parameter uses: the nodes that were stored as uses before.
    /// - Returns: as `makeOwn`.
    func noteDeclared(_ declared: [String: NodeDefinition], _ uses: [NodeID]) -> [UInt32] {
        components = CurrentComponents(declared)
        guard notesChanges else { return [] }
        var renamed: [UInt32] = []
        for node in uses where !isUse(node.row) { renamed += makeOwn(node.row) }
        for row in nodes.living where nodes[Int(row)].kept != nil && nodes[Int(row)].definition.forEach != nil {
            noteRow(of: row)
        }
        return renamed
    }
}
