import AttributeValues
import SceneModel

// Planning works out how a document changes the tree. It changes nothing itself, but takes a while for many nodes, so
// it is done in slices.

/// A plan that is being made. It reads the tree as it was when it was begun, and changes nothing.
public final class Planning {
    public internal(set) var plan: ScenePlan
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
    /// The named layer that the document is; nil if it changes the edits.
    let layer: LayerName?
    /// The named layers from now on.
    var layers: NamedLayers
    /// The children below the edits as they are planned, by parent.
    private var plannedBelow: [NodeRow: [ObjectIdentifier]] = [:]
    /// The children that the plan creates. If a document makes one that a component declared in it has, too, that of
    /// the document counts; documents are planned first.
    private var created: Set<Creation> = []

    private struct Creation: Hashable {
        var parent: NodeRow
        var id: Name
    }

    /// The nodes that the plan changes, as they are planned so far.
    private var planned: [NodeRow: (content: PartContent, bottom: NodeDefinition?)] = [:]
    /// The parts of nodes that are made from a component that the plan declares anew, as they will be.
    private var renewed: [NodeRow: PartContent] = [:]
    /// Their nodes, outer ones last.
    private var renewedLeft: [NodeRow] = []
    private var pending: [Children]
    private var current: Siblings?
    private var growth = Wiring.Growth()
    /// Steps that the change itself will take.
    private var cost: Int
    /// Nodes that the document changes, or to which it gives others.
    private(set) var touched: Set<NodeRow> = []
    /// The nodes that change: what is below them is connected again.
    private var connected: Set<NodeRow> = []
    private var isComplete = false
    private var lastCompared: (pair: (ObjectIdentifier, ObjectIdentifier), isOther: Bool)?

    fileprivate init(
        _ graph: Wiring, _ scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode, as layer: LayerName?,
        isTold: Bool, isKept: Bool, isBuilt: Bool
    ) {
        self.layer = layer
        layers = graph.nodes.layers
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
        cost = scene.values.count * PlanCost.value
        pending = []
        if layer == nil {
            pending.append(
                Children(
                    parent: node.row, definitions: scene.nodes.map { ($0, .content) }, isReplacing: mode == .replace))
        }
    }

    /// The number of entries in `pending` that the document has.
    private var documents: Int { layer == nil ? 1 : 0 }

    /// Plans children of a node again, of which named layers say something else than before. Outer ones come last.
    func planLayered(_ ids: Set<Name>, below row: NodeRow, _ children: [(definition: NodeDefinition, slot: Slot)]) {
        // Documents are planned first.
        pending.insert(
            Children(
                parent: row, definitions: children.map { ($0.definition, $0.slot) }, isBelow: true, only: ids),
            at: pending.count - documents)
    }

    func chargeUpdate() { cost += PlanCost.update }

    /// Charges new nodes that are made in one turn.
    func chargeAtOnce(_ growth: Wiring.Growth) { cost += Budget.cost(ofMaking: growth) }

    /// - Throws: `limit` if the change costs more than the request may use.
    func refuseCost() throws(Failure) { try graph.budget.refusePlan(cost) }

    func noteAdded(_ path: String, _ growth: Wiring.Growth) {
        plan.added.append(path)
        self.growth += growth
        cost += growth.costAtOnce
    }

    /// Reads again what the edits say of nodes whose components the document declares anew.
    fileprivate func renew() throws(Failure) {
        let (new, known) = (scene.declarations.components, graph.declarations.components)
        for row in graph.nodes.findOutdated(by: new, over: known) {
            cost += PlanCost.row
            var content = graph.nodes.content(of: row)
            func read(_ said: NodeDefinition?) throws(Failure) -> NodeDefinition? {
                guard let said, case .map(var fields) = Persistence.written(said) else { return said }
                if !content.isMade, said === content.members { fields["kind"] = nil }
                fields["id"] = .string(graph.nodes[row].id.text)
                let names = ReferredNames(in: graph.nodes[row].definition).all
                let document: Value = [
                    "agd": 1, "nodes": [.map(fields)], "dangling": .list(names.map { .string($0) }),
                ]
                guard
                    let read = try graph.read(document, at: graph.nodes[row].parent, with: scene.declarations)
                        .nodes.first
                else { return said }
                guard read.givenSlot != said.givenSlot || read.layer != said.layer else { return read }
                let made = NodeDefinition(copyOf: read, id: read.id)
                (made.givenSlot, made.layer) = (said.givenSlot, said.layer)
                return made
            }
            do throws(Failure) {
                let said = try read(content.said)?.withoutGivenChildren
                if content.isMade, let said, said.kind != graph.nodes[row].kind {
                    throw Failure(.conflict, "its component is a \(said.kind.rawValue) there")
                }
                content.said = said
                content.members = try read(content.members)
            } catch {
                throw Failure(
                    .conflict, "\(graph.nodes.path(of: row)) does not fit a new declaration: \(error.message)",
                    path: graph.nodes.path(of: row), hint: "remove the node first, or declare another component")
            }
            renewed[row] = content
        }
        renewedLeft = renewed.keys.map { (depth: nodes.depth(of: $0), row: $0) }.sorted { $0 > $1 }.map(\.row)
    }

