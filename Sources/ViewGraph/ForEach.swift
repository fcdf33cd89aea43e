import AttributeGraph
import AttributeValues
import SceneModel

extension ViewGraph {
    func createForEach(_ row: UInt32) {
        let choice = nodes[Int(row)].definition.forEach?.choice
        let data = createRule(node: row, name: choice?.rawValue ?? "data", source: .literal(.value([])))
        let order = createInput(.value(0), node: row, name: "order", source: .system)
        nodes[Int(row)].instances = ForEachState(data: data, order: order)
        if choice == nil {
            let elements = createRule(
                node: row, name: "elements", kind: .let, type: .list(.dyn), source: .elements, isHidden: false)
            nodes[Int(row)].instances?.elements = elements
            nodes[Int(row)].attributes.add("elements", elements)
            structureChange.addedAttributes.append(elements)
        }
        forEachByData[data.index] = row
        beginWatch(of: data)
    }

    func destroyForEach(_ row: UInt32) {
        guard let state = nodes[Int(row)].instances else { return }
        forEachByData[state.data.index] = nil
        staleForEach.remove(row)
        destroyVertex(state.data)
        destroyVertex(state.order)
        nodes[Int(row)].instances = nil
    }

    /// Connects a list's data again. The instances stay, unless the data becomes a reference or is one no longer.
    func connectForEach(_ row: UInt32) {
        guard let definition = nodes[Int(row)].definition.forEach, let state = nodes[Int(row)].instances else { return }
        replaceSource(of: state.data, definition.choice == .slot ? .given : source(definition.data, at: row, .data))
        staleForEach.insert(row)
        let target = elementTarget(definition, at: row)
        guard target != state.target else { return }
        nodes[Int(row)].instances?.target = target
        guard let target, state.target != nil else { return removeInstances(of: row) }
        for (id, instance) in zip(state.ids, nodes[Int(row)].children) {
            guard let element = nodes[Int(instance)].instance?.element else { continue }
            replaceSource(of: element, .alias(target.element(definition.idField, id), vertex: nil))
        }
    }

    /// The place of the list, if the data is a reference; nil for computed data, whose elements are read-only.
    private func elementTarget(_ definition: ForEachDefinition, at row: UInt32) -> Place? {
        guard !definition.idField.isEmpty, case .reference(let reference) = definition.data else { return nil }
        return resolveName(reference.name, from: row, .enclosing).map { Place($0, reference.steps) }
    }

    /// Removes all instances, when they cannot be kept. The list then makes new ones.
    func removeInstances(of row: UInt32) {
        guard var state = nodes[Int(row)].instances else { return }
        if state.isHeld { persistence.noteHeld(nil, of: row) }
        destroySubtrees(nodes[Int(row)].children)
        if nodes.hasPlaces, let body = nodes.componentBody(around: row) {
            _ = nodes.placements.setWanted([], at: row, in: body.root)
        }
        state.isHeld = false
        state.list = []
        state.ids = []
        state.hasIndices = false
        nodes[Int(row)].instances = state
        staleForEach.insert(row)
    }

    func update(forEach row: UInt32) -> ListUpdate {
        // The state is not copied into a variable: a second reference would make its lists be copied when they change.
        guard let definition = nodes[Int(row)].definition.forEach, let data = nodes[Int(row)].instances?.data else {
            return .none
        }
        let content = content(of: data)
        if let endless = nodes[Int(row)].instances?.endless {
            // The data may have been marked although its value stayed the same.
            guard mayEnd(endless) else { return .none }
            nodes[Int(row)].instances?.endless = nil
        }
        do {
            let placed = definition.choice?.isPlacement == true ? try place(content, definition, at: row) : nil
            let value = try content.get()
            let list = try definition.elementList(of: value)
            guard let change = try change(of: row, to: list, definition) else { return .none }
            try refuseTaken(list, definition, at: row)
            try refuseExcess(change, list, definition, at: row)
            perform(change, list, definition, at: row)
            guard change.isReordering || !change.changedElements.isEmpty || placed != nil else { return .none }
            return .changed(made: change.sources.count { $0 == nil } + (placed ?? 0))
        } catch {
            refuse(row, error)
            return .refused
        }
    }

