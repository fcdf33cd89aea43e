import AttributeGraph
import AttributeValues
import SceneModel

// What the graph tells whoever keeps it, beside values and definitions, and takes from there at a start.

extension ViewGraph {
    // MARK: What is gone

    /// Paths of nodes and attributes that had durable states, and are gone since the last call with all that is below.
    public func takeLostStates() -> [String] {
        defer { lostStates = [] }
        return lostStates
    }

    /// Paths of instances that somebody had edited, and that are gone since the last call: what comes there next is made by the data
    /// alone.
    public func takeLostInstances() -> [String] {
        defer { lostInstances = [] }
        return lostInstances
    }

    // MARK: Lists that are held

    /// What instances are made from that stay although their data is refused, by the path of their `elements`; nil where the data is
    /// right again. Since the last call.
    public func takeHeldLists() -> [(path: String, list: [Value]?)] {
        defer { heldLists = [] }
        return heldLists
    }

    /// The same of all such lists at and below a node.
    public func heldLists(below node: NodeID) -> [(path: String, list: [Value])] {
        subtree(of: node.row).compactMap { row in
            guard let state = nodes[Int(row)].instances, state.isHeld else { return nil }
            return (elementsPath(of: row), state.list)
        }
    }

    func elementsPath(of row: UInt32) -> String { path(of: nodeID(row)) + ".elements" }

    /// Instances that a start would not make again from what is kept else.
    func isWorthHolding(_ row: UInt32) -> Bool {
        guard let state = nodes[Int(row)].instances, !state.ids.isEmpty else { return false }
        if let target = state.target, isDurable(follow(target).attribute) { return true }
        return !durableStates(of: subtree(of: row)).isEmpty
    }

    /// The node whose `elements` stand at a place; nil for other places.
    public func forEachNode(withElementsAt place: Place) -> NodeID? {
        guard case .elements = record(place.attribute).source else { return nil }
        return nodeID(record(place.attribute).node)
    }

    /// Makes the instances that were there when their data was refused.
    /// - Throws: `conflict` while the data is right; as a write of the list would.
    public func hold(_ list: [Value], at node: NodeID) throws(Failure) {
        guard let definition = nodes[Int(node.row)].definition.forEach, let state = nodes[Int(node.row)].instances,
            let failure = state.failure
        else { throw Failure(.conflict, "\(path(of: node)) is made from its data", path: path(of: node)) }
        let change = try ListChange(from: state, to: list, idField: definition.idField)
        try refuseExcess(change, definition, at: node.row)
        perform(change, list, definition, at: node.row)
        nodes[Int(node.row)].instances?.failure = failure
        nodes[Int(node.row)].instances?.isHeld = true
        settleStructure()
    }

    // MARK: What data has yet to make

    /// Whether a path goes on where data would have to make an instance that is not there.
    public func awaitsInstance(_ ids: [String]) -> Bool {
        var at = NodeID.root.row
        for id in ids {
            guard let next = child(id, of: at) else { return nodes[Int(at)].kind == .forEach }
            at = next
        }
        return false
    }

    /// The innermost instance of a `forEach` that a node is or is in.
    public func enclosingInstance(of node: NodeID) -> NodeID? {
        var at = node.row
        while at != NodeID.root.row {
            let parent = nodes[Int(at)].parent
            if nodes[Int(parent)].kind == .forEach { return nodeID(at) }
            at = parent
        }
        return nil
    }

    /// The state of that path has this value when data first makes it.
    public func awaitState(_ path: String, _ value: Value) { awaitedStates[path] = value }

    /// A value that a state can no longer have counts as lost.
    func giveAwaitedValue(_ state: AttributeID) {
        guard !awaitedStates.isEmpty, enclosingInstance(of: nodeID(record(state).node)) != nil else { return }
        let path = path(of: state)
        guard let value = awaitedStates.removeValue(forKey: path) else { return }
        if isDurable(state), let accepted = declarations.accept(value, as: record(state).type) {
            setInput(state, .value(accepted))
        } else {
            lostStates.append(path)
        }
    }
}
