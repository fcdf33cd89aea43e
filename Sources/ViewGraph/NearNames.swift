import AttributeValues
import SceneModel

/// Hints for paths that lead nowhere.
struct NearNames {
    unowned(unsafe) private let graph: Wiring

    init(_ graph: Wiring) { self.graph = graph }

    /// For a path with a slash in place of a dot: the attribute of that name.
    func attributeHint(_ id: String, of row: NodeRow, _ path: String) -> String? {
        guard graph.ownAttribute(id, of: row) != nil, graph.isVisible(id, of: row) else { return nil }
        return NearestName.question("\(path).\(AttributePath.quoteIfNeeded(id))")
    }

    func noAttribute(_ name: String, at path: AttributePath, among names: [String]?) -> Failure {
        Failure(
            .notFound, "no attribute \(name) on \(path.node)", path: path.description,
            hint: names.flatMap { nodeHint(name, at: path) ?? NearestName.hint(name, orSomeOf: $0) })
    }

    /// For a path with a dot in place of a slash: the node of that name.
    private func nodeHint(_ name: String, at path: AttributePath) -> String? {
        guard let parent = try? graph.node(at: path.nodes, looksForNames: false),
            let child = graph.nodes.visibleChild(Name(name), of: parent.row),
            graph.isVisible(node: child)
        else { return nil }
        let steps = path.steps.map(\.description).joined()
        return NearestName.question(AttributePath.describe(nodes: path.nodes + [Name(name)]) + steps)
    }

    func visibleNames(of row: NodeRow) -> [String] {
        graph.attributeNames(of: row).filter { graph.isVisible($0, of: row) }
    }
}
