import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// The graph as data for people and tools.

extension Wiring {
    public var namedAttributes: Int {
        var count = 0
        for row in nodes.living {
            let node = nodes[Int(row)]
            count += node.namedAttributes.count + (node.namedIndex == nil ? 0 : 1)
        }
        return count
    }

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
        try chargeDescription(of: rows.lazy.map(\.row))
        // Children stand behind their parents, so the reverse order has every child ready when its parent comes.
        var described: [UInt32: Value] = [:]
        for (row, level) in rows.reversed() where !nodes[Int(row)].isTransparent {
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

    /// Charges an answer that describes nodes and their attributes before it is made: by what the attributes hold now, for rules have
    /// costs of their own.
    func chargeDescription(of rows: some Sequence<UInt32>) throws(Failure) {
        for row in rows {
            try charge(Wiring.stepsPerDescribedNode)
            for (_, attribute) in nodes[Int(row)].attributes {
                try charge(
                    Wiring.stepsPerDescribedAttribute, telling: engine.lastValue(of: attribute) ?? .value(.null))
            }
        }
    }

    private func describeNode(_ row: UInt32) -> ValueMap {
        let node = nodes[Int(row)]
        var map = ValueMap()
        map["id"] = .string(node.id)
        map["path"] = .string(nodes.path(of: row))
        map["kind"] = .string(node.kind.rawValue)
        if let component = node.definition.component { map["component"] = .string(component) }
        var described = ValueMap()
        for (name, attribute) in allAttributes(of: row) { described[name] = details(of: attribute) }
        if !described.isEmpty { map["attributes"] = .map(described) }
        let choices = choices(below: row)
        if !choices.isEmpty { map["choices"] = .list(choices) }
        return map
    }

    /// `{if or switch, shows?, error?}` of each choice between a node and its children, in order.
    private func choices(below row: UInt32) -> [Value] {
        guard nodes[Int(row)].hasTransparentChildren else { return [] }
        var found: [Value] = []
        var pending = nodes[Int(row)].children.reversed() as [UInt32]
        while let next = pending.popLast() {
            let node = nodes[Int(next)]
            guard node.isTransparent else { continue }
            pending += node.children.reversed()
            guard let state = node.instances, let made = node.definition.forEach, let choice = made.choice else {
                continue
            }
            var map = ValueMap([(.string(choice.rawValue), DefinitionWriter.condition(made.data))])
            if let branch = state.ids.first?.string { map["shows"] = .string(Branch.caseText(branch) ?? branch) }
            if let failure = state.failure ?? refusal(at: next) {
                map["error"] = describe(shown(failure, of: state.data))
            }
            found.append(.map(map))
        }
        return found
    }

    /// `{kind, type, value or error, rule?, target?, action?}` of one attribute; evaluates it.
    public func details(of attribute: AttributeID) -> Value {
        let record = record(attribute)
        var map = ValueMap()
        map["kind"] = .string(record.kind.rawValue)
        map["type"] = .string(record.type.description)
        switch shown(content(of: attribute), of: attribute) {
        case .value(let value): map["value"] = value
        case .failure(let failure): map["error"] = describe(failure)
        }
        switch record.source {
        case .state(let isTransient): if isTransient { map["transient"] = true }
        case .rule(let rule): map["rule"] = .string(rule.program.text)
        case .alias(let place, _):
            let target = follow(place, isWritten: true)
            guard !isUnnamed(target.attribute), isVisible(target.attribute) else { break }
            map["target"] = .string(path(of: target.attribute) + target.steps.map(\.description).joined())
        default: break
        }
        if let span = record.definition?.history { map["history"] = .string(span.description) }
        if case .action(let action)? = record.definition?.role { map["action"] = action.document }
        if let animation = record.animation { map["animation"] = .string(animation) }
        return .map(map)
    }

    /// The same of a place inside an attribute's value, with the type that the value there has.
    public func details(of place: Place) -> Value {
        guard !place.steps.isEmpty, case .map(var map) = details(of: place.attribute) else {
            return details(of: place.attribute)
        }
        switch shown(content(at: place), of: place.attribute) {
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

    /// What an attribute read last and who reads it, by name. Which readers have run, and how often the rule ran, depends on the whole
    /// graph, so it is told to those alone who may read all of it.
    public func explain(_ attribute: AttributeID, into map: inout ValueMap) {
        let record = record(attribute)
        map["kind"] = .string(record.kind.rawValue)
        if case .rule(let rule) = record.source { map["rule"] = .string(rule.program.text) }
        map["dependencies"] = .list(engine.inputs(of: attribute).filter { isVisible($0) }.map { .string(path(of: $0)) })
        guard mayRead == nil else { return }
        map["dependents"] = .list(engine.readers(of: attribute).map { .string(path(of: $0)) })
        map["evaluations"] = .int(Int64(engine.evaluations(of: attribute)))
    }

    /// The nearest attribute upstream that was evaluated after a stamp and yet did not change: where the news ended.
    public func cutOff(above attribute: AttributeID, since stamp: UInt64) -> AttributeID? {
        var seen: Set<AttributeID> = [attribute]
        var pending = [attribute]
        var position = 0
        while position < pending.count {
            let next = pending[position]
            position += 1
            if engine.evaluatedAt(next) > stamp, engine.changedAt(next) <= stamp { return next }
            for input in engine.inputs(of: next) where seen.insert(input).inserted { pending.append(input) }
        }
        return nil
    }

    // MARK: Dumps

    /// The vertices of a subtree and the edges between them.
    private func vertices(below node: NodeID, limit: Int) throws(Failure) -> [AttributeID] {
        let rows = Set(nodes.subtree(of: node.row))
        guard rows.count <= limit else {
            throw Failure(
                .limit, "\(rows.count) nodes; at most \(limit) are dumped at once", hint: "name a smaller part")
        }
        try chargeDescription(of: rows)
        var found: [AttributeID] = []
        for row in rows.sorted() {
            let node = nodes[Int(row)]
            found += allAttributes(of: row).map(\.attribute)
            found +=
                node.environment.map(\.attribute) + node.containerValues.map(\.source) + node.preferences.map(\.source)
            found += node.animations.map(\.value) + (node.tag.map { [$0] } ?? [])
            // What is made when somebody asks for it shows who asks, who may be hidden.
            if mayRead == nil { found += node.system.values.sorted { $0.index < $1.index } }
        }
        if mayRead != nil { return found }
        for attribute in found {
            attributes[Int(attribute.index)]?.projections?.forEachAttribute { found.append($0) }
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
            map["path"] = .string(path(of: attribute))
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

    /// Vertices counted from 0, for who may not know how many others there are; nil: they have the engine's numbers.
    private func numbers(of vertices: [AttributeID]) -> [AttributeID: Int64]? {
        mayRead == nil ? nil : Dictionary(zip(vertices, 0...)) { first, _ in first }
    }

    /// The same as a Graphviz graph: an arrow leads from what is read to who reads it.
    public func dot(_ node: NodeID, limit: Int) throws(Failure) -> String {
        let vertices = try vertices(below: node, limit: limit)
        let known = Set(vertices)
        let numbers = numbers(of: vertices)
        func name(_ attribute: AttributeID) -> String { "v\(numbers?[attribute] ?? Int64(attribute.index))" }
        func quoted(_ text: String) -> String { Value.string(text).jsonText }
        var text = "digraph agd {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n"
        for attribute in vertices {
            let shape =
                switch record(attribute).source {
                case .state, .system: "ellipse"
                case .alias: "cds"
                default: "box"
                }
            let content: String =
                switch shown(self.content(of: attribute), of: attribute) {
                case .value(let value): String(value.jsonText.prefix(40))
                case .failure(let failure): "error: \(failure.message.prefix(40))"
                }
            text += "  \(name(attribute)) [shape=\(shape), label=\(quoted(path(of: attribute) + "\n" + content))];\n"
        }
        for attribute in vertices {
            for input in engine.inputs(of: attribute) where known.contains(input) {
                text += "  \(name(input)) -> \(name(attribute));\n"
            }
        }
        return text + "}\n"
    }

    // MARK: Rules from outside

    /// Steps for a byte of a rule that is read, checked and compiled.
    private static let stepsPerByteOfRule = 8

    /// Charges a rule before it is read. A text that is too long is refused without being read.
    private func chargeReading(_ text: String) throws(Failure) {
        let length = text.utf8.count
        if length <= limits.rules.sourceLength { try charge(length * Wiring.stepsPerByteOfRule) }
    }

    /// A rule over bindings alone.
    public func evaluate(_ text: String, _ bindings: ValueMap) throws(Failure) -> Content {
        try chargeReading(text)
        let scope = RuleScope(limits: limits.rules)
        for (name, _) in bindings { if case .string(let name) = name { scope.declare(name, ValueType.dyn) } }
        do { return evaluate(try Rule.compile(text, in: scope), bindings: bindings) } catch { throw error.failure }
    }

    /// A rule in the scope of a node: its attributes by name, as they are now, beside the bindings. The environment and the place
    /// among its siblings are there for those alone who may read what is around the node.
    public func evaluate(_ text: String, at node: NodeID, _ bindings: ValueMap) throws(Failure) -> Content {
        try chargeReading(text)
        let scope = RuleScope(limits: limits.rules)
        for (name, _) in bindings { if case .string(let name) = name { scope.declare(name, ValueType.dyn) } }
        for (name, attribute) in allAttributes(of: node.row) {
            scope.declare(name, record(attribute).type)
        }
        if mayRead == nil {
            scope.declareNamespace(
                "env", keysAre: "environment key", declarations.environment.mapValues { RuleType($0.type) })
            scope.declareNamespace(
                "self", keysAre: "property of self", ["id": .string, "path": .string, "index": .int])
        } else {
            scope.declareNamespace("self", keysAre: "property of self", ["id": .string, "path": .string])
        }
        scope.declareNamespace(
            "preferences", keysAre: "preference key", declarations.preference.mapValues { RuleType($0.type) })
        scope.declare("subviews", ValueType.list(.dyn))
        scope.declare("sections", ValueType.list(.dyn))
        let program: Program
        do { program = try Rule.compile(text, in: scope) } catch { throw error.failure }
        var values = bindings
        for input in program.inputs where values[input.variable] == nil {
            guard case .attribute(let attribute) = evaluationSource(input, at: node.row) else { continue }
            switch content(of: attribute) {
            case .value(let value): values[input.variable] = value
            case .failure(let failure): return .failure(shown(failure, of: attribute))
            }
        }
        return evaluate(program, bindings: values)
    }
}
