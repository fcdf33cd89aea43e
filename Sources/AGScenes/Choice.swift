import AttributeValues

/// An element of a list of children that is no node itself: `If`, `Switch`, `Slot`, `Placed`.
public protocol Arrangement {
    var draft: NodeDraft { get }
}

/// One of two lists of nodes, chosen by a rule while the graph lives. Swift's own `if` chooses once, when the scene is
/// built.
public struct If: Arrangement {
    public let draft: NodeDraft

    /// - Parameters:
    ///   - condition: CEL, over the attributes of the nodes around; true or false.
    ///   - id: tells the choice from others beside it when a document changes the tree. Paths do not contain it.
    public init(
        _ condition: String, id: String? = nil, @ChildrenBuilder then: () -> [NodeDraft],
        @ChildrenBuilder else otherwise: () -> [NodeDraft] = { [] }
    ) {
        var draft = NodeDraft(id: id)
        draft.chooses("if", condition)
        draft.addBranch(then(), at: ["then"])
        let others = otherwise()
        if !others.isEmpty { draft.addBranch(others, at: ["else"]) }
        self.draft = draft
    }
}

/// One of several lists of nodes, chosen by the value of a rule while the graph lives.
public struct Switch: Arrangement {
    public let draft: NodeDraft

    /// - Parameters:
    ///   - value: CEL, over the attributes of the nodes around; a text, a number or a bool.
    ///   - id: as for `If`.
    public init(_ value: String, id: String? = nil, @CaseBuilder cases: () -> [Case]) {
        var draft = NodeDraft(id: id)
        draft.chooses("switch", value)
        for one in cases() { draft.addBranch(one.nodes, at: one.place) }
        self.draft = draft
    }
}

/// The nodes that a `Switch` makes for one value.
public struct Case {
    let place: [String]
    let nodes: [NodeDraft]

    /// - Parameter value: as a text: `list`, `3`, `true`.
    public init(_ value: String, @ChildrenBuilder _ nodes: () -> [NodeDraft]) {
        place = ["cases", value]
        self.nodes = nodes()
    }

    private init(default nodes: [NodeDraft]) {
        place = ["default"]
        self.nodes = nodes
    }

    /// For all other values.
    public static func `default`(@ChildrenBuilder _ nodes: () -> [NodeDraft]) -> Case { Case(default: nodes()) }
}

@resultBuilder
public enum CaseBuilder: PartsBuilder {
    public typealias Part = Case

    public static func buildExpression(_ one: Case) -> [Case] { [one] }
}
