import AttributeGraph
import AttributeValues
import SceneModel

// Performing a plan.

extension ViewGraph {
    /// Performs a plan. Afterwards the tree is settled; nothing else has been evaluated.
    /// - Parameter construction: the new nodes of this plan or of an earlier one with the same `creations`, if they
    ///   were made ahead.
    /// - Returns: the paths in `values` where no state takes the value.
    @discardableResult
    public func perform(_ plan: ScenePlan, _ construction: Construction? = nil) -> [String] {
        // New states belong to this change, not to the one before.
        engine.advanceRevision()
        let before = declarations
        declareNames(plan.declarations)
        if let layers = plan.layers {
            nodes.layers = layers
            persistence.forgetIDsBelow()
            for change in plan.layerChanges { persistence.note(change) }
        }
        destroySubtrees(plan.removals)
        for row in plan.losses { persistence.noteLost(row) }
        persistence.isLosing = true
        destroySubtrees(plan.losses)
        persistence.isLosing = false
        for row in plan.restarts {
            persistence.forgetAbsentRows(below: [row])
            removeInstances(of: row)
        }
        var begun: [AttributeID] = []
        for update in plan.updates where nodes.isAlive(update.row) {
            if update.isSaid {
                persistence.set(update.content, over: update.bottom, of: update.row)
            } else {
                nodes.set(update.content, over: update.bottom, of: update.row)
            }
            // Children in other parts than before may have the same keys.
            if nodes[update.row].definition.slots != update.definition.slots {
                persistence.noteOrder(below: update.row)
            }
            let before = nodes[update.row].attributes
            begun += redefineNode(update.row, update.definition)
            if persistence.notesChanges { stored.giveWaiting(to: update.row, besides: before) }
        }
        for (row, slot, isSaid) in plan.slots where nodes.isAlive(row) { put(row, into: slot, isSaid: isSaid) }
        if let construction { link(construction, before) }
        let redefined = construction == nil ? [] : Set(plan.updates.map(\.row))
        for (position, (parent, definition, slot, isContent, origin)) in plan.creations.enumerated() {
            let made = construction?.tops[position] ?? instantiate(definition, under: parent, slot: slot)
            nodes[made].isContent = isContent
            unsettled.regrouped.insert(parent)
            if !persistence.notesChanges { continue }
            switch origin {
            case .edits:
                persistence.forgetRemoved(definition.id, from: parent)
                if construction?.isStored != true {
                    persistence.noteNew(made)
                } else if redefined.contains(parent) {
                    // Its siblings may be in other parts than when it got its key.
                    persistence.notePlace(of: made)
                }
                if construction?.isStored == true { persistence.noteEdited(made) }
            case .completed(let definition, let bottom):
                persistence.forgetRemoved(definition.id, from: parent, hasRow: false)
                persistence.noteCompleted(made, by: definition, over: bottom)
            case .restored: persistence.forgetRemoved(definition.id, from: parent, hasRow: false)
            case .below: break
            }
            unsettled.made.append(nodes.nodeID(made))
        }
        if let construction, construction.isStored, !(plan.removals.isEmpty && plan.losses.isEmpty) {
            // They may stand where the removed ones stood, whose rows have been deleted since.
            for row in construction.rows where nodes[row].part != nil { persistence.noteRow(of: row) }
        }
        for (parent, ids) in plan.childrenBelow where nodes.isAlive(parent) {
            for (position, id) in ids.enumerated() {
                if let child = nodes.child(id, of: parent) { nodes[child].basePlace = UInt32(position) }
            }
            unsettled.regrouped.insert(parent)
            arrange(parent)
        }
        for (parent, definitions) in plan.orders where order(definitions, below: parent) {
            persistence.noteOrder(below: parent)
        }
        if !plan.updates.isEmpty {
            unsettled.nodes = withObjects(nodes.everything(in: plan.changes)) + unsettled.nodes
            unsettled.regrouped.insert(plan.top)
        }
        settle()
        let set = set(plan.values)
        stored.keep(begun.filter { engine.isAlive($0) } + set.states)
        return set.unset
    }

    /// Moves a child of a section to another part of it.
    private func put(_ row: NodeRow, into slot: Slot, isSaid: Bool) {
        let parent = nodes[row].parent
        nodes.put(row, into: slot)
        if !nodes[row].isTransparent { structureChange.reorderedNodes.append(nodes.nodeID(row)) }
        unsettled.regrouped.insert(parent)
        if isSaid { persistence.noteElsewhere(row) }
    }

