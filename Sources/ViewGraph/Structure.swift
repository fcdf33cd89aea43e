import AttributeGraph
import AttributeValues
import SceneModel

extension Wiring {
    /// The context for the check of a document that is applied at a node.
    /// - Parameters:
    ///   - mode: for `merge` the context also has the existing nodes, which the document completes.
    ///   - layer: the document is this layer: nodes that the layers below it lack are made by it.
    ///   - isKept: the document was accepted once, so the lengths of its values are not checked.
    public func sceneContext(at node: NodeID, _ mode: ApplyMode, isKept: Bool, as layer: LayerName? = nil)
        -> SceneContext
    {
        var enclosing: [[(name: String, type: ValueType)]] = [[]]
        var at = node.row
        // Nodes that are given to a component from outside see the names around it.
        var isContent = nodes.isComponentRoot(at)
        // Names are looked up only as far as the first node that the client may not read whole.
        while isVisible(node: at) {
            enclosing.append(namesAndTypes(of: at, elementOnly: isContent))
            if at == .root || (nodes[at].isScopeBoundary && !isContent) { break }
            isContent = nodes[at].isContent
            at = nodes[at].parent
        }
        var context = SceneContext(
            declarations: declarations, enclosing: enclosing, rules: limits.rules,
            valueSize: isKept ? .max : limits.valueSize,
            isKept: isKept)
        context.admitsDangling = mayRead == nil
        context.isFile = false
        guard mode == .merge else { return context }
        let number = layer.map { nodes.layers.layer($0.name, at: $0.at)?.number ?? .max }
        context.existing = { ids in
            var row = node.row
            for id in ids {
                guard let next = self.nodes.visibleChild(id, of: row) else { return nil }
                row = next
            }
            var definition = self.nodes[row].definition
            if let number, !ids.isEmpty {
                guard let lower = self.nodes.definition(of: row, below: number) else { return nil }
                definition = lower
            }
            return ExistingNode(
                ids: self.nodes.ids(of: row), kind: definition.kind, attributes: self.namesAndTypes(of: row),
                component: definition.component,
                isContent: self.nodes[row].isContent)
        }
        return context
    }

    /// Reads a document that was accepted once, as one that is applied at a node.
    /// - Parameter new: declarations that are to be made with it.
    func read(_ document: Value, at row: NodeRow, with new: Declarations? = nil) throws(Failure) -> SceneDefinition {
        do throws(SceneFaults) {
            var context = sceneContext(at: nodes.nodeID(row), .merge, isKept: true)
            if let new { context.declarations.add(new) }
            context.author = .unknown
            return try SceneReader.read(value: document, context: context)
        } catch {
            throw error.failure
        }
    }

    private func namesAndTypes(of row: NodeRow, elementOnly: Bool = false) -> [(name: String, type: ValueType)] {
        let record = nodes[row]
        let element = record.instance.map { [(name: $0.elementName, attribute: $0.element)] } ?? []
        let named = elementOnly ? element : record.namedAttributes
        let index = elementOnly ? record.instance?.indexName : record.namedIndex
        return named.map { ($0.name, self.record($0.attribute).type) } + (index.map { [($0, .int)] } ?? [])
    }

    /// True if `takeStructureChange` has something to tell.
    public var hasStructureChange: Bool { !structureChange.isEmpty || !structureChange.addedInstances.isEmpty }

    /// The changes of the tree since the last call.
    public func takeStructureChange() -> StructureChange {
        let change = structureChange
        structureChange = StructureChange()
        roots.followed = StructureChange.Extent()
        return change
    }
}

extension Tree<NodeRecord> {
    /// True if a node is the root of what a component made. False for `/`, although `/` ends scopes, too.
    func isComponentRoot(_ row: NodeRow) -> Bool { row != .root && self[row].isScopeBoundary }

    /// The children in the order of the definitions; nil if they have that order already, or if there are other
    /// children.
    func newOrder(_ definitions: [NodeDefinition], below parent: NodeRow) -> [NodeRow]? {
        let before = self[parent].children
        guard !self[parent].kind.isMadeFromData else { return nil }
        let after = definitions.compactMap { child($0.id, of: parent) }
        return after != before && after.count == before.count ? after : nil
    }
}
