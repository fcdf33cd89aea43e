import AttributeGraph
import AttributeValues
import SceneModel
import ViewGraph

// How the graph comes back from the store.

extension GraphRuntime {
    /// Puts back what a journal kept, before the first turn.
    ///
    /// Entries are taken in their order. That of a state is where it was written last, which may be behind what was made from it:
    /// the list of a `forEach` is written again and again, while what its instances hold is set, and they are defined, removed and
    /// moved in. So states that find no place, or lose it again while the tree takes its form, are tried once more behind all
    /// others, and so is what changes the tree where data has yet to make it, until no more of them find a place.
    /// - Returns: what has no place, and why.
    public func restore(_ entries: [(revision: UInt64, entry: JournalEntry)]) -> [(revision: UInt64, failure: Failure)] {
        var restoration = Restoration(self, entries)
        restoration.run()
        _ = graph.takeInvalidated()
        _ = graph.takeLostStates()
        _ = graph.takeLostInstances()
        _ = graph.takeHeldLists()
        unplaced.created = graph.createdStates
        for (position, failure) in restoration.failures where failure.code == .notFound {
            guard case .state(let path, let value) = entries[position].entry else { continue }
            if let nodes = try? AttributePath(path).nodes, graph.awaitsInstance(nodes) {
                graph.awaitState(path, value)
            } else {
                unplaced.paths.insert(path)
            }
        }
        return restoration.failures.sorted { $0.key < $1.key }.map { (entries[$0.key].revision, $0.value) }
    }

    /// What an entry has led to.
    fileprivate enum Restored {
        case state(AttributeID)
        /// Instances that stay although their data is refused.
        case heldList
        /// A change of the tree, and the instance that it was in.
        case definition(inside: NodeID?)
    }

    fileprivate func restore(_ entry: JournalEntry) throws(Failure) -> Restored {
        switch entry {
        case .state(let path, let value):
            let path = try AttributePath(path)
            let place = try graph.locate(path)
            if case .list(let list) = value, let node = graph.forEachNode(withElementsAt: place) {
                try graph.hold(list, at: node)
                return .heldList
            }
            graph.begin()
            do { try graph.write(place, through: path, isKept: true) { _ throws(Failure) in value } } catch {
                graph.rollBack()
                throw error
            }
            let state = graph.target(of: place)
            _ = graph.commit()
            return .state(state)
        case .applied(let document, let at, let mode):
            let node = try graph.node(at: try nodePath(at).nodes)
            let mode: ApplyMode = mode == "replace" ? .replace : .merge
            let scene = try read(document, at: node, mode, isKept: true)
            graph.perform(try graph.plan(scene, at: node, mode, isKept: true))
            return .definition(inside: graph.enclosingInstance(of: node))
        case .removed(let path):
            let ids = try nodePath(path).nodes
            let parent = try graph.node(at: Array(ids.dropLast()))
            try graph.remove(try graph.node(at: ids))
            return .definition(inside: graph.enclosingInstance(of: parent))
        case .moved(let path, let to, let index):
            let ids = try nodePath(path).nodes
            let node = try graph.node(at: ids)
            let parent = try graph.node(at: try to.map { text throws(Failure) in try nodePath(text).nodes } ?? Array(ids.dropLast()))
            _ = try graph.move(node, to: parent, at: index)
            return .definition(inside: graph.enclosingInstance(of: parent))
        case .forgotten, .unmade: return .definition(inside: nil)
        }
    }

    /// Whether an entry changes the tree where data has yet to make it.
    fileprivate func awaitsInstance(_ entry: JournalEntry) -> Bool {
        let paths: [String?] =
            switch entry {
            case .applied(_, let at, _): [at]
            case .removed(let path): [path]
            case .moved(let path, let to, _): [path, to]
            case .state, .forgotten, .unmade: []
            }
        return paths.contains { path in
            path.flatMap { try? nodePath($0).nodes }.map { graph.awaitsInstance($0) } ?? false
        }
    }
}

/// A journal on its way back into the graph.
private struct Restoration {
    private let runtime: GraphRuntime
    private let entries: [(revision: UInt64, entry: JournalEntry)]
    private(set) var failures: [Int: Failure] = [:]
    private var placed: [AttributeID: Int] = [:]
    /// Changes of the tree that are done, inside instances that may go again.
    private var inside: [(instance: NodeID, position: Int)] = []
    /// Some change of the tree was done behind states that stand behind it.
    private var isOutOfOrder = false

    init(_ runtime: GraphRuntime, _ entries: [(revision: UInt64, entry: JournalEntry)]) {
        self.runtime = runtime
        self.entries = entries
    }

    mutating func run() {
        var waiting = Array(entries.indices)
        // Changes of the tree wait for those before them, as long as that leads on.
        var keepsOrder = true
        for _ in 0..<runtime.limits.graph.structureRounds where !waiting.isEmpty {
            if round(&waiting, keepsOrder) {
                keepsOrder = true
            } else if keepsOrder, isOutOfOrder {
                keepsOrder = false
            } else {
                break
            }
        }
        // Where the data is right again, instances are made from it, and not from what was held.
        failures = failures.filter { position, failure in
            if case .state = entries[position].entry { failure.code != .conflict } else { true }
        }
        guard isOutOfOrder else { return }
        // All values are true together, wherever each was put on the way.
        for (position, entry) in entries.enumerated() where failures[position] == nil {
            if case .state = entry.entry { _ = try? runtime.restore(entry.entry) }
        }
    }

    /// - Returns: whether any of those that wait has found its place.
    private mutating func round(_ waiting: inout [Int], _ keepsOrder: Bool) -> Bool {
        let tried = waiting
        waiting = []
        var hasPlaced = false
        var isHeldUp = false
        for position in tried {
            let entry = entries[position].entry
            let isState = if case .state = entry { true } else { false }
            if isHeldUp, keepsOrder, !isState {
                failures[position] = Failure(.notFound, "what comes before it has no place")
                waiting.append(position)
                continue
            }
            failures[position] = nil
            do throws(Failure) {
                switch try runtime.restore(entry) {
                case .state(let state): placed[state] = position
                case .heldList, .definition(inside: nil): break
                case .definition(let instance?): inside.append((instance, position))
                }
                hasPlaced = true
            } catch {
                failures[position] = error
                if isState {
                    waiting.append(position)
                } else if runtime.awaitsInstance(entry) || isHeldUp && error.code == .notFound {
                    waiting.append(position)
                    isHeldUp = true
                    isOutOfOrder = true
                }
            }
            takeBackLost(&waiting)
        }
        waiting.sort()
        return hasPlaced
    }

    /// What has lost its place again waits for another.
    private mutating func takeBackLost(_ waiting: inout [Int]) {
        let change = runtime.graph.takeStructureChange()
        func takeBack(_ position: Int) {
            failures[position] = Failure(.removed, "its place was removed again")
            waiting.append(position)
        }
        for lost in change.removedAttributes {
            if let position = placed.removeValue(forKey: lost) { takeBack(position) }
        }
        guard !change.removedNames.isEmpty else { return }
        let gone = inside.filter { !runtime.graph.isAlive($0.instance) }
        guard !gone.isEmpty else { return }
        inside.removeAll { !runtime.graph.isAlive($0.instance) }
        for (_, position) in gone { takeBack(position) }
    }
}
