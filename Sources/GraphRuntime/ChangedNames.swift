import AttributeValues
import ViewGraph

/// Names that have led nowhere, or elsewhere, since some revision: those of removed nodes, and the old and new ones of
/// moved nodes.
struct ChangedNames {
    private var entries: RecentEntries<NodeNames>
    /// Limit of names × patterns to compare when a client resumes. Beyond it, a snapshot is cheaper.
    private static let comparisons = 200_000

    init(capacity: Int) { entries = RecentEntries(capacity: capacity) }

    mutating func append(_ structure: StructureChange, at revision: UInt64, in graph: ViewGraph) {
        // These trees have more names than the queue may contain.
        if !structure.removedTrees.isEmpty { entries.forget(upTo: revision) }
        for names in structure.removedNames { append(names, at: revision) }
        for moved in structure.movedNodes {
            for names in moved.names { append(names, at: revision) }
            guard graph.isAlive(moved.node) else { continue }
            for node in graph.allNodes(below: moved.node) { append(graph.nodeNames(of: node), at: revision) }
        }
    }

    private mutating func append(_ names: NodeNames, at revision: UInt64) {
        if !names.attributes.isEmpty { entries.append(names, at: revision) }
    }

    /// Names that the patterns match, each once. nil if some are no longer known.
    func changed(since revision: UInt64, of patterns: [PathPattern]) -> [String]? {
        guard let known = entries.since(revision), known.count * patterns.count <= ChangedNames.comparisons else {
            return nil
        }
        var found: [String] = []
        var seen: Set<Name> = []
        for (_, names) in known {
            for pattern in patterns where pattern.matches(nodes: names.ids) {
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
