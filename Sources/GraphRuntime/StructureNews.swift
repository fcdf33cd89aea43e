import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

/// What a transaction did to the tree, by name.
struct StructureNews {
    var added: [NodeNames]
    var removed: [NodeNames]
    /// Have another path, by the new one; the old one is among `removed`.
    var arrived: [(names: NodeNames, from: [String])]
    /// Stand elsewhere among their siblings.
    var reordered: [NodeNames]

    init(_ structure: StructureChange, in graph: ViewGraph) {
        let nodes = Set(structure.addedNodes)
        // These are told with all that they have.
        let moved = Set(structure.movedNodes.filter { graph.isAlive($0.node) }.flatMap { graph.nodes(below: $0.node) })
        added = structure.addedNodes.filter(graph.isAlive).map(graph.names)
        for attribute in structure.addedAttributes {
            guard let (node, name) = graph.owner(of: attribute), !nodes.contains(node), !moved.contains(node) else { continue }
            added.append(NodeNames(ids: graph.names(of: node).ids, attributes: [name], isWhole: false))
        }
        removed = structure.removedNames
        arrived = []
        var told = nodes
        for move in structure.movedNodes where graph.isAlive(move.node) {
            let depth = graph.names(of: move.node).ids.count
            for node in graph.nodes(below: move.node) where told.insert(node).inserted {
                let names = graph.names(of: node)
                arrived.append((names, move.from + names.ids.dropFirst(depth)))
            }
            removed += move.names
        }
        reordered = structure.reorderedNodes.filter { graph.isAlive($0) && told.insert($0).inserted }
            .map { NodeNames(ids: graph.names(of: $0).ids, attributes: []) }
    }
}

extension GraphRuntime {
    func deliverStructure(_ structure: StructureChange) {
        let topics = orderedTopics.filter { $0.key.events.contains(.structure) }
        if topics.isEmpty { return }
        let news = StructureNews(structure, in: graph)
        for topic in topics {
            let paths = StructurePaths(
                added: topic.paths(of: news.added), removed: topic.paths(of: news.removed),
                arrived: topic.paths(of: news.arrived.map(\.names)), reordered: topic.paths(of: news.reordered))
            if paths.isEmpty { continue }
            let partial = topic.members.filter { clients[$0.client]?.grants?.isPartial == true }
            if paths.arrived.isEmpty || partial.isEmpty {
                deliverOrHold(paths, to: topic.members)
                continue
            }
            let others = topic.members.filter { member in !partial.contains { $0.subscription == member.subscription } }
            deliverOrHold(paths, to: others)
            // To who may read only where a node has come to, it is a new one.
            var shown = paths
            let isKnown = { (ids: [String]) in topic.patterns.contains { $0.matches(nodes: ids) } }
            shown.arrived = topic.paths(of: news.arrived.filter { isKnown($0.from) }.map(\.names))
            shown.added += topic.paths(of: news.arrived.filter { !isKnown($0.from) }.map(\.names))
            deliverOrHold(shown, to: partial)
        }
    }

    private func deliverOrHold(_ paths: StructurePaths, to members: [(client: ClientID, subscription: Int64)]) {
        deliver(paths, to: members.filter { !isWaiting($0) })
        for member in members where isWaiting(member) { hold(for: member.subscription) { $0.structure.merge(paths) } }
    }

    func deliver(_ paths: StructurePaths, to members: [(client: ClientID, subscription: Int64)]) {
        if paths.isEmpty || members.isEmpty { return }
        deliver(
            members,
            .structure(revision: revision, added: paths.added, removed: paths.removed, moved: paths.arrived + paths.reordered))
    }
}

/// The same for one topic: what its patterns name.
struct StructurePaths {
    var added: [String]
    var removed: [String]
    var arrived: [String]
    var reordered: [String]

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && arrived.isEmpty && reordered.isEmpty }
}

extension Topic {
    /// Those of the nodes and attributes that the topic's patterns name, attributes behind their node.
    fileprivate func paths(of names: [NodeNames]) -> [String] {
        names.flatMap { names -> [String] in
            let patterns = patterns.filter { $0.matches(nodes: names.ids) }
            if patterns.isEmpty { return [] }
            let node = AttributePath.describe(nodes: names.ids)
            let attributes = names.attributes.filter { name in patterns.contains { $0.attribute.map { $0 == name } ?? true } }
            return (names.isWhole ? [node] : []) + attributes.map { node + "." + AttributePath.quoteIfNeeded($0) }
        }
    }
}
