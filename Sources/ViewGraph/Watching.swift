import AttributeGraph
import AttributeValues

extension Wiring {
    public func endWatch(of attribute: AttributeID) {
        // The tree must go on watching its data.
        if let row = attributes[attribute]?.node, nodes[row].instances?.data == attribute { return }
        noteIdle(watches.end(attribute, in: engine))
    }

    /// True if an attribute belongs to a node that is no longer in the tree. O(depth).
    public func isUnlinked(_ attribute: AttributeID) -> Bool {
        attributes[attribute].map { !nodes.isLinked($0.node) } ?? true
    }

    // MARK: Watching without evaluating

    /// Watches the inputs that a rule which never ran may read, for a watcher that wants no values: see `Watches`.
    public func watchSources(of attribute: AttributeID) {
        guard engine.changedAt(attribute) == 0 else { return }
        // An alias of an input can be read without running a rule.
        if case .alias(let place, _)? = attributes[attribute]?.source,
            isInput(record(follow(place).attribute).source)
        {
            _ = content(of: attribute)
            return
        }
        var seen: Set<AttributeID> = [attribute]
        var pending = [attribute]
        while let next = pending.popLast() {
            let sources = possibleInputs(of: next)
            if sources.isEmpty, let record = attributes[next], isInput(record.source) {
                watches.addProxy(next, of: attribute, in: engine)
                _ = content(of: next)
            }
            for source in sources where seen.insert(source).inserted { pending.append(source) }
        }
    }

    /// Every vertex that a vertex may read, in any branch.
    private func possibleInputs(of attribute: AttributeID) -> [AttributeID] {
        guard let record = attributes[attribute] else { return [] }
        switch record.source {
        case .alias(let place, let vertex): return [vertex ?? self.vertex(for: place)]
        case .projection: return wholeAttribute(of: attribute).map { [$0] } ?? []
        case .override(let inherited, _, let value): return [inherited, value]
        case .rule(let rule):
            return rule.sources(at: BoundRule.Base(attribute)).flatMap { source -> [AttributeID] in
                switch source {
                case .attribute(let attribute): [attribute]
                case .presence(let attribute, let whole): [attribute, whole]
                case .dynamic(let place): [vertex(for: place)]
                case .failure: []
                }
            }
        case .object(let node): return nodes.isAlive(node) ? nodes[node].attributes.map(\.attribute) : []
        case .elements: return nodes[record.node].instances.map { [$0.order] } ?? []
        case .subviewList, .subviews, .sections, .given, .preference, .preferenceOutput, .selected, .rooted,
            .scheduled:
            // The inputs of these are found only by a walk through the tree, which is their evaluation.
            _ = content(of: attribute)
            return engine.inputs(of: attribute)
        case .timed(let value): return [value.operand]
        case .reportTime(let vertex): return [vertex]
        case .state, .system, .literal, .unconnected: return []
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
