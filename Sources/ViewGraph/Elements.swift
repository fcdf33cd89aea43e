import AttributeGraph
import AttributeValues

// The ids of a list, and the index of an instance.

extension Wiring {
    /// The content of `elements`.
    func elementIDs(of row: NodeRow) throws -> Content {
        guard let state = nodes[row].instances else { return .value([]) }
        _ = try engine.read(state.order)
        return state.failure.map { .failure($0) } ?? .value(.list(state.ids))
    }

    /// The name of a list, for people.
    func elementsPath(of row: NodeRow) -> String { nodes.path(of: row) + ".elements" }

    // MARK: Index

    /// The name of an instance's index; nil if the node is no instance, or has an attribute of that name.
    public func nameOfIndex(of node: NodeID) -> String? { nodes[node.row].namedIndex }

    public func index(of node: NodeID) -> AttributeID? { indexAttribute(of: node.row) }

    /// The vertex of an instance's index, made at the first call. Where there are no such vertices, an insertion need
    /// not update the instances behind it.
    func indexAttribute(of row: NodeRow) -> AttributeID? {
        guard let instance = nodes[row].instance else { return nil }
        if let made = instance.index { return made }
        let parent = nodes[row].parent
        let made = createInput(
            .value(.int(Int64(nodes.index(of: row)))), node: row, name: instance.indexName, type: .int, source: .system,
            isHidden: false)
        nodes[row].instance?.index = made
        nodes[parent].instances?.hasIndices = true
        return made
    }
}