    private func change(
        of row: UInt32, to list: ValueList, _ definition: ForEachDefinition
    ) throws(Failure) -> ListChange? {
        guard let state = nodes[Int(row)].instances else { return nil }
        return try ListChange(from: state, to: list, idField: definition.idField) { nodes.child($0, of: row) != nil }
    }

    /// - Throws: `limit` when the instances would be more than the graph may hold, or than one request may make.
    func refuseExcess(
        _ change: ListChange, _ list: ValueList, _ definition: ForEachDefinition, at row: UInt32
    ) throws(Failure) {
        let made = change.sources.count { $0 == nil }
        guard made > 0, let template = definition.template(for: list.first ?? .null) else { return }
        let growth = try additions(by: template, below: nodes.depth(of: row))
        let more = made - change.gone.count
        // Each has its element as an attribute beside those of the template.
        try refuse(Growth(nodes: more * growth.nodes, attributes: more * (growth.attributes + 1)))
        try chargeInstances(made, growth)
    }

    /// - Throws: `conflict` if the branch that a choice is about to make has a node whose id is taken by a node beside
    ///   the choice.
    func refuseTaken(_ list: ValueList, _ definition: ForEachDefinition, at row: UInt32) throws(Failure) {
        guard definition.choice != nil, let name = list.first, name != nodes[Int(row)].instances?.ids.first,
            let branch = definition.template(for: name)
        else { return }
        let parent = nodes.visible(row)
        for child in branch.children where child.kind != .choice {
            guard let taken = nodes.visibleChild(child.id, of: parent), !nodes.isInside(taken, of: row) else {
                continue
            }
            throw Failure(
                .conflict, "\(nodes.path(of: taken)) exists already", path: nodes.path(of: taken),
                hint: "remove it, or give the node of the branch another id")
        }
    }

    /// Notes an error in a list's data. The instances stay until the data is valid again.
    private func refuse(_ row: UInt32, _ failure: Failure) {
        let located = failure.located(at: nodes.path(of: row))
        guard let state = nodes[Int(row)].instances else { return }
        if state.failure == located { return makeHeld(at: row) }
        if nodes[Int(row)].definition.forEach?.choice?.isPlacement == true {
            nodes[Int(row)].instances?.failure = located
            return orderChanged(of: row)
        }
        if state.failure == nil, persistence.isRestoring {
            removeInstances(of: row)
        } else if state.failure == nil, !state.ids.isEmpty {
            persistence.noteHeld(state.list, of: row)
            nodes[Int(row)].instances?.isHeld = true
        }
        nodes[Int(row)].instances?.failure = located
        orderChanged(of: row)
        makeHeld(at: row)
    }

    // MARK: Change

    /// Cost: O(instances made, removed and moved), beside the copies of the lists of ids and rows.
    func perform(_ change: ListChange, _ list: ValueList, _ definition: ForEachDefinition, at row: UInt32) {
        guard var state = nodes[Int(row)].instances else { return }
        // Taken out of the node, so that the lists in it are changed in place.
        nodes[Int(row)].instances = nil
        if state.target == nil {
            for position in change.changedElements {
                let instance = nodes[Int(row)].children[change.oldPosition(of: position)]
                if let element = nodes[Int(instance)].instance?.element {
                    setInput(element, .value(list[position]))
                }
            }
        }
        state.list = list
        if change.isReordering {
            let rows = replaceInstances(change, list, definition, at: row, state)
            // Elements that are their own ids are not stored twice.
            if definition.idField.isEmpty {
                state.ids = list
            } else {
                state.ids.replaceSubrange(change.old, with: change.ids)
            }
            if state.hasIndices || nodes[Int(row)].hasNumberedChildren {
                renumber(rows, from: change.new.lowerBound)
                // If the stretch has another length now, the instances behind it have shifted.
                if change.old.count != change.new.count {
                    renumber(Array(nodes[Int(row)].children[change.new.upperBound...]), from: change.new.upperBound)
                }
            }
        }
        let hasHealed = state.failure != nil
        if state.isHeld { persistence.noteHeld(nil, of: row) }
        state.isHeld = false
        state.failure = nil
        nodes[Int(row)].instances = state
        if !state.ids.isEmpty { persistence.forgetAbsentList(of: row) }
        if definition.choice != nil { indicesChanged(below: row) }
        if change.isReordering {
            shapeChanged(at: row)
            orderChanged(of: row)
        } else if hasHealed {
            orderChanged(of: row)
        }
    }

