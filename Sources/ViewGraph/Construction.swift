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

/// The new nodes of a plan, made in advance. They know their parents, but their parents do not list them, so no path,
/// pattern or subview leads to them. They are not evaluated, so the engine has no edge from the tree to them.
///
/// While a construction exists, only the data of lists may change the tree: see `ViewGraph.advance`.
public final class Construction {
    fileprivate enum Stage {
        case making(next: Int)
        /// References of all nodes, then their rules.
        case references(next: Int)
        case rules(next: Int)
        /// Keys and rows of the store.
        case storing(next: Int)
        case done
    }

    let plan: ScenePlan
    /// The value of `Tree.changes` for which the plan is valid; nil once something else has changed the tree.
    fileprivate(set) var version: UInt64?
    /// The top nodes of `ScenePlan.creations`, in that order.
    fileprivate(set) var tops: [UInt32] = []
    fileprivate var stage = Stage.making(next: 0)
    fileprivate var pending: [ViewGraph.UnmadeNode] = []
    fileprivate var rows: [UInt32] = []
    // While nodes are made, these replace the graph's properties of the same names.
    fileprivate var declarations: Declarations
    fileprivate var structureChange = StructureChange()
    fileprivate var unboundNodes: [UInt32] = []
    fileprivate var unbegun: [AttributeID] = []
    fileprivate var staleForEach: Set<UInt32> = []
    fileprivate var components: CurrentComponents
    // Rows of the store are written while the nodes are made, so that linking the nodes writes little. Until then a
    // marker in the store says that these rows do not count: see `UnlinkedTrees`.
    /// Whether the nodes have keys and rows.
    fileprivate(set) var isStored = false
    /// The lowest number in the keys of these nodes.
    fileprivate let firstNumber: UInt64
    fileprivate var hasMarker = false
    /// The order keys of the last new children, by their existing parent and rank.
    fileprivate var lastOrders: [LivingPlace: String] = [:]
    fileprivate var storedTops: Set<UInt32> = []
    /// For a client's node that is stored as the use of a component: the child definitions that the component makes, by
    /// row.
    fileprivate var madeByUses: [UInt32: Set<ObjectIdentifier>] = [:]

    fileprivate struct LivingPlace: Hashable {
        var parent: UInt32
        var rank: Int
    }

    /// Environment keys that the graph has not declared yet.
    private let newKeys: Set<String>
    /// The existing nodes that get new children.
    fileprivate let parents: Set<NodeID>

    fileprivate init(
        _ planning: Planning, _ declarations: Declarations, newKeys: Set<String>, parents: Set<NodeID>,
        firstNumber: UInt64
    ) {
        plan = planning.plan
        self.parents = parents
        self.firstNumber = firstNumber
        self.newKeys = newKeys
        self.declarations = declarations
        components = CurrentComponents(declarations.components)
    }

    fileprivate func isNew(_ key: String) -> Bool { newKeys.contains(key) }
}

extension ViewGraph {
    /// Whether rows are written while nodes are made. Not for a recovered store, in which nodes may get back their old
    /// keys.
    private var storesAhead: Bool { persistence.notesChanges && !persistence.isSalvaged }
}

extension ViewGraph {
    /// Begins to make the new nodes of a plan. Each construction ends with `perform` or `abandon`.
    public func construct(_ planning: Planning) -> Construction {
        let plan = planning.plan
        var declarations = self.declarations
        declarations.add(plan.declarations)
        let newKeys = Set(plan.declarations.environment.keys.filter { self.declarations.environment[$0] == nil })
        let construction = Construction(
            planning, declarations, newKeys: newKeys, parents: Set(plan.creations.map { nodes.nodeID($0.parent) }),
            firstNumber: persistence.lastNumber + 1)
        construction.version = planning.isCurrent ? nodes.changes : nil
        return construction
    }

    /// Whether all parents of the new nodes exist. If one was removed, another node may use its row, and the
    /// construction can only be abandoned.
    public func hasParents(of construction: Construction) -> Bool { construction.parents.allSatisfy { isAlive($0) } }

