import AttributeValues

/// Reads and checks `was`: the former places of the nodes of a document.
final class FormerPlaces {
    private struct Written {
        let node: DocumentNode
        let path: [CheckCursor.Step]
    }

    /// A node of the scope that is checked.
    private struct Spot {
        let node: NodeDefinition
        /// -1 for the nodes at the top.
        let parent: Int
        /// True if the scope makes several of it.
        let isRepeated: Bool
    }

    private let cursor: CheckCursor
    private var written: [ObjectIdentifier: Written] = [:]
    /// Children by id, of nodes in which a place was looked for.
    private var children: [ObjectIdentifier: [Name: NodeDefinition]] = [:]

    init(_ cursor: CheckCursor) { self.cursor = cursor }

    var isEmpty: Bool { written.isEmpty }

    func read(_ node: DocumentNode?, of definition: NodeDefinition) {
        guard let node else { return }
        cursor.at("was") {
            guard case .scalar = node.content, !node.isNull else {
                return cursor.fault("was is an id or a path, not \(node.summary)", at: node)
            }
            do throws(Failure) {
                definition.former = try FormerPlace(node.text)
                written[ObjectIdentifier(definition)] = Written(node: node, path: cursor.path)
            } catch {
                cursor.fault(error.code, error.message, at: node, hint: "write the former id, or a path as /room/lamp")
            }
        }
    }

    /// Checks the nodes of a scope: those of the document, or those of a component's body.
    func check(below top: NodeDefinition, isComponent: Bool) {
        if isEmpty { return }
        var spots = FormerPlaces.below(top).map { Spot(node: $0, parent: -1, isRepeated: isComponent) }
        var taken: [[Name]: Written] = [:]
        var next = 0
        while next < spots.count {
            let node = spots[next].node
            cursor.work += 1
            if let written = written[ObjectIdentifier(node)] {
                cursor.path = written.path
                check(next, written, &taken, spots, top)
            }
            let isRepeated = spots[next].isRepeated || node.kind == .forEach
            spots += FormerPlaces.below(node).map { Spot(node: $0, parent: next, isRepeated: isRepeated) }
            next += 1
        }
    }

    private func check(
        _ number: Int, _ written: Written, _ taken: inout [[Name]: Written], _ spots: [Spot], _ top: NodeDefinition
    ) {
        let (node, text) = (written.node, written.node.text)
        guard let former = spots[number].node.former else { return }
        if former.isFromRoot, spots[number].isRepeated {
            return cursor.fault(
                "'\(text)' names one node, and this one is made several times", at: node,
                hint: "write a path from the parent, as lamp or ../lamp")
        }
        guard let before = ids(of: number, spots, isBefore: true),
            let now = former.ids(below: ids(of: spots[number].parent, spots, isBefore: false) ?? [])
        else {
            return cursor.fault("'\(text)' leads out of the nodes that are written here", at: node)
        }
        if isThere(now, below: top) {
            return cursor.fault(
                .conflict, "the scene still has a node '\(text)'", at: node,
                hint: "was names a place that no node has any more; leave it out")
        }
        if let other = taken.updateValue(written, forKey: before) {
            cursor.fault(
                .conflict, "two nodes were '\(text)'", at: node, hint: "only one of them can have its values",
                note: SceneFault.Note("the other one is here", other.node.position))
        }
    }

    /// The ids from the top of the scope. The template of a list has an empty one. O(depth).
    /// - Parameter isBefore: where the node was; nil for a place that is not in the scope.
    private func ids(of number: Int, _ spots: [Spot], isBefore: Bool) -> [Name]? {
        var way: [NodeDefinition] = []
        var next = number
        while next >= 0 {
            way.append(spots[next].node)
            next = spots[next].parent
        }
        var ids: [Name] = []
        for node in way.reversed() {
            if isBefore, let former = node.former {
                guard let there = former.ids(below: ids) else { return nil }
                ids = there
            } else {
                ids.append(node.id)
            }
        }
        return ids
    }

    private func isThere(_ ids: [Name], below top: NodeDefinition) -> Bool {
        var node = top
        for id in ids {
            if node.kind == .forEach, let template = node.forEach?.templates.first {
                node = template
                continue
            }
            if children[ObjectIdentifier(node)] == nil {
                let all = node.header + node.children + node.footer + (node.forEach?.templates ?? [])
                children[ObjectIdentifier(node)] = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
            }
            guard let child = children[ObjectIdentifier(node)]?[id] else { return false }
            node = child
        }
        return true
    }

    /// What is written below a node, without the body of the component from which it is made.
    private static func below(_ node: NodeDefinition) -> [NodeDefinition] {
        guard let base = node.base else {
            return node.header + node.children + node.footer + (node.forEach?.templates ?? [])
        }
        return Array(node.header.dropFirst(base.header.count)) + node.children.dropFirst(base.children.count)
            + node.footer.dropFirst(base.footer.count)
    }
}
