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
    /// - Parameters:
    ///   - floor: the first revision from which a client can resume, as far as the store goes; nil: from none of an earlier life.
    ///   - isSalvaged: what was kept is what a damaged store still had. Values without a place wait until somebody makes
    ///     their states again.
    /// - Returns: what has no place, and why.
    public func restore(
        _ entries: [(revision: UInt64, entry: JournalEntry)], resumableFrom floor: UInt64? = nil, isSalvaged: Bool = false
    ) -> [(revision: UInt64, failure: Failure)] {
        var restoration = Restoration(self, entries)
        graph.isRestoring = true
        restoration.run()
        graph.isRestoring = false
        _ = graph.takeInvalidated()
        _ = graph.takeLostStates()
        _ = graph.takeHeldLists()
        changes = restoration.changes.count
        // With a change of the tree left out it is another one than it was.
        let isSame = restoration.changes.keys.allSatisfy { restoration.failures[$0] == nil }
        history.begin(
            restoration.placed.mapValues { entries[$0].revision },
            resumableFrom: isSame ? floor ?? history.firstRevision : history.firstRevision)
        for (position, change) in restoration.changes.sorted(by: { $0.key < $1.key }) where restoration.failures[position] != nil {
            graph.await(change: change)
            if awaitedInstance(entries[position].entry) != nil { awaited.append((change, entries[position].entry)) }
        }
        if !awaited.isEmpty { graph.onNewInstances = { [unowned self] in redoAwaited(upTo: $0) } }
        unplaced.created = graph.createdStates
        unplaced.createdForSalvaged = graph.createdStates
        for (position, failure) in restoration.failures {
            guard case .state(let path, let value) = entries[position].entry else { continue }
            if failure.code == .conflict { graph.awaitHeldList(path, value) }
            guard failure.code == .notFound else { continue }
            if let nodes = try? AttributePath(path).nodes, graph.awaitedInstance(nodes) != nil {
                graph.awaitState(path, value)
            } else if isSalvaged {
                unplaced.salvaged[path] = value
            } else {
                unplaced.paths.insert(path)
            }
        }
        return restoration.failures.sorted { $0.key < $1.key }.compactMap { position, failure in
            // Where the data is right again, instances are made from it, and not from what was held.
            if failure.code == .conflict, !entries[position].entry.isStructure { return nil }
            return (entries[position].revision, failure)
        }
    }

    /// Gives values from a recovered store to the states that have been made anew, as a transaction of its own.
    func giveSalvagedValues() {
        guard !unplaced.salvaged.isEmpty, graph.createdStates != unplaced.createdForSalvaged else { return }
        unplaced.createdForSalvaged = graph.createdStates
        let stamp = graph.stamp
        var states: [AttributeID] = []
        for (path, value) in unplaced.salvaged.sorted(by: { $0.key < $1.key }) {
            guard let parsed = try? AttributePath(path), (try? graph.locate(parsed)) != nil else { continue }
            unplaced.salvaged[path] = nil
            // A state of another type keeps what it has.
            guard case .state(let state)? = try? restore(.state(path: path, value: value)) else { continue }
            states.append(state)
        }
        guard !states.isEmpty else { return }
        advanceRevision(nil, "recovered", since: stamp, writes: [])
        keep(states: states)
        publish(since: stamp, .none, "recovered")
    }

    /// What an entry has led to.
    fileprivate enum Restored {
        case state(AttributeID)
        /// Instances that stay although their data is refused.
        case heldList
        /// A change of the tree, and the instance that it was in.
        case definition(inside: NodeID?)
    }

    /// Does again what the store kept of instances that data has made by now: in the outermost ones, if they are no deeper than that.
    /// - Returns: whether there was anything.
    private func redoAwaited(upTo depth: Int) -> Bool {
        var absent = AbsentInstances()
        let least = awaited.map { readyDepth($0.entry, &absent) }.min() ?? .max
        guard least <= depth, least < .max else { return false }
        absent = AbsentInstances()
        awaited.removeAll { change, entry in
            // Those before it may have made deeper instances, in which it is done.
            guard readyDepth(entry, &absent) <= least else { return false }
            _ = try? restore(entry, change)
            return true
        }
        return true
    }

    /// How deep the instance stands that a change is done in; `max` while it has to wait for one.
    private func readyDepth(_ entry: JournalEntry, _ absent: inout AbsentInstances) -> Int {
        absent.hold(entry, awaitedInstance(entry)) ? .max : entry.places.map { graph.instanceDepth($0) }.max() ?? 0
    }

    /// - Parameter change: the number of one of structure.
    fileprivate func restore(_ entry: JournalEntry, _ change: Int?) throws(Failure) -> Restored {
        guard let change else { return try restore(entry) }
        return try graph.keeping(change) { () throws(Failure) in try restore(entry) }
    }

    private func restore(_ entry: JournalEntry) throws(Failure) -> Restored {
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
            let scene = try readScene(document, at: node, mode, isKept: true)
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
        case .forgotten, .void, .rekeyed: return .definition(inside: nil)
        }
    }

    /// The instance that data has yet to make for a change of the tree to be done.
    func awaitedInstance(_ entry: JournalEntry) -> ArraySlice<String>? {
        entry.places.lazy.compactMap { self.graph.awaitedInstance($0) }.first
    }
}

