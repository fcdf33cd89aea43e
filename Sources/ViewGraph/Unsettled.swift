import AttributeGraph

/// What a change has left to do. Whoever changes the tree or a vertex notes it here, and the passes of
/// `ViewGraph.settle` do it. The nodes of a construction have an `Unsettled` of their own until they are linked.
struct Unsettled {
    /// New nodes whose rows and layers have to be looked for.
    var made: [NodeID] = []
    /// Nodes that have other children than before, or the same in another order.
    var regrouped: Set<NodeRow> = []
    /// Nodes that are not connected to what they read, or may have to read something else.
    var nodes: [NodeRow] = []
    /// Lists whose data may have changed.
    var lists: Set<NodeRow> = []
    /// Visible nodes whose children may have other indices.
    var indices: Set<NodeRow> = []
    /// States of new nodes whose first values come from rules that have not run.
    var states: [AttributeID] = []
    /// Operators over time to which their operands have to be fed.
    private(set) var operators: [TimedValue] = []
    /// States whose lists were searched by id.
    var searched: [ProjectionTree] = []

    var isEmpty: Bool {
        nodes.isEmpty && lists.isEmpty && operators.isEmpty && states.isEmpty && searched.isEmpty && made.isEmpty
            && regrouped.isEmpty && indices.isEmpty
    }

    mutating func note(_ value: TimedValue) {
        guard !value.isDue else { return }
        value.isDue = true
        operators.append(value)
    }

    mutating func takeOperators() -> [TimedValue] {
        if operators.isEmpty { return [] }
        defer { operators = [] }
        for value in operators { value.isDue = false }
        return operators
    }

    mutating func takeNodes() -> [NodeRow] {
        defer { nodes = [] }
        return nodes
    }

    /// Operators that were noted elsewhere.
    mutating func append(_ noted: [TimedValue]) { operators += noted }

    mutating func append(_ other: Unsettled) {
        made += other.made
        regrouped.formUnion(other.regrouped)
        nodes += other.nodes
        lists.formUnion(other.lists)
        indices.formUnion(other.indices)
        states += other.states
        operators += other.operators
        searched += other.searched
    }

    mutating func giveBack() {
        lists.giveBack()
        operators.giveBack()
    }
}
