import AttributeGraph
import AttributeValues
import SceneModel
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

/// How a document changes a living tree: worked out whole before any of it is done.
public struct ScenePlan {
    var declarations: Declarations
    var creations: [(parent: UInt32, definition: NodeDefinition, slot: Slot, isContent: Bool)] = []
    var removals: [UInt32] = []
    var updates: [(row: UInt32, definition: NodeDefinition, isReplacing: Bool, isContent: Bool)] = []
    /// Those of them that become others by it.
    var changes: [UInt32] = []
    /// Children that the document puts into another part of their section.
    var slots: [(row: UInt32, slot: Slot)] = []
    /// Nodes whose children shall stand in the document's order.
    var orders: [(parent: UInt32, definitions: [NodeDefinition])] = []
    /// The `forEach` nodes that get another template, whether they have instances or not.
    var templates: Set<UInt32> = []
    /// `forEach` nodes whose instances cannot be carried on.
    var restarts: [UInt32] = []
    /// Nodes that become what a template says, and not what the document says.
    var remade: Set<UInt32> = []
    /// Creations below these.
    var remadeCreations: Set<Int> = []
    /// Nodes below which everything is connected anew.
    var top: UInt32
    /// States to set at the end.
    var values: [(path: AttributePath, value: Value)] = []

    /// Paths, for people.
    public internal(set) var added: [String] = []
    public internal(set) var removed: [String] = []
    public internal(set) var changed: [String] = []
    /// What changes at nodes that stay, a line each.
    public internal(set) var differences: [String] = []
    var untoldDifferences = 0
}

public enum ApplyMode {
    /// Every node must be new.
    case create
    /// Nodes that exist are brought up to the document; what it does not mention stays.
    case merge
    /// As merge, but below the place of application nothing stays that the document does not mention.
    case replace
}

extension ViewGraph {
    /// What names mean at a node, for the check of a document that is applied there.
    /// - Parameters:
    ///   - mode: a document that is merged is completed by what is there.
    ///   - isKept: the document was accepted once, and how long its values are was seen to then.
    public func sceneContext(at node: NodeID, _ mode: ApplyMode, isKept: Bool) -> SceneContext {
        var enclosing: [[(name: String, type: ValueType)]] = [[]]
        var at = node.row
        // What is put into a component from outside sees what is around it.
        var isContent = isComponentRoot(at)
        // A name leads no further than to the first node that may not be read whole.
        while isVisible(node: at) {
            enclosing.append(namesAndTypes(of: at, elementOnly: isContent))
            if at == NodeID.root.row || (nodes[Int(at)].isScopeBoundary && !isContent) { break }
            isContent = nodes[Int(at)].isContent
            at = nodes[Int(at)].parent
        }
        var context = SceneContext(
            declarations: declarations, enclosing: enclosing, rules: limits.rules,
            valueSize: isKept ? .max : limits.valueSize,
            isKept: isKept)
        context.admitsDangling = mayRead == nil
        context.isFile = false
        guard mode == .merge else { return context }
        context.existing = { ids in
            var row = node.row
            for id in ids {
                guard let next = self.nodes.visibleChild(id, of: row) else { return nil }
                row = next
            }
            return ExistingNode(
                kind: self.nodes[Int(row)].kind, attributes: self.namesAndTypes(of: row),
                component: self.nodes[Int(row)].definition.component,
                isContent: self.nodes[Int(row)].isContent)
        }
        return context
    }

    /// The root of what a component made; not `/`, which ends scopes, too.
    func isComponentRoot(_ row: UInt32) -> Bool { row != NodeID.root.row && nodes[Int(row)].isScopeBoundary }

    private func namesAndTypes(of row: UInt32, elementOnly: Bool = false) -> [(name: String, type: ValueType)] {
        let record = nodes[Int(row)]
        let named = elementOnly ? record.elementScope : record.namedAttributes
        let index = elementOnly ? record.indexScope?.name : record.namedIndex
        return named.map { ($0.name, self.record($0.attribute).type) } + (index.map { [($0, .int)] } ?? [])
    }

    /// nil when the children stand in that order already, or are not the definitions'.
    func newOrder(_ definitions: [NodeDefinition], below parent: UInt32) -> [UInt32]? {
        let before = nodes[Int(parent)].children
        guard !nodes[Int(parent)].kind.isMadeFromData else { return nil }
        let after = definitions.compactMap { nodes.child($0.id, of: parent) }
        return after != before && after.count == before.count ? after : nil
    }

    /// Whether `takeStructureChange` has something to tell.
    public var hasStructureChange: Bool { !structureChange.isEmpty || !structureChange.addedInstances.isEmpty }

    /// Whether the tree or a watched attribute may have changed since both were taken.
    public var hasNews: Bool {
        if engine.mayHaveReports { collectInvalidated() }
        return hasStructureChange || !watches.invalidated.isEmpty
    }

    /// What happened to the tree since the last call.
    public func takeStructureChange() -> StructureChange {
        let change = structureChange
        structureChange = StructureChange()
        return change
    }
}
