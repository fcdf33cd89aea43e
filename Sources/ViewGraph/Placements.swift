import SceneModel

// Nodes that a component is given have two places. They belong where they were declared: path, identity and the meaning
// of names come from there. They stand where a `place` or a `slot` in the component's body shows them: environment,
// preferences, animations and the container around come from there.

/// Where the nodes stand that a component's body places.
struct Placements {
    /// A node and the root of the component that it is given to. A component may give it on to another one; then it
    /// stands in both bodies.
    struct Given: Hashable {
        var node: NodeRow
        var root: NodeRow
    }

    private struct Shown {
        var root: NodeRow
        var nodes: [NodeRow]
    }

    /// By node: the place that shows it, for each root.
    private var standing: [NodeRow: [(root: NodeRow, place: NodeRow)]] = [:]
    /// By `place` or `slot`: the nodes that it should show, in order.
    private var wanted: [NodeRow: Shown] = [:]
    /// The places that should show a node.
    private var rivals: [Given: [NodeRow]] = [:]
    /// Nodes that may stand elsewhere than before.
    private(set) var touched: Set<Given> = []
    /// Nodes that several places should show, or none can show; and `Tree.changes` when they were last decided: the
    /// order of the places is that of the tree.
    private var disputed: (nodes: Set<Given>, changes: UInt64) = ([], 0)
    /// The touched nodes whose place has gone.
    private var displaced: Set<Given> = []
    /// Places that show something else than before.
    private(set) var changedPlaces: Set<NodeRow> = []

    /// Places that do not find all nodes that they should show, or have lost some of them; and `Tree.changes` when they
    /// last looked.
    private var incomplete: (places: Set<NodeRow>, changes: UInt64) = ([], 0)

    /// True if no node stands elsewhere than where it was declared.
    var isEmpty: Bool { standing.isEmpty }
    /// - Parameter changes: `Tree.changes`.
    func isSettled(at changes: UInt64) -> Bool {
        touched.isEmpty && changedPlaces.isEmpty && (disputed.nodes.isEmpty || disputed.changes == changes)
    }

    /// Where a node stands in the bodies of the components that it is given to.
    func standingPlaces(of node: NodeRow) -> [(root: NodeRow, place: NodeRow)] { standing[node] ?? [] }

    func place(of node: NodeRow, in root: NodeRow) -> NodeRow? { standing[node]?.first { $0.root == root }?.place }

    /// The nodes that a place shows, in order.
    func shown(at place: NodeRow) -> [NodeRow] {
        guard let all = wanted[place] else { return [] }
        return all.nodes.filter { self.place(of: $0, in: all.root) == place }
    }

    /// Nodes that a place should show, but that another one shows.
    func lost(at place: NodeRow) -> [(node: NodeRow, to: NodeRow)] {
        guard let all = wanted[place] else { return [] }
        return all.nodes.compactMap { node in
            self.place(of: node, in: all.root).flatMap { $0 == place ? nil : (node, $0) }
        }
    }

    /// The first node that a place should show, but that no place shows.
    func homeless(at place: NodeRow) -> NodeRow? {
        guard let all = wanted[place] else { return nil }
        return all.nodes.first { self.place(of: $0, in: all.root) == nil }
    }

    /// The number of nodes that a place does not show yet.
    func countNew(_ nodes: [NodeRow], at place: NodeRow) -> Int {
        guard let before = wanted[place]?.nodes else { return nodes.count }
        if before == nodes { return 0 }
        return Set(nodes).subtracting(before).count
    }

    /// Sets the nodes that a place should show. `settle` decides which of them it does show.
    /// - Returns: the number of nodes that are new to it; nil if nothing changes.
    mutating func setWanted(_ nodes: [NodeRow], at place: NodeRow, in root: NodeRow) -> Int? {
        let before = wanted[place]?.nodes ?? []
        guard before != nodes else { return nil }
        let (old, new) = (Set(before), Set(nodes))
        wanted[place] = nodes.isEmpty ? nil : Shown(root: root, nodes: nodes)
        for node in old.subtracting(new) { remove(place, from: Given(node: node, root: root)) }
        for node in new.subtracting(old) {
            let given = Given(node: node, root: root)
            rivals[given, default: []].append(place)
            touched.insert(given)
        }
        changedPlaces.insert(place)
        return new.subtracting(old).count
    }

