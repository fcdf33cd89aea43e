import AttributeGraph
import AttributeValues
import SceneModel

// Making nodes from definitions, and destroying them. Creation has two steps: first all nodes of a subtree are made
// with their vertices, then `connectNodes` connects the vertices. So the order within a document does not matter.

extension ViewGraph {
    /// Makes a subtree under `parent`. Nothing is evaluated; the nodes wait in `unsettled.nodes` to be connected.
    @discardableResult
    func instantiate(_ definition: NodeDefinition, id: Name? = nil, under parent: NodeRow, slot: Slot) -> NodeRow {
        var pending: [UnmadeNode] = []
        let top = makeNode(UnmadeNode(definition: definition, parent: parent, slot: slot), id: id, &pending)
        nodes.attach(top, to: parent)
        var steps = Int.max
        instantiate(&pending, &steps)
        return top
    }

    /// Makes nodes until there are no more or the steps are used up, parents before children and
    /// siblings in order. An explicit stack: documents are only as deep as `SceneModel` admits, but
    /// components multiply.
    func instantiate(_ pending: inout [UnmadeNode], _ steps: inout Int) {
        while steps > 0, let next = pending.popLast() {
            let row = makeNode(next, &pending)
            nodes[row].basePlace = UInt32(nodes[next.parent].children.count)
            nodes.attach(row, to: next.parent)
            steps -= BuildCost.node + BuildCost.attribute * next.definition.attributes.count
        }
    }

    /// Makes one node with its vertices. Its parent does not list it yet.
    /// - Parameters:
    ///   - id: nil: that of its definition.
    ///   - pending: gets its children.
    func makeNode(_ next: UnmadeNode, id: Name? = nil, _ pending: inout [UnmadeNode]) -> NodeRow {
        let definition = next.definition.model ?? next.definition
        let row = createNode(definition, id ?? next.definition.id, under: next.parent, next.slot)
        nodes[row].isContent = definition.isContent
        if let names = definition.knownNames {
            nodes[row].attributes = NamedAttributes(names)
        } else {
            nodes.note(definition)
            let names = names(of: definition.attributes)
            nodes[row].attributes = NamedAttributes(names)
            definition.noteUse(names)
        }
        for attribute in definition.attributes { createAttribute(attribute, of: row) }
        createModifiers(of: row)
        if definition.forEach != nil { lists.makeList(at: row) }
        unsettled.nodes.append(row)
        if !nodes[row].isTransparent { structureChange.addedNodes.append(nodes.nodeID(row)) }
        func add(_ children: [NodeDefinition], _ slot: Slot) {
            for child in children.reversed() { pending.append(UnmadeNode(definition: child, parent: row, slot: slot)) }
        }
        add(next.definition.footer, .footer)
        add(next.definition.children, .content)
        add(next.definition.header, .header)
        return row
    }

    func cost(of row: NodeRow) -> Int { BuildCost.node + BuildCost.attribute * nodes[row].attributes.count }

    /// The names of the node that was made last, if they are the same; otherwise a new object.
    private func names(of attributes: [AttributeDefinition]) -> AttributeNames {
        if lastNames.isSame(as: attributes) { return lastNames }
        lastNames = AttributeNames(attributes.map(\.name))
        return lastNames
    }

    func destroyModifiers(of row: NodeRow) {
        for vertex in nodes[row].modifierVertices { destroyVertex(vertex) }
        for standing in nodes[row].standing { destroyVertex(standing.attribute) }
        nodes[row].removeModifiers()
    }

    /// Removes subtrees with their attributes. Readers elsewhere read `removed` from then on.
    /// O(subtrees + their edges + siblings of their roots).
    /// - Parameter roots: none inside another.
    func destroySubtrees(_ roots: [NodeRow]) {
        defer { persistence.forgetIDsBelow() }
        for (parent, children) in Dictionary(grouping: roots, by: { nodes[$0].parent }) {
            nodes.detach(children, from: parent)
            for child in children { destroySubtree(child) }
            unsettled.regrouped.insert(parent)
        }
    }

