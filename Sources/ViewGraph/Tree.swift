import AttributeValues
import SceneModel

/// The position of a node in a tree. A subclass adds the contents of the node, so that a node is one object. Only
/// `Tree` changes positions.
class TreeNode {
    let id: Name
    fileprivate let generation: UInt32
    /// The root is its own parent.
    fileprivate(set) var parent: NodeRow
    let kind: NodeKind
    fileprivate(set) var slot: Slot
    fileprivate(set) var isAlive = true
    /// True if the node was unlinked: it is out of the tree, with all that is below, and waits to be freed.
    fileprivate(set) var isOut = false
    /// True if the node's index among its siblings is kept up to date.
    fileprivate var isNumbered = false
    /// True once there has been a child whose index is kept up to date.
    fileprivate(set) var hasNumberedChildren = false
    /// True once there has been a child that paths do not name.
    fileprivate(set) var hasTransparentChildren = false
    private var family: Family?

    /// Most nodes are leaves and have none.
    private final class Family {
        var children: [NodeRow] = []
        var index: NameIndex?
        var lastPlace = 0
    }

    private var madeFamily: Family {
        if let family { return family }
        let made = Family()
        family = made
        return made
    }

    /// In order; a section's header comes first and its footer last.
    fileprivate(set) var children: [NodeRow] {
        get { family?.children ?? [] }
        _modify { yield &madeFamily.children }
    }
    /// Finds children by id, if there are more than a few.
    fileprivate var childIndex: NameIndex? {
        get { family?.index }
        _modify { yield &madeFamily.index }
    }
    /// The place of the child that was looked for last. Callers that ask for all children ask in order.
    fileprivate var lastPlace: Int {
        get { family?.lastPlace ?? 0 }
        set { family?.lastPlace = newValue }
    }

    fileprivate func forgetChildren() { family = nil }

    /// Frees memory that more children have needed.
    fileprivate func giveBack() {
        family?.children.giveBack()
        family?.index?.giveBack()
    }

    /// True if paths skip the node, and name its children as children of its parent.
    var isTransparent: Bool { kind.isTransparent }

    /// True if its children are ordered in parts.
    var ranksChildren: Bool { kind == .section }

    /// The number of the part that a child is in.
    func rank(of child: TreeNode) -> Int { child.slot.order }

    init(id: Name, kind: NodeKind, slot: Slot, generation: UInt32, parent: NodeRow) {
        self.id = id
        self.kind = kind
        self.slot = slot
        self.generation = generation
        self.parent = parent
    }
}

/// The nodes by their rows: ids, paths and order. The tree knows no vertices. Row 0 is `/`.
///
/// A node that `insert` makes knows its parent. The parent lists the node from `attach` until `detach`.
final class Tree<Node: TreeNode> {
    private var rows: [Node?] = []
    /// The generation of the node in each row, or of the next node there.
    private var generations: [UInt32] = []
    private var free: [NodeRow] = []
    /// Number of living nodes that are out of the tree.
    private var unlinked = 0
    /// Counts the nodes that were attached or detached, because paths may lead elsewhere then.
    private(set) var changes: UInt64 = 0
    /// Nodes that stand elsewhere than they were declared.
    var placements = Placements()
    /// What clients have applied under names.
    var layers = NamedLayers()
    /// True once there has been a node of a component that places the nodes it is given.
    private(set) var hasPlaces = false
    /// True once there has been a node with animation modifiers.
    private(set) var hasAnimations = false
    /// The generation for rows that are used for the first time since the table was cut: no old id names them.
    private var firstGeneration: UInt32 = 1

    /// A node that has gone can be asked where it was, until its row is used again or memory is
    /// given back.
    subscript(row: NodeRow) -> Node {
        guard let record = rows[Int(row.index)] else { preconditionFailure("no node in row \(row.index)") }
        return record
    }

    private func id(_ row: NodeRow) -> String { self[row].id.text }

    func isAlive(_ row: NodeRow) -> Bool { Int(row.index) < rows.count && rows[Int(row.index)]?.isAlive == true }

