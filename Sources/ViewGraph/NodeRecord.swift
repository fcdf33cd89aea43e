import AttributeGraph
import AttributeValues
import SceneModel

/// What an attribute is to its users.
public enum AttributeKind: String, Sendable {
    case state, binding, `let`, computed, inherit, clock, action
}

/// A node of the tree with its vertices.
final class NodeRecord: TreeNode {
    /// What it was made from; shared by all instances.
    var definition: NodeDefinition
    /// Named attributes, in the order of definition.
    var attributes = NamedAttributes()
    /// What a store has to know of it, if clients have changed it.
    var kept: KeptNode?
    /// Of an instance of a list.
    var instance: InstanceScope?
    /// Its place among the children that its parent was made with.
    var basePlace: UInt32 = 0
    /// A store has values of its states.
    var hasValues = false
    /// The properties of an object in a state; such a node is no child of its parent.
    var isObject = false
    /// Given to the parent's component from outside, not written in its body: names inside mean what they mean around
    /// the parent.
    var isContent = false
    /// Lexical scopes end here: the root of a component's body, or an object.
    var isScopeBoundary: Bool
    /// What few nodes have; made with the first of it.
    private var extras: NodeExtras?

    init(
        id: String, kind: NodeKind, slot: Slot, generation: UInt32, parent: UInt32, definition: NodeDefinition,
        isScopeBoundary: Bool
    ) {
        self.definition = definition
        self.isScopeBoundary = isScopeBoundary
        super.init(id: id, kind: kind, slot: slot, generation: generation, parent: parent)
    }

    // What a component is given for slots with names follows its other children.
    override var ranksChildren: Bool { super.ranksChildren || !definition.slots.isEmpty }

    override func rank(of child: TreeNode) -> Int {
        guard !super.ranksChildren, let slot = (child as? NodeRecord)?.definition.givenSlot,
            let place = definition.slots.firstIndex(of: slot)
        else { return super.rank(of: child) }
        return 2 + place
    }

    /// Lets go of what it held; a node that has gone is still asked where it was.
    func clear(_ definition: NodeDefinition) {
        attributes = NamedAttributes()
        instance = nil
        extras = nil
        kept = nil
        self.definition = definition
    }
}

/// What an instance of a list has besides the attributes of its template.
final class InstanceScope {
    let element: AttributeID
    /// Its place; the vertex is made when first asked for.
    var index: AttributeID?
    private let kind: Kind

    /// What all instances of a list have in common.
    final class Kind {
        let indexName: String
        /// An element's record, with the node and the source of no instance.
        let element: AttributeRecord

        init(element: AttributeRecord, indexName: String) { (self.element, self.indexName) = (element, indexName) }
    }

    init(_ element: AttributeID, _ kind: Kind) { (self.element, self.kind) = (element, kind) }

    var elementName: String { kind.element.name }
    var indexName: String { kind.indexName }
}

/// An object in the environment: the row of one that a state contains, or a place where there is the value of one, or
/// null.
enum ProvidedObject: Equatable {
    case node(UInt32)
    case place(Place)
}

/// What few nodes have beside their attributes.
private final class NodeExtras {
    /// Overrides and transforms of the environment that begin at this node, in order of application.
    var environment: [(key: String, attribute: AttributeID)] = []
    /// Objects that this node provides to what is below, by type.
    var objects: [(type: String, object: ProvidedObject)] = []
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
    var list: ListBox?
}

/// Memory of its own, because it is long and few nodes have one.
private final class ListBox {
    var state: ForEachState?
}

extension NodeRecord {
    private var madeExtras: NodeExtras {
        if let extras { return extras }
        let made = NodeExtras()
        extras = made
        return made
    }

    /// Whether the node may have any of what follows.
    var hasExtras: Bool { extras != nil }

    var environment: [(key: String, attribute: AttributeID)] {
        get { extras?.environment ?? [] }
        _modify { yield &madeExtras.environment }
    }
    var objects: [(type: String, object: ProvidedObject)] {
        get { extras?.objects ?? [] }
        _modify { yield &madeExtras.objects }
    }
    var containerValues: [(key: String, steps: [AttributePath.Step], source: AttributeID)] {
        get { extras?.containerValues ?? [] }
        _modify { yield &madeExtras.containerValues }
    }
    var tag: AttributeID? {
        get { extras?.tag }
        _modify { yield &madeExtras.tag }
    }
    var preferences: [(key: String, source: AttributeID)] {
        get { extras?.preferences ?? [] }
        _modify { yield &madeExtras.preferences }
    }
    var animations: [(animation: String?, value: AttributeID)] {
        get { extras?.animations ?? [] }
        _modify { yield &madeExtras.animations }
    }
    var structure: AttributeID? {
        get { extras?.structure }
        _modify { yield &madeExtras.structure }
    }
    var wrappingChanges: UInt32 {
        get { extras?.wrappingChanges ?? 0 }
        _modify { yield &madeExtras.wrappingChanges }
    }
    var system: [SystemAttribute: AttributeID] {
        get { extras?.system ?? [:] }
        _modify { yield &madeExtras.system }
    }
    /// Set while `kind` is `.forEach` or `.choice`.
    var instances: ForEachState? {
        get { extras?.list?.state }
        _modify { yield &madeList.state }
    }

