import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// Topics follow the changes of the tree.

extension Watching {
    /// Steps for each path that a topic is told.
    private static let stepsPerPath = 10

    func followTree(_ structure: StructureChange, _ news: News) {
        for attribute in structure.removedAttributes { leave(attribute, news) }
        if !structure.removedTrees.isEmpty {
            for attribute in topics.watches.attributes.filter(graph.isUnlinked) { leave(attribute, news) }
        }
        for topic in news.topics { topic.remove(Set(topic.news.left.map(\.attribute))) }
        guard !topics.isEmpty else { return }
        let moved = structure.movedNodes.filter { graph.isAlive($0.node) }
        let left = moved.flatMap { leave(below: AttributePath.describe(nodes: $0.from), news) }
        let movedNodes = moved.flatMap { graph.allNodes(below: $0.node) }
        let attributes = structure.addedAttributes.filter(graph.isAlive) + movedNodes.flatMap(graph.attributeIDs)
        topics.join(attributes, news)
        for node in structure.addedInstances + movedNodes where graph.isAlive(node) { topics.joinIndex(of: node, news) }
        for attribute in left where topics[attribute]?.topics.isEmpty == true {
            news.completions += stopWatching(attribute)
        }
    }

    /// Removes a removed attribute from all topics. The topics still know its names until all others have left, for
    /// completions.
    private func leave(_ attribute: AttributeID, _ news: News) {
        guard let watch = topics[attribute] else { return }
        news.completions += stopWatching(attribute)
        for topic in watch.topics {
            topic.stopFrames(attribute, isGone: true)
            for path in topic.paths[attribute] ?? [] { news.leave(attribute, path, topic) }
        }
    }

