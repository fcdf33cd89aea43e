import AttributeGraph
import AttributeValues

extension Wiring {
    /// Makes `takeInvalidated` report the attribute when it may have changed. Evaluates nothing.
    public func watch(_ attribute: AttributeID) { watches.begin(attribute, in: engine) }

    public func unwatch(_ attribute: AttributeID) {
        // The tree must go on watching its data.
        if let row = attributes[Int(attribute.index)]?.node, nodes[Int(row)].instances?.data == attribute { return }
        noteIdle(watches.end(attribute, in: engine))
    }

    public func isAlive(_ attribute: AttributeID) -> Bool { engine.isAlive(attribute) }

    /// A point on the engine's own clock, for `hasChanged(_:since:)`.
    public var stamp: UInt64 { engine.revision }

    /// Whether the attribute's content has changed since a stamp. Known once it has been read.
    public func hasChanged(_ attribute: AttributeID, since stamp: UInt64) -> Bool {
        engine.changedAt(attribute) > stamp
    }

    public func lastChange(of attribute: AttributeID) -> UInt64 { engine.changedAt(attribute) }

    /// Whether the attribute's content may have changed since a stamp, as far as that is known without reading it.
    public func mayHaveChanged(_ attribute: AttributeID, since stamp: UInt64) -> Bool {
        engine.changedAt(attribute) > stamp || engine.isInvalidated(attribute)
    }

    /// Whether the attribute's content has changed since a stamp. A rule that ran late counts as changed only if one of
    /// its inputs has changed, so rules are followed down to inputs that were set. Evaluates what it looks at.
    /// O(everything upstream).
    /// - Parameter isSettled: since the stamp no change of the tree has made a vertex, no vertex has got another rule,
    ///   and no deferred rule has run.
    public func hasChanged(_ attribute: AttributeID, since stamp: UInt64, isSettled: Bool) -> Bool {
        var pending = [attribute]
        var seen: Set<AttributeID> = [attribute]
        while let next = pending.popLast() {
            let content = content(of: next)
            guard engine.changedAt(next) > stamp, let source = attributes[Int(next.index)]?.source else { continue }
            // A deferred rule may have read nothing yet.
            if case .failure(let failure) = content, failure.code == .limit { return true }
            var isPlace = false
            if case .projection = source { isPlace = true }
            if isInput(source) || !(isSettled || isPlace) { return true }
            for input in engine.inputs(of: next) where seen.insert(input).inserted { pending.append(input) }
        }
        return false
    }

    /// Whether contents depend only on the tree as it was defined and on durable states that satisfy a condition.
    /// Evaluates what it looks at. False for contents that depend on a clock, a transient state or other parts of the
    /// tree.
    public func follow(_ attributes: [AttributeID], from isKnown: (AttributeID) -> Bool) -> Bool {
        var pending = attributes
        var seen = Set(attributes)
        while let next = pending.popLast() {
            // A deferred rule has the same error, whatever it depends on.
            if case .failure(let failure) = content(of: next), failure.code == .limit { return false }
            guard let record = self.attributes[Int(next.index)] else { return false }
            var inputs: [AttributeID] = []
            switch record.source {
            case .state(let isTransient):
                guard !isTransient, owner(of: next) != nil, isKnown(next) else { return false }
            case .literal: break
            case .system:
                if let owner = places.owner(of: next) {
                    inputs = [owner]
                } else {
                    // An element depends on the data of its list.
                    guard record.kind != .clock, let list = nodes[Int(nodes[Int(record.node)].parent)].instances else {
                        return false
                    }
                    inputs = [list.data]
                }
            case .alias, .rule, .projection, .override, .selected, .rooted: inputs = engine.inputs(of: next)
            case .elements:
                guard let list = nodes[Int(record.node)].instances else { return false }
                inputs = [list.data]
            case .subviewList, .subviews, .sections, .preferenceOutput, .preference, .object, .timed, .given:
                return false
            }
            for input in inputs where seen.insert(input).inserted { pending.append(input) }
        }
        return true
    }

    // MARK: Watching without evaluating

    /// Watches the inputs that a rule which never ran may read, for a watcher that wants no values: see `Watches`.
    public func watchSources(of attribute: AttributeID) {
        guard engine.changedAt(attribute) == 0 else { return }
        // An alias of an input can be read without running a rule.
        if case .alias(let place, _)? = attributes[Int(attribute.index)]?.source,
            isInput(record(follow(place).attribute).source)
        {
            _ = content(of: attribute)
            return
        }
        var seen: Set<AttributeID> = [attribute]
        var pending = [attribute]
        while let next = pending.popLast() {
            let sources = possibleInputs(of: next)
            if sources.isEmpty, let record = attributes[Int(next.index)], isInput(record.source) {
                watches.addProxy(next, of: attribute, in: engine)
                _ = content(of: next)
            }
            for source in sources where seen.insert(source).inserted { pending.append(source) }
        }
    }

    /// Every vertex that a vertex may read, in any branch.
    private func possibleInputs(of attribute: AttributeID) -> [AttributeID] {
        guard let record = attributes[Int(attribute.index)] else { return [] }
        switch record.source {
        case .alias(let place, let vertex): return [vertex ?? self.vertex(for: place)]
        case .projection(let whole, _): return [whole]
        case .override(let inherited, _, let value): return [inherited, value]
        case .rule(let rule):
            return rule.sources.flatMap { source -> [AttributeID] in
                switch source {
                case .attribute(let attribute): [attribute]
                case .presence(let attribute, let holder): [attribute, holder]
                case .dynamic(let place): [vertex(for: place)]
                case .failure: []
                }
            }
        case .object(let node): return nodes.isAlive(node) ? nodes[Int(node)].attributes.map(\.attribute) : []
        case .elements: return nodes[Int(record.node)].instances.map { [$0.order] } ?? []
        case .subviewList, .subviews, .sections, .given, .preference, .preferenceOutput, .selected, .rooted:
            // The inputs of these are found only by a walk through the tree, which is their evaluation.
            _ = content(of: attribute)
            return engine.inputs(of: attribute)
        case .timed(let value): return [value.operand]
        case .state, .system, .literal: return []
        }
    }

    /// The watched vertices that a report concerns: the reported one, and rules that never ran and may read it.
    public func forEachWatchedBehind(_ attribute: AttributeID, _ body: (AttributeID) -> Void) {
        body(attribute)
        let rules = watches.rulesBehind(attribute)
        guard !rules.isEmpty else { return }
        _ = content(of: attribute)
        for rule in rules {
            if engine.isAlive(rule), engine.changedAt(rule) == 0 {
                body(rule)
            } else {
                noteIdle(watches.endProxies(of: rule, in: engine))
            }
        }
    }
}
