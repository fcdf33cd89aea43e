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
        note("types", new.keptTypes, old.keptTypes)
        for head in old.written.outdatedFunctions(by: new.written) {
            self.note(StoreChange(key: StoredKey.declarations + "functions", name: head, value: nil))
        }
        note("functions", new.written.functions, old.written.functions)
        // A component with the same text is another one if a component that it uses is.
        let same = old.keptComponents.filter { name, _ in
            new.components[name].map { old.components[name]?.makesSame(as: $0) == true } ?? true
        }
        note("components", new.keptComponents, same)
    }
}

extension Declarations {
    fileprivate var keptTypes: [String: Value] {
        var kept = written.types
        for (name, type) in types where !type.actions.isEmpty { kept[name] = kept[name]?.kept(by: type.author) }
        return kept
    }

    fileprivate var keptComponents: [String: Value] {
        var kept = written.components
        for (name, component) in components { kept[name] = kept[name]?.kept(by: component.author) }
        return kept
    }
}

extension Tree<NodeRecord> {
    /// The nodes of which the edits say that they are made from components, or have some in lists, that are declared
    /// anew. O(nodes).
    func findOutdated(by new: [String: NodeDefinition], over declared: [String: NodeDefinition]) -> [NodeRow] {
        guard new.contains(where: { declared[$0]?.makesSame(as: $1) == false }) else { return [] }
        var components = CurrentComponents(declared.merging(new) { $1 })
        return living.filter { row in
            guard self[row].part != nil, isLinked(row) else { return false }
            let content = content(of: row)
            let said = [content.said, content.members].compactMap { $0 }.filter { $0.base != nil || $0.forEach != nil }
            return !said.isEmpty && components.hasOutdated(in: said)
        }
    }
}
