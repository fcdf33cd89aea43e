import AttributeGraph
import AttributeValues
import SceneModel

/// The living side of a `forEach`: one instance per element, found by the element's id.
struct ForEachState {
    /// Holds the list; always watched, because the tree must be right for whoever looks at it.
    var data: AttributeID
    /// The ids in order, or why there are no instances; readable as the node's `elements`.
    var elements: AttributeID
    var list: [Value] = []
    var ids: [Value] = []
    var rows: [Value: UInt32] = [:]
}

extension ViewGraph {
    func createForEach(_ row: UInt32) {
        let data = createRule(node: row, name: "data", source: .literal(.value([])))
        let elements = createInput(
            .value([]), node: row, name: "elements", type: .list(.dyn), source: .system, isHidden: false)
        nodes[Int(row)].instances = ForEachState(data: data, elements: elements)
        nodes[Int(row)].attributes.append("elements", elements)
        structureChange.addedAttributes.append(elements)
        forEachByData[data.index] = row
        engine.watch(data)
    }

    func destroyForEach(_ row: UInt32) {
        guard let state = nodes[Int(row)].instances else { return }
        forEachByData[state.data.index] = nil
        staleForEach.remove(row)
        destroy(state.data)
        nodes[Int(row)].instances = nil
    }

    func connectForEach(_ row: UInt32) {
        guard let definition = nodes[Int(row)].definition.forEach, let state = nodes[Int(row)].instances else { return }
        setSource(source(definition.data, at: row, .enclosing), of: state.data)
        staleForEach.insert(row)
    }

    /// Brings the instances in line with the data until nothing changes any more: instances may hold further `forEach`.
    /// What may have changed beside that is collected in `invalidated`.
    func settleStructure() {
        sweepProjections()
        connectNew()
        for _ in 0..<limits.structureRounds {
            collectInvalidated()
            guard !staleForEach.isEmpty else { return }
            // Outer ones first: an inner one may go with its element.
            let rows = staleForEach.sorted { depth(of: $0) < depth(of: $1) }
            staleForEach = []
            for row in rows where nodes[Int(row)].isAlive && nodes[Int(row)].instances != nil { update(forEach: row) }
            connectNew()
        }
        staleForEach = []
    }

    private func depth(of row: UInt32) -> Int {
        var depth = 0
        var at = row
        while at != NodeID.root.row {
            depth += 1
            at = nodes[Int(at)].parent
        }
        return depth
    }

    private func update(forEach row: UInt32) {
        guard let definition = nodes[Int(row)].definition.forEach, var state = nodes[Int(row)].instances else { return }
        let list: [Value]
        switch content(of: state.data) {
        case .failure(let failure):
            // The instances keep their states until the data is right again.
            setInput(state.elements, .failure(failure.located(at: path(of: nodeID(row)))))
            return
        case .value(.list(let elements)): list = elements
        case .value(let other):
            refuse(row, state, Failure(.typeMismatch, "forEach needs a list, not a value of type \(other.typeName)"))
            return
        }
        var ids: [Value] = []
        ids.reserveCapacity(list.count)
        do { ids = try self.ids(of: list, definition) } catch {
            refuse(row, state, error)
            return
        }
        let rowsBefore = state.rows
        let idsBefore = state.ids
        let isReference = if case .reference = definition.data { true } else { false }
        state.rows = [:]
        state.rows.reserveCapacity(ids.count)
        var order: [UInt32] = []
        order.reserveCapacity(ids.count)
        let living = Set(ids)
        let gone = idsBefore.filter { !living.contains($0) }.compactMap { rowsBefore[$0] }
        if !gone.isEmpty {
            let goneSet = Set(gone)
            nodes[Int(row)].children.removeAll { goneSet.contains($0) }
            if nodes[Int(row)].childrenByID != nil {
                for child in gone {
                    let id = nodes[Int(child)].id
                    nodes[Int(row)].childrenByID?[id] = nil
                }
            }
            for child in gone { for inner in subtree(of: child).reversed() { destroyNode(inner) } }
        }
        for (position, id) in ids.enumerated() {
            if let existing = rowsBefore[id] {
                order.append(existing)
                state.rows[id] = existing
                let scope = nodes[Int(existing)].elementScope
                if position >= idsBefore.count || idsBefore[position] != id {
                    setInput(scope[1].attribute, .value(.int(Int64(position))))
                    structureChange.movedNodes.append(nodeID(existing))
                }
                if !isReference { setInput(scope[0].attribute, .value(list[position])) }
            } else {
                let made = createInstance(definition, of: row, id, list[position], position, isReference)
                order.append(made)
                state.rows[id] = made
            }
        }
        nodes[Int(row)].children = order
        state.list = list
        state.ids = ids
        nodes[Int(row)].instances = state
        setInput(state.elements, .value(.list(ids)))
        if ids != idsBefore {
            indicesChanged(below: row)
            shapeChanged(at: row)
        }
    }

    private func refuse(_ row: UInt32, _ state: ForEachState, _ failure: Failure) {
        setInput(state.elements, .failure(failure.located(at: path(of: nodeID(row)))))
    }

    /// - Throws: an element without id, an id that cannot name a node, or the ids that occur more than once.
    private func ids(of list: [Value], _ definition: ForEachDefinition) throws(Failure) -> [Value] {
        var ids: [Value] = []
        ids.reserveCapacity(list.count)
        var seen: Set<Value> = []
        var twice: [String] = []
        for (position, element) in list.enumerated() {
            let id = definition.idField.isEmpty ? element : element.map?[definition.idField]
            switch id {
            case .string?, .int?, .uint?, .bool?: break
            default:
                throw Failure(
                    .typeMismatch,
                    definition.idField.isEmpty
                        ? "element \(position) is no string, int, uint or bool, so it cannot be its own id"
                        : "element \(position) has no usable \(definition.idField)",
                    hint: "give every element a string, int, uint or bool named \(definition.idField), or name another id field")
            }
            guard let id else { continue }
            if !seen.insert(id).inserted { twice.append(id.description) }
            ids.append(id)
        }
        guard twice.isEmpty else {
            throw Failure(.conflict, "duplicate ids: \(twice.prefix(10).joined(separator: ", "))", hint: "ids are unique in a list")
        }
        return ids
    }

    private func createInstance(
        _ definition: ForEachDefinition, of row: UInt32, _ id: Value, _ element: Value, _ position: Int, _ isReference: Bool
    ) -> UInt32 {
        let name = if case .string(let text) = id { text } else { id.description }
        let made = instantiate(definition.template, id: name, under: row, slot: .content)
        let elementAttribute: AttributeID
        if isReference, !definition.idField.isEmpty, case .reference(let reference) = definition.data,
            let target = attribute(named: reference.name, from: row, .enclosing)
        {
            let steps = reference.steps + [.element(field: definition.idField, value: id)]
            elementAttribute = createRule(
                node: made, name: definition.elementName, kind: .binding, source: .alias(Place(target, steps), vertex: nil),
                isHidden: false)
        } else {
            elementAttribute = createInput(
                .value(element), node: made, name: definition.elementName, source: .system, isHidden: false)
        }
        let index = createInput(
            .value(.int(Int64(position))), node: made, name: definition.indexName, type: .int, source: .system,
            isHidden: false)
        nodes[Int(made)].elementScope = [(definition.elementName, elementAttribute), (definition.indexName, index)]
        structureChange.addedAttributes.append(contentsOf: [elementAttribute, index])
        return made
    }
}
