import AttributeValues
import RuleLanguage

// What a checked scene document says, ready to be instantiated: names resolved, rules compiled, types known.
// Definitions are immutable and shared by all instances made from them.

/// A place in a document: 1-based line and column (in characters); both 0 where the source has no text (JSON parameters).
public struct SourcePosition: Hashable, Sendable {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static let none = SourcePosition(line: 0, column: 0)
}

/// Right-hand side of an input: a literal, a rule (`=…`), or a reference (`$name.path`).
public enum Expression {
    case literal(Value)
    case rule(Program)
    case reference(Reference)
}

/// `$name.key[0]`: an attribute of the nearest lexically enclosing node that declares `name`, and a place inside its value.
public struct Reference: Hashable {
    public var name: String
    public var steps: [AttributePath.Step]

    public init(name: String, steps: [AttributePath.Step] = []) {
        self.name = name
        self.steps = steps
    }
}

public enum NodeKind: String, CaseIterable, Sendable {
    case view, container, group, section, forEach
}

/// What makes an attribute's value. Scopes: `computed` and the modifiers see the node's own attributes first; `let` and
/// `binding` see the lexically enclosing nodes, nearest first, up to the root of the component they are written in.
public enum AttributeRole {
    case state(initial: Value, isTransient: Bool)
    /// nil target: a component's parameter without default that the use must give (only inside component definitions).
    case binding(BindingTarget?, animation: String?)
    /// nil: as for binding.
    case constant(Expression?)
    case computed(Program)
    /// `inherit: {locale: locale}` reads an environment key, `{library: Library}` or `{library: "Library?"}` an object.
    case inherit(key: String)
    case inheritObject(type: String, isOptional: Bool)
    case clock(ClockSchedule)
}

public enum BindingTarget {
    case reference(Reference)
    /// A constant binding: reads as the value, writes are refused (`readOnly`).
    case constant(Value)
}

/// When a clock ticks; its value is the date of the last tick.
public enum ClockSchedule: Hashable {
    /// Aligned to `start` (the epoch when nil). Nanoseconds > 0.
    case every(TimeSpan, start: Timestamp?)
    case everyMinute
    /// At display rate while somebody watches: every 1/60 s, or `minimumInterval` when longer.
    case animation(minimumInterval: TimeSpan?)
    /// Ascending.
    case dates([Timestamp])
}

public struct AttributeDefinition {
    public var name: String
    public var role: AttributeRole
    /// Written or inferred; `dyn` when unknown.
    public var type: ValueType
    public var position: SourcePosition

    public init(name: String, role: AttributeRole, type: ValueType, position: SourcePosition) {
        self.name = name
        self.role = role
        self.type = type
        self.position = position
    }
}

/// `key.path: expression` as the modifiers environment, containerValues and preferences write it.
public struct KeyedExpression {
    public var key: String
    /// Inside a grouped key; empty for the whole.
    public var steps: [AttributePath.Step]
    /// Of the place that is written, which what is given is held to.
    public var type: ValueType
    public var expression: Expression
    public var position: SourcePosition

    public init(key: String, steps: [AttributePath.Step], type: ValueType, expression: Expression, position: SourcePosition) {
        self.key = key
        self.steps = steps
        self.type = type
        self.expression = expression
        self.position = position
    }
}

/// `transformEnvironment: {key.path: rule over value}`: the program reads what is inherited at that place as `value`.
public struct EnvironmentTransform {
    public var key: String
    /// Inside a grouped key; empty for the whole.
    public var steps: [AttributePath.Step]
    /// Of the place that is transformed, which the result is held to.
    public var type: ValueType
    public var program: Program
    /// How many of the node's overrides stand outside it: those written beside it and further out, as at the use of a component,
    /// come before it, those of the component's own root behind.
    public var place: Int

    public init(key: String, steps: [AttributePath.Step] = [], type: ValueType, program: Program, place: Int) {
        self.key = key
        self.steps = steps
        self.type = type
        self.program = program
        self.place = place
    }
}

