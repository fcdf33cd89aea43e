import AttributeValues
import SceneModel

// The tree as paths show it. Paths skip choices and their branches: the children of these count as children of the
// nearest visible node above.

extension Tree {
    /// The nearest node at or above a row that paths name.
    func visible(_ row: UInt32) -> UInt32 {
        var at = row
        while self[Int(at)].isTransparent { at = self[Int(at)].parent }
        return at
    }

    func visibleParent(of row: UInt32) -> UInt32 { visible(self[Int(row)].parent) }

    /// In order. O(children and transparent nodes between).
    func visibleChildren(of row: UInt32) -> [UInt32] {
        let node = self[Int(row)]
        guard node.hasTransparentChildren else { return node.children }
        var found: [UInt32] = []
        var pending = node.children.reversed() as [UInt32]
        while let next = pending.popLast() {
            if self[Int(next)].isTransparent {
                pending += self[Int(next)].children.reversed()
            } else {
                found.append(next)
            }
        }
        return found
    }

    /// O(1) without choices, else O(children) for one that is not found at once.
    func visibleChild(_ id: Name, of row: UInt32) -> UInt32? {
        if let found = child(id, of: row), !self[Int(found)].isTransparent { return found }
        guard self[Int(row)].hasTransparentChildren else { return nil }
        var pending = [row]
        while let next = pending.popLast() {
            for between in self[Int(next)].children where self[Int(between)].isTransparent {
                if let found = child(id, of: between), !self[Int(found)].isTransparent { return found }
                pending.append(between)
            }
        }
        return nil
    }

    /// Converts a place among the visible children of a node to a place among all its children.
    func place(ofVisible index: Int, below row: UInt32) -> Int {
        let node = self[Int(row)]
        guard node.hasTransparentChildren else { return index }
        var left = index
        for (place, child) in node.children.enumerated() {
            if left <= 0 { return place }
            left -= self[Int(child)].isTransparent ? visibleChildren(of: child).count : 1
        }
        return node.children.count
    }
}
