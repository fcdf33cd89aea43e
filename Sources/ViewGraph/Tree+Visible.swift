import AttributeValues
import SceneModel

// The tree as paths show it. Paths skip choices and their branches: the children of these count as children of the
// nearest visible node above.

extension Tree {
    /// The nearest node at or above a row that paths name.
    func visible(_ row: NodeRow) -> NodeRow {
        var at = row
        while self[at].isTransparent { at = self[at].parent }
        return at
    }

    func visibleParent(of row: NodeRow) -> NodeRow { visible(self[row].parent) }

    /// In order. O(children and transparent nodes between).
    func visibleChildren(of row: NodeRow) -> [NodeRow] {
        let node = self[row]
        guard node.hasTransparentChildren else { return node.children }
        var found: [NodeRow] = []
        var pending = node.children.reversed() as [NodeRow]
        while let next = pending.popLast() {
            if self[next].isTransparent {
                pending += self[next].children.reversed()
            } else {
                found.append(next)
            }
        }
        return found
    }

    /// O(1) without choices, else O(children) for one that is not found at once.
    func visibleChild(_ id: Name, of row: NodeRow) -> NodeRow? {
        if let found = child(id, of: row), !self[found].isTransparent { return found }
        guard self[row].hasTransparentChildren else { return nil }
        var pending = [row]
        while let next = pending.popLast() {
            for between in self[next].children where self[between].isTransparent {
                if let found = child(id, of: between), !self[found].isTransparent { return found }
                pending.append(between)
            }
        }
        return nil
    }

    /// Converts a place among the visible children of a node to a place among all its children.
    func place(ofVisible index: Int, below row: NodeRow) -> Int {
        let node = self[row]
        guard node.hasTransparentChildren else { return index }
        var left = index
        for (position, child) in node.children.enumerated() {
            if left <= 0 { return position }
            left -= self[child].isTransparent ? visibleChildren(of: child).count : 1
        }
        return node.children.count
    }
}
