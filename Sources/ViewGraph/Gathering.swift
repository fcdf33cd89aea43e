import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

/// The contents of vertices that gather from the tree: subviews as their container sees them, what a `slot` shows, and
/// preferences. The running rule comes to depend on what is gathered.
struct Gathering {
    unowned(unsafe) let graph: Wiring

    /// The container's subviews as numbers: see `NodeID.number`. The first element counts changes of the nodes between
    /// the container and its subviews.
    func gatherSubviewList(of row: NodeRow) throws -> Content {
        try graph.readStructure(of: row)
        var list: [Value] = [.int(Int64(graph.nodes[row].wrappingChanges))]
        for subview in graph.nodes.subviews(of: row) { list.append(.int(graph.nodes.nodeID(subview).number)) }
        return .value(.list(list))
    }

    /// The rows of the subviews. The running rule comes to depend on these rows, and on nothing else below the node.
    private func readSubviewRows(of row: NodeRow) throws -> [NodeRow] {
        guard case .value(.list(let list)) = try graph.engine.read(graph.systemAttribute(.subviewList, of: row)) else {
            return []
        }
        return list.dropFirst().compactMap { NodeRow($0) }
    }

    private func readSections(of row: NodeRow) throws -> [SectionGroup] {
        try graph.readStructure(of: row)
        return graph.nodes.sections(of: row)
    }

    private func reader(of container: NodeRow) -> SubviewReader<RuleHost> {
        SubviewReader(tree: graph.nodes, keys: graph.declarations.container, engine: graph.engine, container: container)
    }

    func subviews(of row: NodeRow, _ parts: SubviewParts) throws -> Content {
        let rows = try readSubviewRows(of: row)
        do { return .value(try reader(of: row).subviews(rows, parts)) } catch let failure as Failure {
            return .failure(failure)
        }
    }

    func sections(of row: NodeRow, _ parts: SubviewParts) throws -> Content {
        let groups = try readSections(of: row)
        let container = reader(of: row)
        do {
            return .value(.list(try groups.enumerated().map { try container.sectionValue($1, $0, parts) }))
        } catch let failure as Failure { return .failure(failure) }
    }

    /// A place inside an element of the list of subviews or sections, found without looking at the rest of the list.
    /// - Returns: nil if the list has no such element; the caller then reads the place in the whole list.
    func subviewPart(_ index: Int, of list: AttributeID, at steps: [AttributePath.Step]) throws -> Content? {
        guard let record = graph.attributes[list] else { return nil }
        do {
            switch record.source {
            case .subviews(let parts):
                guard
                    case .value(.list(let list)) = try graph.engine.read(
                        graph.systemAttribute(.subviewList, of: record.node)),
                    list.dropFirst().indices.contains(index + 1), let row = NodeRow(list[index + 1])
                else { return nil }
                return try reader(of: record.node).place(steps.dropFirst(), in: row, index, parts)
            case .sections(let parts):
                let groups = try readSections(of: record.node)
                guard groups.indices.contains(index) else { return nil }
                return try reader(of: record.node).place(steps.dropFirst(), in: groups[index], index, parts)
            default: return nil
            }
        } catch let failure as Failure { return .failure(failure) }
    }

    /// The nodes for a `slot`, as numbers; see `NodeID.number`.
    func given(for row: NodeRow) throws -> Content {
        guard let body = graph.nodes.componentBody(around: row),
            case .literal(.string(let slot))? = graph.nodes[row].definition.forEach?.data
        else { return .value([]) }
        try graph.readStructure(of: body.root)
        let given = graph.nodes.given(to: body.root, inside: body.layer, slot: slot)
        return .value(.list(given.map { .int(graph.nodes.nodeID($0).number) }))
    }

    // MARK: Preferences

    // Preferences flow up: each node passes on the value that it writes itself, or else the values from below, merged
    // in order. The vertices exist only between a reader and the writers below it, and only once somebody reads.

    /// The value that a node passes up for a key: an optional, absent if neither it nor any node below writes one.
    func gatherPreferenceOutput(_ key: String, at row: NodeRow) throws -> Content {
        if let own = graph.nodes[row].preferences.last(where: { $0.key == key }) {
            switch try graph.engine.read(own.source) {
            case .value(let value): return .value(.optional(value))
            case .failure(let failure): return .failure(failure)
            }
        }
        return try mergedPreference(key, below: row)
    }

    /// The value that an ancestor reads: the merged values of its descendants, or the default.
    func gatherPreference(_ key: String, at row: NodeRow) throws -> Content {
        switch try mergedPreference(key, below: row) {
        case .value(.optional(let merged)):
            if let merged { return .value(merged) }
            guard let definition = graph.declarations.preference[key] else {
                return .failure(Failure(.notFound, "undeclared preference key \(key)"))
            }
            return .value(definition.defaultValue)
        case let other: return other
        }
    }

    /// The preference that a child passes up. For a placed subview inside a group that writes the
    /// preference, the group's value counts instead, once: for the first of its subviews that is placed.
    private func preferenceSource(_ key: String, of child: NodeRow, in row: NodeRow) throws -> AttributeID? {
        let nodes = graph.nodes
        guard nodes[row].definition.forEach?.choice == .place,
            let root = nodes.componentBody(around: row)?.root
        else { return graph.systemAttribute(.preferenceOutput(key), of: child) }
        let around = nodes.upward(from: nodes[child].parent).prefix { $0 != root }
        if around.isEmpty { return graph.systemAttribute(.preferenceOutput(key), of: child) }
        // A group that does not write the preference may write it later.
        try graph.readStructure(of: root)
        let writers = around.filter { row in nodes[row].preferences.contains { $0.key == key } }
        guard let group = writers.last, let own = nodes[group].preferences.last(where: { $0.key == key }) else {
            return graph.systemAttribute(.preferenceOutput(key), of: child)
        }
        let first = nodes.subtree(of: group).first { nodes.placements.place(of: $0, in: root) != nil }
        return first == child ? own.source : nil
    }

    private func mergedPreference(_ key: String, below row: NodeRow) throws -> Content {
        try graph.readStructure(of: row)
        var merged: Value?
        for child in graph.nodes.shown(in: row) {
            guard let source = try preferenceSource(key, of: child, in: row) else { continue }
            switch try graph.engine.read(source) {
            case .failure(let failure): return .failure(failure)
            case .value(.optional(nil)): continue
            case .value(let found):
                var value = found
                if case .optional(let inner?) = found { value = inner }
                guard let before = merged else {
                    merged = value
                    continue
                }
                guard let reduce = graph.declarations.preference[key]?.reduce else {
                    // Without a reduce the last writer wins, as an assignment would.
                    merged = value
                    continue
                }
                switch graph.evaluate(
                    reduce, bindings: ValueMap([(.string("value"), before), (.string("next"), value)]))
                {
                case .failure(let failure): return .failure(failure)
                case .value(let reduced): merged = reduced
                }
            }
        }
        return .value(.optional(merged))
    }
}
