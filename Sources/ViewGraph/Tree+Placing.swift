import SceneModel

// The tree as it is shown: nodes that components are given are where the components' bodies place them.

/// The way from a node to the root through the nodes around it.
struct WayOut {
    private var given: [(root: UInt32, place: UInt32)] = []

    /// True after a node that stands elsewhere than it was declared, until the way comes to the place that shows the
    /// node.
    var isInPlacedNode: Bool { !given.isEmpty }

    /// - Parameter container: a node whose body is not entered.
    mutating func next(after row: UInt32, in tree: Tree<NodeRecord>, notInto container: UInt32? = nil) -> UInt32 {
        let parent = tree[Int(row)].parent
        guard !tree.placements.isEmpty else { return parent }
        given += tree.placements.standingPlaces(of: row)
        guard !given.isEmpty, parent != container, let found = given.lastIndex(where: { $0.root == parent }) else {
            return parent
        }
        return given.remove(at: found).place
    }

    /// The place of a placed node, without the groups and lists around the node where it was declared.
    mutating func place(of row: UInt32, in tree: Tree<NodeRecord>) -> UInt32 {
        var at = row
        while at != NodeID.root.row {
            let parent = tree[Int(at)].parent
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
    func around(_ row: UInt32, in container: UInt32? = nil) -> some Sequence<UInt32> {
        var way = WayOut()
        return sequence(first: row) { $0 == NodeID.root.row ? nil : way.next(after: $0, in: self, notInto: container) }
    }

    /// The nodes that stand in a node, in order: its children and the nodes that its places show, without the nodes
    /// that its component places elsewhere.
    func shown(in row: UInt32) -> [UInt32] {
        let node = self[Int(row)]
        guard hasPlaces else { return node.children }
        if node.definition.forEach?.choice?.isPlacement == true { return placements.shown(at: row) + node.children }
        guard let first = firstPlacing(of: row) else { return node.children }
        return node.children.filter { layer(of: $0) <= first }
    }

    /// A node and all that stands in it, also in places. Each node comes behind those that it inherits from.
    func everything(in row: UInt32) -> [UInt32] {
        guard !placements.isEmpty else { return subtree(of: row) }
        var rows: [UInt32] = []
        var seen: Set<UInt32> = []
        var pending = [row]
        while let next = pending.popLast() {
            guard !seen.contains(next) else { continue }
            let first = outermost(around: next, inside: seen) ?? next
            if first != next { pending.append(next) }
            seen.insert(first)
            rows.append(first)
            pending += self[Int(first)].children.reversed()
            pending += placements.shown(at: first)
        }
        return rows
    }

    /// The node, or the group around it, whose parent is a known node; nil if there is none.
    private func outermost(around row: UInt32, inside known: Set<UInt32>) -> UInt32? {
        var at = row
        while at != NodeID.root.row {
            let parent = self[Int(at)].parent
            if known.contains(parent) { return at }
            at = parent
        }
        return nil
    }

    // MARK: Components

    /// How many components are around a child of a component's root where it was written.
    func layer(of row: UInt32) -> Int {
        let node = self[Int(row)]
        return node.isContent ? self[Int(node.parent)].definition.components.count : node.definition.layer
    }

    /// The layer of a node's innermost component that places the nodes it is given.
    func firstPlacing(of root: UInt32) -> Int? { self[Int(root)].definition.firstPlacing }

    /// The nodes that a component's body is given, among the children of its root. None if the component puts nothing
    /// into its body, which may have slots of an earlier version.
    /// - Parameter layer: the layer of the body.
    func given(to root: UInt32, inside layer: Int, slot: String) -> [UInt32] {
        let node = self[Int(root)]
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
    func givenSlot(of row: UInt32) -> String? {
        let node = self[Int(row)]
        return node.definition.givenSlot.flatMap {
            self[Int(node.parent)].definition.slots.contains($0) ? $0 : nil
        }
    }

    /// The root of the component in whose body a node was written, and the body's layer there.
    func componentBody(around row: UInt32) -> (root: UInt32, layer: Int)? {
        var at = row
        while at != NodeID.root.row {
            let (child, isContent) = (at, self[Int(at)].isContent)
            at = self[Int(at)].parent
            if !isContent, self[Int(at)].isScopeBoundary {
                return at == NodeID.root.row ? nil : (at, self[Int(child)].definition.layer)
            }
        }
        return nil
    }

    /// The rows of these nodes and of all below them, each once.
    func everything(in tops: [UInt32]) -> [UInt32] {
        let known = Set(tops)
        return tops.filter { top in
            var at = top
            while at != NodeID.root.row {
                at = self[Int(at)].parent
                if known.contains(at) { return false }
            }
            return true
        }.flatMap { everything(in: $0) }
    }

    /// True if one node comes before another in the tree as it was declared.
    func isBefore(_ row: UInt32, _ other: UInt32) -> Bool {
        let (one, two) = (
            Array(upward(from: row)).reversed() as [UInt32], Array(upward(from: other)).reversed() as [UInt32]
        )
        guard let fork = zip(one, two).enumerated().first(where: { $0.element.0 != $0.element.1 }) else {
            return one.count < two.count
        }
        let siblings = self[Int(one[fork.offset - 1])].children
        return siblings.firstIndex(of: fork.element.0) ?? 0 < siblings.firstIndex(of: fork.element.1) ?? 0
    }
}