    /// Handles a node with a new path: the attributes below it leave the topics that know them by the old path. O(names
    /// of the topics).
    /// - Returns: attributes that have no name left in some topic.
    private func leave(below old: String, _ news: News) -> [AttributeID] {
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

    /// Ends subscriptions that named paths, not patterns, when all of these are gone.
    func endEmptyTopics() {
        // Only a removal empties a topic.
        guard history.lastRemoval == history.revision else { return }
        for topic in topics.inOrder where topic.order.isEmpty && topic.patterns.allSatisfy(isGone) {
            for member in topic.members {
                flush(member)
                sender.send(
                    .ended(.removed, reason: "everything that the subscription names has been removed"), to: [member])
                end([member])
            }
        }
    }

    /// True if a pattern is a path that names nothing any more: its node has gone, or has lost the attribute, and no
    /// branch brings it back.
    private func isGone(_ pattern: PathPattern) -> Bool {
        guard let exact = pattern.exact, !graph.mayReturn(exact.nodes) else { return false }
        return exact.attribute != nil || (try? graph.node(at: exact.nodes)) == nil
    }

    /// Tells each topic of the change. Parts with different animations are told in an event each.
    func deliver(_ structure: StructureChange, _ motion: Motion, since stamp: UInt64) {
        log(structure)
        let listeners = topics.inOrder.count { $0.key.events.contains(.structure) && !$0.isOverfull }
        if listeners == 0 { return }
        var news = StructureNews(listeners: listeners, limit: limits.watchedAttributes)
        let animated = AnimatedChange(of: structure, motion, since: stamp, self)
        forEachLine(of: structure) { line in
            if !news.isHeardByNobody {
                let line = line()
                news.tell(
                    line.names, as: line.kind, former: line.from.map { topics.listeners($0, []) },
                    animated.animation(of: line), to: topics.listeners(line.names.ids, line.names.attributes))
            }
            return !news.isHeardByNobody
        }
        graph.stepsLeft -= news.told * Watching.stepsPerPath
        let inOrder = news.topics.enumerated().sorted {
            ($0.element.topic.number, $0.offset) < ($1.element.topic.number, $1.offset)
        }
        for (_, told) in inOrder where !told.topic.isOverfull {
            let timeline = presentations.coming(told.animation, elapsed: motion.elapsed, css: told.topic.key.css)
            let details = StructureDetails(timeline: timeline, transitions: told.transitions)
            for group in told.paths.groupMembers(told.topic.members) {
                guard let client = group.first?.client else { continue }
                let paths = told.paths.told(to: client)
                deliver(paths, details, to: group.filter { !$0.isWaiting })
                for member in group where member.isWaiting { sender.delay(for: member) { $0.structure.merge(paths) } }
            }
        }
        for topic in news.overfull { endOverfull(topic) }
    }

    /// Records the change for clients that resume.
    private func log(_ structure: StructureChange) {
        guard structureLog.hasBegun else { return }
        guard structure.addedNodes.count < limits.historyNames, structure.removedTrees.isEmpty else {
            return structureLog.forget(upTo: history.revision)
        }
        forEachLine(of: structure) { line in
            structureLog.append(line(), at: history.revision)
            return true
        }
    }

    /// Calls `body` with each line of a change of the tree, until it returns false.
    private func forEachLine(of structure: StructureChange, _ body: (() -> StructureLog.Line) -> Bool) {
        // Moved nodes are told with all their attributes.
        let moved = structure.movedNodes.filter { graph.isAlive($0.node) }
        let movedNodes = Set(moved.flatMap { graph.allNodes(below: $0.node) })
        for (position, node) in structure.addedNodes.enumerated() where graph.isAlive(node) {
            let list = structure.list(adding: position)
            guard body({ .init(names: graph.nodeNames(of: node), kind: .added, node: node, list: list) }) else {
                return
            }
        }
        let nodes = Set(structure.addedNodes)
        for attribute in structure.addedAttributes {
            guard let (node, name) = graph.nodeAndName(of: attribute), !nodes.contains(node), !movedNodes.contains(node)
            else { continue }
            let names = NodeNames(ids: graph.ids(of: node), attributes: [name], isWhole: false)
            guard body({ .init(names: names, kind: .added, node: node) }) else { return }
        }
        for names in structure.removedNames {
            guard body({ .init(names: names, kind: .removed, list: names.list) }) else { return }
        }
        var told = nodes
        for top in moved {
            let depth = graph.ids(of: top.node).count
            for node in graph.allNodes(below: top.node) where told.insert(node).inserted {
                let names = graph.nodeNames(of: node)
                let line = StructureLog.Line(
                    names: names, kind: .arrived, from: top.from + names.ids.dropFirst(depth), node: top.node)
                guard body({ line }) else { return }
            }
            for names in top.names {
                guard body({ .init(names: names, kind: .removed, node: top.node) }) else { return }
            }
        }
        for (position, top) in structure.removedTrees.enumerated() {
            let list = structure.list(removingTree: position)
            for node in graph.allNodes(below: top) {
                guard body({ .init(names: graph.nodeNames(of: node), kind: .removed, list: list) }) else { return }
            }
        }
        for (position, node) in structure.reorderedNodes.enumerated()
        where graph.isAlive(node) && told.insert(node).inserted {
            let names = NodeNames(ids: graph.ids(of: node), attributes: [])
            let list = structure.list(reordering: position)
            guard body({ .init(names: names, kind: .reordered, node: node, list: list) }) else { return }
        }
        var rearranged: Set<NodeID> = []
        for (node, place) in structure.rearrangedNodes where graph.isAlive(node) && rearranged.insert(node).inserted {
            let names = NodeNames(ids: graph.ids(of: node), attributes: [])
            guard body({ .init(names: names, kind: .rearranged, node: node, list: place) }) else { return }
        }
    }

    /// The changes of the tree since a revision for a topic, merged as for a client that was behind. nil if they are no
    /// longer known.
    func missedStructure(since revision: UInt64, of topic: Topic, for client: Client) -> StructurePaths? {
        guard let changes = structureLog.lines(since: revision) else { return nil }
        var pending = PendingStructure()
        for change in changes {
            var news = StructureNews(listeners: 1, limit: limits.watchedAttributes)
            for line in change {
                let listeners = topics.listeners(line.names.ids, line.names.attributes).filter { $0.topic === topic }
                news.tell(
                    line.names, as: line.kind, former: line.from.map { topics.listeners($0, []) }, nil, to: listeners)
            }
            guard news.overfull.isEmpty else { return nil }
            for told in news.topics { pending.merge(told.paths.told(to: client)) }
        }
        return pending.paths
    }

    /// - Parameter members: one of the groups that are told the same.
    func deliver(_ paths: StructurePaths, _ details: StructureDetails? = nil, to members: [Subscription]) {
        guard let client = members.first?.client, let event = structureEvent(paths, details, for: client) else {
            return
        }
        sender.send(event, to: members)
    }

    /// The event for a client; nil if there is nothing to tell.
    func structureEvent(
        _ paths: StructurePaths, _ details: StructureDetails? = nil, for client: Client
    ) -> Event? {
        if paths.isEmpty { return nil }
        var details = details
        if !paths.rearranged.isEmpty {
            var shown = details ?? StructureDetails()
            for path in paths.rearranged { shown.shown[.string(path)] = self.shown(at: path, for: client) }
            details = shown
        }
        return .structure(
            revision: history.revision, added: paths.added, removed: paths.removed,
            moved: paths.arrived + paths.reordered, details: details)
    }

    /// The paths of the nodes that a node shows now, in order, as far as the client may know.
    private func shown(at path: String, for client: Client) -> Value? {
        guard let path = try? AttributePath(path), let node = try? graph.node(at: path.nodes) else { return nil }
        // Others than the client that has made the change may know more than it.
        let paths = graph.showing(nil) { graph.seeing(as: client) { graph.description.pathsShown(in: node) } }
        return .list(paths.map { .string($0) })
    }
}
