import AttributeValues
import SceneModel

// The tree as containers see it. Views and containers are opaque: each counts as one subview of the closest container
// above it. Groups, sections and lists are transparent: their children count in their place.

/// A section of a container, or a run of subviews outside any section, which has no node.
struct SectionGroup: Equatable {
    var section: NodeRow?
    var loose: [NodeRow] = []
}

extension Tree<NodeRecord> {
    func isOpaque(_ row: NodeRow) -> Bool {
        switch self[row].kind {
        case .view, .container: true
        case .group, .section, .forEach, .choice, .branch: false
        }
    }

    /// The closest container around a node, where the node stands; the root for the root.
    func container(of row: NodeRow) -> NodeRow {
        around(row).dropFirst().first { isOpaque($0) } ?? .root
    }

    /// The children of a container that contain its subviews. For a component that places its subviews, these are the
    /// nodes that it is given.
    private func contents(of container: NodeRow) -> [NodeRow] {
        guard hasPlaces, let layer = firstPlacing(of: container) else { return shown(in: container) }
        return given(to: container, inside: layer, slot: NodeDefinition.contentSlot)
    }

    /// The subviews of a container, in order.
    func subviews(of container: NodeRow) -> [NodeRow] { subviews(in: contents(of: container)) }

    /// The subviews in a section, in order.
    func subviews(ofSection row: NodeRow, in slot: Slot) -> [NodeRow] { subviews(in: children(of: row, in: slot)) }

    /// The subviews that nodes are or contain, in order.
    func subviews(in nodes: [NodeRow]) -> [NodeRow] {
        var rows: [NodeRow] = []
        var pending = nodes.reversed() as [NodeRow]
        while let next = pending.popLast() {
            if isOpaque(next) {
                rows.append(next)
            } else {
                // A section's header and footer are its own, not subviews of the container.
                pending.append(contentsOf: children(of: next, in: .content).reversed())
            }
        }
        return rows
    }

    private func children(of row: NodeRow, in slot: Slot?) -> [NodeRow] {
        guard let slot, self[row].kind == .section else { return shown(in: row) }
        return shown(in: row).filter { self[$0].slot == slot }
    }

    /// A subview of a container and the nodes between both, from inside out.
    func wrappers(of row: NodeRow, in container: NodeRow) -> [NodeRow] {
        Array(around(row, in: container).prefix { $0 != container })
    }

    /// The path of a subview or section from its container, which is unique: groups and lists in between are part of
    /// it. For a node that the container shows, but does not contain, it leads upwards first: `../../red`.
    func id(ofSubview row: NodeRow, in container: NodeRow) -> String {
        if !placements.isEmpty, !isInside(row, of: container) {
            let (from, to) = (ids(of: container), ids(of: row))
            let common = zip(from, to).prefix { $0 == $1 }.count
            let way = AttributePath.describe(nodes: Array(to.dropFirst(common)))
            return [String](repeating: "..", count: from.count - common).joined(separator: "/") + way
        }
        let ids = upward(from: row).prefix { $0 != container }.map { self[$0] }.filter { !$0.isTransparent }
            .map(\.id)
        return String(Substring(AttributePath.describe(nodes: ids.reversed()).utf8.dropFirst()))
    }

    /// A container's sections in order. A run of subviews outside any section forms a section of
    /// its own.
    func sections(of row: NodeRow) -> [SectionGroup] {
        var groups: [SectionGroup] = []
        var pending = contents(of: row).reversed() as [NodeRow]
        while let next = pending.popLast() {
            if self[next].kind == .section {
                groups.append(SectionGroup(section: next))
            } else if isOpaque(next) {
                if groups.last.map({ $0.section != nil }) ?? true { groups.append(SectionGroup()) }
                groups[groups.count - 1].loose.append(next)
            } else {
                pending.append(contentsOf: shown(in: next).reversed())
            }
        }
        return groups
    }

    /// The subviews in a part of a section.
    func subviews(of group: SectionGroup, in slot: Slot) -> [NodeRow] {
        if let section = group.section { return subviews(ofSection: section, in: slot) }
        return slot == .content ? group.loose : []
    }
}
