import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// Topics follow the tree as it changes.

extension Watching {
    func followTree(_ structure: StructureChange, _ news: inout News) {
        for attribute in structure.removedAttributes { leave(attribute, &news) }
        if !structure.removedTrees.isEmpty {
            for attribute in topics.watches.attributes.filter(graph.isUnlinked) { leave(attribute, &news) }
        }
        news.forEachTopic { part in part.topic.remove(Set(part.left.map(\.attribute))) }
        guard !topics.isEmpty else { return }
        let moved = structure.movedNodes.filter { graph.isAlive($0.node) }
        let left = moved.flatMap { leave(below: AttributePath.describe(nodes: $0.from), &news) }
        let movedNodes = moved.flatMap { graph.nodes(below: $0.node) }
        let attributes = structure.addedAttributes.filter(graph.isAlive) + movedNodes.flatMap(graph.attributes)
        for attribute in attributes { topics.join(attribute, &news) }
        for node in structure.addedInstances + movedNodes where graph.isAlive(node) {
            topics.joinIndex(of: node, &news)
        }
        for attribute in left where topics[attribute]?.topics.isEmpty == true {
            news.completions += stopWatching(attribute)
        }
    }

    /// A removed attribute leaves all topics. They know its names until all that went with it have left, for completions.
    private func leave(_ attribute: AttributeID, _ news: inout News) {
        guard let watch = topics[attribute] else { return }
        news.completions += stopWatching(attribute)
        for topic in watch.topics {
            topic.stopFrames(attribute, isGone: true)
            for path in topic.paths[attribute] ?? [] { news.leave(attribute, path, topic) }
        }
    }

    /// A node has another path. The attributes below it leave the topics that know them by the old path. O(names they know).
    /// - Returns: attributes that have left a topic altogether.
    private func leave(below old: String, _ news: inout News) -> [AttributeID] {
        var left: [AttributeID] = []
        for topic in topics.inOrder {
            for (attribute, path) in topic.forgetNames(below: old) {
                news.leave(attribute, path, topic)
                topic.stopFrames(attribute, isGone: true)
                if topic.paths[attribute] == nil {
                    topics[attribute]?.topics.removeAll { $0 === topic }
                    left.append(attribute)
                } else if let running = presentations.moving(attribute) {
                    topic.startFrames(attribute, running, at: now)
                }
            }
        }
        return left
    }

    /// A subscription that named paths, not patterns, has nothing more to hear once all of them are gone.
    func endEmptyTopics() {
        // Only a removal empties a topic.
        guard history.lastRemoval == history.revision else { return }
        for topic in topics.inOrder where topic.order.isEmpty && topic.patterns.allSatisfy(isGone) {
            for member in topic.members {
                flush(member)
                deliver(.ended(.removed, reason: "all that the subscription named has been removed"), to: [member])
                end([member])
            }
        }
    }

    /// Whether a pattern is a path that names nothing any more: its node has gone, or has lost the attribute.
    private func isGone(_ pattern: PathPattern) -> Bool {
        guard let exact = pattern.exact else { return false }
        return exact.attribute != nil || (try? graph.node(at: exact.nodes)) == nil
    }

    // MARK: Changes of the tree as events

    func deliver(_ structure: StructureChange) {
        let topics = topics.inOrder.filter { $0.key.events.contains(.structure) }
        if topics.isEmpty { return }
        let news = StructureNews(structure, in: graph)
        for topic in topics {
            let paths = news.paths(for: topic.patterns)
            if paths.isEmpty { continue }
            let partial = paths.arrived.isEmpty ? [] : topic.members.filter(\.client.isPartial)
            if partial.isEmpty {
                deliverOrHold(paths, to: topic.members)
            } else {
                deliverOrHold(paths, to: topic.members.filter { !$0.client.isPartial })
                deliverOrHold(news.pathsForPartial(topic.patterns, paths), to: partial)
            }
        }
    }

    private func deliverOrHold(_ paths: StructurePaths, to members: [Subscription]) {
        deliver(paths, to: members.filter { !$0.isWaiting })
        for member in members where member.isWaiting { hold(for: member) { $0.structure.merge(paths) } }
    }

    func deliver(_ paths: StructurePaths, to members: [Subscription]) {
        if paths.isEmpty { return }
        deliver(
            .structure(
                revision: history.revision, added: paths.added, removed: paths.removed,
                moved: paths.arrived + paths.reordered),
            to: members)
    }
}
