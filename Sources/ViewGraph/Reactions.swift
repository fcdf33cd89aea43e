import AttributeGraph
import AttributeValues
import SceneModel

// `onChange`, `onAppear`, `onDisappear`: the actions that the graph asks to be called, and when.

/// An action that has to be called.
public struct Reaction {
    /// The action's path. It may lead to a node that has gone.
    public let path: String
    public let action: AttributeID
    fileprivate let row: NodeRow
    fileprivate var values: (old: Value, new: Value)?
}

/// The actions with triggers, and what has happened to them in the current change.
public final class Reactions {
    /// The value that an `onChange` watches.
    private struct Watched {
        var vertex: AttributeID
        /// True once its node has appeared; earlier changes do not count.
        var isArmed = false
        /// The last value; nil while there has been none. Errors do not count as values.
        var last: Value?
    }

    unowned(unsafe) private var graph: Wiring!
    private let persistence: Persistence
    /// True once the graph has had an action with a trigger.
    public private(set) var exist = false
    /// By action.
    private var watched: [AttributeID: Watched] = [:]
    /// Rows of nodes with `onDisappear` that have appeared.
    private var leaving: Set<NodeRow> = []
    /// Nodes that were made since the last `takeDue`. A construction has a set of its own.
    var arriving: Set<NodeRow> = []
    /// Rows of such nodes that have gone, in order.
    private var left: [NodeRow] = []
    /// Rows of nodes whose appearing has called actions. The store knows them, so that a later life does not call them
    /// again.
    private var appeared: Set<NodeRow> = []
    /// Actions that are called when their nodes appear, of nodes that a start has made. The first turn calls those of
    /// nodes that have not appeared.
    private var waiting: [AttributeID] = []

    init(_ persistence: Persistence) { self.persistence = persistence }

    func attach(to graph: Wiring) { self.graph = graph }

    func giveBack() {
        watched.giveBack()
        leaving.giveBack()
        arriving.giveBack()
        appeared.giveBack()
    }

    // MARK: Making

    /// Connects the value that an action watches.
    func connect(_ action: AttributeID, at row: NodeRow) {
        guard case .action(let definition)? = graph.record(action).definition?.role,
            definition.trigger != nil || watched[action] != nil
        else { return }
        exist = true
        graph.detours.isWanted = true
        let trigger = definition.trigger
        guard case .change(let value, _)? = trigger else {
            forget(action)
            if case .disappear? = trigger, !leaving.contains(row) { arriving.insert(row) }
            return
        }
        let vertex = watched[action]?.vertex ?? graph.createHidden(graph.record(action).name, row)
        if watched[action] == nil { watched[action] = Watched(vertex: vertex) }
        graph.replaceSource(of: vertex, graph.source(value, at: row, .modifier.atUse(definition.isAtUse)))
    }

    /// Notes that an action watches another value. The present value counts as no change.
    func restart(_ action: AttributeID) { watched[action]?.last = nil }

    func forget(_ action: AttributeID) {
        guard let vertex = watched.removeValue(forKey: action)?.vertex else { return }
        graph.triggers.byValue[vertex] = nil
        graph.triggers.stale.remove(action)
        graph.freeVertex(vertex, graph.record(vertex))
    }

    func forget(node row: NodeRow) {
        leaving.remove(row)
        arriving.remove(row)
        appeared.remove(row)
    }

    /// Notes the `onDisappear` actions in a subtree that goes.
    /// - Parameter rows: its rows; nil if they are many.
    /// - Returns: whether there are any. If so, the subtree has to stay until they have been called.
    func noteLeft(_ top: NodeRow, _ rows: [NodeRow]?) -> Bool {
        guard !leaving.isEmpty || !arriving.isEmpty, persistence.notesChanges else { return false }
        let left =
            rows?.filter { leaving.contains($0) }
            ?? leaving.filter { persistence.nodes.isInside($0, of: top) }.sorted()
        self.left += left
        leaving.subtract(left)
        // A node that comes and goes in one change has not appeared.
        if rows == nil || !left.isEmpty {
            arriving = arriving.filter { !persistence.nodes.isInside($0, of: top) }
        }
        return !left.isEmpty
    }

    // MARK: Finding

    /// The actions that have to be called, for what has happened since the last call: first those of nodes that have
    /// gone, then the others in the order of the tree.
    /// - Parameter known: how many of the new attributes an earlier call for the current change has seen.
    public func takeDue(_ known: inout Int) -> [Reaction] {
        graph.collectReports()
        var found: [Reaction] = []
        let isQuiet = !persistence.notesChanges
        let added = graph.structureChange.addedAttributes
        let first = exist ? min(known, added.count) : added.count
        known = added.count
        var coming: [AttributeID] = []
        for attribute in added[first...] where graph.engine.isAlive(attribute) {
            let record = graph.record(attribute)
            guard case .action(let action)? = record.definition?.role, let trigger = action.trigger else { continue }
            switch trigger {
            case .disappear: continue
            case .appear: break
            case .change(_, let isInitial):
                arm(attribute)
                if !isInitial { continue }
            }
            coming.append(attribute)
        }
        if isQuiet { waiting += coming } else { found = takeAppearing(coming) }
        // Sorted, so that each run does the same.
        let stale = graph.triggers.stale.sorted { $0.index < $1.index }
        graph.triggers.stale = []
        for action in stale {
            guard let watched = self.watched[action], watched.isArmed,
                case .value(let value) = graph.content(of: watched.vertex), value != watched.last
            else { continue }
            self.watched[action]?.last = value
            guard let old = watched.last, !isQuiet else { continue }
            found.append(
                Reaction(
                    path: graph.path(of: action), action: action, row: graph.record(action).node, values: (old, value)))
        }
        if found.count > 1 { found = ordered(found) }
        leaving.formUnion(arriving)
        arriving = []
        defer { left = [] }
        return left.flatMap(farewells) + found
    }

