import AttributeGraph
import AttributeValues
import SceneModel

/// Describes subviews and sections to their container, for the running rule. Only the closest container reads container
/// values: transparent nodes pass them through, views and containers stop them.
///
/// Its functions throw a `Failure`, which is the content instead of the description, or an error of the engine.
struct SubviewReader<Host: GraphHost> where Host.Value == Content {
    let tree: Tree<NodeRecord>
    /// The declared container values.
    let keys: [String: KeyDefinition]
    let engine: GraphCore<Host>
    let container: NodeRow

    /// Subviews, numbered from 0.
    func subviews(_ rows: [NodeRow], _ parts: SubviewParts) throws -> Value {
        .list(try rows.enumerated().map { try subviewValue($1, $0, parts) })
    }

    /// `{id, index, tag, containerValues}` of one subview, but only the parts that are asked for.
    func subviewValue(_ row: NodeRow, _ index: Int, _ parts: SubviewParts) throws -> Value {
        var map = ValueMap(minimumCapacity: 4)
        if parts.hasID { map["id"] = .string(tree.id(ofSubview: row, in: container)) }
        map["index"] = .int(Int64(index))
        if parts.hasTag { map["tag"] = try tag(of: row) }
        if parts.hasContainerValues { map["containerValues"] = try values(of: row, parts) }
        return .map(map)
    }

    /// A node can have one tag of each type: one that it writes, its id if a `forEach` made it, and those of its
    /// wrappers. The innermost tag of a type wins, also over one that fails. Null without tags, a list if there are
    /// several.
    private func tag(of row: NodeRow) throws -> Value {
        var tags: [Value] = []
        func add(_ tag: Value) {
            if case .null = tag { return }
            let type = tag.typeName
            if !tags.contains(where: { $0.typeName == type }) { tags.append(tag) }
        }
        for wrapper in tree.wrappers(of: row, in: container) {
            if let vertex = tree[wrapper].tag {
                switch try engine.read(vertex) {
                case .value(let written): for tag in written.list ?? [written] { add(tag) }
                case .failure(let failure):
                    let type = tree[wrapper].definition.tag?.program?.resultType.valueType ?? .dyn
                    // A tag of an unknown type could have been one that an inner tag overrides.
                    let isOverridden = tags.contains { type == .dyn || ValueType(of: $0) == type }
                    if !isOverridden { throw failure }
                }
            }
            if let id = elementID(of: wrapper) { add(id) }
        }
        return tags.count > 1 ? .list(tags) : tags.first ?? .null
    }

    /// The id of the element for which a `forEach` made a node.
    private func elementID(of row: NodeRow) -> Value? {
        let parent = tree[tree[row].parent]
        guard parent.kind == .forEach, let ids = parent.instances?.ids else { return nil }
        let position = tree.index(of: row)
        return ids.indices.contains(position) ? ids[position] : nil
    }

    /// Container values of a node: defaults, then what wrappers set from outside in, then its own. A value that an
    /// inner one overrides is not read.
    private func values(of row: NodeRow, _ parts: SubviewParts) throws -> Value {
        let shown =
            parts.keys.map { $0.compactMap { keys[$0] } } ?? keys.values.sorted { $0.name.precedesByBytes($1.name) }
        var whole = Value.map(ValueMap(shown.map { (Value.string($0.name), $0.defaultValue) }))
        var writers: [(key: String, steps: [AttributePath.Step], source: AttributeID)] = []
        for wrapper in tree.wrappers(of: row, in: container) {
            for writer in tree[wrapper].containerValues.reversed() where parts.mayShow(writer.key, writer.steps) {
                if !writers.contains(where: { $0.key == writer.key && writer.steps.starts(with: $0.steps) }) {
                    writers.append(writer)
                }
            }
        }
        for (key, steps, source) in writers.reversed() {
            let value = try engine.read(source).get()
            let path = [.key(key)] + steps
            // A part of something that is not there makes it.
            for length in 1..<path.count where whole.select(path[..<length]).value ?? .null == .null {
                whole = try whole.changing(path[..<length]) { _ in .map(ValueMap()) }
            }
            whole = try whole.changing(path) { _ in value }
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
        // Subviews outside sections have no wrapper that could set container values.
        if parts.hasSectionValues { map["containerValues"] = try values(of: group.section ?? container, parts) }
        return .map(map)
    }

    // MARK: Places

    /// The content of a place inside a subview; nil if there is no such place.
    func place(
        _ steps: ArraySlice<AttributePath.Step>, in row: NodeRow, _ index: Int, _ given: SubviewParts
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
                parts.readValue(at: steps.dropFirst())
            default: return nil
            }
        }
        return Content.value(try subviewValue(row, index, parts)).selecting(steps)
    }

    /// The content of a place inside a section; nil if there is no such place. The first step is a property of the
    /// section.
    func place(
        _ steps: ArraySlice<AttributePath.Step>, in group: SectionGroup, _ index: Int, _ given: SubviewParts
    ) throws -> Content? {
        guard case .key(let name)? = steps.first else { return nil }
        let rest = steps.dropFirst()
        if let slot = SubviewParts.slots.first(where: { $0.name == name })?.slot,
            case .index(let position)? = rest.first
        {
            let rows = tree.subviews(of: group, in: slot)
            return rows.indices.contains(position)
                ? try self.place(rest.dropFirst(), in: rows[position], position, given) : nil
        }
        var parts = SubviewParts()
        switch name {
        case "id": parts.hasSectionID = true
        case "index": break
        case "containerValues":
            parts.hasSectionValues = true
            parts.readValue(at: rest)
        default: return nil
        }
        return Content.value(try sectionValue(group, index, parts)).selecting(steps)
    }
}

extension SubviewParts {
    /// Limits the container values to those that a place in them needs.
    fileprivate mutating func readValue(at steps: ArraySlice<AttributePath.Step>) {
        keys = nil
        guard case .key(let key)? = steps.first else { return }
        keys = [key]
        self.steps = Array(steps.dropFirst())
    }
}
