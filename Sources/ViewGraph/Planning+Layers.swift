import AttributeValues
import SceneModel

/// The name of a layer.
public struct LayerName {
    public let name: String
    /// The path of the node at which it is applied.
    public let at: String

    public init(_ name: String, at: String) { (self.name, self.at) = (name, at) }
}

// Planning what a document says as a named layer: the parts that the layer has from now on, and the children of
// existing nodes which these parts change.

extension Planning {
    /// The plan of a change of named layers alone.
    private struct Change {
        var layers: NamedLayers
        var rows: [StoreChange] = []
        /// Nodes of which layers say something else than before, by the keys of their parents.
        var changed: [Name: Set<Name>] = [:]

        mutating func set(_ part: LayerPart?, of layer: Int, at key: String) {
            layers.set(part, of: layer, at: key)
            changed[Name(StoredKey.parentKey(of: key) ?? ""), default: []].insert(Name(StoredKey.id(of: key)))
        }
    }

    /// Plans the document as a named layer, and reads the parts of layers again whose components it declares anew.
    func planLayers(_ scene: SceneDefinition, at top: NodeRow) throws(Failure) {
        var change = Change(layers: layers)
        try renewLayers(scene.declarations, &change)
        if let layer { try plan(layer, scene, at: top, &change) }
        try planChanged(change)
    }

    /// Plans that a layer is withdrawn.
    func planWithdrawal(of number: Int) throws(Failure) {
        var change = Change(layers: layers)
        for key in layers.keys(of: number) { change.set(nil, of: number, at: key) }
        change.layers.removeLayer(number)
        change.rows.append(StoreChange(key: NamedLayers.key(of: number), name: nil, value: nil))
        plan.layer = number
        try planChanged(change)
    }

    /// Plans the children of nodes of which layers say something else than before.
    private func planChanged(_ change: Change) throws(Failure) {
        guard !change.rows.isEmpty || !change.changed.isEmpty else { return }
        layers = change.layers
        (plan.layers, plan.layerChanges) = (change.layers, change.rows)
        var parents: [(depth: Int, row: NodeRow, ids: Set<Name>)] = []
        for (key, ids) in change.changed {
            guard let row = graph.nodes.row(ofKey: key.text), !graph.nodes[row].kind.isMadeFromData,
                graph.nodes[row].kind != .view
            else { continue }
            parents.append((graph.nodes.depth(of: row), row, ids))
        }
        for (_, row, ids) in parents.sorted(by: { ($0.depth, $0.row) > ($1.depth, $1.row) }) {
            planLayered(
                ids, below: row,
                layers.layered(
                    graph.nodes.childrenBelowLayers(of: row), below: graph.nodes.key(of: row),
                    isUse: graph.nodes.isComponentRoot(row)))
        }
    }

    private struct Unplanned {
        var definitions: [(definition: NodeDefinition, slot: Slot)]
        /// The parent; nil if there is no such node yet.
        var row: NodeRow?
        var key: String
        var path: String
        var depth: Int
    }

    private func plan(
        _ name: LayerName, _ scene: SceneDefinition, at top: NodeRow, _ change: inout Change
    ) throws(Failure) {
        let nodes = graph.nodes
        let known = layers.layer(name.name, at: name.at)
        let number = known?.number ?? layers.nextNumber
        plan.layer = number
        if known == nil {
            guard layers.layers.count < NamedLayers.mostLayers else {
                throw Failure(.limit, "there are \(NamedLayers.mostLayers) layers, and there can be no more")
            }
            change.layers.add(.init(at: name.at, name: name.name, number: number, revision: 0))
            change.rows.append(
                StoreChange(
                    key: NamedLayers.key(of: number), name: "",
                    value: ["at": .string(name.at), "name": .string(name.name)]))
        }
        var left = Set(texts: layers.keys(of: number))
        var grounds: [NodeRow: [Name: NodeDefinition]] = [:]
        func ground(_ id: Name, below row: NodeRow) -> NodeDefinition? {
            if grounds[row] == nil {
                grounds[row] = Dictionary(
                    nodes.childrenBelowLayers(of: row).map { ($0.definition.id, $0.definition) },
                    uniquingKeysWith: { $1 })
            }
            return grounds[row]?[id]
        }
        let topPath = nodes.path(of: top)
        var pending = [
            Unplanned(
                definitions: scene.nodes.map { ($0, .content) }, row: top, key: nodes.key(of: top),
                path: topPath == "/" ? "" : topPath, depth: nodes.depth(of: top))
        ]
        while let next = pending.popLast() {
            for (place, (definition, slot)) in next.definitions.enumerated() {
                chargeUpdate()
                try refuseCost()
                let isNamed = !definition.kind.isTransparent
                let found = next.row.flatMap { row in
                    nodes.child(definition.id, of: row) ?? (isNamed ? nodes.visibleChild(definition.id, of: row) : nil)
                }
                let key = found.map { nodes.key(of: $0) } ?? next.key + "/" + StoredKey.escape(definition.id.text)
                let path =
                    isNamed ? next.path + "/" + AttributePath.quoteIfNeeded(definition.id.text) : next.path
                let parent = found.map { nodes[$0].parent } ?? next.row
                if let parent, nodes[parent].kind.isMadeFromData {
                    throw Failure(
                        .conflict, "\(path) is made from data", path: path, hint: "change the list it is made from")
                }
                left.remove(Name(key))
                let below = parent.flatMap { ground(definition.id, below: $0) }
                let lower = layers[key]?.compose(over: below, below: number) ?? below
                let old = layers[key]?.parts.first { $0.layer == number }
                // A document need not name the component of a node that exists.
                let isUse = found != nil && definition.component == nil
                let fits = lower.map { definition.canComplete($0) || isUse && definition.kind == $0.kind } ?? false
                let isMade = old?.isMade ?? !fits
                let content = PartContent.saying(definition, isMade: isMade, over: lower)
                if content.isEmpty {
                    if old != nil { left.insert(Name(key)) }
                } else {
                    let row = LayerPart.row(of: content, place: place, slot)
                    let isSame = old.map { Value.map($0.row) == .map(row) } ?? false
                    if !isSame || old?.content == nil {
                        change.set(
                            LayerPart(
                                layer: number, isMade: isMade, place: place, slot: slot, row: row, content: content),
                            of: number, at: key)
                    }
                    if !isSame {
                        change.rows.append(
                            StoreChange(key: NamedLayers.key(of: number), name: key, value: .map(row)))
                    }
                    if isMade, found == nil {
                        let added = try graph.additions(by: content.said ?? definition, below: next.depth)
                        chargeAtOnce(added)
                        if old == nil, next.row == nil { noteAdded(path, added) }
                    }
                }
                if definition.forEach != nil { continue }
                pending.append(
                    Unplanned(
                        definitions: definition.given, row: found, key: key, path: path, depth: next.depth + 1))
            }
        }
        for key in left.sorted().texts {
            change.set(nil, of: number, at: key)
            change.rows.append(StoreChange(key: NamedLayers.key(of: number), name: key, value: nil))
        }
    }

