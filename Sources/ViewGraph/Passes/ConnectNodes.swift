import AttributeGraph
import AttributeValues
import SceneModel

// Reads: `unsettled.nodes`, and the names around these nodes.
// Writes: the sources of their vertices, and the data of lists. New vertices of operators take their rows.
// Leaves: each vertex reads what its definition names at its node.

extension ViewGraph {
    func connectNodes() {
        let rows = unsettled.takeNodes()
        if rows.isEmpty { return }
        connect(rows)
    }

    /// Parents come before children, and references before rules.
    func connect(_ rows: [NodeRow]) {
        haveReferencesMoved = false
        for row in rows where nodes.isAlive(row) { connectData(of: row) }
        if haveReferencesMoved {
            for row in rows where nodes.isAlive(row) { renewReferences(of: row) }
        }
        for row in rows where nodes.isAlive(row) { connectRules(of: row) }
        beginAgain(at: rows)
        stored.restoreNewPasts()
    }

    /// Connects the references of a node, and the data of a list. Its instances come later: what they bind to is found
    /// through their elements.
    func connectData(of row: NodeRow) {
        if nodes.hasPlaces { renewStanding(of: row) }
        connectReferences(of: row)
        if nodes[row].kind.isMadeFromData, lists.connectData(of: row) { removeInstances(of: row) }
    }

    func connectRules(of row: NodeRow) {
        for action in connectExpressions(of: row) { reactions.connect(action, at: row) }
    }
}
