import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

/// The graph as data for people and tools. It evaluates what it shows, and changes nothing.
public struct Description {
    let graph: Wiring

    var nodes: Tree<NodeRecord> { graph.nodes }
    private var engine: Wiring.Engine { graph.engine }

    fileprivate init(_ graph: Wiring) { self.graph = graph }

    /// `{id, path, kind, component?, attributes: {name: …}, choices: […], children: […]}`.
    /// - Parameter depth: levels of children to include; those left out are counted.
    /// - Throws: `limit` when more nodes than that would be described.
    public func details(of node: NodeID, depth: Int, limit: Int) throws(Failure) -> Value {
        let rows = nodes.subtree(of: node.row, depth: depth)
        guard rows.count <= limit else {
            throw Failure(
                .limit, "\(rows.count) nodes; at most \(limit) are described at once",
                hint: "name a smaller part, or a depth")
        }
        try graph.chargeDescription(of: rows.lazy.map(\.row))
        // Children stand behind their parents, so the reverse order has every child ready when its parent comes.
        var described: [NodeRow: Value] = [:]
        for (row, level) in rows.reversed() where !nodes[row].isTransparent {
            var map = describeNode(row)
            let children = nodes.visibleChildren(of: row)
            if level < depth {
                if !children.isEmpty {
                    map["children"] = .list(children.compactMap { described.removeValue(forKey: $0) })
                }
            } else if !children.isEmpty {
                map["childCount"] = .int(Int64(children.count))
            }
            let node = nodes.nodeID(row)
            if shown(in: node) != nil { map["shown"] = .list(pathsShown(in: node).map { .string($0) }) }
            if isUnshown(row) { map["isUnshown"] = true }
            described[row] = .map(map)
        }
        return described[node.row] ?? .null
    }

    private func describeNode(_ row: NodeRow) -> ValueMap {
        let node = nodes[row]
        var map = ValueMap()
        map["id"] = .string(node.id.text)
        map["path"] = .string(nodes.path(of: row))
        map["kind"] = .string(node.kind.rawValue)
        if let component = node.definition.component { map["component"] = .string(component) }
        var described = ValueMap()
        for (name, attribute) in graph.allAttributes(of: row) { described[name] = details(of: attribute) }
        if !described.isEmpty { map["attributes"] = .map(described) }
        let layers = layerNames(of: row)
        if !layers.isEmpty { map["layers"] = .list(layers) }
        let choices = choices(below: row)
        if !choices.isEmpty { map["choices"] = .list(choices) }
        return map
    }

    /// `{if or switch, shows?, error?}` of each choice between a node and its children, in order.
    private func choices(below row: NodeRow) -> [Value] {
        guard nodes[row].hasTransparentChildren else { return [] }
        var found: [Value] = []
        var pending = nodes[row].children.reversed() as [NodeRow]
        while let next = pending.popLast() {
            let node = nodes[next]
            guard node.isTransparent else { continue }
            pending += node.children.reversed()
            guard let state = node.instances, let made = node.definition.forEach, let choice = made.choice else {
                continue
            }
            var map = ValueMap([(.string(choice.rawValue), DefinitionWriter.conditionForm(made.data))])
            if let branch = state.ids.first?.string { map["shows"] = .string(Branch.caseText(branch) ?? branch) }
            if let failure = state.failure ?? refusal(at: next) {
                map["error"] = describe(graph.shown(failure, of: state.data))
            }
            found.append(.map(map))
        }
        return found
    }

    /// `{kind, type, value or error, rule?, target?, action?}` of one attribute; evaluates it.
    public func details(of attribute: AttributeID) -> Value {
        let record = graph.record(attribute)
        var map = ValueMap()
        map["kind"] = .string(record.kind.rawValue)
        map["type"] = .string(record.type.description)
        switch graph.shown(graph.content(of: attribute), of: attribute) {
        case .value(let value): map["value"] = value
        case .failure(let failure): map["error"] = describe(failure)
        }
        switch record.source {
        case .state(let isTransient): if isTransient { map["transient"] = true }
        case .rule(let rule): map["rule"] = .string(rule.program.text)
        case .alias(let place, _):
            let target = graph.follow(place, isWritten: true)
            guard !graph.isUnnamed(target.attribute), graph.isVisible(target.attribute) else { break }
            map["target"] = .string(graph.path(of: target.attribute) + target.steps.map(\.description).joined())
        default: break
        }
        if let span = record.definition?.history { map["history"] = .string(span.description) }
        if let span = record.definition?.expires { map["expires"] = .string(span.description) }
        if let bounds = record.definition?.entries { map["entries"] = bounds.document }
        if case .action(let action)? = record.definition?.role { map["action"] = action.document }
        if let animation = record.animation { map["animation"] = .string(animation) }
        return .map(map)
    }

    /// The same for a place inside an attribute's value. `type` is that of the value there.
    public func details(of place: Place) -> Value {
        guard !place.steps.isEmpty, case .map(var map) = details(of: place.attribute) else {
            return details(of: place.attribute)
        }
        switch graph.shown(graph.content(at: place), of: place.attribute) {
        case .value(let value):
            map["type"] = .string(ValueType(of: value).description)
            map["value"] = value
            map["error"] = nil
        case .failure(let failure):
            map["type"] = .string(ValueType.dyn.description)
            map["value"] = nil
            map["error"] = describe(failure)
        }
        if case .string(let target)? = map["target"] {
            map["target"] = .string(target + place.steps.map(\.description).joined())
        }
        return .map(map)
    }

