import AttributeGraph
import AttributeValues
import SceneModel

// Changing the instances of a list.

/// A difference between a list and its data: the instances to make, to drop and to move.
struct ListEdit {
    let row: NodeRow
    let definition: ForEachDefinition
    let list: ValueList
    let change: ListChange
    /// The number of nodes that are new to a place for subviews; nil if it shows the same as before.
    let placed: Int?
    /// For instances that are made although the data is refused: why it is.
    let failure: Failure?

    /// The number of instances that are made.
    var made: Int { change.sources.count { $0 == nil } }

    var update: ListUpdate {
        guard change.isReordering || !change.changedElements.isEmpty || placed != nil else { return .none }
        return .changed(made: made + (placed ?? 0))
    }
}

extension Lists {
    /// Cost: O(instances made, dropped and moved), beside the copies of the lists of ids and rows.
    /// - Parameter make: makes a node from a template, with an id, as the last child of the list.
    /// - Returns: the instances that the list has dropped. They are to be destroyed.
    func performEdit(_ edit: ListEdit, make: (NodeDefinition, String) -> NodeRow) -> [NodeRow] {
        let (row, change) = (edit.row, edit.change)
        guard var state = nodes[row].instances else { return [] }
        // Taken out of the node, so that the lists in it are changed in place.
        nodes[row].instances = nil
        let places = state.target.flatMap {
            graph.elementPlaces(at: $0, by: edit.definition.idField, in: edit.list, expecting: edit.made)
        }
        if state.target == nil {
            for position in change.changedElements {
                let instance = nodes[row].children[change.oldPosition(of: position)]
                if let element = nodes[instance].instance?.element {
                    graph.setInput(element, .value(edit.list[position]))
                }
            }
        }
        state.list = edit.list
        var gone: [NodeRow] = []
        if change.isReordering {
            let before = Array(nodes[row].children[change.old])
            gone = change.gone.map { before[$0] }
            let rows = arrange(before, edit, state, places, make)
            nodes.replace(change.old, with: rows, gone: gone, below: row)
            for offset in change.moved { graph.structureChange.reorderedNodes.append(nodes.nodeID(rows[offset])) }
            // Elements that are their own ids are not stored twice.
            if state.idField(edit.definition).isEmpty {
                state.ids = edit.list
            } else {
                state.ids.replaceSubrange(change.old, with: change.ids)
            }
            if state.hasIndices || nodes[row].hasNumberedChildren {
                renumber(rows, from: change.new.lowerBound)
                // If the stretch has another length now, the instances behind it have shifted.
                if change.old.count != change.new.count {
                    renumber(Array(nodes[row].children[change.new.upperBound...]), from: change.new.upperBound)
                }
            }
        }
        let hasHealed = state.failure != nil
        if state.isFrozen { persistence.noteFrozen(nil, of: row) }
        state.failure = edit.failure
        state.isFrozen = edit.failure != nil
        nodes[row].instances = state
        if state.isFrozen {
            persistence.takeAbsentList(of: row)
        } else if !state.ids.isEmpty {
            persistence.forgetAbsentList(of: row)
        }
        if change.isReordering { graph.unsettled.regrouped.insert(row) }
        if change.isReordering || hasHealed { orderChanged(of: row) }
        return gone
    }

