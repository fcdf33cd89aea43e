import AttributeValues
import SceneModel

// Planning works out how a document changes the tree. It changes nothing itself, but takes a while for many nodes, so
// it is done in slices.

/// A plan that is being made. It reads the tree as it was when it was begun, and changes nothing.
public final class Planning {
    public private(set) var plan: ScenePlan
    let graph: Wiring
    let scene: SceneDefinition
    private let mode: ApplyMode
    /// True if `differences` are wanted.
    private let isTold: Bool
    /// The document was accepted once, and comes from a store: faults that only later versions refuse are admitted.
    private let isKept: Bool
    /// The document's new nodes are made already, and count towards the limits.
    private let isBuilt: Bool
    /// The document's declarations are in force already, so a node that does not differ need not be touched.
    private let isDeclared: Bool
    private let version: UInt64
    private var pending: [Children]
    private var current: Siblings?
    private var growth = Wiring.Growth()
    /// Steps that the change itself will take.
    private var cost: Int
    /// The nodes that change: what is below them is connected again.
    private var connected: Set<UInt32> = []
    private var isComplete = false

    fileprivate init(
        _ graph: Wiring, _ scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode, isTold: Bool, isKept: Bool,
        isBuilt: Bool
    ) {
        let place = graph.nodes.ids(of: node.row)
        plan = ScenePlan(declarations: scene.declarations, top: node.row)
        plan.values = scene.values.map { path, value in
            (AttributePath(nodes: place + path.nodes, attribute: path.attribute, steps: path.steps), value)
        }
        self.graph = graph
        self.scene = scene
        self.mode = mode
        self.isTold = isTold
        self.isKept = isKept
        self.isBuilt = isBuilt
        isDeclared = graph.declarations.haveAll(of: scene.declarations)
        version = graph.nodes.changes
        let outdated = graph.nodes.findOutdated(by: scene.declarations.components, over: graph.declarations.components)
        cost = scene.values.count * PlanCost.value + outdated.count * PlanCost.row
        pending = [
            Children(
                parent: node.row, definitions: scene.nodes.map { ($0, .content) }, isReplacing: mode == .replace,
                base: graph.nodes[Int(node.row)].definition.base)
        ]
    }

    /// Children of a node that are still to be planned.
    fileprivate struct Children {
        var parent: UInt32
        var definitions: [(NodeDefinition, Slot)]
        var isReplacing: Bool
        /// The component that the parent will have been made from.
        var base: NodeDefinition?
        /// Their definitions come from a template, not from the document.
        var isRemade = false
    }

    /// Children that are being planned, and which one is next.
    fileprivate struct Siblings {
        var children: Children
        var next = 0
        var origin: ChildOrigin
        var prefix: String
        var depth: Int
    }
}

/// Tells the children that a component's body has from those that are given to it from outside.
private struct ChildOrigin {
    private let isComponentRoot: Bool
    private let own: Set<ObjectIdentifier>
    private let ids: Set<Name>

    init(in base: NodeDefinition?, isComponentRoot: Bool) {
        self.isComponentRoot = isComponentRoot
        let body = isComponentRoot ? base?.slotted ?? [] : []
        own = Set(body.map { ObjectIdentifier($0.0) })
        ids = Set(body.map(\.0.id))
    }

    func isGiven(_ definition: NodeDefinition) -> Bool {
        isComponentRoot && !own.contains(ObjectIdentifier(definition))
    }

    /// The same for a definition that completes a node: a node of the body stays one, whoever completes it.
    func isGiven(_ definition: NodeDefinition, over old: NodeRecord) -> Bool {
        isGiven(definition) && (old.isContent || !ids.contains(definition.id))
    }
}

extension Wiring {
    /// Plans a whole document in one turn. The comparisons are charged, too.
    /// - Throws: `conflict` for an id that exists already (create), `limit` when the graph would
    ///   become too large or too deep.
    public func planned(
        _ scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode, isTold: Bool = false, isKept: Bool = false,
        isBuilt: Bool = false
    ) throws(Failure) -> Planning {
        let planning = try planning(of: scene, at: node, mode, isTold: isTold, isKept: isKept, isBuilt: isBuilt)
        while true {
            let all = max(stepsLeft, 1)
            var steps = all
            let isDone = try planning.advance(&steps)
            try budget.chargePlan(all - steps)
            if isDone { return planning }
        }
    }

    /// Begins to plan.
    /// - Parameter isBuilt: the new nodes of the document are made already.
    public func planning(
        of scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode, isTold: Bool = false, isKept: Bool = false,
        isBuilt: Bool = false
    ) throws(Failure) -> Planning {
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
        return Planning(self, scene, at: node, mode, isTold: isTold, isKept: isKept, isBuilt: isBuilt)
    }
}

extension Planning {
    private var nodes: Tree<NodeRecord> { graph.nodes }