    /// Removes, makes and reorders the children of the stretch that differs.
    /// - Returns: the stretch as it is now.
    private func replaceInstances(
        _ change: ListChange, _ list: ValueList, _ definition: ForEachDefinition, at row: UInt32,
        _ state: ForEachState
    ) -> [UInt32] {
        let before = Array(nodes[Int(row)].children[change.old])
        var made: [UInt32] = []
        made.reserveCapacity(change.sources.count)
        let kind = InstanceScope.Kind(
            element: AttributeRecord(
                node: row, name: definition.elementName, kind: state.target == nil ? .let : .binding, type: .dyn,
                isHidden: false, source: .system),
            indexName: definition.indexName)
        for (offset, source) in change.sources.enumerated() {
            if let source {
                made.append(before[source])
                if change.names.isEmpty { continue }
                // `1` and `"1"` name the same node, but not the same element.
                let isSameID = state.ids[change.old.lowerBound + source] == change.ids[offset]
                if !isSameID, let target = state.target, let element = nodes[Int(before[source])].instance?.element {
                    replaceSource(
                        of: element,
                        .alias(target.element(definition.idField, change.ids[offset]), vertex: nil))
                }
                continue
            }
            let position = change.new.lowerBound + offset
            let name = change.names[offset]
            guard let template = definition.template(for: change.ids[offset]) else {
                preconditionFailure("the list of a choice names a branch that it has")
            }
            let instance = instantiate(template, id: name, under: row, slot: .content)
            if definition.choice == nil {
                createElement(of: instance, definition, change.ids[offset], list[position], state.target, kind)
            }
            persistence.noteMade(instance)
            made.append(instance)
        }
        let gone = change.gone.map { before[$0] }
        nodes.replace(change.old, with: made, gone: gone, below: row)
        for instance in gone { destroySubtree(instance) }
        for offset in change.moved { structureChange.reorderedNodes.append(nodes.nodeID(made[offset])) }
        return made
    }

    private func renumber(_ rows: [UInt32], from position: Int) {
        for (offset, instance) in rows.enumerated() {
            let index = Content.value(.int(Int64(position + offset)))
            if let attribute = nodes[Int(instance)].instance?.index { setInput(attribute, index) }
            if let attribute = nodes[Int(instance)].system[.selfIndex] { setInput(attribute, index) }
        }
    }

    /// Creates an instance's element, and sets the name of its index.
    private func createElement(
        of made: UInt32, _ definition: ForEachDefinition, _ id: Value, _ element: Value, _ target: Place?,
        _ kind: InstanceScope.Kind
    ) {
        var record = kind.element
        record.node = made
        let attribute: AttributeID
        if let target {
            record.source = .alias(target.element(definition.idField, id), vertex: nil)
            attribute = createRule(record)
        } else {
            attribute = createInput(.value(element), record)
        }
        nodes[Int(made)].instance = InstanceScope(attribute, kind)
        if isNamed(attribute) { structureChange.addedAttributes.append(attribute) }
        structureChange.addedInstances.append(nodes.nodeID(made))
    }
}

extension Place {
    /// The element with an id in the list at this place.
    fileprivate func element(_ field: String, _ id: Value) -> Place {
        inside([.element(field: field, value: id)])
    }
}
