import AttributeGraph
import AttributeValues

// What a list and its instances show.

extension Wiring {
    func orderChanged(of row: UInt32) {
        guard let order = nodes[Int(row)].instances?.order, case .value(.int(let count)) = content(of: order) else {
            return
        }
        setInput(order, .value(.int(count + 1)))
    }

    /// What `elements` reads.
    func elementIDs(of row: UInt32) throws -> Content {
        guard let state = nodes[Int(row)].instances else { return .value([]) }
        _ = try engine.read(state.order)
        return state.failure.map { .failure($0) } ?? .value(.list(state.ids))
    }

    /// The name of a list, for people.
    func elementsPath(of row: UInt32) -> String { nodes.path(of: row) + ".elements" }

    // MARK: Index

    /// The name of an instance's index; nil where there is none, or an attribute of the node's own
    /// has the name.
    public func nameOfIndex(of node: NodeID) -> String? { nodes[Int(node.row)].namedIndex }

    public func index(of node: NodeID) -> AttributeID? { indexAttribute(of: node.row) }

    /// An instance's place, as a vertex from the first time that somebody asks for it: while nobody
    /// does, an insertion need not tell all that stand behind it.
    func indexAttribute(of row: UInt32) -> AttributeID? {
        guard let instance = nodes[Int(row)].instance else { return nil }
        if let made = instance.index { return made }
        let parent = nodes[Int(row)].parent
        let made = createInput(
            .value(.int(Int64(nodes.index(of: row)))), node: row, name: instance.indexName, type: .int, source: .system,
            isHidden: false)
        instance.index = made
        nodes[Int(parent)].instances?.hasIndices = true
        return made
    }
}
