import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// The living tree as a document: applied to an empty graph, it makes an equal one.

/// Writes a node and everything below it as a document.
///
/// A node is written with its present states as initial values. A node that was made from a component is written as a
/// use of it, unless the nodes inside differ from what the component says. Instances of a `forEach` are left out. The
/// present states inside both are written under `values`. Cost: O(nodes and attributes below).
struct SceneExporter {
    let graph: Wiring
    /// Number of ids in the path of the node that the document is to be applied to.
    private let place: Int
    private var values: [(String, Value)] = []
    /// Written names that resolve to nothing, for example in a node that was moved.
    private var dangling: Set<String> = []
    /// Nodes written so far.
    private var count = 0
    private var components: CurrentComponents

    init(_ graph: Wiring, at row: NodeRow) {
        self.graph = graph
        components = CurrentComponents(graph.declarations.components)
        place = row == .root ? 0 : graph.nodes.ids(of: row).count - 1
    }

    /// - Throws: `limit` for more than `limit` nodes, or more levels than a document can have.
    mutating func makeDocument(of row: NodeRow, limit: Int) throws(Failure) -> Value {
        let isRoot = row == .root
        let nodes: [Value]
        if isRoot {
            exportSystemValues()
            var list: [Value] = []
            for child in graph.nodes[row].children { list.append(try node(child, limit)) }
            nodes = list
        } else {
            nodes = [try node(row, limit)]
        }
        var document = ValueMap([(.string("agd"), 1)])
        let written = graph.declarations.written
        func map(_ entries: [String: Value]) -> Value {
            .map(ValueMap(entries.sorted { $0.key.precedesByBytes($1.key) }.map { (.string($0.key), $0.value) }))
        }
        // Declarations belong to no part of the tree. A client that may read only a part gets none: where it can apply
        // the document, they are declared already.
        guard graph.mayRead == nil else { return .map(finish(document, nodes)) }
        if !written.keys.isEmpty {
            document["keys"] = map(written.keys.mapValues { map($0.mapValues { $0.literal() }) })
        }
        if !written.functions.isEmpty { document["functions"] = map(written.functions.mapValues { $0.literal() }) }
        if !written.types.isEmpty { document["types"] = map(written.types.mapValues { $0.literal() }) }
        if !written.components.isEmpty { document["components"] = map(written.components.mapValues { $0.literal() }) }
        return .map(finish(document, nodes))
    }

    private func finish(_ document: ValueMap, _ nodes: [Value]) -> ValueMap {
        var document = document
        document["nodes"] = .list(nodes)
        document["dangling"] = writtenDangling
        if !values.isEmpty { document["values"] = .map(ValueMap(values.map { (.string($0.0), $0.1) })) }
        return document
    }

    private var writtenDangling: Value? {
        dangling.isEmpty ? nil : .list(dangling.sorted { $0.precedesByBytes($1) }.map { .string($0) })
    }

    /// Writes the system values that an operator has set on the root. The daemon itself sets `scenePhase`.
    private mutating func exportSystemValues() {
        for name in SystemEnvironment.keys.map(\.name) where name != "scenePhase" {
            guard let value = graph.systemValue(name), value != graph.systemStandards[name] else { continue }
            values.append(("/." + name, value.literal()))
        }
    }

    // MARK: Nodes

