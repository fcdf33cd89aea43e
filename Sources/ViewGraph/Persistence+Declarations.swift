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

    /// Adds components. If one is declared anew, the rows of nodes that use it have to contain the old one.
    func declareComponents(_ new: [String: NodeDefinition], over declared: inout [String: NodeDefinition]) {
        if new.isEmpty { return }
        let areChanged = new.contains { declared[$0]?.makesSame(as: $1) == false }
        declared.merge(new) { $1 }
        components = CurrentComponents(declared)
        guard notesChanges, areChanged else { return }
        for row in nodes.living where nodes[Int(row)].kept != nil {
            if nodes[Int(row)].definition.forEach != nil || nodes.isOwn(row) && isUse(row) { noteRow(of: row) }
        }
    }
}
