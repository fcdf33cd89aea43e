import AttributeValues
import Timelines

/// A node as written, or a component's body merged with its use. One definition serves many instances.
public final class NodeDefinition {
    /// Empty only for the template of a `forEach`, whose elements name its instances.
    public var id: Name = ""
    public var kind: NodeKind = .view
    /// True for a node that was given at the use of its parent's component and is not part of the body. Its names have
    /// their meaning at the use: the look-up skips the parent, except the element and index of a `forEach` there, and
    /// continues above it.
    public var isContent = false
    /// The kind was written and not inferred, so it does not change when a use adds children.
    var hasWrittenKind = false
    /// The component from which this node was made. Its lexical scope ends here.
    public var component: String?
    public var attributes: [AttributeDefinition] = []
    /// The component's definition. Nodes made from it keep it alive.
    public var body: NodeDefinition?
    private var ownChildren: [NodeDefinition] = []
    /// Empty or one element, which copies share.
    private var rest: [Rest] = []
    /// The sibling that says the same and was read before. Nodes are made from it, and this definition can be freed.
    public private(set) var model: NodeDefinition?
    /// Names, rules and references of all nodes that the graph has made from this definition; nil until there are two.
    public var shared: SharedByNodes?
    /// True once a node was made from it.
    public var isInUse = false

    /// The members that few nodes have, made with the first of them. A large document has many definitions.
    private struct Rest {
        var environment: [KeyedExpression] = []
        var environmentObjects: [ProvidedReference] = []
        var transformEnvironment: [EnvironmentTransform] = []
        var containerValues: [KeyedExpression] = []
        var preferences: [KeyedExpression] = []
        var animations: [AnimationModifier] = []
        var tag: Expression?
        var objectsAtUse = 0
        var isTagAtUse = false
        var transition: Transition?
        var isLeftOutOfPast = false
        var forEach: ForEachDefinition?
        var givenSlot: String?
        var former: FormerPlace?
        var placing = Placing()
        var written: Value?
        var author = PartAuthor.daemon
        var position = SourcePosition.none
        var layer = 0
        var size = (nodes: 1, levels: 1)
        var header: [NodeDefinition] = []
        var footer: [NodeDefinition] = []
        var repeated: Repeated?
    }

    /// It is an object, because each access to a weak member of a structure copies the structure.
    private final class Repeated {
        weak var node: NodeDefinition?

        init(_ node: NodeDefinition) { self.node = node }
    }

    public init() {}

    /// A sibling that says the same.
    convenience init(like model: NodeDefinition, id: Name) {
        self.init(copyOf: model, id: id)
        self.model = model
    }

    /// A definition that begins with what another one says.
    public init(copyOf other: NodeDefinition, id: Name) {
        self.id = id
        kind = other.kind
        isContent = other.isContent
        hasWrittenKind = other.hasWrittenKind
        component = other.component
        attributes = other.attributes
        body = other.body
        ownChildren = other.ownChildren
        rest = other.rest
    }

    /// True if the two share their parts: one is a copy of the other, or both are copies of a third. Definitions that
    /// do not share them may still be equal.
    public func isCopy(of other: NodeDefinition) -> Bool {
        kind == other.kind && isContent == other.isContent && component == other.component && body === other.body
            && attributes.isCopy(of: other.attributes) && ownChildren.isCopy(of: other.ownChildren)
            && rest.isCopy(of: other.rest)
    }

    /// True if it has attributes and children alone: no modifier, no list, no header.
    public var isPlain: Bool { rest.isEmpty }

    private var madeRest: Rest {
        get { rest.isEmpty ? Rest() : rest[0] }
        _modify {
            if rest.isEmpty { rest.append(Rest()) }
            yield &rest[0]
        }
    }

