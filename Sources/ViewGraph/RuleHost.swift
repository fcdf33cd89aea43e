import AttributeGraph
import AttributeValues

/// The engine's side of the view graph: how a vertex is evaluated, and when two contents are equal.
///
/// Lifetime: the view graph owns the engine, which owns this host; the reference back is unretained and good for as
/// long as the engine runs.
struct RuleHost: GraphHost {
    typealias Value = Content

    private var graph: Unmanaged<ViewGraph>?

    mutating func attach(to graph: ViewGraph) { self.graph = .passUnretained(graph) }

    static let removed = Failure(.removed, "the attribute it refers to has been removed")

    func evaluate(_ attribute: AttributeID, in engine: GraphCore<RuleHost>) throws -> Content {
        guard let graph else { return .failure(RuleHost.removed) }
        return try graph._withUnsafeGuaranteedRef { graph in
            if _slowPath(graph.transaction != nil) { graph.noteTouched(attribute) }
            if let rule = graph.rules[attribute.index] {
                return try rule._withUnsafeGuaranteedRef { try graph.evaluate($0, for: attribute) }
            }
            return try graph.evaluate(attribute)
        }
    }

    func areEqual(_ old: borrowing Content, _ new: borrowing Content) -> Bool {
        withUnsafePointer(to: old) { old in
            withUnsafePointer(to: new) { new in
                // The commonest values, looked at where they lie.
                if case .value(.int(let a)) = old.pointee, case .value(.int(let b)) = new.pointee { return a == b }
                if case .value(.bool(let a)) = old.pointee, case .value(.bool(let b)) = new.pointee { return a == b }
                return RuleHost.isSame(old.pointee, new.pointee)
            }
        }
    }

    @inline(__always)
    private static func isSame(_ old: Content, _ new: Content) -> Bool {
        switch (old, new) {
        case (.value(let a), .value(let b)): a == b
        case (.failure(let a), .failure(let b)): a == b
        default: false
        }
    }

    /// A message names so many steps from the beginning of a cycle and as many from its end.
    private static let toldSteps = 8

    func value(ofCycle path: [AttributeID]) -> Content? {
        guard let graph else { return nil }
        return graph._withUnsafeGuaranteedRef { graph in
            let named = path.filter { !graph.isHidden($0) }
            let steps = named.isEmpty ? path : named
            var names = steps.prefix(RuleHost.toldSteps).map { graph.path(of: $0) }
            let rest = steps.dropFirst(RuleHost.toldSteps)
            if rest.count > RuleHost.toldSteps { names.append("\(rest.count - RuleHost.toldSteps) more") }
            names += rest.suffix(RuleHost.toldSteps).map { graph.path(of: $0) }
            return .failure(
                Failure(
                    .cycle, "cycle: \((names + names.prefix(1)).joined(separator: " → "))", path: names.first,
                    hint: "let one of these attributes read something else"))
        }
    }

    /// Closing a cycle is work of the request that has met it.
    func note(_ attribute: AttributeID, onCycle path: [AttributeID]) {
        graph?._withUnsafeGuaranteedRef { $0.stepsLeft &-= 1 }
    }

    func value(ofRemoved attribute: AttributeID) throws -> Content { .failure(RuleHost.removed) }

    func value(ofFailed attribute: AttributeID) throws -> Content { .failure(RuleHost.removed) }

    func didDestroy(_ attribute: AttributeID) {}
}

extension ViewGraph {
    /// Runs what makes a vertex's content.
    func evaluate(_ attribute: AttributeID) throws -> Content {
        guard let record = attributes[Int(attribute.index)] else { return .failure(RuleHost.removed) }
        switch record.source {
        case .rule(let rule): return try evaluate(rule, for: attribute)
        case .alias(let place, let vertex):
            let found = vertex ?? self.vertex(for: place)
            if vertex == nil {
                attributes[Int(attribute.index)]?.source = .alias(place, vertex: found)
                holdShared(found)
            }
            let content = try engine.read(found)
            return record.isHeldToType ? hold(content, of: declaredType(of: place), to: record.type, at: attribute) : content
        case .projection(let whole, let steps):
            let content = try engine.read(whole)
            guard case .value(let value) = content else { return content }
            return value.select(steps)
        case .literal(let content): return content
        case .override(let inherited, let steps, let value):
            return try overriding(inherited, steps, value)
        case .subviews: return try subviews(of: record.node)
        case .sections: return try sections(of: record.node)
        case .subviewDescription: return try describeSubview(record.node)
        case .preferenceOutput(let key): return try preferenceOutput(key, at: record.node)
        case .preference(let key): return try preference(key, at: record.node)
        case .object(let node): return try objectValue(node)
        case .elements: return try elements(of: record.node)
        case .state, .system:
            preconditionFailure("inputs are set, not evaluated")
        }
    }

    func isHidden(_ attribute: AttributeID) -> Bool { attributes[Int(attribute.index)]?.isHidden ?? true }
}