/// One step of what a node does to the environment.
public enum EnvironmentModifier {
    case override(KeyedExpression)
    case transform(EnvironmentTransform)
}

/// `animation: {curve, value}`: when `value` changed in a transaction, this animation applies to the node and below.
public struct AnimationModifier {
    /// Text form; nil means that the change is not animated.
    public var animation: String?
    public var value: Expression

    public init(animation: String?, value: Expression) {
        self.animation = animation
        self.value = value
    }
}

/// A node as written, or as a component's body after its use was merged in. One definition serves many instances.
public final class NodeDefinition {
    /// Empty only for the template of a `forEach`, whose instances are named by their element.
    public var id: String = ""
    public var kind: NodeKind = .view
    /// The component this node was made from; its lexical scope ends here.
    public var component: String?
    public var attributes: [AttributeDefinition] = []
    public var environment: [KeyedExpression] = []
    /// `environment: {objects: [$library]}`: states (or bindings to states) that hold an object, found by its type below.
    public var environmentObjects: [Reference] = []
    public var transformEnvironment: [EnvironmentTransform] = []
    public var containerValues: [KeyedExpression] = []
    public var tag: Expression?
    public var preferences: [KeyedExpression] = []
    public var animations: [AnimationModifier] = []
    /// In order. A section's are its content.
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
    /// Set exactly when `kind` is `.forEach`; then `children` is empty.
    public var forEach: ForEachDefinition?
    /// Given to the parent's component where it is used, not written in its body. Names inside mean what they mean at the
    /// use: look-up passes over the parent, except for the element and index of a `forEach` there, and goes on above it.
    public var isContent = false
    public var position: SourcePosition = .none

    /// The component's definition, kept alive by those that are made from it.
    public var body: NodeDefinition?
    /// The component's definition where this node stands in that component's own body, as a `forEach` may repeat it. Its
    /// children are then this node's, before its own. Weak: the node is a part of what it refers to.
    weak var repeated: NodeDefinition?
    /// Whether its children are those of a component that contains it.
    public var isRepeated: Bool { repeated != nil }
    /// The component's definition, whichever way it is held.
    public var base: NodeDefinition? { body ?? repeated }
    /// The kind was written, not inferred, and stays when a use brings children.
    var hasWrittenKind = false
    /// This node and all below it, and the levels they make: what one instance comes to, elements of `forEach` left out.
    var nodeCount = 1
    var levels = 1
    private var ownChildren: [NodeDefinition] = []
    private var ownHeader: [NodeDefinition] = []
    private var ownFooter: [NodeDefinition] = []

    public init() {}
}

extension NodeDefinition {
    /// What it does to the environment, from outside in.
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

/// One instance of `template` per element of a list. Each instance owns two attributes: `element` (named `elementName`; a
/// binding to the element when the data is a reference, else read-only) and `indexName` (its present place).
public struct ForEachDefinition {
    /// In the scope of the enclosing nodes.
    public var data: Expression
    /// The field that identifies an element; empty: the element itself (a string, int, uint or bool).
    public var idField: String
    public var elementName: String
    public var indexName: String
    public var template: NodeDefinition

    public init(data: Expression, idField: String, elementName: String, indexName: String, template: NodeDefinition) {
        self.data = data
        self.idField = idField
        self.elementName = elementName
        self.indexName = indexName
        self.template = template
    }
}

/// A declared environment, container-value or preference key.
public struct KeyDefinition {
    public var name: String
    public var type: ValueType
    public var defaultValue: Value
    /// Preferences: how two values become one, over `value` and `next`.
    public var reduce: Program?

    public init(name: String, type: ValueType, defaultValue: Value, reduce: Program? = nil) {
        self.name = name
        self.type = type
        self.defaultValue = defaultValue
        self.reduce = reduce
    }
}

/// An observable-object type: stored and computed properties, tracked one by one.
public final class ObjectTypeDefinition {
    public let name: String
    /// `state` and `computed` roles only.
    public let properties: [AttributeDefinition]

