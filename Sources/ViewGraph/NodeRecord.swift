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
    /// An instance's element, as its `forEach` names it.
    var elementScope: [(name: String, attribute: AttributeID)] = []
    /// What a store has to know of it, if clients have changed it.
    var kept: KeptNode?
    /// Its place among the children that its parent was made with.
    var basePlace: UInt32 = 0
    /// A store has values of its states.
    var hasValues = false
    /// An instance's index; its vertex is made when first asked for.
    var indexScope: (name: String, attribute: AttributeID?)?
    /// The properties of an object in a state; such a node is no child of its parent.
    var isObject = false
    /// Given to the parent's component from outside, not written in its body: names inside mean what they mean around the parent.
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
        elementScope = []
        indexScope = nil
        extras = nil
        kept = nil
        self.definition = definition
    }
}

/// An object in the environment: the row of one that a state contains, or a place where there is the value of one, or null.
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
    /// Set while `kind` is `.forEach`.
    var instances: ForEachState?
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
    var instances: ForEachState? {
        get { extras?.instances }
        _modify { yield &madeExtras.instances }
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

    private static let indexThreshold = 12

    var count: Int { list.count }
    func makeIterator() -> IndexingIterator<[(name: String, attribute: AttributeID)]> { list.makeIterator() }

    subscript(name: String) -> AttributeID? {
        if let byName { return byName[name] }
        for (own, attribute) in list where own.hasSameBytes(as: name) { return attribute }
        return nil
    }

    mutating func reserve(_ count: Int) { list.reserveCapacity(count) }

    mutating func append(_ name: String, _ attribute: AttributeID) {
        list.append((name, attribute))
        if byName != nil {
            byName?[name] = attribute
        } else if list.count > NamedAttributes.indexThreshold {
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
