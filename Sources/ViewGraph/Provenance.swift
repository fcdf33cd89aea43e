import AttributeGraph
import AttributeValues

/// Why attributes have their contents: which inputs they come from, and which change reached them. It evaluates what it
/// looks at, and changes nothing.
public struct Provenance {
    unowned(unsafe) private let graph: Wiring

    fileprivate init(_ graph: Wiring) { self.graph = graph }

    /// True if the attribute's content has changed since a stamp. A rule that ran late counts as changed only if one of
    /// its inputs has changed, so rules are followed down to inputs that were set. Evaluates what it looks at.
    /// O(everything upstream).
    /// - Parameter isSettled: since the stamp no change of the tree has made a vertex, no vertex has got another rule,
    ///   and no deferred rule has run.
    public func hasChanged(_ attribute: AttributeID, since stamp: UInt64, isSettled: Bool) -> Bool {
        var pending = [attribute]
        var seen: Set<AttributeID> = [attribute]
        while let next = pending.popLast() {
            let content = graph.content(of: next)
            guard graph.engine.changedAt(next) > stamp, let source = graph.attributes[next]?.source else {
                continue
            }
            // A deferred rule may have read nothing yet.
            if case .failure(let failure) = content, failure.code == .limit { return true }
            var isPlace = false
            if case .projection = source { isPlace = true }
            if graph.isInput(source) || !(isSettled || isPlace) { return true }
            for input in graph.engine.inputs(of: next) where seen.insert(input).inserted { pending.append(input) }
        }
        return false
    }

    /// True if contents depend only on the tree as it was defined and on durable states that satisfy a condition.
    /// Evaluates the attributes that it looks at. False for contents that depend on a clock, a transient state or other
    /// parts of the tree.
    public func dependOnly(_ attributes: [AttributeID], on isKnown: (AttributeID) -> Bool) -> Bool {
        var pending = attributes
        var seen = Set(attributes)
        while let next = pending.popLast() {
            // A deferred rule has the same error, whatever it depends on.
            if case .failure(let failure) = graph.content(of: next), failure.code == .limit { return false }
            guard let record = graph.attributes[next] else { return false }
            var inputs: [AttributeID] = []
            switch record.source {
            case .state(let isTransient):
                guard !isTransient, graph.nodeAndName(of: next) != nil, isKnown(next) else { return false }
            case .literal, .unconnected: break
            case .system:
                if let place = record.place {
                    inputs = [place.tree.whole]
                } else {
                    // An element depends on the data of its list.
                    guard record.kind != .clock,
                        let list = graph.nodes[graph.nodes[record.node].parent].instances
                    else {
                        return false
                    }
                    inputs = [list.data]
                }
            case .alias, .rule, .projection, .override, .selected, .rooted, .scheduled:
                inputs = graph.engine.inputs(of: next)
            case .elements:
                guard let list = graph.nodes[record.node].instances else { return false }
                inputs = [list.data]
            case .subviewList, .subviews, .sections, .preferenceOutput, .preference, .object, .timed, .reportTime,
                .given:
                return false
            }
            for input in inputs where seen.insert(input).inserted { pending.append(input) }
        }
        return true
    }

    /// The state whose change made the attribute change last, as far as the engine remembers.
    public func originState(of attribute: AttributeID) -> AttributeID? {
        causes(of: attribute).last
    }

    /// The chain from an attribute to the input whose change reached it last, the attribute first. It leads from a
    /// place in a value to the state with the value.
    public func causes(of attribute: AttributeID) -> [AttributeID] {
        var chain = [attribute]
        var seen: Set<AttributeID> = [attribute]
        while let last = chain.last, let cause = cause(of: last), seen.insert(cause).inserted { chain.append(cause) }
        return chain
    }

    private func cause(of attribute: AttributeID) -> AttributeID? {
        if let cause = graph.engine.cause(of: attribute) { return cause }
        if let whole = graph.wholeAttribute(of: attribute) {
            // The cause of a place behind a reference is what it reads, even if it has run only once. A place in an
            // input reads nothing.
            if graph.isReference(whole) { return graph.engine.inputs(of: attribute).first }
            return whole
        }
        // A rule that has run only once was not run because of a change. Its newest input counts as the cause.
        return graph.engine.inputs(of: attribute).max { graph.engine.changedAt($0) < graph.engine.changedAt($1) }
    }

    /// The nearest attribute upstream that was evaluated after a stamp and did not change.
    public func cutOff(above attribute: AttributeID, since stamp: UInt64) -> AttributeID? {
        var seen: Set<AttributeID> = [attribute]
        var pending = [attribute]
        var position = 0
        while position < pending.count {
            let next = pending[position]
            position += 1
            if graph.engine.evaluatedAt(next) > stamp, graph.engine.changedAt(next) <= stamp { return next }
            for input in graph.engine.inputs(of: next) where seen.insert(input).inserted { pending.append(input) }
        }
        return nil
    }
}

extension Wiring {
    public var provenance: Provenance { Provenance(self) }
}

extension Wiring {
    /// The state whose change, since a stamp, has changed what a list or choice shows. A list inside of another one
    /// that has come with it shows what that one's data says.
    public func originState(ofList list: NodeID, since stamp: UInt64) -> AttributeID? {
        for row in nodes.upward(from: list.row) where nodes[row].kind.isMadeFromData {
            guard let data = nodes[row].instances?.data, let origin = provenance.originState(of: data),
                engine.changedAt(origin) > stamp
            else { continue }
            return origin
        }
        return nil
    }
}
