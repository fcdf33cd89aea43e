import AttributeGraph
import AttributeValues
import SceneModel

/// The nodes whose children come from data: `forEach`, `if`, `switch`, `place` and `slot`.
///
/// The room makes the vertices of such a node, compares its children with its data, and works out what differs. It
/// makes and removes no nodes: `ViewGraph` performs a `ListEdit` with it.
final class Lists {
    unowned(unsafe) private(set) var graph: Wiring!
    let persistence: Persistence
    var nodes: Tree<NodeRecord> { persistence.nodes }
    /// The subviews by id of the component that was asked for last, and `Tree.changes` at that time.
    var knownSubviews: (root: NodeRow, changes: UInt64, rows: [Name: NodeRow])?

    init(_ persistence: Persistence) { self.persistence = persistence }

    func attach(to graph: Wiring) { self.graph = graph }

    // MARK: Vertices

    func makeList(at row: NodeRow) {
        let choice = nodes[row].definition.forEach?.choice
        let data = graph.createRule(node: row, name: choice?.rawValue ?? "data", source: .literal(.value([])))
        let order = graph.createInput(.value(0), node: row, name: "order", source: .system)
        var state = ForEachState(data: data, order: order)
        if choice == nil {
            let elements = graph.createRule(
                node: row, name: "elements", kind: .let, type: .list(.dyn), source: .elements, isHidden: false)
            state.elements = elements
            nodes[row].attributes.add("elements", elements)
            graph.structureChange.addedAttributes.append(elements)
        }
        nodes[row].instances = state
        graph.listsByData[data] = row
        graph.beginWatch(of: data)
    }

    /// - Returns: the vertices of the list, which are to be destroyed.
    func dropList(at row: NodeRow) -> [AttributeID] {
        guard let state = nodes[row].instances else { return [] }
        graph.listsByData[state.data] = nil
        graph.unsettled.lists.remove(row)
        nodes[row].instances = nil
        return [state.data, state.order]
    }

    /// Connects a list's data again.
    /// - Returns: whether its instances are to be removed, because the data became a reference or is one no longer.
    func connectData(of row: NodeRow) -> Bool {
        guard let definition = nodes[row].definition.forEach, let state = nodes[row].instances else {
            return false
        }
        graph.replaceSource(
            of: state.data, definition.choice == .slot ? .given : graph.source(definition.data, at: row, .data))
        graph.unsettled.lists.insert(row)
        let target = elementTarget(definition, at: row) ?? (state.isOfMap ? Place(state.data) : nil)
        guard target != state.target else { return false }
        nodes[row].instances?.target = target
        guard let target, state.target != nil else { return true }
        for (id, instance) in zip(state.ids, nodes[row].children) {
            guard let element = nodes[instance].instance?.element else { continue }
            graph.replaceSource(of: element, .alias(state.place(of: id, definition, at: target), vertex: nil))
        }
        return false
    }

    /// The place of the list, if the data is a reference; nil for computed data, whose elements are read-only.
    private func elementTarget(_ definition: ForEachDefinition, at row: NodeRow) -> Place? {
        guard !definition.idField.isEmpty, case .reference(let reference) = definition.data else { return nil }
        return graph.resolveName(reference.name.text, from: row, .enclosing).map { Place($0, reference.steps) }
    }

    /// Counts a change of the ids, or of why there are none.
    func orderChanged(of row: NodeRow) {
        guard let order = nodes[row].instances?.order, case .value(.int(let count)) = graph.content(of: order)
        else { return }
        graph.setInput(order, .value(.int(count + 1)))
    }

    // MARK: Following data

    /// The lists whose data may have changed, outer lists first: an inner list may go with its element. Rows order the
    /// others, so that each run does the same.
    func takeStale(_ settlement: Settlement) -> [(depth: Int, row: NodeRow)] {
        settlement.dropEndless(from: &graph.unsettled.lists)
        if graph.unsettled.lists.isEmpty {
            graph.unsettled.lists = nodes.placements.placesToComplete(at: nodes.changes)
            settlement.dropEndless(from: &graph.unsettled.lists)
            if graph.unsettled.lists.isEmpty { return [] }
        }
        defer { graph.unsettled.lists = [] }
        return graph.unsettled.lists.map { (depth: nodes.depth(of: $0), row: $0) }.sorted { $0 < $1 }
    }

