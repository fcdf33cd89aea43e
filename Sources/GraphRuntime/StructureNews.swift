import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

/// A transaction's changes of the tree, by name.
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
            guard let (node, name) = graph.owner(of: attribute), !nodes.contains(node), !moved.contains(node) else {
                continue
            }
            added.append(NodeNames(ids: graph.names(of: node).ids, attributes: [name], isWhole: false))
        }
        removed = structure.removedNames
        arrived = []
        var told = nodes
        for moved in structure.movedNodes where graph.isAlive(moved.node) {
            let depth = graph.names(of: moved.node).ids.count
            for node in graph.nodes(below: moved.node) where told.insert(node).inserted {
                let names = graph.names(of: node)
                arrived.append((names, moved.from + names.ids.dropFirst(depth)))
            }
            removed += moved.names
        }
        for tree in structure.removedTrees { removed += graph.names(below: tree) }
        reordered = structure.reorderedNodes.filter { graph.isAlive($0) && told.insert($0).inserted }
            .map { NodeNames(ids: graph.names(of: $0).ids, attributes: []) }
    }
}

extension StructureNews {
    /// The part that patterns name.
    func paths(for patterns: [PathPattern]) -> StructurePaths {
        StructurePaths(
            added: patterns.paths(of: added), removed: patterns.paths(of: removed),
            arrived: patterns.paths(of: arrived.map(\.names)),
            reordered: patterns.paths(of: reordered))
    }

    /// The same for clients that may read only the new place of a node: to them the node is new.
    func pathsForPartial(_ patterns: [PathPattern], _ paths: StructurePaths) -> StructurePaths {
        var shown = paths
        let isKnown = { (ids: [String]) in patterns.contains { $0.matches(nodes: ids) } }
        shown.arrived = patterns.paths(of: arrived.filter { isKnown($0.from) }.map(\.names))
        shown.added += patterns.paths(of: arrived.filter { !isKnown($0.from) }.map(\.names))
        return shown
    }
}

/// The same for one topic: the paths that its patterns name.
struct StructurePaths {
    var added: [String]
    var removed: [String]
    var arrived: [String]
    var reordered: [String]

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && arrived.isEmpty && reordered.isEmpty }
}

extension [PathPattern] {
    /// The nodes and attributes that the patterns name, attributes behind their node.
    fileprivate func paths(of names: [NodeNames]) -> [String] {
        names.flatMap { names -> [String] in
            let patterns = filter { $0.matches(nodes: names.ids) }
            if patterns.isEmpty { return [] }
            let node = AttributePath.describe(nodes: names.ids)
            let attributes = names.attributes.filter { name in
                patterns.contains { $0.attribute.map { $0 == name } ?? true }
            }
            return (names.isWhole ? [node] : []) + attributes.map { node + "." + AttributePath.quoteIfNeeded($0) }
        }
    }
}
