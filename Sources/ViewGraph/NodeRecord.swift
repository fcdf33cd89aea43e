import AttributeGraph
import AttributeValues
import SceneModel

/// A node of the tree with its vertices.
final class NodeRecord: TreeNode {
    /// Shared by all nodes that are made from it.
    var definition: NodeDefinition
    /// Named attributes, in the order of definition.
    var attributes = NamedAttributes()
    /// What the edits say of it; nil if they say nothing.
    var part: NodePart?
    /// Set for an instance of a list.
    private var kindOfInstance: InstanceScope.Kind?
    /// Its position among the children that its parent was made with.
    var basePlace: UInt32 = 0
    /// True if a store has values of its states.
    var hasValues = false
    /// True for a node that contains the properties of an object in a state. Such a node is no child of its parent.
    var isObject = false
    /// True if the node was given to the parent's component from outside, and is not written in its body. Names inside
    /// it mean what they mean around the parent.
    var isContent = false
    /// True if lexical scopes end here: at the root of a component's body, and at an object.
    var isScopeBoundary: Bool
    /// Members that few nodes need; allocated when one of them is first set.
    private var extras: NodeExtras?

    init(
        id: Name, kind: NodeKind, slot: Slot, generation: UInt32, parent: NodeRow, definition: NodeDefinition,
        isScopeBoundary: Bool
    ) {
        self.definition = definition
        self.isScopeBoundary = isScopeBoundary
        super.init(id: id, kind: kind, slot: slot, generation: generation, parent: parent)
    }

    // Nodes that are given to a component for named slots come after its other children.
    override var ranksChildren: Bool { super.ranksChildren || definition.hasSlots }

    override func rank(of child: TreeNode) -> Int {
        guard !super.ranksChildren, let slot = (child as? NodeRecord)?.definition.givenSlot,
            let position = definition.slots.firstIndex(of: slot)
        else { return super.rank(of: child) }
        return 2 + position
    }

    /// Drops the contents of a removed node. Its place can still be asked for.
    func clear(_ definition: NodeDefinition) {
        attributes = NamedAttributes()
        kindOfInstance = nil
        extras = nil
        part = nil
        self.definition = definition
    }
}

/// The element and the index of an instance of a list.
struct InstanceScope {
    let element: AttributeID
    let kind: Kind
    /// Its place; the vertex is made when first asked for.
    var index: AttributeID?

    /// Shared by all instances of a list.
    final class Kind {
        let indexName: String
        /// A record for elements; the node and the source are set for each instance.
        let element: AttributeRecord

        init(element: AttributeRecord, indexName: String) { (self.element, self.indexName) = (element, indexName) }
    }

    init(_ element: AttributeID, _ kind: Kind, index: AttributeID? = nil) {
        (self.element, self.kind, self.index) = (element, kind, index)
    }

    var elementName: String { kind.element.name }
    var indexName: String { kind.indexName }
}

/// An object in the environment: the row of an object in a state, or a place whose value is an object or null.
enum ProvidedObject: Equatable {
    case node(NodeRow)
    case place(Place)
}

/// Members that few nodes need.
private final class NodeExtras {
    /// Overrides and transforms of the environment that begin at this node, in order of application.
    var environment: [(key: String, attribute: AttributeID)] = []
    /// Where the node is placed by itself: what the modifiers of the groups and lists around it do there, from outside
    /// in.
    var standing: [StandingModifier] = []
    /// Objects that this node provides to what is below, by type, with their positions in the definition.
    var objects: [(type: String, object: ProvidedObject, position: Int)] = []
    /// Values that the node has for its container.
    var containerValues: [(key: String, steps: [AttributePath.Step], source: AttributeID)] = []
    var tag: AttributeID?
    var preferences: [(key: String, source: AttributeID)] = []
    var animations: [(animation: String?, value: AttributeID)] = []
    /// Counts changes of the shape of the tree below. A vertex once a rule depends on that shape.
    var structure: AttributeID?
    /// For containers: counts changes between the container and its subviews, and inside it where subviews come and go.
    var wrappingChanges: UInt32 = 0
    /// Vertices of system attributes, made when first read.
    var system: [SystemAttribute: AttributeID] = [:]
    var list: ListBox?
}

