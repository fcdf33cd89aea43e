import AttributeValues
import SceneModel

// How a document changes the tree is worked out in slices: a plan of many nodes takes a while, though it changes nothing.

/// A plan that is being made. It holds for the tree as it was when it was begun: see `ViewGraph.isCurrent`.
public final class Planning {
    public fileprivate(set) var plan: ScenePlan
    fileprivate let scene: SceneDefinition
    fileprivate let mode: ApplyMode
    /// `differences` are wanted.
    fileprivate let isTold: Bool
    /// It was accepted once, and comes from a store: what only later versions refuse is admitted.
    fileprivate let isKept: Bool
    /// Its new nodes are made already, and count towards the limits.
    fileprivate let isBuilt: Bool
    /// What the document declares is declared, so that a node which does not differ need not be touched.
    fileprivate let isDeclared: Bool
    fileprivate let version: UInt64
    fileprivate var pending: [Children] = []
    fileprivate var current: Siblings?
    fileprivate var growth = ViewGraph.Growth()
    /// Steps that the change itself will take.
    fileprivate var cost = 0
    fileprivate var isComplete = false

    fileprivate init(
        _ plan: ScenePlan, _ scene: SceneDefinition, _ mode: ApplyMode, isTold: Bool, isKept: Bool, isBuilt: Bool,
        isDeclared: Bool, version: UInt64
    ) {
        self.plan = plan
        self.scene = scene
        self.mode = mode
        self.isTold = isTold
        self.isKept = isKept
        self.isBuilt = isBuilt
        self.isDeclared = isDeclared
        self.version = version
    }

    /// Children of a node that are still to be planned.
    fileprivate struct Children {
        var parent: UInt32
        var definitions: [(NodeDefinition, Slot)]
        var isReplacing: Bool
        /// The component that the parent will have been made from.
        var base: NodeDefinition?
        /// A template says what they are, and not the document.
        var isRemade = false
    }

    /// Those that are being planned, and how far that has come.
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
    /// Plans in one turn, for which the comparisons are charged, too.
    /// - Throws: `conflict` for an id that exists already (create), `limit` when the graph would become too large or too deep.
    public func planned(
        _ scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode, isTold: Bool = false, isKept: Bool = false
    ) throws(Failure) -> Planning {
        let planning = try planning(of: scene, at: node, mode, isTold: isTold, isKept: isKept)
        try finishPlanning(planning)
        return planning
    }

    func finishPlanning(_ planning: Planning) throws(Failure) {
        while true {
            let all = max(stepsLeft, 1)
            var steps = all
            let isDone = try advance(planning, &steps)
            try charge(planning: all - steps)
            if isDone { return }
        }
    }

    /// Begins to plan.
    public func planning(
        of scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode, isTold: Bool = false, isKept: Bool = false
    ) throws(Failure) -> Planning {
        try planning(of: scene, at: node, mode, isTold: isTold, isKept: isKept, isBuilt: false)
    }

    func planning(
        of scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode, isTold: Bool = false, isKept: Bool = false,
        isBuilt: Bool
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
        var plan = ScenePlan(declarations: scene.declarations, top: node.row)
        let place = nodes.ids(of: node.row)
        plan.values = scene.values.map { path, value in
            (AttributePath(nodes: place + path.nodes, attribute: path.attribute, steps: path.steps), value)
        }
        let planning = Planning(
            plan, scene, mode, isTold: isTold, isKept: isKept, isBuilt: isBuilt,
            isDeclared: hasDeclared(scene.declarations), version: nodes.changes)
        planning.cost = scene.values.count * PlanCost.value
        planning.pending = [
            Planning.Children(
                parent: node.row, definitions: scene.nodes.map { ($0, .content) }, isReplacing: mode == .replace,
                base: nodes[Int(node.row)].definition.base)
        ]
        return planning
    }