    /// Writes a node with everything below. Children come after their parents in `rows`, so the reverse order has every
    /// child ready.
    private mutating func node(_ top: NodeRow, _ limit: Int) throws(Failure) -> Value {
        var rows: [(row: NodeRow, level: Int, shown: [NodeRow], isUse: Bool)] = []
        var pending = [(top, 0)]
        while let (row, level) = pending.popLast() {
            let isUse = isUse(row)
            let shown = children(of: row, isUse)
            rows.append((row, level, shown, isUse))
            try enter(level, limit)
            if !isUse {
                for template in graph.nodes[row].definition.forEach?.templates ?? [] {
                    try enter(template, level + 1, limit)
                }
            }
            pending += shown.reversed().map { ($0, level + 1) }
        }
        var order = rows.indices.reversed().makeIterator()
        var made: [NodeRow: Value] = [:]
        while let position = order.next() {
            let (row, _, shown, isUse) = rows[position]
            noteDangling(in: row, isUse)
            var fields = isUse ? use(row) : plain(row)
            for (key, slot) in [("header", Slot.header), ("children", .content), ("footer", .footer)] {
                let list = shown.filter { graph.nodes[$0].slot == slot }.compactMap {
                    made.removeValue(forKey: $0)
                }
                guard !list.isEmpty else { continue }
                if slot == .content, isUse, graph.nodes.hasPlaces {
                    addGiven(list, at: shown.filter { graph.nodes[$0].slot == slot }, to: &fields)
                    continue
                }
                fields[graph.nodes[row].kind == .section && slot == .content ? "content" : key] = .list(list)
            }
            made[row] = .map(fields)
        }
        // In the order of the tree: the loop above went backwards.
        for entry in rows where entry.isUse { exportStates(inside: entry.row, below: entry.shown) }
        for entry in rows where !entry.isUse && graph.nodes[entry.row].kind.isMadeFromData {
            exportStates(inside: entry.row, below: [])
        }
        return made[top] ?? .null
    }

    /// Writes the nodes that are given to a component under their slots.
    private func addGiven(_ list: [Value], at rows: [NodeRow], to fields: inout ValueMap) {
        var slots = ValueMap()
        for (row, value) in zip(rows, list) {
            let slot = graph.nodes.givenSlot(of: row)
            let key = Value.string(slot ?? "children")
            let before = (slot == nil ? fields : slots)[key]?.list ?? []
            if slot == nil { fields[key] = .list(before + [value]) } else { slots[key] = .list(before + [value]) }
        }
        if !slots.isEmpty { fields["slots"] = .map(slots) }
    }

    /// Counts one more node of the document.
    private mutating func enter(_ level: Int, _ limit: Int) throws(Failure) {
        count += 1
        guard count <= limit else {
            throw Failure(
                .limit, "more than \(limit) nodes; at most that many are exported at once", hint: "name a smaller part")
        }
        // A node is a map in a list.
        guard (level + 2) * 2 < SceneLimits.nesting else {
            throw Failure(
                .limit, "the tree is deeper than a document can be", hint: "export its lower parts one by one")
        }
    }

    /// Counts the nodes of a template: components that are written in full multiply.
    private mutating func enter(_ template: NodeDefinition, _ level: Int, _ limit: Int) throws(Failure) {
        var pending = [(template, level)]
        while let (definition, level) = pending.popLast() {
            try enter(level, limit)
            if definition.component != nil, components.isWrittenAsUse(definition) {
                let own = Set((definition.base?.slotted ?? []).map { ObjectIdentifier($0.0) })
                pending += definition.slotted.filter { !own.contains(ObjectIdentifier($0.0)) }.map { ($0.0, level + 1) }
            } else {
                pending += definition.slotted.map { ($0.0, level + 1) }
                pending += (definition.forEach?.templates ?? []).map { ($0, level + 1) }
            }
        }
    }

    /// Children that the document names: all but those that the component's body or data makes.
    private func children(of row: NodeRow, _ isUse: Bool) -> [NodeRow] {
        let node = graph.nodes[row]
        if node.kind.isMadeFromData { return [] }
        guard isUse, let body = node.definition.body else {
            guard graph.nodes.hasPlaces else { return node.children }
            // Without its component, a choice that is made from what the component is given means nothing. The nodes
            // below it are written in its place.
            return node.children.flatMap { child in
                let forEach = graph.nodes[child].definition.forEach
                let isLost = forEach?.choice != nil && forEach?.isMadeFromGiven == true
                return isLost ? graph.nodes.visibleChildren(of: child) : [child]
            }
        }
        let inside = Set(body.slotted.map(\.0.id))
        return node.children.filter { !inside.contains(graph.nodes[$0].id) }
    }

