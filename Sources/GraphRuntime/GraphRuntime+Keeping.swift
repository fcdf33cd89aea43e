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
    /// `ViewGraph.createdStates` at the last look.
    var created: UInt64 = 0
}

extension GraphRuntime {
    /// Notes what a turn has led to, for the store: whose states are gone, a change of definitions, and values, in this order.
    func keep(_ definition: JournalEntry? = nil, states: [AttributeID] = []) {
        keepWhatFollowed()
        if let definition { outcome.accepted.append((revision, definition)) }
        for state in states where graph.isDurable(state) {
            if case .value(let value) = graph.content(of: state) {
                outcome.accepted.append((revision, .state(path: graph.path(of: state), value: value)))
            }
        }
    }

    /// A node's states are kept under its new path: whatever comes to stand at the old one has states of its own.
    func keepMovedStates(of node: NodeID, from path: String) {
        outcome.accepted.append((revision, .forgotten(path: path)))
        keep(states: graph.durableStates(below: node))
        for (path, list) in graph.heldLists(below: node) { outcome.accepted.append((revision, .state(path: path, value: .list(list)))) }
    }

    /// Notes what the tree has become by itself, from changed data: what is gone, and instances that stay although their data is
    /// refused.
    func keepWhatFollowed() {
        for path in graph.takeLostInstances() { outcome.accepted.append((revision, .unmade(path: path))) }
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