    public var environment: [KeyedExpression] {
        get { rest.isEmpty ? [] : rest[0].environment }
        set { if !rest.isEmpty || !newValue.isEmpty { madeRest.environment = newValue } }
    }
    /// `environment: {objects: [$library]}`: states (or bindings to states) that contain an object. Nodes below find it
    /// by its type.
    public var environmentObjects: [ProvidedReference] {
        get { rest.isEmpty ? [] : rest[0].environmentObjects }
        set { if !rest.isEmpty || !newValue.isEmpty { madeRest.environmentObjects = newValue } }
    }
    public var transformEnvironment: [EnvironmentTransform] {
        get { rest.isEmpty ? [] : rest[0].transformEnvironment }
        set { if !rest.isEmpty || !newValue.isEmpty { madeRest.transformEnvironment = newValue } }
    }
    public var containerValues: [KeyedExpression] {
        get { rest.isEmpty ? [] : rest[0].containerValues }
        set { if !rest.isEmpty || !newValue.isEmpty { madeRest.containerValues = newValue } }
    }
    public var preferences: [KeyedExpression] {
        get { rest.isEmpty ? [] : rest[0].preferences }
        set { if !rest.isEmpty || !newValue.isEmpty { madeRest.preferences = newValue } }
    }
    public var animations: [AnimationModifier] {
        get { rest.isEmpty ? [] : rest[0].animations }
        set { if !rest.isEmpty || !newValue.isEmpty { madeRest.animations = newValue } }
    }
    public var tag: Expression? {
        get { rest.isEmpty ? nil : rest[0].tag }
        set { if !rest.isEmpty || newValue != nil { madeRest.tag = newValue } }
    }
    /// How many of `environmentObjects`, from the first, are written at the use of a component.
    public var objectsAtUse: Int {
        get { rest.isEmpty ? 0 : rest[0].objectsAtUse }
        set { if newValue != objectsAtUse { madeRest.objectsAtUse = newValue } }
    }
    /// True if the tag is written at the use of a component.
    public var isTagAtUse: Bool {
        get { rest.isEmpty ? false : rest[0].isTagAtUse }
        set { if newValue != isTagAtUse { madeRest.isTagAtUse = newValue } }
    }
    public var transition: Transition? {
        get { rest.isEmpty ? nil : rest[0].transition }
        set { if !rest.isEmpty || newValue != nil { madeRest.transition = newValue } }
    }
    /// True if the archive gets no values of it and of all below it.
    public var isLeftOutOfPast: Bool {
        get { rest.isEmpty ? false : rest[0].isLeftOutOfPast }
        set { if newValue != isLeftOutOfPast { madeRest.isLeftOutOfPast = newValue } }
    }
    /// Set if and only if `kind` is `.forEach` or `.choice`. Then `children` is empty.
    public var forEach: ForEachDefinition? {
        get { rest.isEmpty ? nil : rest[0].forEach }
        set { if !rest.isEmpty || newValue != nil { madeRest.forEach = newValue } }
    }
    /// The slot of the parent's component that the node was given for; nil for the slot `content`.
    public var givenSlot: String? {
        get { rest.isEmpty ? nil : rest[0].givenSlot }
        set { if !rest.isEmpty || newValue != nil { madeRest.givenSlot = newValue } }
    }
    /// Where it was in an earlier form of its scene.
    public var former: FormerPlace? {
        get { rest.isEmpty ? nil : rest[0].former }
        set { if !rest.isEmpty || newValue != nil { madeRest.former = newValue } }
    }
    /// Where the body of this component puts the nodes that it is given.
    public var placing: Placing {
        get { rest.isEmpty ? Placing() : rest[0].placing }
        set { if !rest.isEmpty || !newValue.isEmpty { madeRest.placing = newValue } }
    }
    /// A component in the form of documents: a row of a store that needs it after it was declared anew contains it.
    public internal(set) var written: Value? {
        get { rest.isEmpty ? nil : rest[0].written }
        set { if !rest.isEmpty || newValue != nil { madeRest.written = newValue } }
    }
    /// The author of this component's declaration.
    public internal(set) var author: PartAuthor {
        get { rest.isEmpty ? .daemon : rest[0].author }
        set { if newValue != author { madeRest.author = newValue } }
    }
    /// In order. For a section, its content.
    public var children: [NodeDefinition] {
        get { repeated.map { $0.children + ownChildren } ?? ownChildren }
        set { ownChildren = newValue }
    }
    /// Sections only.
    public var header: [NodeDefinition] {
        get { rest.isEmpty ? [] : rest[0].repeated?.node.map { $0.header + rest[0].header } ?? rest[0].header }
        set { if !rest.isEmpty || !newValue.isEmpty { madeRest.header = newValue } }
    }
    public var footer: [NodeDefinition] {
        get { rest.isEmpty ? [] : rest[0].repeated?.node.map { $0.footer + rest[0].footer } ?? rest[0].footer }
        set { if !rest.isEmpty || !newValue.isEmpty { madeRest.footer = newValue } }
    }
    /// For a child of a component's root: 0 if it is written in the body of the innermost component, 1 if it is written
    /// where that one is used, and so on.
    public var layer: Int {
        get { rest.isEmpty ? 0 : rest[0].layer }
        set { if newValue != layer { madeRest.layer = newValue } }
    }
    /// Where a component is written.
    public var position: SourcePosition {
        get { rest.isEmpty ? .none : rest[0].position }
        set { if newValue != position { madeRest.position = newValue } }
    }
    /// The component's definition, if this node is part of that component's own body, as a `forEach` may repeat it. The
    /// component's children are then this node's, before its own. Weak, because the node is a part of the definition.
    var repeated: NodeDefinition? {
        get { rest.isEmpty ? nil : rest[0].repeated?.node }
        set { if !rest.isEmpty || newValue != nil { madeRest.repeated = newValue.map(Repeated.init) } }
    }
    /// True if its children are those of a component that contains it.
    public var isRepeated: Bool { repeated != nil }
    /// The component's definition, referred to strongly or weakly.
    public var base: NodeDefinition? { body ?? repeated }
    /// The number of nodes of one instance, and of their levels, without elements of `forEach`.
    var nodeCount: Int {
        get { rest.isEmpty ? 1 : rest[0].size.nodes }
        set { if newValue != nodeCount { madeRest.size.nodes = newValue } }
    }
    var levels: Int {
        get { rest.isEmpty ? 1 : rest[0].size.levels }
        set { if newValue != levels { madeRest.size.levels = newValue } }
    }
}

