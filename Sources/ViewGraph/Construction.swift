import AttributeGraph
import AttributeValues
import SceneModel

// Large documents become nodes in slices: the nodes of a plan are made and connected while nobody sees them, and
// `perform` links them into the tree.

/// What making and connecting nodes costs, in steps of about 50 ns.
enum BuildCost {
    static let node = 20
    static let attribute = 15
    /// A row of the store that is written or deleted.
    static let row = 80
}

/// The new nodes of a plan, made ahead. They know their parents; their parents do not know them, so that no path,
/// pattern or subview leads to them. Nothing of them is evaluated, so the engine has no edge from the tree to them.
///
/// While one is under way, only data may change the tree: see `ViewGraph.advance`.
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
    /// `Tree.changes` up to which the plan holds; nil: the tree has changed since.
    fileprivate(set) var version: UInt64?
    /// The tops of what `ScenePlan.creations` makes, in that order.
    fileprivate(set) var tops: [UInt32] = []
    fileprivate var stage = Stage.making(next: 0)
    fileprivate var pending: [ViewGraph.UnmadeNode] = []
    fileprivate var rows: [UInt32] = []
    // What the graph's properties of these names are for the new nodes.
    fileprivate var declarations: Declarations
    fileprivate var structureChange = StructureChange()
    fileprivate var unboundNodes: [UInt32] = []
    fileprivate var unbegun: [AttributeID] = []
    fileprivate var staleForEach: Set<UInt32> = []
    fileprivate var components: CurrentComponents
    // The rows of the nodes are written as the nodes are made, so that the change that links them has little to write.
    // Until then a marker in the store says that they do not count: see `UnlinkedTrees`.
    /// Whether the nodes have keys and rows.
    fileprivate(set) var isStored = false
    /// The least number in a key of theirs.
    fileprivate let firstNumber: UInt64
    fileprivate var hasMarker = false
    /// The order keys of the last new children that living parents get.
    fileprivate var lastOrders: [LivingPlace: String] = [:]
    fileprivate var storedTops: Set<UInt32> = []
    /// By the client's node that is stored as the use of its component: the definitions that the component makes.
    fileprivate var madeByUses: [UInt32: Set<ObjectIdentifier>] = [:]

    fileprivate struct LivingPlace: Hashable {
        var parent: UInt32
        var rank: Int
    }

    /// Environment keys that the graph does not know yet.
    private let newKeys: Set<String>
    /// The living nodes that get new children.
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
    /// Whether the rows of a construction are written ahead. A recovered store may give nodes the keys that they had.
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

    /// Whether the nodes that get new children are all there. If one has gone, another node may be in its row: the
    /// construction can only be abandoned.
    public func hasParents(of construction: Construction) -> Bool { construction.parents.allSatisfy { isAlive($0) } }

    /// Makes nodes until the steps are used up. Call it only while `hasParents` is true.
    /// - Returns: whether all are made and connected.
    public func advance(_ construction: Construction, _ steps: inout Int) -> Bool {
        if construction.version != nodes.changes { construction.version = nil }
        swapContext(with: construction)
        defer {
            if construction.version != nil { construction.version = nodes.changes }
            // Data of the new lists is marked from the start on.
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

    /// Gives a new node its key and its row, as `Persistence.noteNew` does to nodes of the tree.
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
            // What a document gives to a use follows what the component makes.
            let before = node.basePlace > 0 ? nodes[Int(parent)].children[Int(node.basePlace) - 1] : nil
            kept.order = OrderKey.between(
                before.flatMap { nodes.rank(of: $0) == nodes.rank(of: row) ? nodes.order(of: $0) : nil }, nil)
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

    /// Gives the nodes of a construction their place in the tree, all at once. O(new attributes), about 20 ns for each.
    /// Nothing is created, connected or evaluated.
    /// - Parameter before: the declarations before the change.
    func link(_ construction: Construction, _ before: Declarations) {
        for (top, creation) in zip(construction.tops, construction.plan.creations) {
            nodes.attach(top, to: creation.parent)
        }
        // States begin with the change that makes them visible, for those who resume.
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

    /// Whether a construction holds the new nodes of a plan.
    public func fits(_ construction: Construction, _ plan: ScenePlan) -> Bool {
        hasParents(of: construction)
            && construction.plan.creations.elementsEqual(plan.creations) {
                $0.parent == $1.parent && $0.definition === $1.definition && $0.slot == $1.slot
            }
    }

    /// The nodes shall not come into the tree: they are freed in slices.
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
    /// Whether keys become others for which the new nodes have to be connected again.
    fileprivate func redeclares(_ old: Declarations) -> Bool {
        declarations.environment.contains { name, key in
            guard let known = old.environment[name] else { return false }
            return known.type != key.type || key.type.objectName != nil
        }
    }
}

extension Declarations {
    /// As `ViewGraph.declareNames` adds them, without what follows for the tree.
    fileprivate mutating func add(_ new: Declarations) {
        types.merge(new.types) { $1 }
        environment.merge(completed(new.environment)) { $1 }
        container.merge(completed(new.container)) { $1 }
        preference.merge(completed(new.preference)) { $1 }
        components.merge(new.components) { $1 }
        written.merge(new.written)
    }
}
