import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// Rules in the text of a request.

extension Wiring {
    /// Steps for a byte of a rule that is read, checked and compiled.
    private static let stepsPerByteOfRule = 8

    /// Charges a rule before it is read. A text that is too long is refused without being read.
    private func chargeReading(_ text: String) throws(Failure) {
        let length = text.utf8.count
        if length <= limits.rules.sourceLength { try charge(length * Wiring.stepsPerByteOfRule) }
    }

    /// Evaluates a rule that reads bindings alone.
    public func evaluate(_ text: String, _ bindings: ValueMap) throws(Failure) -> Content {
        try chargeReading(text)
        let scope = RuleScope(limits: limits.rules)
        for (name, _) in bindings { if case .string(let name) = name { scope.declare(name, ValueType.dyn) } }
        do { return evaluate(try Rule.compile(text, in: scope), bindings: bindings) } catch { throw error.failure }
    }

    /// Evaluates a rule in the scope of a node. It can read the bindings, and the attributes of the node as they are
    /// now. Only clients that may read everything can also use the environment and `self.index`.
    public func evaluate(_ text: String, at node: NodeID, _ bindings: ValueMap) throws(Failure) -> Content {
        try chargeReading(text)
        let scope = RuleScope(limits: limits.rules)
        for (name, _) in bindings { if case .string(let name) = name { scope.declare(name, ValueType.dyn) } }
        for (name, attribute) in allAttributes(of: node.row) {
            scope.declare(name, record(attribute).type)
        }
        if mayRead == nil {
            scope.declareNamespace(
                "env", keysAre: "environment key", declarations.environment.mapValues { RuleType($0.type) })
            scope.declareNamespace(
                "self", keysAre: "property of self", ["id": .string, "path": .string, "index": .int])
        } else {
            scope.declareNamespace("self", keysAre: "property of self", ["id": .string, "path": .string])
        }
        scope.declareNamespace(
            "preferences", keysAre: "preference key", declarations.preference.mapValues { RuleType($0.type) })
        scope.declare("subviews", ValueType.list(.dyn))
        scope.declare("sections", ValueType.list(.dyn))
        let program: Program
        do { program = try Rule.compile(text, in: scope) } catch { throw error.failure }
        var values = bindings
        for input in program.inputs where values[input.variable] == nil {
            guard case .attribute(let attribute) = evaluationSource(input, at: node.row) else { continue }
            switch content(of: attribute) {
            case .value(let value): values[input.variable] = value
            case .failure(let failure): return .failure(shown(failure, of: attribute))
            }
        }
        return evaluate(program, bindings: values)
    }
}
