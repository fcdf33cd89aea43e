import AttributeGraph
import AttributeValues
import RuleLanguage

/// A rule from the text of a request, at a node. It has a watched vertex, as a rule of a scene has, so clocks and
/// operators over time work in it. The node does not own it.
public struct PlacedRule {
    public let node: NodeID
    public let vertex: AttributeID
    /// The time that its operators look back.
    public let lookback: TimeSpan
    fileprivate let program: Program
}

extension ViewGraph {
    /// Puts a rule at a node.
    /// - Throws: the rule cannot be compiled there.
    public func place(_ text: RuleText, at node: NodeID) throws(Failure) -> PlacedRule {
        let program = try text.compile(at: node, hasPast: true)
        // The vertex outlives the node until the rule is removed.
        let vertex = createRule(node: .root, name: program.text, source: .unconnected)
        connectNew(vertex, to: source(of: program, for: vertex, at: node))
        beginWatch(of: vertex)
        stored.restoreNewPasts()
        settle()
        let lookback = program.inputs.compactMap { $0.operation?.lookback.nanoseconds }.max() ?? 0
        return PlacedRule(node: node, vertex: vertex, lookback: TimeSpan(nanoseconds: lookback), program: program)
    }

    /// Finds what a rule reads again, after the tree has changed. Its node must be alive.
    public func connectAgain(_ rule: PlacedRule) {
        replaceSource(of: rule.vertex, source(of: rule.program, for: rule.vertex, at: rule.node))
        settle()
    }

    public func remove(_ rule: PlacedRule) {
        endWatch(of: rule.vertex)
        freeVertex(rule.vertex, record(rule.vertex))
        sweepVertices()
    }

    private func source(of program: Program, for vertex: AttributeID, at node: NodeID) -> Source {
        .rule(boundRule(program, at: node.row, .own, at: .init(vertex)))
    }
}

extension TimeOperator {
    /// How long the past is that the result depends on, as far as the rule says it.
    fileprivate var lookback: TimeSpan {
        switch period {
        case .hour: TimeSpan(nanoseconds: 3_600_000_000_000 * Int64(back + 1))
        case .day: TimeSpan(nanoseconds: 90_000_000_000_000 * Int64(back + 1))
        case .month: TimeSpan(nanoseconds: 2_682_000_000_000_000 * Int64(back + 1))
        case nil: span
        }
    }
}
