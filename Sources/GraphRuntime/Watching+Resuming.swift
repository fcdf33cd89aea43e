import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// Resuming with `since`. A client is told exactly the changes that it has missed, or that they are no longer known.

/// The changes that a client has missed.
struct Missed {
    /// Changes of the tree.
    var structure = StructurePaths()
    /// Removals, and the present contents of changed attributes.
    var update: [Change] = []
    /// Attributes that may have changed.
    var invalidated: [AttributeID] = []
    /// The names in an invalidation.
    var paths: [String] = []
}

extension Watching {
    /// - Returns: nil if the changes are not known: another life, too long ago, or more than is retained.
    func missed(since position: Request.Position, of topic: Topic, by client: Client) -> Missed? {
        guard position.epoch == history.epoch, position.revision <= history.revision else { return nil }
        if position.revision <= history.firstRevision {
            return history.isSame(topic.order, topic.patterns, since: position.revision) ? Missed() : nil
        }
        guard let stamp = history.engineStamp(after: position.revision),
            let names = history.changedNames.changed(since: position.revision, of: topic.patterns)
        else { return nil }
        var gone: [String] = []
        var renamed: Set<AttributeID> = []
        if !names.isEmpty {
            var live: [Name: AttributeID] = [:]
            for attribute in topic.order { for path in topic.paths[attribute] ?? [] { live[path] = attribute } }
            for name in names { if let attribute = live[name] { renamed.insert(attribute) } else { gone.append(name) } }
        }
        // If the topic needs no values, nothing is evaluated.
        let isSettled = max(history.lastStructureChange, history.lastRedefinition) <= position.revision
        let changed = topic.order.filter { attribute in
            if renamed.contains(attribute) { return true }
            guard topic.wantsValues else { return graph.mayHaveChanged(attribute, since: stamp) }
            _ = topics.evaluated(attribute)
            return graph.provenance.hasChanged(attribute, since: stamp, isSettled: isSettled)
        }
        var missed = Missed()
        if topic.key.events.contains(.structure), position.revision < history.lastStructureChange {
            guard let structure = missedStructure(since: position.revision, of: topic, for: client) else { return nil }
            missed.structure = structure
        }
        if topic.key.events.contains(.update) {
            missed.update = gone.map(Change.init(removalOf:)) + presentChanges(changed, of: topic)
        }
        if topic.key.events.contains(.invalidate) {
            missed.invalidated = changed
            missed.paths = gone + changed.flatMap { topic.paths[$0] ?? [] }
        }
        return missed
    }
}