    /// Notes whether a place has found all nodes that it should show.
    mutating func note(_ place: NodeRow, isComplete: Bool) {
        if isComplete { incomplete.places.remove(place) } else { incomplete.places.insert(place) }
    }

    /// The incomplete places, if the tree has changed since this was last asked.
    mutating func placesToComplete(at changes: UInt64) -> Set<NodeRow> {
        guard !incomplete.places.isEmpty, incomplete.changes != changes else { return [] }
        incomplete.changes = changes
        return incomplete.places
    }

    private mutating func setPlace(_ place: NodeRow?, of given: Given) {
        standing[given.node]?.removeAll { $0.root == given.root }
        if let place {
            standing[given.node, default: []].append((given.root, place))
        } else if standing[given.node]?.isEmpty == true {
            standing[given.node] = nil
        }
    }

    private mutating func remove(_ place: NodeRow, from given: Given) {
        rivals[given]?.removeAll { $0 == place }
        if rivals[given]?.isEmpty == true { rivals[given] = nil }
        touched.insert(given)
    }

    /// Forgets a node, or a place with what it shows.
    mutating func forget(_ row: NodeRow) {
        if let all = wanted.removeValue(forKey: row) {
            for node in all.nodes {
                let given = Given(node: node, root: all.root)
                remove(row, from: given)
                // The row may be used for another node before `settle`.
                guard place(of: node, in: all.root) == row else { continue }
                setPlace(nil, of: given)
                displaced.insert(given)
            }
        }
        changedPlaces.remove(row)
        incomplete.places.remove(row)
        for (root, _) in standing.removeValue(forKey: row) ?? [] {
            let given = Given(node: row, root: root)
            for place in rivals.removeValue(forKey: given) ?? [] {
                wanted[place]?.nodes.removeAll { $0 == row }
                changedPlaces.insert(place)
                incomplete.places.insert(place)
            }
            touched.remove(given)
            disputed.nodes.remove(given)
            displaced.remove(given)
        }
    }

    /// Places that may show something else than before.
    mutating func noteChanges(at places: [NodeRow]) { changedPlaces.formUnion(places) }

    /// Forgets the nodes and places that are gone.
    mutating func forget(where isGone: (NodeRow) -> Bool) {
        for row in Set(standing.keys).union(wanted.keys) where isGone(row) { forget(row) }
    }

    /// True if a place is inside a node. The node would contain itself there.
    /// - Parameter parent: gives the parent of a node where it was declared.
    private func leads(_ place: NodeRow, into node: NodeRow, _ parent: (NodeRow) -> NodeRow) -> Bool {
        var given: [(root: NodeRow, place: NodeRow)] = []
        var at = place
        while at != node, at != .root {
            let up = parent(at)
            given += standingPlaces(of: at)
            at = given.lastIndex { $0.root == up }.map { given.remove(at: $0).place } ?? up
        }
        return at == node
    }

    /// Decides where the touched and the disputed nodes stand. If several places should show a node, the first one
    /// shows it. A place inside the node cannot show it.
    /// - Parameters:
    ///   - changes: `Tree.changes`.
    ///   - parent: gives the parent of a node where it was declared.
    ///   - isBefore: the order of places in their document.
    /// - Returns: the nodes that stand elsewhere now, and the places that show something else.
    mutating func settle(
        at changes: UInt64, _ parent: (NodeRow) -> NodeRow, _ isBefore: (NodeRow, NodeRow) -> Bool
    ) -> (nodes: [NodeRow], places: Set<NodeRow>) {
        var moved: [NodeRow] = []
        for given in touched.union(disputed.nodes).sorted(by: { ($0.node, $0.root) < ($1.node, $1.root) }) {
            let old = place(of: given.node, in: given.root)
            let all = rivals[given] ?? []
            let new = all.filter { !leads($0, into: given.node, parent) }.min(by: isBefore)
            if all.count > (new == nil ? 0 : 1) { disputed.nodes.insert(given) } else { disputed.nodes.remove(given) }
            guard old != new || displaced.contains(given) else { continue }
            setPlace(new, of: given)
            if let new { changedPlaces.insert(new) }
            if let old, wanted[old] != nil { changedPlaces.insert(old) }
            moved.append(given.node)
        }
        defer {
            touched = []
            displaced = []
            changedPlaces = []
            disputed.changes = changes
        }
        return (moved, changedPlaces)
    }
}
