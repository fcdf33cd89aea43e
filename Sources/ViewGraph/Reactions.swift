import AttributeGraph
import AttributeValues
import SceneModel

// `onChange`, `onAppear`, `onDisappear`: the actions that the graph asks to be called, and when.

/// The actions with triggers, and what has happened to them in the current change.
struct Reactions {
    /// The value that an `onChange` watches.
    struct Watched {
        var vertex: AttributeID
        /// True once its node has appeared; earlier changes do not count.
        var isArmed = false
        /// The last value; nil while there has been none. Errors do not count as values.
        var last: Value?
    }

    /// True once the graph has had an action with a trigger.
    var exist = false
    /// By action.
    var watched: [AttributeID: Watched] = [:]
    /// Actions by the engine's row of the value that they watch.
    var byValue: [UInt32: AttributeID] = [:]
    /// Actions whose values may have changed.
    var stale: Set<AttributeID> = []
    /// Rows of nodes with `onDisappear`.
    var leaving: Set<UInt32> = []
    /// Rows of such nodes that have gone, in order.
    var left: [UInt32] = []

    mutating func giveBack() {
        watched.giveBack()
        byValue.giveBack()
        leaving.giveBack()
    }
}

extension ViewGraph {
    /// An action that has to be called.
    public struct Reaction {
        /// The action's path. It may lead to a node that has gone.
        public let path: String
        public let action: AttributeID
        fileprivate let row: UInt32
        fileprivate var values: (old: Value, new: Value)?
    }

    // MARK: Making

    /// Connects the value that an action watches.
    func connectReaction(_ action: AttributeID, at row: UInt32) {
        guard case .action(let definition)? = record(action).definition?.role,
            definition.trigger != nil || reactions.watched[action] != nil
        else { return }
        reactions.exist = true
        let trigger = definition.trigger
        guard case .change(let value, _)? = trigger else {
            forgetReaction(action)
            if case .disappear? = trigger { reactions.leaving.insert(row) }
            return
        }
        let vertex = reactions.watched[action]?.vertex ?? createHidden(record(action).name, row)
        if reactions.watched[action] == nil { reactions.watched[action] = Reactions.Watched(vertex: vertex) }
        replaceSource(of: vertex, source(value, at: row, .modifier))
    }

    /// Notes that an action watches another value. The present value counts as no change.
    func restartReaction(_ action: AttributeID) { reactions.watched[action]?.last = nil }

    func forgetReaction(_ action: AttributeID) {
        guard let watched = reactions.watched.removeValue(forKey: action) else { return }
        reactions.byValue[watched.vertex.index] = nil
        reactions.stale.remove(action)
        destroyVertex(watched.vertex)
    }

    /// Notes the `onDisappear` actions in a subtree that goes.
    /// - Parameter rows: its rows; nil if they are many.
    /// - Returns: whether there are any. If so, the subtree has to stay until they have been called.
    func noteLeft(_ top: UInt32, _ rows: [UInt32]?) -> Bool {
        guard !reactions.leaving.isEmpty, persistence.notesChanges else { return false }
        let left =
            rows?.filter { reactions.leaving.contains($0) }
            ?? reactions.leaving.filter { nodes.isInside($0, of: top) }.sorted()
        reactions.left += left
        reactions.leaving.subtract(left)
        return !left.isEmpty
    }

    // MARK: Finding

    /// Whether there are, or have been, actions with triggers.
    public var hasReactions: Bool { reactions.exist }

