import AttributeGraph
import SceneModel

// Reads: `unsettled.regrouped`.
// Writes: the counters on which rules depend that gather from below: subviews, sections, preferences; and
// `unsettled.indices`.
// Leaves: the engine knows that whatever depends on the children of these nodes may have changed.

extension ViewGraph {
    func tellContainers() {
        if unsettled.regrouped.isEmpty { return }
        for parent in unsettled.regrouped where nodes.isAlive(parent) {
            shapeChanged(at: parent)
            // A `forEach` counts its instances itself.
            let visible = nodes.visible(parent)
            if nodes[parent].kind != .forEach, nodes[visible].hasNumberedChildren { unsettled.indices.insert(visible) }
        }
        unsettled.regrouped = []
    }
}
