import AttributeValues
import RuleLanguage
import Timelines

// The definitions of a checked scene document, ready to be instantiated: names are resolved, rules compiled, types
// known. Definitions are immutable, and all instances made from them share them.

/// A position in a document: 1-based line and column (in characters). Both are 0 if the source is not a text (JSON
/// parameters).
public struct SourcePosition: Hashable, Sendable {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static let none = SourcePosition(line: 0, column: 0)
}

/// The value of an input: a literal, a rule (`=…`), a reference (`$name.path`), or one that a rule chooses.
public enum Expression {
    case literal(Value)
    case rule(Program)
    case reference(Reference)
    case selection(Selection)
}

/// `$name.key[0]`: an attribute of the nearest lexically enclosing node that declares `name`, and a path into its
/// value.
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
    /// An `if` or `switch`, and what it makes. Paths do not name them, and nobody is told of them.
    case choice, branch

    /// Those that documents can write.
    public static let written = allCases.filter { !$0.isTransparent }

    /// True for nodes whose children count as their parent's in paths.
    public var isTransparent: Bool { self == .choice || self == .branch }

    /// True for nodes whose children are made from data.
    public var isMadeFromData: Bool { self == .forEach || self == .choice }
}

/// The source of an attribute's value. Scopes: `computed`, actions and the modifiers look up the node's own attributes
/// first.
/// `let` and `binding` look up the lexically enclosing nodes, nearest first, up to the root of the component that
/// contains them.
public enum AttributeRole {
    case state(initial: Value, isTransient: Bool)
    /// A nil target is a component's parameter without a default, which the use must give (only inside component
    /// definitions).
    case binding(BindingTarget?, animation: String?)
    /// nil as for binding.
    case constant(Expression?)
    case computed(Program)
    /// `inherit: {locale: locale}` reads an environment key, `{library: Library}` or `{library: "Library?"}` an object.
    case inherit(key: String)
    case inheritObject(type: String, isOptional: Bool)
    case clock(ClockSchedule)
    case action(ActionDefinition)
}

public enum BindingTarget {
    case reference(Reference)
    case selection(Selection)
    /// Reading gives the value of a rule. A write gives each target the value of an expression over `newValue`.
    case rules(get: Program, set: [(target: Reference, value: Expression)])
    /// A constant binding: reading gives the value, writes are refused (`readOnly`).
    case constant(Value)
}

/// The schedule of a clock. Its value is the date of the last tick.
public enum ClockSchedule: Hashable {
    /// Aligned to `start` (nil for the epoch). Nanoseconds > 0.
    case every(TimeSpan, start: Timestamp?)
    case everyMinute
    /// At the display rate while somebody watches: every 1/60 s, or every `minimumInterval` if that is longer.
    case animation(minimumInterval: TimeSpan?)
    /// Ascending.
    case dates([Timestamp])
}

/// A reference to its fields, because every instance of a node has one.
public struct AttributeDefinition {
    private final class Fields {
        var name: String
        var role: AttributeRole
        var type: ValueType
        var history: TimeSpan?
        var start: Expression?
        var position: SourcePosition

        init(
            _ name: String, _ role: AttributeRole, _ type: ValueType, _ history: TimeSpan?, _ start: Expression?,
            _ position: SourcePosition
        ) {
            self.name = name
            self.role = role
            self.type = type
            self.history = history
            self.start = start
            self.position = position
        }
    }

    private var fields: Fields

    public var name: String {
        get { fields.name }
        set { own().name = newValue }
    }
    public var role: AttributeRole {
        get { fields.role }
        set { own().role = newValue }
    }
    /// Written or inferred; `dyn` if unknown.
    public var type: ValueType {
        get { fields.type }
        set { own().type = newValue }
    }
    /// For how long the past of a state or a rule is recorded; nil: not at all.
    public var history: TimeSpan? {
        get { fields.history }
        set { own().history = newValue }
    }
    /// What a state begins with instead of its initial value: evaluated once, when its node is made.
    public var start: Expression? {
        get { fields.start }
        set { own().start = newValue }
    }
    public var position: SourcePosition {
        get { fields.position }
        set { own().position = newValue }
    }

    public init(
        name: String, role: AttributeRole, type: ValueType, history: TimeSpan? = nil, start: Expression? = nil,
        position: SourcePosition
    ) {
        fields = Fields(name, role, type, history, start, position)
    }

    private mutating func own() -> Fields {
        if !isKnownUniquelyReferenced(&fields) {
            fields = Fields(
                fields.name, fields.role, fields.type, fields.history, fields.start, fields.position)
        }
        return fields
    }
}

