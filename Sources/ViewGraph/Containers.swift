import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// What a container sees of its subviews. Container values are read by the closest container only: transparent nodes pass
// them through, views and containers stop them.

extension ViewGraph {
    // MARK: Subviews

    /// Which nodes are the container's subviews, as numbers; see `subviewNumber`. The first counts the changes of what stands between
    /// the container and its subviews.
    func subviewList(of row: UInt32) throws -> Content {
        try readStructure(of: row)
        var list: [Value] = [.int(Int64(nodes[Int(row)].wrappingChanges))]
        for subview in nodes.subviews(of: row) { list.append(.int(subviewNumber(subview))) }
        return .value(.list(list))
    }

    /// Names one node for as long as it lives.
    private func subviewNumber(_ row: UInt32) -> Int64 { Int64(nodes.nodeID(row).generation) << 32 | Int64(row) }

    /// The rows of the subviews; the running rule depends on them, and on nothing else of what is below.
    private func readSubviewRows(of row: UInt32) throws -> [UInt32] {
        guard case .value(.list(let list)) = try engine.read(systemAttribute(.subviewList, of: row)) else { return [] }
        return list.dropFirst().map { if case .int(let number) = $0 { UInt32(truncatingIfNeeded: number) } else { 0 } }
    }

    func subviews(of row: UInt32, _ parts: SubviewParts) throws -> Content {
        try describe(try readSubviewRows(of: row), in: row, parts)
    }

    /// A list of what the rows show their container, numbered from 0.
    private func describe(_ rows: [UInt32], in container: UInt32, _ parts: SubviewParts) throws -> Content {
        var list: [Value] = []
        list.reserveCapacity(rows.count)
        for (index, subview) in rows.enumerated() {
            switch try describe(subview, index, in: container, parts) {
            case .value(let value): list.append(value)
            case let failure: return failure
            }
        }
        return .value(.list(list))
    }

    /// `{id, index, tag, containerValues}` of one subview, as far as they are asked for.
    private func describe(_ row: UInt32, _ index: Int, in container: UInt32, _ parts: SubviewParts) throws -> Content {
        var map = ValueMap(minimumCapacity: 4)
        if parts.hasID { map["id"] = .string(nodes.id(ofSubview: row, in: container)) }
        map["index"] = .int(Int64(index))
        if parts.hasTag {
            switch try tag(of: row, in: container) {
            case .value(let tag): map["tag"] = tag
            case let failure: return failure
            }
        }
        if parts.hasContainerValues {
            switch try containerValues(of: row, in: container, parts) {
            case .value(let values): map["containerValues"] = values
            case let failure: return failure
            }
        }
        return .value(.map(map))
    }

    /// A tag on a wrapper holds for what it wraps; the innermost wins.
    private func tag(of row: UInt32, in container: UInt32) throws -> Content {
        for wrapper in nodes.wrappers(of: row, in: container) {
            if let attribute = nodes[Int(wrapper)].tag { return try engine.read(attribute) }
        }
        return .value(.null)
    }

    /// Container values of a node: defaults, then what wrappers set from outside in, then its own.
    private func containerValues(of row: UInt32, in container: UInt32, _ parts: SubviewParts) throws -> Content {
        var whole: Value
        if let keys = parts.keys {
            let pairs = keys.compactMap { key in declarations.container[key].map { (Value.string(key), $0.defaultValue) } }
            whole = .map(ValueMap(pairs))
        } else {
            whole = .map(defaultContainerValues())
        }
        for writer in nodes.wrappers(of: row, in: container).reversed() {
            for (key, steps, source) in nodes[Int(writer)].containerValues where parts.keys?.contains(key) ?? true {
                guard case .value(let value) = try engine.read(source) else { return try engine.read(source) }
                do { whole = try whole.changing([.key(key)] + steps) { _ in value } } catch { return .failure(error) }
            }
        }
        return .value(whole)
    }

    private func defaultContainerValues() -> ValueMap {
        ValueMap(
            declarations.container.values.sorted { $0.name.precedesByBytes($1.name) }
                .map { (.string($0.name), $0.defaultValue) })
    }

    // MARK: Sections

    private func sectionGroups(of row: UInt32) throws -> [SectionGroup] {
        try readStructure(of: row)
        return nodes.sections(of: row)
    }

    /// The container's sections in order; runs of subviews outside any section form sections of their own.
    func sections(of row: UInt32, _ parts: SubviewParts) throws -> Content {
        var list: [Value] = []
        for (index, group) in try sectionGroups(of: row).enumerated() {
            switch try describe(group, index, in: row, parts) {
            case .value(let value): list.append(value)
            case let failure: return failure
            }
        }
        return .value(.list(list))
    }

    private func describe(_ group: SectionGroup, _ index: Int, in container: UInt32, _ parts: SubviewParts) throws -> Content {
        var map = ValueMap(minimumCapacity: 6)
        if parts.hasSectionID, let first = group.section ?? group.loose.first { map["id"] = .string(nodes.id(ofSubview: first, in: container)) }
        map["index"] = .int(Int64(index))
        for (name, slot) in SubviewParts.slots where parts.slots.contains(name) {
            switch try describe(nodes.subviews(of: group, in: slot), in: container, parts) {
            case .value(let value): map[.string(name)] = value
            case let failure: return failure
            }
        }
        if parts.hasSectionValues {
            switch try containerValues(of: group, in: container, parts) {
            case .value(let values): map["containerValues"] = values
            case let failure: return failure
            }
        }
        return .value(.map(map))
    }

    private func containerValues(of group: SectionGroup, in container: UInt32, _ parts: SubviewParts) throws -> Content {
        // A run of subviews has no wrapper that could set any.
        try containerValues(of: group.section ?? container, in: container, parts)
    }

