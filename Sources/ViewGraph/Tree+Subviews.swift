import AttributeValues
import SceneModel

// What the tree is to containers. Views and containers are opaque: each counts as one subview of
// the closest container above it. Groups, sections and lists are transparent: their children count
// in their place.

/// A section of a container; without a node for a run of subviews outside any section.
struct SectionGroup: Equatable {
    var section: UInt32?
    var loose: [UInt32] = []
}

extension Tree {
    func isOpaque(_ row: UInt32) -> Bool {
        switch self[Int(row)].kind {
        case .view, .container: true
        case .group, .section, .forEach, .choice, .branch: false
        }
    }

    /// The closest container above a node (the root has itself).
    func container(of row: UInt32) -> UInt32 {
        var at = self[Int(row)].parent
        while at != NodeID.root.row, !isOpaque(at) { at = self[Int(at)].parent }
        return at
    }

    /// The subviews that a node's children come to, in order.
    /// - Parameter slot: of a section, the part to look at.
    func subviews(of row: UInt32, in slot: Slot? = nil) -> [UInt32] {
        var rows: [UInt32] = []
        var pending = children(of: row, in: slot).reversed() as [UInt32]
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

    private func children(of row: UInt32, in slot: Slot?) -> [UInt32] {
        guard let slot, self[Int(row)].kind == .section else { return self[Int(row)].children }
        return self[Int(row)].children.filter { self[Int($0)].slot == slot }
    }

    /// A subview of a container and the nodes between both, from inside out.
    func wrappers(of row: UInt32, in container: UInt32) -> [UInt32] {
        Array(upward(from: row).prefix { $0 != container })
    }

    /// The path of a subview or section from its container, which no other has: groups and lists
    /// between them do not hide it.
    func id(ofSubview row: UInt32, in container: UInt32) -> String {
        let ids = wrappers(of: row, in: container).map { self[Int($0)] }.filter { !$0.isTransparent }.map(\.id)
        if ids.count == 1, let id = ids.first, !id.utf8.contains(UInt8(ascii: "/")) { return id }
        return String(AttributePath.describe(nodes: ids.reversed()).dropFirst())
    }

    /// A container's sections in order. A run of subviews outside any section forms a section of
    /// its own.
    func sections(of row: UInt32) -> [SectionGroup] {
        var groups: [SectionGroup] = []
        var pending = self[Int(row)].children.reversed() as [UInt32]
        while let next = pending.popLast() {
            if self[Int(next)].kind == .section {
                groups.append(SectionGroup(section: next))
            } else if isOpaque(next) {
                if groups.last.map({ $0.section != nil }) ?? true { groups.append(SectionGroup()) }
                groups[groups.count - 1].loose.append(next)
            } else {
                pending.append(contentsOf: self[Int(next)].children.reversed())
            }
        }
        return groups
    }

    /// The subviews in a part of a section.
    func subviews(of group: SectionGroup, in slot: Slot) -> [UInt32] {
        if let section = group.section { return subviews(of: section, in: slot) }
        return slot == .content ? group.loose : []
    }
}
