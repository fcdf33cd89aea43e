import AttributeValues
import RuleLanguage

/// The context in which a document is checked: the declarations of the graph, and the scope at the node of application.
public struct SceneContext {
    public var declarations: Declarations
    /// Attributes in scope at the node of application, nearest node first.
    public var enclosing: [[(name: String, type: ValueType)]]

    public var rules: RuleLimits

    /// Maximum length of a state's initial value, in bytes as JSON.
    public var valueSize: Int

    /// Finds the existing node with these ids below the node of application, for documents that are merged into a tree.
    /// Called only for nodes that the document names.
    public var existing: (([Name]) -> ExistingNode?)?

    /// True if the document was accepted once and comes from a store. Then faults that only later versions report are
    /// ignored.
    public var isKept: Bool

    /// The author of the document. If the document comes from a store: the author of parts that it has without theirs.
    public var author = PartAuthor.daemon

    /// The index of the node of application in `enclosing`. The nodes behind it are around that node.
    static let placeOfNode = 1

    /// True if rules of a node that always read each other in a circle are faults. In a graph, such rules have an error
    /// as their content.
    public var refusesCycles = false

    /// True if the document comes from a file, and its imports have been read.
    public var isFile = true

    /// True if the document may use undefined names: they could later refer to attributes that its author may not read.
    public var admitsDangling = true

    public init(
        declarations: Declarations = Declarations(), enclosing: [[(name: String, type: ValueType)]] = [],
        rules: RuleLimits = RuleLimits(), valueSize: Int = .max, isKept: Bool = false,
        existing: (([Name]) -> ExistingNode?)? = nil
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
    public var ids: [Name]
    public var kind: NodeKind
    public var attributes: [(name: String, type: ValueType)]
    /// For the root of a component's instance: its attributes are the only ones in scope for the component's own nodes.
    /// Children given to it use the names around it.
    public var component: String?
    /// True if the node was given to the component whose root is its parent.
    public var isContent: Bool

    public init(
        ids: [Name] = [], kind: NodeKind, attributes: [(name: String, type: ValueType)], component: String? = nil,
        isContent: Bool = false
    ) {
        self.ids = ids
        self.kind = kind
        self.attributes = attributes
        self.component = component
        self.isContent = isContent
    }
}

extension ExistingNode {
    /// The name of one of its attributes, as documents name attributes by their paths.
    func rootName(of attribute: String) -> Name { Name("$\(AttributePath(nodes: ids, attribute: attribute))") }
}
