import Timelines
import ViewGraph

/// How the parts of one transaction's change of the tree are animated.
final class AnimatedChange {
    private let graph: ViewGraph
    private let presentations: Presentations
    private let motion: Motion
    private let stamp: UInt64
    private let added: [NodeID]
    private var surroundings = KnownSurroundings()
    /// By list: many nodes come and go with one.
    private var known: [NodeID: Animation?] = [:]
    private lazy var new = Set(added)

    init(of structure: StructureChange, _ motion: Motion, since stamp: UInt64, _ watching: Watching) {
        (graph, presentations) = (watching.graph, watching.presentations)
        (self.motion, self.stamp) = (motion, stamp)
        added = structure.addedNodes
    }

    /// The animation of what a line tells.
    func animation(of line: StructureLog.Line) -> Animation? {
        if motion.isDisabled { return nil }
        if motion.animation == nil, motion.bindings.isEmpty, graph.animations.isEmpty { return nil }
        if let list = line.list, graph.isAlive(list) {
            if let known = known[list] { return known }
            let found = animation(at: list, by: list)
            known[list] = .some(found)
            return found
        }
        if let node = line.node { return animation(at: node, by: nil) }
        // The node that has gone cannot be asked any more. The nearest node around it that is still there is.
        for count in stride(from: line.names.ids.count - 1, through: 0, by: -1) {
            guard let around = try? graph.node(at: Array(line.names.ids.prefix(count)), looksForNames: false) else {
                continue
            }
            return animation(at: around, by: nil)
        }
        return motion.animation
    }

    private func animation(at place: NodeID, by list: NodeID?) -> Animation? {
        presentations.animation(
            ofChangeAt: place, by: list, motion, isNew: { new.contains($0) }, since: stamp, &surroundings)
    }
}