    private func describe(_ failure: Failure) -> Value {
        ["code": .string(failure.code.rawValue), "message": .string(failure.message)]
    }

    /// The inputs and the readers of an attribute, by name. Readers and numbers of runs depend on the whole graph, so
    /// only clients that may read all of it are told.
    public func explain(_ attribute: AttributeID, into map: inout ValueMap) {
        let record = graph.record(attribute)
        map["kind"] = .string(record.kind.rawValue)
        if case .rule(let rule) = record.source { map["rule"] = .string(rule.program.text) }
        if let layer = layerSaying(record.name, of: record.node) {
            map["layer"] = ["name": .string(layer.name), "at": .string(layer.at)]
        }
        map["dependencies"] = .list(
            engine.inputs(of: attribute).filter { graph.isVisible($0) }.map { .string(graph.path(of: $0)) })
        guard graph.mayRead == nil else { return }
        map["dependents"] = .list(engine.readers(of: attribute).map { .string(graph.path(of: $0)) })
        map["evaluations"] = .int(Int64(engine.evaluations(of: attribute)))
    }

    // MARK: Dumps

    /// The vertices of a subtree and the edges between them.
    private func vertices(below node: NodeID, limit: Int) throws(Failure) -> [AttributeID] {
        let rows = Set(nodes.subtree(of: node.row))
        guard rows.count <= limit else {
            throw Failure(
                .limit, "\(rows.count) nodes; at most \(limit) are dumped at once", hint: "name a smaller part")
        }
        try graph.chargeDescription(of: rows)
        var found: [AttributeID] = []
        for row in rows.sorted() {
            let node = nodes[row]
            found += graph.allAttributes(of: row).map(\.attribute)
            found += node.modifierVertices
            // These vertices are made for their readers, so they would show that hidden readers exist.
            if graph.mayRead == nil { found += node.system.values.sorted { $0.index < $1.index } }
        }
        if graph.mayRead != nil { return found }
        for attribute in found {
            graph.attributes[attribute]?.projections?.forEachAttribute { found.append($0) }
        }
        return found
    }

    /// `{vertices: [{id, path, kind, value or error, inputs: [id]}]}`.
    public func dump(_ node: NodeID, limit: Int) throws(Failure) -> Value {
        let vertices = try vertices(below: node, limit: limit)
        let numbers = numbers(of: vertices)
        let list = vertices.map { attribute -> Value in
            guard case .map(var map) = details(of: attribute) else { return .null }
            map["id"] = .int(numbers?[attribute] ?? Int64(attribute.index))
            map["path"] = .string(graph.path(of: attribute))
            map["inputs"] = .list(
                engine.inputs(of: attribute).compactMap { input in
                    guard let numbers else { return .int(Int64(input.index)) }
                    return numbers[input].map { .int($0) }
                })
            if numbers == nil { map["watched"] = .bool(engine.isWatched(attribute)) }
            return .map(map)
        }
        return ["vertices": .list(list)]
    }

    /// Numbers from 0, for clients that may not know how many other vertices exist; nil: the engine's numbers are used.
    private func numbers(of vertices: [AttributeID]) -> [AttributeID: Int64]? {
        graph.mayRead == nil ? nil : Dictionary(zip(vertices, 0...)) { first, _ in first }
    }

    /// The same as a Graphviz graph: an arrow leads from an input to its reader.
    public func dot(_ node: NodeID, limit: Int) throws(Failure) -> String {
        let vertices = try vertices(below: node, limit: limit)
        let known = Set(vertices)
        let numbers = numbers(of: vertices)
        func name(_ attribute: AttributeID) -> String { "v\(numbers?[attribute] ?? Int64(attribute.index))" }
        func quoted(_ text: String) -> String { Value.string(text).jsonText }
        var text = "digraph agd {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n"
        for attribute in vertices {
            let shape =
                switch graph.record(attribute).source {
                case .state, .system: "ellipse"
                case .alias: "cds"
                default: "box"
                }
            let content: String =
                switch graph.shown(graph.content(of: attribute), of: attribute) {
                case .value(let value): String(value.jsonText.prefix(40))
                case .failure(let failure): "error: \(failure.message.prefix(40))"
                }
            text +=
                "  \(name(attribute)) [shape=\(shape), label=\(quoted(graph.path(of: attribute) + "\n" + content))];\n"
        }
        for attribute in vertices {
            for input in engine.inputs(of: attribute) where known.contains(input) {
                text += "  \(name(input)) -> \(name(attribute));\n"
            }
        }
        return text + "}\n"
    }
}

extension Wiring {
    public var description: Description { Description(self) }

    /// Charges for an answer that describes nodes, before the answer is made. Attributes are charged by their last
    /// values; rules that have to run are charged when they run.
    func chargeDescription(of rows: some Sequence<NodeRow>) throws(Failure) {
        for row in rows {
            try charge(Wiring.stepsPerDescribedNode)
            for (_, attribute) in nodes[row].attributes {
                try charge(
                    Wiring.stepsPerDescribedAttribute, telling: engine.lastValue(of: attribute) ?? .value(.null))
            }
        }
    }
}
