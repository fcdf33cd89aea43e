import SceneModel

// When the edits of nodes have changed, for clients that apply a document only if nobody has changed these since.

extension ViewGraph {
    /// The last revision at which the edits of the nodes in a document have changed. If a node does not exist, that of
    /// the last change which removed a child of its parent, or of the last start, which is not told what was removed
    /// before.
    /// - Parameters:
    ///   - at: the node at which the document is applied.
    ///   - isReplacing: all below that node is meant.
    public func lastEdit(of scene: SceneDefinition, at node: NodeID, isReplacing: Bool) -> UInt64 {
        var last: UInt64 = 0
        func note(_ row: NodeRow) {
            // Nodes that came together have the revision of the uppermost one.
            let known = nodes.upward(from: row).lazy.map { self.nodes[$0].part }.first { part in
                part?.isMade != true || part?.revision ?? 0 > 0
            }
            last = max(last, known??.revision ?? 0)
        }
        if isReplacing { for row in nodes.subtree(of: node.row) { note(row) } }
        var pending = [(row: node.row, definitions: scene.nodes)]
        while let (row, definitions) = pending.popLast() {
            for definition in definitions {
                let isNamed = !definition.kind.isTransparent
                guard
                    let child = nodes.child(definition.id, of: row)
                        ?? (isNamed ? nodes.visibleChild(definition.id, of: row) : nil)
                else {
                    let key = nodes.key(of: row) + "/" + StoredKey.escape(definition.id.text)
                    last = max(
                        last, nodes[row].part?.revision ?? 0, persistence.restoredRevision,
                        persistence.absentRows[key]?.revision ?? 0)
                    continue
                }
                note(child)
                if definition.forEach == nil { pending.append((child, definition.given.map(\.definition))) }
            }
        }
        return last
    }
}
