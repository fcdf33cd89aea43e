import AttributeGraph
import AttributeValues
import SceneModel

/// Finds what a pattern matches.
public struct PatternSearch {
    private let pattern: PathPattern
    unowned(unsafe) private let graph: Wiring

    public init(_ pattern: PathPattern, in graph: Wiring) { (self.pattern, self.graph) = (pattern, graph) }

    /// Every named attribute that a pattern matches, in tree order. Cost: O(nodes below the pattern's first wildcard),
    /// taken from `stepsLeft`.
    /// - Throws: `limit` when none are left, or what `body` throws.
    public func forEachAttribute(_ body: (AttributeID, String) throws(Failure) -> Void) throws(Failure) {
        try forEachNode { (row, path) throws(Failure) in
            if let wanted = pattern.attribute {
                if let attribute = graph.ownAttribute(wanted, of: row) {
                    try body(attribute, path + "." + AttributePath.quoteIfNeeded(wanted))
                }
                return
            }
            for (name, attribute) in graph.allAttributes(of: row) {
                graph.stepsLeft -= PatternSearch.stepsPerFind
                try body(attribute, path + "." + AttributePath.quoteIfNeeded(name))
            }
        }
    }

    /// Calls `body` for each attribute that the pattern names, with the ids of its node, in tree order. Cost as above.
    func forEachNamed(_ body: ([Name], AttributeID) -> Void) throws(Failure) {
        guard let wanted = pattern.attribute else { return }
        try forEachNode { (row, _) throws(Failure) in
            if let attribute = graph.ownAttribute(wanted, of: row) { body(graph.nodes.ids(of: row), attribute) }
        }
    }

    /// Steps for each node that a pattern looks at and each attribute that it finds; and the number of comparisons of
    /// an id with a segment that count as one step.
    private static let stepsPerFind = 10
    private static let comparisonsPerStep = 8

    /// Calls `body` for a node and all that are below it, without comparing them with the pattern.
    private func forEachNode(
        below top: NodeRow, _ path: String, _ body: (NodeRow, String) throws(Failure) -> Void
    ) throws(Failure) {
        var pending = [(top, path)]
        while let (row, path) = pending.popLast() {
            graph.stepsLeft -= PatternSearch.stepsPerFind
            guard graph.stepsLeft > 0 else { throw tooMany }
            try body(row, path)
            let start = path == "/" ? path : path + "/"
            for child in graph.nodes.visibleChildren(of: row).reversed() {
                pending.append((child, start + AttributePath.quoteIfNeeded(graph.nodes[child].id.text)))
            }
        }
    }

    private var tooMany: Failure {
        Failure(
            .limit, "pattern \(pattern): too many nodes to look at for one request", path: pattern.description,
            hint: "name fewer patterns at once; the setting request-cost is the limit")
    }

    /// Calls `body` for every node that a pattern's segments match.
    private func forEachNode(_ body: (NodeRow, String) throws(Failure) -> Void) throws(Failure) {
        var start = NodeRow.root
        var prefix: [Name] = []
        for segment in pattern.segments {
            guard case .id(let id) = segment else { break }
            guard let next = graph.nodes.visibleChild(id, of: start) else { return }
            start = next
            prefix.append(id)
        }
        if prefix.count == pattern.segments.count {
            return try body(start, AttributePath.describe(nodes: prefix))
        }
        if pattern.segments.count == prefix.count + 1, pattern.segments.last == .anyDepth {
            return try forEachNode(below: start, AttributePath.describe(nodes: prefix), body)
        }
        let deepest = pattern.segments.contains(.anyDepth) ? Int.max : pattern.segments.count
        var pending: [(NodeRow, [Name])] = [(start, prefix)]
        while let (row, ids) = pending.popLast() {
            graph.stepsLeft -=
                PatternSearch.stepsPerFind + ids.count * pattern.segments.count / PatternSearch.comparisonsPerStep
            guard graph.stepsLeft > 0 else { throw tooMany }
            if pattern.matches(nodes: ids) { try body(row, AttributePath.describe(nodes: ids)) }
            if ids.count < deepest {
                for child in graph.nodes.visibleChildren(of: row).reversed() {
                    pending.append((child, ids + [graph.nodes[child].id]))
                }
            }
        }
    }
}
