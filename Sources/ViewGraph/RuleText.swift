import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

/// A rule in the text of a request, with values by name.
public struct RuleText {
    private let text: String
    private let bindings: ValueMap
    unowned(unsafe) private let graph: Wiring

    public init(_ text: String, _ bindings: ValueMap, in graph: Wiring) {
        (self.text, self.bindings, self.graph) = (text, bindings, graph)
    }

    /// Steps for a byte of a rule that is read, checked and compiled.
    private static let stepsPerByte = 8

    /// Charges a rule before it is read. A text that is too long is refused without being read.
    private func chargeReading() throws(Failure) {
        let length = text.utf8.count
        if length <= graph.limits.rules.sourceLength { try graph.charge(length * RuleText.stepsPerByte) }
    }

    /// Evaluates the rule, which reads the bindings alone.
    public func evaluate() throws(Failure) -> Content {
        try chargeReading()
        let scope = RuleScope(limits: graph.limits.rules)
        for (name, _) in bindings { if case .string(let name) = name { scope.declare(name, ValueType.dyn) } }
        do { return graph.evaluate(try Rule.compile(text, in: scope), bindings: bindings) } catch {
            throw error.failure
        }
    }

    /// Evaluates the rule in the scope of a node. It can read the bindings, and the attributes of the node as they are
    /// now.
    public func evaluate(at node: NodeID) throws(Failure) -> Content {
        let program = try compile(at: node, hasPast: false)
        var values = bindings
        for input in program.inputs where values[input.variable] == nil {
            guard case .attribute(let attribute) = graph.evaluationSource(input, at: node.row) else { continue }
            switch graph.content(of: attribute) {
            case .value(let value): values[input.variable] = value
            case .failure(let failure): return .failure(graph.shown(failure, of: attribute))
            }
        }
        return graph.evaluate(program, bindings: values)
    }

    /// Compiles the rule for a node. Only for clients that may read everything, it can also name the environment,
    /// `self.index` and, with `hasPast`, paths from the root.
    /// - Parameter hasPast: true if it can use operators over time, because it will have a vertex.
    func compile(at node: NodeID, hasPast: Bool) throws(Failure) -> Program {
        try chargeReading()
        let scope = RuleScope(limits: graph.limits.rules)
        scope.hasPast = hasPast
        scope.hasRoot = hasPast && graph.mayRead == nil
        for (name, _) in bindings { if case .string(let name) = name { scope.declare(name, ValueType.dyn) } }
        for (name, attribute) in graph.allAttributes(of: node.row) {
            scope.declare(name, graph.record(attribute).type)
        }
        if graph.mayRead == nil {
            scope.declareNamespace(
                "env", keysAre: "environment key", graph.declarations.environment.mapValues { RuleType($0.type) })
            scope.declareNamespace(
                "self", keysAre: "property of self", ["id": .string, "path": .string, "index": .int])
        } else {
            scope.declareNamespace("self", keysAre: "property of self", ["id": .string, "path": .string])
        }
        scope.declareNamespace(
            "preferences", keysAre: "preference key", graph.declarations.preference.mapValues { RuleType($0.type) })
        scope.declare("subviews", ValueType.list(.dyn))
        scope.declare("sections", ValueType.list(.dyn))
        for function in graph.declarations.functions.values { scope.declare(function) }
        do { return try Rule.compile(text, in: scope) } catch { throw error.failure }
    }
}
