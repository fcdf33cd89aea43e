import AttributeGraph
import AttributeValues
import SceneModel

/// The animation modifiers around what is watched.
public final class Animations {
    unowned(unsafe) private var graph: Wiring!
    /// The values that the modifiers watch.
    private var values: Set<AttributeID> = []

    func attach(to graph: Wiring) { self.graph = graph }

    public func isWatching(_ attribute: AttributeID) -> Bool { values.contains(attribute) }

    /// True if no watched attribute is inside a node with an animation modifier.
    public var isEmpty: Bool { values.isEmpty }

    func forget(_ value: AttributeID) { if !values.isEmpty { values.remove(value) } }

    func giveBack() { values.giveBack() }

    /// Evaluates the values that the animation modifiers around an attribute watch, so that their next change is
    /// noticed.
    public func watchModifiers(around attribute: AttributeID) {
        guard graph.nodes.hasAnimations, let row = graph.attributes[Int(attribute.index)]?.node else { return }
        for row in graph.nodes.around(row) {
            for (_, value) in graph.nodes[Int(row)].animations where values.insert(value).inserted {
                graph.beginWatch(of: value)
                _ = graph.content(of: value)
            }
        }
    }

    /// What the nodes around an attribute say about animating its changes since `stamp`.
    /// - Parameter known: results for the same stamp. Nodes that it has are not visited again.
    public func surroundings(of attribute: AttributeID, since stamp: UInt64, _ known: inout KnownSurroundings)
        -> MotionSurroundings
    {
        guard let row = graph.attributes[Int(attribute.index)]?.node else { return MotionSurroundings() }
        var (at, way) = (row, WayOut())
        var pending: [(row: UInt32, isShared: Bool)] = []
        var found = MotionSurroundings()
        while true {
            // Between a placed node and its container the result depends on the placed node, so it is not shared.
            let isShared = !way.isInPlacedNode
            if isShared, let around = known.byRow[at] {
                found = around
                break
            }
            pending.append((at, isShared))
            if at == NodeID.root.row {
                found.reducesMotion =
                    graph.environmentDefaults["reduceMotion"].map { graph.content(of: $0).value == true } ?? false
                break
            }
            at = way.next(after: at, in: graph.nodes)
        }
        for (row, isShared) in pending.reversed() {
            if let override = graph.nodes[Int(row)].environment.last(where: { $0.key == "reduceMotion" }) {
                found.reducesMotion = graph.content(of: override.attribute).value == true
            }
            for (animation, value) in graph.nodes[Int(row)].animations.reversed() {
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
    fileprivate var byRow: [UInt32: MotionSurroundings] = [:]
    public init() {}
}