    /// The edit that the data of a list asks for; nil if the data was not evaluated again.
    /// - Throws: why the data makes no instances: see `noteRefusal`.
    func findEdit(of row: NodeRow) throws(Failure) -> ListEdit? {
        // The state is not copied into a variable: a second reference would make its lists be copied when they change.
        guard let definition = nodes[row].definition.forEach, let data = nodes[row].instances?.data else {
            return nil
        }
        let content = graph.content(of: data)
        if let endless = nodes[row].instances?.endless {
            // The data may have been marked although its value stayed the same.
            guard mayEnd(endless) else { return nil }
            nodes[row].instances?.endless = nil
        }
        let placed = definition.choice?.isPlacement == true ? try placeSubviews(content, definition, at: row) : nil
        let value = try content.get()
        let list = try definition.elementList(of: value)
        let isOfMap = definition.isMap(value)
        if isOfMap != nodes[row].instances?.isOfMap {
            guard nodes[row].instances?.ids.isEmpty == true else {
                // The instances go first.
                graph.unsettled.lists.insert(row)
                return try makeEdit([], definition, at: row)
            }
            let target = elementTarget(definition, at: row) ?? (isOfMap ? Place(data) : nil)
            nodes[row].instances?.isOfMap = isOfMap
            nodes[row].instances?.target = target
        }
        return try makeEdit(list, definition, at: row, placed: placed)
    }

    /// The edit that makes the instances that existed when the data was refused; nil if there are none, or if the scene
    /// does not allow them any more.
    func findFrozen(of row: NodeRow) -> ListEdit? {
        guard let list = persistence.absentList(of: row), let definition = nodes[row].definition.forEach,
            let failure = nodes[row].instances?.failure, nodes[row].instances?.ids.isEmpty == true,
            list.allSatisfy({ definition.template(for: $0) != nil }),
            let edit = try? makeEdit(list, definition, at: row, failure: failure)
        else { return nil }
        return edit
    }

    private func makeEdit(
        _ list: ValueList, _ definition: ForEachDefinition, at row: NodeRow, placed: Int? = nil, failure: Failure? = nil
    ) throws(Failure) -> ListEdit? {
        guard let state = nodes[row].instances else { return nil }
        // Before all ids are compared.
        let grown = list.count - state.list.count
        var each = grown > 0 ? try growth(of: definition, list, at: row) : nil
        if let each { try refuseExcess(grown, each) }
        let change = try ListChange(from: state, to: list, idField: state.idField(definition)) {
            nodes.child(Name($0), of: row) != nil
        }
        let edit = ListEdit(
            row: row, definition: definition, list: list, change: change, placed: placed, failure: failure)
        try refuseTaken(edit)
        if edit.made > 0 {
            if each == nil { each = try growth(of: definition, list, at: row) }
            if let each {
                try refuseExcess(edit.made - edit.change.gone.count, each)
                try graph.chargeInstances(edit.made, each)
            }
        }
        return edit
    }

    /// - Parameters:
    ///   - more: so many instances more than before.
    ///   - each: what one element makes.
    /// - Throws: `limit` when they would be more than the graph may have, or than one request may make.
    private func refuseExcess(_ more: Int, _ each: Wiring.Growth) throws(Failure) {
        if more <= 0 { return }
        // Each has its element as an attribute beside those of the template.
        try graph.refuse(Wiring.Growth(nodes: more * each.nodes, attributes: more * (each.attributes + 1)))
        try graph.refuseInstances(more, each)
    }

    /// The nodes and attributes that one element makes.
    private func growth(
        of definition: ForEachDefinition, _ list: ValueList, at row: NodeRow
    ) throws(Failure) -> Wiring.Growth? {
        try definition.template(for: list.first ?? .null).map { (template) throws(Failure) in
            try graph.additions(by: template, below: nodes.depth(of: row))
        }
    }

    /// - Throws: `conflict` if the branch that a choice is about to make has a node whose id is taken by a node beside
    ///   the choice.
    private func refuseTaken(_ edit: ListEdit) throws(Failure) {
        let row = edit.row
        guard edit.definition.choice != nil, let name = edit.list.first, name != nodes[row].instances?.ids.first,
            let branch = edit.definition.template(for: name)
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

    /// Notes why a list's data makes no instances. Existing instances stay until the data is valid again.
    /// - Returns: whether they are to be removed instead: a start does not know what was shown before.
    func noteRefusal(_ failure: Failure, at row: NodeRow) -> Bool {
        let located = failure.located(at: nodes.path(of: row))
        guard let state = nodes[row].instances, state.failure != located else { return false }
        nodes[row].instances?.failure = located
        orderChanged(of: row)
        guard state.failure == nil, nodes[row].definition.forEach?.choice?.isPlacement != true else {
            return false
        }
        if persistence.isRestoring { return true }
        if !state.ids.isEmpty {
            persistence.noteFrozen(state.list, of: row)
            nodes[row].instances?.isFrozen = true
        }
        return false
    }
}

extension ForEachState {
    /// The field that identifies an element of `list`. The keys of a map identify themselves.
    func idField(_ definition: ForEachDefinition) -> String { isOfMap ? "" : definition.idField }

    /// The element with an id in the list or the map at a place.
    func place(of id: Value, _ definition: ForEachDefinition, at target: Place) -> Place {
        switch id {
        case .string(let key) where isOfMap: target.inside([.key(key)])
        case .int(let key) where isOfMap: target.inside([.index(Int(key))])
        default: target.inside([.element(field: definition.idField, value: id)])
        }
    }
}
