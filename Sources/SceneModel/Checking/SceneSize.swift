/// Counts the nodes that a scene makes, and adds one fault if there are too many.
final class SceneSize {
    private let cursor: CheckCursor
    private var isTold = false

    init(_ cursor: CheckCursor) { self.cursor = cursor }

    /// Counts the nodes of one instance. A component counts at each use, so a few lines can make many nodes.
    func measure(_ node: NodeDefinition, at written: DocumentNode) {
        var count = 1
        var levels = 0
        if !node.isRepeated {
            for child in node.header + node.children + node.footer {
                count = min(count + child.nodeCount, SceneLimits.nodes + 1)
                levels = max(levels, child.levels)
            }
        }
        node.nodeCount = count
        node.levels = levels + 1
        if count > SceneLimits.nodes { refuse("more than \(SceneLimits.nodes) nodes", at: written) }
        if node.levels > SceneLimits.depth { refuse("more than \(SceneLimits.depth) levels of nodes", at: written) }
    }

    func check(_ nodes: [NodeDefinition], at written: DocumentNode) {
        var count = 0
        for node in nodes { count = min(count + node.nodeCount, SceneLimits.nodes + 1) }
        if count > SceneLimits.nodes { refuse("more than \(SceneLimits.nodes) nodes", at: written) }
    }

    private func refuse(_ what: String, at written: DocumentNode) {
        guard !isTold else { return }
        isTold = true
        cursor.fault(.limit, "the scene makes \(what)", at: written, hint: "components count wherever they are used")
    }
}
