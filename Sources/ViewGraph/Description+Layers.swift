import AttributeValues
import SceneModel

// Which named layers there are, and which of them say something of a node.

extension Description {
    /// The named layers at a node and below it, lower ones first, without those at nodes that the client may not read.
    /// - Parameter ids: the ids of the path of the node.
    public func layers(at ids: [Name]) -> [Value] {
        let said = graph.nodes.layers.all.reduce(into: [Int: [(key: Name, part: LayerPart)]]()) { said, node in
            for part in node.value.parts { said[part.layer, default: []].append((node.key, part)) }
        }
        return graph.nodes.layers.layers.filter { layer in
            guard let at = try? AttributePath(layer.at) else { return false }
            return at.nodes.starts(with: ids) && isVisible(at)
        }.map { layer in
            let parts = said[layer.number] ?? []
            return [
                "name": .string(layer.name), "at": .string(layer.at),
                "revision": .int(Int64(clamping: layer.revision)), "nodes": .int(Int64(parts.count)),
                "waiting": .int(
                    Int64(parts.count { graph.nodes.layers.waits($0.part, at: $0.key.text, in: graph.nodes) })),
            ]
        }
    }

    /// The named layers that say something of a node, lower ones first.
    func layerNames(of row: NodeRow) -> [Value] {
        if nodes.layers.isEmpty || nodes.isMade(row) { return [] }
        guard let node = nodes.layers[nodes.key(of: row)] else { return [] }
        return node.parts.filter { $0.content != nil }.compactMap { nodes.layers.layer($0.layer) }.filter { layer in
            (try? AttributePath(layer.at)).map { isVisible($0) } ?? false
        }.map { ["name": .string($0.name), "at": .string($0.at)] }
    }

    /// The uppermost named layer that says an attribute of a node; nil if the edits say it, or no named layer does.
    func layerSaying(_ name: String, of row: NodeRow) -> NamedLayers.Layer? {
        if nodes.layers.isEmpty || nodes.isMade(row) || nodes[row].isObject { return nil }
        func isSaid(_ content: PartContent) -> Bool {
            [content.said, content.members].contains { said in
                said?.attributes.contains { $0.name.hasSameBytes(as: name) } == true
            }
        }
        guard !isSaid(nodes.content(of: row)), let node = nodes.layers[nodes.key(of: row)],
            let part = node.parts.last(where: { $0.content.map(isSaid) == true }),
            let layer = nodes.layers.layer(part.layer), let at = try? AttributePath(layer.at), isVisible(at)
        else { return nil }
        return layer
    }

    /// A document that says the same as a layer.
    /// - Throws: `notFound`, or `limit` if the layer says something of too many nodes.
    public func document(of name: LayerName) throws(Failure) -> Value {
        guard let layer = nodes.layers.layer(name.name, at: name.at), let at = try? AttributePath(layer.at),
            isVisible(at)
        else { throw NamedLayers.missing(name) }
        let top = nodes.key(of: try graph.node(at: at.nodes).row)
        let keys = nodes.layers.keys(of: layer.number)
        try graph.charge(Wiring.stepsPerDescribedNode * keys.count)
        var parts: [Name: LayerPart] = [:]
        var below: [Name: Set<Name>] = [:]
        for key in keys {
            parts[Name(key)] = nodes.layers[key]?.parts.first { $0.layer == layer.number }
            var key = key
            while key.utf8.count > top.utf8.count, let parent = StoredKey.parentKey(of: key) {
                guard below[Name(parent), default: []].insert(Name(key)).inserted else { break }
                key = parent
            }
        }
        func children(of key: Name) -> [(value: Value, part: LayerPart?)] {
            let sorted = (below[key] ?? []).sorted { a, b in
                let (first, second) = (parts[a]?.placeOfMade ?? -1, parts[b]?.placeOfMade ?? -1)
                return (first, a.text) < (second, b.text)
            }
            return sorted.map { (node($0), parts[$0]) }
        }
        func node(_ key: Name) -> Value {
            var fields = ValueMap([("id", .string(StoredKey.id(of: key.text)))])
            for (member, value) in parts[key]?.said ?? ValueMap() { fields[member] = value }
            var slots = ValueMap()
            for (value, part) in children(of: key) {
                if let slot = part?.row["given"] {
                    slots[slot] = .list((slots[slot]?.list ?? []) + [value])
                } else {
                    let slot = part?.slot ?? .content
                    let place = Value.string(slot == .content ? "children" : slot.rawValue)
                    fields[place] = .list((fields[place]?.list ?? []) + [value])
                }
            }
            if !slots.isEmpty { fields["slots"] = .map(slots) }
            return .map(fields)
        }
        return ["agd": 1, "nodes": .list(ValueList(children(of: Name(top)).map(\.value)))]
    }

