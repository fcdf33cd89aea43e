import AttributeGraph
import AttributeValues
import SceneModel

// The nodes that `place` and `slot` should show.

extension Lists {
    /// Sets the nodes that a `place` or `slot` should show.
    /// - Returns: the number of nodes that are new to it; nil if nothing changes.
    /// - Throws: `notFound` for an id that no subview has; all others are shown. Other failures: nothing is shown, as
    ///   after a start, which does not know what was shown before.
    func placeSubviews(_ content: Content, _ definition: ForEachDefinition, at row: NodeRow) throws(Failure) -> Int? {
        guard let body = nodes.componentBody(around: row) else { return nil }
        var rows: [NodeRow] = []
        var unknown: String?
        do throws(Failure) {
            let value = try content.get()
            if definition.choice == .slot {
                rows = (value.list ?? []).compactMap { NodeRow($0) }
            } else {
                let ids = try Lists.ids(ofSubviews: value)
                let known = ids.isEmpty ? [:] : subviewIDs(of: body.root)
                var seen: Set<NodeRow> = []
                for id in ids {
                    guard let found = known[id] else {
                        unknown = unknown ?? id.text
                        continue
                    }
                    if seen.insert(found).inserted { rows.append(found) }
                }
            }
        } catch {
            // A rule that costs too much may only wait for the next turn.
            if error.code != .limit { _ = nodes.placements.setWanted([], at: row, in: body.root) }
            throw error
        }
        if definition.choice == .place {
            try graph.budget.chargePlaced(nodes.placements.countNew(rows, at: row))
        }
        let placed = nodes.placements.setWanted(rows, at: row, in: body.root)
        nodes.placements.note(row, isComplete: unknown == nil)
        if let unknown {
            throw Failure(
                .notFound, "\(nodes.path(of: body.root)) is given no subview \(unknown)", path: nodes.path(of: row),
                hint: "place takes elements of subviews, or of the header, content or footer of a section")
        }
        return placed
    }

    /// - Throws: `typeMismatch` for a value that is neither a subview, nor null, nor a list of subviews.
    private static func ids(ofSubviews value: Value) throws(Failure) -> [Name] {
        var ids: [Name] = []
        for subview in value.list ?? (value == .null ? [] : [value]) {
            guard let id = subview.string ?? subview.map?["id"]?.string else {
                throw Failure(
                    .typeMismatch,
                    "place needs a subview or a list of subviews, not a value of type \(value.shortTypeName)")
            }
            ids.append(Name(id))
        }
        return ids
    }

    /// The subviews that a component is given, by their ids; cached until the tree changes.
    private func subviewIDs(of root: NodeRow) -> [Name: NodeRow] {
        if let known = knownSubviews, known.root == root, known.changes == nodes.changes { return known.rows }
        let subviews = nodes.sections(of: root).flatMap { group in
            SubviewParts.slots.flatMap { nodes.subviews(of: group, in: $0.slot) }
        }
        let rows = Dictionary(subviews.map { (Name(nodes.id(ofSubview: $0, in: root)), $0) }) { first, _ in first }
        knownSubviews = (root, nodes.changes, rows)
        return rows
    }
}
