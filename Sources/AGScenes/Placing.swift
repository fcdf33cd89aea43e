import AttributeValues

/// In the body of a component: shows the nodes that the component is given for a slot.
public struct Slot: Arrangement {
    public let draft: NodeDraft

    /// - Parameters:
    ///   - name: the slot; `content` for the children of the instance.
    ///   - id: as for `If`.
    ///   - standard: the nodes that are shown while the component is given none.
    public init(
        _ name: String = "content", id: String? = nil, @ChildrenBuilder default standard: () -> [NodeDraft] = { [] }
    ) {
        var draft = NodeDraft(id: id)
        draft.tell(SceneNames.problem(ofName: name, "a slot"), at: "slot")
        draft.chooses("slot", name)
        let nodes = standard()
        if !nodes.isEmpty { draft.addBranch(nodes, at: ["default"]) }
        self.draft = draft
    }
}

/// In the body of a component: shows subviews that the component is given.
public struct Placed: Arrangement {
    public let draft: NodeDraft

    /// - Parameters:
    ///   - subviews: CEL; an element or a part of `subviews`, or the header, content or footer of one of `sections`.
    ///   - id: as for `If`.
    public init(_ subviews: String, id: String? = nil) {
        var draft = NodeDraft(id: id)
        draft.chooses("place", subviews)
        self.draft = draft
    }
}

extension Instance {
    /// Gives the component nodes for one of its slots.
    public func slot(_ name: String, @ChildrenBuilder _ nodes: () -> [NodeDraft]) -> Instance {
        var other = self
        other.draft.give(nodes(), for: name)
        return other
    }
}