    func isAlive(_ id: NodeID) -> Bool { isAlive(id.row) && self[id.row].generation == id.generation }

    func nodeID(_ row: NodeRow) -> NodeID { NodeID(row: row, generation: self[row].generation) }

    /// Notes that a node of the tree has this definition.
    func note(_ definition: NodeDefinition) {
        // A place may outlive the component that had it in its body.
        if !hasPlaces, definition.firstPlacing != nil || definition.forEach?.choice?.isPlacement == true {
            hasPlaces = true
        }
        if !definition.animations.isEmpty { hasAnimations = true }
    }

    /// Number of living nodes.
    var count: Int { rows.count - free.count }

    /// All rows, also free ones, are below it.
    var rowCount: Int { rows.count }

    /// In ascending order.
    var living: some Sequence<NodeRow> {
        rows.indices.lazy.map { NodeRow(index: UInt32($0)) }.filter { self.isAlive($0) }
    }

    // MARK: Life

    /// - Returns: its row.
    func insert(_ make: (_ generation: UInt32) -> Node) -> NodeRow {
        if let row = free.popLast() {
            rows[Int(row.index)] = make(generations[Int(row.index)])
            return row
        }
        rows.append(make(firstGeneration))
        generations.append(firstGeneration)
        return NodeRow(index: UInt32(rows.count - 1))
    }

    /// Marks a detached node as out of the tree. It lives until `remove`.
    func unlink(_ row: NodeRow) {
        self[row].isOut = true
        unlinked += 1
    }

    /// True if neither a node nor one above it is unlinked. O(depth) while there are such nodes, else O(1).
    func isLinked(_ row: NodeRow) -> Bool {
        unlinked == 0 || !upward(from: row).contains { self[$0].isOut }
    }

    /// Takes the children from an unlinked node. They keep their parent.
    func takeChildren(of row: NodeRow) -> [NodeRow] {
        let above = self[row]
        defer { above.forgetChildren() }
        return above.children
    }

    /// Ends the life of a node that no parent lists.
    func remove(_ row: NodeRow) {
        let gone = self[row]
        // Two nodes would get its row.
        precondition(gone.isAlive, "a node is removed twice")
        gone.isAlive = false
        if gone.isOut { unlinked -= 1 }
        gone.forgetChildren()
        generations[Int(row.index)] &+= 1
        free.append(row)
        if hasPlaces { placements.forget(row) }
    }

    /// Drops removed nodes, and free rows at the end. Of the other free rows, those at the beginning are used first.
    func giveBack() {
        for row in rows.indices where rows[row]?.isAlive == false { rows[row] = nil }
        while let last = rows.last, last == nil {
            rows.removeLast()
            firstGeneration = max(firstGeneration, generations.removeLast())
        }
        free = rows.indices.reversed().filter { rows[$0] == nil }.map { NodeRow(index: UInt32($0)) }
        rows.giveBack()
        generations.giveBack()
        for case let node? in rows { node.giveBack() }
    }

    // MARK: Children

    func child(_ id: Name, of parent: NodeRow) -> NodeRow? {
        if let index = self[parent].childIndex {
            return index.find(id.text) { self[NodeRow(index: $0)].id.text }.map(NodeRow.init)
        }
        return self[parent].children.first { self[$0].id == id }
    }

    /// Adds a child at a place among its siblings, or at the nearest place in its part of a section; nil: as the last.
    func attach(_ child: NodeRow, to parent: NodeRow, at place: Int? = nil) {
        changes &+= 1
        let (above, new) = (self[parent], self[child])
        above.children.insert(child, at: position(for: new, nearest: place ?? .max, in: above))
        new.parent = parent
        if new.isTransparent { above.hasTransparentChildren = true }
        if new.isNumbered || new.isTransparent && new.hasNumberedChildren { noteNumbered(below: parent) }
        if above.childIndex != nil {
            above.childIndex?.add(child.index, new.id.text)
        } else if above.children.count > NameIndex.threshold {
            above.childIndex = index(of: above.children)
        }
    }

