import AttributeGraph
import AttributeValues
import SceneModel

// From paths to nodes and attributes, and back.

extension Wiring {
    /// - Parameter looksForNames: whether errors get hints. The search for a near name takes much longer than to find
    ///   that a node is missing.
    /// - Throws: `notFound`, naming the first id that is missing and the nearest one there is.
    public func node(at ids: [String], looksForNames: Bool = true) throws(Failure) -> NodeID {
        var at = NodeID.root.row
        for (depth, id) in ids.enumerated() {
            guard let next = nodes.visibleChild(id, of: at) else {
                let path = AttributePath.describe(nodes: ids)
                // A client that may not read a node is not told how far the path leads.
                guard isVisible(node: at) else { throw Failure(.notFound, "no node \(path)", path: path) }
                let parent = AttributePath.describe(nodes: Array(ids.prefix(depth)))
                let siblings = nodes.visibleChildren(of: at).lazy.filter { self.isVisible(node: $0) }
                throw Failure(
                    .notFound, "no node \(AttributePath.quoteIfNeeded(id)) in \(parent)", path: path,
                    hint: looksForNames
                        ? attributeHint(id, of: at, parent)
                            ?? NearestName.hint(id, among: siblings.map { self.nodes[Int($0)].id }) : nil)
            }
            at = next
        }
        return nodes.nodeID(at)
    }

    /// The attribute a path names, and the steps into its value.
    /// - Throws: `notFound`, with the nearest name; `invalid` for a path that names a node only.
    public func locate(_ path: AttributePath, looksForNames: Bool = true) throws(Failure) -> Place {
        let node: NodeID
        do { node = try self.node(at: path.nodes, looksForNames: looksForNames) } catch {
            guard let name = path.attribute, mayRead?(path.node) == false else { throw error }
            throw noAttribute(name, at: path, among: nil)
        }
        guard let name = path.attribute else {
            throw Failure(
                .invalid, "\(path) names a node, not an attribute", path: path.description,
                hint: visibleNames(of: node.row).first.map { "add an attribute: \(path).\($0)" }
                    ?? "the node has no attributes")
        }
        guard let attribute = ownAttribute(name, of: node.row) else {
            throw noAttribute(name, at: path, among: looksForNames ? visibleNames(of: node.row) : nil)
        }
        return Place(attribute, path.steps)
    }

    /// For a path with a slash in place of a dot: the attribute of that name.
    private func attributeHint(_ id: String, of row: UInt32, _ path: String) -> String? {
        guard ownAttribute(id, of: row) != nil, isVisible(id, of: row) else { return nil }
        return NearestName.question("\(path).\(AttributePath.quoteIfNeeded(id))")
    }

    private func noAttribute(_ name: String, at path: AttributePath, among names: [String]?) -> Failure {
        Failure(
            .notFound, "no attribute \(name) on \(path.node)", path: path.description,
            hint: names.flatMap { nodeHint(name, at: path) ?? NearestName.hint(name, among: $0) })
    }

    /// For a path with a dot in place of a slash: the node of that name.
    private func nodeHint(_ name: String, at path: AttributePath) -> String? {
        guard let parent = try? node(at: path.nodes, looksForNames: false),
            let child = nodes.visibleChild(name, of: parent.row),
            isVisible(node: child)
        else { return nil }
        let steps = path.steps.map(\.description).joined()
        return NearestName.question(AttributePath.describe(nodes: path.nodes + [name]) + steps)
    }

    private func visibleNames(of row: UInt32) -> [String] { attributeNames(of: row).filter { isVisible($0, of: row) } }

    /// The content of a place now.
    public func content(at place: Place) -> Content {
        let place = follow(place)
        return content(of: place)
    }

    /// The vertex to watch for a place. All who watch the place share it; it is freed after its last use. For a place
    /// in a reference, the vertex belongs to the reference: it goes with it, and follows it to another target.
    public func watchable(_ place: Place) -> AttributeID {
        guard !place.steps.isEmpty else { return place.attribute }
        guard isReference(place.attribute) else { return vertex(for: place) }
        return projectionVertex(of: place.attribute, at: place.steps)
    }

    /// The vertex that somebody watches or reads for a place, if there is one.
    public func existingVertex(for place: Place) -> AttributeID? {
        guard !place.steps.isEmpty else { return place.attribute }
        if let own = attributes[Int(place.attribute.index)]?.projections?.existing(at: place.steps) { return own }
        let place = follow(place)
        guard !place.steps.isEmpty else { return place.attribute }
        return attributes[Int(place.attribute.index)]?.projections?.existing(at: place.steps)
    }

    /// The vertices that somebody watches or reads for a place and for all places inside it.
    public func existingVertices(in place: Place) -> [AttributeID] {
        var found = place.steps.isEmpty ? [place.attribute] : []
        let target = follow(place)
        for place in target.attribute == place.attribute ? [place] : [place, target] {
            attributes[Int(place.attribute.index)]?.projections?.entryIfAny(at: place.steps)?.forEachAttribute {
                found.append($0)
            }
        }
        return found
    }

