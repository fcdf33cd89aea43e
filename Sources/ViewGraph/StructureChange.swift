import AttributeGraph
import Timelines

/// What happened to the tree since it was last asked.
public struct StructureChange {
    public internal(set) var addedNodes: [NodeID] = []
    /// Names of what is gone; vertices without a name are not among them.
    public internal(set) var removedNames: [NodeNames] = []
    /// Have another place among their siblings.
    public internal(set) var reorderedNodes: [NodeID] = []
    /// Have another parent, and with it all that is below that had been there before.
    public internal(set) var movedNodes: [Move] = []
    /// Nodes in which others stand than before, or in another order: see `shown(in:)`.
    public internal(set) var rearrangedNodes: [NodeID] = []
    public internal(set) var addedAttributes: [AttributeID] = []
    /// Instances of a `forEach` whose index is no vertex yet.
    public internal(set) var addedInstances: [NodeID] = []
    public internal(set) var removedAttributes: [AttributeID] = []
    /// Large subtrees that are gone. `removedNames` and `removedAttributes` do not tell of them.
    public internal(set) var removedTrees: [NodeID] = []

    public var isEmpty: Bool {
        addedNodes.isEmpty && removedNames.isEmpty && reorderedNodes.isEmpty && movedNodes.isEmpty
            && addedAttributes.isEmpty && rearrangedNodes.isEmpty
            && removedAttributes.isEmpty && removedTrees.isEmpty
    }
}

extension StructureChange {
    /// A node with another parent.
    public struct Move {
        public let node: NodeID
        /// Its ids from the root down as they were.
        public let from: [String]
        /// All that was at and below it, by the names as they were.
        public let names: [NodeNames]
    }
}

/// A node by its ids from the root down, with names of attributes.
public struct NodeNames {
    public var ids: [String]
    public var attributes: [String]
    /// The node itself is meant, too.
    public var isWhole: Bool
    /// How it comes and goes.
    public var transition: Transition?

    public init(ids: [String], attributes: [String], isWhole: Bool = true, transition: Transition? = nil) {
        self.ids = ids
        self.attributes = attributes
        self.isWhole = isWhole
        self.transition = transition
    }
}
