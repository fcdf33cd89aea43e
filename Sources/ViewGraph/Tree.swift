import AttributeValues
import SceneModel

/// The position of a node in a tree. A subclass adds the contents of the node, so that a node is one object. Only
/// `Tree` changes positions.
class TreeNode {
    let id: Name
    fileprivate let generation: UInt32
    /// The root is its own parent.
    fileprivate(set) var parent: UInt32
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
        var children: [UInt32] = []
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
    fileprivate(set) var children: [UInt32] {
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

    init(id: Name, kind: NodeKind, slot: Slot, generation: UInt32, parent: UInt32) {
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
    private var free: [UInt32] = []
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
    subscript(row: Int) -> Node {
        guard let record = rows[row] else { preconditionFailure("no node in row \(row)") }
        return record
    }

    private func node(_ row: UInt32) -> Node { self[Int(row)] }

    private func id(_ row: UInt32) -> String { node(row).id.text }

    func isAlive(_ row: UInt32) -> Bool { Int(row) < rows.count && rows[Int(row)]?.isAlive == true }

    func isAlive(_ id: NodeID) -> Bool { isAlive(id.row) && node(id.row).generation == id.generation }

    func nodeID(_ row: UInt32) -> NodeID { NodeID(row: row, generation: node(row).generation) }

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
    var living: some Sequence<UInt32> { rows.indices.lazy.map { UInt32($0) }.filter { self.isAlive($0) } }

    // MARK: Life

    /// - Returns: its row.
    func insert(_ make: (_ generation: UInt32) -> Node) -> UInt32 {
        if let row = free.popLast() {
            rows[Int(row)] = make(generations[Int(row)])
            return row
        }
        rows.append(make(firstGeneration))
        generations.append(firstGeneration)
        return UInt32(rows.count - 1)
    }

    /// Marks a detached node as out of the tree. It lives until `remove`.
    func unlink(_ row: UInt32) {
        node(row).isOut = true
        unlinked += 1
    }

    /// True if neither a node nor one above it is unlinked. O(depth) while there are such nodes, else O(1).
    func isLinked(_ row: UInt32) -> Bool {
        unlinked == 0 || !upward(from: row).contains { node($0).isOut }
    }

    /// Takes the children from an unlinked node. They keep their parent.
    func takeChildren(of row: UInt32) -> [UInt32] {
        let above = node(row)
        defer { above.forgetChildren() }
        return above.children
    }

    /// Ends the life of a node that no parent lists.
    func remove(_ row: UInt32) {
        let gone = node(row)
        gone.isAlive = false
        if gone.isOut { unlinked -= 1 }
        gone.forgetChildren()
        generations[Int(row)] &+= 1
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
        free = rows.indices.reversed().filter { rows[$0] == nil }.map { UInt32($0) }
        rows.giveBack()
        generations.giveBack()
        for case let node? in rows { node.giveBack() }
    }

    // MARK: Children

    func child(_ id: Name, of parent: UInt32) -> UInt32? {
        if let index = node(parent).childIndex { return index.find(id.text, self.id) }
        return node(parent).children.first { node($0).id == id }
    }

    /// Adds a child at a place among its siblings, or at the nearest place in its part of a section; nil: as the last.
    func attach(_ child: UInt32, to parent: UInt32, at place: Int? = nil) {
        changes &+= 1
        let (above, new) = (node(parent), node(child))
        above.children.insert(child, at: position(for: new, nearest: place ?? .max, in: above))
        new.parent = parent
        if new.isTransparent { above.hasTransparentChildren = true }
        if new.isNumbered || new.isTransparent && new.hasNumberedChildren { noteNumbered(below: parent) }
        if above.childIndex != nil {
            above.childIndex?.add(child, new.id.text)
        } else if above.children.count > NameIndex.threshold {
            above.childIndex = index(of: above.children)
        }
    }

    private func index(of children: [UInt32]) -> NameIndex {
        var index = NameIndex()
        for child in children { index.add(child, id(child)) }
        return index
    }

    /// The place nearest to a given one at which a child may stand, in its part. O(children in the parts beside its
    /// own).
    private func position(for child: Node, nearest place: Int, in parent: Node) -> Int {
        let children = parent.children
        guard hasPlaces || parent.kind == .section, parent.ranksChildren else { return min(place, children.count) }
        let rank = parent.rank(of: child)
        var end = children.count
        while end > 0, parent.rank(of: node(children[end - 1])) > rank { end -= 1 }
        var position = min(place, end)
        while position < end, parent.rank(of: node(children[position])) < rank { position += 1 }
        return position
    }

    /// The part of a node among its siblings: they stand in the order of their parts.
    func rank(of row: UInt32) -> Int {
        let parent = node(node(row).parent)
        return parent.ranksChildren ? parent.rank(of: node(row)) : 0
    }

    /// The node keeps its parent; the parent forgets the node.
    func detach(_ child: UInt32) {
        changes &+= 1
        let parent = node(node(child).parent)
        if let place = parent.children.firstIndex(of: child) { parent.children.remove(at: place) }
        parent.childIndex?.remove(child, id(child))
    }

    /// Adds a detached node to another parent, as content.
    func adopt(_ child: UInt32, by parent: UInt32) {
        node(child).slot = .content
        attach(child, to: parent)
    }

    /// As `detach` of each. O(children of the parent).
    func detach(_ children: [UInt32], from parent: UInt32) {
        changes &+= 1
        let gone = Set(children)
        let parent = node(parent)
        parent.children.removeAll { gone.contains($0) }
        for child in children { parent.childIndex?.remove(child, id(child)) }
    }

    /// Moves a child into another part of its section, or to the end of its parent.
    func put(_ child: UInt32, into slot: Slot) {
        let parent = node(child).parent
        detach(child)
        node(child).slot = slot
        attach(child, to: parent)
    }

    /// Moves a node to another place. In another parent it is content.
    func move(_ child: UInt32, to parent: UInt32, at place: Int?) {
        if parent != node(child).parent { node(child).slot = .content }
        detach(child)
        attach(child, to: parent, at: place)
    }

    /// Sets the order of all children.
    func order(_ children: [UInt32], below parent: UInt32) {
        changes &+= 1
        node(parent).children = children
    }

    /// Replaces a stretch of children by others. `gone` are the nodes of the stretch that were removed. New nodes are
    /// attached already, as the last.
    func replace(_ stretch: Range<Int>, with children: [UInt32], gone: [UInt32], below parent: UInt32) {
        changes &+= 1
        let parent = node(parent)
        parent.children.removeLast(children.count + gone.count - stretch.count)
        parent.children.replaceSubrange(stretch, with: children)
        if gone.count > parent.children.count {
            parent.childIndex = parent.children.count > NameIndex.threshold ? index(of: parent.children) : nil
        } else {
            for child in gone { parent.childIndex?.remove(child, id(child)) }
        }
    }

    // MARK: Places

    /// A node's place among its siblings. O(1) for one that follows the one asked for last, else
    /// O(siblings).
    func index(of row: UInt32) -> Int {
        let parent = node(node(row).parent)
        if parent.hasTransparentChildren || parent.isTransparent {
            return visibleChildren(of: visibleParent(of: row)).firstIndex(of: row) ?? 0
        }
        let next = parent.lastPlace + 1
        let isNext = parent.children.indices.contains(next) && parent.children[next] == row
        parent.lastPlace = isNext ? next : parent.children.firstIndex(of: row) ?? 0
        return parent.lastPlace
    }

    /// Notes that the index of a node has to be kept up to date.
    func number(_ row: UInt32) {
        node(row).isNumbered = true
        noteNumbered(below: node(row).parent)
    }

    private func noteNumbered(below parent: UInt32) {
        for row in upward(from: parent) {
            node(row).hasNumberedChildren = true
            if !node(row).isTransparent { return }
        }
    }

    /// The node and those above it, from inside out; the root is the last.
    func upward(from row: UInt32) -> some Sequence<UInt32> {
        sequence(first: row) { $0 == NodeID.root.row ? nil : self.node($0).parent }
    }

    /// Levels from the root down to a node; 0 for the root. O(depth).
    func depth(of row: UInt32) -> Int {
        var depth = 0
        var at = row
        while at != NodeID.root.row {
            depth += 1
            at = node(at).parent
        }
        return depth
    }

    /// Ids from the root down; empty for the root. O(depth).
    func ids(of row: UInt32) -> [Name] {
        var ids: [Name] = []
        var at = row
        while at != NodeID.root.row {
            if !node(at).isTransparent { ids.append(node(at).id) }
            at = node(at).parent
        }
        return ids.reversed()
    }

    func path(of row: UInt32) -> String { AttributePath.describe(nodes: ids(of: row)) }

    /// True if `row` is `ancestor` or below it.
    func isInside(_ row: UInt32, of ancestor: UInt32) -> Bool { upward(from: row).contains(ancestor) }

    /// The rows of a subtree, parents before children, siblings in order.
    func subtree(of row: UInt32) -> [UInt32] { subtree(of: row, atMost: .max) ?? [] }

    /// The same; nil if there are more rows than `limit`.
    func subtree(of row: UInt32, atMost limit: Int) -> [UInt32]? {
        var rows: [UInt32] = []
        var pending = [row]
        while let next = pending.popLast() {
            rows.append(next)
            let children = node(next).children
            if rows.count + pending.count + children.count > limit { return nil }
            pending.append(contentsOf: children.reversed())
        }
        return rows
    }

    /// The same, down to `depth` levels of visible nodes below the top. Each row has its level.
    func subtree(of row: UInt32, depth: Int) -> [(row: UInt32, level: Int)] {
        var rows: [(UInt32, Int)] = []
        var pending = [(row, 0)]
        while let (next, level) = pending.popLast() {
            rows.append((next, level))
            guard level < depth else { continue }
            for child in node(next).children.reversed() {
                pending.append((child, node(child).isTransparent ? level : level + 1))
            }
        }
        return rows
    }

    /// Number of levels in a subtree.
    func levels(of row: UInt32) -> Int { (subtree(of: row, depth: .max).map(\.level).max() ?? 0) + 1 }
}

#if DEBUG
    extension Tree {
        /// Describes each contradiction in the table, between two changes. O(nodes).
        func checkInvariants() -> [String] {
            var faults: [String] = []
            var out = 0
            for row in rows.indices.map({ UInt32($0) }) where isAlive(row) {
                let node = node(row)
                if node.isOut { out += 1 }
                if Set(node.children).count != node.children.count { faults.append("node \(row) lists a child twice") }
                for child in node.children {
                    guard isAlive(child) else {
                        faults.append("node \(row) lists \(child), which has gone")
                        continue
                    }
                    if self.node(child).parent != row { faults.append("node \(child) has another parent than \(row)") }
                    if self.child(self.node(child).id, of: row).map({ self.node($0).id }) != self.node(child).id {
                        faults.append("node \(row) does not find its child \(self.node(child).id.text)")
                    }
                }
                if row != NodeID.root.row, !isAlive(node.parent), !node.isOut {
                    faults.append("node \(row) is below \(node.parent), which has gone")
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
