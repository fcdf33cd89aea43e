import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// Who comes back with `since`. It is told exactly what may have changed, or that nobody knows any more.

/// What a client has missed.
struct Missed {
    /// Removals, and the present contents of what has changed.
    var update: [Change] = []
    /// Attributes that may have changed.
    var invalidated: [AttributeID] = []
    /// The names that an invalidation tells.
    var paths: [String] = []
}

extension GraphRuntime {
    /// - Returns: nil where that is not known: in another life, too long ago, or, for who watches the tree, where it has changed.
    func missed(since position: Request.Position, of topic: Topic) -> Missed? {
        guard position.epoch == epoch, position.revision <= revision else { return nil }
        if position.revision <= lifeBeginning.revision { return hasMissedNothing(since: position.revision, of: topic) ? Missed() : nil }
        if topic.key.events.contains(.structure), position.revision < lastStructureChange { return nil }
        guard let stamp = position.revision == revision ? graph.stamp : history.stamp(after: position.revision),
            let names = changedNames.names(since: position.revision, of: topic)
        else { return nil }
        var gone: [String] = []
        var renamed: Set<AttributeID> = []
        if !names.isEmpty {
            var live: [String: AttributeID] = [:]
            for attribute in topic.order { for path in topic.paths[attribute] ?? [] { live[path] = attribute } }
            for name in names { if let attribute = live[name] { renamed.insert(attribute) } else { gone.append(name) } }
        }
        // Who wants no values gets none evaluated.
        let isSettled = max(lastStructureChange, lastRedefinition) <= position.revision
        let changed = topic.order.filter { attribute in
            if renamed.contains(attribute) { return true }
            guard topic.wantsValues else { return graph.mayHaveChanged(attribute, since: stamp) }
            _ = evaluated(attribute)
            return graph.hasChanged(attribute, since: stamp, isSettled: isSettled)
        }
        var missed = Missed()
        if topic.key.events.contains(.update) {
            missed.update = gone.map(GraphRuntime.removal) + changes(changed, of: topic)
        }
        if topic.key.events.contains(.invalidate) {
            missed.invalidated = changed
            missed.paths = gone + changed.flatMap { topic.paths[$0] ?? [] }
        }
        return missed
    }
}

/// What is known of the lives before this one: how old the states were when it began.
struct LifeBeginning {
    /// The last one of the earlier life.
    let revision: UInt64
    /// The engine's clock when the states had been put back.
    var stamp: UInt64 = 0
    /// When states were written last: those that were last of all.
    var written: [AttributeID: UInt64] = [:]
}

extension GraphRuntime {
    /// The states have been put back; when each was written last.
    /// - Parameter floor: the first revision from which a client can resume, as far as the store goes.
    func begin(_ written: [AttributeID: UInt64], resumableFrom floor: UInt64) {
        let newest = written.sorted { $0.value > $1.value }
        lifeBeginning.written = Dictionary(uniqueKeysWithValues: newest.prefix(limits.historyLength).map { ($0.key, $0.value) })
        lifeBeginning.stamp = graph.stamp
        resumableFrom = newest.count > limits.historyLength ? max(floor, newest[limits.historyLength].value) : floor
    }

    /// Over a restart: whether all that a topic watches is as it was, and nothing else can have been there. The content of every attribute
    /// and of every list that decides what the patterns match must follow from states that were written last before the revision, and
    /// not in this life.
    private func hasMissedNothing(since revision: UInt64, of topic: Topic) -> Bool {
        guard revision >= resumableFrom else { return false }
        var attributes = topic.order
        for pattern in topic.patterns {
            guard let lists = graph.listData(deciding: pattern) else { return false }
            attributes += lists
        }
        return graph.follow(attributes) { state in
            graph.changedAt(state) <= lifeBeginning.stamp && lifeBeginning.written[state, default: 0] <= revision
        }
    }
}

/// Names that led elsewhere from some revision on, or nowhere: of what was removed, and the old and new ones of what was moved. A queue
/// of bounded length.
struct ChangedNames {
    private var entries: [(revision: UInt64, names: NodeNames)] = []
    private var head = 0
    /// Nothing is known of what came before this revision was complete.
    private var floor: UInt64 = 0
    private let capacity: Int
    /// Names times patterns that are looked at for one who resumes: a snapshot costs no more.
    private static let comparisons = 200_000

    init(capacity: Int) { self.capacity = capacity }

    mutating func append(_ structure: StructureChange, at revision: UInt64, in graph: ViewGraph) {
        for names in structure.removedNames { append(names, at: revision) }
        for move in structure.movedNodes {
            for names in move.names { append(names, at: revision) }
            guard graph.isAlive(move.node) else { continue }
            for node in graph.nodes(below: move.node) { append(graph.names(of: node), at: revision) }
        }
    }

    private mutating func append(_ names: NodeNames, at revision: UInt64) {
        if names.attributes.isEmpty { return }
        entries.append((revision, names))
        guard entries.count - head > capacity else { return }
        floor = entries[head].revision
        head += 1
        if head > capacity {
            entries.removeFirst(head)
            head = 0
        }
    }

    /// Those that a topic's patterns match, each once; nil where they are no longer all known.
    func names(since revision: UInt64, of topic: Topic) -> [String]? {
        guard revision >= floor else { return nil }
        let start = entries[head...].partitioningIndex { $0.revision > revision }
        guard (entries.count - start) * topic.patterns.count <= ChangedNames.comparisons else { return nil }
        var found: [String] = []
        var seen: Set<String> = []
        for (_, names) in entries[start...] {
            for pattern in topic.patterns where pattern.matches(nodes: names.ids) {
                let node = AttributePath.describe(nodes: names.ids)
                let steps = pattern.steps.map(\.description).joined()
                for name in names.attributes where pattern.attribute.map({ $0 == name }) ?? true {
                    let path = node + "." + AttributePath.quoteIfNeeded(name) + steps
                    if seen.insert(path).inserted { found.append(path) }
                }
            }
        }
        return found
    }
}