/// `key.path: expression` in the modifiers environment, containerValues and preferences.
public struct KeyedExpression {
    public var key: String
    /// The steps into a grouped key; empty for the whole.
    public var steps: [AttributePath.Step]
    /// The type of the part that is written. The value is converted to it.
    public var type: ValueType
    public var expression: Expression
    public var position: SourcePosition

    public init(
        key: String, steps: [AttributePath.Step], type: ValueType, expression: Expression, position: SourcePosition
    ) {
        self.key = key
        self.steps = steps
        self.type = type
        self.expression = expression
        self.position = position
    }
}

/// `transformEnvironment: {key.path: rule over value}`: in the program, `value` is the inherited value of that part.
public struct EnvironmentTransform {
    public var key: String
    /// The steps into a grouped key; empty for the whole.
    public var steps: [AttributePath.Step]
    /// The type of the part that is transformed. The result is converted to it.
    public var type: ValueType
    public var program: Program
    /// The number of the node's overrides that are outside the transform. Overrides written beside it or further out,
    /// as at the use of a component, are before it; those of the component's own root follow it.
    public var place: Int

    public init(key: String, steps: [AttributePath.Step] = [], type: ValueType, program: Program, place: Int) {
        self.key = key
        self.steps = steps
        self.type = type
        self.program = program
        self.place = place
    }
}

/// One environment modifier of a node.
public enum EnvironmentModifier {
    case override(KeyedExpression)
    case transform(EnvironmentTransform)
}

/// `animation: {curve, value}`: when `value` changes in a transaction, this animation applies to the node and all nodes
/// below it.
public struct AnimationModifier {
    /// The text form; nil if the change is not animated.
    public var animation: String?
    public var value: Expression

    public init(animation: String?, value: Expression) {
        self.animation = animation
        self.value = value
    }
}

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

/// One instance of a template for each element of a list. Each instance of a `forEach` has two attributes: `element`
/// (named `elementName`; a binding to the element if the data is a reference, else read-only) and `indexName` (its
/// present position).
///
/// `if` and `switch` are lists, too: of the name of one branch, or of none. So are `place` and `slot`: they show nodes
/// that stand elsewhere, and a slot makes its default where it is given none.
public struct ForEachDefinition {
    /// In the scope of the enclosing nodes.
    public var data: Expression
    /// The field that identifies an element. Empty: the element itself (a string, int, uint or bool).
    public var idField: String
    public var elementName: String
    public var indexName: String
    /// What elements become: one for all of them, or the branches of a choice, whose ids are their names.
    public var templates: [NodeDefinition]
    /// nil for a `forEach`.
    public var choice: Choice?

    public enum Choice: String, Sendable {
        case `if`, `switch`, place, slot

        /// It shows nodes that a component is given.
        public var isPlacement: Bool { self == .place || self == .slot }
    }

    public init(data: Expression, idField: String, elementName: String, indexName: String, template: NodeDefinition) {
        self.data = data
        self.idField = idField
        self.elementName = elementName
        self.indexName = indexName
        templates = [template]
    }

    /// - Parameter branches: of an `if`, `then` and `else`; of a `switch`, one for each case, and `default`; of a `slot`,
    ///   `default`.
    public init(_ choice: Choice, _ condition: Expression, branches: [NodeDefinition]) {
        data = condition
        idField = ""
        elementName = ""
        indexName = ""
        templates = branches
        self.choice = choice
    }

    /// What an element with an id becomes; nil for the name of a branch that is not there.
    public func template(for id: Value) -> NodeDefinition? {
        choice == nil ? templates.first : templates.first { id.string == $0.id }
    }

    /// The list that data means.
    public func list(of value: Value) throws(Failure) -> ValueList {
        let name: String
        switch (choice, value) {
        case (nil, .list(let elements)): return elements
        case (nil, _):
            throw Failure(.typeMismatch, "forEach needs a list, not a value of type \(value.shortTypeName)")
        case (.if, .bool(let isTrue)): name = isTrue ? Branch.then : Branch.else
        case (.if, _): throw Failure(.typeMismatch, "if needs a bool, not a value of type \(value.shortTypeName)")
        case (.place, _): return []
        case (.slot, _): name = value.list?.isEmpty == true ? Branch.default : ""
        case (.switch, _):
            guard let text = Branch.text(of: value) else {
                throw Failure(
                    .typeMismatch, "switch needs a text, a number or a bool, not a value of type \(value.shortTypeName)"
                )
            }
            let named = Branch.case(text)
            name = templates.contains { $0.id == named } ? named : Branch.default
        }
        return templates.contains { $0.id == name } ? [.string(name)] : []
    }
}