/// Allocated separately, because the state is large and few nodes have one.
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

    /// If this is false, all members below are empty.
    var hasExtras: Bool { extras != nil }

    var environment: [(key: String, attribute: AttributeID)] {
        get { extras?.environment ?? [] }
        _modify { yield &madeExtras.environment }
    }
    var standing: [StandingModifier] {
        get { extras?.standing ?? [] }
        _modify { yield &madeExtras.standing }
    }
    var objects: [(type: String, object: ProvidedObject, position: Int)] {
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
    /// The vertices of the node's modifiers.
    var modifierVertices: [AttributeID] {
        guard let extras else { return [] }
        return extras.environment.map(\.attribute) + extras.containerValues.map(\.source)
            + extras.preferences.map(\.source) + extras.animations.map(\.value) + (extras.tag.map { [$0] } ?? [])
    }

    /// Forgets the node's modifiers, and the objects that it provides.
    func removeModifiers() {
        guard let extras else { return }
        (extras.environment, extras.containerValues, extras.preferences) = ([], [], [])
        (extras.animations, extras.tag, extras.objects, extras.standing) = ([], nil, [], [])
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
    /// Set for an instance of a list.
    var instance: InstanceScope? {
        get {
            guard let kindOfInstance, let element = attributes.element else { return nil }
            return InstanceScope(element, kindOfInstance, index: attributes.index)
        }
        set {
            kindOfInstance = newValue?.kind
            attributes.setScope(newValue?.element, newValue?.index)
        }
    }

    /// Its attributes in the order of definition, and the element of an instance. Without the index, which may be no
    /// vertex yet.
    var namedAttributes: [(name: String, attribute: AttributeID)] {
        var named = attributes.list
        if let instance, attributes[instance.elementName] == nil {
            named.append((instance.elementName, instance.element))
        }
        return named
    }

    /// An instance's element or index by its name; nil for an index that is no vertex yet.
    func instanceAttribute(named name: String) -> AttributeID? {
        guard let instance else { return nil }
        if instance.elementName == name { return instance.element }
        return instance.indexName == name ? instance.index : nil
    }

    /// The name of an instance's index; nil if an attribute of the node has that name.
    var namedIndex: String? { instance.flatMap { attributes[$0.indexName] == nil ? $0.indexName : nil } }
}

/// A node's attributes in order.
struct NamedAttributes: Sequence {
    /// Nodes that are made one after the other from one component share this object.
    private var names: AttributeNames?
    private var rows = Rows.run(first: AttributeID(index: 0, generation: 0), count: 0)
    /// How many rows behind the named ones are an instance's element and its index. The element of an instance without
    /// children continues the run, so it takes no memory.
    private var scope: UInt8 = 0

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

        subscript(position: Int) -> AttributeID {
            switch self {
            case .run(let first, _):
                AttributeID(index: first.index &+ UInt32(truncatingIfNeeded: position), generation: first.generation)
            case .list(let attributes): attributes[position]
            }
        }

        mutating func add(_ attribute: AttributeID) {
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

        mutating func remove(at position: Int) {
            self = .list((0..<count).filter { $0 != position }.map { self[$0] })
        }

        mutating func retain(_ positions: [Int]) { self = .list(positions.map { self[$0] }) }

        mutating func insert(_ attribute: AttributeID, at position: Int) {
            self = .list((0..<position).map { self[$0] } + [attribute] + (position..<count).map { self[$0] })
        }
    }

    init() {}

    /// - Parameter names: of the attributes that will be added first.
    init(_ names: AttributeNames) { self.names = names }

    /// The attributes, if these are their names and they follow each other.
    func run(of names: AttributeNames) -> AttributeRun? {
        guard case .run(let first, _) = rows, count == names.list.count, let own = self.names,
            own === names || own.list.elementsEqual(names.list, by: { $0.hasSameBytes(as: $1) })
        else { return nil }
        return AttributeRun(first: first, count: count)
    }

    var count: Int { rows.count - Int(scope) }

    /// The element of an instance, and its index if that is a vertex.
    var element: AttributeID? { scope > 0 ? rows[count] : nil }
    var index: AttributeID? { scope > 1 ? rows[count + 1] : nil }

    mutating func setScope(_ element: AttributeID?, _ index: AttributeID?) {
        while scope > 0 {
            rows.remove(at: rows.count - 1)
            scope -= 1
        }
        if let element { addToScope(element) }
        if let index { addToScope(index) }
    }

    private mutating func addToScope(_ vertex: AttributeID) {
        rows.add(vertex)
        scope += 1
    }

    var list: [(name: String, attribute: AttributeID)] { Array(self) }

    struct Iterator: IteratorProtocol {
        fileprivate let attributes: NamedAttributes
        private var position = 0

        fileprivate init(_ attributes: NamedAttributes) { self.attributes = attributes }

        mutating func next() -> (name: String, attribute: AttributeID)? {
            guard position < attributes.count, let names = attributes.names else { return nil }
            defer { position += 1 }
            return (names.list[position], attributes.rows[position])
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }

    subscript(name: String) -> AttributeID? {
        guard let position = names?.position(of: name), position < count else { return nil }
        return rows[position]
    }

    mutating func add(_ name: String, _ attribute: AttributeID) {
        let position = count
        if names.map({ position >= $0.list.count || !$0.list[position].hasSameBytes(as: name) }) ?? true {
            own().replace(from: position, with: name)
        }
        if scope == 0 { rows.add(attribute) } else { rows.insert(attribute, at: position) }
    }

    mutating func remove(_ gone: Set<Name>) {
        guard let list = names?.list else { return }
        let positions = (0..<count).filter { !gone.contains(list[$0]) }
        names = AttributeNames(positions.map { list[$0] })
        rows.retain(positions + Array(count..<rows.count))
    }

    private mutating func own() -> AttributeNames {
        // Before another reference is made.
        if isKnownUniquelyReferenced(&names), let names { return names }
        let made = AttributeNames(names?.list ?? [])
        names = made
        return made
    }
}

/// Attributes whose rows follow each other.
struct AttributeRun: RandomAccessCollection {
    let first: AttributeID
    let count: Int

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    subscript(position: Int) -> AttributeID {
        AttributeID(index: first.index &+ UInt32(truncatingIfNeeded: position), generation: first.generation)
    }

    func spans(_ attribute: AttributeID) -> Bool {
        attribute.generation == first.generation && attribute.index >= first.index
            && Int(attribute.index - first.index) < count
    }
}

/// Names in order. A look-up goes through few names one by one, and uses a dictionary for many.
final class AttributeNames {
    private(set) var list: [String]
    private var positions: [Name: Int]?

    private static let indexThreshold = 12

    init(_ list: [String]) {
        self.list = list
        if list.count > AttributeNames.indexThreshold { makeIndex() }
    }

    private func makeIndex() {
        positions = Dictionary(list.enumerated().map { (Name($1), $0) }, uniquingKeysWith: { first, _ in first })
    }

    func position(of name: String) -> Int? {
        if let positions { return positions[name] }
        return list.firstIndex { $0.hasSameBytes(as: name) }
    }

    /// Replaces all names from a position on by one name.
    func replace(from position: Int, with name: String) {
        for gone in list[position...] { positions?[gone] = nil }
        list.removeLast(list.count - position)
        list.append(name)
        if positions != nil {
            positions?[name] = position
        } else if list.count > AttributeNames.indexThreshold {
            makeIndex()
        }
    }

    func isSame(as attributes: [AttributeDefinition]) -> Bool {
        list.count == attributes.count && zip(list, attributes).allSatisfy { $0.hasSameBytes(as: $1.name) }
    }
}

/// Attributes that every node has without naming them; their vertices exist once somebody reads them.
enum SystemAttribute: Hashable {
    case selfID, selfPath, selfIndex
    /// The subviews of the node, as numbers.
    case subviewList
    case subviews(SubviewParts), sections(SubviewParts)
    /// The merged preference of a key at and below the node; null where nobody writes.
    case preferenceOutput(String)
    case preference(String)
}