    /// True if the tree is unchanged since the plan was begun. If it is not, the plan can only be dropped.
    public var isCurrent: Bool { version == nodes.changes }

    /// Compares nodes with the document until the steps are used up. Call it only while `isCurrent` is true. The cost
    /// of the change itself is charged to the request.
    /// - Returns: whether the plan is complete.
    public func advance(_ steps: inout Int) throws(Failure) -> Bool {
        if isComplete { return true }
        // Each slice has the budget of a whole request.
        var charged = 0
        func chargeNews() throws(Failure) {
            // If the new nodes are made already, everything was charged before.
            if !isBuilt { try graph.budget.chargePlan(cost - charged) }
            charged = cost
        }
        while true {
            try chargeNews()
            if current == nil {
                guard let next = pending.popLast() else { break }
                current = siblings(next)
            }
            while let (definition, slot) = current?.take() {
                steps -= PlanCost.update
                try plan(definition, slot)
                try chargeNews()
                if steps <= 0 { return false }
            }
            if let done = current?.children {
                try refuseSharedIDs(done)
                if done.isReplacing { planRemovals(besides: done) }
            }
            current = nil
        }
        if plan.untoldDifferences > 0 {
            plan.differences.append("and \(plan.untoldDifferences) more")
        }
        try graph.refuse(growth)
        try refuseExcess()
        if !isKept { try refuseRetyping() }
        isComplete = true
        return true
    }

    private func siblings(_ children: Children) -> Siblings {
        let row = children.parent
        let path = nodes.path(of: row)
        return Siblings(
            children: children,
            origin: ChildOrigin(in: children.base, isComponentRoot: graph.nodes.isComponentRoot(row)),
            prefix: row == NodeID.root.row ? "/" : path + "/", depth: nodes.depth(of: row))
    }

    private func plan(_ definition: NodeDefinition, _ slot: Slot) throws(Failure) {
        guard let siblings = current else { return }
        let (row, isReplacing, origin) = (siblings.children.parent, siblings.children.isReplacing, siblings.origin)
        let isRemade = siblings.children.isRemade
        let isNamed = !definition.kind.isTransparent
        // Paths do not name a choice, so its parent counts as changed.
        let name = isNamed ? siblings.prefix + AttributePath.quoteIfNeeded(definition.id.text) : nodes.path(of: row)
        func create() throws(Failure) {
            cost += PlanCost.creation
            if isRemade { plan.remadeCreations.insert(plan.creations.count) }
            plan.creations.append((row, definition, slot, origin.isGiven(definition)))
            if isBuilt { return }
            let isShownElsewhere = origin.isGiven(definition) && nodes.firstPlacing(of: row) != nil
            let added = try graph.additions(
                by: definition, below: siblings.depth, isGiven: isShownElsewhere, scene.declarations)
            growth += added
            cost += added.costAtOnce
        }
        let found = nodes.child(definition.id, of: row)
        // A merged document also completes nodes in branches.
        let inBranch = isNamed && found == nil ? nodes.visibleChild(definition.id, of: row) : nil
        guard let existing = found ?? (isReplacing ? nil : inBranch) else {
            if isNamed { plan.added.append(name) } else { plan.changed.append(name) }
            return try create()
        }
        guard mode != .create, nodes[Int(existing)].isTransparent != isNamed else {
            throw Failure(
                .conflict, "\(isNamed ? name : "\(definition.id) in \(name)") exists already", path: name,
                hint: "apply with mode merge; replace also removes its siblings")
        }
        let old = nodes[Int(existing)]
        guard canBecome(definition, old, isReplacing) else {
            cost += PlanCost.removal
            plan.removals.append(existing)
            plan.changed.append(name)
            return try create()
        }
        let given = definition.givenSlot ?? (isReplacing ? nil : old.definition.givenSlot)
        let isElsewhere = old.slot != slot || old.definition.givenSlot != given
        if isElsewhere { plan.slots.append((existing, slot)) }
        let isContent = isReplacing ? origin.isGiven(definition) : origin.isGiven(definition, over: old)
        let isOther =
            differs(existing, definition, isReplacing) || isElsewhere || old.isContent != isContent
        if isOther {
            cost += costOfChange(existing, definition, isReplacing)
            if isElsewhere || old.isContent != isContent {
                cost += nodes.everything(in: existing).count * Budget.stepsPerGiven
            }
            plan.changed.append(name)
            plan.changes.append(existing)
            if isTold { tell(describeDifferences(existing, definition, isReplacing)) }
        }
        // The nodes that a component or a list makes depend on more than this definition.
        let isPlain = definition.component == nil && old.definition.component == nil && definition.forEach == nil
        if isOther || isRemade || !isPlain || !isDeclared {
            if !isOther, !isRemade { cost += PlanCost.update }
            plan.updates.append((existing, definition, isReplacing, isContent))
        }
        if isRemade { plan.remade.insert(existing) }
        growth.attributes += definition.attributes.count { graph.ownAttribute($0.name, of: existing) == nil }
        if let made = definition.forEach {
            if old.definition.forEach.map({ !made.isSame(as: $0) }) == true {
                cost += old.children.count * (PlanCost.update + PlanCost.change)
            }
            planInstances(of: existing, made)
        } else {
            pending.append(
                Children(
                    parent: existing, definitions: definition.slotted, isReplacing: isReplacing,
                    base: definition.base ?? (isReplacing ? nil : old.definition.base), isRemade: isRemade))
        }
    }

