import AttributeGraph
import AttributeValues
import SceneModel

/// What happened to the tree since it was last asked.
public struct StructureChange {
    public internal(set) var addedNodes: [NodeID] = []
    /// Names of what is gone; vertices without a name are not among them.
    public internal(set) var removedNames: [NodeNames] = []
    /// Have another place among their siblings.
    public internal(set) var reorderedNodes: [NodeID] = []
    /// Have another parent, and with it all that is below that had been there before.
    public internal(set) var movedNodes: [Move] = []
    public internal(set) var addedAttributes: [AttributeID] = []
    /// Instances of a `forEach` whose index is no vertex yet.
    public internal(set) var addedInstances: [NodeID] = []
    public internal(set) var removedAttributes: [AttributeID] = []
    /// Large subtrees that are gone. `removedNames` and `removedAttributes` do not tell of them.
    public internal(set) var removedTrees: [NodeID] = []

    public var isEmpty: Bool {
        addedNodes.isEmpty && removedNames.isEmpty && reorderedNodes.isEmpty && movedNodes.isEmpty
            && addedAttributes.isEmpty
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

    public init(ids: [String], attributes: [String], isWhole: Bool = true) {
        self.ids = ids
        self.attributes = attributes
        self.isWhole = isWhole
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

    /// Children of a node that are still to be planned.
    struct Children {
        var parent: UInt32
        var definitions: [(NodeDefinition, Slot)]
        var isReplacing: Bool
        /// The component that the parent will have been made from.
        var base: NodeDefinition?
        /// A template says what they are, and not the document.
        var isRemade = false
    }
}

public enum ApplyMode {
    /// Every node must be new.
    case create
    /// Nodes that exist are brought up to the document; what it does not mention stays.
    case merge
    /// As merge, but below the place of application nothing stays that the document does not mention.
    case replace
}

/// Tells the children that a component's body has from those that are given to it from outside.
private struct ChildOrigin {
    private let isComponentRoot: Bool
    private let own: Set<ObjectIdentifier>
    private let ids: Set<String>

    init(in base: NodeDefinition?, isComponentRoot: Bool) {
        self.isComponentRoot = isComponentRoot
        let body = isComponentRoot ? base?.slotted ?? [] : []
        own = Set(body.map { ObjectIdentifier($0.0) })
        ids = Set(body.map(\.0.id))
    }

    func isGiven(_ definition: NodeDefinition) -> Bool {
        isComponentRoot && !own.contains(ObjectIdentifier(definition))
    }

    /// The same for what completes a node: the body's own stays that, whoever completes it.
    func isGiven(_ definition: NodeDefinition, over old: NodeRecord) -> Bool {
        isGiven(definition) && (old.isContent || !ids.contains(definition.id))
    }
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
        guard mode == .merge else { return context }
        context.existing = { ids in
            var row = node.row
            for id in ids {
                guard let next = self.nodes.child(id, of: row) else { return nil }
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

    /// - Throws: `conflict` for an id that exists already (create), `limit` when the graph would become too large or too deep.
    /// - Parameters:
    ///   - isTold: `differences` are wanted.
    ///   - isKept: it was accepted once, and comes from a store: what only later versions refuse is admitted.
    ///   - construction: of the same document. Its nodes count towards the limits already.
    public func plan(
        _ scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode, isTold: Bool = false, isKept: Bool = false,
        _ construction: Construction? = nil
    ) throws(Failure) -> ScenePlan {
        guard nodes[Int(node.row)].kind != .forEach else {
            throw Failure(
                .conflict, "\(path(of: node)) is made from data", path: path(of: node),
                hint: "change the list it is made from")
        }
        guard nodes[Int(node.row)].kind != .view || scene.nodes.isEmpty else {
            throw Failure(
                .conflict, "\(path(of: node)) is a view, which takes no children", path: path(of: node),
                hint: "make it a container or a group")
        }
        var plan = ScenePlan(declarations: scene.declarations, top: node.row)
        // Its new nodes were made, and the rest of it charged, before it is linked.
        func charge(_ steps: Int) throws(Failure) { if construction == nil { try self.charge(planning: steps) } }
        let place = nodes.ids(of: node.row)
        try charge(scene.values.count * PlanCost.value)
        plan.values = scene.values.map { path, value in
            (AttributePath(nodes: place + path.nodes, attribute: path.attribute, steps: path.steps), value)
        }
        var growth = Growth()
        var pending = [
            ScenePlan.Children(
                parent: node.row, definitions: scene.nodes.map { ($0, .content) }, isReplacing: mode == .replace,
                base: nodes[Int(node.row)].definition.base)
        ]
        while let next = pending.popLast() {
            let (row, definitions, isReplacing) = (next.parent, next.definitions, next.isReplacing)
            let origin = ChildOrigin(in: next.base, isComponentRoot: isComponentRoot(row))
            let parentPath = nodes.path(of: row)
            let prefix = row == NodeID.root.row ? "/" : parentPath + "/"
            let depth = nodes.depth(of: row)
            for (definition, slot) in definitions {
                let name = prefix + AttributePath.quoteIfNeeded(definition.id)
                guard let existing = nodes.child(definition.id, of: row) else {
                    try charge(PlanCost.creation)
                    if next.isRemade { plan.remadeCreations.insert(plan.creations.count) }
                    plan.creations.append((row, definition, slot, origin.isGiven(definition)))
                    plan.added.append(name)
                    if construction == nil {
                        growth += try self.growth(by: definition, below: depth, scene.declarations)
                    }
                    continue
                }
                guard mode != .create else {
                    throw Failure(
                        .conflict, "\(name) exists already", path: name,
                        hint: "apply with mode merge; replace also removes the nodes beside it")
                }
                try charge(PlanCost.update)
                let old = nodes[Int(existing)]
                guard canBecome(definition, old, isReplacing) else {
                    try charge(PlanCost.removal)
                    plan.removals.append(existing)
                    try charge(PlanCost.creation)
                    if next.isRemade { plan.remadeCreations.insert(plan.creations.count) }
                    plan.creations.append((row, definition, slot, origin.isGiven(definition)))
                    plan.changed.append(name)
                    if construction == nil {
                        growth += try self.growth(by: definition, below: depth, scene.declarations)
                    }
                    continue
                }
                if old.slot != slot { plan.slots.append((existing, slot)) }
                let isContent = isReplacing ? origin.isGiven(definition) : origin.isGiven(definition, over: old)
                if differs(existing, definition, isReplacing) || old.slot != slot || old.isContent != isContent {
                    try charge(PlanCost.change)
                    plan.changed.append(name)
                    plan.changes.append(existing)
                    if isTold { tell(differences(existing, definition, isReplacing), in: &plan) }
                }
                plan.updates.append((existing, definition, isReplacing, isContent))
                if next.isRemade { plan.remade.insert(existing) }
                growth.attributes += definition.attributes.count { ownAttribute($0.name, of: existing) == nil }
                if let made = definition.forEach {
                    if old.definition.forEach.map({ !made.isSame(as: $0) }) == true {
                        try charge(old.children.count * (PlanCost.update + PlanCost.change))
                    }
                    planInstances(of: existing, made, &plan, &pending)
                } else {
                    pending.append(
                        ScenePlan.Children(
                            parent: existing, definitions: definition.slotted, isReplacing: isReplacing,
                            base: definition.base ?? (isReplacing ? nil : old.definition.base), isRemade: next.isRemade)
                    )
                }
            }
            if isReplacing {
                let kept = Set(definitions.map(\.0.id))
                for child in nodes[Int(row)].children where !kept.contains(nodes[Int(child)].id) {
                    try charge(PlanCost.removal)
                    plan.removals.append(child)
                    plan.removed.append(nodes.path(of: child))
                }
                plan.orders.append((row, definitions.map(\.0)))
            }
        }
        if plan.untoldDifferences > 0 { plan.differences.append("and \(plan.untoldDifferences) more") }
        try refuse(growth)
        try refuseExcess(scene.declarations, plan)
        if !isKept { try refuseRetyping(scene.declarations, plan) }
        return plan
    }

    private func tell(_ lines: [String], in plan: inout ScenePlan) {
        let room = max(0, ScenePlan.toldDifferences - plan.differences.count)
        plan.differences += lines.prefix(room)
        plan.untoldDifferences += max(0, lines.count - room)
    }

    /// Whether a node can go on as a definition says, with its states.
    private func canBecome(_ definition: NodeDefinition, _ old: NodeRecord, _ isReplacing: Bool) -> Bool {
        guard old.kind == definition.kind else { return false }
        // A merged document need not say again what a node was made from.
        return old.definition.component == definition.component || (!isReplacing && definition.component == nil)
    }

    /// What another definition of a `forEach` means for the instances there are.
    private func planInstances(
        of row: UInt32, _ made: ForEachDefinition, _ plan: inout ScenePlan, _ pending: inout [ScenePlan.Children]
    ) {
        guard let old = nodes[Int(row)].definition.forEach, !made.isSame(as: old) else { return }
        guard made.idField == old.idField, made.elementName == old.elementName, made.indexName == old.indexName,
            made.template.kind == old.template.kind, made.template.component == old.template.component
        else { return plan.restarts.append(row) }
        plan.templates.insert(row)
        for instance in nodes[Int(row)].children {
            plan.updates.append((instance, made.template, true, false))
            plan.remade.insert(instance)
            pending.append(
                ScenePlan.Children(
                    parent: instance, definitions: made.template.slotted, isReplacing: true, base: made.template.base,
                    isRemade: true))
        }
    }

    private func differs(_ row: UInt32, _ definition: NodeDefinition, _ isReplacing: Bool) -> Bool {
        for attribute in definition.attributes {
            guard let existing = ownAttribute(attribute.name, of: row),
                let old = record(existing).definition, old.isSame(as: attribute)
            else { return true }
        }
        let names = Set(definition.attributes.map(\.name))
        if isReplacing,
            nodes[Int(row)].attributes.contains(where: { !names.contains($0.name) && $0.name != "elements" })
        {
            return true
        }
        let target = isReplacing ? definition : definition.merged(over: nodes[Int(row)].definition)
        if let made = definition.forEach, nodes[Int(row)].definition.forEach.map({ !made.isSame(as: $0) }) ?? true {
            return true
        }
        return !target.hasSameModifiers(as: nodes[Int(row)].definition)
    }

    /// nil when the children stand in that order already, or are not the definitions'.
    func newOrder(_ definitions: [NodeDefinition], below parent: UInt32) -> [UInt32]? {
        let before = nodes[Int(parent)].children
        guard nodes[Int(parent)].kind != .forEach else { return nil }
        let after = definitions.compactMap { nodes.child($0.id, of: parent) }
        return after != before && after.count == before.count ? after : nil
    }

    /// What happened to the tree since the last call.
    public func takeStructureChange() -> StructureChange {
        let change = structureChange
        structureChange = StructureChange()
        return change
    }
}
