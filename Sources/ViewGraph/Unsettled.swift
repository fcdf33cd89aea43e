import AttributeGraph

/// New and changed nodes, states and lists, until `ViewGraph.settleStructure` settles them.
struct Unsettled {
    /// Nodes that are not connected to what they read.
    var nodes: [NodeRow] = []
    /// States of new nodes whose first values come from rules that have not run.
    var states: [AttributeID] = []
    /// Lists whose data may have changed.
    var lists: Set<NodeRow> = []
    /// Visible nodes whose children may have other indices. They are counted when no list changes any more: one list
    /// may take back what another one has shifted.
    var indices: Set<NodeRow> = []

    var isEmpty: Bool { lists.isEmpty && nodes.isEmpty && states.isEmpty && indices.isEmpty }

    mutating func takeNodes() -> [NodeRow] {
        defer { nodes = [] }
        return nodes
    }
}
