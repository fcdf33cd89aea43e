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

    // MARK: Lists that are held

    /// What instances are made from that stay although their data is refused, by the path of their `elements`; nil where the data is
    /// right again. Since the last call.
    public func takeHeldLists() -> [(path: String, list: [Value]?)] {
        defer { heldLists = [] }
        return heldLists
    }

    /// The same of all such lists at and below a node.
    public func heldLists(below node: NodeID) -> [(path: String, list: [Value])] {
        nodes.subtree(of: node.row).compactMap { row in
            guard let state = nodes[Int(row)].instances, state.isHeld else { return nil }
            return (elementsPath(of: row), state.list)
        }
    }

    func elementsPath(of row: UInt32) -> String { nodes.path(of: row) + ".elements" }

    /// Instances that a start would not make again from what is kept else.
    func isWorthHolding(_ row: UInt32) -> Bool {
        guard let state = nodes[Int(row)].instances, !state.ids.isEmpty else { return false }
        if let target = state.target, isDurable(follow(target).attribute) { return true }
        return !durableStates(of: nodes.subtree(of: row)).isEmpty
    }

    /// The node whose `elements` stand at a place; nil for other places.
    public func forEachNode(withElementsAt place: Place) -> NodeID? {
        guard case .elements = record(place.attribute).source else { return nil }
        return nodes.nodeID(record(place.attribute).node)
    }

    /// Makes the instances that were there when their data was refused.
    /// - Throws: `conflict` while the data is right; as a write of the list would.
    public func hold(_ list: [Value], at node: NodeID) throws(Failure) {
        try makeHeld(list, at: node.row)
        settleStructure()
    }

    func makeHeld(_ list: [Value], at row: UInt32) throws(Failure) {
        guard let definition = nodes[Int(row)].definition.forEach, let state = nodes[Int(row)].instances, let failure = state.failure
        else { throw Failure(.conflict, "\(nodes.path(of: row)) is made from its data", path: nodes.path(of: row)) }
        let change = try ListChange(from: state, to: list, idField: definition.idField)
        try refuseExcess(change, definition, at: row)
        perform(change, list, definition, at: row)
        nodes[Int(row)].instances?.failure = failure
        nodes[Int(row)].instances?.isHeld = true
    }

    // MARK: What data has yet to make

    /// The ids up to the instance that data would have to make for a path to lead on; nil where it leads on, or ends elsewhere.
    public func awaitedInstance(_ ids: [String]) -> ArraySlice<String>? {
        var at = NodeID.root.row
        for (place, id) in ids.enumerated() {
            guard let next = nodes.child(id, of: at) else { return nodes[Int(at)].kind == .forEach ? ids[...place] : nil }
            at = next
        }
        return nil
    }

    /// How far down a path its innermost instance of a `forEach` stands, as far as the path leads; 0: it goes through none.
    public func instanceDepth(_ ids: [String]) -> Int {
        var at = NodeID.root.row
        var depth = 0
        for (place, id) in ids.enumerated() {
            guard let next = nodes.child(id, of: at) else { break }
            if nodes[Int(at)].kind == .forEach { depth = place + 1 }
            at = next
        }
        return depth
    }

    /// The innermost instance of a `forEach` that a node is or is in.
    public func enclosingInstance(of node: NodeID) -> NodeID? {
        var at = node.row
        while at != NodeID.root.row {
            let parent = nodes[Int(at)].parent
            if nodes[Int(parent)].kind == .forEach { return nodes.nodeID(at) }
            at = parent
        }
        return nil
    }

    /// A list whose instances were held is there again if data that is fed after the start is refused, too; data that is kept is as it
    /// was.
    public func awaitHeldList(_ path: String, _ list: Value) {
        guard let place = try? locate(AttributePath(path)), let node = forEachNode(withElementsAt: place) else { return }
        if let target = nodes[Int(node.row)].instances?.target, isDurable(follow(target).attribute) { return }
        awaitedStates[path] = list
    }

    /// What awaited a value below a node that has another path now.
    /// - Returns: the new paths, with the values.
    public func rekeyAwaitedStates(from old: String, to new: String) -> [(path: String, value: Value)] {
        guard !awaitedStates.isEmpty else { return [] }
        let moved = awaitedStates.filter { $0.key.hasPrefix(old + "/") }
        var rekeyed: [(path: String, value: Value)] = []
        for (path, value) in moved.sorted(by: { $0.key.precedesByBytes($1.key) }) {
            awaitedStates[path] = nil
            rekeyed.append((new + path.dropFirst(old.count), value))
        }
        for (path, value) in rekeyed { awaitedStates[path] = value }
        return rekeyed
    }

    /// Paths of states that awaited a value where nothing makes them any more. O(states that await one).
    public func takeHopelessStates() -> [String] {
        let hopeless = awaitedStates.keys.filter { path in
            guard let parsed = try? AttributePath(path), awaitedInstance(parsed.nodes) == nil else { return false }
            guard let place = try? locate(parsed) else { return true }
            return forEachNode(withElementsAt: place) == nil
        }
        for path in hopeless { awaitedStates[path] = nil }
        return hopeless.sorted { $0.precedesByBytes($1) }
    }

    /// Whether a plan takes away what data has yet to make at a path, with the values of its states: there is another node on the way,
    /// or one whose instances all begin anew.
    func takesAway(_ plan: ScenePlan, _ ids: [String]) -> Bool {
        guard !plan.taken.isEmpty else { return false }
        var at = NodeID.root.row
        for id in ids {
            guard let next = nodes.child(id, of: at) else { return false }
            if plan.taken.contains(next) { return true }
            at = next
        }
        return false
    }

    /// Whether a plan makes void what somebody changed at a path in an instance that data has yet to make, as it does in those that are
    /// there (`noteRenewal`).
    public func renews(_ plan: ScenePlan, _ ids: [String]) -> Bool {
        if takesAway(plan, ids) { return true }
        guard !plan.templates.isEmpty, let instance = awaitedInstance(ids) else { return false }
        guard let row = try? node(at: Array(instance.dropLast())).row, plan.templates.contains(row) else { return false }
        // Instances in the instance are no part of the template.
        var definition = nodes[Int(row)].definition.forEach?.template
        for id in ids[instance.endIndex...] {
            if definition?.forEach != nil { return false }
            definition = definition?.slotted.first { $0.0.id == id }?.0
        }
        return true
    }

    /// Forgets values of states that would come back where a plan begins anew.
    public func forgetAwaitedStates(takenBy plan: ScenePlan) {
        guard !awaitedStates.isEmpty, !plan.taken.isEmpty else { return }
        let taken = awaitedStates.keys.filter { path in (try? AttributePath(path)).map { takesAway(plan, $0.nodes) } ?? false }
        for path in taken { awaitedStates[path] = nil }
        lostStates += taken.sorted { $0.precedesByBytes($1) }
    }

    /// The state of that path has this value when data first makes it.
    public func awaitState(_ path: String, _ value: Value) { awaitedStates[path] = value }

    /// States that are there by now and await their values, the outermost ones alone: what they are may make others anew.
    func readyStates() -> (states: [(path: String, place: Place?)], depth: Int) {
        var ready: [(path: String, place: Place?)] = []
        var depth = Int.max
        for path in awaitedStates.keys {
            guard let parsed = try? AttributePath(path), parsed.nodes.count <= depth, awaitedInstance(parsed.nodes) == nil else { continue }
            let place = try? locate(parsed)
            if let place, forEachNode(withElementsAt: place) != nil { continue }
            if parsed.nodes.count < depth { ready = [] }
            depth = parsed.nodes.count
            ready.append((path, place))
        }
        return (ready, depth)
    }

    /// - Returns: paths of those that can no longer take their values.
    func giveAwaitedValues(to states: [(path: String, place: Place?)]) -> [String] {
        var lost: [String] = []
        for (path, place) in states {
            guard let value = awaitedStates.removeValue(forKey: path) else { continue }
            if let place, let state = ownState(at: place), isDurable(state), let accepted = declarations.accept(value, as: record(state).type) {
                setInput(state, .value(accepted))
            } else {
                lost.append(path)
            }
        }
        return lost
    }

    /// Forgets instances that would be held if their data, which makes others now, were refused.
    func forgetAwaitedLists() {
        for (path, _) in awaitedStates {
            guard let parsed = try? AttributePath(path), awaitedInstance(parsed.nodes) == nil, let place = try? locate(parsed),
                let node = forEachNode(withElementsAt: place), nodes[Int(node.row)].instances?.ids.isEmpty == false
            else { continue }
            awaitedStates[path] = nil
            heldLists.append((path, nil))
        }
    }

    /// The state that stands at a place itself, as an attribute or as a property of one.
    private func ownState(at place: Place) -> AttributeID? {
        let state = follow(place)
        guard record(place.attribute).kind == .state, state.steps.isEmpty, case .state = record(state.attribute).source else { return nil }
        return state.attribute
    }
}
