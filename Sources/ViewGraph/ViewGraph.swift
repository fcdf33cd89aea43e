import AttributeGraph
import AttributeValues
import SceneModel

/// SwiftUI's data flow over the engine: a tree of nodes whose attributes are states, bindings,
/// lets, computeds, inherited environment values and clocks.
///
/// It changes what `Wiring` connects. It knows no clients, sockets or time: transactions come in
/// (`TransactedWiring`), content is read out (`content(of:)`), and what may have changed is drained
/// (`takeInvalidated`).
public final class ViewGraph: TransactedWiring {
    public let persistence: Persistence
    let lists: Lists
    public let reactions: Reactions
    public let animations = Animations()
    public let stored: StoredValues
    /// Subtrees that are out of the tree and wait to be freed.
    var unlinked: UnlinkedTrees
    /// Faults in rows that have found their nodes while the rows of a store are restored.
    var restoringFaults: [(revision: UInt64, failure: Failure)] = []
    /// States whose first values could not be computed, by node.
    var unbegun: [NodeRow: [AttributeID]] = [:]
    /// The names of the attributes of the node that was made last.
    var lastNames = AttributeNames([])

    /// - Parameters:
    ///   - elapsed: the time since the machine was booted. Only differences count.
    ///   - start: the context in which the start makes the graph.
    public init(
        limits: Limits = Limits(), wallTime: Timestamp, elapsed: TimeSpan = TimeSpan(nanoseconds: 0),
        start: RequestContext = RequestContext()
    ) {
        let nodes = Tree<NodeRecord>()
        persistence = Persistence(of: nodes)
        lists = Lists(persistence)
        reactions = Reactions(persistence)
        stored = StoredValues(persistence)
        unlinked = UnlinkedTrees(nodesLeft: limits.freedAtOnce)
        super.init(nodes, limits: limits, wallTime: wallTime, elapsed: elapsed, request: start)
        lists.attach(to: self)
        reactions.attach(to: self)
        animations.attach(to: self)
        stored.attach(to: self)
    }

    /// Destroys a vertex, and everything that belongs to it.
    func destroyVertex(_ attribute: AttributeID) {
        guard engine.isAlive(attribute), let record = attributes[attribute] else { return }
        releaseHistory(of: record)
        releaseExpiry(of: attribute)
        releaseEntries(of: attribute)
        if let projections = record.projections {
            projections.forEachAttribute { destroyVertex($0) }
        }
        record.reports?.forEachAttribute { destroyVertex($0) }
        if record.kind == .action { reactions.forget(attribute) }
        switch record.source {
        case .override(_, _, let value): destroyVertex(value)
        case .object(let object) where record.kind == .state: destroyNode(object)
        default: break
        }
        animations.forget(attribute)
        forgetSize(of: attribute)
        structureChange.removedAttributes.append(attribute)
        freeVertex(attribute, record)
    }
}
