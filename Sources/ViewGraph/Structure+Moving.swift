import AttributeGraph
import AttributeValues
import SceneModel

// Nodes that are removed or moved.

extension ViewGraph {
    /// - Throws: `conflict` for the root and for instances of a `forEach`.
    public func remove(_ node: NodeID) throws(Failure) {
        try refuseRootAndInstances(node)
        destroySubtrees([node.row])
        settle()
    }

    /// Gives a node another parent or another place among its siblings. It keeps its states. Its inherited values and
    /// `$names` are looked up anew. In another parent it becomes content; in its section it stays in its part.
    /// - Returns: false if the node is there already.
    public func move(_ node: NodeID, to parent: NodeID, at index: Int?) throws(Failure) -> Bool {
        try refuseRootAndInstances(node)
        let oldParent = nodes[node.row].parent
        if parent.row != oldParent, parent.row == nodes.visible(oldParent) {
            // It stays in its branch, so the index counts from the first child of the branch.
            let first = nodes.visibleChildren(of: oldParent).first.map { nodes.index(of: $0) } ?? 0
            return try move(node, to: nodes.nodeID(oldParent), at: index.map { max(0, $0 - first) })
        }
        let index = index.map { nodes.place(ofVisible: $0, below: parent.row) }
        guard nodes[parent.row].kind != .forEach, nodes[parent.row].kind != .view else {
            throw Failure(
                .conflict, "\(path(of: parent)) is a \(nodes[parent.row].kind.rawValue), which takes no children",
                path: path(of: parent))
        }
        guard !nodes.isInside(parent.row, of: node.row) else {
            throw Failure(.conflict, "\(path(of: node)) cannot move into itself", path: path(of: node))
        }
        let id = nodes[node.row].id
        if parent.row != oldParent, nodes.isTaken(id, below: parent.row) {
            throw Failure(.conflict, "\(path(of: parent)) has a child \(id) already", path: path(of: parent))
        }
        if parent.row != oldParent {
            try refuse(depth: nodes.depth(of: parent.row) + nodes.levels(of: node.row), at: path(of: node))
        }
        if parent.row == oldParent {
            let siblings = nodes[oldParent].children
            if siblings.firstIndex(of: node.row) == min(index ?? siblings.count, siblings.count - 1) { return false }
        }
        try charge(nodes.everything(in: node.row).count * Wiring.stepsPerMovedNode)
        let key = nodes.key(of: node.row)
        let isLeft = parent.row != oldParent && persistence.noteMove(of: node.row)
        persistence.forgetIDsBelow()
        let before = structureChange.removedNames.count
        if parent.row != oldParent {
            structureChange.movedNodes.append(
                .init(node: node, from: nodes.ids(of: node.row), names: allNodes(below: node).map(nodeNames)))
            nodes[node.row].isContent = nodes.isComponentRoot(parent.row)
        } else {
            structureChange.reorderedNodes.append(node)
        }
        if parent.row != oldParent { releasePlaces(below: node.row) }
        nodes.move(node.row, to: parent.row, at: index)
        if parent.row == oldParent {
            persistence.notePlace(of: node.row)
        } else {
            persistence.noteMoved(node.row, from: oldParent, isLeft, key: key)
        }
        let rows = nodes.everything(in: node.row)
        unsettled.nodes += withObjects(rows)
        unsettled.regrouped.formUnion([oldParent, parent.row])
        placeChanged(of: rows)
        wrappingChanged(at: node.row)
        settle()
        if parent.row != oldParent {
            persistence.noteCopied(node.row)
            stored.keepValues(of: nodes.subtree(of: node.row))
            reactions.keepAppeared(nodes.subtree(of: node.row))
        }
        if parent.row != oldParent { structureChange.forgetRemovals(since: before, below: nodes.ids(of: node.row)) }
        return true
    }

    /// Plans that a removed node of a layer below the edits comes back.
    /// - Throws: `notFound` if no such node was removed.
    public func planRestoring(_ ids: [Name]) throws(Failure) -> ScenePlan {
        let path = AttributePath.describe(nodes: ids)
        guard let id = ids.last else {
            throw Failure(.notFound, "the root was not removed", path: path)
        }
        let above = try node(at: Array(ids.dropLast())).row
        // It may have been in a branch.
        let parents =
            [above]
            + nodes.subtree(of: above).filter {
                $0 != above && nodes[$0].isTransparent && nodes.visible($0) == above
            }
        guard let parent = parents.first(where: { nodes[$0].part?.removed.contains(id) == true }) else {
            throw Failure(
                .notFound, "no node of a scene was removed at \(path)", path: path,
                hint: "what clients have applied is made again with apply")
        }
        guard let found = nodes.childrenBelowEdits(of: parent).first(where: { $0.definition.id == id }) else {
            throw Failure(.notFound, "the scene no longer has a node \(path)", path: path)
        }
        guard !nodes.isTaken(id, below: parent) else {
            throw Failure(.conflict, "\(path) exists already", path: path, hint: "remove it first")
        }
        let growth = try additions(by: found.definition, below: nodes.depth(of: parent), isGiven: false)
        try refuse(growth)
        try charge(growth.costAtOnce + growth.nodes * BuildCost.node + growth.attributes * BuildCost.attribute)
        var plan = ScenePlan(declarations: Declarations(), top: parent)
        plan.creations.append((parent, found.definition, found.slot, found.definition.isContent, .restored))
        plan.childrenBelow.append((parent, nodes.childrenBelowEdits(of: parent).map(\.definition.id)))
        return plan
    }

    private func refuseRootAndInstances(_ node: NodeID) throws(Failure) {
        guard node != .root else { throw Failure(.conflict, "the root cannot be moved or removed", path: "/") }
        guard !nodes[nodes[node.row].parent].kind.isMadeFromData else {
            throw Failure(
                .conflict, "\(path(of: node)) is made from data", path: path(of: node),
                hint: "change the list it is made from")
        }
    }
}
