import SceneModel

// The tree as it is shown: nodes that components are given are where the components' bodies place them.

/// The way from a node to the root through the nodes around it.
struct WayOut {
    private var given: [(root: NodeRow, place: NodeRow)] = []

    /// True after a node that stands elsewhere than it was declared, until the way comes to the place that shows the
    /// node.
    var isInPlacedNode: Bool { !given.isEmpty }

    /// - Parameter container: a node whose body is not entered.
    mutating func next(after row: NodeRow, in tree: Tree<NodeRecord>, notInto container: NodeRow? = nil) -> NodeRow {
        let parent = tree[row].parent
        guard !tree.placements.isEmpty else { return parent }
        given += tree.placements.standingPlaces(of: row)
        guard !given.isEmpty, parent != container, let found = given.lastIndex(where: { $0.root == parent }) else {
            return parent
        }
        return given.remove(at: found).place
    }

    /// The place of a placed node, without the groups and lists around the node where it was declared.
    mutating func place(of row: NodeRow, in tree: Tree<NodeRecord>) -> NodeRow {
        var at = row
        while at != .root {
            let parent = tree[at].parent
            at = next(after: at, in: tree)
            if at != parent { break }
        }
        return at
    }
}

extension Tree<NodeRecord> {
    /// A node and the nodes around it where it stands, from inside out; the root is the last. It differs from `upward`
    /// only for nodes that a component is given.
    /// - Parameter container: nodes that it is given are not looked for in its body.
    func around(_ row: NodeRow, in container: NodeRow? = nil) -> some Sequence<NodeRow> {
        var way = WayOut()
        return sequence(first: row) { $0 == .root ? nil : way.next(after: $0, in: self, notInto: container) }
    }

    /// The nodes that stand in a node, in order: its children and the nodes that its places show, without the nodes
    /// that its component places elsewhere.
    func shown(in row: NodeRow) -> [NodeRow] {
        let node = self[row]
        guard hasPlaces else { return node.children }
        if node.definition.forEach?.choice?.isPlacement == true { return placements.shown(at: row) + node.children }
        guard let first = firstPlacing(of: row) else { return node.children }
        return node.children.filter { layer(of: $0) <= first }
    }

    /// A node and all that stands in it, also in places. Each node comes behind those that it inherits from.
    func everything(in row: NodeRow) -> [NodeRow] {
        guard !placements.isEmpty else { return subtree(of: row) }
        var rows: [NodeRow] = []
        var seen: Set<NodeRow> = []
        var pending = [row]
        while let next = pending.popLast() {
            guard !seen.contains(next) else { continue }
            let first = outermost(around: next, inside: seen) ?? next
            if first != next { pending.append(next) }
            seen.insert(first)
            rows.append(first)
            pending += self[first].children.reversed()
            pending += placements.shown(at: first)
        }
        return rows
    }

    /// The node, or the group around it, whose parent is a known node; nil if there is none.
    private func outermost(around row: NodeRow, inside known: Set<NodeRow>) -> NodeRow? {
        var at = row
        while at != .root {
            let parent = self[at].parent
            if known.contains(parent) { return at }
            at = parent
        }
        return nil
    }

    // MARK: Components

    /// How many components are around a child of a component's root where it was written.
    func layer(of row: NodeRow) -> Int {
        let node = self[row]
        return node.isContent ? self[node.parent].definition.components.count : node.definition.layer
    }

    /// The layer of a node's innermost component that places the nodes it is given.
    func firstPlacing(of root: NodeRow) -> Int? { self[root].definition.firstPlacing }

    /// The nodes that a component's body is given, among the children of its root. None if the component puts nothing
    /// into its body, which may have slots of an earlier version.
    /// - Parameter layer: the layer of the body.
    func given(to root: NodeRow, inside layer: Int, slot: String) -> [NodeRow] {
        let node = self[root]
        let placing = node.definition.components.map { !$0.placing.isEmpty }
        guard placing.indices.contains(layer), placing[layer] else { return [] }
        let next = placing.indices.first { $0 > layer && placing[$0] }
        return node.children.filter {
            let own = self.layer(of: $0)
            return own > layer && own <= next ?? .max
                && (givenSlot(of: $0) ?? NodeDefinition.contentSlot) == slot
        }
    }

    /// The named slot of its parent that a node is given for; nil without one, or if the parent has no such slot
    /// because the node was given elsewhere.
    func givenSlot(of row: NodeRow) -> String? {
        let node = self[row]
        return node.definition.givenSlot.flatMap {
            self[node.parent].definition.slots.contains($0) ? $0 : nil
        }
    }

    /// The root of the component in whose body a node was written, and the body's layer there.
    func componentBody(around row: NodeRow) -> (root: NodeRow, layer: Int)? {
        var at = row
        while at != .root {
            let (child, isContent) = (at, self[at].isContent)
            at = self[at].parent
            if !isContent, self[at].isScopeBoundary {
                return at == .root ? nil : (at, self[child].definition.layer)
            }
        }
        return nil
    }

    /// The rows of these nodes and of all below them, each once.
    func everything(in tops: [NodeRow]) -> [NodeRow] {
        let known = Set(tops)
        return tops.filter { top in
            var at = top
            while at != .root {
                at = self[at].parent
                if known.contains(at) { return false }
            }
            return true
        }.flatMap { everything(in: $0) }
    }

    /// True if one node comes before another in the tree as it was declared.
    func isBefore(_ row: NodeRow, _ other: NodeRow) -> Bool {
        let (one, two) = (
            Array(upward(from: row)).reversed() as [NodeRow], Array(upward(from: other)).reversed() as [NodeRow]
        )
        guard let fork = zip(one, two).enumerated().first(where: { $0.element.0 != $0.element.1 }) else {
            return one.count < two.count
        }
        let siblings = self[one[fork.offset - 1]].children
        return siblings.firstIndex(of: fork.element.0) ?? 0 < siblings.firstIndex(of: fork.element.1) ?? 0
    }
}
