import AttributeGraph
import AttributeValues
import SceneModel

// Large documents become nodes in slices: the nodes of a plan are made and connected while nobody sees them, and
// `perform` links them into the tree.

/// Costs of making and connecting nodes, in steps of about 50 ns.
enum BuildCost {
    static let node = 20
    static let attribute = 15
    /// A row of the store that is written or deleted.
    static let row = 80
}

/// A node that is to be made below an existing node.
struct UnmadeNode {
    let definition: NodeDefinition
    let parent: NodeRow
    let slot: Slot
}

/// The new nodes of a plan, made in advance. They know their parents, but their parents do not list them, so no path,
/// pattern or subview leads to them. They are not evaluated, so the engine has no edge from the tree to them.
///
/// While a construction exists, only the data of lists may change the tree: see `ViewGraph.advance`.
public final class Construction {
    enum Stage {
        case making(next: Int)
        /// References of all nodes, then their rules.
        case references(next: Int)
        case rules(next: Int)
        /// Parts stay with the nodes, and rows are freed when they are stored. So all parts are made first: rows
        /// between them would leave gaps in memory.
        case parts(next: Int)
        case storing(next: Int)
        case done
    }

    private let graph: Wiring
    private var nodes: Tree<NodeRecord> { graph.nodes }
    private let persistence: Persistence
    let plan: ScenePlan
    /// The value of `Tree.changes` for which the plan is valid; nil once something else has changed the tree.
    var version: UInt64?
    /// The top nodes of `ScenePlan.creations`, in that order.
    var tops: [NodeRow] = []
    var stage = Stage.making(next: 0)
    var pending: [UnmadeNode] = []
    var rows: [NodeRow] = []
    // While nodes are made, these replace the graph's properties of the same names.
    var declarations: Declarations
    var structureChange = StructureChange()
    /// Nothing is fed to its operators before the nodes are in the tree.
    var unsettled = Unsettled()
    /// Nodes with `onDisappear`, which have not appeared yet.
    var arriving: Set<NodeRow> = []
    // Rows of the store are written while the nodes are made, so that linking the nodes writes little. With rows that
    // the store gets before, it gets a marker, which says that these rows do not count: see `UnlinkedTrees`.
    /// True if the nodes have rows.
    var isStored = false
    var hasMarker = false
    /// The order keys of the last new children, by their existing parent and rank.
    private var lastOrders: [LivingPlace: String] = [:]
    private var storedTops: Set<NodeRow> = []
    /// Top nodes that a layer below the edits makes.
    private var otherTops: Set<NodeRow> = []
    /// For a client's node that is stored as the use of a component: the child definitions that the component makes, by
    /// row.
    private var madeByUses: [NodeRow: Set<ObjectIdentifier>] = [:]

    private struct LivingPlace: Hashable {
        var parent: NodeRow
        var rank: Int
    }

    /// Environment keys that the graph has not declared yet.
    let newKeys: Set<String>
    /// The existing nodes that get new children.
    private let parents: Set<NodeID>

    /// Begins to make the new nodes of a plan. Each construction ends with `perform` or `abandon`.
    public init(_ planning: Planning, _ persistence: Persistence) {
        (graph, self.persistence, plan) = (planning.graph, persistence, planning.plan)
        let known = graph.declarations
        newKeys = Set(plan.declarations.environment.keys.filter { known.environment[$0] == nil })
        parents = Set(plan.creations.map { planning.graph.nodes.nodeID($0.parent) })
        declarations = known
        declarations.add(plan.declarations)
        version = planning.isCurrent ? nodes.changes : nil
    }

    /// True if rows are written while nodes are made.
    var storesAhead: Bool { persistence.notesChanges }

    /// True if all parents of the new nodes exist. If one was removed, another node may use its row, and the
    /// construction can only be abandoned.
    public var hasParents: Bool { parents.allSatisfy { nodes.isAlive($0) } }

    /// The plan, made again if the tree has changed since.
    public func renewedPlan(
        _ scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode
    ) throws(Failure) -> ScenePlan {
        version == nodes.changes ? plan : try graph.planned(scene, at: node, mode, isBuilt: true).plan
    }

