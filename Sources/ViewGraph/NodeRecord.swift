import AttributeGraph
import AttributeValues
import SceneModel

/// Names one node for as long as it lives; a row is reused, its generation is not.
public struct NodeID: Hashable, Sendable {
    public let row: UInt32
    let generation: UInt32

    /// The node `/`, which is always there.
    public static let root = NodeID(row: 0, generation: 1)
}

/// Where a node stands in its parent: sections keep three lists in one.
enum Slot: UInt8 {
    case content, header, footer

    /// Parts of a section stand in this order.
    fileprivate var order: Int {
        switch self {
        case .header: 0
        case .content: 1
        case .footer: 2
        }
    }
}

/// What an attribute is to its users.
public enum AttributeKind: String, Sendable {
    case state, binding, `let`, computed, inherit, clock
}

/// A node of the tree, as a row; an object as `AttributeRecord` is.
final class NodeRecord {
    var id: String
    var kind: NodeKind
    var slot: Slot
    let generation: UInt32
    fileprivate(set) var isAlive = true
    /// The root is its own parent.
    var parent: UInt32
    /// In order; a section's header comes first and its footer last.
    var children: [UInt32] = []
    /// Child rows by id; only once there are more than a few.
    var childrenByID: [String: UInt32]?
    /// What it was made from; shared by all instances.
    var definition: NodeDefinition
    /// Named attributes, in the order of definition.
    var attributes = NamedAttributes()
    /// An instance's element, as its `forEach` names it.
    var elementScope: [(name: String, attribute: AttributeID)] = []
    /// An instance that somebody has defined, removed or moved something in: it is not what its `forEach` makes.
    var isEdited = false
    /// Of the changes of structure that concern it, as a store keeps them; 0: none does. See `KeptChanges`.
    var strand = 0
    /// An instance's index; its vertex is made when first asked for.
    var indexScope: (name: String, attribute: AttributeID?)?
    /// Children whose `self.index` is a vertex.
    var numberedChildren = 0
    /// Where among the children one was looked for last: who asks for all of them asks in order.
    var lastPlace = 0
    /// The properties of an object in a state; such a node is no child of its parent.
    var isObject = false
    /// Given to the parent's component from outside, not written in its body: names inside mean what they mean around the parent.
    var isContent = false
    /// Lexical scopes end here: the root of a component's body, or an object.
    var isScopeBoundary: Bool
    /// Overrides and transforms of the environment that begin at this node, in order of application.
    var environment: [(key: String, attribute: AttributeID)] = []
    /// Objects that this node provides to what is below, by type, as rows of objects.
    var objects: [(type: String, object: UInt32)] = []
    /// What the node says of itself to its container.
    var containerValues: [(key: String, steps: [AttributePath.Step], source: AttributeID)] = []
    var tag: AttributeID?
    var preferences: [(key: String, source: AttributeID)] = []
    var animations: [(animation: String?, value: AttributeID)] = []
    /// Present once somebody reads what depends on the shape of the tree below; counts up with every change of it.
    var structure: AttributeID?
    /// Of a container: counts what happens between it and its subviews, and inside it where these come and go.
    var wrappingChanges: UInt32 = 0
    /// Vertices of the system, made when first read, by what they are.
    var system: [SystemAttribute: AttributeID] = [:]
    /// Set while `kind` is `.forEach`.
    var instances: ForEachState?

    init(
        id: String, kind: NodeKind, slot: Slot, generation: UInt32, parent: UInt32, definition: NodeDefinition, isScopeBoundary: Bool
    ) {
        self.id = id
        self.kind = kind
        self.slot = slot
        self.generation = generation
        self.parent = parent
        self.definition = definition
        self.isScopeBoundary = isScopeBoundary
    }
}

/// The nodes by their rows.
struct NodeTable {
    private var rows: [NodeRecord?] = []
    /// Of the node that is in a row, or of the next one to be there.
    private var generations: [UInt32] = []
    private var free: [UInt32] = []
    /// Of a row that is used for the first time since the table was cut: no id of before names it.
    private var firstGeneration: UInt32 = 1

    /// A node that has gone can be asked where it was, until its row is used again or memory is given back.
    subscript(row: Int) -> NodeRecord {
        guard let record = rows[row] else { preconditionFailure("no node in row \(row)") }
        return record
    }

