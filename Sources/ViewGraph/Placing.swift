import AttributeGraph
import AttributeValues
import SceneModel

// `place` and `slot`: what stands where.

extension Description {
    /// The nodes that stand in a node, in order; nil if these are its children.
    public func shown(in node: NodeID) -> [NodeID]? {
        guard nodes.hasPlaces else { return nil }
        var found: [NodeRow] = []
        var pending = nodes.shown(in: node.row).reversed() as [NodeRow]
        while let next = pending.popLast() {
            if nodes[next].isTransparent {
                pending += nodes.shown(in: next).reversed()
            } else {
                found.append(next)
            }
        }
        return found == nodes.visibleChildren(of: node.row) ? nil : found.map(nodes.nodeID)
    }

    /// The paths of the nodes that stand in a node, without those that the client may not read.
    public func pathsShown(in node: NodeID) -> [String] {
        let shown = shown(in: node)?.map(\.row) ?? nodes.visibleChildren(of: node.row)
        return shown.filter { graph.isVisible(node: $0) }.map(nodes.path)
    }

    /// Why a `place` or `slot` does not show all that it should show.
    func refusal(at place: NodeRow) -> Failure? {
        guard let lost = nodes.placements.lost(at: place).first else {
            return nodes.placements.homeless(at: place).map {
                Failure(
                    .conflict, "\(nodes.path(of: $0)) cannot be placed inside itself", path: nodes.path(of: place),
                    hint: "place a subview outside of it")
            }
        }
        return Failure(
            .conflict, "\(nodes.path(of: lost.node)) is placed already, in \(nodes.path(of: lost.to))",
            path: nodes.path(of: place), hint: "place each subview once")
    }

    /// True if a node is given to a component that shows it nowhere.
    func isUnshown(_ row: NodeRow) -> Bool {
        guard nodes.hasPlaces, nodes.isOpaque(row) else { return false }
        for at in nodes.upward(from: row) where at != .root {
            let parent = nodes[at].parent
            if let first = nodes.firstPlacing(of: parent), nodes.layer(of: at) > first {
                return !nodes.upward(from: row).prefix { $0 != parent }.contains {
                    nodes.placements.place(of: $0, in: parent) != nil
                }
            }
            if nodes.isOpaque(parent) { return false }
        }
        return false
    }
}