    private func index(of children: [NodeRow]) -> NameIndex {
        var index = NameIndex()
        for child in children { index.add(child.index, id(child)) }
        return index
    }

    /// The place nearest to a given one at which a child may stand, in its part. O(children in the parts beside its
    /// own).
    private func position(for child: Node, nearest place: Int, in parent: Node) -> Int {
        let children = parent.children
        guard hasPlaces || parent.kind == .section, parent.ranksChildren else { return min(place, children.count) }
        let rank = parent.rank(of: child)
        var end = children.count
        while end > 0, parent.rank(of: self[children[end - 1]]) > rank { end -= 1 }
        var position = min(place, end)
        while position < end, parent.rank(of: self[children[position]]) < rank { position += 1 }
        return position
    }

    /// The part of a node among its siblings: they stand in the order of their parts.
    func rank(of row: NodeRow) -> Int {
        let parent = self[self[row].parent]
        return parent.ranksChildren ? parent.rank(of: self[row]) : 0
    }

    /// The node keeps its parent; the parent forgets the node.
    func detach(_ child: NodeRow) {
        changes &+= 1
        let parent = self[self[child].parent]
        if let position = parent.children.firstIndex(of: child) { parent.children.remove(at: position) }
        parent.childIndex?.remove(child.index, id(child))
    }

    /// Adds a detached node to another parent, as content.
    func adopt(_ child: NodeRow, by parent: NodeRow) {
        self[child].slot = .content
        attach(child, to: parent)
    }

    /// As `detach` of each. O(children of the parent).
    func detach(_ children: [NodeRow], from parent: NodeRow) {
        changes &+= 1
        let gone = Set(children)
        let parent = self[parent]
        parent.children.removeAll { gone.contains($0) }
        for child in children { parent.childIndex?.remove(child.index, id(child)) }
    }

    /// Moves a child into another part of its section, or to the end of its parent.
    func put(_ child: NodeRow, into slot: Slot) {
        let parent = self[child].parent
        detach(child)
        self[child].slot = slot
        attach(child, to: parent)
    }

    /// Moves a node to another place. In another parent it is content.
    func move(_ child: NodeRow, to parent: NodeRow, at position: Int?) {
        if parent != self[child].parent { self[child].slot = .content }
        detach(child)
        attach(child, to: parent, at: position)
    }

    /// Sets the order of all children.
    func order(_ children: [NodeRow], below parent: NodeRow) {
        changes &+= 1
        self[parent].children = children
    }

    /// Replaces a stretch of children by others. `gone` are the nodes of the stretch that were removed. New nodes are
    /// attached already, as the last.
    func replace(_ stretch: Range<Int>, with children: [NodeRow], gone: [NodeRow], below parent: NodeRow) {
        changes &+= 1
        let parent = self[parent]
        parent.children.removeLast(children.count + gone.count - stretch.count)
        parent.children.replaceSubrange(stretch, with: children)
        if gone.count > parent.children.count {
            parent.childIndex = parent.children.count > NameIndex.threshold ? index(of: parent.children) : nil
        } else {
            for child in gone { parent.childIndex?.remove(child.index, id(child)) }
        }
    }

    // MARK: Places

    /// A node's place among its siblings. O(1) for one that follows the one asked for last, else
    /// O(siblings).
    func index(of row: NodeRow) -> Int {
        let parent = self[self[row].parent]
        if parent.hasTransparentChildren || parent.isTransparent {
            return visibleChildren(of: visibleParent(of: row)).firstIndex(of: row) ?? 0
        }
        let next = parent.lastPlace + 1
        let isNext = parent.children.indices.contains(next) && parent.children[next] == row
        parent.lastPlace = isNext ? next : parent.children.firstIndex(of: row) ?? 0
        return parent.lastPlace
    }

    /// Notes that the index of a node has to be kept up to date.
    func number(_ row: NodeRow) {
        self[row].isNumbered = true
        noteNumbered(below: self[row].parent)
    }

