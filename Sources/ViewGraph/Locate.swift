import AttributeGraph
import AttributeValues
import SceneModel

// From paths to nodes and attributes, and back.

extension Wiring {
    /// - Parameter looksForNames: whether errors get hints. The search for a near name takes much longer than to find
    ///   that a node is missing.
    /// - Throws: `notFound`, naming the first id that is missing and the nearest one there is.
    public func node(at ids: [Name], looksForNames: Bool = true) throws(Failure) -> NodeID {
        var at = NodeRow.root
        for (depth, id) in ids.enumerated() {
            guard let next = nodes.visibleChild(id, of: at) else {
                let path = AttributePath.describe(nodes: ids)
                // A client that may not read a node is not told how far the path leads.
                guard isVisible(node: at) else { throw Failure(.notFound, "no node \(path)", path: path) }
                let parent = AttributePath.describe(nodes: Array(ids.prefix(depth)))
                let siblings = nodes.visibleChildren(of: at).lazy.filter { self.isVisible(node: $0) }
                throw Failure(
                    .notFound, "no node \(AttributePath.quoteIfNeeded(id.text)) in \(parent)", path: path,
                    hint: looksForNames
                        ? NearNames(self).attributeHint(id.text, of: at, parent)
                            ?? NearestName.hint(id.text, orSomeOf: siblings.map { self.nodes[$0].id.text }) : nil)
            }
            at = next
        }
        return nodes.nodeID(at)
    }

    /// True if no node has this path now, and data may make it or a node around it: an element of a `forEach`, or a
    /// branch of an `if` or `switch` that is not shown.
    public func mayReturn(_ ids: [Name]) -> Bool {
        var at = NodeRow.root
        for id in ids {
            if let next = nodes.visibleChild(id, of: at) {
                at = next
                continue
            }
            if nodes[at].kind == .forEach { return true }
            guard nodes[at].hasTransparentChildren else { return false }
            var pending = nodes[at].children.map { nodes[$0] }.filter(\.isTransparent).map(\.definition)
            while let next = pending.popLast() {
                guard next.kind.isTransparent else {
                    if next.id == id { return true }
                    continue
                }
                pending += next.children + (next.forEach?.templates ?? [])
            }
            return false
        }
        return false
    }

    /// The attribute a path names, and the steps into its value.
    /// - Throws: `notFound`, with the nearest name; `invalid` for a path that names a node only.
    public func locate(_ path: AttributePath, looksForNames: Bool = true) throws(Failure) -> Place {
        let node: NodeID
        do { node = try self.node(at: path.nodes, looksForNames: looksForNames) } catch {
            guard let name = path.attribute, mayRead?(path.node) == false else { throw error }
            throw NearNames(self).noAttribute(name, at: path, among: nil)
        }
        guard let name = path.attribute else {
            throw Failure(
                .invalid, "\(path) names a node, not an attribute", path: path.description,
                hint: NearNames(self).visibleNames(of: node.row).first.map { "add an attribute: \(path).\($0)" }
                    ?? "the node has no attributes")
        }
        guard let attribute = ownAttribute(name, of: node.row) else {
            throw NearNames(self).noAttribute(
                name, at: path, among: looksForNames ? NearNames(self).visibleNames(of: node.row) : nil)
        }
        return Place(attribute, path.steps)
    }

    /// The content of a place now.
    public func content(at place: Place) -> Content {
        let place = follow(place)
        return derivedVertex(for: place).map(content(of:)) ?? content(of: place)
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
        return attributes[place.attribute]?.projections?.existing(at: place.steps)
            ?? knownVertex(behind: place)
    }

    /// The vertices that somebody watches or reads for a place and for all places inside it.
    public func existingVertices(in place: Place) -> [AttributeID] {
        var found = place.steps.isEmpty ? [place.attribute] : []
        let target = follow(place)
        for place in target.attribute == place.attribute ? [place] : [place, target] {
            attributes[place.attribute]?.projections?.entryIfAny(at: place.steps)?.forEachAttribute {
                found.append($0)
            }
        }
        return found
    }

    func attributeNames(of row: NodeRow) -> [String] {
        nodes[row].namedAttributes.map(\.name) + (nodes[row].namedIndex.map { [$0] } ?? [])
    }

    public func nodeNames(of node: NodeID) -> NodeNames {
        NodeNames(
            ids: nodes.ids(of: node.row), attributes: attributeNames(of: node.row),
            transition: nodes[node.row].definition.transition)
    }

    /// Named attributes without an instance's index, which is no vertex before somebody asks for it: see `index(of:)`.
    public func attributeIDs(of node: NodeID) -> [AttributeID] {
        nodes[node.row].namedAttributes.map(\.attribute)
    }

    /// A node and all that is below, parents first.
    public func allNodes(below node: NodeID) -> [NodeID] {
        nodes.subtree(of: node.row).filter { !nodes[$0].isTransparent }.map(nodes.nodeID)
    }

    /// The full name of an attribute, hidden ones included.
    public func path(of attribute: AttributeID) -> String {
        guard engine.isAlive(attribute), let record = attributes[attribute] else {
            return "a removed attribute"
        }
        if record.isHidden, let path = Name(record.name).pathFromRoot {
            return path.text + record.steps.map(\.description).joined()
        }
        // The properties of an object are named behind the attribute that contains it, which may be a property of
        // another object.
        var row = record.node
        var name = "." + AttributePath.quoteIfNeeded(record.name) + record.steps.map(\.description).joined()
        while nodes[row].isObject {
            name = "." + nodes[row].id.text + name
            row = nodes[row].parent
        }
        return nodes.path(of: row) + name
    }

    /// The path of the attribute that a name refers to in the scope around a node.
    public func path(ofName name: String, around node: NodeID) -> String? {
        resolveName(name, from: node.row, .enclosing).map(path)
    }
}
