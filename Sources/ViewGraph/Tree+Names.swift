import AttributeGraph
import AttributeValues

/// Where names are looked up, from inside out.
enum Scope {
    /// A computed: the node's own attributes alone.
    case own
    /// `let`, bindings and the data of `forEach`: the enclosing nodes, nearest first.
    case enclosing
    /// Modifiers: the node itself, then as `enclosing`.
    case modifier
    /// What a node says of itself to its container: as `modifier`, but `env` is what it is where the node was declared.
    /// The container may decide by it where the node stands.
    case label
    /// Modifiers that a component or its use writes: as `modifier`, but `env` is what is inherited
    /// there, which is changed by so many of the node's modifiers of the environment: those that
    /// stand further out.
    case nestedModifier(behind: Int)
    /// The data of a `forEach`: as `enclosing`, but `preferences` are those of the node around, for
    /// its own are its instances'.
    case data
}

extension Scope {
    var isOfDeclaration: Bool { if case .label = self { true } else { false } }

    var isEnclosing: Bool {
        switch self {
        case .enclosing, .data: true
        default: false
        }
    }
}

/// What a name means at a node.
enum Meaning: Equatable {
    case attribute(AttributeID)
    /// The index of an instance, which may be no vertex yet.
    case index(of: UInt32)
}

extension Tree<NodeRecord> {
    /// What a name means in a scope of a node; nil: nothing.
    func meaning(of name: String, at row: UInt32, _ scope: Scope) -> Meaning? {
        if scope.isEnclosing {
            // An instance of a `forEach` sees its own element and index where other nodes see only
            // what encloses them.
            if let found = element(name, of: row) { return found }
        } else if let own = own(name, of: row) {
            return own
        }
        if case .own = scope { return nil }
        var at = row
        while at != NodeID.root.row {
            let isContent = self[Int(at)].isContent
            at = self[Int(at)].parent
            if isContent {
                // Written where the parent's component is used: what the component has inside means
                // nothing here.
                if let found = element(name, of: at) { return found }
                continue
            }
            if let found = own(name, of: at) { return found }
            // Beyond the root of a component's body its attributes' names mean nothing.
            if self[Int(at)].isScopeBoundary { return nil }
        }
        return nil
    }

    /// An attribute of a node itself, or the element or index of an instance.
    func own(_ name: String, of row: UInt32) -> Meaning? {
        // A reference may lead to an object that is gone.
        guard isAlive(row) else { return nil }
        return self[Int(row)].attributes[name].map { .attribute($0) } ?? element(name, of: row)
    }

    /// The element or the index of an instance, by the name that its `forEach` gives it.
    private func element(_ name: String, of row: UInt32) -> Meaning? {
        guard let instance = self[Int(row)].instance else { return nil }
        if instance.elementName.hasSameBytes(as: name) { return .attribute(instance.element) }
        return instance.indexName.hasSameBytes(as: name) ? .index(of: row) : nil
    }

    // MARK: Environment

    /// The vertex of the nearest override of a key at or around a node.
    /// - Parameters:
    ///   - position: looks only at the node's first so many overrides, for one that builds on those before it.
    ///   - isDeclared: around where the node was declared, and not where it stands.
    func nearestOverride(
        of key: String, at row: UInt32, before position: Int? = nil, isDeclared: Bool = false
    ) -> AttributeID? {
        var overrides = self[Int(row)].environment[...]
        if let position { overrides = overrides.prefix(position) }
        var (at, way) = (row, WayOut())
        while true {
            if let found = overrides.last(where: { $0.key == key }) { return found.attribute }
            if at == NodeID.root.row { return nil }
            at = isDeclared ? self[Int(at)].parent : way.next(after: at, in: self)
            overrides = self[Int(at)].environment[...]
        }
    }

    /// The object of a type that a node inherits: the nearest provided at or above it.
    func object(ofType type: String, at row: UInt32) -> ProvidedObject? {
        for row in around(row) {
            if let found = self[Int(row)].objects.last(where: { $0.type == type }) { return found.object }
        }
        return nil
    }
}