    private func noteNumbered(below parent: NodeRow) {
        for row in upward(from: parent) {
            self[row].hasNumberedChildren = true
            if !self[row].isTransparent { return }
        }
    }

    /// The node and those above it, from inside out; the root is the last.
    func upward(from row: NodeRow) -> some Sequence<NodeRow> {
        sequence(first: row) { $0 == .root ? nil : self[$0].parent }
    }

    /// Levels from the root down to a node; 0 for the root. O(depth).
    func depth(of row: NodeRow) -> Int {
        var depth = 0
        var at = row
        while at != .root {
            depth += 1
            at = self[at].parent
        }
        return depth
    }

    /// Ids from the root down; empty for the root. O(depth).
    func ids(of row: NodeRow) -> [Name] {
        var ids: [Name] = []
        var at = row
        while at != .root {
            if !self[at].isTransparent { ids.append(self[at].id) }
            at = self[at].parent
        }
        return ids.reversed()
    }

    func path(of row: NodeRow) -> String { AttributePath.describe(nodes: ids(of: row)) }

    /// True if `row` is `ancestor` or below it.
    func isInside(_ row: NodeRow, of ancestor: NodeRow) -> Bool { upward(from: row).contains(ancestor) }

    /// The rows of a subtree, parents before children, siblings in order.
    func subtree(of row: NodeRow) -> [NodeRow] { subtree(of: row, atMost: .max) ?? [] }

    /// The same; nil if there are more rows than `limit`.
    func subtree(of row: NodeRow, atMost limit: Int) -> [NodeRow]? {
        var rows: [NodeRow] = []
        var pending = [row]
        while let next = pending.popLast() {
            rows.append(next)
            let children = self[next].children
            if rows.count + pending.count + children.count > limit { return nil }
            pending.append(contentsOf: children.reversed())
        }
        return rows
    }

    /// The same, down to `depth` levels of visible nodes below the top. Each row has its level.
    func subtree(of row: NodeRow, depth: Int) -> [(row: NodeRow, level: Int)] {
        var rows: [(NodeRow, Int)] = []
        var pending = [(row, 0)]
        while let (next, level) = pending.popLast() {
            rows.append((next, level))
            guard level < depth else { continue }
            for child in self[next].children.reversed() {
                pending.append((child, self[child].isTransparent ? level : level + 1))
            }
        }
        return rows
    }

    /// Number of levels in a subtree.
    func levels(of row: NodeRow) -> Int { (subtree(of: row, depth: .max).map(\.level).max() ?? 0) + 1 }
}

#if DEBUG
    extension Tree {
        /// Describes each contradiction in the table, between two changes. O(nodes).
        func checkInvariants() -> [String] {
            var faults: [String] = []
            var out = 0
            for row in rows.indices.map({ NodeRow(index: UInt32($0)) }) where isAlive(row) {
                let node = self[row]
                if node.isOut { out += 1 }
                if Set(node.children).count != node.children.count {
                    faults.append("node \(row.index) lists a child twice")
                }
                for child in node.children {
                    guard isAlive(child) else {
                        faults.append("node \(row.index) lists \(child.index), which has gone")
                        continue
                    }
                    if self[child].parent != row {
                        faults.append("node \(child.index) has another parent than \(row.index)")
                    }
                    if self.child(self[child].id, of: row).map({ self[$0].id }) != self[child].id {
                        faults.append("node \(row.index) does not find its child \(self[child].id.text)")
                    }
                }
                if row != .root, !isAlive(node.parent), !node.isOut {
                    faults.append("node \(row.index) is below \(node.parent.index), which has gone")
                }
            }
            if out != unlinked { faults.append("\(out) nodes are out of the tree, and \(unlinked) are counted") }
            if Set(free).count != free.count || free.contains(where: isAlive) {
                faults.append("a free row is listed twice, or lives")
            }
            if living.reduce(0, { sum, _ in sum + 1 }) != count { faults.append("the living nodes are miscounted") }
            return faults
        }
    }
#endif