/// See `NodeDefinition.shared`. The graph makes a subclass of it.
open class SharedByNodes {
    public init() {}
}

/// Where a component's body puts the nodes that it is given.
public struct Placing {
    /// The names of its slots, in the order in which they are written.
    public var slots: [String] = []
    /// True if it places subviews one by one.
    public var hasPlaces = false

    public var isEmpty: Bool { slots.isEmpty && !hasPlaces }
}

extension NodeDefinition {
    /// The slot for the `children` of a use.
    public static let contentSlot = "content"

    /// The components that the node is made from, innermost first.
    public var components: [NodeDefinition] {
        var found: [NodeDefinition] = []
        var next = base
        while let component = next {
            found.append(component)
            next = component.base
        }
        return found.reversed()
    }

    /// The placing of the outermost body that places the nodes that it is given; nil if no body does.
    private var placingOfUse: Placing? {
        var next = base
        while let component = next {
            if !component.placing.isEmpty { return component.placing }
            next = component.base
        }
        return nil
    }

    /// The slots for which a use of its component can be given nodes, without the slot `content`.
    public var slots: [String] { placingOfUse?.slots.filter { $0 != NodeDefinition.contentSlot } ?? [] }

    /// True if `slots` is not empty.
    public var hasSlots: Bool { placingOfUse?.slots.contains { $0 != NodeDefinition.contentSlot } ?? false }

    /// The layer of the innermost component that puts the nodes it is given into its body; nil if none does.
    public var firstPlacing: Int? {
        var (found, count) = (-1, 0)
        var next = base
        while let component = next {
            if !component.placing.isEmpty { found = count }
            count += 1
            next = component.base
        }
        return found < 0 ? nil : count - 1 - found
    }

    /// Its changes of the environment, from outside to inside.
    public var environmentModifiers: [EnvironmentModifier] {
        var made: [EnvironmentModifier] = []
        var transforms = transformEnvironment[...]
        for (position, entry) in environment.enumerated() {
            while let next = transforms.first, next.place <= position {
                made.append(.transform(next))
                transforms.removeFirst()
            }
            made.append(.override(entry))
        }
        return made + transforms.map { .transform($0) }
    }
}