    func isAlive(_ row: UInt32) -> Bool { Int(row) < rows.count && rows[Int(row)]?.isAlive == true }

    /// In ascending order.
    var living: some Sequence<UInt32> { rows.indices.lazy.map { UInt32($0) }.filter { isAlive($0) } }

    /// - Returns: its row.
    mutating func insert(_ make: (_ generation: UInt32) -> NodeRecord) -> UInt32 {
        if let row = free.popLast() {
            rows[Int(row)] = make(generations[Int(row)])
            return row
        }
        rows.append(make(firstGeneration))
        generations.append(firstGeneration)
        return UInt32(rows.count - 1)
    }

    mutating func remove(_ row: UInt32) {
        let record = self[Int(row)]
        record.isAlive = false
        record.children = []
        record.childrenByID = nil
        record.attributes = NamedAttributes()
        record.elementScope = []
        record.indexScope = nil
        record.system = [:]
        record.structure = nil
        record.definition = self[0].definition
        generations[Int(row)] &+= 1
        free.append(row)
    }

    /// Forgets nodes that have gone, and free rows at the end. Of the other free ones those at the beginning are used first.
    mutating func giveBack() {
        for row in rows.indices where rows[row]?.isAlive == false { rows[row] = nil }
        while let last = rows.last, last == nil {
            rows.removeLast()
            firstGeneration = max(firstGeneration, generations.removeLast())
        }
        free = rows.indices.reversed().filter { rows[$0] == nil }.map { UInt32($0) }
        rows.giveBack()
        generations.giveBack()
    }
}

extension NodeRecord {
    /// Its attributes and, of an instance, the element, in the order of definition; without an index, which may be no vertex yet.
    var namedAttributes: [(name: String, attribute: AttributeID)] {
        attributes.list + elementScope.filter { attributes[$0.name] == nil }
    }

    /// An instance's element or index by its name, as far as it is a vertex.
    func instanceAttribute(named name: String) -> AttributeID? {
        elementScope.first { $0.name == name }?.attribute ?? (indexScope?.name == name ? indexScope?.attribute : nil)
    }

    /// The name of an instance's index, unless an attribute of its own has it.
    var namedIndex: String? { indexScope.flatMap { attributes[$0.name] == nil ? $0.name : nil } }
}

/// A node's attributes in order; found by name in line while they are few, through a dictionary when they are many.
struct NamedAttributes: Sequence {
    private(set) var list: [(name: String, attribute: AttributeID)] = []
    private var byName: [String: AttributeID]?

    var count: Int { list.count }
    func makeIterator() -> IndexingIterator<[(name: String, attribute: AttributeID)]> { list.makeIterator() }

    subscript(name: String) -> AttributeID? {
        if let byName { return byName[name] }
        for (own, attribute) in list where own.hasSameBytes(as: name) { return attribute }
        return nil
    }

    mutating func append(_ name: String, _ attribute: AttributeID) {
        list.append((name, attribute))
        if byName != nil {
            byName?[name] = attribute
        } else if list.count > ViewGraph.childIndexThreshold {
            byName = Dictionary(uniqueKeysWithValues: list.map { ($0.name, $0.attribute) })
        }
    }

    mutating func remove(_ name: String) {
        list.removeAll { $0.name == name }
        byName?[name] = nil
    }
}

/// Attributes that every node has without naming them; their vertices exist once somebody reads them.
enum SystemAttribute: Hashable {
    case selfID, selfPath, selfIndex
    /// Which subviews there are.
    case subviewList
    case subviews(SubviewParts), sections(SubviewParts)
    /// The merged preference of a key at and below the node; null where nobody writes.
    case preferenceOutput(String)
    case preference(String)
}

extension ViewGraph {
    /// From this many children on they are found through a dictionary.
    static let childIndexThreshold = 12

    public func isAlive(_ node: NodeID) -> Bool {
        nodes.isAlive(node.row) && nodes[Int(node.row)].generation == node.generation
    }

    func nodeID(_ row: UInt32) -> NodeID { NodeID(row: row, generation: nodes[Int(row)].generation) }

    func createNode(
        id: String, definition: NodeDefinition, kind: NodeKind, parent: UInt32, slot: Slot, isScopeBoundary: Bool
    ) -> UInt32 {
        liveNodes += 1
        return nodes.insert {
            NodeRecord(
                id: id, kind: kind, slot: slot, generation: $0, parent: parent, definition: definition,
                isScopeBoundary: isScopeBoundary)
        }
    }

