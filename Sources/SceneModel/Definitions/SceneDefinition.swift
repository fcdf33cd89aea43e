import AttributeValues

/// A document that has been checked completely.
public struct SceneDefinition {
    /// The document's own declarations.
    public var declarations: Declarations
    public var nodes: [NodeDefinition]
    /// States to set after the nodes have been made, by path from the node of application.
    public var values: [(path: AttributePath, value: Value)]
    /// Uses that are allowed, but probably not meant.
    public var warnings: SceneFaults?

    public init(declarations: Declarations, nodes: [NodeDefinition], values: [(path: AttributePath, value: Value)] = [])
    {
        self.declarations = declarations
        self.nodes = nodes
        self.values = values
    }
}