    /// Steps for a node that changes, and for the nodes below, which are connected again: each once.
    private func costOfChange(_ row: UInt32, _ definition: NodeDefinition, _ isReplacing: Bool) -> Int {
        let gone = isReplacing ? nodes[Int(row)].attributes.count : 0
        let isInside = nodes.upward(from: row).contains { connected.contains($0) }
        connected.insert(row)
        return PlanCost.change + PlanCost.attribute * (definition.attributes.count + gone)
            + (isInside ? 0 : nodes.subtree(of: row).count * PlanCost.below)
    }

    /// - Throws: `conflict` when a node beside a choice would have the id of one in its branches.
    private func refuseSharedIDs(_ done: Children) throws(Failure) {
        let parent = nodes[Int(done.parent)]
        guard parent.hasTransparentChildren || done.definitions.contains(where: { $0.0.kind == .choice }) else {
            return
        }
        var ids = SiblingIDs()
        var taken: Name?
        var named: Set<Name> = []
        for (definition, _) in done.definitions {
            named.insert(definition.id)
            // It completes a node in a branch.
            if !done.isReplacing, nodes.child(definition.id, of: done.parent) == nil,
                nodes.visibleChild(definition.id, of: done.parent) != nil
            {
                continue
            }
            taken = ids.add(definition) ?? taken
        }
        if !done.isReplacing {
            for child in parent.children where !named.contains(nodes[Int(child)].id) {
                taken = ids.add(nodes[Int(child)].definition) ?? taken
            }
        }
        guard let taken else { return }
        let path = AttributePath.describe(nodes: nodes.ids(of: done.parent) + [taken])
        throw Failure(
            .conflict, "\(path) would exist in a branch and next to it", path: path, hint: "give one of them another id"
        )
    }

    private func planRemovals(besides done: Children) {
        let kept = Set(done.definitions.map(\.0.id))
        for child in nodes[Int(done.parent)].children where !kept.contains(nodes[Int(child)].id) {
            cost += PlanCost.removal
            plan.removals.append(child)
            if nodes[Int(child)].isTransparent {
                plan.changed.append(nodes.path(of: child))
            } else {
                plan.removed.append(nodes.path(of: child))
            }
        }
        plan.orders.append((done.parent, done.definitions.map(\.0)))
    }

    private func tell(_ lines: [String]) {
        let room = max(0, ScenePlan.toldDifferences - plan.differences.count)
        plan.differences += lines.prefix(room)
        plan.untoldDifferences += max(0, lines.count - room)
    }

    /// True if a node can take a definition and keep its states.
    private func canBecome(_ definition: NodeDefinition, _ old: NodeRecord, _ isReplacing: Bool) -> Bool {
        guard old.kind == definition.kind else { return false }
        // A merged document need not name the component again.
        return old.definition.component == definition.component || (!isReplacing && definition.component == nil)
    }

    /// Plans what existing instances become under a changed definition of their `forEach`.
    private func planInstances(of row: UInt32, _ made: ForEachDefinition) {
        guard let old = nodes[Int(row)].definition.forEach, !made.isSame(as: old) else { return }
        guard made.choice == old.choice, made.idField == old.idField, made.elementName == old.elementName,
            made.indexName == old.indexName,
            made.choice != nil
                || zip(made.templates, old.templates).allSatisfy({ $0.kind == $1.kind && $0.component == $1.component })
        else { return plan.restarts.append(row) }
        plan.templates.insert(row)
        for instance in nodes[Int(row)].children {
            // A branch that the choice no longer has is removed when the choice is updated.
            guard let template = made.template(for: .string(nodes[Int(instance)].id.text)) else { continue }
            plan.updates.append((instance, template, true, false))
            plan.remade.insert(instance)
            pending.append(
                Children(
                    parent: instance, definitions: template.slotted, isReplacing: true, base: template.base,
                    isRemade: true))
        }
    }

    private func differs(_ row: UInt32, _ definition: NodeDefinition, _ isReplacing: Bool) -> Bool {
        for attribute in definition.attributes {
            guard let existing = graph.ownAttribute(attribute.name, of: row),
                let old = graph.record(existing).definition, old == attribute,
                !attribute.author.replaces(old.author)
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
}

extension Planning.Siblings {
    fileprivate mutating func take() -> (NodeDefinition, Slot)? {
        guard next < children.definitions.count else { return nil }
        next += 1
        return children.definitions[next - 1]
    }
}
