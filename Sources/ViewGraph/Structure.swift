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

    public var isEmpty: Bool {
        addedNodes.isEmpty && removedNames.isEmpty && reorderedNodes.isEmpty && movedNodes.isEmpty && addedAttributes.isEmpty
            && removedAttributes.isEmpty
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
    /// Instances of `forEach` nodes that get another template.
    var renewed: [UInt32] = []
    /// The `forEach` nodes of these templates, whether they have instances or not.
    var templates: Set<UInt32> = []
    /// `forEach` nodes whose instances cannot be carried on.
    var restarts: [UInt32] = []
    /// All that is removed or begins anew.
    var taken: Set<UInt32> = []
    /// Nodes below which everything is connected anew.
    var top: UInt32
    /// States to set at the end.
    var values: [(path: AttributePath, value: Value)] = []
    /// It is done again, as a store kept it.
    var isKept: Bool

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

    func isGiven(_ definition: NodeDefinition) -> Bool { isComponentRoot && !own.contains(ObjectIdentifier(definition)) }

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
        var enclosing: [[(name: String, type: ValueType)]] = []
        var at = node.row
        // What is put into a component from outside sees what is around it.
        var isContent = isComponentRoot(at)
        while true {
            enclosing.append(namesAndTypes(of: at, elementOnly: isContent))
            if at == NodeID.root.row || (nodes[Int(at)].isScopeBoundary && !isContent) { break }
            isContent = nodes[Int(at)].isContent
            at = nodes[Int(at)].parent
        }
        var context = SceneContext(
            declarations: declarations, enclosing: enclosing, rules: limits.rules, valueSize: isKept ? .max : limits.valueSize,
            isKept: isKept)
        guard mode == .merge else { return context }
        context.existing = { ids in
            var row = node.row
            for id in ids {
                guard let next = self.child(id, of: row) else { return nil }
                row = next
            }
            return ExistingNode(
                kind: self.nodes[Int(row)].kind, attributes: self.namesAndTypes(of: row), component: self.nodes[Int(row)].definition.component,
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
    public func plan(
        _ scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode, isTold: Bool = false, isKept: Bool = false
    ) throws(Failure) -> ScenePlan {
        guard nodes[Int(node.row)].kind != .forEach else {
            throw Failure(
                .conflict, "\(path(of: node)) is made from data", path: path(of: node), hint: "change the list it is made from")
        }
        guard nodes[Int(node.row)].kind != .view || scene.nodes.isEmpty else {
            throw Failure(
                .conflict, "\(path(of: node)) is a view, which takes no children", path: path(of: node),
                hint: "make it a container or a group")
        }
        var plan = ScenePlan(declarations: scene.declarations, top: node.row, isKept: isKept)
        let place = ids(of: node.row)
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
            let parentPath = path(of: nodeID(row))
            let prefix = row == NodeID.root.row ? "/" : parentPath + "/"
            let depth = depth(of: row)
            for (definition, slot) in definitions {
                let name = prefix + AttributePath.quoteIfNeeded(definition.id)
                guard let existing = child(definition.id, of: row) else {
                    plan.creations.append((row, definition, slot, origin.isGiven(definition)))
                    plan.added.append(name)
                    growth += try self.growth(by: definition, below: depth, scene.declarations)
                    continue
                }
                guard mode != .create else {
                    throw Failure(
                        .conflict, "\(name) exists already", path: name, hint: "apply with mode merge; replace also removes the nodes beside it")
                }
                let old = nodes[Int(existing)]
                guard canBecome(definition, old, isReplacing) else {
                    plan.removals.append(existing)
                    plan.creations.append((row, definition, slot, origin.isGiven(definition)))
                    plan.changed.append(name)
                    growth += try self.growth(by: definition, below: depth, scene.declarations)
                    continue
                }
                if old.slot != slot { plan.slots.append((existing, slot)) }
                let isContent = isReplacing ? origin.isGiven(definition) : origin.isGiven(definition, over: old)
                if differs(existing, definition, isReplacing) || old.slot != slot || old.isContent != isContent {
                    plan.changed.append(name)
                    plan.changes.append(existing)
                    if isTold { tell(differences(existing, definition, isReplacing), in: &plan) }
                }
                plan.updates.append((existing, definition, isReplacing, isContent))
                growth.attributes += definition.attributes.count { ownAttribute($0.name, of: existing) == nil }
                if let made = definition.forEach {
                    planInstances(of: existing, made, &plan, &pending)
                } else {
                    pending.append(
                        ScenePlan.Children(
                            parent: existing, definitions: definition.slotted, isReplacing: isReplacing,
                            base: definition.base ?? (isReplacing ? nil : old.definition.base)))
                }
            }
            if isReplacing {
                let kept = Set(definitions.map(\.0.id))
                for child in nodes[Int(row)].children where !kept.contains(nodes[Int(child)].id) {
                    plan.removals.append(child)
                    plan.removed.append(path(of: nodeID(child)))
                }
                plan.orders.append((row, definitions.map(\.0)))
            }
        }
        if plan.untoldDifferences > 0 { plan.differences.append("and \(plan.untoldDifferences) more") }
        plan.taken = Set(plan.removals + plan.restarts)
        try refuse(growth)
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
            plan.renewed.append(instance)
            pending.append(
                ScenePlan.Children(
                    parent: instance, definitions: made.template.slotted, isReplacing: true, base: made.template.base))
        }
    }

    /// Does what was planned. Afterwards the tree is settled; nothing else has been evaluated.
    /// - Returns: the states whose present value counts from now on, because `values` has changed it or because they were transient;
    ///   and the paths in `values` where no state takes the value.
    @discardableResult
    public func perform(_ plan: ScenePlan) -> (states: [AttributeID], unset: [String]) {
        // States that are made belong to this change, not to the one before.
        engine.advanceRevision()
        noteConcerns(of: plan)
        declare(plan.declarations)
        destroySubtrees(plan.removals)
        for row in plan.restarts { removeInstances(of: row) }
        for (row, definition, isReplacing, isContent) in plan.updates {
            update(row, definition, isReplacing)
            nodes[Int(row)].isContent = isContent
        }
        for (row, slot) in plan.slots { put(row, into: slot) }
        var parents: Set<UInt32> = []
        for (parent, definition, slot, isContent) in plan.creations {
            let made = instantiate(definition, under: parent, slot: slot)
            nodes[Int(made)].isContent = isContent
            if isBeside(parent, plan.top) { noteMade(subtree(of: made)) }
            parents.insert(parent)
        }
        for (parent, definitions) in plan.orders where order(definitions, below: parent) && isBeside(parent, plan.top) {
            for child in nodes[Int(parent)].children { noteConcern(child) }
        }
        for parent in parents { shapeChanged(at: parent) }
        noteRenewal(of: plan.renewed)
        markEdited(plan.top)
        if !plan.updates.isEmpty {
            unboundNodes = []
            connect(withObjects(subtree(of: plan.top)))
            shapeChanged(at: plan.top)
        }
        settleStructure()
        let set = set(plan.values, isKept: plan.isKept)
        defer { durableFromNow = [] }
        return (durableFromNow.filter { engine.isAlive($0) } + set.states, set.unset)
    }

    /// What a plan concerns before it is done. What it makes of instances by way of their template data makes again.
    private func noteConcerns(of plan: ScenePlan) {
        guard keptChanges.current != nil else { return }
        if !isDeclared(plan.declarations) { keptChanges.pin() }
        notePlace(plan.top)
        for update in plan.updates { noteReliance(on: update.row) }
        for row in plan.changes where isBeside(row, plan.top) { noteConcern(row) }
        for row in plan.removals where isBeside(row, plan.top) { noteRemoval(of: row) }
    }

    /// The value of a transient state comes again with the document alone. That of an instance goes with it.
    private func noteConcern(ofTransient state: AttributeID) {
        let row = record(state).node
        if !isDurable(state), enclosingInstance(of: nodeID(row)) == nil { noteConcern(row) }
    }

    /// Whether a node is in the same instances of a `forEach` as another.
    func isBeside(_ row: UInt32, _ other: UInt32) -> Bool {
        enclosingInstance(of: nodeID(row)) == enclosingInstance(of: nodeID(other))
    }

    /// Gives a child of a section its place in another part of it.
    private func put(_ row: UInt32, into slot: Slot) {
        let parent = nodes[Int(row)].parent
        detach(row)
        nodes[Int(row)].slot = slot
        attach(row, to: parent)
        structureChange.reorderedNodes.append(nodeID(row))
        indicesChanged(below: parent)
    }

    /// Sets states, those of a `forEach`'s instances after those that its data is made from.
    /// - Parameter isKept: the values of durable states are kept by themselves, and gone where their states have begun anew.
    private func set(_ values: [(path: AttributePath, value: Value)], isKept: Bool) -> (states: [AttributeID], unset: [String]) {
        var left = values
        var states: [AttributeID] = []
        for _ in 0..<limits.structureRounds where !left.isEmpty {
            let count = left.count
            begin()
            left.removeAll { path, value in
                do throws(Failure) {
                    let place = try locate(path)
                    if isKept, isDurable(target(of: place)) { return true }
                    try write(place, through: path, isKept: true) { _ throws(Failure) in value }
                    noteConcern(ofTransient: target(of: place))
                    return true
                } catch {
                    return false
                }
            }
            states += commit().states
            if left.count == count { break }
        }
        return (states, left.map(\.path.description))
    }

    /// Puts all children of a node into the order of their definitions. What stands elsewhere than before counts as moved.
    /// - Returns: whether they stood in another one.
    private func order(_ definitions: [NodeDefinition], below parent: UInt32) -> Bool {
        let before = nodes[Int(parent)].children
        guard let after = newOrder(definitions, below: parent) else { return false }
        nodes[Int(parent)].children = after
        for (old, new) in zip(before, after) where old != new { structureChange.reorderedNodes.append(nodeID(new)) }
        indicesChanged(below: parent)
        shapeChanged(at: parent)
        return true
    }

    /// nil when the children stand in that order already, or are not the definitions'.
    func newOrder(_ definitions: [NodeDefinition], below parent: UInt32) -> [UInt32]? {
        let before = nodes[Int(parent)].children
        guard nodes[Int(parent)].kind != .forEach else { return nil }
        let after = definitions.compactMap { child($0.id, of: parent) }
        return after != before && after.count == before.count ? after : nil
    }

    /// Adds declarations; a key declared again takes the new default and type.
    public func declare(_ new: Declarations) {
        // The types first: defaults of keys may be objects of them.
        declarations.types.merge(new.types) { $1 }
        let hasNewObjects = renewDefaults(declarations.completed(new.environment))
        let (container, preference) = (declarations.completed(new.container), declarations.completed(new.preference))
        let isGatheredAnew =
            container.contains { declarations.container[$0]?.isSame(as: $1) != true }
            || preference.contains { declarations.preference[$0]?.isSame(as: $1) == false }
        declarations.container.merge(container) { $1 }
        declarations.preference.merge(preference) { $1 }
        declarations.components.merge(new.components) { $1 }
        declarations.written.merge(new.written)
        if isGatheredAnew { gatheringChanged() }
        if hasNewObjects { connect(withObjects(subtree(of: NodeID.root.row))) }
    }

    // MARK: Updating one node

    private func differs(_ row: UInt32, _ definition: NodeDefinition, _ isReplacing: Bool) -> Bool {
        for attribute in definition.attributes {
            guard let existing = ownAttribute(attribute.name, of: row),
                let old = record(existing).definition, old.isSame(as: attribute)
            else { return true }
        }
        let names = Set(definition.attributes.map(\.name))
        if isReplacing, nodes[Int(row)].attributes.contains(where: { !names.contains($0.name) && $0.name != "elements" }) {
            return true
        }
        let target = isReplacing ? definition : definition.merged(over: nodes[Int(row)].definition)
        if let made = definition.forEach, nodes[Int(row)].definition.forEach.map({ !made.isSame(as: $0) }) ?? true { return true }
        return !target.hasSameModifiers(as: nodes[Int(row)].definition)
    }

    private func update(_ row: UInt32, _ definition: NodeDefinition, _ isReplacing: Bool) {
        let target = isReplacing ? definition : definition.merged(over: nodes[Int(row)].definition)
        let hasSameModifiers = target.hasSameModifiers(as: nodes[Int(row)].definition)
        nodes[Int(row)].definition = target
        for attribute in definition.attributes { update(attribute, of: row) }
        if isReplacing {
            let names = Set(definition.attributes.map(\.name))
            for (name, attribute) in nodes[Int(row)].attributes where !names.contains(name) {
                if nodes[Int(row)].instances?.elements == attribute { continue }
                destroy(attribute, named: name, of: row)
            }
        }
        if !hasSameModifiers {
            destroyModifiers(of: row)
            createModifiers(of: row)
            wrappingChanged(at: row)
        }
    }

    /// A state keeps its value while its type stays; everything else takes the new definition.
    private func update(_ definition: AttributeDefinition, of row: UInt32) {
        guard let existing = ownAttribute(definition.name, of: row), let old = record(existing).definition else {
            // The name was an element's or an index's until now.
            if let shadowed = nodes[Int(row)].instanceAttribute(named: definition.name) {
                structureChange.removedAttributes.append(shadowed)
                record(shadowed).projections?.forEachAttribute { structureChange.removedAttributes.append($0) }
            }
            createAttribute(definition, of: row)
            return
        }
        let isKept: Bool =
            switch (old.role, definition.role) {
            case (.state, .state): old.type == definition.type
            case (.state, _), (_, .state): false
            default: true
            }
        if isKept {
            attributes[Int(existing.index)]?.definition = definition
            attributes[Int(existing.index)]?.type = definition.type
            attributes[Int(existing.index)]?.kind = definition.kind
            if case .binding(_, let animation) = definition.role { attributes[Int(existing.index)]?.animation = animation }
            if case .state(_, let isTransient) = definition.role, case .state = record(existing).source {
                if isTransient, isDurable(existing) { lostStates.append(path(of: existing)) }
                if !isTransient, !isDurable(existing) { durableFromNow.append(existing) }
                attributes[Int(existing.index)]?.source = .state(isTransient: isTransient)
            }
        } else {
            destroy(existing, named: definition.name, of: row)
            createAttribute(definition, of: row)
        }
    }

    /// Takes an attribute from a node that stays.
    private func destroy(_ attribute: AttributeID, named name: String, of row: UInt32) {
        if record(attribute).kind == .state { lostStates.append(path(of: attribute)) }
        structureChange.removedNames.append(NodeNames(ids: ids(of: row), attributes: [name], isWhole: false))
        destroy(attribute)
        nodes[Int(row)].attributes.remove(name)
        if let shown = nodes[Int(row)].instanceAttribute(named: name) { structureChange.addedAttributes.append(shown) }
    }

    /// What happened to the tree since the last call.
    public func takeStructureChange() -> StructureChange {
        let change = structureChange
        structureChange = StructureChange()
        return change
    }
}
