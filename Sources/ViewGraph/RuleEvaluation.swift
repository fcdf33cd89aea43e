import AttributeGraph
import AttributeValues
import RuleLanguage

/// Gives a rule the contents of the vertices that it is bound to. The engine records the reads.
///
/// It does not retain the graph and the rule: both outlive the evaluation.
struct GraphReader: RuleReader {
    unowned(unsafe) let graph: Wiring
    unowned(unsafe) let rule: BoundRule
    let base: BoundRule.Base
    let engine: Wiring.Engine

    @inline(__always)
    mutating func read(_ input: Int, into register: InputRegister) -> Reading {
        let vertex = rule.vertex(of: input, at: base)
        return vertex.index != 0 ? read(vertex, into: register) : readOther(input, into: register)
    }

    @inline(never)
    private mutating func readOther(_ input: Int, into register: InputRegister) -> Reading {
        switch rule.source(of: input, at: base) {
        case .attribute(let attribute): return read(attribute, into: register)
        case .presence(let attribute, let whole): return readPresence(attribute, whole, into: register)
        case .failure(let failure): return .failure(failure)
        case .dynamic(let place): return read(graph.vertex(for: place), into: register)
        }
    }

    mutating func read(_ input: Int, at steps: [AttributePath.Step], into register: InputRegister) -> Reading {
        guard case .dynamic(let place) = rule.source(of: input, at: base) else {
            return readOther(input, into: register)
        }
        return read(graph.vertex(for: Place(place.attribute, place.steps + steps)), into: register)
    }

    @inline(__always)
    private mutating func read(_ attribute: AttributeID, into register: InputRegister) -> Reading {
        do {
            switch try engine.read(attribute) {
            case .value(let value):
                register.set(value)
                return .value
            case .failure(let failure): return .failure(failure)
            }
        } catch {
            return .interrupted
        }
    }

    /// True if there is a content; false if only the value around it exists.
    private mutating func readPresence(
        _ attribute: AttributeID, _ whole: AttributeID, into register: InputRegister
    ) -> Reading {
        do {
            if case .value = try engine.read(attribute) { return register.store(.value(true)) }
            switch try engine.read(whole) {
            case .value(.map), .value(.optional), .value(.list): return register.store(.value(false))
            case .value(let value):
                return .failure(Failure(.ruleFailed, "type '\(value.shortTypeName)' does not support field selection"))
            case .failure(let failure): return .failure(failure)
            }
        } catch {
            return .interrupted
        }
    }
}

extension Wiring {
    public var runRecorder: RunRecorder? {
        get { evaluation.recorder }
        set { evaluation.recorder = newValue }
    }

    @inline(__always)
    func evaluate(_ rule: BoundRule, for attribute: AttributeID) throws -> Content {
        if _slowPath(evaluation.recorder != nil || budget.steps <= 0) {
            return try evaluateWatched(rule, for: attribute)
        }
        return try run(rule, for: attribute)
    }

    @inline(never)
    private func evaluateWatched(_ rule: BoundRule, for attribute: AttributeID) throws -> Content {
        if budget.steps <= 0 { return deferred(attribute) }
        guard let recorder = evaluation.recorder else { return try run(rule, for: attribute) }
        return try recorder.record(attribute) { try run(rule, for: attribute) }
    }

    /// The content of an attribute that is evaluated in a later turn.
    func deferred(_ attribute: AttributeID) -> Content {
        evaluation.deferRule(of: attribute)
        return .failure(Wiring.hasToWait)
    }

    @inline(__always)
    private func run(_ rule: BoundRule, for attribute: AttributeID) throws -> Content {
        let evaluator = evaluation.evaluators.enter()
        defer { evaluation.evaluators.leave() }
        var reader = GraphReader(graph: self, rule: rule, base: BoundRule.Base(attribute), engine: engine)
        defer { noteCost(evaluator) }
        // The rule retains its program.
        let program = Unmanaged.passUnretained(rule.program)
        switch evaluator._withUnsafeGuaranteedRef({ evaluator in
            program._withUnsafeGuaranteedRef { evaluator.evaluate($0, &reader) }
        }) {
        case .content(let content):
            guard rule.convertsToType else { return content }
            return convert(content, of: rule.program.resultType.valueType, to: rule.accepted ?? .dyn, at: attribute)
        // The engine has given up this run, and ignores its errors.
        case .interrupted: throw Interrupted()
        }
    }

    /// The content of an attribute whose rule is deferred.
    private static let hasToWait = Failure(
        .limit, "its rule is deferred, because the rules that ran for the same request cost too much",
        hint: "the setting request-cost is the limit")

    /// The number of deferred rules.
    public var waitingRuleCount: Int { evaluation.waiting.count }

    /// Evaluates a rule with given values, outside the graph.
    func evaluate(_ program: Program, bindings: ValueMap) -> Content {
        let evaluator = evaluation.evaluators.enter()
        defer {
            evaluation.evaluators.leave()
            noteCost(evaluator)
        }
        return evaluator._withUnsafeGuaranteedRef { $0.evaluate(program, bindings: bindings) }
    }

    @inline(__always)
    private func noteCost(_ evaluator: Unmanaged<Evaluator>) {
        let cost = evaluator._withUnsafeGuaranteedRef { $0.lastCost }
        budget.steps &-= cost
        if _slowPath(cost >= Evaluation.costly) { noteLongWork(cost) }
    }

    @inline(never)
    private func noteLongWork(_ cost: Int) {
        if evaluation.isLongWork(after: cost) { onLongWork?() }
    }

    private struct Interrupted: Error {}
}