    /// Reads parts of layers again whose components are declared anew.
    private func renewLayers(_ new: Declarations, _ change: inout Change) throws(Failure) {
        let known = graph.declarations.components
        guard !layers.isEmpty, new.components.contains(where: { known[$0]?.makesSame(as: $1) != true }) else { return }
        var components = CurrentComponents(known.merging(new.components) { $1 })
        for (key, node) in layers.all {
            for part in node.parts {
                if let content = part.content {
                    let said = [content.said, content.members].compactMap { $0 }.filter {
                        $0.base != nil || $0.forEach != nil
                    }
                    if said.isEmpty || !components.hasOutdated(in: said) { continue }
                }
                let renewed = LayerPart(layer: part.layer, stored: part.row)
                if let parent = graph.nodes.row(ofKey: StoredKey.parentKey(of: key.text) ?? "") {
                    graph.read(renewed, Name(StoredKey.id(of: key.text)), below: parent, with: new)
                    if let failure = renewed.failure, part.content != nil {
                        throw Failure(
                            .conflict, "\(key.text) does not fit a new declaration: \(failure.message)", path: key.text,
                            hint: "withdraw the layer that says it first, or declare another component")
                    }
                }
                change.set(renewed, of: part.layer, at: key.text)
            }
        }
    }
}

extension NamedLayers {
    /// More are refused.
    static let mostLayers = 1000
}

extension LayerPart {
    /// A part as the store has it.
    fileprivate static func row(of content: PartContent, place: Int, _ slot: Slot) -> ValueMap {
        var fields = ValueMap()
        if content.isMade {
            fields["place"] = .int(Int64(place))
            if slot != .content { fields["slot"] = .string(slot.rawValue) }
        }
        var names: [Value] = []
        if let said = content.said {
            fields[content.isMade ? "makes" : "completes"] = Persistence.written(said)
            fields["given"] = said.givenSlot.map { .string($0) }
            if content.isMade, said.layer > 0 { fields["layer"] = .int(Int64(said.layer)) }
            names += Persistence.names(in: said)?.list ?? ValueList()
        }
        if let members = content.members, case .map(var written) = Persistence.written(members) {
            written["kind"] = nil
            fields["members"] = .map(written)
            fields["given"] = members.givenSlot.map { .string($0) } ?? fields["given"]
            names += Persistence.names(in: members)?.list ?? ValueList()
        }
        if !names.isEmpty { fields["names"] = .list(ValueList(names)) }
        return fields
    }
}

extension Wiring {
    /// Reads the parts of layers for the children of a node, if they have not been read.
    func readLayers(below row: NodeRow, _ key: String) {
        for child in nodes.layers.keys(below: key) {
            guard let node = nodes.layers[child.text] else { continue }
            for part in node.parts where part.content == nil && part.failure == nil {
                read(part, Name(StoredKey.id(of: child.text)), below: row)
                node.forgetComposed()
            }
        }
    }

    /// Reads what a part says, where its node stands.
    fileprivate func read(_ part: LayerPart, _ id: Name, below parent: NodeRow, with new: Declarations? = nil) {
        let fields = part.row
        func read(_ field: String) throws(Failure) -> NodeDefinition? {
            guard case .map(var members)? = fields[.string(field)] else { return nil }
            members["id"] = .string(id.text)
            var document = ValueMap([(.string("agd"), 1), (.string("nodes"), .list([.map(members)]))])
            document["dangling"] = fields["names"]
            guard let read = try self.read(.map(document), at: parent, with: new).nodes.first else { return nil }
            let made = NodeDefinition(copyOf: read.withoutGivenChildren, id: id)
            made.givenSlot = fields["given"]?.string.flatMap { $0 == NodeDefinition.contentSlot ? nil : $0 }
            if part.isMade {
                made.layer = if case .int(let layer)? = fields["layer"] { Int(layer) } else { 0 }
            }
            return made
        }
        do throws(Failure) {
            part.content = PartContent(
                isMade: part.isMade, said: try read(part.isMade ? "makes" : "completes"), members: try read("members"))
        } catch { part.failure = error }
    }
}