    /// Makes the new instances of the stretch that differs.
    /// - Parameter before: the stretch as it was.
    /// - Returns: the stretch as it is to be.
    private func arrange(
        _ before: [NodeRow], _ edit: ListEdit, _ state: ForEachState, _ places: ProjectionTree.Entry?,
        _ make: (NodeDefinition, String) -> NodeRow
    ) -> [NodeRow] {
        let (change, definition) = (edit.change, edit.definition)
        var rows: [NodeRow] = []
        rows.reserveCapacity(change.sources.count)
        let elements = definition.choice == nil ? newElements(edit, state, places) : nil
        for (offset, source) in change.sources.enumerated() {
            if let source {
                rows.append(before[source])
                if change.names.isEmpty { continue }
                // `1` and `"1"` name the same node, but not the same element.
                let isSameID = state.ids[change.old.lowerBound + source] == change.ids[offset]
                if !isSameID, let target = state.target, let element = nodes[before[source]].instance?.element {
                    graph.replaceSource(
                        of: element,
                        .alias(state.place(of: change.ids[offset], definition, at: target), vertex: nil))
                    graph.unsettled.nodes += nodes.subtree(of: before[source])
                }
                continue
            }
            guard let template = definition.template(for: change.ids[offset]) else {
                preconditionFailure("the list of a choice names a branch that it has")
            }
            let instance = make(template, change.names[offset])
            if let elements {
                makeElement(of: instance, change.ids[offset], at: change.new.lowerBound + offset, elements)
            }
            graph.unsettled.made.append(nodes.nodeID(instance))
            rows.append(instance)
        }
        return rows
    }

    /// The elements that an edit makes come from one list, and have one kind.
    private struct NewElements {
        let kind: InstanceScope.Kind
        let list: ValueList
        let definition: ForEachDefinition
        let state: ForEachState
        /// Contains the places of the elements, if the list is in an input.
        let places: ProjectionTree.Entry?
    }

    private func newElements(
        _ edit: ListEdit, _ state: ForEachState, _ places: ProjectionTree.Entry?
    ) -> NewElements {
        let definition = edit.definition
        let isBinding = state.target != nil && state.target?.attribute != state.data
        let kind = InstanceScope.Kind(
            element: AttributeRecord(
                node: edit.row, name: definition.elementName, kind: isBinding ? .binding : .let, type: .dyn,
                isHidden: false, source: .system),
            indexName: definition.indexName)
        return NewElements(
            kind: kind, list: edit.list, definition: definition, state: state, places: places)
    }

    private func renumber(_ rows: [NodeRow], from position: Int) {
        for (offset, instance) in rows.enumerated() {
            let index = Content.value(.int(Int64(position + offset)))
            if let attribute = nodes[instance].instance?.index { graph.setInput(attribute, index) }
            if let attribute = nodes[instance].system[.selfIndex] { graph.setInput(attribute, index) }
        }
    }

    /// Makes an instance's element, and sets the name of its index.
    private func makeElement(of made: NodeRow, _ id: Value, at position: Int, _ elements: NewElements) {
        var record = elements.kind.element
        record.node = made
        let element = elements.list[position]
        let attribute: AttributeID
        if let target = elements.state.target {
            record.source = .unconnected
            // It comes first, so that it is beside the node's other attributes.
            attribute = graph.createRule(record)
            let vertex = elements.places.map {
                graph.vertex(ofElement: id, by: elements.definition.idField, in: $0, element, at: position)
            }
            graph.connectNew(
                attribute, to: .alias(elements.state.place(of: id, elements.definition, at: target), vertex: vertex))
        } else {
            attribute = graph.createInput(.value(element), record)
        }
        nodes[made].instance = InstanceScope(attribute, elements.kind)
        if nodes[made].attributes[elements.kind.element.name] == nil {
            graph.structureChange.addedAttributes.append(attribute)
        }
        graph.structureChange.addedInstances.append(nodes.nodeID(made))
    }

    /// Makes a list empty, so that it makes new instances.
    /// - Returns: its instances. They are to be destroyed.
    func emptyList(_ row: NodeRow) -> [NodeRow] {
        guard var state = nodes[row].instances else { return [] }
        if state.isFrozen { persistence.noteFrozen(nil, of: row) }
        if nodes.hasPlaces, let body = nodes.componentBody(around: row) {
            _ = nodes.placements.setWanted([], at: row, in: body.root)
        }
        let hadElements = !state.ids.isEmpty
        state.isFrozen = false
        state.list = []
        state.ids = []
        state.hasIndices = false
        nodes[row].instances = state
        if hadElements { orderChanged(of: row) }
        graph.unsettled.lists.insert(row)
        return nodes[row].children
    }
}