    func attributeNames(of row: UInt32) -> [String] {
        nodes[Int(row)].namedAttributes.map(\.name) + (nodes[Int(row)].namedIndex.map { [$0] } ?? [])
    }

    public func nodeNames(of node: NodeID) -> NodeNames {
        NodeNames(
            ids: nodes.ids(of: node.row), attributes: attributeNames(of: node.row),
            transition: nodes[Int(node.row)].definition.transition)
    }

    /// Named attributes without an instance's index, which is no vertex before somebody asks for it: see `index(of:)`.
    public func attributeIDs(of node: NodeID) -> [AttributeID] {
        nodes[Int(node.row)].namedAttributes.map(\.attribute)
    }

    /// A node and all that is below, parents first.
    public func allNodes(below node: NodeID) -> [NodeID] {
        nodes.subtree(of: node.row).filter { !nodes[Int($0)].isTransparent }.map(nodes.nodeID)
    }

    /// The full name of an attribute, hidden ones included.
    public func path(of attribute: AttributeID) -> String {
        guard engine.isAlive(attribute), let record = attributes[Int(attribute.index)] else {
            return "a removed attribute"
        }
        if record.isHidden, record.name.hasPrefix("$/") {
            return record.name.dropFirst() + record.steps.map(\.description).joined()
        }
        // The properties of an object are named behind the attribute that contains it, which may be a property of
        // another object.
        var row = record.node
        var name = "." + AttributePath.quoteIfNeeded(record.name) + record.steps.map(\.description).joined()
        while nodes[Int(row)].isObject {
            name = "." + nodes[Int(row)].id + name
            row = nodes[Int(row)].parent
        }
        return nodes.path(of: row) + name
    }

    /// Every named attribute that a pattern matches, in tree order. Cost: O(nodes below the pattern's first wildcard),
    /// taken from `stepsLeft`.
    /// - Throws: `limit` when none are left, or what `body` throws.
    public func forEachAttribute(
        matching pattern: PathPattern, _ body: (AttributeID, String) throws(Failure) -> Void
    ) throws(Failure) {
        try forEachNode(matching: pattern) { (row, path) throws(Failure) in
            if let wanted = pattern.attribute {
                if let attribute = ownAttribute(wanted, of: row) {
                    try body(attribute, path + "." + AttributePath.quoteIfNeeded(wanted))
                }
                return
            }
            for (name, attribute) in allAttributes(of: row) {
                stepsLeft -= Wiring.stepsPerFind
                try body(attribute, path + "." + AttributePath.quoteIfNeeded(name))
            }
        }
    }

    /// Steps for each node that a pattern looks at and each attribute that it finds; and the number of comparisons of
    /// an id with a segment that count as one step.
    private static let stepsPerFind = 10
    private static let comparisonsPerStep = 8

    /// Calls `body` for a node and all that are below it, without comparing them with the pattern.
    private func forEachNode(
        below top: UInt32, _ path: String, _ pattern: PathPattern,
        _ body: (UInt32, String) throws(Failure) -> Void
    ) throws(Failure) {
        var pending = [(top, path)]
        while let (row, path) = pending.popLast() {
            stepsLeft -= ViewGraph.stepsPerFind
            guard stepsLeft > 0 else { throw tooMany(pattern) }
            try body(row, path)
            let start = path == "/" ? path : path + "/"
            for child in nodes.visibleChildren(of: row).reversed() {
                pending.append((child, start + AttributePath.quoteIfNeeded(nodes[Int(child)].id)))
            }
        }
    }

    private func tooMany(_ pattern: PathPattern) -> Failure {
        Failure(
            .limit, "pattern \(pattern): too many nodes to look at for one request", path: pattern.description,
            hint: "name fewer patterns at once; the setting request-cost is the limit")
    }

    /// Calls `body` for every node that a pattern's segments match.
    private func forEachNode(
        matching pattern: PathPattern, _ body: (UInt32, String) throws(Failure) -> Void
    ) throws(Failure) {
        var start = NodeID.root.row
        var prefix: [String] = []
        for segment in pattern.segments {
            guard case .id(let id) = segment else { break }
            guard let next = nodes.visibleChild(id, of: start) else { return }
            start = next
            prefix.append(id)
        }
        if prefix.count == pattern.segments.count {
            return try body(start, AttributePath.describe(nodes: prefix))
        }
        if pattern.segments.count == prefix.count + 1, pattern.segments.last == .anyDepth {
            return try forEachNode(below: start, AttributePath.describe(nodes: prefix), pattern, body)
        }
        let deepest = pattern.segments.contains(.anyDepth) ? Int.max : pattern.segments.count
        var pending: [(UInt32, [String])] = [(start, prefix)]
        while let (row, ids) = pending.popLast() {
            stepsLeft -= Wiring.stepsPerFind + ids.count * pattern.segments.count / Wiring.comparisonsPerStep
            guard stepsLeft > 0 else { throw tooMany(pattern) }
            if pattern.matches(nodes: ids) { try body(row, AttributePath.describe(nodes: ids)) }
            if ids.count < deepest {
                for child in nodes.visibleChildren(of: row).reversed() {
                    pending.append((child, ids + [nodes[Int(child)].id]))
                }
            }
        }
    }
}
