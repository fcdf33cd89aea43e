/// A node of a scene: `View`, `Container`, `Group`, `Section`, `ForEach`, or an `Instance` of a component.
///
/// An id is unique among siblings. A node without an id is named by its position, which is a weak identity: give an id
/// to nodes that may move.
public protocol Node: Modifiable {}

/// A leaf: one subview of its container, with attributes and no children.
public struct View: Node {
    public var draft: NodeDraft

    public init(_ id: String? = nil, @AttributeBuilder _ attributes: () -> [AttributeDraft] = { [] }) {
        draft = NodeDraft(id: id)
        for attribute in attributes() { draft.add(attribute) }
    }
}

/// One subview of its own container. It reads the container values of its subviews, which go no further.
public struct Container: Node {
    public var draft: NodeDraft

    public init(_ id: String? = nil, @NodeBuilder _ content: () -> [NodePart] = { [] }) {
        draft = NodeDraft(id: id)
        draft.add(content(), to: "children")
        if !draft.hasChildren { draft.kind = "container" }
    }
}

/// Transparent: its children count as subviews of the enclosing container.
public struct Group: Node {
    public var draft: NodeDraft

    public init(_ id: String? = nil, @NodeBuilder _ content: () -> [NodePart] = { [] }) {
        draft = NodeDraft(id: id, kind: "group")
        draft.add(content(), to: "children")
    }
}

/// Transparent for subviews, and listed in the `sections` of its container.
public struct Section: Node {
    public var draft: NodeDraft

    public init(
        _ id: String? = nil, @NodeBuilder content: () -> [NodePart] = { [] },
        @ChildrenBuilder header: () -> [NodeDraft] = { [] }, @ChildrenBuilder footer: () -> [NodeDraft] = { [] }
    ) {
        draft = NodeDraft(id: id)
        draft.add(header(), to: "header")
        draft.add(content(), to: "content")
        draft.add(footer(), to: "footer")
        if !draft.hasChildren { draft.kind = "section" }
    }
}

/// A node made from a component, with arguments as `Let` and `Binding`, and with children that follow the component's
/// own.
public struct Instance: Node {
    public var draft: NodeDraft

    public init(
        _ id: String? = nil, of component: String, @NodeBuilder content: () -> [NodePart] = { [] },
        @ChildrenBuilder header: () -> [NodeDraft] = { [] }, @ChildrenBuilder footer: () -> [NodeDraft] = { [] }
    ) {
        draft = NodeDraft(id: id, component: component)
        draft.add(header(), to: "header")
        draft.add(content(), to: "children")
        draft.add(footer(), to: "footer")
    }
}

/// One node for each element of a list, named by the element's id. The element and its position are in scope inside it.
public struct ForEach: Node {
    public var draft: NodeDraft

    /// - Parameters:
    ///   - data: the list. Elements of a referenced list can be bound.
    ///   - field: the field that identifies an element; `\.self` for texts and numbers.
    ///   - element: the name of the element inside.
    ///   - index: the name of its position.
    public init(
        _ id: String? = nil, in data: PlacePath, id field: PlacePath = \.id, as element: String = "element",
        index: String = "index", @TemplateBuilder content: () -> TemplateBuilder.Template
    ) {
        self.init(id, data: SceneExpression(data), field, element, index, content())
    }

    public init(
        _ id: String? = nil, in data: SceneExpression, id field: PlacePath = \.id, as element: String = "element",
        index: String = "index", @TemplateBuilder content: () -> TemplateBuilder.Template
    ) {
        self.init(id, data: data, field, element, index, content())
    }

    private init(
        _ id: String?, data: SceneExpression, _ field: PlacePath, _ element: String, _ index: String,
        _ template: TemplateBuilder.Template
    ) {
        draft = NodeDraft(id: id)
        for attribute in template.attributes { draft.add(attribute) }
        draft.tell(data.problem, at: "forEach.in")
        draft.tell(SceneNames.problem(ofName: element, "an element"), at: "forEach.as")
        draft.tell(SceneNames.problem(ofName: index, "an index"), at: "forEach.index")
        draft.repeats(
            template.node,
            data: data.document, id: field.text.isEmpty ? "self" : field.text, element: element, index: index)
    }
}
