import AttributeValues

/// The place of the node that is being read: in the document and in the tree.
final class TreePosition {
    /// A place to which the check returns.
    struct Place {
        var path: [CheckCursor.Step] = []
        /// Ids of the surrounding nodes, for finding the existing node; nil inside components and `forEach`.
        var ids: [Name]? = []
        /// Number of nodes that are being read, inside each other.
        var depth = 0
    }

    private let cursor: CheckCursor
    private let existing: (([Name]) -> ExistingNode?)?
    /// The scope around all others.
    let root: LexicalScope
    var ids: [Name]? = []
    var depth = 0

    init(_ cursor: CheckCursor, _ root: LexicalScope, _ context: SceneContext) {
        self.cursor = cursor
        self.root = root
        existing = context.existing
    }

    var place: Place {
        get { Place(path: cursor.path, ids: ids, depth: depth) }
        set { (cursor.path, ids, depth) = (newValue.path, newValue.ids, newValue.depth) }
    }

    /// The existing node that the node here completes.
    var live: ExistingNode? { ids.flatMap { existing?($0) } }

    /// The existing node that this one continues. A node with another kind or component begins anew, and so do all
    /// nodes below it.
    func continued(by node: NodeDefinition) -> ExistingNode? {
        guard let live, live.kind == node.kind, node.component == nil || node.component == live.component else {
            return nil
        }
        return live
    }

    /// The surroundings of the node here. An existing node that belongs to a component's body uses the component's
    /// names, whichever document completes it.
    func resolve(_ place: Surroundings) -> Surroundings {
        guard let inside = place.inside, let live, !live.isContent else { return place }
        return Surroundings(enclosing: inside)
    }

    /// The surroundings of the children of an existing component's root.
    /// - Parameter own: further names of the root.
    func childSurroundings(below live: ExistingNode, in outer: LexicalScope, adding own: [ScopeEntry] = [])
        -> Surroundings
    {
        let names = Set(own.map(\.name))
        let others = live.attributes.filter { !names.contains($0.name) }.map {
            ScopeEntry(name: $0.name, type: $0.type, outside: live.rootName(of: $0.name))
        }
        // A row of the store does not say whether its node was written in the component or given to it.
        if cursor.isKept { return Surroundings(enclosing: LexicalScope(own + others, in: outer)) }
        return Surroundings(enclosing: outer, inside: LexicalScope(own + others, in: root))
    }
}