    private func isVisible(_ path: AttributePath) -> Bool { graph.mayRead?(path) ?? true }
}

extension LayerPart {
    /// The members of the node in a document, without those that nobody would write.
    fileprivate var said: ValueMap {
        var said = ValueMap()
        for group in ["completes", "makes", "members"] {
            for (member, value) in row[.string(group)]?.map ?? ValueMap() { said[member] = value }
        }
        said[.string(PartAuthor.key)] = nil
        if said["kind"] == "view" { said["kind"] = nil }
        return said
    }

    /// nil if it completes a node.
    fileprivate var placeOfMade: Int? { isMade ? place : nil }
}

extension NamedLayers {
    fileprivate static func missing(_ name: LayerName) -> Failure {
        Failure(
            .notFound, "there is no layer \(name.name) at \(name.at)", path: name.at, hint: "agctl layers lists them")
    }

    /// True if a part has no node, or does not fit its node.
    func waits(_ part: LayerPart, at key: String, in nodes: Tree<NodeRecord>) -> Bool {
        guard nodes.row(ofKey: key) == nil else { return part.content == nil }
        // The edits may have removed the node, or one around it.
        var key = key
        while let parent = StoredKey.parentKey(of: key) {
            if let row = nodes.row(ofKey: parent) {
                return nodes[row].part?.removed.contains(Name(StoredKey.id(of: key))) != true
            }
            key = parent
        }
        return true
    }
}

extension ViewGraph {
    /// A named layer; nil if there is none.
    public func layer(_ name: LayerName) -> NamedLayers.Layer? { nodes.layers.layer(name.name, at: name.at) }

    /// Notes when the layer of a plan has changed.
    public func noteLayer(of plan: ScenePlan, at revision: UInt64) {
        if let layer = plan.layer, plan.layers != nil { nodes.layers.note(revision, of: layer) }
    }

    /// For each layer with parts that wait: their number, one of them, and why.
    public var waitingLayers: [(layer: NamedLayers.Layer, failure: Failure)] {
        nodes.layers.layers.compactMap { layer in
            let waiting = nodes.layers.all.flatMap { node in
                node.value.parts.filter { $0.layer == layer.number }.map { (key: node.key.text, part: $0) }
            }.filter { nodes.layers.waits($0.part, at: $0.key, in: nodes) }
            guard let first = waiting.min(by: { $0.key.precedesByBytes($1.key) }) else { return nil }
            let reason = first.part.failure.map { ", because it does not fit: \($0.message)" } ?? ""
            return (
                layer,
                Failure(
                    .notFound,
                    "what the layer \(layer.name) at \(layer.at) says of \(waiting.count) nodes waits, of "
                        + "\(first.key) first\(reason)", path: first.key)
            )
        }
    }

    /// Plans that a layer is withdrawn.
    /// - Throws: `notFound`.
    public func planWithdrawal(of name: LayerName) throws(Failure) -> ScenePlan {
        guard let layer = layer(name) else {
            throw NamedLayers.missing(name)
        }
        let planning = try planning(of: SceneDefinition(declarations: Declarations(), nodes: []), at: .root, .merge)
        try planning.planWithdrawal(of: layer.number)
        var steps = Int.max
        _ = try planning.advance(&steps)
        return planning.plan
    }
}
