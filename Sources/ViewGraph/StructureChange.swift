import AttributeGraph
import Timelines

/// The changes of the tree since they were last taken.
public struct StructureChange {
    public internal(set) var addedNodes: [NodeID] = []
    /// Names of removed nodes and attributes. Vertices without a name are left out.
    public internal(set) var removedNames: [NodeNames] = []
    /// Nodes that have another place among their siblings.
    public internal(set) var reorderedNodes: [NodeID] = []
    /// Nodes that have another parent. The nodes that were below them before have moved with them.
    public internal(set) var movedNodes: [Move] = []
    /// Nodes that show other nodes than before, or in another order: see `shown(in:)`.
    public internal(set) var rearrangedNodes: [NodeID] = []
    public internal(set) var addedAttributes: [AttributeID] = []
    /// Instances of a `forEach` whose index is no vertex yet.
    public internal(set) var addedInstances: [NodeID] = []
    public internal(set) var removedAttributes: [AttributeID] = []
    /// Large subtrees that were removed. `removedNames` and `removedAttributes` do not have their contents.
    public internal(set) var removedTrees: [NodeID] = []

    public var isEmpty: Bool {
        addedNodes.isEmpty && removedNames.isEmpty && reorderedNodes.isEmpty && movedNodes.isEmpty
            && addedAttributes.isEmpty && rearrangedNodes.isEmpty
            && removedAttributes.isEmpty && removedTrees.isEmpty
    }
}

extension StructureChange {
    /// Drops removals below the new place of a moved node: what the move has removed was never there.
    mutating func forgetRemovals(since start: Int, below place: [String]) {
        let others = removedNames[start...].filter { !$0.ids.starts(with: place) }
        removedNames.replaceSubrange(start..., with: others)
    }

    /// A node with another parent.
    public struct Move {
        public let node: NodeID
        /// Its ids from the root down before the move.
        public let from: [String]
        /// The names of the node and of all below it, before the move.
        public let names: [NodeNames]
    }
}

/// A node by its ids from the root down, with the names of attributes.
public struct NodeNames {
    public var ids: [String]
    public var attributes: [String]
    /// True if the node itself is meant, too.
    public var isWhole: Bool
    /// How the node appears and disappears.
    public var transition: Transition?

    public init(ids: [String], attributes: [String], isWhole: Bool = true, transition: Transition? = nil) {
        self.ids = ids
        self.attributes = attributes
        self.isWhole = isWhole
        self.transition = transition
    }
}
