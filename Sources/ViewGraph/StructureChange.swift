import AttributeGraph
import AttributeValues
import Timelines

/// The changes of the tree since they were last taken. An object, because it is passed on with every transaction.
public final class StructureChange {
    public internal(set) var addedNodes: [NodeID] = []
    /// Names of removed nodes and attributes. Vertices without a name are left out.
    public internal(set) var removedNames: [NodeNames] = []
    /// Nodes that have another place among their siblings.
    public internal(set) var reorderedNodes: [NodeID] = []
    /// Nodes that have another parent. The nodes that were below them before have moved with them.
    public internal(set) var movedNodes: [Move] = []
    /// Nodes that show other nodes than before, or in another order: see `shown(in:)`. Each with the `place` or `slot`
    /// that does.
    public internal(set) var rearrangedNodes: [(node: NodeID, place: NodeID)] = []
    public internal(set) var addedAttributes: [AttributeID] = []
    /// Instances of a `forEach` whose index is no vertex yet.
    public internal(set) var addedInstances: [NodeID] = []
    public internal(set) var removedAttributes: [AttributeID] = []
    /// Large subtrees that were removed. `removedNames` and `removedAttributes` do not have their contents.
    public internal(set) var removedTrees: [NodeID] = []
    /// Changes by the data of lists and choices, in order. A client has asked for the other changes.
    private var lists: [ListChanges] = []
    private var openList: ListChanges?

    /// The changes that one list has made: positions in the lists of changes.
    private struct ListChanges {
        let list: NodeID
        var added: Range<Int>
        var trees: Range<Int>
        var reordered: Range<Int>
    }

    public var isEmpty: Bool {
        addedNodes.isEmpty && removedNames.isEmpty && reorderedNodes.isEmpty && movedNodes.isEmpty
            && addedAttributes.isEmpty && rearrangedNodes.isEmpty
            && removedAttributes.isEmpty && removedTrees.isEmpty
    }
}

extension StructureChange {
    /// How much has changed so far. Each change of what a path or a pattern leads to makes it another one.
    struct Extent: Equatable {
        var added = 0
        var removed = 0
        /// Nodes that came to other places, or went unnamed.
        var places = 0
    }

    var extent: Extent {
        Extent(
            added: addedAttributes.count, removed: removedNames.count,
            places: movedNodes.count + reorderedNodes.count + removedTrees.count)
    }

    /// Until `endList`, what changes is made by a list.
    func beginList(_ list: NodeID) {
        openList = ListChanges(
            list: list, added: addedNodes.count..<addedNodes.count, trees: removedTrees.count..<removedTrees.count,
            reordered: reorderedNodes.count..<reorderedNodes.count)
    }

    func endList() {
        guard var changes = openList else { return }
        openList = nil
        changes.added = changes.added.lowerBound..<addedNodes.count
        changes.trees = changes.trees.lowerBound..<removedTrees.count
        changes.reordered = changes.reordered.lowerBound..<reorderedNodes.count
        if !(changes.added.isEmpty && changes.trees.isEmpty && changes.reordered.isEmpty) { lists.append(changes) }
    }

    /// The list that is changing the tree.
    var currentList: NodeID? { openList?.list }

    /// The list whose data has added, removed or reordered a node; nil: it was asked for.
    public func list(adding position: Int) -> NodeID? { list(\.added, position) }
    public func list(removingTree position: Int) -> NodeID? { list(\.trees, position) }
    public func list(reordering position: Int) -> NodeID? { list(\.reordered, position) }

    /// O(log lists).
    private func list(_ kind: KeyPath<ListChanges, Range<Int>>, _ position: Int) -> NodeID? {
        var (low, high) = (0, lists.count)
        while low < high {
            let middle = (low + high) / 2
            if lists[middle][keyPath: kind].lowerBound <= position { low = middle + 1 } else { high = middle }
        }
        guard low > 0, lists[low - 1][keyPath: kind].contains(position) else { return nil }
        return lists[low - 1].list
    }

    /// Drops removals below the new place of a moved node: what the move has removed was never there.
    func forgetRemovals(since start: Int, below place: [Name]) {
        let others = removedNames[start...].filter { !$0.ids.starts(with: place) }
        removedNames.replaceSubrange(start..., with: others)
    }

    /// A node with another parent.
    public struct Move {
        public let node: NodeID
        /// Its ids from the root down before the move.
        public let from: [Name]
        /// The names of the node and of all below it, before the move.
        public let names: [NodeNames]
    }
}

/// A node by its ids from the root down, with the names of attributes.
public struct NodeNames {
    public var ids: [Name]
    public var attributes: [String]
    /// True if the node itself is meant, too.
    public var isWhole: Bool
    /// How the node appears and disappears.
    public var transition: Transition?
    /// The list or choice that has removed the node, if one has.
    public var list: NodeID?

    public init(ids: [Name], attributes: [String], isWhole: Bool = true, transition: Transition? = nil) {
        self.ids = ids
        self.attributes = attributes
        self.isWhole = isWhole
        self.transition = transition
    }
}
