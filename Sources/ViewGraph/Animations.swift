import AttributeGraph
import AttributeValues
import SceneModel

/// The animation modifiers around what is watched.
public final class Animations {
    unowned(unsafe) private var graph: Wiring!
    /// The values that the modifiers watch.
    private var values: Set<AttributeID> = []
    /// True once somebody is told of changes of the tree, which any modifier may animate.
    private var watchesAll = false
    /// Nodes whose new modifiers are still to be watched.
    private var unwatched: [NodeID] = []

    func attach(to graph: Wiring) { self.graph = graph }

    public func isWatching(_ attribute: AttributeID) -> Bool { values.contains(attribute) }

    /// True if no watched attribute is inside a node with an animation modifier.
    public var isEmpty: Bool { values.isEmpty }

    func forget(_ value: AttributeID) { if !values.isEmpty { values.remove(value) } }

    func giveBack() { values.giveBack() }

    /// Evaluates the values that the animation modifiers around an attribute watch, so that their next change is
    /// noticed.
    public func watchModifiers(around attribute: AttributeID) {
        guard graph.nodes.hasAnimations, let row = graph.attributes[attribute]?.node else { return }
        for row in graph.nodes.around(row) {
            for (_, value) in graph.nodes[row].animations { watch(value) }
        }
    }

    /// Evaluates the values that all modifiers watch, now and later: any may animate a change of the tree. The first
    /// call takes O(nodes).
    public func watchAll() {
        if watchesAll { return }
        watchesAll = true
        guard graph.nodes.hasAnimations else { return }
        watchModifiers(of: graph.nodes.subtree(of: .root).map(graph.nodes.nodeID))
    }

    func noteNewModifiers(of node: NodeID) { if watchesAll { unwatched.append(node) } }

    /// Begins to watch the modifiers that a change of the tree has made.
    public func watchNew(in change: StructureChange) {
        guard watchesAll, graph.nodes.hasAnimations else { return }
        watchModifiers(of: change.addedNodes + unwatched)
        unwatched = []
    }

    private func watchModifiers(of nodes: [NodeID]) {
        for node in nodes where graph.nodes.isAlive(node) {
            for (_, value) in graph.nodes[node.row].animations { watch(value) }
        }
    }

    private func watch(_ value: AttributeID) {
        guard values.insert(value).inserted else { return }
        graph.beginWatch(of: value)
        _ = graph.content(of: value)
    }

    /// The animation that the nodes around a change of the tree give it.
    /// - Parameters:
    ///   - node: the list that has made the change, or the node that has changed.
    ///   - isNew: whether a node was made by the same change. Its own modifiers do not animate its arrival.
    public func surroundings(
        ofChangeAt node: NodeID, isNew: (NodeID) -> Bool, since stamp: UInt64, _ known: inout KnownSurroundings
    ) -> MotionSurroundings {
        var at = node.row
        while case let visible = graph.nodes.visible(at), visible != .root, isNew(graph.nodes.nodeID(visible)) {
            at = graph.nodes[visible].parent
        }
        return surroundings(at: at, since: stamp, &known)
    }

    /// The animation that the nodes around an attribute give its changes since `stamp`.
    /// - Parameter known: results for the same stamp. Nodes that it has are not visited again.
    public func surroundings(of attribute: AttributeID, since stamp: UInt64, _ known: inout KnownSurroundings)
        -> MotionSurroundings
    {
        guard let row = graph.attributes[attribute]?.node else { return MotionSurroundings() }
        return surroundings(at: row, since: stamp, &known)
    }

    private func surroundings(at row: NodeRow, since stamp: UInt64, _ known: inout KnownSurroundings)
        -> MotionSurroundings
    {
        var (at, way) = (row, WayOut())
        var pending: [(row: NodeRow, isShared: Bool)] = []
        var found = MotionSurroundings()
        while true {
            // Between a placed node and its container the result depends on the placed node, so it is not shared.
            let isShared = !way.isInPlacedNode
            if isShared, let around = known.byRow[at] {
                found = around
                break
            }
            pending.append((at, isShared))
            if at == .root {
                found.reducesMotion =
                    graph.environmentDefaults["reduceMotion"].map { graph.content(of: $0).value == true } ?? false
                break
            }
            at = way.next(after: at, in: graph.nodes)
        }
        for (row, isShared) in pending.reversed() {
            if let override = graph.nodes[row].environment.last(where: { $0.key == "reduceMotion" }) {
                found.reducesMotion = graph.content(of: override.attribute).value == true
            }
            for (animation, value) in graph.nodes[row].animations.reversed() {
                _ = graph.content(of: value)
                guard graph.hasChanged(value, since: stamp) else { continue }
                found.modifier = .some(animation)
                break
            }
            if isShared { known.byRow[row] = found }
        }
        return found
    }
}

/// How the nodes around an attribute animate it.
public struct MotionSurroundings {
    public var reducesMotion = false
    /// The animation of the nearest enclosing modifier whose value changed: nil if there is none, `.some(nil)` if it
    /// says that nothing moves.
    public var modifier: String??
}

/// Surroundings that were looked up for one change, by row of their node.
public struct KnownSurroundings {
    fileprivate var byRow: [NodeRow: MotionSurroundings] = [:]
    public init() {}
}
