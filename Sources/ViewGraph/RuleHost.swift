import AttributeGraph
import AttributeValues

/// The engine's host: evaluates vertices, and says when two contents are equal.
///
/// Lifetime: the view graph owns the engine, which owns this host. The reference back is unretained, and valid as long
/// as the engine runs.
struct RuleHost: GraphHost {
    private var graph: Unmanaged<Wiring>?

    mutating func attach(to graph: Wiring) { self.graph = .passUnretained(graph) }

    static let removed = Failure(.removed, "the attribute it refers to has been removed")

    func evaluate(_ attribute: AttributeID, in engine: GraphCore<RuleHost>) throws -> Content {
        guard let graph else { return .failure(RuleHost.removed) }
        return try graph._withUnsafeGuaranteedRef { graph in
            if _slowPath(graph.transaction != nil || graph.detours.notesAll) { graph.noteTouched(attribute) }
            if let rule = graph.attributes.rule(attribute) {
                return try rule._withUnsafeGuaranteedRef { try graph.evaluate($0, for: attribute) }
            }
            if let vertex = graph.attributes.aliased(attribute) { return try engine.read(vertex) }
            return try graph.evaluate(attribute)
        }
    }

    func areEqual(_ old: borrowing Content, _ new: borrowing Content) -> Bool {
        withUnsafePointer(to: old) { old in
            withUnsafePointer(to: new) { new in
                // The commonest values are compared in place.
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

    func value(ofCycle path: [AttributeID]) -> Content? {
        guard let graph else { return nil }
        return graph._withUnsafeGuaranteedRef { graph in
            let steps = CycleNames(graph).nameSteps(of: path)
            return .failure(
                Failure(
                    .cycle, "cycle: \((steps + steps.prefix(1)).joined(separator: " → "))", path: steps.first,
                    hint: "let one of these attributes read something else"))
        }
    }

    /// Closing a cycle is charged to the request that has found it.
    func note(_ attribute: AttributeID, onCycle path: [AttributeID]) {
        graph?._withUnsafeGuaranteedRef { $0.budget.steps &-= 1 }
    }

    func value(ofRemoved attribute: AttributeID) throws -> Content { .failure(RuleHost.removed) }

    func value(ofFailed attribute: AttributeID) throws -> Content { .failure(RuleHost.removed) }
}

extension Wiring {
    private var gathering: Gathering { Gathering(graph: self) }

    /// Evaluates a vertex according to its source.
    func evaluate(_ attribute: AttributeID) throws -> Content {
        guard let record = attributes[attribute] else { return .failure(RuleHost.removed) }
        switch record.source {
        case .rule(let rule): return try evaluate(rule, for: attribute)
        case .alias(let place, let vertex):
            let content = try engine.read(vertex ?? connectAlias(attribute, to: place))
            return record.convertsToType
                ? convert(content, of: declaredType(of: place), to: record.type, at: attribute) : content
        case .rooted(let reference): return try evaluate(reference, record.steps, for: attribute)
        case .selected(let selection):
            let content = try evaluate(selection, record.steps, for: attribute)
            return record.convertsToType ? convert(content, of: .dyn, to: record.type, at: attribute) : content
        case .projection:
            guard let place = record.place else { preconditionFailure("a projection is a place") }
            let (whole, steps) = (place.tree.whole, place.steps)
            if case .index(let index)? = steps.first, let part = try gathering.subviewPart(index, of: whole, at: steps)
            {
                return part
            }
            let content = try engine.read(whole)
            guard case .value(let value) = content else { return content }
            return value.select(steps)
        case .literal(let content): return content
        case .unconnected: return .failure(Failure(.dangling, "not connected yet"))
        case .override(let inherited, let steps, let value):
            return try overriding(inherited, steps, value)
        case .subviewList: return try gathering.gatherSubviewList(of: record.node)
        case .subviews(let parts): return try gathering.subviews(of: record.node, parts)
        case .sections(let parts): return try gathering.sections(of: record.node, parts)
        case .preferenceOutput(let key): return try gathering.gatherPreferenceOutput(key, at: record.node)
        case .preference(let key): return try gathering.gatherPreference(key, at: record.node)
        case .object(let node): return try objectValue(node)
        case .elements: return try elementIDs(of: record.node)
        case .given: return try gathering.given(for: record.node)
        case .timed(let value): return try evaluate(value)
        case .scheduled(let schedule, let value): return try evaluate(schedule, by: value)
        case .reportTime(let vertex): return try evaluate(reportTimeOf: vertex)
        case .state, .system:
            preconditionFailure("inputs are set, not evaluated")
        }
    }

    func isUnnamed(_ attribute: AttributeID) -> Bool { attributes[attribute]?.isHidden ?? true }
}
