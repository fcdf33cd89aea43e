import AttributeGraph
import AttributeValues

/// The meaning of a name at a node.
enum Meaning: Equatable {
    case attribute(AttributeID)
    /// The index of an instance, which may be no vertex yet.
    case index(of: NodeRow)
}

extension Tree<NodeRecord> {
    /// True if a node has a visible child with the id, or would have it when a choice shows another branch.
    func isTaken(_ id: Name, below parent: NodeRow) -> Bool {
        visibleChild(id, of: parent) != nil || hasInBranch(id, below: parent)
    }

    private func hasInBranch(_ id: Name, below parent: NodeRow) -> Bool {
        guard self[parent].hasTransparentChildren else { return false }
        var pending = self[parent].children.map { self[$0].definition }.filter { $0.kind == .choice }
        while let next = pending.popLast() {
            for child in next.forEach?.templates.flatMap(\.children) ?? [] {
                if child.kind == .choice { pending.append(child) } else if child.id == id { return true }
            }
        }
        return false
    }

    /// The meaning of a name in a scope of a node; nil if it has none.
    func meaning(of name: String, at row: NodeRow, _ scope: Scope) -> Meaning? {
        if scope.isEnclosing {
            // An instance of a `forEach` sees its own element and index where other nodes see only
            // what encloses them.
            if let found = element(name, of: row) { return found }
        } else if scope.isAtUse, self[row].definition.isHiddenAtUse(name) {
            if let found = element(name, of: row) { return found }
        } else if let own = own(name, of: row) {
            return own
        }
        if case .own = scope.kind { return nil }
        var at = row
        while at != .root {
            let isContent = self[at].isContent
            at = self[at].parent
            if isContent {
                // The node was written where the parent's component is used: names inside the component mean nothing
                // here.
                if let found = element(name, of: at) { return found }
                continue
            }
            if let found = own(name, of: at) { return found }
            // Names are not looked up beyond the root of a component's body.
            if self[at].isScopeBoundary { return nil }
        }
        return nil
    }

    /// An attribute of a node itself, or the element or index of an instance.
    func own(_ name: String, of row: NodeRow) -> Meaning? {
        // A reference may lead to an object that was removed.
        guard isAlive(row) else { return nil }
        return self[row].attributes[name].map { .attribute($0) } ?? element(name, of: row)
    }

    /// The element or the index of an instance, by the name that its `forEach` gives it.
    private func element(_ name: String, of row: NodeRow) -> Meaning? {
        guard let instance = self[row].instance else { return nil }
        if instance.elementName.hasSameBytes(as: name) { return .attribute(instance.element) }
        return instance.indexName.hasSameBytes(as: name) ? .index(of: row) : nil
    }

    // MARK: Environment

    /// The vertex of the nearest override of a key at or around a node.
    /// - Parameters:
    ///   - position: looks only at so many of the node's overrides, for an override that builds on those before it.
    ///   - standingBefore: looks at none of the node's overrides, and only at so many of those around it where it is
    ///     placed.
    ///   - isDeclared: searches around the place where the node was declared, not where it stands.
    func nearestOverride(
        of key: String, at row: NodeRow, before position: Int? = nil, standingBefore: Int? = nil,
        isDeclared: Bool = false
    ) -> AttributeID? {
        var overrides = self[row].environment[...]
        if let position { overrides = overrides.prefix(position) }
        var standing = self[row].standing[...]
        if let standingBefore { (overrides, standing) = ([], standing.prefix(standingBefore)) }
        var (at, way) = (row, WayOut())
        while true {
            if let found = overrides.last(where: { $0.key == key }) { return found.attribute }
            if at == .root { return nil }
            if isDeclared {
                at = self[at].parent
            } else {
                if let found = standing.last(where: { $0.key == key }) { return found.attribute }
                at = self[at].standing.isEmpty ? way.next(after: at, in: self) : way.place(of: at, in: self)
            }
            overrides = self[at].environment[...]
            standing = self[at].standing[...]
        }
    }

    /// The object of a type that a node inherits: the nearest provided at or above it.
    func nearestObject(ofType type: String, at row: NodeRow) -> ProvidedObject? {
        nearestProvider(ofType: type, at: row)?.object
    }

    /// The object, with the node that provides it and the place among those that it provides.
    func nearestProvider(
        ofType type: String, at row: NodeRow
    ) -> (object: ProvidedObject, row: NodeRow, position: Int)? {
        for row in around(row) {
            if let found = self[row].objects.last(where: { $0.type == type }) {
                return (found.object, row, found.position)
            }
        }
        return nil
    }
}