    /// The actions that have to be called, for what has happened since the last call: first those of nodes that have
    /// gone, then the others in the order of the tree.
    /// - Parameter known: how many of the new attributes an earlier call for the current change has seen.
    public func takeReactions(_ known: inout Int) -> [Reaction] {
        collectInvalidated()
        var found: [Reaction] = []
        let isQuiet = !persistence.notesChanges
        let added = structureChange.addedAttributes[min(known, structureChange.addedAttributes.count)...]
        known = structureChange.addedAttributes.count
        for attribute in added where engine.isAlive(attribute) {
            let record = record(attribute)
            guard case .action(let action)? = record.definition?.role, let trigger = action.trigger else { continue }
            let reaction = Reaction(path: path(of: attribute), action: attribute, row: record.node)
            switch trigger {
            case .appear: if !isQuiet { found.append(reaction) }
            case .disappear: continue
            case .change(_, let isInitial):
                guard let value = arm(attribute), isInitial, !isQuiet else { continue }
                var reaction = reaction
                reaction.values = (value, value)
                found.append(reaction)
            }
        }
        // Sorted, so that each run does the same.
        let stale = reactions.stale.sorted { $0.index < $1.index }
        reactions.stale = []
        for action in stale {
            guard let watched = reactions.watched[action], watched.isArmed,
                case .value(let value) = content(of: watched.vertex), value != watched.last
            else { continue }
            reactions.watched[action]?.last = value
            guard let old = watched.last, !isQuiet else { continue }
            found.append(
                Reaction(path: path(of: action), action: action, row: record(action).node, values: (old, value)))
        }
        if found.count > 1 { found = ordered(found) }
        let left = reactions.left
        reactions.left = []
        return left.flatMap(farewells) + found
    }

    /// Begins to watch the value of an action.
    private func arm(_ action: AttributeID) -> Value? {
        guard var watched = reactions.watched[action] else { return nil }
        if !watched.isArmed { watch(watched.vertex) }
        watched.isArmed = true
        if case .value(let value) = content(of: watched.vertex) { watched.last = value }
        reactions.watched[action] = watched
        reactions.byValue[watched.vertex.index] = action
        return watched.last
    }

    /// Calls no actions for what has happened so far: later values are compared with the present ones.
    func armReactions() {
        var known = 0
        _ = takeReactions(&known)
        for (action, watched) in reactions.watched where watched.isArmed {
            if case .value(let value) = content(of: watched.vertex) { reactions.watched[action]?.last = value }
        }
    }

    private func farewells(of row: UInt32) -> [Reaction] {
        nodes[Int(row)].attributes.compactMap { _, attribute in
            guard case .action(let action)? = record(attribute).definition?.role, case .disappear? = action.trigger
            else { return nil }
            return Reaction(path: path(of: attribute), action: attribute, row: row)
        }
    }

    private func ordered(_ reactions: [Reaction]) -> [Reaction] {
        var places: [UInt32: [UInt32: Int]] = [:]
        func place(of row: UInt32) -> [Int] {
            var (at, place) = (row, [Int]())
            while at != NodeID.root.row {
                let parent = nodes[Int(at)].parent
                if places[parent] == nil {
                    places[parent] = Dictionary(
                        uniqueKeysWithValues: nodes[Int(parent)].children.enumerated().map { ($1, $0) })
                }
                place.append(places[parent]?[at] ?? 0)
                at = parent
            }
            return place.reversed()
        }
        func rank(of reaction: Reaction) -> Int {
            nodes[Int(reaction.row)].attributes.list.firstIndex { $0.attribute == reaction.action } ?? 0
        }
        return reactions.map { ($0, place(of: $0.row) + [-1, rank(of: $0)]) }
            .sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
    }

    // MARK: Calling

    /// The writes of a reaction; nil if another reaction has removed its node.
    /// - Throws: as `writes(of:)`.
    public func writes(of reaction: Reaction) throws(Failure) -> [ActionWrite]? {
        guard engine.isAlive(reaction.action), case .action(let action)? = record(reaction.action).definition?.role
        else { return nil }
        var arguments = ValueMap()
        if let (old, new) = reaction.values {
            arguments[.string(ActionDefinition.oldValue)] = old
            arguments[.string(ActionDefinition.newValue)] = new
        }
        return try writes(
            of: ActionCall(path: reaction.path, row: reaction.row, action: action, arguments: arguments))
    }

    /// Notes the result of a reaction. The value of the action is the error while its last call has failed.
    public func note(_ failure: Failure?, of reaction: Reaction) {
        guard engine.isAlive(reaction.action), case .action(let action)? = record(reaction.action).definition?.role
        else { return }
        replaceSource(of: reaction.action, .literal(failure.map { .failure($0) } ?? .value(action.summary)))
    }
}