    /// True if a node can be written as the use of its component: the component still says the same, and nobody has
    /// changed what it made.
    private mutating func isUse(_ row: NodeRow) -> Bool {
        let node = graph.nodes[row]
        guard node.definition.component != nil, let body = node.definition.body, components.isCurrent(body),
            node.kind == body.kind || !node.children.isEmpty
        else { return false }
        // Apart from parameters, its attributes must be those of the body.
        for attribute in node.definition.attributes {
            guard let inBody = body.attributes.first(where: { $0.name == attribute.name }) else {
                // A use may have actions that the daemon calls.
                if case .action(let action) = attribute.role, action.trigger != nil { continue }
                return false
            }
            if attribute != inBody, !inBody.isParameter || !attribute.isParameter { return false }
        }
        let names = Set(node.definition.attributes.map(\.name))
        guard body.attributes.allSatisfy({ names.contains($0.name) }) else { return false }
        return node.definition.hasModifiers(around: body) && isInside(row, as: body)
    }

    /// True if the nodes below a use are those of the body, in the same order, followed only by nodes that are given to
    /// it.
    private func isInside(_ top: NodeRow, as body: NodeDefinition) -> Bool {
        var pending = [(body, top)]
        while let (definition, row) = pending.popLast() {
            for slot in [Slot.header, .content, .footer] {
                let wanted = definition.slotted.filter { $0.1 == slot }.map(\.0)
                let found = graph.nodes[row].children.filter { graph.nodes[$0].slot == slot }
                guard row == top ? found.count >= wanted.count : found.count == wanted.count else { return false }
                for (child, live) in zip(wanted, found) {
                    let living = graph.nodes[live]
                    // A node from elsewhere may have replaced the body's node and have its id.
                    guard living.id == child.id, living.isContent == child.isContent,
                        living.definition.isCopy(of: child) || living.definition.hasSameMembers(as: child),
                        child.forEach.map({ living.definition.forEach?.isSame(as: $0) == true }) ?? true
                    else { return false }
                    if !child.isRepeated, child.forEach == nil { pending.append((child, live)) }
                }
                guard found.dropFirst(wanted.count).allSatisfy({ graph.nodes[$0].isContent }) else { return false }
            }
        }
        return true
    }

    private mutating func plain(_ row: NodeRow) -> ValueMap {
        let node = graph.nodes[row]
        var definition = node.definition
        if graph.nodes.hasPlaces, let data = definition.forEach {
            definition = NodeDefinition(copyOf: definition, id: node.id)
            definition.forEach = data.withoutGiven { components.isWrittenAsUse($0) }
        }
        var fields = ValueMap([(.string("id"), .string(node.id.text))])
        DefinitionWriter.addMembers(of: definition, into: &fields) {
            components.isWrittenAsUse($0)
        } value: { attribute in
            guard case .state(_, let isTransient) = attribute.role,
                let state = graph.ownAttribute(attribute.name, of: row), graph.content(ofStored: state).failure == nil
            else { return nil }
            return DefinitionWriter.stateForm(storedValue(of: state), attribute.type, isTransient, of: attribute)
        }
        DefinitionWriter.moveReactions(in: &fields)
        return fields
    }

    /// A state's value; for an object, its stored properties. The recursion is as deep as types contain each other.
    private func storedValue(of attribute: AttributeID) -> Value {
        guard case .object(let object) = graph.record(attribute).source else {
            return graph.content(ofStored: attribute).value ?? .null
        }
        return .map(graph.storedProperties(of: object))
    }

