import AttributeValues

/// A document that has been checked completely.
public struct SceneDefinition {
    /// The document's own declarations.
    public var declarations: Declarations
    public var nodes: [NodeDefinition]
    /// States to set after the nodes have been made, by path from the node of application.
    public var values: [(path: AttributePath, value: Value)]
    /// The names outside the document that its bindings and actions write, each with the place of one of these in the
    /// document. Paths of patterns are not among them.
    public var written: [Name: String] = [:]
    /// True if a node of it has a former place.
    public var hasFormerPlaces = false
    /// Uses that are allowed, but probably not meant.
    public var warnings: SceneFaults?

    public init(declarations: Declarations, nodes: [NodeDefinition], values: [(path: AttributePath, value: Value)] = [])
    {
        self.declarations = declarations
        self.nodes = nodes
        self.values = values
    }
}