    public init(name: String, properties: [AttributeDefinition]) {
        self.name = name
        self.properties = properties
    }
}

/// The declarations of a document: they hold for all that is applied later, too.
public struct Declarations {
    public var environment: [String: KeyDefinition] = [:]
    public var container: [String: KeyDefinition] = [:]
    public var preference: [String: KeyDefinition] = [:]
    public var types: [String: ObjectTypeDefinition] = [:]
    public var components: [String: NodeDefinition] = [:]
    /// The same as written, so that a living tree can be written as a document again.
    public var written = WrittenDeclarations()

    public init() {}

    public var isEmpty: Bool {
        environment.isEmpty && container.isEmpty && preference.isEmpty && types.isEmpty && components.isEmpty
    }
}

/// Declarations as their documents say them, by name.
public struct WrittenDeclarations {
    /// By group: `environment`, `container`, `preference`.
    public var keys: [String: [String: Value]] = [:]
    public var types: [String: Value] = [:]
    public var components: [String: Value] = [:]

    public init() {}

    /// Later ones replace earlier ones of the same name.
    public mutating func merge(_ other: WrittenDeclarations) {
        keys.merge(other.keys) { $0.merging($1) { $1 } }
        types.merge(other.types) { $1 }
        components.merge(other.components) { $1 }
    }
}

/// A document that has been checked whole.
public struct SceneDefinition {
    /// Those the document makes itself.
    public var declarations: Declarations
    public var nodes: [NodeDefinition]
    /// States to set once the nodes are there, by path from the place of application.
    public var values: [(path: AttributePath, value: Value)]

    public init(declarations: Declarations, nodes: [NodeDefinition], values: [(path: AttributePath, value: Value)] = []) {
        self.declarations = declarations
        self.nodes = nodes
        self.values = values
    }
}

/// What a document is checked against: what the graph already declares, and the scope at the place it is applied to.
public struct SceneContext {
    public var declarations: Declarations
    /// Attributes in scope at the place of application, nearest node first.
    public var enclosing: [[(name: String, type: ValueType)]]

    /// What the document's rules may be and do.
    public var rules: RuleLimits

    /// Bytes, as JSON, of the value that a state begins with.
    public var valueSize: Int

    /// What a live tree holds below the place of application, by ids from there; for documents that are merged into it.
    /// Asked only for nodes that the document names.
    public var existing: (([String]) -> ExistingNode?)?

    /// The document was accepted once, and comes from a store: what only later versions refuse is admitted.
    public var isKept: Bool

    /// Whether the document may name what leads nowhere: it could come to lead to what its author may not read.
    public var admitsDangling = true

    public init(
        declarations: Declarations = Declarations(), enclosing: [[(name: String, type: ValueType)]] = [],
        rules: RuleLimits = RuleLimits(), valueSize: Int = .max, isKept: Bool = false,
        existing: (([String]) -> ExistingNode?)? = nil
    ) {
        self.declarations = declarations
        self.enclosing = enclosing
        self.rules = rules
        self.valueSize = valueSize
        self.isKept = isKept
        self.existing = existing
    }
}

/// A live node that a merged document completes.
public struct ExistingNode {
    public var kind: NodeKind
    public var attributes: [(name: String, type: ValueType)]
    /// Of the root of what a component made: its attributes are in scope for what the component has inside, and no others are; what
    /// was given to it sees what is around it.
    public var component: String?
    /// Given to the component that its parent is the root of.
    public var isContent: Bool

    public init(
        kind: NodeKind, attributes: [(name: String, type: ValueType)], component: String? = nil, isContent: Bool = false
    ) {
        self.kind = kind
        self.attributes = attributes
        self.component = component
        self.isContent = isContent
    }
}