    /// Notes the names in a node's attributes and modifiers that resolve to nothing where the node stands, or to an
    /// attribute that the client may not read.
    private mutating func noteDangling(in row: NodeRow, _ isUse: Bool) {
        let names = ReferredNames(in: graph.nodes[row].definition)
        let all = [
            (names.enclosing, Scope.enclosing), (names.modifier, .modifier), (names.use, .modifier.atUse(isUse)),
        ]
        for (names, scope) in all {
            for name in names
            where graph.resolveName(name, from: row, scope).map({ graph.isVisible($0) }) != true {
                dangling.insert(name)
            }
        }
    }

    private func use(_ row: NodeRow) -> ValueMap {
        let node = graph.nodes[row]
        var fields = ValueMap([(.string("id"), .string(node.id.text))])
        DefinitionWriter.addUse(of: node.definition, into: &fields)
        return fields
    }

    // MARK: Values

    /// Writes the states inside uses and lists whose values are not the initial ones.
    private mutating func exportStates(inside top: NodeRow, below excluded: [NodeRow]) {
        let excluded = Set(excluded)
        var pending = [top]
        while let row = pending.popLast() {
            let node = graph.nodes[row]
            for (_, attribute) in node.attributes { exportState(attribute) }
            pending += node.children.reversed().filter { !excluded.contains($0) }
        }
    }

    private mutating func exportState(_ attribute: AttributeID) {
        let record = graph.record(attribute)
        guard record.kind == .state, case .state(let initial, _)? = record.definition?.role else { return }
        if case .object(let object) = record.source {
            for (_, property) in graph.nodes[object].attributes { exportState(property) }
            return
        }
        guard case .value(let value) = graph.content(of: attribute),
            record.definition?.start != nil || value != graph.declarations.complete(initial, as: record.type)
        else { return }
        guard let path = try? AttributePath(graph.path(of: attribute)) else { return }
        let relative = AttributePath(
            nodes: Array(path.nodes.dropFirst(place)), attribute: path.attribute, steps: path.steps)
        values.append((relative.description, value.literal(as: record.type)))
    }
}

extension ForEachDefinition {
    /// True if the component around it decides what it shows.
    fileprivate var isMadeFromGiven: Bool {
        if choice?.isPlacement == true { return true }
        guard case .rule(let program) = data else { return false }
        return program.inputs.contains { $0.root == "subviews" || $0.root == "sections" }
    }

    /// The same outside of the component, where nothing is given.
    fileprivate func withoutGiven(_ isUse: (NodeDefinition) -> Bool) -> ForEachDefinition {
        var made = self
        if isMadeFromGiven { made.data = .literal(choice == nil ? [] : choice == .if ? false : "") }
        made.templates = templates.map { $0.withoutGiven(isUse) }
        return made
    }
}

extension NodeDefinition {
    /// A copy without `place` and `slot`, except in the bodies of components that it is a use of. `SceneLimits.nesting`
    /// bounds the recursion.
    fileprivate func withoutGiven(_ isUse: (NodeDefinition) -> Bool) -> NodeDefinition {
        let made = NodeDefinition(copyOf: self, id: id)
        let body = isUse(self) ? base : nil
        func own(_ nodes: [NodeDefinition], after inBody: [NodeDefinition]?) -> [NodeDefinition] {
            let count = inBody?.count ?? 0
            let own = nodes.dropFirst(count).filter { $0.forEach?.choice?.isPlacement != true }
            return nodes.prefix(isRepeated ? 0 : count) + own.map { $0.withoutGiven(isUse) }
        }
        made.forEach = forEach?.withoutGiven(isUse)
        made.header = own(header, after: body?.header)
        made.children = own(children, after: body?.children)
        made.footer = own(footer, after: body?.footer)
        return made
    }
}

extension Wiring {
    /// A node and everything below it as a scene document.
    /// - Throws: `limit` for more than `limit` nodes, or more levels than a document can have.
    public func scene(at node: NodeID, limit: Int) throws(Failure) -> Value {
        try chargeDescription(of: nodes.subtree(of: node.row))
        var exporter = SceneExporter(self, at: node.row)
        return try exporter.makeDocument(of: node.row, limit: limit)
    }
}
