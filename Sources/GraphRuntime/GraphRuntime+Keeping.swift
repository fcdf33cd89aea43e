import AttributeGraph
import AttributeValues
import SceneModel
import ViewGraph

// What the store is told.

/// States that a journal holds and the tree has no place for, since the scenes it grew from have changed. They are kept, in case
/// the scenes change back, until a state of that path is made anew. (One that data has yet to make gets its value then:
/// `ViewGraph.awaitState`.)
struct UnplacedStates {
    var paths: Set<String> = []
    /// Values from a store that was recovered: what made their states is lost, so a state of that path that is made anew is theirs.
    var salvaged: [String: Value] = [:]
    /// `ViewGraph.createdStates` at the last look for them.
    var createdForSalvaged: UInt64 = 0
    /// `ViewGraph.createdStates` at the last look.
    var created: UInt64 = 0
}

extension GraphRuntime {
    /// Notes what a turn has led to, for the store: whose states are gone, a change of definitions, and values, in this order.
    func keep(_ definition: JournalEntry? = nil, states: [AttributeID] = []) {
        keepWhatFollowed()
        if let definition {
            outcome.accepted.append((revision, definition))
            changes += 1
        }
        for state in states where graph.isDurable(state) {
            if case .value(let value) = graph.content(of: state) {
                outcome.accepted.append((revision, .state(path: graph.path(of: state), value: value)))
            }
        }
    }

    /// Notes what waited for instances of a `forEach` that there is no more.
    func forgetHopeless() {
        for path in graph.takeHopelessStates() { outcome.accepted.append((revision, .forgotten(path: path))) }
        awaited.removeAll { change, entry in
            if awaitedInstance(entry) != nil { return false }
            graph.forget(change: change)
            return true
        }
    }

    /// Forgets what waited for instances that will be made anew, or be what another template says. (A change that has waited itself takes
    /// nothing from those that waited with it.)
    func forgetRenewed(by plan: ScenePlan) {
        graph.forgetAwaitedStates(takenBy: plan)
        awaited.removeAll { change, entry in
            guard entry.places.contains(where: { graph.renews(plan, $0) }) else { return false }
            graph.forget(change: change)
            return true
        }
    }

    /// A node's states are kept under its new path: whatever comes to stand at the old one has states of its own.
    /// - Parameter level: in how many instances it was before.
    func keepMovedStates(of node: NodeID, from path: String, level: Int) {
        outcome.accepted.append((revision, .forgotten(path: path)))
        keep(states: graph.durableStates(below: node))
        for (path, list) in graph.heldLists(below: node) { outcome.accepted.append((revision, .state(path: path, value: .list(list)))) }
        let to = graph.path(of: node)
        for (path, value) in graph.rekeyAwaitedStates(from: path, to: to) { outcome.accepted.append((revision, .state(path: path, value: value))) }
        var inside = graph.changesOfInstances(below: node, level: level)
        for place in awaited.indices where awaited[place].entry.isInside(path) {
            inside.append(awaited[place].change)
            awaited[place].entry = awaited[place].entry.rekeyed(from: path, to: to)
        }
        if !inside.isEmpty { outcome.accepted.append((revision, .rekeyed(changes: inside.sorted(), from: path, to: to))) }
    }

    /// Notes which changes the tree no longer stands on, when all of a turn are done.
    func keepNothingVoid() {
        let void = graph.takeVoidChanges()
        if !void.isEmpty { outcome.accepted.append((revision, .void(changes: void))) }
    }

    /// Notes what the tree has become by itself, from changed data: what is gone, and instances that stay although their data is
    /// refused.
    func keepWhatFollowed() {
        for path in graph.takeLostStates() { outcome.accepted.append((revision, .forgotten(path: path))) }
        for (path, list) in graph.takeHeldLists() {
            let entry: JournalEntry = if let list { .state(path: path, value: .list(list)) } else { .forgotten(path: path) }
            outcome.accepted.append((revision, entry))
        }
        guard !unplaced.paths.isEmpty, graph.createdStates != unplaced.created else { return }
        unplaced.created = graph.createdStates
        for path in unplaced.paths where (try? graph.locate(AttributePath(path))) != nil {
            unplaced.paths.remove(path)
            outcome.accepted.append((revision, .forgotten(path: path)))
        }
    }
}