    /// Sets states. States in instances of a `forEach` are set after the states that its data is made from.
    private func set(_ values: [(path: AttributePath, value: Value)]) -> (states: [AttributeID], unset: [String]) {
        var left = values
        var states: [AttributeID] = []
        // The plan has paid for them.
        let isWaived = budget.isWaived
        budget.isWaived = true
        defer { budget.isWaived = isWaived }
        let isKept = !persistence.notesChanges
        while !left.isEmpty {
            let count = left.count
            begin()
            left.removeAll { path, value in
                do throws(Failure) {
                    let place = try locate(path)
                    try write(place, through: path, isKept: isKept) { _ throws(Failure) in value }
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

    /// Puts the children of a node into the order that the layers give them. Children with another place than before
    /// count as moved.
    private func arrange(_ parent: NodeRow) {
        let before = nodes[parent].children
        guard sortChildren(of: parent) else { return }
        for (old, new) in zip(before, nodes[parent].children) where old != new && !nodes[new].isTransparent {
            structureChange.reorderedNodes.append(nodes.nodeID(new))
        }
    }

    /// Puts all children of a node into the order of their definitions. Children with another place than before count
    /// as moved.
    /// - Returns: whether the order has changed.
    private func order(_ definitions: [NodeDefinition], below parent: NodeRow) -> Bool {
        let before = nodes[parent].children
        guard let after = nodes.newOrder(definitions, below: parent) else { return false }
        nodes.order(after, below: parent)
        for (old, new) in zip(before, after) where old != new && !nodes[new].isTransparent {
            structureChange.reorderedNodes.append(nodes.nodeID(new))
        }
        unsettled.regrouped.insert(parent)
        return true
    }

    /// Adds declarations. A key that is declared again takes the new default and type, and objects take the properties
    /// of their type.
    public func declareNames(_ new: Declarations) {
        persistence.noteDeclarations(new, over: declarations)
        // The types first: defaults of keys may be objects of these types.
        let types = new.types.filter { (declarations.types[$0] ?? $1) != $1 }
        declarations.types.merge(new.types) { $1 }
        func completed(_ group: KeyGroup) -> [String: KeyDefinition] {
            let known = types.isEmpty ? [:] : declarations[group].filter { !$0.value.type.objectNames.isEmpty }
            return declarations.completed(known.merging(new[group]) { $1 })
        }
        let hasNewObjects = renewDefaults(completed(.environment), areTypesNew: !types.isEmpty) || !types.isEmpty
        if !types.isEmpty {
            renewObjects(of: types)
            renewDerived()
        }
        let (container, preference) = (completed(.container), completed(.preference))
        let isGatheredAnew =
            container.contains { declarations.container[$0] != $1 }
            || preference.contains { (declarations.preference[$0] ?? $1) != $1 }
        declarations.container.merge(container) { $1 }
        declarations.preference.merge(preference) { $1 }
        declarations.components.merge(new.components) { $1 }
        declarations.functions.merge(new.functions) { $1 }
        declarations.written.merge(new.written)
        if isGatheredAnew { gatheringChanged() }
        if hasNewObjects { connect(withObjects(nodes.subtree(of: .root))) }
    }

    /// Gives keys that are declared again their new defaults. Default objects are dropped, and made anew when their
    /// readers are connected again.
    /// - Returns: whether there were default objects.
    private func renewDefaults(_ keys: [String: KeyDefinition], areTypesNew: Bool) -> Bool {
        var hasObjects = false
        for (name, key) in keys {
            guard let old = declarations.environment.updateValue(key, forKey: name),
                let vertex = environmentDefaults[name]
            else {
                continue
            }
            if old.type.objectName == nil, key.type.objectName == nil {
                setInput(vertex, .value(key.defaultValue))
                attributes[vertex]?.retype(key.type)
            } else if areTypesNew || old.type != key.type || old.defaultValue != key.defaultValue {
                destroyVertex(vertex)
                environmentDefaults[name] = nil
                hasObjects = true
            }
        }
        return hasObjects
    }

    /// Gives objects whose types are declared again the properties that the types have now. Values of these types in
    /// lists and the like get the missing ones.
    private func renewObjects(of types: [String: ObjectTypeDefinition]) {
        var begun: [AttributeID] = []
        var pending = nodes.subtree(of: .root)
        while let row = pending.popLast() {
            for (_, state) in nodes[row].attributes {
                let record = record(state)
                guard case .state(let initial, let isTransient)? = record.definition?.role else { continue }
                if case .object(let object) = record.source {
                    if let type = nodes[object].definition.component.flatMap({ types[$0] }) {
                        let definition = objectDefinition(of: type, initial, isTransient: isTransient)
                        begun += redefineNode(object, definition)
                    }
                    pending.append(object)
                } else if !record.type.objectNames.isEmpty, case .value(let value) = content(of: state) {
                    let completed = declarations.complete(value, as: record.type)
                    if completed == value { continue }
                    setInput(state, .value(completed))
                    begun.append(state)
                }
            }
        }
        if persistence.notesChanges { stored.keep(begun) }
    }

    // MARK: Updating one node

    /// - Returns: states whose present values have to be stored.
    func redefineNode(_ row: NodeRow, _ target: NodeDefinition) -> [AttributeID] {
        let hasSameModifiers = target.hasSameModifiers(as: nodes[row].definition)
        // The component says which children are subviews.
        if target.base !== nodes[row].definition.base { shapeChanged(at: row) }
        nodes[row].definition = target
        nodes.note(target)
        destroyAttributes(of: row, notKeptBy: target)
        let begun = target.attributes.filter { redefineAttribute($0, of: row) }.compactMap {
            ownAttribute($0.name, of: row)
        }
        if !hasSameModifiers {
            destroyModifiers(of: row)
            createModifiers(of: row)
            if !target.animations.isEmpty { animations.noteNewModifiers(of: nodes.nodeID(row)) }
            wrappingChanged(at: row)
        }
        return begun
    }

    /// A state keeps its value while its type stays; everything else takes the new definition.
    /// - Returns: whether it is a state whose value has to be stored.
    private func redefineAttribute(_ definition: AttributeDefinition, of row: NodeRow) -> Bool {
        guard let existing = ownAttribute(definition.name, of: row), let old = record(existing).definition else {
            // Until now the name was that of an instance's element or index.
            if let shadowed = nodes[row].instanceAttribute(named: definition.name) {
                structureChange.removedAttributes.append(shadowed)
                record(shadowed).projections?.forEachAttribute { structureChange.removedAttributes.append($0) }
            }
            createAttribute(definition, of: row)
            return false
        }
        attributes[existing]?.redefine(as: definition)
        if persistence.isApplyingRows, case .object(let object) = record(existing).source,
            case .state(let initial, let isTransient) = definition.role,
            let type = definition.type.objectName.flatMap({ declarations.types[$0] })
        {
            _ = redefineNode(object, objectDefinition(of: type, initial, isTransient: isTransient))
        }
        if case .action = definition.role, old != definition { reactions.restart(existing) }
        guard case .state(_, let isTransient) = definition.role, case .state = record(existing).source else {
            return false
        }
        if persistence.isApplyingRows, old != definition { beginAnew(existing, definition) }
        if isTransient, isDurable(existing) { stored.forget([existing]) }
        let begins = !isTransient && (!isDurable(existing) || old != definition)
        attributes[existing]?.source = .state(isTransient: isTransient)
        // The store has forgotten it; the archive has not.
        if isTransient, keepsTransient { stored.keep([existing]) }
        return begins
    }

    /// Gives a state of a new node the beginning that all layers together say, not the one with which it was made.
    private func beginAnew(_ state: AttributeID, _ definition: AttributeDefinition) {
        guard case .state(let initial, _) = definition.role else { return }
        if definition.start == nil {
            return setInput(state, .value(declarations.complete(initial, as: definition.type)))
        }
        setInput(state, Wiring.notBegun)
        unsettled.states.append(state)
    }

    /// Removes attributes from a node that stays: those that become a state of another type, or become or were a state;
    /// and those that the new definition does not have. O(attributes).
    private func destroyAttributes(of row: NodeRow, notKeptBy definition: NodeDefinition) {
        var gone: [(name: String, attribute: AttributeID)] = []
        for new in definition.attributes {
            guard let existing = ownAttribute(new.name, of: row), let old = record(existing).definition,
                !new.keepsVertex(of: old)
            else { continue }
            gone.append((new.name, existing))
        }
        let names = Set(texts: definition.attributes.map(\.name))
        let elements = nodes[row].instances?.elements
        gone += nodes[row].attributes.filter { !names.contains($0.name) && $0.attribute != elements }
        if gone.isEmpty { return }
        structureChange.removedNames.append(
            NodeNames(ids: nodes.ids(of: row), attributes: gone.map(\.name), isWhole: false))
        for (_, attribute) in gone {
            if record(attribute).kind == .state { stored.forget(keptStates(in: attribute)) }
            destroyVertex(attribute)
        }
        nodes[row].attributes.remove(Set(texts: gone.map(\.name)))
        for (name, _) in gone {
            guard let shown = nodes[row].instanceAttribute(named: name) else { continue }
            structureChange.addedAttributes.append(shown)
        }
    }
}

extension AttributeDefinition {
    /// True if an attribute that gets this definition keeps its vertex, and a state its value.
    fileprivate func keepsVertex(of old: AttributeDefinition) -> Bool {
        switch (old.role, role) {
        case (.state, .state): old.type == type
        case (.state, _), (_, .state): false
        default: true
        }
    }
}
