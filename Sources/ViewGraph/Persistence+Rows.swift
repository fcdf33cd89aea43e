import AttributeValues
import SceneModel

// A node's row contains what the edits say of it:
//
// | field | says |
// |---|---|
// | `makes` | the definition of a node that the edits make, in document form |
// | `completes` | for a node that the layers below make: the use of a component that it is made from |
// | `members` | further members, in document form |
// | `removed` | the edits remove the node |
// | `order`, `slot` | its place among its siblings, if the edits say one |
// | `given` | the component's slot that it is given for |
// | `layer` | the number of the enclosing component whose body has the node; missing: the innermost one |
// | `by` | inside `makes`, `completes` and `members`: who has written them, see `PartAuthor` |
// | `names` | names in its expressions: names that resolve to nothing are no fault |

extension Persistence {
    /// The row of a node; nil if the edits say nothing of it.
    func writtenRow(of row: NodeRow) -> Value? {
        let node = nodes[row]
        guard let part = node.part else { return nil }
        var fields = ValueMap(minimumCapacity: 4)
        if let order = part.order { fields.add("order", .string(order)) }
        if part.isMade ? node.slot != .content : part.isElsewhere { fields["slot"] = .string(node.slot.rawValue) }
        let content = nodes.content(of: row)
        if let said = content.said {
            fields.add(content.isMade ? "makes" : "completes", said.writtenForRows)
            if let slot = said.givenSlot { fields["given"] = .string(slot) }
            if content.isMade, said.layer > 0 { fields["layer"] = .int(Int64(said.layer)) }
        }
        if let members = content.members {
            if case .map(var written) = Persistence.written(members) {
                written["kind"] = nil
                if !written.isEmpty { fields["members"] = .map(written) }
            }
            if let slot = members.givenSlot { fields["given"] = .string(slot) }
        }
        if content.said != nil || content.members != nil, let names = node.definition.namesForRows {
            fields.add("names", names)
        }
        return fields.isEmpty ? nil : .map(fields)
    }

    static func names(in definition: NodeDefinition) -> Value? {
        let names = ReferredNames(in: definition).all.sorted { $0.precedesByBytes($1) }
        return names.isEmpty ? nil : .list(names.map { .string($0) })
    }

    /// What a document says of a node, without its children.
    static func written(_ definition: NodeDefinition) -> Value {
        var fields = ValueMap()
        if definition.base != nil {
            DefinitionWriter.addUse(of: definition, into: &fields)
        } else {
            DefinitionWriter.addMembers(of: definition, into: &fields)
        }
        if let authors = definition.keptAuthors { fields.add(.string(PartAuthor.key), authors) }
        return .map(fields)
    }
}
