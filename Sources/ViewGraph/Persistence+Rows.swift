import AttributeValues
import SceneModel

// A node's row contains its definition, or how the node differs from what it was made as:
//
// | field | says |
// |---|---|
// | `id`, `parent`, `order`, `slot` | its place; for a node that is where it was made, only what differs |
// | `by` | inside `own`, `members` and a component: who has written its parts, see `PartAuthor` |
// | `own` | for a client's node: the definition that it was made with, in document form |
// | `components` | components in `own` and `members` that were declared anew since, as they were |
// | `isContent` | whether it is given to the component around it, if it was not made so |
// | `given` | the component's slot that it is given for, if it was not made so; a client's node is made for `content` |
// | `layer` | which of the components around it has it in its body, if that is not the innermost one |
// | `members` | members that differ from those it was made with, in document form |
// | `atUse` | which of the `members` are written at the use of its component, as `[group, name]` |
// | `use` | modifiers of the use of its component that differ, if the component's body has others of these keys |
// | `without` | members that it was made with and no longer has, as `[group, name]` |
// | `heir` | a scene or template makes it now, and it keeps this key |
// | `removed` | a client has removed it |
// | `names` | names in its expressions: names that resolve to nothing are no fault |

extension Persistence {
    /// The row of a node; nil if the node is as it was made, in the place where it was made.
    func writtenRow(of row: UInt32) -> Value? {
        let node = nodes[Int(row)]
        guard let kept = node.kept else { return nil }
        var fields = ValueMap(minimumCapacity: 4)
        let hasPlace = kept.isOwn || kept.home != nil || kept.isHeir
        if hasPlace {
            fields.add("id", .string(node.id.text))
            fields.add("parent", parentKey(node.parent))
        }
        if let order = kept.order { fields.add("order", .string(order)) }
        if node.slot != .content || kept.isElsewhere { fields["slot"] = .string(node.slot.rawValue) }
        if kept.isHeir { fields["heir"] = true }
        let made = kept.isOwn ? nil : nodes.baseDefinition(of: row)
        if node.isContent != made?.isContent ?? false { fields["isContent"] = .bool(node.isContent) }
        if node.definition.givenSlot != made?.givenSlot {
            fields["given"] = .string(node.definition.givenSlot ?? NodeDefinition.contentSlot)
        }
        if kept.isOwn {
            let definition = nodes.baseDefinition(of: row)
            let isUse = definition.base != nil
            if lastOwn?.definition.isCopy(of: definition) != true {
                var written = isUse ? use(definition) : plain(definition)
                if let authors = definition.keptAuthors { written.add(.string(PartAuthor.key), authors) }
                lastOwn = (definition, .map(written))
            }
            if let written = lastOwn?.written { fields.add("own", written) }
            if node.definition.layer > 0 { fields["layer"] = .int(Int64(node.definition.layer)) }
            if isUse { addDifferences(of: row, to: &fields) }
        } else {
            addDifferences(of: row, to: &fields)
        }
        let isSaid = kept.isOwn || fields["members"] != nil
        if isSaid {
            let outdated = components.findOutdated(
                in: kept.isOwn ? [nodes.baseDefinition(of: row), node.definition] : [node.definition])
            if !outdated.isEmpty { fields["components"] = .map(outdated) }
            if lastReferred?.definition !== node.definition {
                lastReferred = (node.definition, names(in: node.definition))
            }
            if let written = lastReferred?.written { fields.add("names", written) }
        }
        return fields.isEmpty ? nil : .map(fields)
    }

    /// The key of a node, which is often asked for again for the next one.
    private func parentKey(_ row: UInt32) -> Value {
        if lastParent.row != row || lastParent.changes != nodes.changes || lastParent.keyChanges != nodes.keyChanges {
            lastParent = (row, nodes.changes, nodes.keyChanges, .string(nodes.key(of: row)))
        }
        return lastParent.key
    }

    private func names(in definition: NodeDefinition) -> Value? {
        let names = ReferredNames(in: definition).all.sorted { $0.precedesByBytes($1) }
        return names.isEmpty ? nil : .list(names.map { .string($0) })
    }

    private func use(_ definition: NodeDefinition) -> ValueMap {
        var fields = ValueMap()
        DefinitionWriter.addUse(of: definition, into: &fields)
        return fields
    }

