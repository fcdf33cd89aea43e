import AttributeGraph
import AttributeValues
import SceneModel

// Large documents become nodes in slices: the nodes of a plan are made and connected while nobody sees them, and `perform` links
// them into the tree.

/// What making and connecting nodes costs, in steps of about 50 ns.
enum BuildCost {
    static let node = 20
    static let attribute = 15
}

/// The new nodes of a plan, made ahead. They know their parents; their parents do not know them, so that no path, pattern or
/// subview leads to them. Nothing of them is evaluated, so the engine has no edge from the tree to them.
///
/// While one is under way, only data may change the tree: see `ViewGraph.advance`.
public final class Construction {
    fileprivate enum Stage {
        case making(next: Int)
        /// References of all nodes, then their rules.
        case references(next: Int)
        case rules(next: Int)
        case done
        /// Nodes to be destroyed, children behind their parents.
        case abandoned([UInt32])
    }

    let plan: ScenePlan
    /// The tops of what `ScenePlan.creations` makes, in that order.
    fileprivate(set) var tops: [UInt32] = []
    fileprivate var stage = Stage.making(next: 0)
    fileprivate var pending: [ViewGraph.UnmadeNode] = []
    fileprivate var rows: [UInt32] = []
    // What the graph's properties of these names are for the new nodes.
    fileprivate var declarations: Declarations
    fileprivate var structureChange = StructureChange()
    fileprivate var unboundNodes: [UInt32] = []
    fileprivate var staleForEach: Set<UInt32> = []
    /// What the new nodes count towards the limits already.
    fileprivate(set) var growth = ViewGraph.Growth()

    /// Environment keys that the graph does not know yet.
    private let newKeys: Set<String>
    /// The living nodes that get new children.
    fileprivate let parents: Set<NodeID>

    fileprivate init(_ plan: ScenePlan, _ declarations: Declarations, newKeys: Set<String>, parents: Set<NodeID>) {
        self.plan = plan
        self.parents = parents
        self.newKeys = newKeys
        self.declarations = declarations
    }

    fileprivate func isNew(_ key: String) -> Bool { newKeys.contains(key) }
}

extension ViewGraph {
    /// Begins to make the new nodes of a plan. Each construction ends with `perform` or `abandon`.
    public func construct(_ plan: ScenePlan) -> Construction {
        var declarations = self.declarations
        declarations.add(plan.declarations)
        let newKeys = Set(plan.declarations.environment.keys.filter { self.declarations.environment[$0] == nil })
        return Construction(
            plan, declarations, newKeys: newKeys, parents: Set(plan.creations.map { nodes.nodeID($0.parent) }))
    }

    /// Whether the nodes that get new children are all there. If one has gone, another node may be in its row: the construction can
    /// only be abandoned.
    public func hasParents(of construction: Construction) -> Bool { construction.parents.allSatisfy { isAlive($0) } }

    /// Makes nodes until the steps are used up. Call it only while `hasParents` is true.
    /// - Returns: whether all are made and connected.
    public func advance(_ construction: Construction, _ steps: inout Int) -> Bool {
        let before = (liveNodes, liveAttributes)
        swapContext(with: construction)
        defer {
            // Data of the new lists is marked from the start on.
            collectInvalidated()
            swapContext(with: construction)
            construction.growth += Growth(nodes: liveNodes - before.0, attributes: liveAttributes - before.1)
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
                if nodes[Int(construction.rows[next])].kind == .forEach { connectForEach(construction.rows[next]) }
                construction.stage = .references(next: next + 1)
                steps -= cost(of: construction.rows[next])
            case .rules(let next):
                guard next < construction.rows.count else {
                    construction.stage = .done
                    break
                }
                connectRules(of: construction.rows[next])
                construction.stage = .rules(next: next + 1)
                steps -= cost(of: construction.rows[next])
            case .done: return true
            case .abandoned: preconditionFailure("what is abandoned is not made")
            }
        }
        if case .done = construction.stage { return true }
        return false
    }

    private func cost(of row: UInt32) -> Int { BuildCost.node + BuildCost.attribute * nodes[Int(row)].attributes.count }

    private func swapContext(with construction: Construction) {
        swap(&declarations, &construction.declarations)
        swap(&structureChange, &construction.structureChange)
        swap(&unboundNodes, &construction.unboundNodes)
        swap(&staleForEach, &construction.staleForEach)
    }

    /// Gives the nodes of a construction their place in the tree, all at once. O(new attributes), about 20 ns for each. Nothing is
    /// created, connected or evaluated.
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
        if construction.plan.redeclares(before) { unboundNodes += construction.rows }
    }

    /// Whether a construction holds the new nodes of a plan.
    public func fits(_ construction: Construction, _ plan: ScenePlan) -> Bool {
        hasParents(of: construction)
            && construction.plan.creations.elementsEqual(plan.creations) {
                $0.parent == $1.parent && $0.definition === $1.definition && $0.slot == $1.slot
            }
    }

    /// Destroys nodes that shall not come into the tree, until the steps are used up.
    /// - Returns: whether all are gone.
    public func abandon(_ construction: Construction, _ steps: inout Int) -> Bool {
        swapContext(with: construction)
        defer {
            // Nobody is told of nodes that nobody has seen.
            structureChange = StructureChange()
            swapContext(with: construction)
        }
        var rows: [UInt32]
        if case .abandoned(let left) = construction.stage {
            rows = left
        } else {
            construction.pending = []
            // Objects go with the nodes that hold them. Others may have their rows in a later slice.
            rows = (construction.rows + unboundNodes).filter { !nodes[Int($0)].isObject }
            unboundNodes = []
        }
        construction.stage = .abandoned([])
        while steps > 0, let row = rows.popLast() {
            steps -= cost(of: row)
            destroyNode(row)
        }
        guard rows.isEmpty else {
            construction.stage = .abandoned(rows)
            return false
        }
        for key in construction.plan.declarations.environment.keys where construction.isNew(key) {
            guard let vertex = environmentDefaults.removeValue(forKey: key) else { continue }
            destroy(vertex)
        }
        return true
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
    /// As `ViewGraph.declare` adds them, without what follows for the tree.
    fileprivate mutating func add(_ new: Declarations) {
        types.merge(new.types) { $1 }
        environment.merge(completed(new.environment)) { $1 }
        container.merge(completed(new.container)) { $1 }
        preference.merge(completed(new.preference)) { $1 }
    }
}
