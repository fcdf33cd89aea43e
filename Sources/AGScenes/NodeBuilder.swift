/// An attribute or a node inside another node. The builders make it.
public struct NodePart {
    enum Content {
        case attribute(AttributeDraft)
        case node(NodeDraft)
    }

    let content: Content
}

/// A builder of lists of parts, with `if`, `switch` and `for` around them.
public protocol PartsBuilder {
    associatedtype Part
}

extension PartsBuilder {
    public static func buildBlock(_ parts: [Part]...) -> [Part] { parts.flatMap { $0 } }
    public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }
    public static func buildEither(first: [Part]) -> [Part] { first }
    public static func buildEither(second: [Part]) -> [Part] { second }
    public static func buildArray(_ parts: [[Part]]) -> [Part] { parts.flatMap { $0 } }
}

/// Attributes and nodes, with `if`, `switch` and `for` around them.
@resultBuilder
public enum NodeBuilder: PartsBuilder {
    public typealias Part = NodePart

    public static func buildExpression(_ attribute: some Attribute) -> [NodePart] {
        [NodePart(content: .attribute(attribute.draft))]
    }
    public static func buildExpression(_ node: some Node) -> [NodePart] { [NodePart(content: .node(node.draft))] }
    public static func buildExpression(_ part: some Arrangement) -> [NodePart] {
        [NodePart(content: .node(part.draft))]
    }
    @available(*, unavailable, message: "write declarations in the Scene, not inside a node")
    public static func buildExpression(_ declaration: some Declaration) -> [NodePart] { [] }
}

/// Only nodes: a section's header and footer, and branches.
@resultBuilder
public enum ChildrenBuilder: PartsBuilder {
    public typealias Part = NodeDraft

    public static func buildExpression(_ node: some Node) -> [NodeDraft] { [node.draft] }
    public static func buildExpression(_ part: some Arrangement) -> [NodeDraft] { [part.draft] }
    @available(
        *, unavailable, message: "a header, footer or branch has only nodes; write attributes in the node around it"
    )
    public static func buildExpression(_ attribute: some Attribute) -> [NodeDraft] { [] }
}

/// Only attributes: a view has no children.
@resultBuilder
public enum AttributeBuilder: PartsBuilder {
    public typealias Part = AttributeDraft

    public static func buildExpression(_ attribute: some Attribute) -> [AttributeDraft] { [attribute.draft] }
    @available(*, unavailable, message: "a View has no children; use Container or Group")
    public static func buildExpression(_ node: some Node) -> [AttributeDraft] { [] }
}

/// Properties of an object: states and computeds.
@resultBuilder
public enum PropertyBuilder: PartsBuilder {
    public typealias Part = AttributeDraft

    public static func buildExpression(_ property: State) -> [AttributeDraft] { [property.draft] }
    public static func buildExpression(_ property: Computed) -> [AttributeDraft] { [property.draft] }
    public static func buildExpression(_ action: Action) -> [AttributeDraft] { [action.draft] }
    @available(*, unavailable, message: "an object has states, computeds and actions")
    @_disfavoredOverload
    public static func buildExpression(_ property: some Attribute) -> [AttributeDraft] { [] }
}

/// The node that a `ForEach` makes for each element, and attributes of the `ForEach` itself.
@resultBuilder
public enum TemplateBuilder {
    /// The attributes before the node.
    public struct Attributes {
        var attributes: [AttributeDraft]
    }

    public struct Template {
        var attributes: [AttributeDraft]
        var node: NodeDraft
    }

    public static func buildExpression(_ attribute: some Attribute) -> Attributes {
        Attributes(attributes: [attribute.draft])
    }
    public static func buildExpression(_ node: some Node) -> Template { Template(attributes: [], node: node.draft) }
    public static func buildPartialBlock(first: Attributes) -> Attributes { first }
    public static func buildPartialBlock(first: Template) -> Template { first }
    public static func buildPartialBlock(accumulated: Attributes, next: Attributes) -> Attributes {
        Attributes(attributes: accumulated.attributes + next.attributes)
    }
    public static func buildPartialBlock(accumulated: Attributes, next: Template) -> Template {
        Template(attributes: accumulated.attributes, node: next.node)
    }
    public static func buildPartialBlock(accumulated: Template, next: Attributes) -> Template {
        Template(attributes: accumulated.attributes + next.attributes, node: accumulated.node)
    }
    @available(*, unavailable, message: "a ForEach makes one node of each element; put several into a Group")
    public static func buildPartialBlock(accumulated: Template, next: Template) -> Template { accumulated }
    public static func buildFinalResult(_ template: Template) -> Template { template }
    @available(*, unavailable, message: "a ForEach needs the node that it makes of each element")
    public static func buildFinalResult(_ attributes: Attributes) -> Template {
        Template(attributes: attributes.attributes, node: NodeDraft(id: nil))
    }
}