/// The names of branches. They are parts of the keys of what stands in them in a store.
public enum Branch {
    public static let then = "then"
    public static let `else` = "else"
    public static let `default` = "default"
    private static let casePrefix = "case "

    public static func `case`(_ text: String) -> String { casePrefix + text }

    /// The text of a case; nil for other branches.
    public static func caseText(_ name: String) -> String? {
        name.hasPrefix(casePrefix) ? String(name.dropFirst(casePrefix.count)) : nil
    }

    /// A value as a document writes it as a case; nil for one that cannot be a case.
    static func text(of value: Value) -> String? {
        switch value {
        case .string(let text): text
        case .null, .bool, .int, .uint, .double: value.jsonText
        default: nil
        }
    }
}

/// A declared environment, container-value or preference key.
public struct KeyDefinition {
    public var name: String
    public var type: ValueType
    public var defaultValue: Value
    /// For preferences, the rule that combines two values, over `value` and `next`.
    public var reduce: Program?

    public init(name: String, type: ValueType, defaultValue: Value, reduce: Program? = nil) {
        self.name = name
        self.type = type
        self.defaultValue = defaultValue
        self.reduce = reduce
    }
}

/// An observable-object type with stored and computed properties. Each property is tracked separately.
public final class ObjectTypeDefinition {
    public let name: String
    /// Only the roles `state` and `computed`.
    public let properties: [AttributeDefinition]

    public init(name: String, properties: [AttributeDefinition]) {
        self.name = name
        self.properties = properties
    }
}

/// The declarations of a document. They also apply to all later documents.
public struct Declarations {
    public var environment: [String: KeyDefinition] = [:]
    public var container: [String: KeyDefinition] = [:]
    public var preference: [String: KeyDefinition] = [:]
    public var types: [String: ObjectTypeDefinition] = [:]
    public var components: [String: NodeDefinition] = [:]
    /// The same as written, so that the tree can be written as a document again.
    public var written = WrittenDeclarations()

    public init() {}

    public var isEmpty: Bool {
        environment.isEmpty && container.isEmpty && preference.isEmpty && types.isEmpty && components.isEmpty
    }
}

/// Declarations in the form of documents, by name.
public struct WrittenDeclarations {
    /// By group: `environment`, `container`, `preference`.
    public var keys: [String: [String: Value]] = [:]
    public var types: [String: Value] = [:]
    public var components: [String: Value] = [:]

    public init() {}

    /// Later declarations replace earlier ones with the same name.
    public mutating func merge(_ other: WrittenDeclarations) {
        keys.merge(other.keys) { $0.merging($1) { $1 } }
        types.merge(other.types) { $1 }
        components.merge(other.components) { $1 }
    }
}

/// A document that has been checked completely.
public struct SceneDefinition {
    /// The document's own declarations.
    public var declarations: Declarations
    public var nodes: [NodeDefinition]
    /// States to set after the nodes have been made, by path from the node of application.
    public var values: [(path: AttributePath, value: Value)]
    /// What is allowed and probably not meant.
    public var warnings: SceneFaults?

    public init(declarations: Declarations, nodes: [NodeDefinition], values: [(path: AttributePath, value: Value)] = [])
    {
        self.declarations = declarations
        self.nodes = nodes
        self.values = values
    }
}

/// The context in which a document is checked: the declarations of the graph, and the scope at the node of application.
public struct SceneContext {
    public var declarations: Declarations
    /// Attributes in scope at the node of application, nearest node first.
    public var enclosing: [[(name: String, type: ValueType)]]

    /// The limits of the document's rules.
    public var rules: RuleLimits

    /// Maximum length of a state's initial value, in bytes as JSON.
    public var valueSize: Int

    /// Finds the existing node with these ids below the node of application, for documents that are merged into a tree.
    /// Called only for nodes that the document names.
    public var existing: (([String]) -> ExistingNode?)?

    /// True if the document was accepted once and comes from a store. Then faults that only later versions report are
    /// ignored.
    public var isKept: Bool

    /// Where the node of application stands in `enclosing`. Those behind it are around it.
    static let placeOfNode = 1

    /// True if rules of a node that always read each other in a circle are faults. In a graph they are values that have an error.
    public var refusesCycles = false

    /// True if the document is that of a file, and what it imports has been read.
    public var isFile = true

    /// True if the document may use undefined names: they could later refer to attributes that its author may not read.
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

/// An existing node that a merged document completes.
public struct ExistingNode {
    public var kind: NodeKind
    public var attributes: [(name: String, type: ValueType)]
    /// For the root of a component's instance: its attributes are the only ones in scope for the component's own nodes.
    /// Children given to it use the names around it.
    public var component: String?
    /// True if the node was given to the component whose root is its parent.
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