    private func plain(_ definition: NodeDefinition) -> ValueMap {
        var fields = ValueMap()
        DefinitionWriter.addMembers(of: definition, into: &fields)
        return fields
    }

    private struct Member: Hashable {
        var group: String
        var name: Name
    }

    /// The modifiers at the use of a component that hide those of its body, which have the same keys.
    private func hiddenOverrides(of definition: NodeDefinition) -> [Member: Value] {
        guard let body = definition.body, !body.isPlain else { return [:] }
        var (outer, inner) = (ValueMap(), ValueMap())
        DefinitionWriter.addModifiers(of: definition, beyond: body, into: &outer)
        DefinitionWriter.addModifiers(of: body, beyond: nil, into: &inner)
        var hidden: [Member: Value] = [:]
        for group in ["environment", "containerValues"] {
            for (name, value) in outer[group]?.map ?? ValueMap() where inner[group]?.map?[name] != nil {
                hidden[Member(group: group, name: Name(name.string ?? ""))] = value
            }
        }
        return hidden
    }

    private func addDifferences(of row: UInt32, to fields: inout ValueMap) {
        let (base, definition) = (nodes.baseDefinition(of: row), nodes[Int(row)].definition)
        guard base !== definition else { return }
        var (groups, use) = (MemberGroups(), MemberGroups())
        var without: [Value] = []
        let old = Dictionary(base.attributes.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        var names: Set<String> = []
        for attribute in definition.attributes {
            names.insert(attribute.name)
            if old[attribute.name] == attribute { continue }
            let (group, value) = DefinitionWriter.attribute(attribute)
            if case .action(let action) = attribute.role, action.isAtUse {
                use.add(group, attribute.name, value)
            } else {
                groups.add(group, attribute.name, value)
            }
        }
        for attribute in base.attributes where !names.contains(attribute.name) {
            without.append(["attribute", .string(attribute.name)])
        }
        var (before, after) = (ValueMap(), ValueMap())
        if !base.isPlain { DefinitionWriter.addModifiers(of: base, beyond: nil, into: &before) }
        if !definition.isPlain { DefinitionWriter.addModifiers(of: definition, beyond: nil, into: &after) }
        for group in ["environment", "containerValues", "preferences"] {
            let (before, after) = (before[group]?.map ?? ValueMap(), after[group]?.map ?? ValueMap())
            for case (.string(let name), let value) in after where before[name] != value {
                groups.add(group, name, value)
            }
            for case .string(let name) in before.keys where after[name] == nil {
                without.append([.string(group), .string(name)])
            }
        }
        var members = ValueMap()
        groups.add(to: &members)
        for group in ["transformEnvironment", "tag", "animation", "transition"] where before[group] != after[group] {
            if let value = after[group] { members[group] = value } else { without.append([.string(group), ""]) }
        }
        if let forEach = definition.forEach, base.forEach.map({ !$0.isSame(as: forEach) }) ?? true {
            DefinitionWriter.addData(of: forEach, into: &members)
        }
        if !members.isEmpty {
            if let authors = definition.keptAuthors { members.add(.string(PartAuthor.key), authors) }
            fields["members"] = .map(members)
        }
        let atUse = definition.membersAtUse.filter { members.contains(memberNamed: $0) }
        if !atUse.isEmpty { fields["atUse"] = .list(ValueList(atUse)) }
        let (hidden, hides) = (hiddenOverrides(of: base), hiddenOverrides(of: definition))
        for (name, value) in hides where hidden[name] != value { use.add(name.group, name.name.text, value) }
        for name in hidden.keys where hides[name] == nil {
            without.append([.string("use." + name.group), .string(name.name.text)])
        }
        var uses = ValueMap()
        use.add(to: &uses)
        if !uses.isEmpty { fields["use"] = .map(uses) }
        if !without.isEmpty { fields["without"] = .list(without) }
    }
}

extension ValueMap {
    /// True if the members of a definition in document form have one with a `[group, name]`.
    fileprivate func contains(memberNamed member: Value) -> Bool {
        guard let group = member.list?.first, let name = member.list?.last else { return false }
        switch group.string {
        case "animation", "tag": return self[group] != nil
        case "objects": return self["environment"]?.map?["objects"] != nil
        default: return self[group]?.map?[name] != nil
        }
    }
}
