import AttributeGraph
import AttributeValues
import SceneModel

/// SwiftUI's data flow over the engine: a tree of nodes whose attributes are states, bindings,
/// lets, computeds, inherited environment values and clocks.
///
/// It changes what `Wiring` connects. It knows no clients, sockets or time: transactions come in
/// (`Transaction`), content is read out (`content(of:)`), and what may have changed is drained
/// (`takeInvalidated`).
public final class ViewGraph: Wiring {
    /// `forEach` nodes whose data is watched, by the engine index of the data.
    var forEachByData: [UInt32: UInt32] = [:]
    var staleForEach: Set<UInt32> = []
    /// The subviews by id of the component that was asked for last, and `Tree.changes` at that time.
    var knownSubviews: (root: UInt32, changes: UInt64, rows: [String: UInt32])?
    /// The values that animation modifiers watch.
    var animationValues: Set<AttributeID> = []
    var reactions = Reactions()
    let persistence: Persistence
    /// Results of restoring the rows of a store at a start.
    var restored = Restored()
    /// Subtrees that are out of the tree and wait to be freed.
    var unlinked: UnlinkedTrees
    /// States with long values: the bytes that their values may still grow by.
    var rooms: [AttributeID: Int] = [:]
    let reusedTransaction = OpenTransaction()
    /// The names of the attributes of the node that was made last.
    var lastNames = AttributeNames([])
    /// The definition of the node that was made last, and its parent.
    var lastMade = (parent: UInt32.max, definition: NodeDefinition())

    public init(limits: Limits = Limits(), wallTime: Timestamp) {
        let nodes = Tree<NodeRecord>()
        persistence = Persistence(of: nodes)
        unlinked = UnlinkedTrees(room: limits.freedAtOnce)
        super.init(nodes, limits: limits, wallTime: wallTime)
    }

    /// Destroys a vertex, and everything that belongs to it.
    func destroyVertex(_ attribute: AttributeID) {
        guard engine.isAlive(attribute), let record = attributes[Int(attribute.index)] else { return }
        releaseHistory(of: record)
        if let projections = record.projections {
            projections.forEachAttribute { destroyVertex($0) }
        }
        if record.kind == .action { forgetReaction(attribute) }
        switch record.source {
        case .override(_, _, let value): destroyVertex(value)
        case .object(let object) where record.kind == .state: destroyNode(object)
        default: break
        }
        animationValues.remove(attribute)
        if !rooms.isEmpty { rooms[attribute] = nil }
        structureChange.removedAttributes.append(attribute)
        freeVertex(attribute, record)
    }
}
