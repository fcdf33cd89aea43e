import AttributeGraph

// Reads: `unsettled.made`, the rows of the store without a node, and the named layers.
// Writes: the definitions and children of the new nodes.
// Leaves: new nodes are as the scenes, the layers and the edits together say, before anybody sees them.

extension ViewGraph {
    func applyRows() {
        while !unsettled.made.isEmpty {
            let made = unsettled.made
            unsettled.made = []
            guard persistence.mayHaveParts else { return }
            applyRows(to: made.filter { nodes.isAlive($0) }.map(\.row))
        }
    }
}