    /// Children of a node that are still to be planned.
    fileprivate struct Children {
        var parent: NodeRow
        var definitions: [(NodeDefinition, Slot)]
        var isReplacing = false
        /// The layers below the edits give the node these children.
        var isBelow = false
        /// If set, only the children with these ids differ from before.
        var only: Set<Name>?
        /// For children that the document has: those that the layers below the edits will give the node, if these are
        /// others than before.
        var below: Set<Name>?
    }

    /// Children that are being planned, and which one is next.
    fileprivate struct Siblings {
        var children: Children
        var next = 0
        var prefix: String
        var depth: Int
    }
}

extension Wiring {
    /// Plans a whole document in one turn. The comparisons are charged, too.
    /// - Throws: `conflict` for an id that exists already (create), `limit` when the graph would
    ///   become too large or too deep.
    public func planned(
        _ scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode, as layer: LayerName? = nil, isTold: Bool = false,
        isKept: Bool = false, isBuilt: Bool = false
    ) throws(Failure) -> Planning {
        let planning = try planning(
            of: scene, at: node, mode, as: layer, isTold: isTold, isKept: isKept, isBuilt: isBuilt)
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
        of scene: SceneDefinition, at node: NodeID, _ mode: ApplyMode, as layer: LayerName? = nil, isTold: Bool = false,
        isKept: Bool = false, isBuilt: Bool = false
    ) throws(Failure) -> Planning {
        guard nodes[node.row].kind != .forEach else {
            throw Failure(
                .conflict, "\(path(of: node)) is made from data", path: path(of: node),
                hint: "change the list it is made from")
        }
        guard nodes[node.row].kind != .view || scene.nodes.isEmpty else {
            throw Failure(
                .conflict, "\(path(of: node)) is a view, which takes no children", path: path(of: node),
                hint: "make it a container or a group")
        }
        try refuseFormerPlaces(of: scene, at: node.row)
        let planning = Planning(
            self, scene, at: node, mode, as: layer, isTold: isTold, isKept: isKept, isBuilt: isBuilt)
        try planning.renew()
        try planning.planLayers(scene, at: node.row)
        return planning
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
                while pending.isEmpty, let row = renewedLeft.popLast() { planRenewed(row) }
                guard let next = pending.popLast() else { break }
                if next.isBelow, !beginBelow(next) { continue }
                current = siblings(next)
            }
            while let (definition, slot) = current?.take() {
                steps -= PlanCost.update
                if current?.children.isBelow == true {
                    try planBelow(definition, slot)
                } else {
                    try plan(definition, slot)
                }
                try chargeNews()
                if steps <= 0 { return false }
            }
            if let done = current?.children {
                if done.isBelow {
                    planLosses(besides: done)
                    if plan.layers != nil { try refuseSharedIDs(below: done) }
                } else {
                    if done.isReplacing { planRemovals(besides: done) }
                    try refuseSharedIDs(done)
                }
            }
            current = nil
        }
        if plan.untoldDifferences > 0 {
            plan.differences.append("and \(plan.untoldDifferences) more")
        }
        try graph.refuse(growth)
        try refuseExcess()
        try refuseLost()
        if !isKept { try refuseRetyping() }
        isComplete = true
        return true
    }

    /// - Returns: false if these children are planned already, or go.
    private func beginBelow(_ children: Children) -> Bool {
        let definitions = children.definitions.map { ObjectIdentifier($0.0) }
        let known = plannedBelow.updateValue(definitions, forKey: children.parent)
        guard children.only != nil else { return known != definitions }
        let gone = Set(plan.removals + plan.losses)
        return known == nil && (gone.isEmpty || !nodes.upward(from: children.parent).contains { gone.contains($0) })
    }

    private func siblings(_ children: Children) -> Siblings {
        let row = children.parent
        let path = nodes.path(of: row)
        return Siblings(
            children: children,
            prefix: row == .root ? "/" : path + "/", depth: nodes.depth(of: row))
    }

    /// What the edits say of a node, as far as it is planned.
    private func content(of row: NodeRow) -> PartContent {
        renewed[row] ?? planned[row]?.content ?? nodes.content(of: row)
    }

    private func bottom(of row: NodeRow) -> NodeDefinition? { planned[row].map(\.bottom) ?? nodes.bottom(of: row) }

    /// Plans a node of the document.
    private func plan(_ definition: NodeDefinition, _ slot: Slot) throws(Failure) {
        guard let siblings = current else { return }
        let (row, isReplacing) = (siblings.children.parent, siblings.children.isReplacing)
        let isNamed = !definition.kind.isTransparent
        // Paths do not name a choice, so its parent counts as changed.
        let name = isNamed ? siblings.prefix + AttributePath.quoteIfNeeded(definition.id.text) : nodes.path(of: row)
        func create() throws(Failure) {
            touched.insert(row)
            let bottom =
                nodes[row].part?.removed.contains(definition.id) == true
                ? nodes.childrenBelowEdits(of: row).first { $0.definition.id == definition.id }?.definition : nil
            if let bottom, definition.canComplete(bottom) {
                let whole = definition.completing(bottom)
                try refuseSharedIDs(in: whole, name)
                try planCreation(
                    whole, slot, isContent: bottom.isContent, .completed(by: definition, over: bottom))
                plan.childrenBelow.append((row, nodes.childrenBelowEdits(of: row).map(\.definition.id)))
            } else {
                try planCreation(definition, slot, isContent: nodes.isComponentRoot(row), .edits)
            }
        }
        let found = nodes.child(definition.id, of: row)
        // A merged document also completes nodes in branches.
        let inBranch = isNamed && found == nil ? nodes.visibleChild(definition.id, of: row) : nil
        guard let existing = found ?? (isReplacing ? nil : inBranch) else {
            if isNamed { plan.added.append(name) } else { plan.changed.append(name) }
            return try create()
        }
        guard mode != .create, nodes[existing].isTransparent != isNamed else {
            throw Failure(
                .conflict, "\(isNamed ? name : "\(definition.id) in \(name)") exists already", path: name,
                hint: "apply with mode merge; replace also removes its siblings")
        }
        let old = nodes[existing]
        if let below = siblings.children.below, !below.contains(definition.id), !nodes.isMade(existing) {
            // The component no longer has it, and the document gives another one.
            cost += PlanCost.removal
            plan.losses.append(existing)
            plan.changed.append(name)
            return try create()
        }
        guard canBecome(definition, old, isReplacing) else {
            cost += PlanCost.removal
            plan.removals.append(existing)
            plan.changed.append(name)
            return try create()
        }
        let given = definition.givenSlot ?? (isReplacing ? nil : old.definition.givenSlot)
        let isElsewhere = old.slot != slot || old.definition.givenSlot != given
        if isElsewhere { plan.slots.append((existing, slot, isSaid: true)) }
        growth.attributes += definition.attributes.count { graph.ownAttribute($0.name, of: existing) == nil }
        let bottom = bottom(of: existing)
        var isOther = isElsewhere || isMadeAnew(definition, old.definition)
        var content = PartContent()
        var target = definition
        if isReplacing {
            content = .saying(definition, isMade: nodes.isMade(existing), over: bottom)
            target = content.compose(over: bottom) ?? definition
            isOther = differs(existing, target, true) || isOther
        } else {
            isOther = differs(existing, definition, false) || isOther
        }
        let isMadeFromData = definition.forEach != nil
        var newBelow: [(NodeDefinition, Slot)]?
        if isOther {
            touched.insert(existing)
            if !isReplacing {
                content = self.content(of: existing)
                content.merge(definition, into: old.definition)
                target = content.compose(over: bottom) ?? definition
            }
            cost += costOfChange(existing, definition, isReplacing)
            if isElsewhere { cost += nodes.everything(in: existing).count * Budget.stepsPerGiven }
            plan.changed.append(name)
            if isTold { tell(describeDifferences(existing, target)) }
            update(existing, target, content, over: bottom, isSaid: true)
            let isRenewed = renewed.removeValue(forKey: existing) != nil
            if target.forEach != nil {
                // A document can complete a list whose component it declares anew.
                if isMadeFromData || isRenewed { planInstances(of: existing, target) }
            } else if isRenewed || definition.base != nil {
                let children = below(content, over: bottom, existing)
                newBelow = children
                pending.append(Children(parent: existing, definitions: children, isBelow: true))
            }
        }
        if isMadeFromData { return }
        pending.append(
            Children(
                parent: existing, definitions: definition.given.map { ($0.definition, $0.slot) },
                isReplacing: isReplacing, below: newBelow.map { Set($0.map(\.0.id)) }))
    }

    private func planCreation(
        _ definition: NodeDefinition, _ slot: Slot, isContent: Bool, _ origin: ScenePlan.Origin
    ) throws(Failure) {
        guard let siblings = current else { return }
        let row = siblings.children.parent
        cost += PlanCost.creation
        created.insert(Creation(parent: row, id: definition.id))
        plan.creations.append((row, definition, slot, isContent, origin))
        if isBuilt { return }
        let isShownElsewhere = isContent && nodes.firstPlacing(of: row) != nil
        let added = try graph.additions(
            by: definition, below: siblings.depth, isGiven: isShownElsewhere, scene.declarations)
        growth += added
        cost += added.costAtOnce
    }

    private func update(
        _ row: NodeRow, _ target: NodeDefinition, _ content: PartContent, over bottom: NodeDefinition?, isSaid: Bool,
        isOther: Bool = true
    ) {
        if isOther { plan.changes.append(row) }
        planned[row] = (content, bottom)
        plan.updates.append(.init(row: row, definition: target, content: content, bottom: bottom, isSaid: isSaid))
    }

    private func below(
        _ content: PartContent, over bottom: NodeDefinition?, _ row: NodeRow
    ) -> [(NodeDefinition, Slot)] {
        let children = content.children(over: bottom)
        if layers.isEmpty || nodes[row].kind == .view { return children.map { ($0.definition, $0.slot) } }
        let isUse = content.compose(over: bottom)?.component != nil
        return layers.layered(children, below: nodes.key(of: row), isUse: isUse).map { ($0.definition, $0.slot) }
    }

    /// Plans a child that the layers below the edits give a node.
    private func planBelow(_ definition: NodeDefinition, _ slot: Slot) throws(Failure) {
        guard let siblings = current else { return }
        let row = siblings.children.parent
        let isNamed = !definition.kind.isTransparent
        let name = isNamed ? siblings.prefix + AttributePath.quoteIfNeeded(definition.id.text) : nodes.path(of: row)
        if let only = siblings.children.only, !only.contains(definition.id) { return }
        if nodes[row].part?.removed.contains(definition.id) == true {
            guard siblings.children.only != nil, layer != nil else { return }
            plan.added.append(name)
            return try planCreation(definition, slot, isContent: definition.isContent, .restored)
        }
        if created.contains(Creation(parent: row, id: definition.id)) { return }
        guard let existing = nodes.child(definition.id, of: row) else {
            if isNamed { plan.added.append(name) } else { plan.changed.append(name) }
            return try planCreation(definition, slot, isContent: definition.isContent, .below)
        }
        let old = nodes[existing]
        if nodes.isMade(existing) { return }
        guard nodes.canFollow(definition, existing) else {
            cost += PlanCost.removal
            plan.losses.append(existing)
            plan.changed.append(name)
            return try planCreation(definition, slot, isContent: definition.isContent, .below)
        }
        planBottom(existing, definition, name)
        if old.slot != slot, old.part?.isElsewhere != true { plan.slots.append((existing, slot, isSaid: false)) }
    }

    /// Plans what a node becomes if the layers below the edits say something else of it.
    private func planBottom(_ row: NodeRow, _ bottom: NodeDefinition, _ name: String) {
        let old = nodes[row].definition
        let content = content(of: row)
        let target = content.compose(over: bottom) ?? bottom
        let isSaid = renewed.removeValue(forKey: row) != nil
        let isOther = differs(row, target, true)
        if isOther {
            cost += costOfChange(row, target, true)
            plan.changed.append(name)
            if isTold { tell(describeDifferences(row, target)) }
        } else {
            cost += PlanCost.update
        }
        if old !== target || isSaid {
            update(row, target, content, over: bottom, isSaid: isSaid, isOther: isOther)
        }
        growth.attributes += target.attributes.count { graph.ownAttribute($0.name, of: row) == nil }
        if target.forEach != nil {
            planInstances(of: row, target)
        } else {
            pending.append(Children(parent: row, definitions: below(content, over: bottom, row), isBelow: true))
        }
    }

    /// Plans the nodes whose components are declared anew, and which the document does not name.
    private func planRenewed(_ row: NodeRow) {
        guard let content = renewed.removeValue(forKey: row) else { return }
        let gone = Set(plan.removals + plan.losses)
        if !gone.isEmpty, nodes.upward(from: row).contains(where: { gone.contains($0) }) { return }
        let bottom = bottom(of: row)
        guard let target = content.compose(over: bottom) else { return }
        if differs(row, target, true) {
            cost += costOfChange(row, target, true)
            plan.changed.append(nodes.path(of: row))
            if isTold { tell(describeDifferences(row, target)) }
        }
        update(row, target, content, over: bottom, isSaid: true)
        if target.forEach != nil {
            planInstances(of: row, target)
        } else {
            pending.append(Children(parent: row, definitions: below(content, over: bottom, row), isBelow: true))
        }
    }

    /// True if a document makes a node from another definition of its component than before.
    private func isMadeAnew(_ definition: NodeDefinition, _ old: NodeDefinition) -> Bool {
        guard let new = definition.base, let known = old.base, new !== known else { return false }
        let pair = (ObjectIdentifier(new), ObjectIdentifier(known))
        if let last = lastCompared, last.pair == pair { return last.isOther }
        let isOther = !new.makesSame(as: known)
        lastCompared = (pair, isOther)
        return isOther
    }

    /// Steps for a node that changes, and for the nodes below, which are connected again: each once.
    private func costOfChange(_ row: NodeRow, _ definition: NodeDefinition, _ isReplacing: Bool) -> Int {
        let gone = isReplacing ? nodes[row].attributes.count : 0
        let isInside = nodes.upward(from: row).contains { connected.contains($0) }
        connected.insert(row)
        return PlanCost.change + PlanCost.attribute * (definition.attributes.count + gone)
            + (isInside ? 0 : nodes.subtree(of: row).count * PlanCost.below)
    }

    /// - Throws: `conflict` when a node beside a choice would have the id of one in its branches.
    private func refuseSharedIDs(_ done: Children) throws(Failure) {
        let parent = nodes[done.parent]
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
        let gone = done.isReplacing ? Set(plan.removals) : []
        for child in parent.children where !named.contains(nodes[child].id) && !gone.contains(child) {
            taken = ids.add(nodes[child].definition, as: nodes[child].id) ?? taken
        }
        if let taken { throw sharedID(AttributePath.describe(nodes: nodes.ids(of: done.parent) + [taken])) }
    }

    /// - Throws: the same for the children that named layers give a node, beside those that the edits make.
    private func refuseSharedIDs(below done: Children) throws(Failure) {
        let parent = nodes[done.parent]
        guard parent.hasTransparentChildren || done.definitions.contains(where: { $0.0.kind == .choice }) else {
            return
        }
        var ids = SiblingIDs()
        var taken: Name?
        let made = parent.children.filter { nodes.isMade($0) }
        let madeIDs = Set(made.map { nodes[$0].id })
        for (definition, _) in done.definitions
        where !madeIDs.contains(definition.id) && parent.part?.removed.contains(definition.id) != true {
            taken = ids.add(definition) ?? taken
        }
        for child in made { taken = ids.add(nodes[child].definition, as: nodes[child].id) ?? taken }
        if let taken { throw sharedID(AttributePath.describe(nodes: nodes.ids(of: done.parent) + [taken])) }
    }

    /// - Throws: the same for a node that comes back with what the layers below say of it, and for all nodes in it.
    private func refuseSharedIDs(in definition: NodeDefinition, _ path: String) throws(Failure) {
        var open = [(definition, path)]
        while let (node, path) = open.popLast() {
            let children = node.slotted.map(\.0)
            func place(_ id: Name) -> String { "\(path)/\(AttributePath.quoteIfNeeded(id.text))" }
            open += children.map { ($0, place($0.id)) }
            guard children.contains(where: { $0.kind == .choice }) else { continue }
            var ids = SiblingIDs()
            for child in children {
                if let taken = ids.add(child) { throw sharedID(place(taken)) }
            }
        }
    }

    private func sharedID(_ path: String) -> Failure {
        Failure(
            .conflict, "\(path) would exist in a branch and next to it", path: path, hint: "give one of them another id"
        )
    }

    /// Plans the end of what the edits say of nodes that the document does not mention.
    private func planRemovals(besides done: Children) {
        let named = Set(done.definitions.map(\.0.id))
        let below = Set(nodes.childrenBelowEdits(of: done.parent).map(\.definition.id))
        for child in nodes[done.parent].children
        where nodes.isMade(child) && !named.contains(nodes[child].id) && !below.contains(nodes[child].id) {
            cost += PlanCost.removal
            plan.removals.append(child)
            touched.insert(done.parent)
            tellGone(child)
        }
        plan.orders.append((done.parent, done.definitions.map(\.0)))
    }

    /// Plans the end of nodes that the layers below the edits no longer have.
    private func planLosses(besides done: Children) {
        let ids = done.definitions.map(\.0.id)
        let known = Set(ids)
        let gone = Set(plan.removals + plan.losses)
        for child in nodes[done.parent].children
        where !known.contains(nodes[child].id) && !nodes.isMade(child) && !gone.contains(child) {
            cost += PlanCost.removal
            plan.losses.append(child)
            tellGone(child)
        }
        plan.childrenBelow.append((done.parent, ids))
    }

    /// Paths do not name a choice, so its parent counts as changed.
    private func tellGone(_ row: NodeRow) {
        let path = nodes.path(of: row)
        if nodes[row].isTransparent { plan.changed.append(path) } else { plan.removed.append(path) }
    }

    private func tell(_ lines: [String]) {
        let left = max(0, ScenePlan.toldDifferences - plan.differences.count)
        plan.differences += lines.prefix(left)
        plan.untoldDifferences += max(0, lines.count - left)
    }

    /// True if a node can take a definition and keep its states.
    private func canBecome(_ definition: NodeDefinition, _ old: NodeRecord, _ isReplacing: Bool) -> Bool {
        guard old.kind == definition.kind else { return false }
        // A merged document need not name the component again.
        return old.definition.component == definition.component || (!isReplacing && definition.component == nil)
    }

    /// Plans what existing instances become under a changed definition of their `forEach`.
    private func planInstances(of row: NodeRow, _ target: NodeDefinition) {
        guard let made = target.forEach, let old = nodes[row].definition.forEach, !made.isSame(as: old) else {
            return
        }
        cost += nodes[row].children.count * (PlanCost.update + PlanCost.change)
        guard made.choice == old.choice, made.idField == old.idField, made.elementName == old.elementName,
            made.indexName == old.indexName,
            made.choice != nil
                || zip(made.templates, old.templates).allSatisfy({ $0.kind == $1.kind && $0.component == $1.component })
        else { return plan.restarts.append(row) }
        for instance in nodes[row].children {
            // A branch that the choice no longer has is removed when the choice is updated.
            guard let template = made.template(for: .string(nodes[instance].id.text)) else { continue }
            let content = content(of: instance)
            let isSaid = renewed.removeValue(forKey: instance) != nil
            update(
                instance, content.compose(over: template) ?? template, content, over: template, isSaid: isSaid,
                isOther: false)
            pending.append(
                Children(parent: instance, definitions: below(content, over: template, instance), isBelow: true))
        }
    }

    private func differs(_ row: NodeRow, _ definition: NodeDefinition, _ isReplacing: Bool) -> Bool {
        for attribute in definition.attributes {
            guard let existing = graph.ownAttribute(attribute.name, of: row),
                let old = graph.record(existing).definition, old == attribute,
                !attribute.author.replaces(old.author)
            else { return true }
        }
        let names = Set(definition.attributes.map(\.name))
        if isReplacing,
            nodes[row].attributes.contains(where: { !names.contains($0.name) && $0.name != "elements" })
        {
            return true
        }
        let target = isReplacing ? definition : definition.merged(over: nodes[row].definition)
        if let made = definition.forEach, nodes[row].definition.forEach.map({ !made.isSame(as: $0) }) ?? true {
            return true
        }
        return !target.hasSameModifiers(as: nodes[row].definition)
    }
}

extension Planning.Siblings {
    fileprivate mutating func take() -> (NodeDefinition, Slot)? {
        guard next < children.definitions.count else { return nil }
        next += 1
        return children.definitions[next - 1]
    }
}