    /// True if a plan would create the same nodes.
    public func fits(_ plan: ScenePlan) -> Bool {
        hasParents
            && self.plan.creations.elementsEqual(plan.creations) {
                guard $0.parent == $1.parent, $0.slot == $1.slot else { return false }
                // Each plan composes a node anew that comes back with what the layers below say of it.
                if case .completed(let document, let bottom) = $0.origin,
                    case .completed(let otherDocument, let otherBottom) = $1.origin
                {
                    return document === otherDocument && bottom === otherBottom
                }
                return $0.definition === $1.definition
            }
    }

    // MARK: Storing

    func beginStoring() {
        isStored = true
        persistence.ahead = self
        for (top, creation) in zip(tops, plan.creations) {
            if case .edits = creation.origin { storedTops.insert(top) } else { otherTops.insert(top) }
        }
    }

    /// Tells the store that the rows do not count yet.
    /// - Parameter revision: of the first of them.
    func mark(at revision: UInt64) {
        guard !hasMarker else { return }
        hasMarker = true
        persistence.note(
            StoreChange(
                key: StoredKey.unlinked, name: "",
                value: [
                    "from": .int(Int64(clamping: revision)),
                    "keys": .list(tops.filter { storedTops.contains($0) }.map { .string(nodes.key(of: $0)) }),
                ]))
    }

    /// Gives a new node its part.
    func makePart(of row: NodeRow) {
        let (node, parent) = (nodes[row], nodes[row].parent)
        let isTop = storedTops.contains(row)
        if otherTops.contains(row) { return }
        guard isTop || !node.isObject && nodes.isMade(parent) && !nodes[parent].kind.isMadeFromData else { return }
        if !isTop, nodes[parent].definition.base != nil, isMade(row, byUseAt: parent) { return }
        let part = nodes.part(row)
        part.isMade = true
        if isTop {
            let place = LivingPlace(parent: parent, rank: nodes.rank(of: row))
            part.order = OrderKey.makeKey(lastOrders[place] ?? lastOrder(in: place), nil)
            lastOrders[place] = part.order
        } else {
            // Children that a document gives to a use come after the children that the component makes.
            let before = node.basePlace > 0 ? nodes[parent].children[Int(node.basePlace) - 1] : nil
            let isRanked = nodes[parent].ranksChildren
            part.order = OrderKey.makeKey(
                before.flatMap {
                    !isRanked || nodes.rank(of: $0) == nodes.rank(of: row) ? nodes.order(of: $0) : nil
                }, nil)
        }
        if node.definition.component == nil, node.definition.base == nil, !node.definition.children.isEmpty {
            // The children have parts with definitions of their own. After a start it is the same.
            let childless = NodeDefinition(copyOf: node.definition, id: node.id)
            childless.children = []
            node.definition = childless
        }
    }

    /// Gives a new node its row.
    func storeNode(_ row: NodeRow) {
        guard let part = nodes[row].part, part.isMade, let value = persistence.writtenRow(of: row) else { return }
        part.isStored = true
        persistence.note(StoreChange(key: nodes.key(of: row), name: "", value: value))
    }

    private func lastOrder(in place: LivingPlace) -> String? {
        let last = nodes[place.parent].children.last { nodes.rank(of: $0) == place.rank }
        return last.flatMap { nodes.order(of: $0) }
    }

    private func isMade(_ row: NodeRow, byUseAt parent: NodeRow) -> Bool {
        let made = madeByUses[parent] ?? nodes.definitionsInUse(of: parent)
        madeByUses[parent] = made
        return made.contains(ObjectIdentifier(nodes[row].definition))
    }
}

extension Declarations {
    /// Adds names as `ViewGraph.declareNames` does, without the effects on the tree.
    mutating func add(_ new: Declarations) {
        types.merge(new.types) { $1 }
        environment.merge(completed(new.environment)) { $1 }
        container.merge(completed(new.container)) { $1 }
        preference.merge(completed(new.preference)) { $1 }
        components.merge(new.components) { $1 }
        functions.merge(new.functions) { $1 }
        written.merge(new.written)
    }
}