    /// Makes nodes until the steps are used up. Call it only while `hasParents` is true.
    /// - Returns: whether all are made and connected.
    public func advance(_ construction: Construction, _ steps: inout Int) -> Bool {
        if construction.version != nodes.changes { construction.version = nil }
        swapContext(with: construction)
        defer {
            if construction.version != nil { construction.version = nodes.changes }
            // Collects the new lists, whose data is stale from the start.
            collectInvalidated()
            swapContext(with: construction)
        }
        while steps > 0 {
            switch construction.stage {
            case .making(let next):
                if !construction.pending.isEmpty {
                    instantiate(&construction.pending, &steps)
                } else if next < construction.plan.creations.count {
                    let (parent, definition, slot, isContent) = construction.plan.creations[next]
                    let top = makeNode(definition, definition.id, under: parent, slot)
                    nodes[Int(top)].isContent = isContent
                    construction.tops.append(top)
                    addChildren(of: definition, at: top, to: &construction.pending)
                    construction.stage = .making(next: next + 1)
                    steps -= BuildCost.node
                } else {
                    construction.rows = unboundNodes
                    unboundNodes = []
                    construction.stage = .references(next: 0)
                }
            case .references(let next):
                guard next < construction.rows.count else {
                    construction.stage = .rules(next: 0)
                    break
                }
                connectReferences(of: construction.rows[next])
                if nodes[Int(construction.rows[next])].kind.isMadeFromData { connectForEach(construction.rows[next]) }
                construction.stage = .references(next: next + 1)
                steps -= cost(of: construction.rows[next])
            case .rules(let next):
                guard next < construction.rows.count else {
                    construction.stage = storesAhead ? .storing(next: 0) : .done
                    break
                }
                connectRules(of: construction.rows[next])
                construction.stage = .rules(next: next + 1)
                steps -= cost(of: construction.rows[next])
            case .storing(let next):
                if next == 0 { beginStoring(construction) }
                guard next < construction.rows.count else {
                    construction.stage = .done
                    break
                }
                store(construction.rows[next], in: construction)
                construction.stage = .storing(next: next + 1)
                steps -= BuildCost.row
            case .done: return true
            }
        }
        if case .done = construction.stage { return true }
        if construction.isStored { mark(construction) }
        return false
    }

    private func beginStoring(_ construction: Construction) {
        construction.isStored = true
        for (position, top) in construction.tops.enumerated()
        where !construction.plan.remadeCreations.contains(position) {
            construction.storedTops.insert(top)
        }
    }

    private func mark(_ construction: Construction) {
        guard !construction.hasMarker else { return }
        construction.hasMarker = true
        persistence.note(
            StoreChange(key: StoredKey.unlinked, name: "", value: .int(Int64(clamping: construction.firstNumber))))
    }

    /// Gives a new node its key and its row, as `Persistence.noteNew` does for nodes of the tree.
    private func store(_ row: UInt32, in construction: Construction) {
        let (node, parent) = (nodes[Int(row)], nodes[Int(row)].parent)
        let isTop = construction.storedTops.contains(row)
        guard isTop || !node.isObject && nodes.isOwn(parent) && !nodes[Int(parent)].kind.isMadeFromData else { return }
        if !isTop, persistence.isUse(parent), isMade(row, byUseAt: parent, construction) { return }
        let kept = nodes.kept(row)
        kept.isOwn = true
        kept.key = persistence.newKey(of: row)
        if isTop {
            let place = Construction.LivingPlace(parent: parent, rank: nodes.rank(of: row))
            kept.order = OrderKey.between(construction.lastOrders[place] ?? lastOrder(in: place), nil)
            construction.lastOrders[place] = kept.order
        } else {
            // Children that a document gives to a use come after the children that the component makes.
            let before = node.basePlace > 0 ? nodes[Int(parent)].children[Int(node.basePlace) - 1] : nil
            kept.order = OrderKey.between(
                before.flatMap { nodes.rank(of: $0) == nodes.rank(of: row) ? nodes.order(of: $0) : nil }, nil)
        }
        if node.definition.component == nil, node.definition.base == nil, !node.definition.children.isEmpty {
            // The children are clients' nodes, too, with definitions of their own. After a start it is the same.
            let childless = NodeDefinition(copyOf: node.definition, id: node.id)
            childless.children = []
            node.definition = childless
        }
        guard let key = kept.key, let value = persistence.writtenRow(of: row) else { return }
        kept.isStored = true
        persistence.note(StoreChange(key: key, name: "", value: value))
    }

