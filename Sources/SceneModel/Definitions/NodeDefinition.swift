import AttributeValues
import Timelines

/// A node as written, or a component's body merged with its use. One definition serves many instances.
public final class NodeDefinition {
    /// Empty only for the template of a `forEach`, whose elements name its instances.
    public var id: String = ""
    public var kind: NodeKind = .view
    /// The component from which this node was made. Its lexical scope ends here.
    public var component: String?
    public var attributes: [AttributeDefinition] = []
    public var environment: [KeyedExpression] = []
    /// `environment: {objects: [$library]}`: states (or bindings to states) that contain an object. Nodes below find it
    /// by its type.
    public var environmentObjects: [Reference] = []
    public var transformEnvironment: [EnvironmentTransform] = []
    public var containerValues: [KeyedExpression] = []
    public var tag: Expression?
    public var preferences: [KeyedExpression] = []
    public var animations: [AnimationModifier] = []
    public var transition: Transition?
    /// In order. For a section, its content.
    public var children: [NodeDefinition] {
        get { repeated.map { $0.children + ownChildren } ?? ownChildren }
        set { ownChildren = newValue }
    }
    /// Sections only.
    public var header: [NodeDefinition] {
        get { repeated.map { $0.header + ownHeader } ?? ownHeader }
        set { ownHeader = newValue }
    }
    public var footer: [NodeDefinition] {
        get { repeated.map { $0.footer + ownFooter } ?? ownFooter }
        set { ownFooter = newValue }
    }
    /// Set if and only if `kind` is `.forEach` or `.choice`. Then `children` is empty.
    public var forEach: ForEachDefinition?
    /// True for a node that was given at the use of its parent's component and is not part of the body. Its names have
    /// their meaning at the use: the look-up skips the parent, except the element and index of a `forEach` there, and
    /// continues above it.
    public var isContent = false
    /// The slot of the parent's component that the node was given for; nil for the slot `content`.
    public var givenSlot: String?
    /// The number of components inside each other around which the node was written, among the children of a component's
    /// root: 0 in the body of the innermost one, 1 where that is used, and so on.
    public var layer = 0
    /// What the body of this component does with the nodes that it is given.
    public var placing = Placing()
    public var position: SourcePosition = .none

    /// The component's definition. Nodes made from it keep it alive.
    public var body: NodeDefinition?
    /// The component's definition, if this node is part of that component's own body, as a `forEach` may repeat it. The
    /// component's children are then this node's, before its own. Weak, because the node is a part of the definition.
    weak var repeated: NodeDefinition?
    /// True if its children are those of a component that contains it.
    public var isRepeated: Bool { repeated != nil }
    /// The component's definition, referred to strongly or weakly.
    public var base: NodeDefinition? { body ?? repeated }
    /// The kind was written and not inferred, so it does not change when a use adds children.
    var hasWrittenKind = false
    /// The number of nodes of one instance, and of their levels, without elements of `forEach`.
    var nodeCount = 1
    var levels = 1
    private var ownChildren: [NodeDefinition] = []
    private var ownHeader: [NodeDefinition] = []
    private var ownFooter: [NodeDefinition] = []

    public init() {}
}

/// Where a component's body puts the nodes that it is given.
public struct Placing {
    /// The names of its slots, in the order in which they are written.
    public var slots: [String] = []
    /// It places subviews one by one.
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

    /// The slots for which a use of its component can be given nodes, without the slot `content`.
    public var slots: [String] {
        var next = base
        while let component = next {
            if !component.placing.isEmpty {
                return component.placing.slots.filter { $0 != NodeDefinition.contentSlot }
            }
            next = component.base
        }
        return []
    }

    /// The layer of the innermost component that puts what it is given into its body; nil if none does.
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