    func child(_ id: String, of row: UInt32) -> UInt32? {
        if let index = nodes[Int(row)].childrenByID { return index[id] }
        return nodes[Int(row)].children.first { nodes[Int($0)].id.hasSameBytes(as: id) }
    }

    /// Adds a child at a place among its siblings, or the nearest in its part of a section; nil: last.
    func attach(_ child: UInt32, to parent: UInt32, at place: Int? = nil) {
        let position = position(for: nodes[Int(child)].slot, nearest: place ?? .max, in: parent)
        nodes[Int(parent)].children.insert(child, at: position)
        nodes[Int(child)].parent = parent
        if nodes[Int(child)].system[.selfIndex] != nil { nodes[Int(parent)].numberedChildren += 1 }
        if nodes[Int(parent)].childrenByID != nil {
            let id = nodes[Int(child)].id
            nodes[Int(parent)].childrenByID?[id] = child
        } else if nodes[Int(parent)].children.count > ViewGraph.childIndexThreshold {
            nodes[Int(parent)].childrenByID = Dictionary(
                uniqueKeysWithValues: nodes[Int(parent)].children.map { (nodes[Int($0)].id, $0) })
        }
    }

    /// Where a child of a slot can stand, nearest to a place: in a section, in its part. O(children in the parts beside its own).
    private func position(for slot: Slot, nearest place: Int, in parent: UInt32) -> Int {
        let children = nodes[Int(parent)].children
        guard nodes[Int(parent)].kind == .section else { return min(place, children.count) }
        var end = children.count
        while end > 0, nodes[Int(children[end - 1])].slot.order > slot.order { end -= 1 }
        var position = min(place, end)
        while position < end, nodes[Int(children[position])].slot.order < slot.order { position += 1 }
        return position
    }

    func detach(_ child: UInt32) {
        let parent = Int(nodes[Int(child)].parent)
        if let place = nodes[parent].children.firstIndex(of: child) { nodes[parent].children.remove(at: place) }
        if nodes[Int(child)].system[.selfIndex] != nil { nodes[parent].numberedChildren -= 1 }
        let id = nodes[Int(child)].id
        nodes[parent].childrenByID?[id] = nil
    }

    /// Levels from the root down to a node; 0 for the root. O(depth).
    func depth(of row: UInt32) -> Int {
        var depth = 0
        var at = row
        while at != NodeID.root.row {
            depth += 1
            at = nodes[Int(at)].parent
        }
        return depth
    }

    /// Ids from the root down; empty for the root. O(depth).
    func ids(of row: UInt32) -> [String] {
        var ids: [String] = []
        var at = row
        while at != NodeID.root.row {
            ids.append(nodes[Int(at)].id)
            at = nodes[Int(at)].parent
        }
        return ids.reversed()
    }

    public func ids(of node: NodeID) -> [String] { ids(of: node.row) }

    public func path(of node: NodeID) -> String { AttributePath.describe(nodes: ids(of: node.row)) }

    /// Whether `row` is `ancestor` or below it.
    func isInside(_ row: UInt32, of ancestor: UInt32) -> Bool {
        var at = row
        while at != ancestor {
            if at == NodeID.root.row { return false }
            at = nodes[Int(at)].parent
        }
        return true
    }

    /// The rows of a subtree, parents before children, siblings in order.
    func subtree(of row: UInt32) -> [UInt32] {
        var rows: [UInt32] = []
        var pending = [row]
        while let next = pending.popLast() {
            rows.append(next)
            pending.append(contentsOf: nodes[Int(next)].children.reversed())
        }
        return rows
    }

    /// The rows, each followed by those of the objects that its states hold, and of the objects in them.
    func withObjects(_ rows: [UInt32]) -> [UInt32] {
        var all: [UInt32] = []
        all.reserveCapacity(rows.count)
        for row in rows {
            var pending = [row]
            while let next = pending.popLast() {
                all.append(next)
                for (_, attribute) in nodes[Int(next)].attributes {
                    guard let record = attributes[Int(attribute.index)], record.kind == .state, case .object(let object) = record.source
                    else { continue }
                    pending.append(object)
                }
            }
        }
        return all
    }
}
