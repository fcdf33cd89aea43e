import AttributeGraph
import AttributeValues
import SceneModel

// Placements change with the nodes that `place` and `slot` should show, and with the tree.
//
// Reads: `nodes.placements`.
// Writes: where nodes stand. Nodes that stand elsewhere than before go to `unsettled.nodes`.
// Leaves: each node stands in the first place that should show it.

extension ViewGraph {
    /// Forgets where the nodes at and below a node stand, and what its places show, before the node gets another
    /// parent. All these places are updated again.
    func releasePlaces(below row: NodeRow) {
        guard nodes.hasPlaces else { return }
        let rows = nodes.subtree(of: row)
        for row in rows { nodes.placements.forget(row) }
        let places = rows.filter { nodes[$0].definition.forEach?.choice?.isPlacement == true }
        unsettled.lists.formUnion(places)
        nodes.placements.noteChanges(at: places)
        settlePlacements()
    }

    /// - Returns: whether there was something to decide.
    func placeNodes() -> Bool {
        if nodes.placements.isSettled(at: nodes.changes) { return false }
        settlePlacements()
        return true
    }

    private func settlePlacements() {
        let (moved, places) = nodes.placements.settle(at: nodes.changes, { self.nodes[$0].parent }) {
            nodes.isBefore($0, $1)
        }
        for place in places where nodes.isAlive(place) {
            shapeChanged(at: place)
            structureChange.rearrangedNodes.append((nodes.nodeID(nodes.visible(place)), nodes.nodeID(place)))
        }
        var rows: [NodeRow] = []
        for node in moved where nodes.isAlive(node) {
            rows += nodes.everything(in: node)
            wrappingChanged(at: node)
        }
        unsettled.nodes += withObjects(rows)
    }
}
