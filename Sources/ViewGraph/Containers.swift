import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// The vertices that every node has, and those that count changes of shape.

extension Wiring {
    /// Makes the running rule depend on the shape of the tree below a node.
    func readStructure(of row: NodeRow) throws {
        let attribute: AttributeID
        if let existing = nodes[row].structure {
            attribute = existing
        } else {
            attribute = createInput(.value(0), node: row, name: "structure", source: .system)
            nodes[row].structure = attribute
        }
        _ = try engine.read(attribute)
    }

    /// Invalidates everything that depends on the shape of the tree around a node, for example values that are gathered
    /// from below. O(depth).
    func shapeChanged(at row: NodeRow) {
        countWrappingChange(of: nodes.isOpaque(row) ? row : nodes.container(of: row))
        for row in nodes.upward(from: row) { countChange(of: row) }
        if nodes.hasPlaces { shapeChangedAround(row) }
    }

    /// For placed nodes: the part of `shapeChanged` for nodes that are around it only where it stands, or only where it
    /// was declared.
    private func shapeChangedAround(_ row: NodeRow) {
        let declared = Array(nodes.upward(from: row))
        for row in nodes.around(row) where !declared.contains(row) { countChange(of: row) }
        if let opaque = declared.first(where: { nodes.isOpaque($0) }) { countWrappingChange(of: opaque) }
    }

    private func countWrappingChange(of container: NodeRow) {
        // The vertices that read the count are among the extras.
        if nodes[container].hasExtras { nodes[container].wrappingChanges &+= 1 }
    }

    private func countChange(of row: NodeRow) {
        guard let structure = nodes[row].structure, case .value(.int(let count)) = content(of: structure) else {
            return
        }
        setInput(structure, .value(.int(count + 1)))
    }

    /// Does the work of `shapeChanged` for all nodes, after keys were declared again: gathered values may have another
    /// default or another way of merging. O(nodes).
    func gatheringChanged() {
        for row in nodes.living {
            countWrappingChange(of: row)
            countChange(of: row)
        }
    }

    /// As `shapeChanged`, after a change of what a node says about itself. The container of the subview that the node
    /// is, or wraps, is told, too.
    func wrappingChanged(at row: NodeRow) {
        if row != .root {
            countWrappingChange(of: nodes.container(of: row))
            if nodes.hasPlaces, let opaque = nodes.upward(from: row).dropFirst().first(where: { nodes.isOpaque($0) }) {
                countWrappingChange(of: opaque)
            }
        }
        shapeChanged(at: row)
    }

    /// The vertex of an attribute that every node has; made at the first call.
    func systemAttribute(_ which: SystemAttribute, of row: NodeRow) -> AttributeID {
        if let existing = nodes[row].system[which] { return existing }
        let made: AttributeID
        switch which {
        case .selfID:
            made = createInput(.value(.string(nodes[row].id.text)), node: row, name: "self.id", source: .system)
        case .selfPath:
            made = createInput(.value(.string(nodes.path(of: row))), node: row, name: "self.path", source: .system)
        case .selfIndex:
            made = createInput(
                .value(.int(Int64(nodes.index(of: row)))), node: row, name: "self.index", source: .system)
            nodes.number(row)
        case .subviewList: made = createRule(node: row, name: "subviews", source: .subviewList)
        case .subviews(let parts): made = createRule(node: row, name: "subviews", source: .subviews(parts))
        case .sections(let parts): made = createRule(node: row, name: "sections", source: .sections(parts))
        case .preferenceOutput(let key):
            made = createRule(node: row, name: "preferences.\(key)", source: .preferenceOutput(key: key))
        case .preference(let key):
            made = createRule(node: row, name: "preferences.\(key)", source: .preference(key: key))
        }
        nodes[row].system[which] = made
        return made
    }

    /// Updates `self.path` of nodes whose paths have changed.
    func placeChanged(of rows: [NodeRow]) {
        for row in rows {
            if let attribute = nodes[row].system[.selfPath] {
                setInput(attribute, .value(.string(nodes.path(of: row))))
            }
        }
    }
}