    /// The calls of actions whose nodes have appeared, of these and of those that wait.
    private func takeAppearing(_ coming: [AttributeID]) -> [Reaction] {
        if coming.isEmpty, waiting.isEmpty { return [] }
        defer { waiting = [] }
        let new = (waiting + coming).filter {
            graph.engine.isAlive($0) && !hasAppeared(graph.record($0).node)
        }
        return new.compactMap(appear)
    }

    private func appear(_ action: AttributeID) -> Reaction? {
        let row = graph.record(action).node
        // A node that has gone again in the same change stays until it is freed.
        guard persistence.nodes.isLinked(row), case .action(let definition)? = graph.record(action).definition?.role
        else { return nil }
        var reaction = Reaction(path: graph.path(of: action), action: action, row: row)
        switch definition.trigger {
        case .appear?: break
        case .change(_, initial: true)?:
            guard let value = watched[action]?.last else { return nil }
            reaction.values = (value, value)
        default: return nil
        }
        if appeared.insert(row).inserted { noteAppeared(row) }
        return reaction
    }

    private func noteAppeared(_ row: NodeRow) {
        persistence.note(true, as: Persistence.appearedName, of: row, for: .store)
    }

    /// Begins to watch the value of an action.
    private func arm(_ action: AttributeID) {
        guard var watched = self.watched[action] else { return }
        if !watched.isArmed { graph.beginWatch(of: watched.vertex) }
        watched.isArmed = true
        if case .value(let value) = graph.content(of: watched.vertex) { watched.last = value }
        self.watched[action] = watched
        graph.triggers.byValue[watched.vertex] = action
    }

    /// From now on until `Wiring.endDetours`, what changes is noted: actions may take it back.
    public func begin() { graph.detours.begin() }

    // MARK: Starts

    /// True if actions wait for the first turn.
    public var areWaiting: Bool { !waiting.isEmpty }

    /// Notes that a node has appeared in an earlier life.
    func restore(_ row: NodeRow) {
        appeared.insert(row)
        persistence.nodes[row].hasValues = true
    }

    func hasAppeared(_ row: NodeRow) -> Bool { appeared.contains(row) }

    /// Notes under their new keys which nodes have appeared.
    func keepAppeared(_ rows: [NodeRow]) {
        if appeared.isEmpty || !persistence.notesChanges { return }
        for row in rows where appeared.contains(row) { noteAppeared(row) }
    }

    /// Calls no actions for what has happened so far: later values are compared with the present ones.
    func armAll() {
        var known = 0
        _ = takeDue(&known)
        for (action, watched) in watched where watched.isArmed {
            if case .value(let value) = graph.content(of: watched.vertex) { self.watched[action]?.last = value }
        }
    }

    private func farewells(of row: NodeRow) -> [Reaction] {
        persistence.nodes[row].attributes.compactMap { _, attribute in
            guard case .action(let action)? = graph.record(attribute).definition?.role,
                case .disappear? = action.trigger
            else { return nil }
            return Reaction(path: graph.path(of: attribute), action: attribute, row: row)
        }
    }

    private func ordered(_ reactions: [Reaction]) -> [Reaction] {
        var places: [NodeRow: [NodeRow: Int]] = [:]
        func place(of row: NodeRow) -> [Int] {
            var (at, place) = (row, [Int]())
            while at != .root {
                let parent = persistence.nodes[at].parent
                if places[parent] == nil {
                    places[parent] = Dictionary(
                        uniqueKeysWithValues: persistence.nodes[parent].children.enumerated().map { ($1, $0) })
                }
                place.append(places[parent]?[at] ?? 0)
                at = parent
            }
            return place.reversed()
        }
        func rank(of reaction: Reaction) -> Int {
            persistence.nodes[reaction.row].attributes.list.firstIndex { $0.attribute == reaction.action } ?? 0
        }
        return reactions.map { ($0, place(of: $0.row) + [-1, rank(of: $0)]) }
            .sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
    }

    // MARK: Calling

    /// The call of a reaction; nil if another reaction has removed its node.
    public func call(of reaction: Reaction) -> ActionCall? {
        guard let action = definition(of: reaction) else { return nil }
        graph.detours.noteCall()
        var arguments = ValueMap()
        if let (old, new) = reaction.values {
            arguments[.string(ActionDefinition.oldValue)] = old
            arguments[.string(ActionDefinition.newValue)] = new
        }
        return ActionCall(
            path: reaction.path, attribute: reaction.action, row: reaction.row, action: action, arguments: arguments)
    }

    private func definition(of reaction: Reaction) -> ActionDefinition? {
        guard graph.engine.isAlive(reaction.action),
            case .action(let action)? = graph.record(reaction.action).definition?.role
        else { return nil }
        return action
    }

    /// Notes the result of a reaction. The value of the action is the error while its last call has failed.
    public func note(_ failure: Failure?, of reaction: Reaction) {
        guard let action = definition(of: reaction) else { return }
        graph.replaceSource(of: reaction.action, .literal(failure.map { .failure($0) } ?? .value(action.summary)))
    }
}
