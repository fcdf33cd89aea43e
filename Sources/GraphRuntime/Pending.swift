import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

/// News that a subscription has not been sent, because its client is behind or has had its share of updates. News is
/// merged, so its size is bounded by the names that the client knows and those that exist. Only completions add up, to
/// `RuntimeLimits.pendingCompletions`.
struct Pending {
    /// The first revision with changes among those that wait; nil: no update waits.
    var from: UInt64?
    /// The label, while only one transaction is pending.
    var label: String?
    /// The engine's stamp before revision `from`. The changes since then are found when the news is sent, so retaining
    /// news costs nothing for each attribute.
    var since: UInt64 = 0
    /// Attributes of the topic that have a new name.
    private(set) var renamed: Set<AttributeID> = []
    /// Attributes that were reported with equal values.
    var reported: Set<AttributeID> = []
    /// Names that the client knows and that lead nowhere now.
    var left: Set<Name> = []
    /// Names that the client does not know yet. It need not hear when they leave.
    private var joined: Set<Name> = []
    var invalidated: Set<AttributeID> = []
    /// Attributes whose motion ended in frames that were not sent.
    var rested: Set<AttributeID> = []
    var structure = PendingStructure()
    var completions: [Completion] = []

    /// The client has read these names, so it must hear when they leave.
    mutating func noteKnown(_ paths: [String]) { joined.subtract(paths.names) }

    mutating func merge(_ topic: Topic) {
        let news = topic.news
        for (attribute, path) in news.left {
            if joined.remove(path) == nil { left.insert(path) }
            guard topic.paths[attribute] == nil else { continue }
            renamed.remove(attribute)
            invalidated.remove(attribute)
            rested.remove(attribute)
        }
        for (attribute, path) in news.joined {
            renamed.insert(attribute)
            if left.remove(path) == nil { joined.insert(path) }
        }
        for (attribute, _, hasLeft) in news.invalidated where !hasLeft { invalidated.insert(attribute) }
    }

    /// True if the pending update contains the attribute.
    func hasChanged(_ attribute: AttributeID, in graph: ViewGraph) -> Bool {
        from != nil
            && (graph.mayHaveChanged(attribute, since: since) || renamed.contains(attribute)
                || reported.contains(attribute))
    }
}

/// Changes of the tree that a client has not been told, by path.
struct PendingStructure {
    private var added: Set<Name> = []
    private var removed: Set<Name> = []
    private var arrived: Set<Name> = []
    private var reordered: Set<Name> = []
    private var rearranged: Set<Name> = []

    /// Nodes that are removed before the client has heard of them are forgotten.
    mutating func merge(_ news: StructurePaths) {
        for path in news.removed {
            let wasNew = added.remove(path) != nil || arrived.remove(path) != nil
            reordered.remove(path)
            rearranged.remove(path)
            if !wasNew { removed.insert(path) }
        }
        added.formUnion(news.added.names)
        arrived.formUnion(news.arrived.names)
        // For a client that does not know a node, the order is part of the news that the node is there.
        reordered.formUnion(news.reordered.names.filter { !added.contains($0) && !arrived.contains($0) })
        rearranged.formUnion(news.rearranged.names)
    }

    /// Sorted, so that a node comes before its descendants.
    var paths: StructurePaths {
        StructurePaths(
            added: added.sorted().texts, removed: removed.sorted().texts, arrived: arrived.sorted().texts,
            reordered: reordered.sorted().texts,
            rearranged: rearranged.sorted().texts)
    }
}

/// The end of a transaction's motions, or of some of them.
struct Completion {
    var transaction: UInt64
    var phase: String
    var paths: [String]
}

extension Event {
    init(_ completion: Completion, at revision: UInt64) {
        self = .completion(
            revision: revision, transaction: completion.transaction, phase: completion.phase, paths: completion.paths)
    }
}
