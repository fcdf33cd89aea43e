import AttributeGraph
import AttributeValues
import SceneModel
import ViewGraph

// What the store is told, and how the graph comes back from it.

/// States that a journal holds and the tree has no place for, since the scenes it grew from have changed. They are kept, in case
/// the scenes change back, until a state of that path is made anew.
struct UnplacedStates {
    var paths: Set<String> = []
    /// `ViewGraph.createdStates` at the last look.
    var created: UInt64 = 0
}

extension GraphRuntime {
    /// Notes what a turn has led to, for the store: whose states are gone, a change of definitions, and values, in this order.
    func keep(_ definition: JournalEntry? = nil, states: [AttributeID] = []) {
        forgetLostStates()
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
    }

    func forgetLostStates() {
        for path in graph.takeLostStates() { outcome.accepted.append((revision, .forgotten(path: path))) }
        guard !unplaced.paths.isEmpty, graph.createdStates != unplaced.created else { return }
        unplaced.created = graph.createdStates
        for path in unplaced.paths where (try? graph.locate(AttributePath(path))) != nil {
            unplaced.paths.remove(path)
            outcome.accepted.append((revision, .forgotten(path: path)))
        }
    }

    // MARK: Starting again

    /// Puts back what a journal kept, before the first turn.
    ///
    /// Entries are taken in their order. That of a state is where it was written last, which may be before what its node is made
    /// from now: the list of a `forEach` is written again and again. So states that find no place, or lose it again while the
    /// tree takes its form, are tried once more behind all others, until no more of them are placed.
    /// - Returns: what has no place, and why.
    public func restore(_ entries: [(revision: UInt64, entry: JournalEntry)]) -> [(revision: UInt64, failure: Failure)] {
        var waiting = Array(entries.indices)
        var failures: [Int: Failure] = [:]
        var placed: [AttributeID: Int] = [:]
        for round in 0..<limits.graph.structureRounds {
            let tried = waiting
            var hasPlaced = false
            waiting = []
            for position in tried {
                let entry = entries[position].entry
                failures[position] = nil
                do throws(Failure) {
                    if let state = try restore(entry) {
                        placed[state] = position
                        hasPlaced = true
                    }
                } catch {
                    failures[position] = error
                    if case .state = entry { waiting.append(position) }
                }
                for lost in graph.takeStructureChange().removedAttributes {
                    guard let position = placed.removeValue(forKey: lost) else { continue }
                    failures[position] = Failure(.removed, "its state was removed again")
                    waiting.append(position)
                }
            }
            if waiting.isEmpty || (round > 0 && !hasPlaced) { break }
            waiting.sort()
        }
        _ = graph.takeInvalidated()
        _ = graph.takeLostStates()
        unplaced.created = graph.createdStates
        for (position, failure) in failures {
            if case .state(let path, _) = entries[position].entry, failure.code == .notFound { unplaced.paths.insert(path) }
        }
        return failures.sorted { $0.key < $1.key }.map { (entries[$0.key].revision, $0.value) }
    }

    /// - Returns: the state that an entry was for.
    private func restore(_ entry: JournalEntry) throws(Failure) -> AttributeID? {
        switch entry {
        case .state(let path, let value):
            let path = try AttributePath(path)
            let place = try graph.locate(path)
            graph.begin()
            do { try graph.write(place, through: path, isKept: true) { _ throws(Failure) in value } } catch {
                graph.rollBack()
                throw error
            }
            let state = graph.target(of: place)
            _ = graph.commit()
            return state
        case .applied(let document, let at, let mode):
            let node = try graph.node(at: try nodePath(at).nodes)
            let mode: ApplyMode = mode == "replace" ? .replace : .merge
            let scene = try read(document, at: node, mode, isKept: true)
            graph.perform(try graph.plan(scene, at: node, mode, isKept: true))
        case .removed(let path): try graph.remove(try graph.node(at: try nodePath(path).nodes))
        case .moved(let path, let to, let index):
            let node = try graph.node(at: try nodePath(path).nodes)
            let parent = try nodePath(to ?? path).nodes
            _ = try graph.move(node, to: try graph.node(at: to == nil ? Array(parent.dropLast()) : parent), at: index)
        case .forgotten: break
        }
        return nil
    }
}