    /// Charges a part of a document that is done in one turn. Scenes at a start are paid for.
    func charge(planning steps: Int) throws(Failure) { if persistence.notesChanges { try charge(steps) } }

    /// Whether the tree is as it was when the plan was begun. Otherwise it can only be dropped.
    public func isCurrent(_ planning: Planning) -> Bool { planning.version == nodes.changes }

    /// Compares nodes with the document until the steps are used up. Call it only while `isCurrent` is true. What the change will take is
    /// charged to the request.
    /// - Returns: whether the plan is complete.
    public func advance(_ planning: Planning, _ steps: inout Int) throws(Failure) -> Bool {
        if planning.isComplete { return true }
        // Each slice has the steps of a whole request.
        var charged = 0
        func chargeNews() throws(Failure) {
            // Its new nodes were made, and the rest of it charged, before it is linked.
            if !planning.isBuilt { try charge(planning: planning.cost - charged) }
            charged = planning.cost
        }
        while true {
            try chargeNews()
            if planning.current == nil {
                guard let next = planning.pending.popLast() else { break }
                planning.current = siblings(next)
            }
            while let (definition, slot) = planning.current?.take() {
                steps -= PlanCost.update
                try plan(definition, slot, planning)
                try chargeNews()
                if steps <= 0 { return false }
            }
            if let done = planning.current?.children {
                try refuseSharedIDs(done)
                if done.isReplacing { try planRemovals(besides: done, planning) }
            }
            planning.current = nil
        }
        if planning.plan.untoldDifferences > 0 {
            planning.plan.differences.append("and \(planning.plan.untoldDifferences) more")
        }
        try refuse(planning.growth)
        try refuseExcess(planning.scene.declarations, planning.plan)
        if !planning.isKept { try refuseRetyping(planning.scene.declarations, planning.plan) }
        planning.isComplete = true
        return true
    }

    private func siblings(_ children: Planning.Children) -> Planning.Siblings {
        let row = children.parent
        let path = nodes.path(of: row)
        return Planning.Siblings(
            children: children, origin: ChildOrigin(in: children.base, isComponentRoot: isComponentRoot(row)),
            prefix: row == NodeID.root.row ? "/" : path + "/", depth: nodes.depth(of: row))
    }

    private func plan(_ definition: NodeDefinition, _ slot: Slot, _ planning: Planning) throws(Failure) {
        guard let siblings = planning.current else { return }
        let (row, isReplacing, origin) = (siblings.children.parent, siblings.children.isReplacing, siblings.origin)
        let isRemade = siblings.children.isRemade
        let isNamed = !definition.kind.isTransparent
        // Nobody sees a choice: its parent is what has changed.
        let name = isNamed ? siblings.prefix + AttributePath.quoteIfNeeded(definition.id) : nodes.path(of: row)
        func create() throws(Failure) {
            planning.cost += PlanCost.creation
            if isRemade { planning.plan.remadeCreations.insert(planning.plan.creations.count) }
            planning.plan.creations.append((row, definition, slot, origin.isGiven(definition)))
            if planning.isBuilt { return }
            planning.growth += try additions(by: definition, below: siblings.depth, planning.scene.declarations)
        }
        let found = nodes.child(definition.id, of: row)
        // A merged document completes what stands in a branch, too.
        let inBranch = isNamed && found == nil ? nodes.visibleChild(definition.id, of: row) : nil
        guard let existing = found ?? (isReplacing ? nil : inBranch) else {
            if isNamed { planning.plan.added.append(name) } else { planning.plan.changed.append(name) }
            return try create()
        }
        guard planning.mode != .create, nodes[Int(existing)].isTransparent != isNamed else {
            throw Failure(
                .conflict, "\(isNamed ? name : "\(definition.id) in \(name)") exists already", path: name,
                hint: "apply with mode merge; replace also removes the nodes beside it")
        }
        let old = nodes[Int(existing)]
        guard canBecome(definition, old, isReplacing) else {
            planning.cost += PlanCost.removal
            planning.plan.removals.append(existing)
            planning.plan.changed.append(name)
            return try create()
        }
        if old.slot != slot { planning.plan.slots.append((existing, slot)) }
        let isContent = isReplacing ? origin.isGiven(definition) : origin.isGiven(definition, over: old)
        let isOther =
            differs(existing, definition, isReplacing) || old.slot != slot || old.isContent != isContent
        if isOther {
            planning.cost += PlanCost.change
            planning.plan.changed.append(name)
            planning.plan.changes.append(existing)
            if planning.isTold { tell(describeDifferences(existing, definition, isReplacing), in: &planning.plan) }
        }
        // What a component or a list makes depends on more than the node says.
        let isPlain = definition.component == nil && old.definition.component == nil && definition.forEach == nil
        if isOther || isRemade || !isPlain || !planning.isDeclared {
            planning.plan.updates.append((existing, definition, isReplacing, isContent))
        }
        if isRemade { planning.plan.remade.insert(existing) }
        planning.growth.attributes += definition.attributes.count { ownAttribute($0.name, of: existing) == nil }
        if let made = definition.forEach {
            if old.definition.forEach.map({ !made.isSame(as: $0) }) == true {
                planning.cost += old.children.count * (PlanCost.update + PlanCost.change)
            }
            planInstances(of: existing, made, planning)
        } else {
            planning.pending.append(
                Planning.Children(
                    parent: existing, definitions: definition.slotted, isReplacing: isReplacing,
                    base: definition.base ?? (isReplacing ? nil : old.definition.base), isRemade: isRemade))
        }
    }