    // MARK: Places

    /// A place inside an element of the list of subviews or sections, found without looking at the rest of the list.
    /// - Returns: nil where the place is no such part: then the list says what stands there.
    func subviewPart(_ index: Int, of list: AttributeID, at steps: [AttributePath.Step]) throws -> Content? {
        guard let container = attributes[Int(list.index)]?.node else { return nil }
        switch attributes[Int(list.index)]?.source {
        case .subviews(let parts):
            guard case .value(.list(let list)) = try engine.read(systemAttribute(.subviewList, of: container)),
                list.dropFirst().indices.contains(index + 1), case .int(let number) = list[index + 1]
            else { return nil }
            return try part(of: UInt32(truncatingIfNeeded: number), index, in: container, steps.dropFirst(), parts)
        case .sections(let parts):
            let groups = try sectionGroups(of: container)
            guard groups.indices.contains(index), steps.count > 1, case .key(let name) = steps[1] else { return nil }
            let group = groups[index]
            if let slot = SubviewParts.slots.first(where: { $0.name == name })?.slot, steps.count > 2, case .index(let place) = steps[2] {
                let rows = nodes.subviews(of: group, in: slot)
                return rows.indices.contains(place) ? try part(of: rows[place], place, in: container, steps.dropFirst(3), parts) : nil
            }
            var wanted = SubviewParts()
            switch name {
            case "id": wanted.hasSectionID = true
            case "index": break
            case "containerValues":
                wanted.hasSectionValues = true
                wanted.keys = key(steps.dropFirst(2)).map { [$0] }
            default: return nil
            }
            return try describe(group, index, in: container, wanted).selecting(steps.dropFirst())
        default: return nil
        }
    }

    private func part(
        of row: UInt32, _ index: Int, in container: UInt32, _ steps: ArraySlice<AttributePath.Step>, _ given: SubviewParts
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
                parts.keys = key(steps.dropFirst()).map { [$0] }
            default: return nil
            }
        }
        return try describe(row, index, in: container, parts).selecting(steps)
    }

    private func key(_ steps: ArraySlice<AttributePath.Step>) -> String? {
        if case .key(let key)? = steps.first { key } else { nil }
    }

    // MARK: Shape

    /// Makes the running rule depend on the shape of the tree below a node.
    func readStructure(of row: UInt32) throws {
        let attribute: AttributeID
        if let existing = nodes[Int(row)].structure {
            attribute = existing
        } else {
            attribute = createInput(.value(0), node: row, name: "structure", source: .system)
            nodes[Int(row)].structure = attribute
        }
        _ = try engine.read(attribute)
    }

    /// Tells all that depend on the shape of the tree around a node that it changed: whoever reads something gathered
    /// from below. O(depth).
    func shapeChanged(at row: UInt32) {
        countWrappingChange(of: nodes.isOpaque(row) ? row : nodes.container(of: row))
        for row in nodes.upward(from: row) { countChange(of: row) }
    }

    private func countWrappingChange(of container: UInt32) { nodes[Int(container)].wrappingChanges &+= 1 }

    private func countChange(of row: UInt32) {
        guard let structure = nodes[Int(row)].structure, case .value(.int(let count)) = content(of: structure) else { return }
        setInput(structure, .value(.int(count + 1)))
    }

    /// As `shapeChanged` everywhere, when keys are declared again: what is gathered has another default, or is merged another way. O(nodes).
    func gatheringChanged() {
        for row in nodes.living {
            countWrappingChange(of: row)
            countChange(of: row)
        }
    }

    /// As `shapeChanged`, when what a node says of itself changed: the container of what it is, or wraps, is told, too.
    func wrappingChanged(at row: UInt32) {
        if row != NodeID.root.row { countWrappingChange(of: nodes.container(of: row)) }
        shapeChanged(at: row)
    }

    /// The vertex for something every node has; made when first asked for.
    func systemAttribute(_ which: SystemAttribute, of row: UInt32) -> AttributeID {
        if let existing = nodes[Int(row)].system[which] { return existing }
        let made: AttributeID
        switch which {
        case .selfID: made = createInput(.value(.string(nodes[Int(row)].id)), node: row, name: "self.id", source: .system)
        case .selfPath:
            made = createInput(.value(.string(nodes.path(of: row))), node: row, name: "self.path", source: .system)
        case .selfIndex:
            made = createInput(.value(.int(Int64(nodes.index(of: row)))), node: row, name: "self.index", source: .system)
            nodes.number(row)
        case .subviewList: made = createRule(node: row, name: "subviews", source: .subviewList)
        case .subviews(let parts): made = createRule(node: row, name: "subviews", source: .subviews(parts))
        case .sections(let parts): made = createRule(node: row, name: "sections", source: .sections(parts))
        case .preferenceOutput(let key):
            made = createRule(node: row, name: "preferences.\(key)", source: .preferenceOutput(key: key))
        case .preference(let key): made = createRule(node: row, name: "preferences.\(key)", source: .preference(key: key))
        }
        nodes[Int(row)].system[which] = made
        return made
    }

    /// Brings `self.path` below and `self.index` among the siblings of a moved node up to date.
    func placeChanged(of rows: [UInt32]) {
        for row in rows {
            if let attribute = nodes[Int(row)].system[.selfPath] {
                setInput(attribute, .value(.string(nodes.path(of: row))))
            }
        }
    }

    func indicesChanged(below parent: UInt32) {
        guard nodes[Int(parent)].hasNumberedChildren else { return }
        for (position, child) in nodes[Int(parent)].children.enumerated() {
            if let attribute = nodes[Int(child)].system[.selfIndex] { setInput(attribute, .value(.int(Int64(position)))) }
        }
    }
}