    private func lastOrder(in place: Construction.LivingPlace) -> String? {
        let last = nodes[Int(place.parent)].children.last { nodes.rank(of: $0) == place.rank }
        return last.flatMap { nodes.order(of: $0) }
    }

    private func isMade(_ row: UInt32, byUseAt parent: UInt32, _ construction: Construction) -> Bool {
        let made =
            construction.madeByUses[parent]
            ?? Set(persistence.childDefinitions(madeBy: parent, isOwn: true).map { ObjectIdentifier($0) })
        construction.madeByUses[parent] = made
        return made.contains(ObjectIdentifier(nodes.base(of: row)))
    }

    func cost(of row: UInt32) -> Int { BuildCost.node + BuildCost.attribute * nodes[Int(row)].attributes.count }

    private func swapContext(with construction: Construction) {
        swap(&declarations, &construction.declarations)
        swap(&structureChange, &construction.structureChange)
        swap(&unboundNodes, &construction.unboundNodes)
        swap(&unbegun, &construction.unbegun)
        swap(&staleForEach, &construction.staleForEach)
        swap(&persistence.components, &construction.components)
    }

    /// Links the nodes of a construction into the tree, all at once. O(new attributes), about 20 ns for each. Nothing
    /// is created, connected or evaluated.
    /// - Parameter before: the declarations before the change.
    func link(_ construction: Construction, _ before: Declarations) {
        for (top, creation) in zip(construction.tops, construction.plan.creations) {
            nodes.attach(top, to: creation.parent)
        }
        // Clients that resume see a state as new from the change that makes it visible.
        for attribute in construction.structureChange.addedAttributes {
            if case .state? = attributes[Int(attribute.index)]?.source { engine.redate(attribute, to: engine.revision) }
        }
        structureChange.append(construction.structureChange)
        staleForEach.formUnion(construction.staleForEach)
        unbegun += construction.unbegun
        if construction.hasMarker { persistence.note(StoreChange(key: StoredKey.unlinked, name: "", value: nil)) }
        if construction.plan.redeclares(before) { unboundNodes += construction.rows }
    }

    /// The plan of a construction, made again if the tree has changed since.
    public func renewedPlan(
        of construction: Construction, _ scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode
    ) throws(Failure) -> ScenePlan {
        if construction.version == nodes.changes { return construction.plan }
        return try planned(scene, at: node, mode, isBuilt: true).plan
    }

    /// Whether a construction has made the nodes that a plan creates.
    public func fits(_ construction: Construction, _ plan: ScenePlan) -> Bool {
        hasParents(of: construction)
            && construction.plan.creations.elementsEqual(plan.creations) {
                $0.parent == $1.parent && $0.definition === $1.definition && $0.slot == $1.slot
            }
    }

    /// Discards a construction. Its nodes are freed in slices.
    public func abandon(_ construction: Construction) {
        for key in construction.plan.declarations.environment.keys where construction.isNew(key) {
            guard let vertex = environmentDefaults.removeValue(forKey: key) else { continue }
            destroyVertex(vertex)
        }
        if construction.isStored { mark(construction) }
        for top in construction.tops { nodes.unlink(top) }
        unlinked.batches.append(
            UnlinkedTrees.Batch(rows: construction.tops, marker: construction.hasMarker ? "" : nil))
    }
}

extension StructureChange {
    fileprivate mutating func append(_ other: StructureChange) {
        addedNodes += other.addedNodes
        addedAttributes += other.addedAttributes
        addedInstances += other.addedInstances
        removedNames += other.removedNames
        removedAttributes += other.removedAttributes
    }
}

extension ScenePlan {
    /// Whether known environment keys get another type or hold objects: the new nodes must then be connected again.
    fileprivate func redeclares(_ old: Declarations) -> Bool {
        declarations.environment.contains { name, key in
            guard let known = old.environment[name] else { return false }
            return known.type != key.type || key.type.objectName != nil
        }
    }
}

extension Declarations {
    /// Adds names as `ViewGraph.declareNames` does, without the effects on the tree.
    fileprivate mutating func add(_ new: Declarations) {
        types.merge(new.types) { $1 }
        environment.merge(completed(new.environment)) { $1 }
        container.merge(completed(new.container)) { $1 }
        preference.merge(completed(new.preference)) { $1 }
        components.merge(new.components) { $1 }
        written.merge(new.written)
    }
}