    private var madeList: ListBox {
        let extras = madeExtras
        if let list = extras.list { return list }
        let made = ListBox()
        extras.list = made
        return made
    }
}

extension NodeRecord {
    /// Its attributes and, of an instance, the element, in the order of definition; without an index, which may be no
    /// vertex yet.
    var namedAttributes: [(name: String, attribute: AttributeID)] {
        var named = attributes.list
        if let instance, attributes[instance.elementName] == nil {
            named.append((instance.elementName, instance.element))
        }
        return named
    }

    /// An instance's element or index by its name, as far as it is a vertex.
    func instanceAttribute(named name: String) -> AttributeID? {
        guard let instance else { return nil }
        if instance.elementName == name { return instance.element }
        return instance.indexName == name ? instance.index : nil
    }

    /// The name of an instance's index, unless an attribute of its own has it.
    var namedIndex: String? { instance.flatMap { attributes[$0.indexName] == nil ? $0.indexName : nil } }
}

/// A node's attributes in order.
struct NamedAttributes: Sequence {
    /// Those of nodes that are made one after the other from one component are one object.
    private var names: AttributeNames?
    private var rows = Rows.run(first: AttributeID(index: 0, generation: 0), count: 0)

    private enum Rows {
        /// Rows of one generation that follow each other, as those of new nodes do.
        case run(first: AttributeID, count: UInt32)
        case list([AttributeID])

        var count: Int {
            switch self {
            case .run(_, let count): Int(count)
            case .list(let attributes): attributes.count
            }
        }

        subscript(place: Int) -> AttributeID {
            switch self {
            case .run(let first, _):
                AttributeID(index: first.index &+ UInt32(truncatingIfNeeded: place), generation: first.generation)
            case .list(let attributes): attributes[place]
            }
        }

        mutating func append(_ attribute: AttributeID) {
            switch self {
            case .run(_, 0): self = .run(first: attribute, count: 1)
            case .run(let first, let count) where self[Int(count)] == attribute:
                self = .run(first: first, count: count + 1)
            case .run: self = .list((0..<count).map { self[$0] } + [attribute])
            case .list(var attributes):
                self = .run(first: attribute, count: 0)
                attributes.append(attribute)
                self = .list(attributes)
            }
        }

        mutating func remove(at place: Int) {
            self = .list((0..<count).filter { $0 != place }.map { self[$0] })
        }
    }

    init() {}

    /// - Parameter names: of the attributes that will be added first.
    init(_ names: AttributeNames) { self.names = names }

    var count: Int { rows.count }
    var list: [(name: String, attribute: AttributeID)] { Array(self) }

    struct Iterator: IteratorProtocol {
        fileprivate let attributes: NamedAttributes
        private var place = 0

        fileprivate init(_ attributes: NamedAttributes) { self.attributes = attributes }

        mutating func next() -> (name: String, attribute: AttributeID)? {
            guard place < attributes.count, let names = attributes.names else { return nil }
            defer { place += 1 }
            return (names.list[place], attributes.rows[place])
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }

    subscript(name: String) -> AttributeID? {
        guard let place = names?.place(of: name), place < count else { return nil }
        return rows[place]
    }

    mutating func append(_ name: String, _ attribute: AttributeID) {
        let place = count
        if names.map({ place >= $0.list.count || !$0.list[place].hasSameBytes(as: name) }) ?? true {
            own().replace(from: place, with: name)
        }
        rows.append(attribute)
    }

    mutating func remove(_ name: String) {
        guard let place = names?.place(of: name), place < count else { return }
        own().remove(at: place)
        rows.remove(at: place)
    }

    private mutating func own() -> AttributeNames {
        if let names, isKnownUniquelyReferenced(&self.names) { return names }
        let made = AttributeNames(names?.list ?? [])
        names = made
        return made
    }
}

/// Names in order; found in line while they are few, through a dictionary when they are many.
final class AttributeNames {
    private(set) var list: [String]
    private var places: [String: Int]?

    private static let indexThreshold = 12

    init(_ list: [String]) {
        self.list = list
        if list.count > AttributeNames.indexThreshold { makeIndex() }
    }

    private func makeIndex() {
        places = Dictionary(list.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func place(of name: String) -> Int? {
        if let places { return places[name] }
        return list.firstIndex { $0.hasSameBytes(as: name) }
    }

    /// The names from a place on go, and another one comes.
    func replace(from place: Int, with name: String) {
        for gone in list[place...] { places?[gone] = nil }
        list.removeLast(list.count - place)
        list.append(name)
        if places != nil {
            places?[name] = place
        } else if list.count > AttributeNames.indexThreshold {
            makeIndex()
        }
    }

    func remove(at place: Int) {
        list.remove(at: place)
        if places != nil { makeIndex() }
    }

    func isSame(as attributes: [AttributeDefinition]) -> Bool {
        list.count == attributes.count && zip(list, attributes).allSatisfy { $0.hasSameBytes(as: $1.name) }
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