    /// Destroys a node that its parent no longer lists, and all that is below. If that would be too many nodes for the
    /// current change, they are unlinked and freed in slices.
    func destroySubtree(_ top: NodeRow) {
        let few = nodes.subtree(
            of: top, atMost: persistence.isRestoring || persistence.isApplyingRows ? .max : unlinked.nodesLeft)
        guard !reactions.noteLeft(top, few), let rows = few else { return unlink(top) }
        unlinked.nodesLeft -= rows.count
        persistence.noteGone(rows)
        for row in rows.reversed() { destroyNode(row) }
    }

    /// - Parameter isTold: whether its names are added to `structureChange`.
    func destroyNode(_ row: NodeRow, isTold: Bool = true) {
        if isTold, !nodes[row].isObject, !nodes[row].isTransparent {
            var names = nodeNames(of: nodes.nodeID(row))
            names.list = structureChange.currentList
            structureChange.removedNames.append(names)
        }
        destroyModifiers(of: row)
        for (_, attribute) in nodes[row].attributes {
            destroyVertex(attribute)
        }
        if let instance = nodes[row].instance {
            destroyVertex(instance.element)
            if let index = instance.index { destroyVertex(index) }
        }
        for vertex in nodes[row].system.values { destroyVertex(vertex) }
        if let structure = nodes[row].structure { destroyVertex(structure) }
        for vertex in lists.dropList(at: row) { destroyVertex(vertex) }
        reactions.forget(node: row)
        nodes[row].clear(nodes[.root].definition)
        nodes.remove(row)
    }

    // MARK: Freeing later

    /// True if subtrees wait to be freed.
    public var hasUnlinked: Bool { !unlinked.isEmpty }

    /// Takes a subtree out of the tree, after its parent has dropped it. O(1) if none of its nodes was moved and no
    /// rows wait for their nodes.
    func unlink(_ top: NodeRow) {
        nodes.unlink(top)
        if nodes.hasPlaces { nodes.placements.forget { nodes.isInside($0, of: top) } }
        unlinked.added.append(top)
        structureChange.removedTrees.append(nodes.nodeID(top))
        unlinked.addedKeys += persistence.noteUnlinked(top)
    }

    /// Frees unlinked nodes and their rows until the steps are used up.
    public func freeUnlinked(_ steps: inout Int) {
        guard !unlinked.batches.isEmpty else { return }
        // Their removal was reported when they were unlinked.
        let told = structureChange
        structureChange = StructureChange()
        defer { structureChange = told }
        while steps > 0, !unlinked.batches.isEmpty {
            var batch = unlinked.batches.removeFirst()
            while steps > 0, let row = batch.rows.last {
                let children = nodes.takeChildren(of: row)
                steps -= 1 + children.count / 10
                if !children.isEmpty {
                    batch.rows += children
                    continue
                }
                batch.rows.removeLast()
                steps -= cost(of: row) + (nodes[row].hasValues || nodes[row].part != nil ? BuildCost.row : 0)
                if persistence.notesChanges { persistence.forgetRows(of: row, upTo: batch.revision) }
                destroyNode(row, isTold: false)
            }
            while steps > 0, let key = batch.keys.popLast() {
                steps -= BuildCost.row
                persistence.note(StoreChange(key: key, name: batch.name, value: nil, revision: batch.revision))
            }
            guard batch.rows.isEmpty, batch.keys.isEmpty else { return unlinked.batches.insert(batch, at: 0) }
            let operators = batch.operators.filter { engine.isAlive($0.vertex) }
            timedValues.begin(operators)
            unsettled.append(operators)
            if let marker = batch.marker {
                persistence.note(StoreChange(key: StoredKey.unlinked, name: marker, value: nil))
            }
        }
    }
}