    /// - Throws: `conflict` when a node beside a choice would have the id of one in its branches.
    private func refuseSharedIDs(_ done: Planning.Children) throws(Failure) {
        let parent = nodes[Int(done.parent)]
        guard parent.hasTransparentChildren || done.definitions.contains(where: { $0.0.kind == .choice }) else {
            return
        }
        var ids = SiblingIDs()
        var taken: String?
        var named: Set<String> = []
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
            .conflict, "\(path) would be in a branch and beside it", path: path, hint: "give one of them another id")
    }

    private func planRemovals(besides done: Planning.Children, _ planning: Planning) throws(Failure) {
        let kept = Set(done.definitions.map(\.0.id))
        for child in nodes[Int(done.parent)].children where !kept.contains(nodes[Int(child)].id) {
            planning.cost += PlanCost.removal
            planning.plan.removals.append(child)
            if nodes[Int(child)].isTransparent {
                planning.plan.changed.append(nodes.path(of: child))
            } else {
                planning.plan.removed.append(nodes.path(of: child))
            }
        }
        planning.plan.orders.append((done.parent, done.definitions.map(\.0)))
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
        of row: UInt32, _ made: ForEachDefinition, _ planning: Planning
    ) {
        guard let old = nodes[Int(row)].definition.forEach, !made.isSame(as: old) else { return }
        guard made.choice == old.choice, made.idField == old.idField, made.elementName == old.elementName,
            made.indexName == old.indexName,
            made.choice != nil
                || zip(made.templates, old.templates).allSatisfy({ $0.kind == $1.kind && $0.component == $1.component })
        else { return planning.plan.restarts.append(row) }
        planning.plan.templates.insert(row)
        for instance in nodes[Int(row)].children {
            // A branch that the choice has no more goes when it is looked at again.
            guard let template = made.template(for: .string(nodes[Int(instance)].id)) else { continue }
            planning.plan.updates.append((instance, template, true, false))
            planning.plan.remade.insert(instance)
            planning.pending.append(
                Planning.Children(
                    parent: instance, definitions: template.slotted, isReplacing: true, base: template.base,
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
}

extension Planning.Siblings {
    fileprivate mutating func take() -> (NodeDefinition, Slot)? {
        guard next < children.definitions.count else { return nil }
        next += 1
        return children.definitions[next - 1]
    }
}