extension JournalEntry {
    /// The nodes that a change of the tree names, as ids from the root down.
    var places: [[String]] {
        let paths: [String?] =
            switch self {
            case .applied(_, let at, _): [at]
            case .removed(let path): [path]
            case .moved(let path, let to, _): [path, to]
            case .state, .forgotten, .void, .rekeyed: []
            }
        return paths.compactMap { path in path.flatMap { try? AttributePath($0).nodes } }
    }

    /// Whether it changes the tree below a node.
    func isInside(_ path: String) -> Bool {
        guard let ids = try? AttributePath(path).nodes else { return false }
        return places.contains { $0.starts(with: ids) }
    }
}

/// Instances that some change waits for: what else is to be done in them is done behind it.
private struct AbsentInstances {
    private var ids: Set<ArraySlice<String>> = []

    /// - Parameter instance: what the change itself waits for.
    /// - Returns: whether it has to wait.
    mutating func hold(_ entry: JournalEntry, _ instance: ArraySlice<String>?) -> Bool {
        if let instance {
            ids.insert(instance)
            return true
        }
        guard !ids.isEmpty else { return false }
        return entry.places.contains { place in place.indices.contains { ids.contains(place[...$0]) } }
    }
}

/// A journal on its way back into the graph.
private struct Restoration {
    private let runtime: GraphRuntime
    private let entries: [(revision: UInt64, entry: JournalEntry)]
    private(set) var failures: [Int: Failure] = [:]
    /// The numbers of the changes of structure, by their places among the entries.
    let changes: [Int: Int]
    private(set) var placed: [AttributeID: Int] = [:]
    /// Changes of the tree that are done, inside instances that may go again.
    private var inside: [(instance: NodeID, position: Int)] = []
    /// Some change of the tree was done behind states that stand behind it.
    private var isOutOfOrder = false

    init(_ runtime: GraphRuntime, _ entries: [(revision: UInt64, entry: JournalEntry)]) {
        self.runtime = runtime
        self.entries = entries
        let structure = entries.indices.filter { entries[$0].entry.isStructure }
        changes = Dictionary(uniqueKeysWithValues: structure.enumerated().map { ($0.element, $0.offset) })
    }

    mutating func run() {
        var waiting = Array(entries.indices)
        // Changes of the tree wait for those before them, as long as that leads on.
        var keepsOrder = true
        while !waiting.isEmpty {
            if round(&waiting, keepsOrder) {
                keepsOrder = true
            } else if keepsOrder, isOutOfOrder {
                keepsOrder = false
            } else {
                break
            }
        }
        guard isOutOfOrder else { return }
        // All values are true together, wherever each was put on the way.
        for (position, entry) in entries.enumerated() where failures[position] == nil {
            if case .state = entry.entry { _ = try? runtime.restore(entry.entry, nil) }
        }
    }

    /// - Returns: whether any of those that wait has found its place.
    private mutating func round(_ waiting: inout [Int], _ keepsOrder: Bool) -> Bool {
        let tried = waiting
        waiting = []
        var hasPlaced = false
        var isHeldUp = false
        var absent = AbsentInstances()
        for position in tried {
            let entry = entries[position].entry
            let isState = if case .state = entry { true } else { false }
            if !isState, isHeldUp && keepsOrder || absent.hold(entry, nil) {
                failures[position] = Failure(.notFound, "what comes before it has no place")
                waiting.append(position)
                continue
            }
            failures[position] = nil
            do throws(Failure) {
                switch try runtime.restore(entry, changes[position]) {
                case .state(let state): placed[state] = position
                case .heldList, .definition(inside: nil): break
                case .definition(let instance?): inside.append((instance, position))
                }
                hasPlaced = true
            } catch {
                failures[position] = error
                if isState {
                    waiting.append(position)
                } else if absent.hold(entry, runtime.awaitedInstance(entry)) || isHeldUp && error.code == .notFound {
                    waiting.append(position)
                    isHeldUp = true
                    isOutOfOrder = true
                }
            }
            if takeBackLost(&waiting) {
                isHeldUp = true
                isOutOfOrder = true
            }
        }
        waiting.sort()
        return hasPlaced
    }

    /// What has lost its place again waits for another.
    /// - Returns: whether changes of the tree are among that.
    private mutating func takeBackLost(_ waiting: inout [Int]) -> Bool {
        let change = runtime.graph.takeStructureChange()
        func takeBack(_ position: Int) {
            failures[position] = Failure(.removed, "its place was removed again")
            waiting.append(position)
        }
        for lost in change.removedAttributes {
            if let position = placed.removeValue(forKey: lost) { takeBack(position) }
        }
        // A value that found its place before the move was meant for what comes to stand there.
        for moved in change.movedNodes where runtime.graph.isAlive(moved.node) {
            for state in runtime.graph.durableStates(below: moved.node) {
                if let position = placed.removeValue(forKey: state) { takeBack(position) }
            }
        }
        guard !change.removedNames.isEmpty else { return false }
        let gone = inside.filter { !runtime.graph.isAlive($0.instance) }
        guard !gone.isEmpty else { return false }
        inside.removeAll { !runtime.graph.isAlive($0.instance) }
        for (_, position) in gone { takeBack(position) }
        return true
    }
}
