import AttributeGraph
import AttributeValues
import SceneModel

// Placements change with the nodes that `place` and `slot` should show, and with the tree.

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

    /// Decides where nodes stand. Connects those that stand elsewhere than before, and reports the changes of shape.
    func settlePlacements() {
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
        connect(withObjects(rows))
    }
}
