import AttributeGraph
import AttributeValues

// Reads: `unsettled.indices`, and the order of the children of these nodes.
// Writes: `self.index` of the children.
// Leaves: each `self.index` is the node's place among its siblings. They are counted when no list changes any more: one
// list may take back what another one has shifted.

extension ViewGraph {
    /// - Returns: whether there was something to count.
    func countIndices() -> Bool {
        let parents = unsettled.indices
        if parents.isEmpty { return false }
        unsettled.indices = []
        for parent in parents where nodes.isAlive(parent) {
            for (position, child) in nodes.visibleChildren(of: parent).enumerated() {
                if let attribute = nodes[child].system[.selfIndex] {
                    setInput(attribute, .value(.int(Int64(position))))
                }
            }
        }
        return true
    }
}
