import AttributeGraph
import AttributeValues
import SceneModel

/// Describes subviews and sections to their container, as the running rule asks. Only the closest
/// container reads container values: transparent nodes pass them through, views and containers stop
/// them.
///
/// Its functions throw a `Failure` that is the content in the place of what they describe, or what
/// the engine throws.
struct SubviewReader {
    let tree: Tree<NodeRecord>
    /// The declared container values.
    let keys: [String: KeyDefinition]
    let engine: GraphCore<RuleHost>
    let container: UInt32

    /// Subviews, numbered from 0.
    func subviews(_ rows: [UInt32], _ parts: SubviewParts) throws -> Value {
        .list(try rows.enumerated().map { try subviewValue($1, $0, parts) })
    }

    /// `{id, index, tag, containerValues}` of one subview, as far as they are asked for.
    func subviewValue(_ row: UInt32, _ index: Int, _ parts: SubviewParts) throws -> Value {
        var map = ValueMap(minimumCapacity: 4)
        if parts.hasID { map["id"] = .string(tree.id(ofSubview: row, in: container)) }
        map["index"] = .int(Int64(index))
        if parts.hasTag { map["tag"] = try tag(of: row) }
        if parts.hasContainerValues { map["containerValues"] = try values(of: row, parts) }
        return .map(map)
    }

    /// A node has a tag of each type: what it writes, its id if a `forEach` made it, and what wrappers write. The
    /// innermost of a type wins. Null without tags, a list of several.
    private func tag(of row: UInt32) throws -> Value {
        var tags: [Value] = []
        func add(_ tag: Value) {
            if case .null = tag { return }
            let type = tag.typeName
            if !tags.contains(where: { $0.typeName == type }) { tags.append(tag) }
        }
        for wrapper in tree.wrappers(of: row, in: container) {
            if let vertex = tree[Int(wrapper)].tag {
                let written = try engine.read(vertex).get()
                for tag in written.list ?? [written] { add(tag) }
            }
            if let id = elementID(of: wrapper) { add(id) }
        }
        return tags.count > 1 ? .list(tags) : tags.first ?? .null
    }

    /// The id of the element that a `forEach` made a node of.
    private func elementID(of row: UInt32) -> Value? {
        let parent = tree[Int(tree[Int(row)].parent)]
        guard parent.kind == .forEach, let ids = parent.instances?.ids else { return nil }
        let place = tree.index(of: row)
        return ids.indices.contains(place) ? ids[place] : nil
    }

    /// Container values of a node: defaults, then what wrappers set from outside in, then its own.
    private func values(of row: UInt32, _ parts: SubviewParts) throws -> Value {
        let shown =
            parts.keys.map { $0.compactMap { keys[$0] } } ?? keys.values.sorted { $0.name.precedesByBytes($1.name) }
        var whole = Value.map(ValueMap(shown.map { (Value.string($0.name), $0.defaultValue) }))
        for writer in tree.wrappers(of: row, in: container).reversed() {
            for (key, steps, source) in tree[Int(writer)].containerValues where parts.keys?.contains(key) ?? true {
                let value = try engine.read(source).get()
                whole = try whole.changing([.key(key)] + steps) { _ in value }
            }
        }
        return whole
    }

    func sectionValue(_ group: SectionGroup, _ index: Int, _ parts: SubviewParts) throws -> Value {
        var map = ValueMap(minimumCapacity: 6)
        if parts.hasSectionID, let first = group.section ?? group.loose.first {
            map["id"] = .string(tree.id(ofSubview: first, in: container))
        }
        map["index"] = .int(Int64(index))
        for (name, slot) in SubviewParts.slots where parts.slots.contains(name) {
            map[.string(name)] = try subviews(tree.subviews(of: group, in: slot), parts)
        }
        // A run of subviews has no wrapper that could set any.
        if parts.hasSectionValues { map["containerValues"] = try values(of: group.section ?? container, parts) }
        return .map(map)
    }

    // MARK: Places

    /// What stands at a place inside a subview; nil where the place is none of it.
    func place(
        _ steps: ArraySlice<AttributePath.Step>, in row: UInt32, _ index: Int, _ given: SubviewParts
    ) throws -> Content? {
        var parts = given
        if case .key(let name)? = steps.first {
            parts = SubviewParts()
            switch name {
            case "id": parts.hasID = true
            case "tag": parts.hasTag = true
            case "index": break
            case "containerValues":
                parts.hasContainerValues = true
                parts.keys = key(steps.dropFirst())
            default: return nil
            }
        }
        return Content.value(try subviewValue(row, index, parts)).selecting(steps)
    }

    /// What stands at a place inside a section, whose first step is the property of a section; nil
    /// where the place is none of it.
    func place(
        _ steps: ArraySlice<AttributePath.Step>, in group: SectionGroup, _ index: Int, _ given: SubviewParts
    ) throws -> Content? {
        guard case .key(let name)? = steps.first else { return nil }
        let rest = steps.dropFirst()
        if let slot = SubviewParts.slots.first(where: { $0.name == name })?.slot, case .index(let place)? = rest.first {
            let rows = tree.subviews(of: group, in: slot)
            return rows.indices.contains(place) ? try self.place(rest.dropFirst(), in: rows[place], place, given) : nil
        }
        var parts = SubviewParts()
        switch name {
        case "id": parts.hasSectionID = true
        case "index": break
        case "containerValues":
            parts.hasSectionValues = true
            parts.keys = key(rest)
        default: return nil
        }
        return Content.value(try sectionValue(group, index, parts)).selecting(steps)
    }

    /// The container values that a place is in; nil: all.
    private func key(_ steps: ArraySlice<AttributePath.Step>) -> [String]? {
        if case .key(let key)? = steps.first { [key] } else { nil }
    }
}
